"""Pseudo-targets: their laws against enumeration, and how far they are from the logging policy."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest

from offrank.log.batch import Contexts, LogBatch, Shown
from offrank.policies import policy
from offrank.policies.base import all_items
from offrank.policies.tilted import Tilted
from offrank.running.executors import run
from offrank.selection.pseudo_targets import DistanceFold, pseudo_targets
from offrank_testing import MemorySource

ITEMS, SLOTS = 4, 3
SLATES = np.array(list(itertools.permutations(range(ITEMS), SLOTS)))


@cache
def contexts() -> Contexts:
    """One context, as often as there are slates."""
    n = len(SLATES)
    scores = {"old": np.tile([1.0, 3.0, 2.0, 0.5], (n, 1)), "new": np.tile([0.4, 0.1, 0.9, 0.8], (n, 1))}
    return Contexts(np.tile(np.arange(ITEMS), (n, 1)), np.full(n, ITEMS), np.full(n, SLOTS), scores)


@pytest.mark.parametrize("strength", [-0.5, 0.0, 1.0])
@pytest.mark.parametrize("base", ["plackett_luce(old)", "uniform", "swaps(top(old), 0.9)"])
def test_laws_are_exact(base: str, strength: float) -> None:
    tilted, here = Tilted(policy(base), policy("top(new)"), strength), contexts()
    # top(new) has items 2, 3, 0 at ranks 1, 2, 3: heights 3, 2, 1, and 0 for item 1
    height = (np.array([1.0, 0.0, 3.0, 2.0]) - 1.5) / np.sqrt(1.25)
    own = here.scores["old"][0] if base == "plackett_luce(old)" else np.ones(ITEMS)
    weight = own * np.exp(strength * height)
    chance = [
        np.prod([weight[item] / (weight.sum() - weight[slate[:slot]].sum()) for slot, item in enumerate(slate)])
        for slate in SLATES
    ]
    assert np.exp(tilted.log_prob(here, SLATES)) == pytest.approx(chance, rel=1e-9)
    assert tilted.slot_probs(here, SLATES).prod(axis=1) == pytest.approx(chance, rel=1e-9)
    ranks = tilted.rank_probs(here, all_items(here))[0]
    for item, rank in itertools.product(range(ITEMS), range(SLOTS)):
        assert ranks[item, rank] == pytest.approx(np.array(chance)[SLATES[:, rank] == item].sum(), rel=1e-9)
    drawn = tilted.sample(here, np.random.default_rng(1))
    assert drawn.shape == SLATES.shape


def test_the_distance_is_the_total_variation_at_a_rank() -> None:
    """Against uniform slates, one item is always at a rank instead of each in a quarter: 1 - 1/4."""
    n = len(SLATES)
    batch = LogBatch(contexts(), Shown(SLATES), np.zeros(SLATES.shape), None, np.ones(n), np.arange(n, dtype=np.uint64))
    targets = policy("top(new)"), policy("uniform"), policy("epsilon(top(old), 0.5)")
    found = run(MemorySource((batch,)), DistanceFold(targets, policy("uniform")))
    assert found == pytest.approx([0.75, 0.0, 0.375])


def test_what_the_logging_policy_never_shows_counts_too() -> None:
    """It always shows one item at a rank, which the target does in a quarter of all impressions: 1 - 1/4."""
    here, drawn = contexts(), policy("top(new)")
    slates = drawn.sample(here, np.random.default_rng(1))  # type: ignore[union-attr]
    n = len(slates)
    batch = LogBatch(here, Shown(slates), np.zeros(slates.shape), None, np.ones(n), np.arange(n, dtype=np.uint64))
    assert run(MemorySource((batch,)), DistanceFold((policy("uniform"),), drawn)) == pytest.approx([0.75])


def test_pseudo_targets_need_a_law_of_the_logging_policy() -> None:
    assert pseudo_targets(policy("logged"), policy("top(new)")) == ()
    assert pseudo_targets(policy("uniform"), policy("written(slate=p)")) == ()
    assert len(pseudo_targets(policy("uniform"), policy("top(new)"))) == 4
    assert pseudo_targets(policy("uniform"), policy("written(ranks=p)")) == ()
