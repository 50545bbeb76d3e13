"""Calibration of a logging policy: what it counts, how rarely it is wrong, and which broken logs it finds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, multinomial, poisson

from offrank import EpsilonUniform, PlackettLuce, Top, Uniform
from offrank.checks.calibration import TILTS, CalibrationFold, ShownCounts, _all_items, bennett
from offrank.findings.log import Frequency
from offrank.log.batch import Contexts, LogBatch
from offrank.log.batch import Shown as Slates
from offrank.log.source import Needs
from offrank.sums.sampled import SampledRowsFold

ALARM = 1e-3
SCORE = PlackettLuce("score")


def batch(candidates: Any, slates: Any, inclusion: Any = None, **scores: Any) -> LogBatch:
    """Rows of item codes [n, m] and candidate indices [n, k]."""
    candidates, slates = np.asarray(candidates), np.asarray(slates)
    n, m = candidates.shape
    contexts = Contexts(candidates, np.full(n, m), np.full(n, slates.shape[1]), scores)
    kept = np.ones(n) if inclusion is None else np.asarray(inclusion)
    return LogBatch(contexts, Slates(slates), None, None, kept, np.arange(n).astype(np.uint64))


def found(rows: LogBatch, logging: Any = SCORE, **known: Any) -> Frequency:
    fold = CalibrationFold(logging, **known)
    told = fold.result(fold.of(rows))
    assert told is not None
    return told


def coins(heads: int, tails: int, chance: float) -> LogBatch:
    """Item 7 is shown `heads` times and item 8 `tails` times; the policy shows item 7 with this probability."""
    n = heads + tails
    scores = np.tile([chance, 1 - chance], (n, 1))
    return batch(np.tile([7, 8], (n, 1)), np.repeat([[0], [1]], [heads, tails], axis=0), score=scores)


@pytest.mark.parametrize(("away", "variance", "most"), [(4.0, 4.0, 1.0), (8.0, 16.0, 2.0), (40.0, 400.0, 10.0)])
def test_the_bound_by_arithmetic(away: float, variance: float, most: float) -> None:
    # b a / v = 1, and h(1) = 2 log 2 - 1.
    assert float(bennett(np.array(away), np.array(variance), most)) == pytest.approx(
        math.exp(-(2 * math.log(2) - 1) * variance / most**2)
    )


@pytest.mark.parametrize("q", [0.02, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("n", [5, 60])
def test_the_bound_is_never_below_the_truth(n: int, q: float) -> None:
    counts = np.arange(n + 1)
    away = counts - n * q
    bound = bennett(np.abs(away), np.full(n + 1, n * q * (1 - q)), 1.0)
    truth = np.where(away > 0, binom.sf(counts - 1, n, q), binom.cdf(counts, n, q))
    assert (bound >= truth - 1e-12).all()


def test_the_worst_count_by_arithmetic() -> None:
    told = found(coins(0, 40, 0.75))
    # Item 7 stood in 0 rows of an expected 30, with the variance 40 * .75 * .25 = 7.5: b a / v = 30 / 7.5 = 4. Items
    # have a quarter of the false alarms, and item 7 three quarters of that, by how often it is expected.
    assert (told.item, told.rank, told.observed) == (7, None, 0)
    assert told.expected == pytest.approx(30)
    assert told.chance == pytest.approx(2 * math.exp(-7.5 * (5 * math.log(5) - 4)) / (0.25 * 0.75))


def test_a_share_of_false_alarms_that_no_number_holds_is_none() -> None:
    # Item 0 was expected half as often; the chance of that over a share of 1e-320 is beyond all numbers, and so is 1.
    one = np.ones(2)
    counts = ShownCounts(observed=2 * one, expected=one, binomial=0.5 * one, empirical=0.5 * one)
    for shares in ([1e-320, 1e-320], [0.0, 1e-320]):
        assert counts.worst(1.0, np.array(shares))[1] == (2, 1, 1)


def test_what_is_impossible_alarms_at_once() -> None:
    told = found(coins(499, 1, 1.0))
    assert told.observed == 499
    assert told.expected == pytest.approx(500)
    assert told.chance < ALARM
    assert found(coins(500, 0, 1.0)).chance == 1


@pytest.mark.parametrize("chance", [0.5, 0.75, 0.97])
@pytest.mark.parametrize("n", [12, 60])
def test_false_alarms_are_as_rare_as_it_says_exactly(n: int, chance: float) -> None:
    """All logs of n rows: how often is the chance that is told at most a?"""
    told = np.array([found(coins(heads, n - heads, chance)).chance for heads in range(0, n + 1, n // 12)])
    heads = np.arange(0, n + 1, n // 12)
    law = binom.pmf(heads, n, chance)
    for level in told[told < 1]:
        assert law[told <= level].sum() <= level * (1 + 1e-9)


def test_the_chances_of_healthy_logs_are_no_smaller_than_they_should_be() -> None:
    rng = np.random.default_rng(0)
    told = [found(world(rng, 80, 5, 2)).chance for _ in range(120)]
    for level in (0.1, 0.3):
        assert np.mean(np.array(told) <= level) <= level


def world(rng: np.random.Generator, n: int, m: int, k: int, change: Callable[..., Any] | None = None) -> LogBatch:
    """Slates of Plackett-Luce over 40 items, drawn from scores that `change` may replace, and changed by it."""
    scores = rng.lognormal(0, 1, (n, m))
    candidates = np.argsort(rng.random((n, 40)), axis=1)[:, :m]
    drawn = scores if change is None else change(rng, candidates, scores, None)
    race = np.log(np.maximum(drawn, 1e-12)) + rng.gumbel(size=(n, m))
    slates = np.argsort(-race, axis=1)[:, :k]
    slates = slates if change is None else change(rng, candidates, scores, slates)
    return batch(candidates, slates, score=scores)


def swapped(rng: Any, candidates: Any, scores: Any, slates: Any) -> Any:
    if slates is None:
        return scores
    slates, rows = slates.copy(), np.flatnonzero(rng.random(len(slates)) < 0.4)
    one, other = rng.permuted(np.tile(np.arange(slates.shape[1]), (len(rows), 1)), axis=1)[:, :2].T
    slates[rows, one], slates[rows, other] = slates[rows, other], slates[rows, one]
    return slates


def pinned(rng: Any, candidates: Any, scores: Any, slates: Any) -> Any:
    """Item 3 stands first, wherever it is a candidate, in half of the rows."""
    boost = np.where((candidates == 3) & (rng.random((len(scores), 1)) < 0.5), 1e9, 1.0)
    return scores * boost if slates is None else slates


def filtered(rng: Any, candidates: Any, scores: Any, slates: Any) -> Any:
    return np.where(candidates % 20 == 0, 0.0, scores) if slates is None else slates


def cooler(rng: Any, candidates: Any, scores: Any, slates: Any) -> Any:
    return scores ** (1 / 1.3) if slates is None else slates


def other_column(rng: Any, candidates: Any, scores: Any, slates: Any) -> Any:
    return rng.lognormal(0, 1, scores.shape) if slates is None else slates


def transposed(rng: Any, candidates: Any, scores: Any, slates: Any) -> Any:
    return scores if slates is None else slates[:, ::-1].copy()


def shuffled(rng: Any, candidates: Any, scores: Any, slates: Any) -> Any:
    return scores if slates is None else rng.permuted(slates, axis=1)


BROKEN = [swapped, pinned, filtered, cooler, other_column, transposed, shuffled]


@pytest.mark.parametrize("change", BROKEN, ids=lambda change: change.__name__)
def test_broken_logs_are_found(change: Any) -> None:
    told = found(world(np.random.default_rng(1), 3_000, 6, 4, change))
    assert told.chance < ALARM
    if change is pinned:
        assert (told.item, told.observed > told.expected) == (3, True)
    if change is filtered:
        assert told.item in (0, 20)
        assert told.observed == 0
    if change is transposed:
        assert told.rank in (1, 4)
        assert told.observed < told.expected


@pytest.mark.parametrize("seed", range(3))
def test_the_healthy_log_is_not(seed: int) -> None:
    assert found(world(np.random.default_rng(seed), 3_000, 6, 4)).chance > 0.05


def test_other_policies_than_plackett_luce_are_compared() -> None:
    rows = world(np.random.default_rng(2), 1_500, 5, 3)
    scores = rows.contexts.scores["score"]
    best = np.argsort(-scores, axis=1)[:, :3]
    uniform = np.argsort(np.random.default_rng(3).random((1_500, 5)), axis=1)[:, :3]
    mixed = np.where(np.random.default_rng(4).random((1_500, 1)) < 0.5, uniform, best)
    rows = replace(rows, shown=Slates(mixed))
    assert found(rows, EpsilonUniform(Top("score"), 0.5)).chance > 0.05
    assert found(rows, EpsilonUniform(Top("score"), 0.4)).chance < ALARM


def test_rows_count_by_their_inclusion() -> None:
    """Kept by what stood at the top: with the inclusion probabilities a fair log, without a wrong one."""
    rng = np.random.default_rng(5)
    rows = world(rng, 4_000, 5, 2)
    top = np.take_along_axis(rows.contexts.scores["score"], rows.slates[:, :1], axis=1)[:, 0]
    inclusion = np.where(top > 2, 1.0, 0.3)
    kept = rows.take(np.flatnonzero(rng.random(4_000) < inclusion))
    weighted = replace(kept, inclusion=inclusion[kept.row.astype(int)])
    assert found(weighted).chance > 0.05
    assert found(kept).chance < ALARM


def test_the_order_of_the_candidates_decides_nothing() -> None:
    rng = np.random.default_rng(6)
    rows = world(rng, 500, 6, 3, cooler)
    order = rng.permuted(np.tile(np.arange(6), (500, 1)), axis=1)
    place = np.argsort(order, axis=1)
    contexts = replace(
        rows.contexts,
        candidates=np.take_along_axis(rows.contexts.candidates, order, axis=1),
        scores={"score": np.take_along_axis(rows.contexts.scores["score"], order, axis=1)},
    )
    other = replace(rows, contexts=contexts, shown=Slates(np.take_along_axis(place, rows.slates, axis=1)))
    one, two = found(rows), found(other)
    assert (one.rank, one.item, one.lift) == (two.rank, two.item, two.lift)
    assert one.chance == pytest.approx(two.chance, rel=1e-6)


def test_how_many_rows_are_kept() -> None:
    rows = world(np.random.default_rng(7), 200, 5, 2)

    def kept(kept: int, cells: int = 10_000) -> np.ndarray:
        fold = SampledRowsFold(Needs(scores=frozenset(["score"])), kept, cells=cells)
        return fold.result(fold.of(rows)).key

    every = np.sort(kept(kept=1_000))
    assert len(every) == 200
    assert np.array_equal(kept(kept=40), every[:40])
    assert np.array_equal(kept(kept=1_000, cells=109), every[:10])  # each row has 5 * 2 of them
    assert np.array_equal(kept(kept=1_000, cells=110), every[:11])
    assert len(kept(kept=1_000, cells=1)) == 1


@pytest.mark.parametrize(("most", "variance"), [(1.0, 9.0), (4.0, 16.0)])
def test_the_chance_of_a_deviation_is_that_of_both_sides(most: float, variance: float) -> None:
    """Twice Bennett's bound; where rows were left out, which may depend on clicks, with the larger variance."""
    _, (*_, found) = ShownCounts(*(np.array([one]) for one in (30.0, 10.0, 9.0, 16.0))).worst(most, np.ones(1))
    u = most * 20 / variance
    assert found == pytest.approx(2 * math.exp(-variance / most**2 * ((1 + u) * math.log1p(u) - u)), rel=1e-12)


