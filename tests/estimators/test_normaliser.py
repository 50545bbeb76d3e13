"""Self-normalised clicks: each slot divided by its own mean weight, or all by the pooled one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from offrank.errors import UsageError
from offrank.estimators import IPM, RIPS, Clip, SelfNormalised, clip, estimator
from offrank.inference import Inference
from offrank.log.batch import Contexts, Floats, LogBatch, Shown
from offrank.sums import NamedColumns, Sums, mean_by_block
from offrank.sums.base import Sample
from offrank.sums.estimate import Estimate
from offrank.sums.moments import MomentsFold
from offrank.verbs.estimate import estimate
from offrank_testing import MemorySource, take
from tests.estimators.simulated import LOGGING, TARGET, log, source


def items(rows: int, slots: int, seed: int, ragged: bool = True) -> tuple[LogBatch, Floats]:
    """A log of written probabilities of which every shown item has weight 1 / (its probability), and these [n, k]."""
    rng = np.random.default_rng(seed)
    length = rng.integers(1, slots + 1, rows) if ragged else np.full(rows, slots)
    length[0] = slots
    inside = np.arange(slots) < length[:, None]
    slates = np.where(inside, np.arange(slots), -1)
    chance = np.where(inside, rng.choice([0.2, 0.5, 0.9], (rows, slots)), 0.0)
    clicks = np.where(inside, rng.random((rows, slots)) < 0.4, 0.0).astype(np.float64)
    every = np.tile(np.arange(slots), (rows, 1))
    contexts = Contexts(
        every, np.full(rows, slots), length, rankings={"listed": every}, keys={"user": np.arange(rows) // 3}
    )
    propensity = np.zeros((rows, slots, slots))
    propensity[:, np.arange(slots), np.arange(slots)] = chance
    inclusion = rng.choice([1.0, 0.5], rows)
    shown = Shown(slates, {"rank_propensity": propensity})
    batch = LogBatch(contexts, shown, clicks, None, inclusion, np.arange(rows, dtype=np.uint64))
    return batch, np.divide(1.0, chance, out=np.zeros_like(chance), where=inside)


def judged(batch: LogBatch, name: str, parts: int = 3, **options: Any) -> Estimate:
    """Pieces are cut to their own widest slate."""
    pieces = tuple(take(batch, rows) for rows in np.array_split(np.argsort(batch.contexts.length), parts))
    return estimate(MemorySource(pieces), "ranking(listed)", "logged", [name], **{"cluster": None, **options})[name]


def per_slot(w: Floats, h: Floats, clicks: Floats, length: Floats, blocks: int = 20) -> float:
    """Sum over slots of (share of impressions with the slot) x (weighted clicks) / (weights)."""
    value, block = 0.0, np.minimum(np.arange(w.shape[1]), blocks - 1)
    for b in range(block.max() + 1):
        hw = h[:, None] * w * (block == b)
        number = h @ ((np.arange(w.shape[1]) < length[:, None]) * (block == b)).sum(axis=1)
        value += number / h.sum() * (hw * clicks).sum() / hw.sum()
    return float(value)


@pytest.mark.parametrize("slots", [1, 4, 20, 21, 26])
def test_each_slot_is_divided_by_its_own_mean_weight(slots: int) -> None:
    batch, w = items(300, slots, slots)
    assert batch.clicks is not None
    expected = per_slot(w, 1 / batch.inclusion, batch.clicks, batch.contexts.length)
    found = judged(batch, "snipm")
    assert found.value == pytest.approx(expected, rel=1e-10)
    assert judged(batch, "snipm", parts=1).standard_error == pytest.approx(found.standard_error, rel=1e-9)
    if slots > 1:
        assert abs(judged(batch, "snipm(normaliser=pooled)").value / expected - 1) > 1e-4


@pytest.mark.parametrize("options", [{}, {"cluster": "user"}, {"interval": "bootstrap", "replicates": 50}])
def test_pieces_of_unlike_widths_are_one_log(options: dict[str, Any]) -> None:
    batch, _ = items(300, 6, 4)
    whole, pieces = (judged(batch, "snipm", parts, **options) for parts in (1, 7))
    for field in ("value", "low", "high", "standard_error", "ess"):
        assert getattr(pieces, field) == pytest.approx(getattr(whole, field), rel=1e-9), field


def test_the_pooled_normaliser_is_the_mean_weight() -> None:
    batch, w = items(300, 4, 0)
    assert batch.clicks is not None
    h = 1 / batch.inclusion
    expected = h @ (w * batch.clicks).sum(axis=1) / (h @ (w.sum(axis=1) / batch.contexts.length))
    assert judged(batch, "snipm(normaliser=pooled)").value == pytest.approx(expected, rel=1e-10)


def test_one_click_in_every_slot_is_the_mean_number_of_slots() -> None:
    batch, _ = items(300, 5, 1)
    every = LogBatch(
        batch.contexts, batch.shown, (batch.slates >= 0).astype(np.float64), None, batch.inclusion, batch.row
    )
    h = 1 / batch.inclusion
    found = judged(every, "snipm")
    assert found.value == pytest.approx(h @ batch.contexts.length / h.sum())
    assert found.difference is not None
    assert found.difference.value == 0
    assert found.difference.standard_error == pytest.approx(0, abs=1e-12)


def test_the_error_is_that_of_the_jackknife() -> None:
    batch, w = items(400, 3, 2)
    assert batch.clicks is not None
    h, clicks, length = 1 / batch.inclusion, batch.clicks, batch.contexts.length
    rows = np.arange(400)
    left = np.array([per_slot(*(x[rows != row] for x in (w, h, clicks, length))) for row in rows])
    jackknife = np.sqrt(399 / 400 * ((left - left.mean()) ** 2).sum())
    logged = h * clicks.sum(axis=1)
    earned = np.array([logged[rows != row].sum() / h[rows != row].sum() for row in rows])
    paired = np.sqrt(399 / 400 * ((left - earned - (left - earned).mean()) ** 2).sum())
    found = judged(batch, "snipm")
    assert found.standard_error == pytest.approx(jackknife, rel=0.02)
    assert found.difference is not None
    assert found.difference.standard_error == pytest.approx(paired, rel=0.02)


@pytest.mark.parametrize("options", [{}, {"cluster": "visit"}, {"interval": "bootstrap", "replicates": 400}])
@pytest.mark.parametrize("name", ["snrips", "snipm", "switch(snipm, 1.5)"])
def test_every_kind_of_error_agrees(name: str, options: dict[str, Any]) -> None:
    plain = estimate(source(log()), TARGET, LOGGING, [name], cluster=None)[name]
    other = estimate(source(log()), TARGET, LOGGING, [name], **options)[name]
    assert other.value == pytest.approx(plain.value, rel=1e-12)
    assert other.standard_error == pytest.approx(plain.standard_error, rel=0.2)


@pytest.mark.parametrize("name", ["snrips", "snipm"])
def test_groups_are_as_alone(name: str) -> None:
    result = estimate(source(log()), TARGET, LOGGING, [name], by="situation")
    codes = log().labels["situation"].codes
    for group, found in result.groups.items():
        alone = estimate(source(take(log(), np.flatnonzero(codes == int(group)))), TARGET, LOGGING, [name])[name]
        assert found[name].value == pytest.approx(alone.value, rel=1e-10)
        assert found[name].standard_error == pytest.approx(alone.standard_error, rel=1e-9)
        assert found[name].ess == pytest.approx(alone.ess, rel=1e-9)


COLUMNS = NamedColumns(("rows",), ("value", "weight", "number"))
BY_SLOT = mean_by_block("value", "weight", "number", "rows")


def moments(values: Floats) -> Sums:
    fold = MomentsFold()
    return Sums(COLUMNS, fold.of(Sample.of(values, np.arange(len(values), dtype=np.uint64))))


def test_the_influence_is_the_derivative() -> None:
    values = np.random.default_rng(0).gamma(2.0, 1.0, (50, 7))
    kept, step = moments(values), 1e-6
    means = kept.moments.mean
    above, below = (kept.values(BY_SLOT.of, means + sign * step * np.eye(7)) for sign in (1, -1))
    slopes = (above - below) / (2 * step)
    assert kept.influence(BY_SLOT) == pytest.approx(slopes, rel=1e-6)


def test_its_errors_are_as_large_as_reported_and_smaller_than_pooled_ones() -> None:
    rng, found = np.random.default_rng(3), []
    weights, rates = np.array([2.0, 6.0]), np.array([0.8, 0.2])
    pooled = []
    for _ in range(400):
        w = weights * (rng.random((300, 2)) < 1 / weights)
        value = w * (rng.random((300, 2)) < rates)
        ones = np.ones(300)
        columns = np.column_stack([ones, value[:, 0], w[:, 0], ones, value[:, 1], w[:, 1], ones])
        found.append(Inference(moments(columns), "normal", 0.95).interval(BY_SLOT))
        pooled.append(value.sum() / w.mean(axis=1).sum())
    values = np.array([one.value for one in found])
    assert abs(values.mean() - 1) < 4 * values.std() / 20
    assert np.mean([one.standard_error for one in found]) / values.std() == pytest.approx(1, abs=0.12)
    assert np.std(pooled) > 1.1 * values.std()


def test_a_slot_without_weight_adds_nothing() -> None:
    sums = moments(np.tile([1.0, 0.3, 0.6, 1.0, 0.0, 0.0, 1.0], (4, 1)))
    assert sums.value(BY_SLOT) == pytest.approx(0.5)
    assert sums.influence(BY_SLOT)[4:].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("snipm", SelfNormalised(IPM())),
        ("snipm(normaliser=pooled)", SelfNormalised(IPM(), normaliser="pooled")),
        ("snrips(normaliser=pooled)", SelfNormalised(RIPS(), normaliser="pooled")),
        ("clip(snipm, 10)", SelfNormalised(Clip(IPM(), 10))),
        ("clip(snipm(normaliser=pooled), 10)", SelfNormalised(Clip(IPM(), 10), normaliser="pooled")),
    ],
)
def test_spellings(text: str, made: SelfNormalised) -> None:
    assert estimator(text) == made
    assert repr(made) == text
    assert (made.kind.normalisation == "slot") == ("pooled" not in text)
    assert clip(estimator("snipm(normaliser=slot)"), 10) == estimator("clip(snipm, 10)")


@pytest.mark.parametrize("text", ["snips(normaliser=pooled)", "sninterpol(window=1, normaliser=pooled)"])
def test_nothing_to_pool(text: str) -> None:
    with pytest.raises(UsageError, match="only one normaliser"):
        estimator(text)
    with pytest.raises(UsageError, match="normaliser is 'mine'"):
        estimator("snipm(normaliser=mine)")
    assert SelfNormalised(IPM(), controlled=True).kind.normalisation == "control"
