"""Every ability of every policy against the enumerated law, on one ragged batch."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.stats import chi2

from offrank.errors import AbilityError
from offrank.log.batch import Contexts, Integers, LogBatch, Shown
from offrank.policies import policy, propensities
from offrank.policies.base import all_items
from offrank_testing.exact import World, padded
from offrank_testing.laws import Situation, Slate, enumerated_rank_probs, enumerated_slot_probs, law

#: (candidates, slots), the scores and a written ranking of each situation
SITUATIONS = (
    (4, 4, {"score": (4, 2, 1, 1), "logit": (0.3, -0.7, 2, 0), "zero": (0, 3, 0, 1)}, (2, 0, 3, 1)),
    (5, 2, {"score": (1, 3, 3, 0.5, 3), "logit": (5, 4, 3, 2, 1), "zero": (0, 0, 0, 0, 0)}, (4, 1, 0)),
    (3, 3, {"score": (0.2, 0.2, 0.2), "logit": (-1, -1, 4), "zero": (1, 0, 0)}, (0, 1, 2)),
    (1, 1, {"score": (2,), "logit": (-3,), "zero": (0,)}, (0,)),
    (5, 3, {"score": (1, 2, 3, 4, 5), "logit": (0, 0, 1, 1, 2), "zero": (0, 2, 2, 0, 1)}, (3, 2, 4, 1, 0)),
    (2, 1, {"score": (7, 1), "logit": (0, 1), "zero": (0, 1)}, (1, 0)),
)
#: Numbers above 0, each for a candidate.
SPREADS = ((3, 1, 0.5, 2), (1, 8, 5, 0.7, 2), (0.4, 1, 3), (5,), (2, 1, 0.6, 3, 1), (4, 0.5))
#: The same rankings with items that are no candidates, and cut short.
OUTSIDE = ((-2, 0, 3, 1), (4, -2, 0), (0, 1, -2), (-2,), (3, -2, -2, 1, 0), (1, -2))
SHORT = ((2, 0), (4,), (0, 1), (0,), (3, 2), (1,))
#: Another ranking of all candidates.
OTHER = ((0, 2, 1, 3), (1, 4, 2, 0, 3), (2, 0, 1), (0,), (3, 4, 0, 1, 2), (0, 1))
#: What is in stock, the ranks of ads, and brands, of which there are as many as slots.
STOCK = ((1, 1, 1, 1), (1, 0, 3, 1, 0), (1, 1, 1), (1,), (0.5, 0, 1, 0, 1), (0, 1))
ADS = ((0, 2, 0, 0), (0, 3, 0, 1, 0), (0, 0, 0), (1,), (2, 0, 3, 0, 0), (0, 0))
BRANDS = ((1, 2, 3, 4), (5, 5, 7, 5, 7), (1, 2, 3), (0,), (-1, 2.5, -1, 2.5, 9), (8, 8))
#: Brands of which there are fewer.
FEW = ((1, 2, 2, 1), (5, 5, 5, 5, 5), (1, 1, 3), (0,), (1, 2, 2, 1, 2), (8, 8))
OUT_OF_STOCK = ((0, 1, 0, 1), (0, 0, 0, 0, 0), (1, 1, 1), (0,), (1, 1, 0, 0, 0), (1, 1))

WORLD = World(
    tuple(
        Situation(
            m,
            k,
            {
                **scores,
                "stock": STOCK[i],
                "ad": ADS[i],
                "brand": BRANDS[i],
                "few": FEW[i],
                "sold": OUT_OF_STOCK[i],
                "spread": SPREADS[i],
            },
            {"listed": written, "outside": OUTSIDE[i], "short": SHORT[i], "other": OTHER[i]},
            {"arm": 7 - i % 4},
        )
        for i, (m, k, scores, written) in enumerate(SITUATIONS)
    ),
    clicks=lambda context, slate: [0.0] * len(slate),
)
POLICIES = (
    "plackett_luce(score)",
    "plackett_luce(score, temperature=0.4)",
    "plackett_luce(score, temperature=3)",
    "plackett_luce(zero)",
    "plackett_luce(zero, temperature=0.5)",
    "plackett_luce(logit, log=True)",
    "plackett_luce(logit, temperature=0.3, log=True)",
    "uniform",
    "top(score)",
    "top(logit)",
    "top(zero)",
    "ranking(listed)",
    "epsilon(top(score), 0.2)",
    "epsilon(plackett_luce(zero), 0.3)",
    "epsilon(plackett_luce(score), 0)",
    "epsilon(ranking(listed), 1)",
    "epsilon(ranking(listed), 0)",
    "epsilon(uniform, 0.5)",
    "epsilon(epsilon(top(score), 0.1), 0.4)",
    "epsilon(swaps(top(logit), 0.7), 0.25)",
    "swaps(top(score), 0.55)",
    "swaps(ranking(listed), 1)",
    "swaps(plackett_luce(logit, log=True), 0.8)",
    "swaps(epsilon(top(zero), 0.5), 0.6)",
    "mixture({top(score): 0.7, ranking(listed): 0.3})",
    "mixture({plackett_luce(score): 0.25, top(logit): 0.25, epsilon(top(zero), 0.1): 0.4, uniform: 0.1})",
    "mixture({plackett_luce(zero): 1, top(score): 0})",
    "by(arm, {7: top(score), 6: plackett_luce(zero), 5: uniform, 4: ranking(listed)})",
    "by(arm, {4: swaps(top(logit), 0.7), 5: mixture({top(score): 0.5, uniform: 0.5}), 6: top(zero), 7: top(logit)})",
    "epsilon(by(arm, {7: top(score), 6: top(logit), 5: plackett_luce(score), 4: top(zero)}), 0.2)",
    "balanced(by(arm, {7: top(score), 6: uniform, 5: top(zero), 4: top(logit)}), shares={7: 0, 6: .2, 5: .3, 4: .5})",
    "epsilon(mixture({top(score): 0.5, top(logit): 0.5}), 0.1)",
    "interleaved(top(score), top(logit))",
    "interleaved(ranking(listed), top(zero))",
    "interleaved(top(score), top(zero), method=balanced)",
    "interleaved(top(logit), ranking(listed), method=balanced)",
    "interleaved(ranking(listed), ranking(other), method=probabilistic)",
    "mixture({interleaved(top(score), ranking(other)): 0.5, uniform: 0.5})",
    "filtered(top(score), stock)",
    "filtered(plackett_luce(zero), stock)",
    "filtered(epsilon(ranking(other), 0.2), stock)",
    "filtered(interleaved(ranking(other), top(zero)), stock)",
    "filtered(by(arm, {7: top(score), 6: plackett_luce(zero), 5: uniform, 4: top(logit)}), stock)",
    "pinned(top(zero), ad)",
    "pinned(plackett_luce(score), ad)",
    "pinned(mixture({ranking(other): 0.3, plackett_luce(zero): 0.7}), ad)",
    "distinct(top(score), brand)",
    "distinct(top(zero), brand)",
    "distinct(ranking(other), brand)",
    "distinct(uniform, brand)",
    "distinct(plackett_luce(score), brand)",
    "distinct(plackett_luce(zero), brand)",
    "distinct(plackett_luce(logit, log=True), brand)",
    "mixture({distinct(top(score), brand): 0.5, filtered(pinned(uniform, ad), stock): 0.5})",
    "shuffled(top(score))",
    "shuffled(top(zero), 3)",
    "shuffled(ranking(listed), 3, method=top)",
    "shuffled(top(zero), method=fair_pairs)",
    "shuffled(top(logit), 3, method=fair_pairs)",
    "shuffled(top(score), method=window)",
    "shuffled(top(zero), 3, method=window)",
    "mixture({top(score): 0.9, shuffled(top(score), 9): 0.1})",
)
RACES = (
    "thompson(score, spread)",
    "thompson(spread, score)",
    "thompson(mean=logit, sd=spread)",
    "noisy(logit, sd=1.5)",
    "noisy(zero, sd=spread)",
    "noisy(logit, sd=spread, noise=gumbel)",
    "noisy(score, sd=0.8, noise=gumbel)",
    "epsilon(thompson(score, spread), 0.2)",
    "mixture({noisy(score, sd=0.8, noise=gumbel): 0.5, thompson(spread, spread): 0.5})",
)
"""Races of keys: the laws are integrals."""
INTEGRAL = 1e-10
PARTIAL = (
    "ranking(outside)",
    "ranking(short)",
    "epsilon(ranking(outside), 0.4)",
    "by(arm, {7: ranking(outside), 6: ranking(short), 5: top(score), 4: ranking(listed)})",
    "mixture({ranking(outside): 0.2, top(score): 0.8})",
    "interleaved(ranking(short), ranking(listed))",
    "interleaved(ranking(short), ranking(listed), method=balanced)",
    "interleaved(ranking(short), ranking(other), method=probabilistic)",
    "filtered(plackett_luce(score), sold)",
    "filtered(ranking(short), sold)",
    "distinct(plackett_luce(zero), few)",
    "distinct(top(zero), few)",
    "distinct(ranking(short), few)",
    "filtered(distinct(uniform, few), sold)",
)
"""Deterministic part of the ranks only: their slates may hold nothing in some slots."""


def rounding(name: str) -> float:
    """How far a probability may be from the enumerated one, as a share of it."""
    return INTEGRAL if name in RACES else 1e-12


@cache
def everything() -> tuple[Contexts, Integers, list[tuple[int, Slate]]]:
    """Every slate of every situation, possible or not, and those that leave the last slots empty."""
    rows = [(index, slate) for index, situation in enumerate(WORLD.situations) for slate in situation.slates()]
    contexts = WORLD.contexts(np.array([index for index, _ in rows]))
    return contexts, padded([slate for _, slate in rows], contexts.slots, -1).astype(np.int64), rows


@cache
def enumerated(name: str, index: int) -> dict[Slate, float]:
    """The law of a policy in a situation, summed up once for all tests."""
    return law(policy(name), WORLD.situations[index])


@pytest.mark.parametrize("name", [*POLICIES, *RACES, "ranking(outside)"])
def test_log_prob(name: str) -> None:
    contexts, slates, rows = everything()
    found = np.exp(policy(name).log_prob(contexts, slates))
    expected = [enumerated(name, index).get(slate, 0.0) for index, slate in rows]
    assert found == pytest.approx(np.array(expected), rel=rounding(name), abs=1e-300)


@pytest.mark.parametrize("name", [*POLICIES, *RACES])
def test_slot_probs(name: str) -> None:
    contexts, slates, rows = everything()
    found = policy(name).slot_probs(contexts, slates)
    assert found.shape == slates.shape
    for probs, (index, slate) in zip(found, rows, strict=True):
        expected = enumerated_slot_probs(enumerated(name, index), slate)
        known = next((slot + 1 for slot, p in enumerate(expected) if p == 0), len(slate))
        assert probs[:known] == pytest.approx(expected[:known], rel=rounding(name), abs=0)
        if known == len(slate) and expected[-1] > 0:
            assert probs[known:] == pytest.approx(1)


@pytest.mark.parametrize("name", [*POLICIES, *RACES, *PARTIAL])
@pytest.mark.parametrize("asked", ["shown", "all"])
def test_rank_probs(name: str, asked: str) -> None:
    contexts, slates, rows = everything()
    items = slates if asked == "shown" else all_items(contexts)
    found = policy(name).rank_probs(contexts, items)
    assert found.shape == (*items.shape, contexts.slots)
    expected = np.zeros(found.shape)
    for row, (index, _) in enumerate(rows):
        expected[row] = ranks_of(name, index, tuple(items[row].tolist()), contexts.slots)
    assert found == pytest.approx(expected, rel=rounding(name), abs=1e-15)


@pytest.mark.parametrize("name", [*POLICIES, *RACES])
def test_pair_probs(name: str) -> None:
    contexts = WORLD.contexts(np.arange(len(WORLD.situations)))
    found = policy(name).pair_probs(contexts)
    expected = np.zeros(found.shape)
    for row in range(len(WORLD.situations)):
        for slate, chance in enumerated(name, row).items():
            shown = np.array(slate), np.arange(len(slate))
            expected[(row, *(each[:, None] for each in shown), *(each[None] for each in shown))] += chance
    assert found == pytest.approx(expected, rel=rounding(name), abs=1e-12)


@cache
def ranks_of(name: str, index: int, items: Slate, slots: int) -> np.ndarray:
    """[q, slots] the enumerated rank probabilities of these items; zeros for -1."""
    written = enumerated(name, index)
    return np.array([enumerated_rank_probs(written, item, slots) if item >= 0 else [0.0] * slots for item in items])


@pytest.mark.parametrize("name", [*POLICIES, *RACES, *PARTIAL])
def test_the_law_of_shown_items_is_their_rank_probs(name: str) -> None:
    contexts, slates, _ = everything()
    n = len(contexts)
    batch = LogBatch(contexts, Shown(slates), None, None, np.ones(n), np.arange(n, dtype=np.uint64))
    found = propensities(policy(name), batch)
    expected = policy(name).rank_probs(contexts, slates)
    assert found.rank_law.written_out(contexts.length) == pytest.approx(expected)
    assert found.log_prob == pytest.approx(policy(name).log_prob(contexts, slates))
    assert found.slot_probs == pytest.approx(policy(name).slot_probs(contexts, slates))


@pytest.mark.parametrize("name", [*POLICIES, *RACES, *PARTIAL])
@pytest.mark.parametrize("candidates", ["as they are", "none", "no rows"])
def test_a_context_without_slots_has_the_empty_slate(name: str, candidates: str) -> None:
    """So a base policy sees a row in which everything is pinned."""
    here = WORLD.contexts(np.arange(0 if candidates == "no rows" else len(WORLD.situations)))
    size = np.zeros_like(here.size) if candidates == "none" else here.size
    contexts, n = replace(here, size=size, length=np.zeros_like(here.length)), len(here)
    none, items, one = np.zeros((n, 0), np.int64), all_items(contexts), policy(name)
    assert one.sample(contexts, np.random.default_rng(1)).tolist() == none.tolist()
    assert one.rank_probs(contexts, items).shape == (*items.shape, 0)
    if name not in PARTIAL:
        assert one.log_prob(contexts, none) == pytest.approx(np.zeros(n), abs=1e-15)
        assert one.slot_probs(contexts, none).shape == (n, 0)
        assert one.pair_probs(contexts).size == 0


@pytest.mark.parametrize("base", ["thompson(score, spread)", "noisy(logit, sd=1.5)"])
def test_where_every_slot_is_pinned_one_slate_is_certain(base: str) -> None:
    contexts = WORLD.contexts(np.array([3, 3]))  # its only item is pinned
    found = policy(f"pinned({base}, ad)")
    assert found.log_prob(contexts, np.array([[0], [-1]])).tolist() == [0.0, 0.0]
    assert found.rank_probs(contexts, np.array([[0], [0]]))[:, 0, 0].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("name", [*POLICIES, *RACES])
def test_samples_come_as_often_as_they_should(name: str) -> None:
    for index, situation in enumerate(WORLD.situations):
        draws = 3000
        contexts = WORLD.contexts(np.full(draws, index))
        rng = np.random.default_rng([7, index])
        slates = policy(name).sample(contexts, rng)
        assert slates.shape == (draws, situation.slots)
        expected = enumerated(name, index)
        found = dict.fromkeys(expected, 0)
        for slate in map(tuple, slates.tolist()):
            assert slate in found, f"{slate} cannot happen"
            found[slate] += 1
        assert chi_square(found, expected, draws) < chi2.ppf(1 - 1e-5, max(len(expected) - 1, 1)), index


def chi_square(found: dict[Slate, int], expected: dict[Slate, float], draws: int) -> float:
    """Pearson's statistic, rare slates together in one cell."""
    cells = {slate: draws * p for slate, p in expected.items() if draws * p >= 5}
    rare = draws - math.fsum(cells.values())
    often = sum((found[slate] - count) ** 2 / count for slate, count in cells.items())
    rarely = sum(found.values()) - sum(found[slate] for slate in cells)
    return often + ((rarely - rare) ** 2 / rare if rare >= 5 else 0.0)


