"""Each kind of interval by hand, and the influences that all of them rest on by finite differences."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy import optimize, stats

from offrank.inference import Inference
from offrank.inference.kinds import bernstein, bootstrap, normal, studentised
from offrank.inference.registry import Sampling, Side
from offrank.log.batch import Floats
from offrank.sums import (
    Interval,
    Mean,
    MomentsFold,
    NamedColumns,
    Sample,
    Sums,
    adjusted,
    combined,
    excess,
    mean_by_block,
    ratio,
    relative,
    with_control,
)
from offrank.sums.estimate import student

Z = NormalDist().inv_cdf(0.975)
LOWER, UPPER = Side(0.1, 0.3), Side(0.25, 0.6)


def sampling(freedom: float = math.inf, draws: Floats | None = None, stretch: float = 1.0) -> Sampling:
    """The value 1 with an error of 0.1, of 50 rows; towards the upper end more is unseen."""
    quantile = student(0.975, freedom)
    return Sampling(1.0, 0.1, 50, 0.95, quantile, freedom, 0.3, 2.0, LOWER, UPPER, draws, stretch)


def test_the_normal_interval() -> None:
    found = normal(sampling())
    assert (found.low, found.high) == pytest.approx((1 - Z * 0.1, 1 + Z * 0.1), rel=1e-12)


def test_each_end_of_the_studentised_interval_has_its_own_error_and_skewness() -> None:
    def hall(t: float) -> float:
        return t + UPPER.skewness * t**2 / 3 + UPPER.skewness**2 * t**3 / 27 + UPPER.skewness / 6 + Z

    found = studentised(sampling())
    assert found.high == pytest.approx(1 - 0.25 * optimize.brentq(hall, -20, 0), rel=1e-9)
    assert found.low == pytest.approx(1 - 0.1 * Z, rel=1e-9)


@pytest.mark.parametrize("freedom", [math.inf, 5.0])
@pytest.mark.parametrize("stretch", [1.0, 1.5])
def test_the_bootstrap_interval_is_stretched_and_has_the_tails_of_student(freedom: float, stretch: float) -> None:
    # Of 39 replicates the 2.5 % quantile is the least and the 97.5 % quantile the largest.
    draws = np.random.default_rng(1).permutation(np.linspace(0.7, 1.4, 39))
    found = bootstrap(sampling(freedom, draws, stretch))
    wider = stretch * (1.0 if freedom == math.inf else stats.t(freedom).ppf(0.975) / Z)
    assert (found.low, found.high) == pytest.approx((1 - 0.3 * wider, 1 + 0.4 * wider), rel=1e-9)
    assert found.standard_error == pytest.approx(stretch * draws.std(ddof=1), rel=1e-12)


def test_the_bernstein_interval_is_that_of_both_sides() -> None:
    # Maurer and Pontil 2009, theorem 4, at half of 0.05 for each side, in which they have ln(2 / delta).
    log_term = math.log(2 / (0.05 / 2))
    half = math.sqrt(2 * log_term) * 0.1 + 7 * 2.0 * log_term / (3 * 49)
    found = bernstein(sampling())
    assert (found.low, found.high) == pytest.approx((1 - half, 1 + half), rel=1e-12)


@pytest.mark.parametrize(
    ("value", "low", "least", "cut"),
    [(0.1, -0.2, 0.0, 0.0), (0.0, -0.2, 0.0, 0.0), (-0.1, -0.2, 0.0, -0.2), (0.1, 0.05, 0.0, 0.05)],
)
def test_an_interval_is_cut_where_no_value_can_be(value: float, low: float, least: float, cut: float) -> None:
    assert Interval(value, low, 0.4, 0.1).above(least).low == cut


def moments() -> Sums:
    """Of 30 rows of seven positive columns, and of three in each of two blocks."""
    values = np.random.default_rng(2).gamma(2.0, size=(30, 13))
    fold = MomentsFold()
    found = fold.of(Sample.of(values, np.arange(30, dtype=np.uint64)))
    return Sums(NamedColumns(tuple(range(7)), ("value", "weight", "number")), found)


MEANS: dict[str, Mean] = {
    "ratio": ratio(1, 0),
    "relative": relative(ratio(1, 0), ratio(2, 3)),
    "difference": ratio(1, 0) - ratio(2, 3),
    "slots": mean_by_block("value", "weight", "number", 0),
    "controlled": with_control(1, 2, 0, 0.4),
    "excess": excess(4, 2, 3, 1, 0),
    "adjusted": adjusted(ratio(1, 0), excess(4, 2, 3, 1, 0), 0.7),
    "combined": combined([(ratio(1, 0), 0.3), (ratio(2, 3), -1.7)]),
}


@pytest.mark.parametrize("name", MEANS)
def test_an_influence_is_the_derivative_by_the_mean_of_a_column(name: str) -> None:
    mean, known, step = MEANS[name], moments(), 1e-6
    moved = known.total.array + step * known.n * np.concatenate([np.eye(13), -np.eye(13)])
    above, below = np.split(known.values(mean.of, moved), 2)
    assert known.influence(mean) == pytest.approx((above - below) / (2 * step), rel=1e-6, abs=1e-8)


def test_what_the_right_mean_hides_moves_the_other_end_of_a_difference() -> None:
    """A mean per impression with a tenth hidden may be higher by twice its ninth; a difference is lower by as much."""
    known, left, right = moments(), ratio(1, 0), ratio(2, 0)
    plain = Inference(known, "normal", 0.95)
    hiding = Inference(known, "normal", 0.95, hidden=(((2,), 3, 0.1),))
    room = 2 * 0.1 / 0.9 * known.value(right)
    for pair, low, high in (((left, right), room, 0.0), ((right, left), 0.0, room)):
        one, other = plain.difference(*pair), hiding.difference(*pair)
        assert (one.low - other.low, other.high - one.high) == pytest.approx((low, high), abs=1e-12)
