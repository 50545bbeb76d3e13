"""Tables of the reproduction of CMIP, from imagined and from the published results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from offrank.selection.candidates import MeasuredModel
from offrank.selection.strategies import BEST
from offrank_papers.cmip import Study, StudyDesign
from offrank_papers.cmip import tables as tables_of_cmip
from offrank_papers.cmip.design import FIGURE, POLICIES, USERS
from offrank_papers.cmip.estimators import estimators, sessions
from offrank_papers.cmip.findings import BETTER, COMBINATIONS, Configuration, Findings, Measure, over_runs
from offrank_papers.cmip.regressions import Scores, adjusted_scores, line, pooled_score, regressed, tree
from offrank_papers.cmip.regret import average_regret
from offrank_papers.cmip.study import DRAWS, ESTIMATORS, POINTS, PUBLISHED
from offrank_papers.expectations import Expectations

SEVEN = StudyDesign(
    queries=30,
    judged=40,
    sessions=20,
    fewer=(),
    tests=40,
    runs=2,
    neural_runs=1,
    repetitions=1,
    models=("dctr", "rdctr", "pbm", "ubm", "dbn", "sdbn", "cascade"),
    neural=(),
    users=("pbm", "carousel"),
)


def test_trees_are_judged_on_what_they_have_not_seen() -> None:
    feature, target = np.array([0.0, 0, 0, 0, 1, 1, 1, 1])[:, None], np.array([1.0, 2, 3, 4, 11, 12, 13, 14])
    train, test = np.array([0, 1, 4, 5]), np.array([2, 3, 6, 7])
    said, middle = np.array([1.5, 1.5, 11.5, 11.5]), (3 + 4 + 13 + 14) / 4
    plain = 1 - ((target[test] - said) ** 2).sum() / ((target[test] - middle) ** 2).sum()
    for learner in (tree, line):  # of two values, a line says what a tree does
        found = adjusted_scores(feature, target, [(train, test)], learner)
        assert found == pytest.approx([1 - (1 - plain) * (4 - 1) / (4 - 1 - 1)])
    assert np.isnan(adjusted_scores(np.repeat(feature, 3, axis=1), target, [(train, test)], tree)).all()

    # Whoever knows the model knows its target, but nothing of models that were left out.
    model, target = np.tile([0.0, 1, 2, 3], 2)[:, None], np.tile([5.0, 6, 7, 8], 2)
    parted = [(np.flatnonzero(model[:, 0] != one), np.flatnonzero(model[:, 0] == one)) for one in range(4)]
    spread = 2 * (1.5**2 + 0.5**2) * 2
    # Trees say the nearest they have seen: 6, one of the two beside it (here the lower), and 7; lines extrapolate.
    assert pooled_score(model, target, parted, tree) == pytest.approx(1 - 2 * (1 + 1 + 1 + 1) / spread)
    assert pooled_score(model, target, parted, line) == pytest.approx(1.0)
    assert adjusted_scores(model, target, [(np.arange(4), np.arange(4, 8))], tree) == pytest.approx([1.0])


def test_least_squares_are_those_of_the_normal_equations() -> None:
    rng = np.random.default_rng(0)
    known, target, others = rng.normal(size=(9, 2)), rng.normal(size=9), rng.normal(size=(4, 2))
    design = np.column_stack([np.ones(9), known])
    weights = np.linalg.solve(design.T @ design, design.T @ target)
    assert line(known, target, others) == pytest.approx(np.column_stack([np.ones(4), others]) @ weights)


def imagined(design: StudyDesign, told: Callable[[str, str, int, int], dict[str, Any]]) -> Findings:
    """Findings of which `told` says each model's: (user, logging, run, model) -> numbers."""
    studies = {}
    for study in design.studies():
        names = () if study.user == FIGURE else design.made(study)
        each = {name: told(study.user, study.logging, study.run, design.names.index(name)) for name in names}
        studies[study] = {"models": each}
    return Findings(design, studies)


def told(user: str, logging: str, run: int, model: int) -> dict[str, Any]:
    rng = np.random.default_rng([sum(map(ord, user)), sum(map(ord, logging)), run, model])
    numbers = rng.random(11).tolist()
    lacking = user == "carousel" and model == 0
    ppl = {
        test: {"unconditional": None if lacking else 1 + numbers[place], "conditional": 1.2 + numbers[3 + place]}
        for place, test in enumerate(POLICIES)
    }
    return {
        "perplexity": ppl,
        "ndcg": numbers[6],
        "cmip": {name: {"value": numbers[place]} for place, name in enumerate(ESTIMATORS, 7)},
    }


