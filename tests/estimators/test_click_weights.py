"""Weights of click models: against the enumeration of hidden states, the position-based estimator, and coverage."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.clicks import DBN, PBM, Browsing, Cascading, ClickLaw, Fitted, SlateDocuments
from offrank.clicks.model import of_documents
from offrank.errors import AbilityError, UsageError
from offrank.estimators import ClickWeights, Direct, DoublyRobust, PositionBased, estimator
from offrank.log.batch import Floats, LogBatch
from offrank.log.source import Needs
from offrank.policies import policy, propensities
from offrank.readers.log import read_log
from offrank.reward_models.click_halves import ClickHalves
from offrank.verbs.estimate import estimate
from offrank.verbs.evaluate import evaluate
from offrank_testing.exact import World
from offrank_testing.laws import law
from tests.estimators.models import Hand, Positions, Reading, fitted
from tests.exact.worlds import EXAMINATION, RELEVANCE, world

EXACT = 1e-9
TARGETS = ("top(new)", "plackett_luce(new)", "uniform")
WRONG = tuple(tuple(1 - chance**2 for chance in row) for row in RELEVANCE)


class Leaving(Hand):
    """Reads from the top, is satisfied by half of what attracts, and else goes on with probability .8."""

    def law(self, parameters: Any, slots: SlateDocuments) -> ClickLaw:
        attraction = of_documents(parameters["attraction"], slots)
        return Cascading(attraction, 0.8 * (1 - attraction / 2), np.full(attraction.shape, 0.8))


class Looking(Hand):
    """Looks at a rank by its distance from the last click."""

    def law(self, parameters: Any, slots: SlateDocuments) -> ClickLaw:
        attraction, ranks = of_documents(parameters["attraction"], slots), slots.shown.shape[1]
        rank, last = np.arange(ranks)[:, None], np.arange(ranks + 1)
        return Browsing(attraction, np.where(last <= rank, 0.9 / np.maximum(1 + rank - last, 1), 0.0))


@cache
def hidden_leaving(chances: tuple[float, ...]) -> list[float]:
    """P(click) in each slot, by all states: attracted, satisfied and going on, of every slot."""
    found = [0.0] * len(chances)
    for states in product(*[list(product((0, 1), repeat=3))] * len(chances)):
        weight, reads, clicked = 1.0, True, []
        for chance, (attracted, satisfied, on) in zip(chances, states, strict=True):
            for p, happens in ((chance, attracted), (chance / 2, satisfied), (0.8, on)):
                weight *= p if happens else 1 - p
            clicked.append(reads and attracted)
            reads = reads and bool(on) and not (attracted and satisfied)
        found = [one + weight * click for one, click in zip(found, clicked, strict=True)]
    return found


@cache
def hidden_looking(chances: tuple[float, ...]) -> list[float]:
    """P(click) in each slot, by all patterns of clicks."""
    found = [0.0] * len(chances)
    for pattern in product((0, 1), repeat=len(chances)):
        weight, last = 1.0, 0
        for rank, (chance, click) in enumerate(zip(chances, pattern, strict=True)):
            seen = chance * 0.9 / (1 + rank - last)
            weight *= seen if click else 1 - seen
            last = rank + 1 if click else last
        found = [one + weight * click for one, click in zip(found, pattern, strict=True)]
    return found


HIDDEN = {"leaving": (Leaving(), hidden_leaving), "looking": (Looking(), hidden_looking)}


def of_users(shape: str, hidden: Any) -> World:
    """A world whose users click as the enumeration of hidden states says."""
    return World(
        world(shape, "position").situations, lambda which, slate: hidden(tuple(RELEVANCE[which][i] for i in slate))
    )


def terms(made: Any, batch: LogBatch, drawn: str, target: str) -> Any:
    return made.terms(batch, propensities(policy(drawn), batch), propensities(policy(target), batch))


@pytest.mark.parametrize("users", HIDDEN)
@pytest.mark.parametrize("logging", ["ranking(listed)", "uniform"])
def test_the_truth_by_enumeration_of_what_is_hidden(users: str, logging: str) -> None:
    model, hidden = HIDDEN[users]
    here, made = of_users("full", hidden), ClickWeights(fitted(model, RELEVANCE))
    other = ClickWeights(fitted(Positions(EXAMINATION), RELEVANCE))
    found = estimate(here.source(policy(logging)), {one: one for one in TARGETS}, logging, [made, other])
    for target in TARGETS:
        truth = here.value(policy(target))
        assert found[target, repr(made)].value == pytest.approx(truth, rel=EXACT)
        assert abs(found[target, repr(other)].value / truth - 1) > 1e-3


@pytest.mark.parametrize("users", HIDDEN)
def test_each_weight_is_the_ratio_of_enumerated_chances(users: str) -> None:
    model, hidden = HIDDEN[users]
    here, made = of_users("full", hidden), ClickWeights(fitted(model, RELEVANCE))
    batch = here.batch(policy("uniform"))
    weight = terms(made, batch, "uniform", "plackett_luce(new)").weights.weight
    for row in range(0, len(batch), 7):
        which, slate = int(batch.contexts.keys["query"][row]), batch.slates[row, : batch.contexts.length[row]].tolist()
        drawn = law(policy("plackett_luce(new)"), here.situations[which]).items()
        shown = here.clicks(which, tuple(slate))
        for slot, item in enumerate(slate):
            wanted = sum(p * here.clicks(which, one)[one.index(item)] for one, p in drawn if item in one)
            assert weight[row, slot] == pytest.approx(wanted / shown[slot], rel=1e-12)


@pytest.mark.parametrize("target", ["top(new)", "plackett_luce(new)", "epsilon(top(new), 0.25)"])
@pytest.mark.parametrize("shape", ["full", "top"])
def test_with_a_position_based_model_it_is_pbm(target: str, shape: str) -> None:
    batch = world(shape, "slate").batch(policy("uniform"))
    mine, theirs = ClickWeights(fitted(Positions(EXAMINATION), WRONG)), PositionBased(examination=EXAMINATION)
    found, wanted = (terms(one, batch, "uniform", target) for one in (mine, theirs))
    np.testing.assert_allclose(found.weights.weight, wanted.weights.weight, rtol=1e-12)
    np.testing.assert_allclose(found.value, wanted.value, rtol=1e-12)


@pytest.mark.parametrize("logging", ["mixture({top(old): 0.6, ranking(listed): 0.4})", "plackett_luce(old)"])
@pytest.mark.parametrize("users", ["position", "cascade"])
def test_by_the_logging_policy_what_others_show_is_not_missed(users: str, logging: str) -> None:
    model = {"position": Positions(EXAMINATION), "cascade": Reading(0.3)}[users]
    here, target = world("top", users), "ranking(listed)"
    shown, made = (ClickWeights(fitted(model, RELEVANCE), form=form) for form in ("shown", "logging"))
    found = evaluate(here.source(policy(logging)), target, logging, [shown, made])
    truth = here.value(policy(target))
    assert found[repr(made)].value == pytest.approx(truth, rel=EXACT)
    assert found[repr(shown)].value < 0.99 * truth
    assert "unseen-items" in [one.code for one in found[repr(shown)].warnings]
    assert "unseen-items" not in [one.code for one in found[repr(made)].warnings]


@pytest.mark.parametrize("form", ["shown", "logging"])
def test_the_mean_weight_is_the_share_of_clicks_that_rows_can_speak_for(form: str) -> None:
    here, fit = world("top", "cascade"), fitted(Reading(0.3), RELEVANCE)
    made = ClickWeights(fit, form=form)  # type: ignore[arg-type]
    batch = here.batch(policy("top(old)"))
    found = terms(made, batch, "top(old)", "ranking(listed)")
    for row in range(len(batch)):
        which, shown = int(batch.contexts.keys["query"][row]), set(batch.slates[row].tolist())
        (wanted,) = law(policy("ranking(listed)"), here.situations[which])
        clicks = here.clicks(which, wanted)
        spoken = sum(click for item, click in zip(wanted, clicks, strict=True) if item in shown)
        # Users of the world click as the model says; `top(old)` ties somewhere, which only the policy's own mean knows.
        if form == "shown":
            assert found.weight[row] == pytest.approx(spoken / sum(clicks), rel=EXACT)
        assert spoken / sum(clicks) - 1e-12 <= found.weight[row] <= 1 + 1e-12


def test_as_the_residual_of_a_model_that_is_right_or_alike() -> None:
    here = world("full", "cascade")
    right, alike = fitted(Reading(0.3), RELEVANCE), fitted(Positions(EXAMINATION), RELEVANCE)
    made = DoublyRobust(right, residual=ClickWeights(alike))
    assert estimate(here.source(policy("uniform")), "top(new)", "uniform", made)[made].value == pytest.approx(
        here.value(policy("top(new)")), rel=EXACT
    )
    here = world("full", "position")
    made = DoublyRobust(fitted(Positions(EXAMINATION), WRONG), residual=ClickWeights(alike))
    assert estimate(here.source(policy("uniform")), "top(new)", "uniform", made)[made].value == pytest.approx(
        here.value(policy("top(new)")), rel=EXACT
    )


def sorted_log(rows: int, seed: int = 0, **more: Any) -> pa.Table:
    """Sessions of users who read from the top; each query has one ranking."""
    rng = np.random.default_rng(seed)
    query, attraction = rng.integers(8, size=rows), rng.uniform(0.1, 0.7, (8, 4))
    going = np.full((rows, 4), 0.8)
    clicks = Cascading(attraction[query], going * (1 - attraction[query] / 2), going).sample(rng)
    score = rng.normal(size=(8, 4))[query]
    return pa.table(
        {
            "query": query,
            "slate": (query[:, None] * 4 + np.arange(4)).tolist(),
            "clicks": clicks.astype(int).tolist(),
            "new": score.tolist(),
            **{name: values(rng, rows) for name, values in more.items()},
        }
    )


def learnt(log: Any, made: Any, clusters: tuple[str, ...] = ()) -> ClickHalves:
    halves = made.model
    assert isinstance(halves, ClickHalves)
    return halves.by_halves(read_log(log), clusters)


def test_each_half_is_judged_by_what_the_other_taught() -> None:
    log = sorted_log(400, user=lambda rng, rows: rng.integers(40, size=rows))
    halves = learnt(log, estimator("weights(pbm)"), ("query", "user"))
    assert halves.rows.key == "user"
    (batch,) = (one for part in [read_log(log).select(halves.needs())] for one in part.batches(0))
    parts = list(halves.parts(batch))
    assert sorted(np.concatenate([rows for rows, _ in parts]).tolist()) == list(range(400))
    users = np.array(log["user"])
    assert not set(users[parts[0][0]]) & set(users[parts[1][0]])
    for (_, fit), (others, _) in zip(parts, reversed(parts), strict=True):
        again = PBM().fit(log.take(others))
        np.testing.assert_allclose(fit.learnt.parameters["attraction"], again.learnt.parameters["attraction"])


def test_a_log_without_randomness_is_judged_with_care_and_its_own_doubt() -> None:
    log = sorted_log(3000)
    found = offrank.evaluate(log, "top(new)", estimators=["weights(dbn)"], cluster=None)
    verdict, estimate = found.verdict, found["weights(dbn)"]
    assert verdict.trust == "with care"
    headline = found.to_document().answers[0].text
    assert "if users click as `dbn` says" in headline
    assert "right-model" in [one.code for one in verdict.assumptions]
    assert {"model-weights"} <= {one.code for one in estimate.warnings}
    made: Any = estimator("weights(dbn)")
    ready = replace(made, model=learnt(log, made))
    (batch,) = read_log(log).select(ready.needs(policy("top(new)")) | Needs(frozenset(["clicks"]))).batches(0)
    draws = [float(terms(one, batch, "uniform", "top(new)").value.mean()) for one in ready.drawn]
    assert len(set(draws)) == 12
    assert np.mean(draws) == pytest.approx(estimate.value, abs=4 * np.std(draws))


def test_the_doubt_of_a_model_of_another_log_is_in_the_interval() -> None:
    log, fit = sorted_log(3000), DBN().fit(sorted_log(300, seed=1).drop_columns(["new"]))
    made = [ClickWeights(one) for one in (fit, without_doubt(fit))]
    doubtful, known = (offrank.evaluate(log, "top(new)", estimators=[one], cluster=None)[repr(one)] for one in made)
    assert doubtful.value == pytest.approx(known.value, rel=1e-12)
    assert doubtful.high - doubtful.low > 1.05 * (known.high - known.low)


def without_doubt(one: Fitted) -> Fitted:
    return replace(one, learnt=replace(one.learnt, strength={}, loadings={}))


def test_a_model_of_the_same_log_is_found() -> None:
    log = sorted_log(400)
    made = ClickWeights(PBM().fit(log))
    codes = [one.code for one in offrank.evaluate(log, "top(new)", estimators=[made])[made].warnings]
    assert "same-log" in codes
    halves = offrank.evaluate(log, "top(new)", estimators=["weights(pbm)"])["weights(pbm)"]
    assert "same-log" not in [one.code for one in halves.warnings]


@pytest.mark.parametrize(
    "spelling", ["weights(pbm)", "weights(dbn)", "clip(weights(dbn), 10)", "weights(ubm, form=logging)"]
)
def test_spelled_as_it_prints(spelling: str) -> None:
    assert repr(estimator(spelling)) == spelling
    assert estimator(repr(estimator(spelling))) == estimator(spelling)


def test_a_bound_and_a_file_pass_on_what_they_hold(tmp_path: Any) -> None:
    log = sorted_log(400)
    PBM().fit(sorted_log(400, seed=1)).save(tmp_path / "pbm.json")
    made = estimator(f"clip(weights('{tmp_path}/pbm.json'), 1e9)")
    inner = estimator(f"weights('{tmp_path}/pbm.json')")
    found = offrank.evaluate(log, "top(new)", estimators=[made, inner])
    assert found[made].value == pytest.approx(found[inner].value, rel=1e-12)
    assert found[made].high == pytest.approx(found[inner].high, rel=1e-9)


@pytest.mark.parametrize("wrong", [{"form": "both"}, {"draws": 0}, {"model": 3}])
def test_what_cannot_work_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        ClickWeights(**{"model": PBM(), **wrong})


def test_logging_slates_that_cannot_be_enumerated_are_refused() -> None:
    items = [list(range(6))] * 4
    log = pa.table({"slate": items, "clicks": [[1, 0, 0, 0, 0, 0]] * 4, "old": [[6.0, 5, 4, 3, 2, 1]] * 4})
    with pytest.raises(AbilityError, match="more slates than can be enumerated"):
        offrank.evaluate(log, "top(old)", "plackett_luce(old)", "weights(dbn, form=logging)")


def test_a_state_cannot_be_kept_of_what_is_learnt(tmp_path: Any) -> None:
    with pytest.raises(UsageError, match="learnt from the log itself"):
        offrank.evaluate(sorted_log(50), "top(new)", estimators=["weights(pbm)"], state=tmp_path / "one.state")


def test_direct_of_the_same_model_is_the_mean_of_its_own_weights() -> None:
    """Where clicks are those that the model expects, weighting them gives what it predicts."""
    here, fit = world("full", "cascade"), fitted(Reading(0.3), RELEVANCE)
    batch = here.batch(policy("uniform"))
    clicks: Floats = fit.click_probs(batch.contexts, batch.slates)
    both = [
        terms(one, replace(batch, clicks=clicks), "uniform", "top(new)") for one in (ClickWeights(fit), Direct(fit))
    ]
    np.testing.assert_allclose(both[0].value, both[1].value, rtol=1e-12)
