"""Rankers that learn from grades: what they score, and that better ones rank better."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import offrank
from offrank.errors import MissingExtraError, UsageError, pip_install
from offrank.log.graded_queries import Judged
from offrank.simulation.judged_queries import mslr_like, stratified
from offrank.simulation.rankers import EqualScores, NoisyOracle, Ranker
from offrank_papers.rankers import LambdaMART, Lasso, Tree
from tests.simulation.test_rankers import check_seed, quality

LIBRARY = {"lambdamart": "lightgbm", "lasso": "sklearn", "tree": "sklearn"}
TRAINED = [LambdaMART(trees=20), Lasso(), Tree()]


@pytest.fixture(scope="module")
def world() -> Judged:
    return stratified(mslr_like(150, (10, 60)))[0]


def need(*rankers: Ranker) -> None:
    for each in rankers:
        pytest.importorskip(LIBRARY[type(each).__name__.lower()])


@pytest.mark.parametrize("ranked", TRAINED, ids=str)
def test_a_seed_decides_the_scores(world: Judged, ranked: Ranker) -> None:
    need(ranked)
    check_seed(world, ranked)


def test_a_log_is_drawn_by_a_ranker_that_learnt(tmp_path: Path) -> None:
    pytest.importorskip("lightgbm")
    small = {"queries": 30, "documents": 5, "sessions": 100}
    made = offrank.simulate(tmp_path / "log.parquet", rankers={"lambdamart": LambdaMART(trees=3)}, **small)
    assert list(made.world.scores) == ["lambdamart", "noisy_oracle", "uniform"]
    assert repr(made.logging) == "plackett_luce(lambdamart, temperature=0.1, log=True)"


def test_better_rankers_rank_better(world: Judged) -> None:
    need(*TRAINED)
    found = {
        type(each).__name__: quality(world, each.scores(world)) for each in (EqualScores(), NoisyOracle(), *TRAINED)
    }
    assert found["EqualScores"] < found["Lasso"] - 0.05
    assert found["Lasso"] < found["LambdaMART"]
    assert found["EqualScores"] < found["Tree"] - 0.05
    assert found["EqualScores"] + 0.15 < found["NoisyOracle"] < 1
    assert quality(world, NoisyOracle(variance=0.25).scores(world)) > found["NoisyOracle"]
    assert quality(world, world.grade) == 1


@pytest.mark.turns(3)
@pytest.mark.parametrize("ranked", [LambdaMART(trees=20, folds=3), Lasso(folds=3), Tree(folds=3)], ids=str)
def test_folds_score_what_was_not_trained_on(world: Judged, ranked: Ranker) -> None:
    need(ranked)
    scores = ranked.scores(world)
    assert quality(world, np.zeros(world.rows)) < quality(world, scores) < 0.95
    # One query's grades say nothing of its own scores, and something of others'.
    other = world.grade.copy()
    other[:10] = other[:10][::-1] + 1
    changed = ranked.scores(Judged(world.query, world.first, other, world.features, world.document))
    assert changed[:10] == pytest.approx(scores[:10], rel=1e-9)
    assert changed[10:].tolist() != scores[10:].tolist()


def test_the_scale_of_a_feature_does_not_matter_to_trees() -> None:
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(2)
    signal = rng.normal(size=300)
    grade = np.clip(np.round(signal + 1), 0, 4)
    query, first = np.arange(30), np.arange(0, 301, 10)
    plain, large = (
        Judged(query, first, grade, column[:, None], np.arange(300)) for column in (signal, signal**3 * 1e7)
    )
    assert Tree().scores(plain) == pytest.approx(Tree().scores(large), rel=1e-9)


def test_missing_and_endless_values_are_ranked_too(world: Judged) -> None:
    need(*TRAINED)
    features = world.features.copy()
    features[::3, 0], features[1::3, 1], features[2::3, 2] = np.nan, np.inf, -np.inf
    broken = Judged(world.query, world.first, world.grade, features, world.document)
    for each in TRAINED:
        assert np.isfinite(each.scores(broken)).all()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: LambdaMART(trees=0), "trees is 0"),
        (lambda: LambdaMART(leaves=1), "leaves is 1"),
        (lambda: LambdaMART(learning_rate=0.0), "learning_rate is 0.0"),
        (lambda: LambdaMART(threads=0), "threads is 0"),
        (lambda: LambdaMART(folds=1), "folds is 1"),
        (lambda: Lasso(penalty=float("nan")), "penalty is nan"),
        (lambda: Lasso(folds=-1), "folds is -1"),
        (lambda: Tree(smallest=0), "smallest is 0"),
    ],
)
def test_numbers_that_cannot_work(make, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        make()
    assert caught.value.remedy


def test_data_that_cannot_work(world: Judged) -> None:
    need(LambdaMART())
    with pytest.raises(UsageError, match="there are 150 queries for 151 folds"):
        LambdaMART(folds=151).scores(world)
    halves = Judged(world.query, world.first, world.grade / 2, world.features, world.document)
    with pytest.raises(UsageError, match="whole grades"):
        LambdaMART().scores(halves)


@pytest.mark.parametrize("ranked", TRAINED, ids=lambda each: type(each).__name__)
def test_a_library_that_is_missing(world: Judged, ranked: Ranker, monkeypatch) -> None:
    for name in ("lightgbm", "sklearn.linear_model", "sklearn.tree"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=f"{type(ranked).__name__} needs .*, which is missing") as caught:
        ranked.scores(world)
    assert caught.value.remedy == pip_install("models")
