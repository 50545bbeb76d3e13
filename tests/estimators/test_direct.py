"""The direct method and its doubly robust forms: draws, what is known, what is refused, what is said."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import offrank
import offrank.clicks
from offrank import Top, Uniform
from offrank.cli import main
from offrank.clicks import DBN, RDCTR
from offrank.errors import AbilityError, NoOverlapError, UsageError
from offrank.estimators import (
    IPS,
    Direct,
    DoublyRobust,
    InterpolWindows,
    SelfNormalised,
    clip,
    estimator,
    shrink,
    switch,
)
from offrank.log.batch import Contexts, LogBatch
from offrank.policies import policy
from offrank.reward_models.click_model import predicted
from offrank.simulation import SearchWorld
from offrank_testing.exact import MemorySource, World
from offrank_testing.laws import Situation, law
from tests.estimators.models import Positions, Reading, fitted
from tests.exact.users import position_based_clicks
from tests.exact.worlds import EXAMINATION, RELEVANCE, world

RIGHT = fitted(Positions(EXAMINATION), RELEVANCE)
READER = fitted(Reading(0.3), RELEVANCE)


def part(batch: LogBatch, rows: Any) -> LogBatch:
    assert batch.clicks is not None
    rows = np.asarray(rows)
    return LogBatch(
        batch.contexts.take(rows),
        batch.shown.take(rows, batch.slates.shape[1]),
        batch.clicks[rows],
        None,
        batch.inclusion[rows],
        batch.row[rows],
    )


CHANCES = (0.9, 0.2, 0.5, 0.7, 0.35, 0.6)
SITUATION = Situation(6, 4, {"new": (1.0, 2.0, 0.5, 3.0, 1.5, 0.8)})  # 360 slates, too many to be written out
MANY = World((SITUATION,), position_based_clicks([CHANCES], EXAMINATION))


def reader_of_many() -> tuple[float, float]:
    """Mean and variance of the clicks that READER expects of a slate of plackett_luce(new)."""
    found = law(policy("plackett_luce(new)"), SITUATION)
    clicks = {
        slate: math.fsum(
            CHANCES[item] * math.prod(1 - 0.7 * CHANCES[above] for above in slate[:slot])
            for slot, item in enumerate(slate)
        )
        for slate in found
    }
    mean = math.fsum(found[slate] * clicks[slate] for slate in found)
    return mean, math.fsum(found[slate] * (clicks[slate] - mean) ** 2 for slate in found)


def test_many_slates_are_drawn_and_their_mean_is_the_expectation() -> None:
    batch, model = MANY.batch(policy("uniform")), fitted(Reading(0.3), [CHANCES])
    found = predicted(model, policy("plackett_luce(new)"), batch, draws=50)
    mean, variance = reader_of_many()
    drawn = 50 * len(batch)
    assert found.reward.mean() == pytest.approx(mean, abs=4 * math.sqrt(variance / drawn))
    assert found.reward.std() == pytest.approx(math.sqrt(variance / 50), rel=0.2)  # rows are drawn by themselves


def test_draws_depend_on_the_row_alone() -> None:
    batch, model, target = MANY.batch(policy("uniform")), fitted(Reading(0.3), [CHANCES]), policy("plackett_luce(new)")
    whole = predicted(model, target, batch, 8).reward
    order = np.random.default_rng(1).permutation(len(batch))
    pieces = [predicted(model, target, part(batch, rows), 8).reward for rows in np.array_split(order, 7)]
    assert np.concatenate(pieces) == pytest.approx(whole[order], rel=1e-15)


def test_ragged_batches_are_cut_into_blocks_without_a_trace() -> None:
    batch = world("top", "position").batch(policy("uniform"))
    before = [predicted(model, policy("plackett_luce(new)"), batch, 8).reward for model in (RIGHT, READER)]
    after = [predicted(model, policy("plackett_luce(new)"), batch, 8, numbers=1).reward for model in (RIGHT, READER)]
    for one, other in zip(before, after, strict=True):
        assert one == pytest.approx(other, rel=1e-12)


@pytest.mark.parametrize("target", ["plackett_luce(new)", "mixture({plackett_luce(new): 0.5, uniform: 0.5})"])
def test_draws_do_not_depend_on_how_many_candidates_others_have(target: str) -> None:
    batch, model = MANY.batch(policy("uniform")), fitted(Reading(0.3), [CHANCES])
    more = [(0, 0), (0, 3)]
    wider = Contexts(
        np.pad(batch.contexts.candidates, more),
        batch.contexts.size,
        batch.contexts.length,
        {name: np.pad(one, more) for name, one in batch.contexts.scores.items()},
    )
    padded = replace(batch, contexts=wider)
    expected = predicted(model, policy(target), batch, 8).reward
    assert predicted(model, policy(target), padded, 8).reward == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("model", [Positions(EXAMINATION), Reading(0.3)])
@pytest.mark.parametrize("target", ["top(new)", "plackett_luce(new)", "uniform"])
def test_the_share_that_is_known(model: Any, target: str) -> None:
    here = world("top", "position")
    batch = here.batch(policy("uniform"))
    found = predicted(fitted(model, RELEVANCE, known=[1, 3]), policy(target), batch, 8)
    known = np.isin(batch.contexts.keys["query"], [1, 3])
    assert found.known == pytest.approx(known.astype(float), abs=1e-12)
    result = offrank.evaluate(
        here.source(policy("uniform")), target, "uniform", Direct(fitted(model, RELEVANCE, [1, 3]))
    )
    caution = next(one for one in only(result).warnings if one.code == "unseen-documents")
    assert (caution.severity, caution.message[:4]) == ("serious", "50 %")


def only(result: offrank.Result) -> offrank.Estimate:
    (found,) = result.estimates.given.values()
    return found


def test_what_is_said_of_a_prediction() -> None:
    source = world("full", "position").source(policy("uniform"))
    found = only(offrank.evaluate(source, "top(new)", "uniform", Direct(RIGHT)))
    said = {one.code: one.severity for one in found.warnings if "reward" not in one.code}
    # The ties are those of the target's scores.
    assert {code for code, severity in said.items() if severity != "note"} == {"model-based", "ties"}
    assert math.isnan(found.ess)
    assert found.mean_weight is None
    assert found.tail_index is None
    robust = only(offrank.evaluate(source, "top(new)", "uniform", DoublyRobust(RIGHT)))
    weighted = only(offrank.evaluate(source, "top(new)", "uniform", "ips"))
    assert robust.mean_weight == pytest.approx(weighted.mean_weight, rel=1e-12)
    assert "model-based" not in [one.code for one in robust.warnings]


def test_weights_are_shown_where_there_are_some() -> None:
    source = world("full", "position").source(policy("uniform"))
    result = offrank.evaluate(source, "top(new)", "uniform", [Direct(RIGHT), DoublyRobust(RIGHT), "ips"])
    assert [row["estimator"].partition("(")[0] for row in result.to_dict()["weights"]] == ["dr", "ips"]
    assert "direct(" in str(result)
    result.to_json()


def test_a_clipped_residual_says_what_was_cut() -> None:
    source = world("full", "position").source(policy("plackett_luce(old)"))
    made = DoublyRobust(RIGHT, residual=clip(IPS(), 1.0))  # type: ignore[arg-type]
    found = only(offrank.evaluate(source, "uniform", "plackett_luce(old)", made))
    assert "clipped" in [one.code for one in found.warnings]
    assert "mean-weight" not in [one.code for one in found.warnings]
    assert found.value == pytest.approx(world("full", "position").value(Uniform()))  # what is cut is expected to be 0


def test_less_variance_than_ips_where_the_model_is_good() -> None:
    here = world("full", "position")
    batch = here.batch(policy("uniform"))
    rng = np.random.default_rng(0)
    rows = rng.choice(len(batch), 4_000, p=(1 / batch.inclusion) / (1 / batch.inclusion).sum())
    drawn = part(batch, rows)
    assert drawn.clicks is not None
    log = MemorySource(
        (
            LogBatch(
                drawn.contexts,
                drawn.shown,
                (rng.random(drawn.clicks.shape) < drawn.clicks).astype(float),
                None,
                np.ones(4_000),
                np.arange(4_000, dtype=np.uint64),
            ),
        )
    )
    result = offrank.evaluate(log, Top("new"), "uniform", ["ips", DoublyRobust(RIGHT)])
    plain, robust = result.estimates.given.values()
    truth = here.value(Top("new"))
    assert robust.standard_error < 0.8 * plain.standard_error
    assert all(abs(one.value - truth) < 4 * one.standard_error for one in (plain, robust))


def test_nothing_known_is_no_estimate() -> None:
    source = world("full", "position").source(policy("uniform"))
    with pytest.raises(NoOverlapError, match="was trained on nothing"):
        offrank.evaluate(source, "top(new)", "uniform", Direct(fitted(Positions(EXAMINATION), [(0.5,)] * 9, known=[8])))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: clip(Direct(RIGHT), 10), "nothing to clip"),
        (lambda: clip(DoublyRobust(RIGHT), 10), "nothing to clip"),
        (lambda: switch(DoublyRobust(RIGHT), 10), "nothing to switch"),
        (lambda: shrink(Direct(RIGHT), 10), "nothing to shrink"),
        (lambda: SelfNormalised(Direct(RIGHT)), "no self-normalised form"),
        (lambda: SelfNormalised(DoublyRobust(RIGHT)), "no self-normalised form"),
        (lambda: SelfNormalised(Direct(RIGHT), controlled=True), "no self-normalised form"),
        (lambda: Direct(RIGHT, draws=0), "draws is 0"),
        (lambda: DoublyRobust(RIGHT, draws=1.5), "draws is 1.5"),  # type: ignore[arg-type]
        (lambda: DoublyRobust(RIGHT, residual=Direct(RIGHT)), "not a single weighting"),  # type: ignore[arg-type]
        (lambda: DoublyRobust(RIGHT, residual=SelfNormalised(IPS())), "not a single weighting"),  # type: ignore[arg-type]
        (lambda: DoublyRobust(RIGHT, residual=InterpolWindows(window="slope")), "not a single weighting"),
        (lambda: Direct("no-such-file.json").reward_model, "no click model"),
    ],
)
def test_what_is_refused(make: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        make()
    assert caught.value.remedy


def test_a_policy_that_cannot_draw_is_refused() -> None:
    source = world("full", "position").source(policy("uniform"))
    with pytest.raises(AbilityError, match="logged cannot"):
        offrank.evaluate(source, "logged", "uniform", Direct(READER))


@pytest.mark.parametrize(
    "spelled", ["direct('m.json')", "direct('m.json', draws=8)", "dr('m.json')", "dr('m.json', residual=clip(ipm, 10))"]
)
def test_spelling_goes_there_and_back(spelled: str) -> None:
    assert repr(estimator(spelled)) == spelled
    assert repr(estimator(f"controlled({spelled})" if spelled.startswith("dr") else spelled)).find(spelled) >= 0


def test_an_examination_curve_reaches_the_residual() -> None:
    source = world("full", "position").source(policy("uniform"))
    result = offrank.evaluate(
        source, "top(new)", "uniform", DoublyRobust(RIGHT, residual=estimator("interpol(window=1)")), examination=RIGHT
    )
    assert result.facts["examination"] == list(EXAMINATION)
    assert only(result).value == pytest.approx(world("full", "position").value(Top("new")))


def test_a_model_without_a_curve_says_so() -> None:
    source = world("full", "position").source(policy("uniform"))
    with pytest.raises(UsageError, match="has no examination curve"):
        offrank.evaluate(source, "top(new)", "uniform", "pbm", examination=READER)


def test_two_models_of_one_name_are_told_apart() -> None:
    source = world("full", "position").source(policy("uniform"))
    other = fitted(Positions(EXAMINATION), RELEVANCE)
    with pytest.raises(UsageError, match="two estimators are called direct"):
        offrank.evaluate(source, "top(new)", "uniform", [Direct(RIGHT), Direct(other)])


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The log of two days, and a model of the first beside it."""
    tmp_path = tmp_path_factory.mktemp("days")
    world = SearchWorld(impressions=20_000, queries=60, candidates=4, slots=3)
    for day in (0, 1):
        pq.write_table(world.table(20_000, day), tmp_path / f"{day}.parquet")
    DBN().fit(tmp_path / "0.parquet").save(tmp_path / "model.json")
    return tmp_path / "0.parquet", tmp_path / "1.parquet"


