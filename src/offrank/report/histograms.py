"""How the importance weights are spread, as data: one histogram per target and estimator on a shared axis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from . import words
from .plots import Axis, Tick

Record = Mapping[str, Any]

_GAP = 0.5  # of a power of ten, between the smallest weights of either sign


@dataclass(frozen=True)
class SignedAxis:
    """Powers of ten on either side of zero: from -least to -near, and from near to high."""

    least: float
    near: float
    high: float

    def position(self, value: float) -> float:
        """Where a value lies, 0 to 1; zero has its place between the signs."""
        left, right = math.log10(self.least / self.near), math.log10(self.high / self.near)
        away = _GAP / 2 + math.log10(abs(value) / self.near) if value else 0.0
        return (left + _GAP / 2 + (away if value > 0 else -away)) / (left + _GAP + right)

    def ticks(self, most: int) -> tuple[Tick, ...]:
        """About so many at round values, one of them at zero."""
        exponents = range(
            math.ceil(math.log10(self.near) - 1e-9), math.floor(math.log10(max(self.least, self.high))) + 1
        )
        skip = max(1, math.ceil(2 * len(exponents) / most))
        sizes = [10.0**exponent for exponent in exponents if exponent % skip == 0]
        values = [
            *(-size for size in reversed(sizes) if size <= self.least),
            0.0,
            *(s for s in sizes if s <= self.high),
        ]
        return tuple(Tick(self.position(value), f"{value:g}") for value in values)


@dataclass(frozen=True)
class Bar:
    """One bar of a histogram: its ends from 0 to 1, its height as a part of the tallest one."""

    left: float
    right: float
    height: float


@dataclass(frozen=True)
class Histogram:
    """Importance weights of one estimator; `note` says what the bars do not show."""

    target: str
    estimator: str
    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]
    one: float | None
    note: str

    @property
    def title(self) -> str:
        """What is drawn, for those who cannot see it."""
        return f"Importance weights of {self.estimator} for {self.target}"


def histograms(weights: Iterable[Record]) -> list[Histogram]:
    """The weights of every estimator that has some; the axis (powers of ten, by sign) is the same for all."""
    found = [one for one in weights if _filled(one) or one.get("zeros")]
    axis = _axis([edge for one in found for pair in _filled(one) for edge in pair[:2]])
    return [_histogram(one, axis) for one in found]


def _axis(edges: list[float]) -> Axis | SignedAxis:
    sizes = [abs(edge) for edge in edges] or [0.1, 10.0]
    if min(edges, default=0.0) >= 0:
        return Axis(min(sizes), max(sizes), log=True)
    near = min(1.0, *sizes)
    return SignedAxis(-min(edges), near, max(near, *edges))


def _histogram(weights: Record, axis: Axis | SignedAxis) -> Histogram:
    filled = _filled(weights)
    tallest = max((share for _, _, share in filled), default=1.0)
    one = axis.position(1.0)
    return Histogram(
        target=weights["target"],
        estimator=weights["estimator"],
        bars=tuple(Bar(axis.position(a), axis.position(b), share / tallest) for a, b, share in filled),
        ticks=axis.ticks(4),
        one=one if 0 <= one <= 1 else None,
        note=_note(weights, filled, tallest),
    )


def _note(weights: Record, filled: list[tuple[float, float, float]], tallest: float) -> str:
    zeros = weights.get("zeros") or 0.0
    if not filled:
        return "Every weight is zero."
    missing = f"{words.percent(zeros / _total(weights))} of the weights are zero" if zeros else "No weight is zero"
    if negative := sum(share for _, right, share in filled if right < 0):
        missing += f", {words.percent(negative)} are negative (left of 0)"
    largest = max(right for _, right, _ in filled)
    most = f"the tallest bar holds {words.percent(tallest)}"
    below = words.number(largest, words.decimals(largest, None))
    return f"{missing}; {most}, the largest weight is below {below}."


def _filled(weights: Record) -> list[tuple[float, float, float]]:
    """Left edge, right edge and share of all weights, for the bins that hold any."""
    total = _total(weights)
    below = [(-right, -left, number / total) for left, right, number in _bins(weights, "negative_") if number > 0]
    above = [(left, right, number / total) for left, right, number in _bins(weights, "") if number > 0]
    return below[::-1] + above


def _bins(weights: Record, sign: str) -> list[tuple[float, float, float]]:
    edges, counts = weights.get(f"{sign}edges") or [], weights.get(f"{sign}counts") or []
    return list(zip(edges[:-1], edges[1:], counts, strict=True)) if counts else []


def _total(weights: Record) -> float:
    counts = [*(weights.get("counts") or []), *(weights.get("negative_counts") or [])]
    return sum(counts) + (weights.get("zeros") or 0.0)