def unknown_ranker(rows: int, terms: int, spread: float, seed: int) -> LogBatch:
    """Lists of 4 of 6 items of a term, by scores that the log lacks: a reordering of what it shows."""
    rng = np.random.default_rng(seed)
    items = rng.integers(terms, size=rows)[:, None] * 6 + np.arange(6)
    noise = rng.gumbel(size=items.shape)
    order = np.argsort(-(spread * (items * 5 % 6) + noise), axis=1)[:, :4]
    shown = np.take_along_axis(items, order, axis=1)
    candidates = np.sort(shown, axis=1)  # of these alone the log tells
    return batch(candidates, np.argsort(np.argsort(shown, axis=1), axis=1))


@pytest.mark.parametrize(("terms", "spread"), [(40, 0.35), (200, 0.5)])
def test_many_items_together_refute_a_law_that_none_of_them_refutes_alone(terms: int, spread: float) -> None:
    told = found(unknown_ranker(8_000, terms, spread, 1), Uniform())
    assert told.items == 6 * terms
    assert told.observed > told.expected
    assert told.chance < 1e-6
    kept = replace(unknown_ranker(8_000, terms, spread, 1), inclusion=np.full(8_000, 0.5))
    assert found(kept, Uniform()).items == 0  # rows that were left out may depend on what they showed
    fits = found(unknown_ranker(8_000, terms, 0.0, 1), Uniform())
    assert fits.chance > 0.1


