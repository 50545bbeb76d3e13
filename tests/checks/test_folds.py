"""The folds of the checks: against plain NumPy, and the same under any partition of the log."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from offrank import EpsilonUniform, Logged, PlackettLuce, Top, Uniform
from offrank.checks import ActionsFold, ActionsTest, AgreementFold, ImpressionsFold, SlotsFold, SupportFold
from offrank.checks.actions import Actions
from offrank.log.batch import Contexts, LogBatch, Shown
from offrank.sums import OptionalFold, Unavailable
from offrank.sums.base import total

LOGGING = PlackettLuce("score")


def batch(rows: int = 400, seed: int = 0, size: int = 5, slots: int = 3, *, sampled: bool = False) -> LogBatch:
    """Plackett-Luce slates of the same candidates; slates are of 1 to `slots` items."""
    rng = np.random.default_rng(seed)
    length = rng.integers(1, slots + 1, rows)
    contexts = Contexts(
        np.tile(np.arange(size) * 10, (rows, 1)),
        np.full(rows, size),
        length,
        {"score": rng.lognormal(size=(rows, size)), "other": rng.lognormal(size=(rows, size))},
    )
    slates = LOGGING.sample(contexts, rng)
    written = {"propensity": np.exp(LOGGING.log_prob(contexts, slates))}
    clicks = np.where(slates >= 0, rng.random(slates.shape) < 0.3, 0.0)
    inclusion = rng.choice([0.2, 1.0], rows) if sampled else np.ones(rows)
    return LogBatch(contexts, Shown(slates, written), clicks, None, inclusion, np.arange(rows, dtype=np.uint64))


def folded(fold: Any, log: LogBatch) -> Any:
    return fold.result(fold.of(log))


@pytest.mark.parametrize("sampled", [False, True])
def test_clicks_by_rank_against_plain_numpy(sampled: bool) -> None:
    log = batch(sampled=sampled)
    found = folded(ImpressionsFold(), log)
    h = 1 / log.inclusion
    assert (found.n, found.estimated) == (400, pytest.approx(h.sum()))
    assert log.clicks is not None
    for row in found.by_rank(0.95):
        there = log.contexts.length >= row.rank
        clicks, weight = log.clicks[there, row.rank - 1], h[there]
        rate = (weight * clicks).sum() / weight.sum()
        error = np.sqrt((weight**2 * (clicks - rate) ** 2).sum()) / weight.sum()
        assert (row.impressions, row.clicks) == pytest.approx((weight.sum(), (weight * clicks).sum()))
        assert (row.click_rate.value, row.click_rate.standard_error) == pytest.approx((rate, error))
        assert row.click_rate.high - row.click_rate.value == pytest.approx(1.959964 * error)


@pytest.mark.parametrize("sampled", [False, True])
def test_inverse_propensities_per_slot_count_against_plain_numpy(sampled: bool) -> None:
    log = batch(sampled=sampled)
    h, inverse = 1 / log.inclusion, 1 / log.shown.written["propensity"]
    rows = folded(SlotsFold(LOGGING), log)
    assert [row.slots for row in rows] == [1, 2, 3]
    for row in rows:
        there = log.contexts.length == row.slots
        assert row.impressions == there.sum()
        assert row.estimated_impressions == pytest.approx(h[there].sum())
        assert row.mean_inverse_propensity == pytest.approx((h * inverse)[there].sum() / h[there].sum())
        assert row.max_inverse_propensity == pytest.approx(inverse[there].max())


def test_the_mean_inverse_propensity_counts_the_slates() -> None:
    rows = folded(SlotsFold(LOGGING), batch(40_000, size=4, slots=2))
    assert [row.mean_inverse_propensity for row in rows] == pytest.approx([4, 12], rel=0.05)


def test_agreement() -> None:
    log = batch()
    right = folded(AgreementFold(LOGGING), log)
    assert (right.rows, right.apart, right.share_apart) == (400, 0, 0.0)
    assert right.typical_ratio == pytest.approx(1)
    propensity = log.shown.written["propensity"].copy()
    propensity[:100] /= 10
    log = dataclasses.replace(log, shown=Shown(log.slates, {"propensity": propensity}))
    found = folded(AgreementFold(LOGGING), log)
    assert (found.apart, found.share_apart) == (100, 0.25)
    assert found.typical_ratio == pytest.approx(10**-0.25)


def test_support_is_the_share_that_is_never_shown_per_rank() -> None:
    log = batch(slots=1)
    logging = EpsilonUniform(Top("score"), 0.0)
    lost = np.argmax(log.contexts.scores["other"], axis=1) != np.argmax(log.contexts.scores["score"], axis=1)
    assert folded(SupportFold(Top("other"), logging), log) == pytest.approx([lost.mean()])
    assert folded(SupportFold(Uniform(), logging), log) == pytest.approx([0.8])
    assert folded(SupportFold(Top("score"), logging), log) == pytest.approx([0])
    assert folded(SupportFold(Top("other"), EpsilonUniform(Top("score"), 0.01)), log) == pytest.approx([0])
    zero = dict(log.contexts.scores) | {"score": np.tile([1.0, 1.0, 1.0, 1.0, 0.0], (400, 1))}
    log = dataclasses.replace(log, contexts=dataclasses.replace(log.contexts, scores=zero))
    assert folded(SupportFold(Uniform(), LOGGING), log) == pytest.approx([0.2])


def test_support_counts_rows_as_often_as_they_stand_for_others() -> None:
    # 100 rows of one item at 0.25 without support stand for 400; 300 rows with support for themselves.
    score, other = np.tile([2.0, 1.0], (400, 1)), np.tile([2.0, 1.0], (400, 1))
    other[:100] = 1.0, 2.0
    contexts = Contexts(
        np.tile([0, 10], (400, 1)), np.full(400, 2), np.ones(400, np.int64), {"score": score, "other": other}
    )
    inclusion = np.where(np.arange(400) < 100, 0.25, 1.0)
    log = LogBatch(
        contexts, Shown(np.zeros((400, 1), np.int64), {}), None, None, inclusion, np.arange(400, dtype=np.uint64)
    )
    fold = SupportFold(Top("other"), Top("score"))
    assert folded(fold, log) == pytest.approx([400 / 700])
    assert folded(fold, dataclasses.replace(log, inclusion=np.ones(400))) == pytest.approx([100 / 400])


@pytest.mark.parametrize(
    ("deviation", "actions", "alarming"),
    # Two-sided normal tails: .001 at 3.2905, .0001 at 3.8906, .00001 at 4.4172 (any table).
    [(3.28, 1, False), (3.30, 1, True), (3.88, 10, False), (3.90, 10, True), (-4.40, 100, False), (-4.43, 100, True)],
)
def test_the_worst_of_many_actions_is_judged_as_such(deviation: float, actions: int, alarming: bool) -> None:
    assert ActionsTest(1, 1, 0.0, 0.0, deviation, actions).alarming is alarming


def actions(log: LogBatch, **policies: Any) -> Any:
    return folded(ActionsFold(**({"logging": LOGGING} | policies)), log)


def test_action_tests_count_what_they_say() -> None:
    log = batch(2_000)
    found = actions(log)
    for name in ("arithmetic", "harmonic"):
        assert found[name].actions == 15
        assert found[name].item in range(0, 50, 10)
    worst = found["arithmetic"]
    place = np.flatnonzero(log.contexts.candidates[0] == worst.item)[0]
    assert worst.observed == (log.slates[:, worst.rank - 1] == place).sum()
    law = LOGGING.rank_probs(log.contexts, np.full((2_000, 1), place))[:, 0, worst.rank - 1]
    assert worst.expected == pytest.approx(law.sum())
    assert worst.deviation == pytest.approx((worst.observed - law.sum()) / np.sqrt((law * (1 - law)).sum()))


@pytest.mark.parametrize("sampled", [False, True])
def test_action_tests_are_silent_on_good_logs(sampled: bool) -> None:
    alarms = 0
    for seed in range(30):
        log = batch(1_000, seed, sampled=sampled)
        own = Shown(log.slates, {"rank_propensity": LOGGING.rank_probs(log.contexts, log.slates)})
        tests = [*actions(log).values(), actions(dataclasses.replace(log, shown=own), logging=Logged())]
        alarms += any(test.alarming for test in (*tests[:2], tests[2]["harmonic"]))
    assert alarms <= 1


@pytest.mark.parametrize("seed", range(3))
def test_action_tests_find_one_wrong_item(seed: int) -> None:
    log = batch(4_000, seed)
    wrong = log.contexts.scores["score"] * np.where(np.arange(5) == 3, 1.5, 1.0)
    log = dataclasses.replace(log, contexts=dataclasses.replace(log.contexts, scores={"score": wrong}))
    for test in actions(log).values():
        assert test.alarming
        assert abs(test.deviation) > 4
    assert actions(log)["arithmetic"].item == 30


def test_clicks_decide_what_is_kept_and_the_tests_stay_silent() -> None:
    alarms = 0
    for seed in range(20):
        log, rng = batch(4_000, seed), np.random.default_rng(seed)
        assert log.clicks is not None
        inclusion = np.where((log.slates == 2).any(axis=1), 1.0, 0.1)
        kept = np.flatnonzero(rng.random(4_000) < inclusion)
        log = dataclasses.replace(
            log,
            contexts=Contexts(
                log.contexts.candidates[kept],
                log.contexts.size[kept],
                log.contexts.length[kept],
                {"score": log.contexts.scores["score"][kept]},
            ),
            shown=log.shown.take(kept, log.slates.shape[1]),
            clicks=log.clicks[kept],
            inclusion=inclusion[kept],
            row=log.row[kept],
        )
        alarms += any(test.alarming for test in actions(log).values())
    assert alarms <= 1


def test_other_candidates_end_the_action_tests() -> None:
    log = batch(10)
    candidates = log.contexts.candidates.copy()
    candidates[7, 0] = 99
    other = dataclasses.replace(log, contexts=dataclasses.replace(log.contexts, candidates=candidates))
    fold = ActionsFold(LOGGING)
    good, bad = fold.of(log), fold.of(other)
    assert fold.result(bad) is fold.result(total(good, bad)) is fold.result(total(bad, good)) is None
    assert fold.result(fold.add(bad, log)) is None
    assert fold.result(Actions()) is None
    swapped = dataclasses.replace(
        log, contexts=dataclasses.replace(log.contexts, candidates=log.contexts.candidates + 1)
    )
    assert fold.result(total(good, fold.of(swapped))) is None


def test_an_attempt_ends_where_a_policy_cannot_know() -> None:
    fold = OptionalFold(SupportFold(Uniform(), Logged()))
    state = fold.of(batch(5))
    assert isinstance(state, Unavailable)
    assert fold.add(state, batch(5)) is state
    assert fold.result(total(np.zeros((0, 2)), state)) is state
    assert "logged gives the probabilities of displayed items only" in state.reason
