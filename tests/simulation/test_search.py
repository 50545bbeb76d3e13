"""The simulated world: its truth, its logs, and that they fit each other."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import offrank
from offrank import EpsilonUniform, PlackettLuce, Top, Uniform
from offrank.policies.base import Policy
from offrank.simulation import SearchWorld
from offrank.simulation.search import LOGGING
from offrank_testing.laws import Situation, law

SMALL = SearchWorld(impressions=20_000, queries=5, candidates=4, slots=3, seed=11)
POLICIES = [LOGGING, Top("new_score"), Top("naive_score"), Uniform(), EpsilonUniform(Top("new_score"), 0.3)]


def brute_force(world: SearchWorld, policy: Policy) -> float:
    """Every slate of every query, by its probability, popularity and clicks."""
    share = 1 / np.arange(10, world.queries + 10)
    total = 0.0
    for query, popularity in enumerate(share / share.sum()):
        contexts = world.contexts(np.array([query]))
        for slate in itertools.permutations(range(world.candidates), world.slots):
            chance = np.exp(policy.log_prob(contexts, np.array([slate])))[0]
            clicks = sum(world.relevance[query, item] / (rank + 1) for rank, item in enumerate(slate))
            total += popularity * chance * clicks
    return total


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_the_truth_against_enumeration(policy: Policy) -> None:
    assert SMALL.truth(policy) == pytest.approx(brute_force(SMALL, policy), rel=1e-12)


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_the_truth_against_simulated_users(policy: Policy) -> None:
    rng = np.random.default_rng(0)
    share = 1 / np.arange(10, SMALL.queries + 10)
    query = rng.choice(SMALL.queries, 50_000, p=share / share.sum())
    slates = policy.sample(SMALL.contexts(query), rng)
    clicks = rng.random(slates.shape) < SMALL.relevance[query[:, None], slates] / np.arange(1, SMALL.slots + 1)
    earned = clicks.sum(axis=1)
    assert abs(earned.mean() - SMALL.truth(policy)) < 4 * earned.std() / np.sqrt(len(earned))


def test_the_log_earns_what_the_truth_says() -> None:
    earned = np.array(SMALL.table(20_000, 0)["clicks"].to_pylist()).sum(axis=1)
    assert abs(earned.mean() - SMALL.truth(LOGGING)) < 4 * earned.std() / np.sqrt(len(earned))


def test_logged_propensities_are_those_of_the_logging_policy() -> None:
    for row in SMALL.table(200, 3).to_pylist():
        scores = dict(zip(row["candidates"], row["old_score"], strict=True))
        places = tuple(row["candidates"].index(item) for item in row["slate"])
        slates = law(LOGGING, Situation(4, 3, {"old_score": tuple(scores.values())}))
        assert row["propensity"] == pytest.approx(slates[places])


def test_the_scores_order_the_rankers() -> None:
    world = SearchWorld()
    better, as_logged, worse = (world.truth(p) for p in (Top("new_score"), LOGGING, Top("naive_score")))
    assert better > 1.1 * as_logged > 1.1 * worse


def test_the_same_seed_gives_the_same_table() -> None:
    again = SearchWorld(impressions=20_000, queries=5, candidates=4, slots=3, seed=11)
    assert SMALL.table(300, 2).equals(again.table(300, 2))
    assert not SMALL.table(300, 2).equals(SMALL.table(300, 1))
    other = SearchWorld(impressions=20_000, queries=5, candidates=4, slots=3, seed=12)
    assert not SMALL.table(300, 2).equals(other.table(300, 2))
    assert SMALL.truth(LOGGING) == again.truth(LOGGING) != other.truth(LOGGING)


def test_the_table_is_a_log_in_the_wide_layout() -> None:
    table = SMALL.table(500, 0)
    assert table.num_rows == 500
    for row in table.to_pylist():
        assert len(row["slate"]) == len(row["clicks"]) == 3
        assert set(row["slate"]) < set(row["candidates"])
        assert {item // 100 for item in row["candidates"]} == {row["query"]}
        assert row["device"] in ("phone", "desktop")
        assert all(click in (0, 1) for click in row["clicks"])
    written = PlackettLuce("old_score")
    assert offrank.evaluate(table, "uniform", written)["ips"] == offrank.evaluate(table, "uniform", LOGGING)["ips"]


def test_popular_queries_come_more_often() -> None:
    count = np.bincount(SMALL.table(20_000, 0)["query"].to_numpy(), minlength=5)
    share = 1 / np.arange(10, 15)
    assert count / 20_000 == pytest.approx(share / share.sum(), abs=0.015)
