"""Interleaved rankings: the papers' traps with their arithmetic written out, all coins enumerated, what is refused."""

from __future__ import annotations

import math
import re
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

import offrank
from offrank.errors import AbilityError, UsageError
from offrank.policies import Top, Uniform, policy, slot_by_slot
from offrank.policies.base import all_items
from offrank.policies.interleaved import Interleaved
from offrank_testing.exact import World, padded
from offrank_testing.laws import Situation, law


def chances(spelling: str, *rankings: tuple[int, ...], slots: int) -> dict[tuple[int, ...], float]:
    """Every slate of positive probability of the rankings `a` and `b`, by the library alone."""
    items = range(max(map(max, rankings)) + 1)
    here = World((Situation(len(items), slots, {}, dict(zip("ab", rankings, strict=True))),), lambda *_: [])
    slates = [one for k in range(1, slots + 1) for one in permutations(items, k) if k == min(slots, len(items))]
    contexts = here.contexts(np.zeros(len(slates), np.int64))
    found = np.exp(policy(spelling).log_prob(contexts, padded(slates, slots, -1).astype(np.int64)))
    return {slate: chance for slate, chance in zip(slates, found.tolist(), strict=True) if chance > 0}


def test_a_team_does_not_lose_its_turn_to_an_item_that_the_other_has_shown() -> None:
    # Both rank 0 first, and go on with 1, 2 and with 3, 2. Whoever picks first shows 0. The other team is behind, so it
    # picks now, and its best item that is not shown yet is its second: 3 or 1. Then a coin again: 1 or 3 is left of
    # either team's first three, so both would show it. A team that lost its turn to 0 would let the first one go on
    # with its own second item: (0, 1, ...) after the coin of the first team, the other way round.
    found = chances("interleaved(ranking(a), ranking(b))", (0, 1, 2, 3), (0, 3, 2, 1), slots=3)
    assert found == {
        (0, 3, 1): 1 / 2 * 1 * 1 / 2,  # A shows 0, B shows 3; A's coin: 1
        (0, 3, 2): 1 / 2 * 1 * 1 / 2,  # A shows 0, B shows 3; B's coin: 2, for 0 and 3 are shown
        (0, 1, 3): 1 / 2 * 1 * 1 / 2,  # B shows 0, A shows 1; B's coin: 3
        (0, 1, 2): 1 / 2 * 1 * 1 / 2,  # B shows 0, A shows 1; A's coin: 2
    }


def test_the_team_that_is_behind_picks_without_a_coin() -> None:
    # Unlike rankings: in each pair of picks every team picks once. Coins for each slot would give (0, 1, ...) by 1 / 4.
    found = chances("interleaved(ranking(a), ranking(b))", (0, 1, 2, 3), (2, 3, 0, 1), slots=4)
    assert found == {(0, 2, 1, 3): 1 / 4, (0, 2, 3, 1): 1 / 4, (2, 0, 1, 3): 1 / 4, (2, 0, 3, 1): 1 / 4}


def test_where_a_ranking_has_no_more_items_the_other_picks() -> None:
    # B holds 2 alone. Whoever begins, both have picked once: 0 and 2 are shown. B has nothing left, A picks 1, then 3.
    found = chances("interleaved(ranking(a), ranking(b))", (0, 1, 3), (2,), slots=4)
    assert found == {(0, 2, 1, 3): 1 / 2, (2, 0, 1, 3): 1 / 2}
    # Here A's coin shows 0, which is all that B has: B is behind, yet it cannot pick, and A goes on with 1, then 3.
    assert chances("interleaved(ranking(a), ranking(b))", (0, 1, 3), (0,), slots=3) == {(0, 1, 3): 1}


def test_balanced_interleaving_passes_what_is_shown_and_has_one_coin() -> None:
    # A first: 0 of A, 2 of B, 1 of A; 3 of B. B first: 2 of B, 0 of A, 3 of B, then 1 of A.
    found = chances("interleaved(ranking(a), ranking(b), method=balanced)", (0, 1, 2, 3), (2, 3, 0, 1), slots=4)
    assert found == {(0, 2, 1, 3): 1 / 2, (2, 0, 3, 1): 1 / 2}
    # Both begin with 0: B's turn is passed after A's, and A goes on: this is the bias that team draft removes.
    found = chances("interleaved(ranking(a), ranking(b), method=balanced)", (0, 1, 2), (0, 2, 1), slots=2)
    assert found == {(0, 1): 1 / 2, (0, 2): 1 / 2}


def test_probabilistic_interleaving_removes_what_is_shown_and_renormalises() -> None:
    # Weights 1, 1/8, 1/27 by rank, divided by those of the items not shown. A: 0, 1, 2. B: 2, 1, 0.
    whole, rest = 1 + 1 / 8 + 1 / 27, 1 / 8 + 1 / 27
    first = 1 / 2 * 1 / whole + 1 / 2 * (1 / 27) / whole  # item 0: first of A, third of B
    then = 1 / 2 * (1 / 8) / rest + 1 / 2 * (1 / 8) / (1 + 1 / 8)  # item 1, without 0
    found = chances("interleaved(ranking(a), ranking(b), method=probabilistic)", (0, 1, 2), (2, 1, 0), slots=3)
    assert found[0, 1, 2] == pytest.approx(first * then, rel=1e-14)
    assert math.fsum(found.values()) == pytest.approx(1, rel=1e-14)


