"""What a score leaves of the clicks: its fit beside that of a singular value decomposition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from offrank.checks.residual_clicks import residual_clicks, weighted_fit
from offrank.findings.rows import LEFT, NOISE
from offrank.log.hashing import distinct_codes


@pytest.mark.parametrize(("rows", "columns"), [(2048, 18), (40, 18), (7, 3), (3, 3), (2, 5), (1, 1)])
def test_a_fit_is_that_of_a_singular_value_decomposition(rows: int, columns: int) -> None:
    rng = np.random.default_rng(rows)
    x, y, weights = rng.random((columns, rows)), rng.normal(size=rows), rng.random(rows) + 0.1
    x[columns // 2] = 3 * x[0]  # one that others give
    x[-1] *= 1e-7 if columns > 3 else 1.0
    kept, root = x.copy(), np.sqrt(weights)
    found, rank = weighted_fit(x, y, weights)
    known, _, expected, _ = np.linalg.lstsq(x.T * root[:, None], y * root, rcond=None)
    assert rank == expected == np.linalg.matrix_rank(x)
    np.testing.assert_allclose(found, x.T @ known, atol=1e-9)
    np.testing.assert_array_equal(x, kept)


def test_a_row_without_weight_is_told_by_the_others() -> None:
    n = np.arange(6.0)
    found, rank = weighted_fit(np.stack([np.ones(6), n]), np.where(n < 5, 2 + 3 * n, 99.0), (n < 5).astype(np.float64))
    assert rank == 2
    np.testing.assert_allclose(found, 2 + 3 * n, rtol=1e-12)


@pytest.mark.parametrize(("own", "rank"), [(1e-10, 2), (1e-14, 1)])
def test_a_column_counts_by_what_others_leave_of_it(own: float, rank: int) -> None:
    sign = np.array([1.0, -1.0, 1.0, -1.0])
    found, known = weighted_fit(np.stack([np.ones(4), 1 + own * sign]), 5 + 2 * sign, np.ones(4))
    assert known == rank
    np.testing.assert_allclose(found, 5 + 2 * sign * (rank == 2), atol=1e-5)


@pytest.mark.parametrize("learnt", [True, False])
def test_a_score_leaves_the_noise_unless_it_was_learnt_from_the_clicks(learnt: bool) -> None:
    rng, cells, rank = np.random.default_rng(3), 400, np.array([1.0, 0.5])
    true, shown = rng.uniform(0.2, 0.8, cells), np.zeros((cells, 16))
    shown[:, :2] = rng.integers(10, 40, (cells, 2))
    clicks = np.zeros((cells, 16))
    clicks[:, :2] = rng.binomial(shown[:, :2].astype(int), true[:, None] * rank)
    fitted = clicks.sum(axis=1) / (shown[:, :2] @ rank)
    score = fitted if learnt else true
    found = residual_clicks([score, np.zeros(cells)], np.stack([shown, clicks, clicks], axis=2))
    assert [one.freedom > 300 for one in found] == [True, True]
    assert found[0].square < LEFT if learnt else found[0].square > NOISE
    assert found[1].square > NOISE


def test_no_clicks_leave_nothing() -> None:
    strata = np.zeros((50, 16, 3))
    strata[:, 0, 0] = 10
    assert [(one.freedom, one.square) for one in residual_clicks([np.arange(50.0)] * 2, strata)] == [(0, 1.0)] * 2


@pytest.mark.parametrize("kind", [np.int64, np.uint64, np.int32])
@pytest.mark.parametrize("size", [0, 1, 2, 1000])
def test_different_codes_are_those_that_numpy_finds(kind: type[np.integer[Any]], size: int) -> None:
    limits, codes = np.iinfo(kind), np.random.default_rng(size).integers(0, 40, size).astype(kind)
    codes[: size // 3], codes[size // 2 : 2 * size // 3] = limits.max, limits.min
    found = distinct_codes(codes)
    assert found.dtype == kind
    np.testing.assert_array_equal(found, np.unique(codes))
