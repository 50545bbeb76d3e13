"""The peak of a function of one number, against SciPy's bounded search."""

from __future__ import annotations

import math

import pytest
from scipy.optimize import minimize_scalar

from offrank.checks.fitted_logging_policy import highest


@pytest.mark.parametrize("at", [-9.0, -1.3, 0.0, 2.5, 20.0])
@pytest.mark.parametrize("width", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("power", [1.2, 2.0, 4.0])
def test_it_is_found_in_few_steps(at: float, width: float, power: float) -> None:
    steps = [0]

    def value(where: float) -> float:
        steps[0] += 1
        return -(abs((where - at) / width) ** power)

    other = minimize_scalar(lambda where: -value(where), bounds=(-14.0, 13.0), method="bounded")
    steps[0] = 0
    found = highest(value, (-14.0, 13.0))
    assert steps[0] <= 60
    assert value(found) >= value(float(other.x)) - 1e-6
    assert found == pytest.approx(min(at, 13.0), abs=0.1 * width)


def test_of_a_flat_function_any_place_is_as_high() -> None:
    assert -1.0 < highest(lambda _: -math.inf, (-1.0, 1.0)) < 1.0
