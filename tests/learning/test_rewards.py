"""Rewards of any scale and shift teach the same policy, and what they cannot teach is refused."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import offrank
from offrank.errors import LogError, UsageError
from offrank.learning import learner
from offrank.learning.examples import Data, Examples, Store, median
from offrank.learning.search import Search, Trial
from offrank.policies.linear import Encoding
from tests.learning.worlds import LINEAR, examples, store

# One worker: what the plain rewards teach is learnt once.
pytestmark = pytest.mark.xdist_group("rewards")

MOVES = {"below zero": (1.0, -1.0), "large": (1024.0, 4096.0), "small": (1e-6, -0.1)}
REWARDS = {"clicks": lambda rng, n: rng.random(n) < 0.3, "numbers": lambda rng, n: rng.normal(3, 2, n)}


def data(kind: str, scale: float = 1.0, shift: float = 0.0, slots: int = 1) -> Data:
    """Two thirds of 120 impressions, all rewards times `scale` plus `shift`."""
    thirds = []
    for seed in (1, 2):
        made = examples(seed, slots, n=120)
        reward = np.asarray(REWARDS[kind](np.random.default_rng(seed), 120), dtype=float)
        thirds.append(store(replace(made, reward=scale * reward + shift)))
    return Data(thirds[0], thirds[1], Encoding.plain(3))


@cache
def learnt(name: str, kind: str) -> tuple[Trial, ...]:
    return Search(learner(name, 1), name).run(data(kind))


@pytest.mark.parametrize("kind", REWARDS)
@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("name", LINEAR)
def test_scale_and_shift_of_rewards_teach_the_same_policy(name: str, move: str, kind: str) -> None:
    scale, shift = MOVES[move]
    plain, moved = learnt(name, kind), Search(learner(name, 1), name).run(data(kind, scale, shift))
    for criterion in ("ips", "snips", "lower"):
        best, again = (max(found, key=lambda one: one.worth(criterion)) for found in (plain, moved))
        assert again.candidate.settings == best.candidate.settings
        assert (again.worth(criterion) - shift) / scale == pytest.approx(best.worth(criterion), rel=1e-4, abs=1e-5)
    assert moved[0].candidate.model.weights == pytest.approx(plain[0].candidate.model.weights, abs=1e-4)


@pytest.mark.parametrize("name", ["poem", "snpoem", "plackett-luce"])
def test_the_same_of_slates_of_several_slots(name: str) -> None:
    plain, moved = (Search(learner(name, 1), name).run(d) for d in (data("clicks", slots=3), data("clicks", 8, -8, 3)))
    assert np.abs(plain[0].candidate.model.weights).max() > 0.05
    assert moved[0].candidate.model.weights == pytest.approx(plain[0].candidate.model.weights, abs=1e-4)


def test_frames_of_rewards_by_hand() -> None:
    given = replace(examples(1, n=4), reward=np.array([5.0, 1.0, 3.0, 1.0]), inclusion=np.array([1.0, 0.25, 1.0, 1.0]))
    made = store(given)  # weights 1, 4, 1, 1: the median is 1, the deviation (4 + 0 + 2 + 0) / 7
    assert made.baseline() == 1.0
    assert made.deviation() == pytest.approx(6 / 7)
    assert made.centred().piece(0).reward == pytest.approx(np.array([4, 0, 2, 0]) * 7 / 6)
    assert made.from_zero_to_one().piece(0).reward == pytest.approx([1, 0, 0.5, 0])
    assert made.centred().from_zero_to_one().piece(0).reward == pytest.approx([1, 0, 0.5, 0])
    assert median(np.array([0.0, 1.0]), np.array([1.0, 1.0])) == 0.0
    assert median(np.array([0.0, 1.0]), np.array([0.9, 1.1])) == 1.0


def test_of_rare_clicks_the_terms_are_those_of_the_published_method() -> None:
    clicks = np.array([0.0, 1.0, 0.0, 0.0, 0.0])
    made = store(replace(examples(1, n=5), reward=clicks, inclusion=np.ones(5)))
    assert made.centred().piece(0).reward == pytest.approx(clicks / 0.2)


def world(n: int, seed: int = 0, slots: int = 1, items: int = 4) -> list[dict[str, Any]]:
    """Uniform slates of items that are known by a feature each; item 0 alone is clicked, wherever it is shown."""
    rng = np.random.default_rng(seed)
    order = rng.permuted(np.tile(np.arange(items), (n, 1)), axis=1)[:, :slots]
    propensity = float(np.prod([1 / (items - slot) for slot in range(slots)]))
    features = [[item] for item in range(items)]
    return [
        {
            "slate": slate.tolist(),
            "candidates": list(range(items)),
            "features": features,
            "propensity": propensity,
            "reward": float(0 in slate),
        }
        for slate in order
    ]


def chance_of_the_best(policy: offrank.Linear, items: int = 4) -> float:
    """The probability with which item 0 is drawn first, by the scores in the file."""
    scores = policy.model.weights[:items] * policy.model.encoding.scale[:items]
    return float(np.exp(scores[0]) / np.exp(scores).sum())


@pytest.mark.turns(3)
@pytest.mark.parametrize("name", sorted(set(LINEAR) - {"random"}))
@pytest.mark.parametrize(("scale", "shift"), [(1, 0), (1, -1), (3, -5)])
def test_the_best_item_is_learnt_whatever_the_rewards(tmp_path: Path, name: str, scale: float, shift: float) -> None:
    rows = [{**row, "reward": scale * row["reward"] + shift} for row in world(900)]
    made = offrank.learn(rows, name, tmp_path / "p.npz", bits=4, epochs=4)
    weights = made.policy.model.weights[:4]
    assert weights.argmax() == 0
    if not made.greedy:
        assert chance_of_the_best(made.policy) > 0.9


def test_a_slate_with_its_reward_alone_does_not_teach_by_item(tmp_path: Path) -> None:
    rows = world(300, slots=2)
    with pytest.raises(UsageError, match="only has the reward of the whole slate"):
        offrank.learn(rows, "regression", tmp_path / "p.npz", bits=4)
    clicked = [{**row, "clicks": [float(item == 0) for item in row["slate"]]} for row in rows]
    made = offrank.learn(clicked, "regression", tmp_path / "p.npz", bits=4)
    assert made.policy.model.weights[:4].argmax() == 0
    for clicks, word in ((0.0, "clicks 0"), (1.0, "clicks 1")):
        same = [{**row, "clicks": [clicks] * 2} for row in rows]
        with pytest.raises(LogError, match=f"every item shown .* {word}"):
            offrank.learn(same, "regression", tmp_path / "p.npz", bits=4)
    # One slot has one item: its reward is known.
    assert offrank.learn(world(300), "regression", tmp_path / "p.npz", bits=4).policy.model.weights[:4].argmax() == 0


def test_what_one_slot_of_many_is_learnt_from_does_not_depend_on_the_batch() -> None:
    """A row of one slot in a log of wider ones counts by its click, like all others."""
    wide, narrow = examples(1, 3, n=40), examples(2, 1, n=40)
    pieces = [replace(one, clicks=np.where(one.slates >= 0, 0.0, 0.0), reward=np.ones(40)) for one in (wide, narrow)]
    pieces[0].clicks[0, 0] = 1.0
    made: Store = store(*pieces)
    found = next(iter(learner("regression", 1).candidates(Data(made, made, Encoding.plain(3)), 0)))
    only_clicks: list[Examples] = [replace(one, reward=np.zeros(40) + (one is pieces[0])) for one in pieces]
    other = store(*only_clicks)
    again = next(iter(learner("regression", 1).candidates(Data(other, other, Encoding.plain(3)), 0)))
    assert (found.model.weights == again.model.weights).all()
