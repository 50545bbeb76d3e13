"""Moments, taken apart again."""

from __future__ import annotations

import numpy as np

from offrank.sums.base import Sample
from offrank.sums.moments import MomentsFold, without


def test_what_is_taken_out_leaves_the_moments_of_the_rest() -> None:
    rng, fold = np.random.default_rng(3), MomentsFold(((0, 1, 2),))
    values = np.exp(rng.normal(size=(50, 3)))
    parts = [fold.of(Sample.of(one, np.arange(len(one)))) for one in (values, values[:12], values[12:])]
    found, expected = without(*parts[:2]), parts[2]
    for name in ("mean", "comoment"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-10)
    np.testing.assert_allclose(found.third[0, 1, 2], expected.third[0, 1, 2], rtol=1e-9)
    assert found.n == expected.n
    assert without(parts[0], parts[0]).n == 0
    assert without(parts[0], fold.of(Sample.of(values[:0], np.arange(0)))) is parts[0]


def test_of_the_largest_numbers_what_is_left_has_no_third_moment() -> None:
    fold = MomentsFold(((0, 0, 0),))
    values = np.array([[1e150], [1e150], [0.0]])
    whole, part = (fold.of(Sample.of(one, np.arange(len(one)))) for one in (values, values[:1]))
    found = without(whole, part)
    assert found.mean == 0.5e150
    assert not np.isfinite(found.third[0, 0, 0]).any()
