"""What each method learns, that it learns the same again, and what it refuses."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import offrank
from offrank.errors import LogError, UsageError
from offrank.learning import Checkpoint, learner, one_against_all, regression
from offrank.learning.examples import Data, Examples
from offrank.learning.poem import Poem
from offrank.learning.preparation import Preparation, Survey
from offrank.learning.reductions import Scorer
from offrank.learning.search import Search, judge_slates
from offrank.policies.linear import Encoding, Linear, Model
from offrank.policies.logged_probabilities import Logged
from offrank_papers.adverts import AdvertWorld
from tests.learning.worlds import LINEAR, WORLD, examples, prepared, source, store


@pytest.mark.turns(3)
@pytest.mark.parametrize("name", LINEAR)
def test_the_same_seed_gives_the_same_bits(name: str) -> None:
    data = prepared()[0]
    one, again = (list(itertools.islice(learner(name, 2).candidates(data, 5), 3))[-1] for _ in range(2))
    assert one.settings == again.settings
    assert one.model.weights.tobytes() == again.model.weights.tobytes()


def test_poem_earns_more_than_the_logger(tmp_path: Path) -> None:
    data = prepared()[0]
    *_, last = Poem(variances=(1.0,), l2=(1e-3,), clips=(0.97,), epochs=4).candidates(data, 0)
    Model(data.encoding, last.model.weights).save(tmp_path / "policy.npz")
    assert WORLD.truth(Linear(str(tmp_path / "policy.npz"))) > 1.1 * WORLD.truth(WORLD.logging)


def every_action(seed: int = 4) -> tuple[Examples, np.ndarray]:
    """One context, each candidate shown once with inclusion 1 / (its probability): sums are expectations."""
    one = examples(seed, n=1)
    m = int(one.size[0])
    copies = [replace(one, slates=np.array([[item]])) for item in range(m)]
    chance, reward = np.random.default_rng(seed).dirichlet(np.ones(m)), np.random.default_rng(1).uniform(size=m)
    joined = replace(
        one,
        starts=np.arange(m + 1) * m,
        offsets=np.concatenate([[0], np.cumsum(np.tile(np.diff(one.offsets), m))]),
        indices=np.tile(one.indices, m),
        values=np.tile(one.values, m),
        slates=np.concatenate([copy.slates for copy in copies]),
        clicks=np.zeros((m, 1)),
        log_q=np.log(chance),
        reward=reward,
        inclusion=1 / chance,
    )
    return joined, reward


def test_ips_counts_each_candidate_as_often_as_it_earns() -> None:
    given, reward = every_action()
    positive, total = one_against_all.one_against_all(given)
    assert positive.reshape(len(reward), -1).sum(axis=0) == pytest.approx(reward)
    assert total.reshape(len(reward), -1).sum(axis=0) == pytest.approx(np.full(len(reward), reward.sum()))


def test_doubly_robust_rewards_are_right_on_average_whatever_the_model() -> None:
    given, reward = every_action()
    model = Scorer(np.random.default_rng(2).normal(size=8), 0.3)
    found = one_against_all.rewards(given, model).reshape(len(reward), -1)
    assert (found * np.exp(given.log_q)[:, None]).sum(axis=0) == pytest.approx(reward)
    positive, total = one_against_all.above_the_least(model, given)
    apart = positive.reshape(len(reward), -1).sum(axis=0) - reward
    assert apart == pytest.approx(np.full(len(reward), apart[0]))
    assert (positive >= 0).all()
    assert (total >= positive).all()


def test_judged_expectation_is_the_truth_and_inclusion_counts_once() -> None:
    given, reward = every_action()
    zero = Checkpoint({}, Model(Encoding.plain(3), np.zeros(8)))
    found = judge_slates(zero, store(given), greedy=False, confidence=0.95)
    assert found.ips.value == pytest.approx(reward.mean())
    halves = replace(given, inclusion=given.inclusion / 2)
    assert judge_slates(zero, store(halves), False, 0.95).ips.value == pytest.approx(found.ips.value)


def test_regression_counts_what_was_shown() -> None:
    given = examples(6, slots=3)
    positive, total = regression.of_clicks(replace(given, clicks=(given.slates >= 0).astype(float)))
    assert positive.sum() == pytest.approx(((given.slates >= 0) / given.inclusion[:, None]).sum())
    assert (total == positive).all()
    alone = examples(6)
    positive, total = regression.of_rewards(alone)
    assert positive.sum() == pytest.approx((alone.reward / alone.inclusion).sum())
    assert total.sum() == pytest.approx((1 / alone.inclusion).sum())


def test_pieces_on_disk_teach_the_same(tmp_path: Path) -> None:
    memory = prepared()[0]
    disk, _ = Preparation(Logged(), tmp_path, bits=12, memory=0).data(source(), None, None)
    assert all(isinstance(piece, Path) for piece in disk.train.pieces)
    for name in ("regression", "poem"):
        one, other = (next(iter(learner(name, 1).candidates(data, 0))) for data in (memory, disk))
        assert one.model.weights.tobytes() == other.model.weights.tobytes()


def test_the_room_that_encoded_rows_take_is_reckoned_with_all_that_is_kept_of_them() -> None:
    """Of features as few as one a candidate, most of it is what rows and candidates have anyway."""
    row = {"slate": [2, 0], "clicks": [0, 1], "candidates": [0, 1, 2], "propensity": 0.5, "features": [[3], [4], [5]]}
    log = offrank.read_log([row] * 300)
    data, survey = Preparation(Logged(), Path(), bits=12, memory=math.inf).data(log, None, None)
    arrays = (vars(one).values() for part in (data.train, data.validate) for one in part)
    taken = sum(array.nbytes for each in arrays for array in each)
    assert 0.95 * taken <= 2 / 3 * survey.bytes(cross=False) <= 1.2 * taken


def test_context_is_found_and_crossed() -> None:
    data, survey = prepared()
    assert 0 < survey.context.sum() < survey.seen.sum()
    plain = data.train.piece(0)
    crossed = (
        Preparation(Logged(), Path(), bits=12, interactions=True, memory=math.inf)
        .data(source(), None, None)[0]
        .train.piece(0)
    )
    assert crossed.offsets[-1] > 3 * plain.offsets[-1]
    first = plain.lines.scores(survey.context.astype(float) * 7.0)  # weights of the context move all alike
    inside = np.arange(first.shape[1]) < plain.size[:, None]
    assert (np.where(inside, first, first[:, :1]).std(axis=1) < 1e-9).all()


def test_what_cannot_be_learnt_is_refused() -> None:
    slates = Data(store(examples(1, 3)), store(examples(2, 3)), Encoding.plain(3))
    for name in ("ips", "dro", "dr-poem"):
        with pytest.raises(UsageError, match="one slot"):
            Search(learner(name), name).run(slates)
    for reward in (0.0, 3.0):
        same = store(replace(examples(1), reward=np.full(12, reward)))
        for name in LINEAR:
            with pytest.raises(LogError, match=f"nothing to learn from: .* has the reward {reward:g}"):
                Search(learner(name), name).run(Data(same, same, Encoding.plain(3)))
    with pytest.raises(UsageError, match="did you mean poem"):
        learner("poen")
    with pytest.raises(UsageError, match="epochs"):
        learner("poem", 0)


def test_slates_of_several_slots_are_learnt_from() -> None:
    world = AdvertWorld(3_000, seed=1, slots=2, contexts=200)
    data, _ = Preparation(Logged(), Path(), bits=12, memory=math.inf).data(world.source(), None, None)
    for name in ("regression", "poem", "snpoem", "plackett-luce"):
        found = next(iter(learner(name, 1).candidates(data, 0)))
        assert np.abs(found.model.weights).max() > 0


def test_features_that_are_all_but_zero_are_not_scaled() -> None:
    """1 / 1e-320 is beyond the largest number."""
    every = np.ones(4, np.bool_)
    survey = Survey(every, every, np.array([0.0, 1e-320, 2.0**-900, 4.0]))
    assert survey.encoding(2, cross=False).scale.tolist() == [1.0, 1.0, 2.0**900, 0.25]
