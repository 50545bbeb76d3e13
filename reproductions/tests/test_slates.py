"""The reproduction of `slates` at a size of seconds: weights by other ways, exact expectations, and going on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import offrank
from offrank.errors import UsageError
from offrank.log.graded_queries import Judged
from offrank_papers.expectations import Expectations
from offrank_papers.resume import Heed
from offrank_papers.slates import SlatesDesign, made, resume
from offrank_papers.slates.data import SlatesData
from offrank_papers.slates.design import (
    ESTIMATORS,
    METRICS,
    REWARDS,
    TARGETS,
    UNIFORM,
    Condition,
    Logging,
    SlateStudy,
    Space,
    loggings,
    seed_of,
)
from offrank_papers.slates.direct import LassoModel, TreeModel, learnt
from offrank_papers.slates.findings import SlateFindings, claims, root_mean_square
from offrank_papers.slates.rankers import RANKERS, TREE_TITLE, RankedSets
from offrank_papers.slates.study import studied
from offrank_papers.slates.worlds import SlateWorld, by_rank, feature_table, worlds

linear_model = pytest.importorskip("sklearn.linear_model")

SMALL, LARGE = SPACES = Space(4, 2, (1.0, 2.0)), Space(6, 3, (0.5, 1.0))
SIZES = (5, 6, 2, 6, 4, 3, 6, 1, 5)
MICRO = SlatesDesign(queries=0, logs=400, runs=2, models=(60,), spaces=SPACES)
TWICE = replace(MICRO, models=(60, 120))


def judged(*sizes: int, seed: int = 0) -> Judged:
    """Queries with so many documents, with six features that say something about their grades."""
    rng, rows = np.random.default_rng(seed), sum(sizes)
    features, first = rng.normal(size=(rows, 6)), np.cumsum([0, *sizes])
    grade = np.clip(np.round(1.5 + features[:, 0] + features[:, 3] + 0.3 * rng.normal(size=rows)), 0, 4)
    return Judged(np.arange(len(sizes)) + 7, first, grade, features, np.arange(rows))


def ranked(*sizes: int, seed: int = 0) -> RankedSets:
    """The same with four random rankers."""
    given, rng = judged(*sizes, seed=seed), np.random.default_rng([seed, 1])
    return RankedSets(given, {name: rng.normal(size=given.rows) for name in RANKERS})


def world(sets: RankedSets, space: Space, logging: Logging) -> SlateWorld:
    return worlds(sets, feature_table(sets.judged.features), space, [logging])[logging]


def nothing() -> None:
    """Do not stop."""


@pytest.mark.parametrize(
    ("shown", "text", "code", "err"),
    [
        # gains 7, 0, 1, 3 by rank of the logging policy; ideal order 7, 3, 1
        ((0, 1, 2), 7 + 1 / 2, 7 + 1 / log2(3), 7 / 16 + (1 - 7 / 16) * (1 / 16) / 3),
        (
            (2, 0, 3),
            1 + 7 / log2(3) + 3 / 2,
            1 + 7 + 3 / log2(3),
            1 / 16 + (15 / 16) * (7 / 16) / 2 + (15 / 16) * (9 / 16) * (3 / 16) / 3,
        ),
    ],
)
def test_rewards_are_those_of_the_text_and_of_the_code(
    shown: tuple[int, ...], text: float, code: float, err: float
) -> None:
    given = replace(judged(4), grade=np.array([3.0, 0.0, 1.0, 2.0]))
    sets = RankedSets(given, dict.fromkeys(RANKERS, np.array([4.0, 3.0, 2.0, 1.0])))
    here = world(sets, Space(4, 3, (1.0, 2.0)), UNIFORM)
    log = replace(here.draw(1, 0, 1), shown=np.array([shown]))
    ideal = {"text": 7 + 3 / log2(3) + 1 / 2, "code": 7 + 3 + 1 / log2(3)}
    assert REWARDS == ("NDCG", "NDCG, published code", "ERR")
    assert here.rewards(log)[0] == pytest.approx([text / ideal["text"], code / ideal["code"], err], abs=1e-14)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_weights_are_those_of_the_estimators(alpha: float) -> None:
    sets = ranked(5, 3, 1, 7, 2)
    logging = Logging(TREE_TITLE, alpha)
    here = world(sets, LARGE, logging)
    log = here.draw(3, 0, 300)
    (weights, importance), rewards = here.weights(log), here.rewards(log)
    first, rows = sets.judged.first, []
    for query, shown, reward in zip(log.query, log.shown, rewards, strict=True):
        own = slice(first[query], first[query + 1])
        size, slots = first[query + 1] - first[query], min(first[query + 1] - first[query], LARGE.l)
        scores = {name: sets.scores[name][own].tolist() for name in TARGETS}
        scores["logging"] = by_rank(size, alpha)[sets.ranks[TREE_TITLE][own] - 1].tolist()
        slate = (here.document[shown[:slots]] - first[query]).tolist()
        rows.append({"candidates": list(range(size)), "slate": slate, "reward": float(reward[0]), **scores})
    check = "uniform" if not alpha else "plackett_luce(logging)"
    for t, target in enumerate(TARGETS):
        found = offrank.evaluate(rows, f"top({target})", logging=check, estimators=["pi", "wpi", "ips", "snips"])
        ours = {
            "pi": (weights[:, t] @ rewards[:, 0]) / 300,
            "wpi": (weights[:, t] @ rewards[:, 0]) / weights[:, t].sum(),
            "ips": (importance[:, t] @ rewards[:, 0]) / 300,
            "snips": (importance[:, t] @ rewards[:, 0]) / importance[:, t].sum(),
        }
        for name, value in ours.items():
            assert found[name].value == pytest.approx(value, abs=1e-10), name


@pytest.mark.parametrize("logging", loggings(SMALL), ids=str)
def test_slates_are_drawn_as_said_and_pi_is_unbiased_for_ndcg(logging: Logging) -> None:
    sets = ranked(4, 5, 2)
    here = world(sets, SMALL, logging)
    log = here.draw(11, 0, 20_000)
    assert np.bincount(log.query) / 20_000 == pytest.approx([1 / 3] * 3, abs=4 * (2 / 9 / 20_000) ** 0.5)
    for query, size in enumerate((4, 5, 2)):
        weight = by_rank(size, logging.alpha)
        slates = np.array(list(permutations(range(size), 2)))
        chance = weight[slates[:, 0]] * weight[slates[:, 1]] / (weight.sum() * (weight.sum() - weight[slates[:, 0]]))
        shown = log.shown[log.query == query] - here.first[query]
        seen = np.array([(shown == slate).all(axis=1).sum() for slate in slates])
        expected = chance * len(shown)
        assert ((seen - expected) ** 2 / expected).sum() < len(slates) - 1 + 4 * (2 * len(slates)) ** 0.5
        every = replace(log, query=np.full(len(slates), query), shown=slates + here.first[query])
        (pi, ips), reward = here.weights(every), here.rewards(every)
        truth = here.values[:, query, :]
        assert (chance @ pi).tolist() == pytest.approx([1, 1], abs=1e-12)
        assert (pi * chance[:, None]).T @ reward[:, :2] == pytest.approx(truth[:, :2], abs=1e-12)
        assert (ips * chance[:, None]).T @ reward == pytest.approx(truth, abs=1e-12)


def test_a_log_is_the_same_in_any_parts() -> None:
    here = world(ranked(5, 6, 3), LARGE, UNIFORM)
    whole = here.draw(5, 0, 50)
    parts = [here.draw(5, 0, 20), here.draw(5, 20, 50)]
    assert (whole.shown == np.vstack([part.shown for part in parts])).all()
    assert (whole.shown != here.draw(6, 0, 50).shown).any()
    assert (whole.shown[whole.query == 2] < here.first[-1]).all()
    pair = world(ranked(2, 6), LARGE, UNIFORM).draw(5, 0, 50)
    assert (pair.shown[pair.query == 0, 2] == 8).all()  # an empty slot


def test_direct_methods_are_regressions_on_joined_features() -> None:
    here = world(ranked(5, 6, 2, 6), LARGE, UNIFORM)
    log = here.draw(2, 0, 240)
    x = here.features[here.document[log.shown]].reshape(240, -1).astype(float)
    models = learnt(here, log, 1, nothing)
    assert set(models) == {(name, metric) for name in ("DM lasso", "DM tree") for metric in METRICS}
    for metric in METRICS:
        reward = here.rewards(log)[:, REWARDS.index(metric)]
        linear, tree = models["DM lasso", metric], models["DM tree", metric]
        assert isinstance(linear, LassoModel)
        assert isinstance(tree, TreeModel)
        theirs = linear_model.Lasso(alpha=0.01, fit_intercept=False, tol=1e-10, max_iter=100_000).fit(x, reward)
        assert linear.values(log.shown) == pytest.approx(theirs.predict(x), abs=2e-3)
        assert tree.values(log.shown) == pytest.approx(tree.tree.predict(x.astype(np.float32)).ravel(), abs=1e-12)


def test_estimates_are_means_over_the_logs() -> None:
    here = world(ranked(5, 6, 2, 6), LARGE, loggings(LARGE)[2])
    found = studied(here, TWICE, 9, nothing)
    log = here.draw(9, 0, 400)
    (pi, ips), rewards = here.weights(log), here.rewards(log)
    models = learnt(here, here.draw(9, 0, 120), 9, nothing)
    last, later = TWICE.grid.index(400), slice(120, 400)
    for metric in METRICS:
        reward = rewards[:, REWARDS.index(metric)]
        for t, target in enumerate(TARGETS):
            values, weight = here.values[t][log.query, REWARDS.index(metric)], pi[:, t]
            slope = np.cov(weight * reward, weight)[0, 1] / weight.var(ddof=1)
            expected = {
                "PI": (weight * reward).mean(),
                "wPI": (weight * reward).sum() / weight.sum(),
                "controlled PI": (weight * reward).mean() - slope * (weight.mean() - 1),
                "IPS": (ips[:, t] * reward).mean(),
                "wIPS": (ips[:, t] * reward).sum() / ips[:, t].sum() if ips[:, t].any() else None,
                "on-policy": values.mean(),
            }
            for name in ("lasso", "tree"):
                model = models[f"DM {name}", metric]
                of_target = model.values(here.shown_by_target[t].shown)[log.query]
                expected[f"DM {name}"] = of_target[later].mean()
                residual = weight * (reward - model.values(log.shown))
                expected[f"DR {name}"] = (of_target + residual)[later].mean()
            got = found["estimates"][metric][target]
            assert {name: each[last] for name, each in got.items()} == pytest.approx(expected, abs=1e-10)
            assert found["truth"][metric][target] == pytest.approx(here.values[t, :, REWARDS.index(metric)].mean())
    # before it has learnt there is no direct method
    assert [one is None for one in found["estimates"]["ERR"][TARGETS[0]]["DM tree"]] == [
        n not in {120, 240, 400} for n in TWICE.grid
    ]


def counting(monkeypatch: pytest.MonkeyPatch, most: int = 1000) -> list[int]:
    """The seeds of what is simulated from now on; what comes after `most` studies is interrupted."""
    done: list[int] = []
    own = resume.studied

    def counted(here: SlateWorld, design: SlatesDesign, seed: int, heed: Heed) -> Any:
        if len(done) >= most:
            raise KeyboardInterrupt
        done.append(seed)
        return own(here, design, seed, heed)

    monkeypatch.setattr(resume, "studied", counted)
    monkeypatch.setattr(resume, "MOST_WORKERS", 1)
    return done


@pytest.fixture(scope="module")
def data() -> SlatesData:
    sets = {space: ranked(*SIZES) for space in SPACES}
    features = {space: feature_table(one.judged.features) for space, one in sets.items()}
    return SlatesData(MICRO, "9 queries", None, sets, features, sum(SIZES), 4.0)


def test_it_goes_on_where_it_was_interrupted(data: SlatesData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    with monkeypatch.context() as patch:
        first = counting(patch, most=3)
        with pytest.raises(KeyboardInterrupt):
            resume.all_studies(data, tmp_path, said.append)
    assert "20 studies of 400 logs will take about" in said[0]
    (folder,) = tmp_path.iterdir()
    kept = sorted(folder.glob("*-*-*.json"))
    assert len(kept) == len(first) == 3
    kept[0].write_text("{")  # a file that somebody broke is made anew
    with monkeypatch.context() as patch:
        second = counting(patch)
        found = resume.all_studies(data, tmp_path, said.append)
        assert len(second) == len(MICRO.studies()) - 2
        assert resume.all_studies(data, tmp_path, len) == found
        assert len(second) == len(MICRO.studies()) - 2
    study = SlateStudy(SMALL, UNIFORM, 0)
    assert found[study] == studied(data.world(SMALL, UNIFORM), MICRO, seed_of(4, study.name), nothing)
    other = replace(data, design=replace(MICRO, seed=5, runs=1))
    with monkeypatch.context() as patch:
        third = counting(patch, most=1)
        with pytest.raises(KeyboardInterrupt):
            resume.all_studies(other, tmp_path, len)
        assert len(third) == 1  # other settings have a folder of their own
    assert len(list(tmp_path.iterdir())) == 2


def test_the_page_has_all_conditions(tmp_path: Path) -> None:
    page = made(replace(MICRO, runs=2), judged(*SIZES), tmp_path, len)
    conditions = list(MICRO.conditions())
    assert len(conditions) == 40
    figures = [section for section in page.sections if section.heading.startswith("Figure")]
    assert [section.heading.split(":")[0] for section in figures] == [f"Figure {n}" for n in range(3, 13)]
    assert {len(section.charts) for section in figures} == {4}
    claimed = [claim for section in page.sections for claim in section.claims]
    assert len(claimed) == 12 + 3 + 1
    summary = next(section for section in page.sections if section.heading.startswith("Claims")).tables[0]
    assert [row[0] for row in summary.rows] == [str(one) for one in conditions]
    assert "nan" not in page.render().replace("nano", "")
    assert "9 given queries" in page.sections[0].prose[0]


def told(value: Callable[[Condition, str, int], list[float | None]], runs: int = 4) -> SlateFindings:
    """SlateFindings with truth 1 of which `value` says each estimate: (condition, estimator, run) -> at each size."""
    design = replace(TWICE, runs=runs)
    studies: dict[SlateStudy, Any] = {}
    for one in design.conditions():
        for run in range(runs):
            found = studies.setdefault(SlateStudy(one.space, one.logging, run), {"truth": {}, "estimates": {}})
            found["truth"].setdefault(one.metric, {})[one.target] = 1.0
            of_target = found["estimates"].setdefault(one.metric, {}).setdefault(one.target, {})
            of_target |= {name: value(one, name, run) for name in ESTIMATORS}
    return SlateFindings(design, studies)


def test_claims_by_numbers_given() -> None:
    """Errors at the largest size: wPI .1, or .2 and always above for ERR; direct methods .3; wIPS .6, or no match."""

    def value(one: Condition, name: str, run: int) -> list[float | None]:
        sign = 1 if run % 2 else -1
        sizes = [float(n) for n in TWICE.grid]
        if name == "wPI":
            last = 0.1 * sign if one.metric == "NDCG" else 0.2 + 0.001 * sign
            return [1 + last * (sizes[-1] / n) ** 0.5 for n in sizes]
        if name.startswith("DM"):
            return [1.3 + 0.001 * sign for _ in sizes]
        if name == "wIPS" and one.space == LARGE:
            return [None] * len(sizes)
        return [1 + 0.6 * sign] * len(sizes)

    facts = claims(told(value))
    assert facts["wins over wIPS"] == facts["best by wPI"] == 40
    assert facts["losses to wIPS"] == []
    assert (facts["biased on ERR"], facts["biased on NDCG"]) == (20, 0)
    assert facts["mean bias on ERR"] == pytest.approx(0.2)
    assert facts["fall of DM"] == pytest.approx(1, abs=1e-3)
    assert facts["fall of wPI"] == pytest.approx((120 / 240) ** 0.5)
    assert facts["fall of wIPS"] == 1
    assert facts["worst of wIPS at large"] == 1
    assert facts["worst of wPI at large"] == pytest.approx(0.001)
    status = {claim.text: claim.status for claim in Expectations.of("slates").claims("claims", facts)}
    assert status["wPI easily dominates wIPS across all experimental conditions."] == "confirmed"
    assert status["wPI is biased for ERR, which is no sum over slots."] == "confirmed"
    assert facts["best by DM, first"] == 20  # wPI is off by .1 and .2 times the root of 400 / 120
    assert status["With very small logs, DM is often the best choice."] == "confirmed"

    def worse(one: Condition, name: str, run: int) -> list[float | None]:
        lost = name == "wPI" and one.metric == "ERR" and one.target == TARGETS[0] and one.logging.alpha == 2
        return [3.0 + run] * len(TWICE.grid) if lost else value(one, name, run)

    facts = claims(told(worse))
    assert facts["wins over wIPS"] == 38
    assert len(facts["losses to wIPS"]) == 2
    status = {claim.text: claim.status for claim in Expectations.of("slates").claims("claims", facts)}
    assert status["wPI easily dominates wIPS across all experimental conditions."] == "in part"


def test_normalised_errors_are_from_a_thousandth_to_one() -> None:
    values = {"wPI": 1.1, "wIPS": 1.5, "DM lasso": 1.2, "DM tree": 0.7}
    findings = told(lambda one, name, run: [values.get(name, 9.0)] * len(TWICE.grid))
    found = findings.normalised(findings.conditions[0], 400)
    expected = [0.001, 1.0, 0.001 + 0.999 * 0.1 / 0.4, 0.001 + 0.999 * 0.2 / 0.4]
    assert list(found.values()) == pytest.approx(expected)


def test_intervals_of_errors_hold_what_they_say() -> None:
    errors = np.random.default_rng(0).normal(0.3, 1, (2_000, 10))
    found = [root_mean_square(one) for one in errors]
    assert found[0].value == pytest.approx((errors[0] ** 2).mean() ** 0.5)
    covered = np.mean([one.low <= 1.09**0.5 <= one.high for one in found])
    assert 0.9 < covered < 0.97
    assert root_mean_square(np.zeros(4)).high == 0
    assert np.isnan(root_mean_square(np.array([1.0, np.nan, 2.0])).value)


def test_scales() -> None:
    small, full = SlatesDesign.of(0.06, 4), SlatesDesign.of(1.0, 4)
    assert (small.logs, full.logs, full.runs, full.models[-1]) == (600_000, 10_000_000, 25, 30_000)
    assert len(list(small.conditions())) == 40
    assert {60_000, 600_000} <= set(small.grid) & set(full.grid)
    assert SlatesDesign.of(1e-9, 4).grid[-1] == 2_000


def test_queries_without_a_grade_above_0_are_refused() -> None:
    given = judged(4, 5)
    with pytest.raises(UsageError, match="no document has a grade above 0"):
        SlatesData.of(MICRO, replace(given, grade=np.zeros(given.rows)), len)