def test_a_saved_model_says_what_it_was_learnt_from(files: tuple[Path, Path]) -> None:
    question: dict[str, Any] = {"target": "top(new_score)", "logging": "plackett_luce(old_score)", "cluster": None}
    spelled = [f"direct({str(files[0].parent / 'model.json')!r})", f"dr({str(files[0].parent / 'model.json')!r})"]
    same, other = (offrank.evaluate(log, estimators=spelled, **question) for log in files)
    for name in spelled:
        assert ("same-log", "serious") in [(one.code, one.severity) for one in same[name].warnings]
        assert "same-log" not in [one.code for one in other[name].warnings]
    model = offrank.clicks.load(files[0].parent / "model.json")
    at_hand = offrank.evaluate(files[1], estimators=[Direct(model), "ips"], **question)
    assert at_hand["direct(dbn)"].value == pytest.approx(other[spelled[0]].value, rel=1e-12)
    assert at_hand["ips"].mean_weight == pytest.approx(other[spelled[1]].mean_weight, rel=1e-12)
    assert at_hand["ips"].ess < other[spelled[1]].ess  # what the model explains need not be learnt from weighted clicks


def test_tables_in_memory_are_known_by_their_rows(files: tuple[Path, Path]) -> None:
    table, other = (pq.read_table(path) for path in files)
    learnt = Direct(RDCTR().fit(table))
    for log, same in ((table, True), (other, False)):
        result = offrank.evaluate(log, "uniform", "plackett_luce(old_score)", learnt)
        assert ("same-log" in [one.code for one in only(result).warnings]) == same


