"""CMIP of several draws of a relevance, its direction, and its floor."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from offrank.metrics import cmip
from offrank.metrics.cmip_methods import Binned
from offrank.metrics.cmip_methods.base import GradedDocuments
from offrank.metrics.cmip_methods.direction import direction
from tests.metrics.test_cmip import copula


def draws(n: int, count: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Relevance [n, count] that shares half of its variance, logging and grade, dependent within grades."""
    relevance, logging, grade = copula(n, 0.4, seed)
    return relevance[:, None] + np.random.default_rng(seed).normal(size=(n, count)), logging, grade


def test_draws_are_averaged() -> None:
    relevance, logging, grade = draws(1_000, 3, seed=4)
    method = Binned(replicates=4)
    together = cmip(relevance, logging, grade, method, permutations=0)
    alone = [cmip(one, logging, grade, method, permutations=0) for one in relevance.T]
    assert together.value == pytest.approx(np.mean([one.value for one in alone]), abs=1e-9)
    assert (together.draws, alone[0].draws) == (3, 1)
    assert cmip(relevance[:, :1], logging, grade, method, permutations=0) == alone[0]
    assert "mean of 3 draws" in str(together)


def test_the_p_value_of_draws_permutes_the_policy_once_for_all() -> None:
    """Draws that are nearly equal have the null of one: were each permuted by itself, it would be much narrower."""
    relevance, logging, grade = draws(300, 1, seed=5)
    quick = Binned(replicates=1)
    one = cmip(relevance, logging, grade, quick, permutations=60)
    many = cmip(np.repeat(relevance, 9, axis=1), logging, grade, quick, permutations=60)
    assert one.null is not None
    assert many.null is not None
    assert many.null.high - many.null.low == pytest.approx(one.null.high - one.null.low)
    assert many.p_value == one.p_value


def test_direction_is_spearmans_within_grades() -> None:
    rng = np.random.default_rng(6)
    relevance, logging, grade = draws(240, 2, seed=6)
    relevance = np.round(relevance, 1)  # with ties
    grade = grade % 2
    found = cmip(relevance, logging, grade, permutations=0).direction
    expected = [
        (grade == one).mean() * spearmanr(draw[grade == one], -logging[grade == one]).statistic
        for draw in relevance.T
        for one in (0, 1)
    ]
    assert found is not None
    assert found.value == pytest.approx(sum(expected) / 2)
    assert found.value < 0  # what has a high rank number is shown low
    # Its error is that of a bootstrap of queries, which differ: documents of a query are alike here.
    query = rng.integers(30, size=240)
    shift = rng.normal(size=(2, 30))
    clustered = cmip(
        relevance + 2 * shift[0][query][:, None], logging + 2 * shift[1][query], grade, permutations=0, cluster=query
    ).direction
    members = [np.flatnonzero(query == one) for one in range(30)]
    values = []
    for _ in range(150):
        rows = np.concatenate([members[one] for one in rng.integers(30, size=30)])
        again = GradedDocuments.of(
            (relevance + 2 * shift[0][query][:, None])[rows], (logging + 2 * shift[1][query])[rows], grade[rows]
        )
        values.append(direction(again, 0.95).value)
    assert clustered is not None
    assert clustered.standard_error == pytest.approx(np.std(values), rel=0.3)
    assert clustered.standard_error > 1.3 * found.standard_error


def test_the_floor_is_the_mean_of_its_worlds_with_the_interval_of_one_more() -> None:
    relevance, logging, grade = copula(600, 0.0, seed=7)
    worlds = np.stack([copula(600, rho, seed=7)[0] for rho in (0.2, 0.4, 0.5)], axis=1)
    quick = Binned(replicates=2)
    found = cmip(relevance, logging, grade, quick, permutations=0, floor=worlds).floor
    values = [cmip(one, logging, grade, quick, permutations=0).value for one in worlds.T]
    half = 1.959964 * np.std(values, ddof=1) * np.sqrt(1 + 1 / 3)
    assert found is not None
    assert found.worlds == 3
    assert found.value.value == pytest.approx(np.mean(values))
    assert (found.value.low, found.value.high) == pytest.approx((np.mean(values) - half, np.mean(values) + half))