@pytest.mark.parametrize("measure", [Measure(), Measure(cmip=PUBLISHED), Measure(conditional=True)])
def test_regret_is_that_of_each_subset(measure: Measure) -> None:
    findings = imagined(SEVEN, told)
    found = tables_of_cmip.regrets(findings, measure)
    for by, regret in found.items():
        assert regret.shape == (2, 2, 2)
        for i, user in enumerate(SEVEN.users):
            how = "conditional" if measure.conditional or user == "carousel" else "unconditional"
            for run in range(2):
                each = []
                models = findings.studies[Study(user, "lambdamart", run, 20)]["models"]
                for test in ("noisy_oracle", "uniform"):
                    given = [
                        MeasuredModel(
                            name,
                            one["perplexity"]["lambdamart"][how],
                            one["ndcg"],
                            one["cmip"][measure.cmip]["value"],
                        )
                        for name, one in models.items()
                    ]
                    outcome = {name: one["perplexity"][test][how] for name, one in models.items()}
                    each.append(1000 * average_regret(given, outcome, by, (5, 6, 7)))
                assert regret[i, 1, run] == pytest.approx(np.mean(each))
        assert tables_of_cmip.of_runs(regret) == pytest.approx([regret[:, :, 0].mean(), regret[:, :, 1].mean()])


def test_table_1_asks_each_of_the_configurations() -> None:
    def known(user: str, logging: str, run: int, model: int) -> dict[str, Any]:
        """CMIP tells perplexity on `uniform`, nDCG that on the others; runs are copies."""
        one = told(user, logging, 0, model)
        for test, value in zip(POLICIES, (one["ndcg"], one["ndcg"], one["cmip"][POINTS]["value"]), strict=True):
            one["perplexity"][test] = {"unconditional": 1 + value, "conditional": 1 + value}
        return one

    design = replace(SEVEN, models=SEVEN.models[:5], users=("pbm",), runs=6, repetitions=5)
    rows = regressed(imagined(design, known), Measure(), len)
    assert list(rows) == [
        Configuration("pbm", "noisy_oracle", "lambdamart"),
        Configuration("pbm", "noisy_oracle", "uniform"),
        Configuration("pbm", "lambdamart", "noisy_oracle"),
        Configuration("pbm", "lambdamart", "uniform"),
    ]
    scores = rows[Configuration("pbm", "noisy_oracle", "uniform")]
    assert len(scores.trees["cmip",]) == len(scores.lines["cmip",]) == 10
    assert scores.trees["cmip",].mean() > 0.9
    assert scores.left_out["ndcg",] < 0.5
    assert scores.left_out_lines["cmip",] == pytest.approx(1.0)
    # Copies over runs let a tree recognise the model by anything: so does nDCG, which says nothing.
    assert scores.trees["ndcg",].mean() > 0.9


def test_models_that_learnt_in_fewer_runs_have_fewer_rows() -> None:
    design = replace(SEVEN, models=SEVEN.models[:3], neural=SEVEN.models[3:5], runs=4, neural_runs=2, users=("pbm",))
    asked: list[tuple[int, int]] = []

    def known(user: str, logging: str, run: int, model: int) -> dict[str, Any]:
        asked.append((run, model))
        return told(user, logging, 0, model)

    findings = imagined(design, known)
    assert {run for run, model in asked if model >= 3} == {0, 1}
    assert np.isnan(findings.perplexity("pbm", "noisy_oracle", "uniform")).sum(axis=0).tolist() == [0, 0, 0, 2, 2]
    # Halves are drawn within each model: two rows of it are never in the same half.
    scores = regressed(findings, Measure(), len)[Configuration("pbm", "noisy_oracle", "uniform")]
    assert [float(scores.trees[key].min()) for key in COMBINATIONS] == pytest.approx([1.0] * 7)
    assert tables_of_cmip.regrets(findings, Measure())["ppl"].shape == (1, 2, 2)  # of the runs with all models
    fewer = findings.of_sessions(20)
    assert fewer.design.names == design.names[:3]
    assert fewer.perplexity("pbm", "noisy_oracle", "uniform").shape == (4, 3)