def test_on_the_command_line(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files[0].parent)
    question = ["--target", "top(new_score)", "--logging", "plackett_luce(old_score)"]
    wanted = ["-e", "direct('model.json')", "-e", "dr('model.json', residual=ipm)"]
    done = CliRunner().invoke(main, ["evaluate", "1.parquet", *question, *wanted, "--json", "out.json"])
    assert done.exit_code == 0, done.output
    assert {row["estimator"] for row in json.loads(Path("out.json").read_text())["estimates"]} == {
        "direct('model.json')",
        "dr('model.json', residual=ipm)",
    }


def test_the_interval_has_the_doubt_of_a_click_models_numbers() -> None:
    """One context, so that only the model's doubt is left; a difference between targets that show the same has none."""
    log = pa.table(
        {"query": [1] * 400, "slate": [[7, 8]] * 400, "clicks": [[1, 0], [0, 0]] * 200, "new": [[1.0, 0.0]] * 400}
    )
    learnt = offrank.clicks.PBM().fit(log)
    assert learnt.has_posterior
    model = replace(learnt, learnt=replace(learnt.learnt, strength={"attraction": np.full(3, 50.0)}, loadings={}))
    found = offrank.evaluate(log, {"a": "top(new)", "b": "ranking(slate)"}, "uniform", Direct(model), cluster=None)
    (a, _b) = found.estimates.given.values()
    attraction, curve = (model.learnt.parameters[name] for name in ("attraction", "examination"))
    exact = math.sqrt(sum(e**2 * p * (1 - p) / 51 for e, p in zip(curve, attraction[:2], strict=True)))
    assert a.standard_error == pytest.approx(exact, rel=0.6)  # twelve draws
    assert a.high - a.value == pytest.approx(2.201 * a.standard_error, rel=1e-3)  # Student's with 11 degrees of freedom
    assert found.difference("a", "b").standard_error == pytest.approx(0.0, abs=1e-12)
    plain = replace(model, learnt=replace(model.learnt, strength={}))
    alone = only(offrank.evaluate(log, "top(new)", "uniform", Direct(plain), cluster=None))
    assert alone.standard_error == pytest.approx(0.0, abs=1e-12)


def test_what_was_counted_is_predicted_over_all_candidates() -> None:
    """One slot, two items by turns: whichever is shown, a rate by rank predicts the share of clicks, 3 of 8."""
    shown, clicks = [[1], [2]] * 4, [[1], [0], [0], [0], [1], [1], [0], [0]]
    log = pa.table({"slate": shown, "clicks": clicks, "candidates": [[1, 2]] * 8, "query": ["q"] * 8})
    model = RDCTR(prior=(1e-9, 1e-9)).fit(log)
    found = offrank.estimate(log, "counted(by=query)", "counted(by=query)", Direct(model), cluster=None)
    assert found[str(Direct(model))].value == pytest.approx(3 / 8)