def test_slates_in_ragged_batches_are_padded() -> None:
    contexts = WORLD.contexts(np.arange(len(WORLD.situations)))
    for name in POLICIES:
        slates = policy(name).sample(contexts, np.random.default_rng(1))
        assert slates.shape == (len(contexts), contexts.slots)
        for row, slate in enumerate(slates):
            length = contexts.length[row]
            assert (slate[length:] == -1).all()
            assert len(set(slate[:length].tolist())) == length
            assert (slate[:length] >= 0).all()
            assert (slate[:length] < contexts.size[row]).all()


@pytest.mark.parametrize("name", ["ranking(outside)", "epsilon(ranking(outside), 0.5)"])
def test_what_is_no_candidate_cannot_be_drawn(name: str) -> None:
    contexts = WORLD.contexts(np.arange(len(WORLD.situations)))
    with pytest.raises(AbilityError, match="draw slates") as error:
        policy(name).sample(contexts, np.random.default_rng(1))
    assert "candidates" in error.value.remedy


def test_a_policy_needs_only_its_own_columns() -> None:
    needed = policy("epsilon(plackett_luce(score), 0.1)").reads("log_prob")
    assert (needed.roles, needed.scores, needed.weights) == ({"candidates"}, {"score"}, {"score"})
    assert not policy("plackett_luce(score, log=True)").reads("log_prob").weights
    assert policy("swaps(ranking(listed), 0.5)").reads("rank_probs").rankings == {"listed"}
