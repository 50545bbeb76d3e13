"""Judged documents that look like MSLR's: grades, sizes, scales, and how much there is to learn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from offrank.errors import UsageError
from offrank.log.graded_queries import Judged
from offrank.metrics.ranking import ndcg
from offrank.readers.svmlight import read_svmlight, write_svmlight
from offrank.simulation.judged_queries import mslr_like


@pytest.fixture(scope="module")
def judged() -> Judged:
    return mslr_like(400)


def ndcg_at_10(judged: Judged, scores: np.ndarray) -> float:
    found = []
    for begin, end in zip(judged.first[:-1], judged.first[1:], strict=True):
        order = np.argsort(-scores[begin:end], kind="stable")
        found.append(ndcg(judged.grade[begin:end][order], cutoff=10))
    return float(np.mean(found))


def test_grades_have_the_stated_shares(judged: Judged) -> None:
    share = np.bincount(judged.grade.astype(int)) / judged.rows
    assert share == pytest.approx([0.52, 0.323, 0.13, 0.018, 0.009], abs=1 / judged.rows)


def test_sizes_are_those_of_mslr(judged: Judged) -> None:
    assert 105 < judged.sizes.mean() < 140
    assert 0.005 < (judged.sizes < 10).mean() < 0.04
    assert judged.sizes.min() >= 1
    assert 500 < judged.sizes.max() <= 1000
    assert len(judged) == 400
    assert np.bincount(mslr_like(300, (4, 6)).sizes).nonzero()[0].tolist() == [4, 5, 6]


@pytest.mark.turns(3)
def test_features_are_of_unlike_scale(judged: Judged) -> None:
    features = judged.features
    assert features.shape == (judged.rows, 136)
    assert np.isfinite(features).all()
    assert features.max() == 1e8
    assert features.min() < -50
    spread = features.std(axis=0)
    assert (spread == 0).sum() == 2
    assert spread[spread > 0].max() / spread[spread > 0].min() > 1e6
    assert ((features == 0).mean(axis=0) > 0.7).sum() >= 10
    assert features.tolist() == np.round(features, 6).tolist()


def test_queries_differ(judged: Judged) -> None:
    mean = np.add.reduceat(judged.grade, judged.first[:-1]) / judged.sizes
    # Were the grades dealt out at random, the variance between queries would be that within, over the size.
    by_chance = (judged.grade.var() / judged.sizes).mean()
    assert mean.var() > 3 * by_chance


def test_a_seed_decides_all_and_another_changes_all() -> None:
    first, again, other = (mslr_like(5, (10, 20), seed) for seed in (1, 1, 2))
    assert first.features.tolist() == again.features.tolist()
    assert first.grade.tolist() == again.grade.tolist()
    assert not (first.features[:40, :3] == other.features[:40, :3]).all(axis=1).any()


@pytest.mark.turns(3)
def test_there_is_much_to_learn_but_not_all(judged: Judged) -> None:
    library = pytest.importorskip("lightgbm")
    train, test = mslr_like(250, (60, 100), seed=1), mslr_like(150, (60, 100), seed=2)
    settings = {"objective": "lambdarank", "verbosity": -1, "num_threads": 1, "deterministic": True}
    data = library.Dataset(train.features, train.grade, group=train.sizes, params={"verbosity": -1})
    model = library.train(settings, data, num_boost_round=40)
    learned = ndcg_at_10(test, model.predict(test.features))
    random = ndcg_at_10(test, np.random.default_rng(0).random(test.rows))
    assert random < 0.3
    assert random + 0.15 < learned < 0.65


def test_it_is_written_and_read_without_change(tmp_path: Path) -> None:
    judged = mslr_like(6, (5, 30))
    write_svmlight(judged, tmp_path / "set.txt")
    found = read_svmlight(tmp_path / "set.txt")
    for name in ("query", "first", "grade", "features", "document"):
        assert getattr(found, name).tolist() == getattr(judged, name).tolist()


def test_sizes_that_are_none() -> None:
    for wrong in (lambda: mslr_like(0), lambda: mslr_like(3, (0, 5)), lambda: mslr_like(3, (6, 5))):
        with pytest.raises(UsageError, match="queries of"):
            wrong()
