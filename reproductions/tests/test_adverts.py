"""The simulated adverts: what is in the log, and that it fits the truth."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import offrank
from offrank import EpsilonUniform, PlackettLuce, Uniform
from offrank.policies.base import Policy
from offrank_papers.advert_pools import rank_examination
from offrank_papers.adverts import AdvertWorld

SMALL = AdvertWorld(impressions=12_000, slots=(1, 2), contexts=300, seed=3)
POLICIES = [PlackettLuce("old_score"), Uniform(), EpsilonUniform(PlackettLuce("old_score"), 0.3)]


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_the_truth_against_enumeration(policy: Policy) -> None:
    pool, total = SMALL.pools[2], 0.0
    for row in range(5):
        contexts = pool.contexts(np.array([row]))
        for slate in itertools.permutations(range(int(contexts.size[0])), 2):
            chance = np.exp(policy.log_prob(contexts, np.array([slate])))[0]
            total += chance * (pool.relevance[row, list(slate)] @ rank_examination(2)) / 5
    assert SMALL.truth(policy, impressions=5, slots=2) == pytest.approx(total, rel=1e-9)


@pytest.mark.turns(3)
@pytest.mark.parametrize("logging", ["logged", "plackett_luce(old_score)"])
def test_the_log_finds_the_truth(logging: str) -> None:
    found = offrank.evaluate(SMALL.source(), "uniform", logging, "ips", by="slots")
    for slots in SMALL.kinds:
        estimate = found.groups[str(slots)]["uniform", "ips"]
        assert abs(estimate.value - SMALL.truth(Uniform(), slots=slots)) < 4 * estimate.standard_error
        assert abs(estimate.mean_weight - 1) < 4 * estimate.mean_weight_interval.standard_error


def test_one_banner_in_ten_without_a_click_is_kept() -> None:
    table = SMALL.table(12_000, 0)
    clicked = np.array([sum(clicks) for clicks in table["clicks"].to_pylist()])
    inclusion = table["inclusion"].to_numpy()
    assert set(clicked) == {0, 1}
    assert (inclusion == np.where(clicked, 1, 0.1)).all()
    rate = clicked.sum() / (1 / inclusion).sum()
    assert rate == pytest.approx(SMALL.truth(SMALL.logging), rel=0.2)


def test_the_shape_of_the_paper() -> None:
    (row,) = AdvertWorld(slots=6, contexts=20).table(1, 0).to_pylist()
    assert len(row["slate"]) == len(row["clicks"]) == 6
    assert 30 <= len(row["candidates"]) <= 60
    assert set(row["slate"]) <= set(row["candidates"])
    lines = zip(row["features"], row["feature_values"], strict=True)
    assert len(row["features"]) == len(row["old_score"]) == len(row["candidates"])
    for indices, values in lines:
        assert indices[:2] == [0, 1]
        assert values[:2] == [float(size) for size in row["banner"].split("/")[0].split("x")]
        assert len(indices) == len(values) == len(set(indices))


def test_the_same_seed_is_the_same_log() -> None:
    again = AdvertWorld(impressions=12_000, slots=(1, 2), contexts=300, seed=3)
    assert again.table(200, 1).equals(SMALL.table(200, 1))
    assert not SMALL.table(200, 0).equals(SMALL.table(200, 1))


def test_the_columns_are_known_before_anything_is_drawn() -> None:
    world = AdvertWorld(50, contexts=30, seed=2)
    assert world.source().table.names == tuple(world.table(1, 0).column_names)


def test_parts_add_up() -> None:
    source = SMALL.source().select(offrank.log.source.Needs())
    rows = np.concatenate([batch.row for part in range(source.parts()) for batch in source.batches(part)])
    assert sorted(rows) == list(range(12_000))


def test_a_greedy_guess_by_click_rates_misleads() -> None:
    pool = AdvertWorld(slots=1, contexts=3_000).pools[1]
    real = np.arange(10) < pool.candidates[:, None]
    habitual = pool.product[..., 0]  # feature 11
    assert pool.relevance[real & (habitual == 1)].mean() > 1.2 * pool.relevance[real & (habitual == 0)].mean()
    within = np.where(real, np.log(pool.relevance, where=real, out=np.zeros(real.shape)), 0)
    within -= (within.sum(axis=1) / pool.candidates)[:, None]
    assert within[real & (habitual == 1)].mean() < within[real & (habitual == 0)].mean() - 0.3
