"""The peak of a function of one number, against SciPy's bounded search."""

from __future__ import annotations

import math

import pytest
from scipy.optimize import minimize_scalar

from offrank.checks.fitted_logging_policy import highest


@pytest.mark.parametrize("at", [-9.0, -1.3, 0.0, 2.5, 20.0])
@pytest.mark.parametrize("width", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("power", [1.2, 2.0, 4.0])
def test_it_is_found_in_as_many_steps(at: float, width: float, power: float) -> None:
    asked: dict[str, list[float]] = {"here": [], "there": []}

    def value(where: float, who: str) -> float:
        asked[who].append(where)
        return -(abs((where - at) / width) ** power)

    found = highest(lambda where: value(where, "here"), (-14.0, 13.0))
    other = minimize_scalar(lambda where: -value(where, "there"), bounds=(-14.0, 13.0), method="bounded")
    assert found == pytest.approx(float(other.x), abs=1e-6)
    assert found == pytest.approx(min(at, 13.0), abs=0.1 * width)
    assert len(asked["here"]) <= len(asked["there"]) + 1


def test_of_a_flat_function_any_place_is_as_high() -> None:
    assert -1.0 < highest(lambda _: -math.inf, (-1.0, 1.0)) < 1.0