def test_draws_are_compared_with_points() -> None:
    def known(user: str, logging: str, run: int, model: int) -> dict[str, Any]:
        """Draws tell perplexity anywhere, points the contrary."""
        ppl = {"unconditional": 1 + model / 10, "conditional": 1 + model / 10}
        cmip = {POINTS: {"value": 1.0 - model / 10}, DRAWS: {"value": 0.1 * 2**model}, PUBLISHED: {"value": 0.0}}
        return {"perplexity": dict.fromkeys(POLICIES, ppl), "ndcg": 0.5, "cmip": cmip}

    design = replace(SEVEN, models=("dctr", "pbm", "dbn", "ubm"), users=("pbm",), runs=3)
    findings = imagined(design, known)
    measures = {name: Measure(cmip=name) for name in (POINTS, DRAWS)}
    rows = {name: regressed(findings, one, len) for name, one in measures.items()}
    regrets = {name: tables_of_cmip.regrets(findings, one) for name, one in measures.items()}
    section = estimators(findings, rows, regrets)
    table = section.tables[0]
    cells = [dict(zip(table.header, row, strict=True)) for row in table.rows]
    assert [row["rank correlation"] for row in cells] == pytest.approx([-1.0, 1.0])
    # Points choose the worst of each of 6 + 4 + 1 subsets, draws the best; neighbours are .1 apart.
    assert cells[0]["regret of cmip"] == pytest.approx(1000 * 0.1 * (3 * 1 + 2 * 2 + 3 + 2 * 2 + 2 * 3 + 3) / 11)
    assert cells[1]["regret of cmip"] == pytest.approx(0.0)
    assert [row["CMIP of pbm"] for row in cells] == pytest.approx([0.9, 0.2])
    assert "+2.000" in section.claims[0].evidence
    assert "draws by rank correlation" in section.claims[0].text
    assert "`cmip`: draws, `top-4 cmip, top-4 ppl: ndcg`: neither" in section.claims[1].text
    assert sessions(findings, len).tables == ()


def test_the_published_numbers_confirm_what_the_paper_says_of_them() -> None:
    tables = Expectations.of("cmip").content["tables"]
    whole = replace(SEVEN, users=USERS)
    noise = np.array([-0.05, 0.05] * 50)
    rows = {}
    for row, cells in zip(imagined(whole, told).configurations(), tables["table 1"]["rows"].values(), strict=False):
        scores = {combination: cell + noise for combination, cell in zip(COMBINATIONS, cells, strict=True)}
        left_out = {combination: float(each.mean()) for combination, each in scores.items()}
        rows[row] = Scores(scores, scores, left_out, left_out)
    first = tables_of_cmip.table_1({POINTS: rows, DRAWS: rows}, 70)
    assert [claim.status for claim in first.claims] == ["confirmed"] * 6 + ["new"] * 2
    beside = first.tables[1]
    assert len(beside.rows) == 17
    assert {row[-1] for row in beside.rows} == {"confirmed"}
    regrets = {}
    for by, ((mean, _),) in tables["table 2"]["rows"].items():
        cells = np.array(tables["cells"]["rows"].get(by, [mean] * 8)).reshape(4, 2, 1)
        regrets[by] = cells + np.array([-0.001, 0.001])
    second = tables_of_cmip.table_2(whole, {POINTS: regrets, DRAWS: regrets})
    assert [claim.status for claim in second.claims] == ["confirmed"] * 4 + ["new"] * 2
    assert [{row[-1] for row in table.rows if row[-1]} for table in second.tables[:2]] == [{"confirmed"}] * 2
    worse = tables_of_cmip.table_2(whole, {POINTS: {**regrets, BEST: 10 * regrets[BEST]}, DRAWS: regrets})
    assert worse.claims[0].status == "not confirmed"
    assert {row[0]: row[-1] for row in worse.tables[0].rows}[BEST] == "not confirmed"


def test_marks_are_those_of_welchs_test() -> None:
    baseline, better = np.array([0.0, 0.2] * 50), np.array([0.3, 0.5] * 50)
    scores = Scores({("ppl", "ndcg"): baseline, ("cmip",): better, ("ndcg",): baseline + 0.01}, {}, {}, {})
    assert [scores.mark(key) for key in (("cmip",), ("ndcg",), ("ppl", "ndcg"))] == [BETTER, "", ""]


def test_intervals_over_runs_are_students() -> None:
    found = over_runs(np.array([1.0, 2.0, 6.0]))
    assert found.value == 3
    assert found.high - 3 == pytest.approx(
        4.302653 * np.sqrt((4 + 1 + 9) / 2 / 3)
    )  # t at .975 with 2 degrees of freedom
    assert over_runs(np.array([1.0])).high == np.inf


def test_published_tables_add_up() -> None:
    tables = Expectations.of("cmip").content["tables"]
    *rows, average = tables["table 1"]["rows"].values()
    assert len(rows) == 16
    assert np.mean(rows, axis=0) == pytest.approx(average, abs=6e-4)
    for by, cells in tables["cells"]["rows"].items():
        assert np.mean(cells) == pytest.approx(tables["table 2"]["rows"][by][0][0], abs=6e-4)