@pytest.mark.parametrize(
    ("method", "most"), [("team_draft", 4), ("balanced", 4), ("probabilistic", 4), ("probabilistic", 3)]
)
def test_all_pairs_of_rankings_equal_the_enumeration_of_all_coins(
    method: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("offrank.policies.interleaved._MOST_ITEMS", most)  # more are followed from state to state
    kinds = [one for k in (1, 2, 4) for one in permutations(range(4), k)]
    rng = np.random.default_rng(6)
    chosen = [(kinds[i], kinds[j]) for i, j in rng.integers(0, len(kinds), (30, 2))]
    situations = [Situation(4, slots, {}, {"a": a, "b": b}) for (a, b), slots in product(chosen, (2, 4))]
    here = World(tuple(situations), lambda *_: [])
    found = policy(f"interleaved(ranking(a), ranking(b), method={method})")
    contexts = here.contexts(np.arange(len(situations)))
    ranks, pairs = found.rank_probs(contexts, all_items(contexts)), found.pair_probs(contexts)
    for row, one in enumerate(situations):
        expected = np.zeros((2, 4, 4, 4, 4))
        for slate, chance in law(found, one).items():
            for rank, item in enumerate(slate):
                expected[0, item, rank, 0, 0] += chance
                expected[1, item, rank, list(slate), range(len(slate))] += chance
        assert ranks[row] == pytest.approx(expected[0, :, :, 0, 0], abs=1e-12)
        assert pairs[row] == pytest.approx(expected[1], abs=1e-12)


def test_long_lists_are_summed_over_states_and_not_over_coins() -> None:
    # 60 items and 40 slots: 2^20 lists by the coins of team draft, a few hundred states a slot.
    here = World(
        (Situation(60, 40, {"a": tuple(range(60)), "b": tuple((7 * i) % 60 for i in range(60))}),), lambda *_: []
    )
    contexts = here.contexts(np.zeros(4000, np.int64))
    found = policy("interleaved(top(a), top(b))")
    ranks = found.rank_probs(contexts.take(np.arange(1)), all_items(contexts)[:1])[0]
    assert ranks.sum(axis=0) == pytest.approx(np.ones(40), rel=1e-12)
    drawn = found.sample(contexts, np.random.default_rng(1))
    seen = np.stack([(drawn == item).mean(axis=0) for item in range(60)])
    assert np.abs(seen - ranks).max() < 5 * 0.5 / math.sqrt(4000)


def test_an_estimate_is_unbiased_without_the_teams() -> None:
    here = World(
        (Situation(4, 3, {}, {"a": (0, 1, 2, 3), "b": (0, 2, 3, 1), "c": (0, 2, 1, 3)}),),
        lambda _, slate: [(item + 1) * (4 - rank) / 16 for rank, item in enumerate(slate)],
    )
    served = policy("interleaved(ranking(a), ranking(b))")
    found = offrank.evaluate(here.source(served), "ranking(c)", served, ["ips", "rips", "ipm", "pi"])
    truth = here.value(policy("ranking(c)"))
    assert [one.value for one in found.estimates.values()] == pytest.approx([truth] * 4, rel=1e-9)


@pytest.mark.parametrize(
    ("a", "b", "method", "why"),
    [
        (Uniform(), Top("b"), "team_draft", "uniform is not a sorted ranking"),
        ("top", Top("b"), "team_draft", "'top' is not a sorted ranking"),
        (Top("a"), Top("b"), "draft", "unknown method 'draft'"),
    ],
)
def test_what_cannot_be_interleaved_is_refused(a: Any, b: Any, method: str, why: str) -> None:
    with pytest.raises(UsageError, match=re.escape(why)):
        Interleaved(a, b, method=method)


@pytest.mark.parametrize(
    ("spelling", "why"),
    [
        ("interleaved(top(a), top(b), method=probabilistic)", "has ties"),
        ("interleaved(top(b), ranking(c))", "contains items that are not candidates"),
    ],
)
def test_what_leaves_the_law_open_is_refused_with_the_reason(spelling: str, why: str) -> None:
    here = World((Situation(3, 2, {"a": (1, 1, 0), "b": (3, 2, 1)}, {"c": (-2, 0, 1)}),), lambda *_: [])
    contexts = here.contexts(np.zeros(1, np.int64))
    with pytest.raises(AbilityError, match=why):
        policy(spelling).rank_probs(contexts, all_items(contexts))


def test_too_many_sets_of_items_above_are_refused_with_what_helps() -> None:
    scores = {name: tuple(np.random.default_rng(seed).random(40)) for seed, name in enumerate("ab")}
    here = World((Situation(40, 20, scores),), lambda *_: [])
    contexts = here.contexts(np.zeros(1, np.int64))
    found = policy("interleaved(top(a), top(b), method=probabilistic)")
    with pytest.raises(AbilityError, match="joint probability of two items") as error:
        found.pair_probs(contexts)
    assert "shorten the slate" in error.value.remedy
    assert np.isfinite(found.log_prob(contexts, np.arange(20)[None])).all()


def test_how_many_ways_are_followed_depends_on_the_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    """A state holds each of its candidates: 2^21 states of 1,000 would fill 16 GiB."""
    scores = {name: tuple(np.random.default_rng(seed).random(40)) for seed, name in enumerate("ab")}
    here = World((Situation(40, 8, scores),), lambda *_: [])
    contexts = here.contexts(np.zeros(1, np.int64))
    found = policy("interleaved(top(a), top(b))")
    assert found.rank_probs(contexts, all_items(contexts)).sum() == pytest.approx(8)
    monkeypatch.setattr(slot_by_slot, "_MOST_CELLS", 40)
    with pytest.raises(AbilityError, match="more than 1 ways from one slot"):
        found.rank_probs(contexts, all_items(contexts))
