"""Rankers of judged documents: what they score, and that better ones rank better."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from offrank.errors import MissingExtraError, SpellingError, UsageError, pip_install
from offrank.log.graded_queries import Judged
from offrank.metrics.ranking import ndcg
from offrank.simulation.judged_queries import mslr_like, stratified
from offrank.simulation.rankers import RANKERS, EqualScores, LambdaMART, Lasso, NoisyOracle, Ranker, Tree, parse_ranker

LIBRARY = {"lambdamart": "lightgbm", "lasso": "sklearn", "tree": "sklearn"}
TRAINED = [LambdaMART(trees=20), Lasso(), Tree()]


@pytest.fixture(scope="module")
def world() -> Judged:
    return stratified(mslr_like(150, (10, 60)))[0]


def quality(judged: Judged, scores: np.ndarray) -> float:
    """Mean nDCG of the documents in the order of their scores; the sets come in random order."""
    order = np.argsort(-judged.table(scores), axis=1, kind="stable")
    return float(ndcg(np.take_along_axis(judged.table(judged.grade), order, axis=1), empty=1.0).mean())


def need(*rankers: Ranker) -> None:
    for each in rankers:
        pytest.importorskip(LIBRARY[type(each).__name__.lower()])


def test_uniform_knows_nothing(world: Judged) -> None:
    assert EqualScores().scores(world).tolist() == [0.0] * world.rows


def test_the_noise_of_the_oracle_has_the_variance_that_was_asked_for() -> None:
    rows = 100_000
    grade = np.arange(rows) % 5.0
    judged = Judged(np.array([1]), np.array([0, rows]), grade, np.zeros((rows, 0)), np.arange(rows))
    for oracle, variance in ((NoisyOracle(), 0.5), (NoisyOracle(variance=0.25), 0.25)):
        noise = oracle.scores(judged, seed=3) - grade
        assert noise.mean() == pytest.approx(0, abs=4.5 * np.sqrt(variance / rows))
        assert noise.var() == pytest.approx(variance, abs=4.5 * variance * np.sqrt(2 / rows))
        assert abs(np.corrcoef(noise, grade)[0, 1]) < 4.5 / np.sqrt(rows)
    assert NoisyOracle(variance=0).scores(judged).tolist() == grade.tolist()


@pytest.mark.parametrize("ranked", [NoisyOracle(), *TRAINED], ids=str)
def test_a_seed_decides_the_scores(world: Judged, ranked: Ranker) -> None:
    if not isinstance(ranked, NoisyOracle):
        need(ranked)
    first, again = ranked.scores(world, seed=1), ranked.scores(world, seed=1)
    assert first.dtype == np.float64
    assert first.shape == (world.rows,)
    assert first == pytest.approx(again, rel=1e-9)


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


def test_spelling() -> None:
    assert parse_ranker("lambdamart(trees=50, folds=2)") == LambdaMART(trees=50, folds=2)
    assert parse_ranker("noisy_oracle(variance=0.25)") == NoisyOracle(0.25)
    assert parse_ranker("uniform") == EqualScores()
    assert parse_ranker(Lasso()) == Lasso()
    assert all(hasattr(parse_ranker(name), "scores") for name in RANKERS)
    with pytest.raises(SpellingError, match="unknown ranker 'lambdarank'"):
        parse_ranker("lambdarank(trees=5)")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: NoisyOracle(-1), "variance of the noise is -1"),
        (lambda: NoisyOracle(float("nan")), "variance of the noise is nan"),
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