def test_the_tail_of_poisson_variables_is_bounded_as_the_comparison_of_all_items_says() -> None:
    for mean in np.exp(np.linspace(np.log(1e-9), np.log(3e4), 200)):
        count = np.arange(int(mean + 40 * np.sqrt(mean) + 200))
        ratio = np.where(count > mean, count * np.log(np.maximum(count, 1) / mean) - count + mean, 0.0)
        for tilt in TILTS:
            factor = math.log(np.exp(poisson.logpmf(count, mean) + tilt * ratio).sum())
            bound = min(math.log((1 + (1 - tilt) ** -0.5) / 2), mean ** (1 - tilt) * math.exp(-tilt))
            assert factor <= bound * (1 + 1e-9)


def test_all_items_together_are_as_unlikely_as_enumeration_says() -> None:
    """Twelve rows with one of three items each, two of them rare: P(bound <= a) <= a, over all counts."""
    law = np.array([0.02, 0.03, 0.95])
    counts = np.array([one for one in itertools.product(range(13), repeat=3) if sum(one) == 12])
    weight = multinomial.pmf(counts, 12, law)
    chance = np.array([next(_all_items(one[None].astype(float), 12 * law[None])).chance for one in counts])
    assert chance.min() < ALARM
    for level in np.unique(chance):
        assert weight[chance <= level].sum() <= level
