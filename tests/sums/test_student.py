"""Student's distribution, against SciPy's."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy.special import ndtri, stdtr, stdtrit

from offrank.sums.estimate import of_student, student

FREEDOMS = (2 / 3, 1.0, 1.5, 2.0, 3.0, 7.25, 30.0, 1000.0, 1e6)


@pytest.mark.parametrize("freedom", FREEDOMS)
def test_tails(freedom: float) -> None:
    away = np.array([0.0, 1e-6, 0.1, 1.0, 2.5, 6.0, 12.0, 30.0])
    assert of_student(away, freedom) == pytest.approx(-ndtri(stdtr(freedom, -away)), abs=1e-10)


def test_every_value_has_its_own_freedom() -> None:
    away, freedom = np.array([1.0, 1.0, 3.0]), np.array([1.0, 5.0, 40.0])
    assert of_student(away, freedom) == pytest.approx(-ndtri(stdtr(freedom, -away)), rel=1e-10)
    assert of_student(np.array([1.0]), 1.0) == pytest.approx([NormalDist().inv_cdf(3 / 4)])  # of Cauchy's distribution


@pytest.mark.parametrize("freedom", FREEDOMS)
@pytest.mark.parametrize("level", [1e-6, 0.025, 0.4, 0.5, 0.9, 0.975, 1 - 1e-9])
def test_quantiles(freedom: float, level: float) -> None:
    assert student(level, freedom) == pytest.approx(stdtrit(freedom, level), rel=1e-9, abs=1e-12)


def test_without_a_limit_it_is_normal() -> None:
    assert student(0.975, math.inf) == NormalDist().inv_cdf(0.975)
    assert student(0.975, 1.0) == pytest.approx(math.tan(math.pi * 0.475))
