"""PL-Rank: gradients against enumeration of all rankings, rewards against their expectation, what it learns."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import offrank
from offrank.errors import LogError, UsageError
from offrank.learning import learner, pl_rank
from offrank.learning.examples import Data, Examples
from offrank.learning.pl_rank import ItemRewards, Metric
from offrank.learning.reductions import Scorer
from offrank.policies.linear import Encoding, Model
from tests.learning.worlds import examples, store

kernels = pl_rank._kernels_rankings
SHAPES = [(5, 3), (4, 4), (3, 1), (5, 5)]


def chance(ranking: tuple[int, ...], scores: np.ndarray) -> float:
    """Plackett-Luce probability of the first places of a ranking."""
    left, found = float(np.exp(scores).sum()), 1.0
    for item in ranking:
        found *= float(np.exp(scores[item])) / left
        left -= float(np.exp(scores[item]))
    return found


class Problem:
    """A metric of rankings of m items with `depth` ranks, and its gradient by enumeration of all rankings."""

    def __init__(self, m: int, depth: int) -> None:
        rng = np.random.default_rng([m, depth])
        self.m, self.depth = m, depth
        self.scores, self.worth = rng.normal(size=m), rng.uniform(size=m)
        self.curve, self.excess = rng.uniform(0.2, 1, depth), rng.normal(size=depth)
        self.shown = rng.permutation(m)[:depth]
        self.keys = rng.integers(0, 2**63, m).astype(np.uint64)

    def metric(self, ranking: tuple[int, ...]) -> float:
        """What a ranking earns."""
        own = (self.curve[k] * self.worth[item] for k, item in enumerate(ranking))
        return float(sum(own) + sum(self.excess[k] for k, item in enumerate(ranking) if item == self.shown[k]))

    def value(self, scores: np.ndarray) -> float:
        rankings = itertools.permutations(range(self.m), self.depth)
        return sum(chance(ranking, scores) * self.metric(ranking) for ranking in rankings)

    def gradient(self) -> np.ndarray:
        """By differences of the enumerated value."""
        steps = 1e-6 * np.eye(self.m)
        return np.array([(self.value(self.scores + s) - self.value(self.scores - s)) / 2e-6 for s in steps])

    def drawn(self, draws: int, order: np.ndarray | None = None) -> np.ndarray:
        """From drawn rankings, the items listed in this order."""
        at = np.arange(self.m) if order is None else order
        out, floats = np.zeros(self.m), np.empty(self.m + 3 * self.depth + 3)
        shown = np.argsort(at)[self.shown]
        noise = (self.keys[at], np.uint64(7), draws, self.depth)
        given = (self.curve, self.worth[at], shown, self.excess, out, floats, np.empty(self.m + self.depth, np.int64))
        kernels.mean_slopes(self.scores[at], *noise, *given)
        return out


@pytest.mark.parametrize(("m", "depth"), SHAPES)
def test_expected_slope_of_a_ranking_is_the_gradient(m: int, depth: int) -> None:
    here = Problem(m, depth)
    mass, found = np.exp(here.scores - 2.0), np.zeros(m)
    scratch = (np.zeros(m, np.int64), np.zeros(depth + 1), np.zeros(depth + 2))
    for ranking in itertools.permutations(range(m), depth):
        one = np.zeros(m)
        given = (here.curve, here.worth, here.shown, here.excess, one)
        kernels.ranking_slopes(mass, np.array(ranking), depth, *given, *scratch)
        found += chance(ranking, here.scores) * one
    assert found == pytest.approx(here.gradient(), abs=1e-7)
    assert np.abs(found).max() > 0.01


@pytest.mark.parametrize(("m", "depth"), SHAPES[:3])
def test_drawn_rankings_follow_the_law_and_ignore_the_order_of_candidates(m: int, depth: int) -> None:
    here, order = Problem(m, depth), np.random.default_rng(1).permutation(m)
    many = here.drawn(40_000)
    assert many == pytest.approx(here.gradient(), abs=0.015)
    assert here.drawn(16, order) == pytest.approx(here.drawn(16)[order], abs=1e-14)
    assert np.abs(here.drawn(16) - here.drawn(17)).max() > 0


def every_slate(slots: int, model: Scorer | None) -> tuple[np.ndarray, np.ndarray]:
    """One context with every slate once at inclusion 1 / (its probability): (expected R, true clicks) [m, k]."""
    one = replace(examples(3, slots, n=1), slates=np.zeros((1, slots), np.int64))
    m, rng = int(one.size[0]), np.random.default_rng(4)
    slates = np.array(list(itertools.permutations(range(m), slots)))
    law, click = rng.dirichlet(np.ones(len(slates))), rng.uniform(size=(m, slots))
    ranks = np.zeros((m, slots))
    for slate, p in zip(slates, law, strict=True):
        ranks[slate, np.arange(slots)] += p
    clicks = click[slates, np.arange(slots)]
    copies = len(slates)
    joined = Examples(
        np.arange(copies + 1) * m,
        np.concatenate([[0], np.cumsum(np.tile(np.diff(one.offsets), copies))]),
        np.tile(one.indices, copies),
        np.tile(one.values, copies),
        slates,
        clicks,
        np.log(law),
        clicks.sum(axis=1),
        1 / law,
        np.zeros(copies * m, np.uint64),
        ranks[slates, np.arange(slots)],
    )
    rewards = ItemRewards.of(store(joined), slots, np.inf, model)
    worth = rewards.worth(joined)
    found = rewards.curve * worth[:m, None]
    np.add.at(found, (slates, np.arange(slots)), rewards.excess(joined, worth) * law[:, None])
    return found, click


@pytest.mark.parametrize("model", [None, Scorer(np.random.default_rng(2).normal(size=8), 0.3)])
def test_rewards_of_items_are_right_on_average_whatever_the_model(model: Scorer | None) -> None:
    found, click = every_slate(2, model)
    assert found == pytest.approx(click)


def test_gradient_of_the_weights_follows_from_that_of_the_scores() -> None:
    """Features as a dense matrix; impressions count 1 / inclusion."""
    given, weights, stream = examples(9, 2), np.random.default_rng(0).normal(size=8), np.uint64(3)
    given = replace(given, clicks=(given.slates >= 0).astype(float))
    metric = Metric(store(given), ItemRewards(2, np.array([0.5, 0.3]), np.inf), 4, 1.0)
    dense = np.zeros((len(given.keys), 8))
    np.add.at(dense, (np.repeat(np.arange(len(dense)), np.diff(given.offsets)), given.indices), given.values)
    slopes = metric.slopes(given, dense @ weights, stream)
    assert np.abs(slopes).max() > 0.1
    assert metric.gradient(weights, stream) == pytest.approx(dense.T @ slopes)
    halved = replace(given, inclusion=given.inclusion / 2)
    assert metric.slopes(halved, dense @ weights, stream) == pytest.approx(2 * slopes)


def clicked(n: int, seed: int = 0) -> list[dict[str, Any]]:
    """Two of five items at random; item i is clicked with chance (i + 1) / 10, half as often at rank 2."""
    rng = np.random.default_rng(seed)
    slates = rng.permuted(np.tile(np.arange(5), (n, 1)), axis=1)[:, :2]
    clicks = rng.random((n, 2)) < (slates + 1) / 10 / np.array([1, 2])
    features = [[item] for item in range(5)]
    both = zip(slates.tolist(), clicks.astype(float).tolist(), strict=True)
    return [{"slate": s, "clicks": c, "candidates": list(range(5)), "features": features} for s, c in both]


def test_the_order_of_items_is_learnt_and_chosen_by_items(tmp_path: Path) -> None:
    how = {"logging": "uniform", "bits": 4, "epochs": 2}
    made = offrank.learn(clicked(3000), "pl-rank", tmp_path / "p.npz", **how)
    assert made.policy.model.weights[:5].argsort().tolist() == [0, 1, 2, 3, 4]
    assert made.tried[0].ipm is not None
    assert "ipm" in str(made)
    assert made.tested is not None
    assert ("drawn", "ipm") in made.tested
    assert made.better
    again = offrank.evaluate(clicked(3000)[1::3], f"linear({str(tmp_path / 'p.npz')!r})", "uniform", ["ipm"])
    assert made.tried[0].ipm.value == pytest.approx(again["ipm"].value, rel=1e-9)


def test_whole_slates_are_learnt_from_by_their_reward() -> None:
    """Without clicks, or the probability of an item at a rank, it is the gradient of plackett-luce."""
    given = examples(1, 3, n=60)
    for unknown in (
        replace(given, reward=given.reward + 0.5),
        replace(given, rank_q=np.full(given.slates.shape, np.nan)),
    ):
        data = Data(store(unknown), store(unknown), Encoding.plain(3))
        one, other = (next(iter(learner(name, 1).candidates(data, 0))) for name in ("pl-rank", "plackett-luce"))
        assert isinstance(one.model, Model)
        assert isinstance(other.model, Model)
        assert one.model.weights == pytest.approx(other.model.weights)


def test_boosted_scorers_learn_the_order_too(tmp_path: Path) -> None:
    """Worth falls with the distance from 2 of the only feature, which no linear scorer can tell."""
    rows = [{**row, "features": [[0]] * 5, "feature_values": [[i] for i in (2, 0, 1, 4, 3)]} for row in clicked(900)]
    for row in rows:
        row["clicks"] = [float(row["feature_values"][item] == [2]) for item in row["slate"]]
    how = {"logging": "uniform", "bits": 3, "epochs": 2}
    found = offrank.learn(rows, "pl-rank(scorer=boosted,robust=[False])", tmp_path / "p.npz", **how)
    assert type(found.policy) is offrank.Boosted
    best = offrank.evaluate(rows[2::3], found.policy, "uniform", "ipm")["ipm"].value
    linear = offrank.learn(rows, "pl-rank(robust=[False])", tmp_path / "q.npz", **how)
    assert best > 1.3 * offrank.evaluate(rows[2::3], linear.policy, "uniform", "ipm")["ipm"].value
    with pytest.raises(UsageError, match="scorer is 'deep'"):
        learner("pl-rank(scorer=deep)")


def test_a_log_of_slate_propensities_is_learnt_from_by_slates(tmp_path: Path) -> None:
    """Such a log has no probability of an item at a rank: pl-rank is then plackett-luce, chosen by ips."""
    rows = [{**row, "propensity": 1 / 20} for row in clicked(900)]
    made = offrank.learn(rows, "pl-rank", tmp_path / "p.npz", bits=4, epochs=1)
    assert made.criterion == made.to_dict()["criterion"] == "ips"
    assert isinstance(made.policy, offrank.Linear)
    assert made.policy.model.facts["criterion"] == "ips"
    other = offrank.learn(rows, "plackett-luce(clips=[1.0])", tmp_path / "q.npz", bits=4, epochs=1)
    assert made.tried[0].ips == other.tried[0].ips
    with pytest.raises(UsageError, match="criterion ipm needs clicks"):
        offrank.learn(rows, "poem", tmp_path / "r.npz", bits=4, epochs=1, criterion="ipm")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("l2=[]", "the grid is empty"),
        ("clips=1.5", "clips has 1.5"),
        ("draws=0", "draws is 0"),
        ("steps=1.5", "steps is 1.5"),
        ("rate=0", "rate is 0"),
        ("rate=fast", "rate is 'fast'"),
        ("leaves=1", "leaves is 1"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        learner(f"pl-rank({settings})")


def test_single_numbers_are_grids_of_one_and_any_seed_works(tmp_path: Path) -> None:
    how = {"logging": "uniform", "bits": 4, "epochs": 1, "test": False}
    for seed in (-1, 2**64 + 5):
        made = offrank.learn(clicked(300), "pl-rank(l2=0.1,clips=1,robust=True)", tmp_path / "p.npz", seed=seed, **how)
        assert len(made.tried) == 1
    rows = [{**row, "features": [[]] * 5} for row in clicked(300)]
    with pytest.raises(LogError, match="no candidate has any feature"):
        offrank.learn(rows, "pl-rank(scorer=boosted)", tmp_path / "p.npz", **how)
