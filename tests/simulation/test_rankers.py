"""Rankers of judged documents: what they score, and that better ones rank better."""

from __future__ import annotations

import numpy as np
import pytest

from offrank.errors import SpellingError, UsageError
from offrank.log.graded_queries import Judged
from offrank.metrics.ranking import ndcg
from offrank.simulation.judged_queries import mslr_like, stratified
from offrank.simulation.rankers import RANKERS, EqualScores, NoisyOracle, Ranker, parse_ranker


@pytest.fixture(scope="module")
def world() -> Judged:
    return stratified(mslr_like(150, (10, 60)))[0]


def quality(judged: Judged, scores: np.ndarray) -> float:
    """Mean nDCG of the documents in the order of their scores; the sets come in random order."""
    order = np.argsort(-judged.table(scores), axis=1, kind="stable")
    return float(ndcg(np.take_along_axis(judged.table(judged.grade), order, axis=1), empty=1.0).mean())


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


def test_a_seed_decides_the_scores(world: Judged) -> None:
    check_seed(world, NoisyOracle())


def check_seed(world: Judged, ranked: Ranker) -> None:
    first, again = ranked.scores(world, seed=1), ranked.scores(world, seed=1)
    assert first.dtype == np.float64
    assert first.shape == (world.rows,)
    assert first == pytest.approx(again, rel=1e-9)


def test_spelling() -> None:
    assert parse_ranker("noisy_oracle(variance=0.25)") == NoisyOracle(0.25)
    assert parse_ranker("uniform") == EqualScores()
    assert parse_ranker(NoisyOracle()) == NoisyOracle()
    assert all(hasattr(parse_ranker(name), "scores") for name in RANKERS)
    with pytest.raises(SpellingError, match="unknown ranker 'lambdarank'"):
        parse_ranker("lambdarank(trees=5)")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: NoisyOracle(-1), "variance of the noise is -1"),
        (lambda: NoisyOracle(float("nan")), "variance of the noise is nan"),
    ],
)
def test_numbers_that_cannot_work(make, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        make()
    assert caught.value.remedy
