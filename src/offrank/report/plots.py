"""Plots as data: positions from 0 (left) to 1 (right) and text labels; `svg` draws them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ..language.formatting import Span, number

Side = Literal["left", "right", ""]
"""The direction of better values, or where 0 is."""

_MARGIN = 0.05
_CUT_AT_WIDTHS = 10
_NARROWEST = 1e-300
"""Of an axis with ticks: so small a step has no logarithm."""


@dataclass(frozen=True)
class Tick:
    """A labelled tick on an axis. zero: whether it is that of 0."""

    position: float
    label: str
    zero: bool = False


@dataclass(frozen=True)
class Axis:
    """A range of values mapped to 0 to 1, linearly or (log) logarithmically."""

    low: float
    high: float
    log: bool = False

    def position(self, value: float) -> float:
        """Return the position of a value; below 0 or above 1 if it is beyond the axis."""
        low, high, at = (math.log10(v) if self.log else v for v in (self.low, self.high, value))
        return (at - low) / (high - low)

    def ticks(self, most: int = 5) -> tuple[Tick, ...]:
        """Return at most about this many ticks at round values."""
        if self.log:
            exponents = range(math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9) + 1)
            skip = max(1, math.ceil(len(exponents) / most))
            each = [(e, f"{10.0**e:,.10g}" if abs(e) < 5 else f"10{str(e).translate(_RAISED)}") for e in exponents]
            return tuple(Tick(self.position(10.0**e), label) for e, label in each if e % skip == 0)
        if self.high - self.low < _NARROWEST:
            return (Tick(self.position(0.0), "0", zero=True),) if self.low <= 0 <= self.high else ()
        step = _round_step((self.high - self.low) / most)
        places = max(0, -math.floor(math.log10(step)))
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return tuple(Tick(self.position(i * step), number(i * step, places), not i) for i in range(first, last + 1))


_RAISED = str.maketrans("-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")
NOTHING = Span(None, None, None)
MARKS = {"better": "\u25b2", "worse": "\u25bc", "no clear difference": "=", "unknown": "?"}
"""Marks of decisions, which tell them apart without colour; other lights say how sound something is."""
MINUS = " minus "
"""Between the two names of a row that is a difference."""


@dataclass(frozen=True)
class ForestRow:
    """A row of a forest plot: an interval, its label, and the text beside and below it.

    light: a decision (better, worse, ...) or a status (ok, warning, serious), which colours its mark. logged: the
    logged mean there. severity: how far to doubt it. inner: a narrower interval of it, drawn as its thick part.
    """

    label: str
    span: Span
    text: str | None = None
    aside: str = ""
    light: str = ""
    truth: float | None = None
    logged: float | None = None
    severity: str = "ok"
    inner: Span = NOTHING

    @property
    def summary(self) -> str:
        """Return the text beside the interval: by default its numbers."""
        return self.span.text() if self.text is None else self.text

    @property
    def doubtful(self) -> bool:
        """Whether it is drawn hollow: not to be trusted, or an answer to be used with care."""
        return self.severity == "serious" or (self.severity == "warning" and self.light in MARKS)


@dataclass(frozen=True)
class Forest:
    """Intervals below each other on one axis, with a reference line; drawn as bars from zero if `bars`.

    - reference: position of the line, with its label. band: its interval. better: direction of better values.
    - others: further values that the axis must cover, so that several plots share an axis.
    - lights: what each status of rows means, in words.
    """

    title: str
    rows: tuple[ForestRow, ...]
    reference: float | None = None
    label: str = ""
    band: Span = NOTHING
    others: tuple[Span, ...] = ()
    bars: bool = False
    better: Side = ""
    lights: tuple[tuple[str, str], ...] = ()

    @property
    def axis(self) -> Axis:
        """Return an axis that covers all but a few very long intervals."""
        ends = [one for row in self.rows for one in (row.truth, row.logged)]
        known = [one for one in (*ends, self.reference, self.band.low, self.band.high) if one is not None]
        if self.bars:
            high = max([*known, *(end for row in self.rows for end in row.span.ends)], default=0.0)
            return Axis(0.0, (high or 1.0) * (1 + _MARGIN))
        return shared_axis([*(row.span for row in self.rows), *self.others], known)

    @property
    def zero(self) -> Side:
        """Return on which side of the axis 0 is; empty where it is on the axis."""
        axis = self.axis
        return "" if axis.low <= 0 <= axis.high else "left" if axis.low > 0 else "right"

    @property
    def cut(self) -> bool:
        """Whether any interval extends beyond the axis."""
        axis = self.axis
        return any(not axis.low <= end <= axis.high for row in self.rows for end in row.span.ends)

    @property
    def doubtful(self) -> bool:
        """Whether any drawn estimate has a serious warning."""
        return any(row.severity == "serious" and row.span.low is not None for row in self.rows)

    @property
    def careful(self) -> bool:
        """Whether any drawn estimate is to be used with care."""
        return any(row.severity == "warning" and row.light in MARKS for row in self.rows)

    @property
    def decided(self) -> tuple[str, ...]:
        """Return the decisions that are marked, for a legend."""
        return tuple(one for one in MARKS if any(row.light == one for row in self.rows))

    @property
    def truth(self) -> bool:
        """Whether the truth is marked."""
        return any(row.truth is not None for row in self.rows)

    @property
    def logged(self) -> bool:
        """Whether the logged mean is marked, for all rows or for each."""
        return self.band.width is not None or any(row.logged is not None for row in self.rows)

    @property
    def tall(self) -> bool:
        """Whether a row has a second line."""
        return any(row.aside for row in self.rows)


def shared_axis(spans: Iterable[Span], known: Sequence[float] = ()) -> Axis:
    """Return a range with the known values and all intervals, except those that would flatten the others.

    An interval is left out when it is ten times as wide as the tightest quarter of all, and three times as
    wide as the spread of everything tighter.
    """
    drawn = sorted((span for span in spans if span.value is not None), key=lambda span: span.width or 0.0)
    widths = [span.width for span in drawn if span.width]
    tight = widths[(len(widths) - 1) // 4] if widths else 0.0
    shown = list(known)
    for span in drawn:
        spread = max(shown) - min(shown) if shown else 0.0
        if not shown or (span.width or 0.0) <= max(_CUT_AT_WIDTHS * tight, 3 * spread):
            shown += span.ends
    low, high = min(shown, default=0.0), max(shown, default=1.0)
    margin = _MARGIN * (high - low) or 0.5 * abs(low) or 0.5
    return Axis(low - margin, high + margin)


def _round_step(step: float) -> float:
    power = 10.0 ** math.floor(math.log10(step))
    return power * next(factor for factor in (1, 2, 5, 10) if factor * power >= step * (1 - 1e-9))
