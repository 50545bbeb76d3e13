"""The least and the largest mean reward that a log allows, with intervals at both ends."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from .. import assumptions
from ..findings.verdict import Decision, Trust
from ..folds.estimate import Interval
from ..inference.ratio import Ratio
from ..inference.spread import Inference

ROWS_COLUMN, CLICKS_COLUMN = 0, 1
"""Columns of every sum, then `OF_PAIR` for each pair of a target and what is assumed."""
OF_PAIR = 4
_LOWER, _UPPER, _KNOWN_SHARE, _DISPLAYED = range(OF_PAIR)


@dataclass(frozen=True, eq=False)
class Bounds:
    """The least and the largest mean reward of a target that the log allows, under one assumption.

    - target, assumes: of whom, and what of users. context: rows with the same value of this column are alike.
    - lower, upper: both ends, each with an interval of Imbens and Manski (2004): from `lower.low` to `upper.high` lies
      the true value with the level of the result. difference_lower, difference_upper: to the logged mean.
    - shown: the share of the target's displays of which the log tells the clicks.
    """

    target: str
    assumes: frozenset[str]
    context: str
    lower: Interval
    upper: Interval
    difference_lower: Interval
    difference_upper: Interval
    shown: float
    counted: Inference = field(repr=False)
    column: int = field(repr=False)

    @property
    def decision(self) -> Decision:
        """Return better or worse where the whole interval of the difference says so, else unknown."""
        if self.difference_lower.low > 0:
            return "better"
        return "worse" if self.difference_upper.high < 0 else "unknown"

    @property
    def trust(self) -> Trust:
        """Return how far to trust it: never sound, since no log can test what it assumes of contexts."""
        return "with care"

    @property
    def assumes_in_words(self) -> str:
        """Return what it assumes, as a clause."""
        return f"that rows of one {self.context} are alike and {assumptions.in_words(self.assumes)}"

    def to_dict(self) -> dict[str, Any]:
        """Return numbers and words as plain values."""
        return {
            "target": self.target,
            "assumes": self.assumes_in_words,
            "context": self.context,
            "lower": self.lower.to_dict(),
            "upper": self.upper.to_dict(),
            "difference_lower": self.difference_lower.to_dict(),
            "difference_upper": self.difference_upper.to_dict(),
            "shown": self.shown,
            "decision": self.decision,
            "trust": self.trust,
        }

    def at(self, confidence: float) -> Bounds:
        """Return the same with intervals at another level."""
        counted = replace(self.counted, confidence=confidence)
        return from_columns(self.target, self.assumes, self.context, counted, self.column)


def from_columns(target: str, assumes: frozenset[str], context: str, counted: Inference, start: int) -> Bounds:
    """Return the bounds of the columns from `start`."""
    lower, upper, shown, displayed = (Ratio(start + n, ROWS_COLUMN) for n in (_LOWER, _UPPER, _KNOWN_SHARE, _DISPLAYED))
    logged, sums = Ratio(CLICKS_COLUMN, ROWS_COLUMN), counted.moments.sums
    level = _joint_level(counted.confidence, counted.ratio(lower), counted.ratio(upper))
    apart = _joint_level(counted.confidence, counted.difference(lower, logged), counted.difference(upper, logged))
    alone, paired = replace(counted, confidence=level), replace(counted, confidence=apart)
    most, share = float(displayed.value(sums)), float(shown.value(sums))
    ends = alone.ratio(lower), alone.ratio(upper)
    return Bounds(
        target,
        assumes,
        context,
        ends[0],
        replace(ends[1], high=max(min(ends[1].high, most), ends[1].value)),
        paired.difference(lower, logged),
        paired.difference(upper, logged),
        share / most if most > 0 else 1.0,
        counted,
        start,
    )


def _joint_level(confidence: float, lower: Interval, upper: Interval) -> float:
    """Return the level of intervals of both ends that together hold the value between them with this confidence.

    Imbens and Manski (2004): the c with F(c + width / error) - F(-c) = confidence. Far ends miss it at one side only.
    """
    error, normal = max(lower.standard_error, upper.standard_error), NormalDist()
    if not 0 < error < np.inf:
        return confidence
    away = (upper.value - lower.value) / error
    least, most = normal.inv_cdf(confidence), normal.inv_cdf(0.5 + confidence / 2)
    for _ in range(60):
        middle = (least + most) / 2
        enough = normal.cdf(middle + away) - normal.cdf(-middle) >= confidence
        least, most = (least, middle) if enough else (middle, most)
    return 2 * normal.cdf(most) - 1
