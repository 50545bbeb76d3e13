"""SLOPE on plain numbers: what it chooses, and why not the next."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offrank.selection import Choice, slope

#: values, half-widths, the choice: intervals are values +- 2 half-widths
TABLE = {
    "all meet, the last is narrowest": ([1.0, 1.5, 1.8], [0.5, 0.4, 0.3], Choice(2, None, 1.2, 2.0)),
    "the third misses the first": ([1.0, 1.5, 2.8], [0.5, 0.4, 0.3], Choice(1, 2, 0.7, 2.0)),
    "only the first is left": ([1.0, 2.0], [0.1, 0.1], Choice(0, 1, 0.8, 1.2)),
    "once missed, nothing later counts": ([1.0, 2.0, 1.0], [0.1, 0.1, 0.01], Choice(0, 1, 0.8, 1.2)),
    "wider and more biased is not chosen": ([1.0, 1.1, 1.1], [0.2, 0.1, 0.15], Choice(1, None, 0.9, 1.3)),
    "of equals the first": ([1.0, 1.0], [0.2, 0.2], Choice(0, None, 0.6, 1.4)),
    "of equals but for rounding the first": ([1.0, 1.0], [0.2 * (1 + 1e-12), 0.2], Choice(0, None, 0.6, 1.4)),
    "a little narrower is narrower": ([1.0, 1.0], [0.2 * (1 + 1e-7), 0.2], Choice(1, None, 0.6, 1.4)),
    "ends that touch do meet": ([0.0, 3.0], [1.0, 0.5], Choice(1, None, 2.0, 2.0)),
    "an unknown error contradicts nothing": ([9.0, 1.0, 1.1], [math.inf, 0.2, 0.1], Choice(2, None, 0.9, 1.3)),
    "nothing is known": ([9.0, 1.0], [math.inf, math.inf], Choice(0, None, -math.inf, math.inf)),
    "alone": ([4.0], [0.0], Choice(0, None, 4.0, 4.0)),
}

ESTIMATES = st.lists(st.tuples(st.floats(-5, 5), st.floats(0.01, 3)), min_size=1, max_size=9)


@pytest.mark.parametrize("case", TABLE)
def test_choices(case: str) -> None:
    values, half_widths, expected = TABLE[case]
    found = slope(values, half_widths)
    assert (found.index, found.refuted) == (expected.index, expected.refuted)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


@given(ESTIMATES)
def test_it_is_the_narrowest_of_those_that_meet_pairwise(estimates: list[tuple[float, float]]) -> None:
    values, half = (np.array(column) for column in zip(*estimates, strict=True))
    found = slope(values, half)
    ends = [(v - 2 * h, v + 2 * h) for v, h in estimates]
    meeting = [all(max(a[0], b[0]) <= min(a[1], b[1]) for b in ends[:i]) for i, a in enumerate(ends)]
    stop = meeting.index(False) if False in meeting else len(meeting)
    assert found.refuted == (stop if stop < len(meeting) else None)
    assert half[found.index] == pytest.approx(half[:stop].min(), rel=2e-9)
    assert (half[: found.index] > half[found.index]).all()


@given(ESTIMATES, st.sampled_from([0.25, 2.0, 8.0]))
def test_units_do_not_matter(estimates: list[tuple[float, float]], unit: float) -> None:
    values, half = (np.array(column) for column in zip(*estimates, strict=True))
    one, other = slope(values, half), slope(values * unit, half * unit)
    assert (one.index, one.refuted) == (other.index, other.refuted)


def test_a_wider_multiple_never_stops_earlier() -> None:
    values, half = [0.0, 1.0, 2.0, 4.0, 8.0], [0.8, 0.6, 0.5, 0.4, 0.3]
    chosen = [slope(values, half, multiple).index for multiple in (0.1, 1, 2, 4, 16)]
    assert chosen == sorted(chosen)
    assert chosen[0] == 0
    assert chosen[-1] == 4


def test_the_error_is_bounded_by_the_best_sum_of_bias_and_half_width() -> None:
    # Families whose estimates are within bias + half-width of the truth 0, bias growing, half-widths falling.
    rng = np.random.default_rng(5)
    for _ in range(1000):
        bias, half = np.sort(rng.gamma(0.5, size=8)), -np.sort(-rng.gamma(0.5, size=8))
        values = rng.choice([-1, 1]) * bias + rng.uniform(-1, 1, size=8) * half
        best = (bias + half).min()
        assert abs(values[slope(values, half).index]) <= 6 * (1 + 1 / _least_ratio(half)) * best


def _least_ratio(half: np.ndarray) -> float:
    return float(min(1.0, (half[1:] / half[:-1]).min()))


@pytest.mark.parametrize(
    ("values", "half_widths"),
    [([], []), ([1.0], [1.0, 2.0]), ([math.nan], [1.0]), ([1.0], [-1.0]), ([1.0], [math.nan])],
)
def test_nonsense_is_refused(values: list[float], half_widths: list[float]) -> None:
    with pytest.raises(ValueError, match="half-widths"):
        slope(values, half_widths)
