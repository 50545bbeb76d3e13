"""The least and the largest mean reward that a log allows, with intervals at both ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from ..findings.verdict import Decision, Trust
from ..inference.mean_intervals import Inference
from ..inference.registry import INTERVALS
from ..sums.estimate import Interval
from ..sums.mean import Mean, Name, ratio

ROW_COUNT = "rows"
"""The column of ones."""
OF_PART = ("lower", "upper", "known", "displayed", "less", "more")
"""The columns of a target under an assumption: both ends, what is known, and both ends of the difference."""
OF_DRAW = ("lower", "upper", "less", "more")
"""Those that it also has by each draw of a model."""


def of_part(name: str, number: int, draw: int | None = None) -> Name:
    """The name of a column of a target under an assumption, which have one number."""
    return f"{name} {number}" if draw is None else f"{name} {number} by draw {draw}"


@dataclass(frozen=True)
class Part:
    """What bounds are of. target, against: whom, and `logged` or the target that it is compared with.

    - says: what is assumed of users, as a clause. context: rows with the same value of this column are alike.
    - group: a value of the `by` column; None: the whole log. number: by which its columns are called.
    - draws: of the model that it rests on. limits: between which values a row's reward is; None: of clicks.
    - comparisons: that hold together with the level of the result (Bonferroni).
    """

    target: str
    against: str
    says: str
    context: str
    number: int
    draws: int = 0
    limits: tuple[float, float] | None = None
    group: str | None = None
    comparisons: int = 1

    def mean(self, name: str) -> Mean:
        """Return the mean of one of its columns, with those by draws."""
        draws = range(self.draws if name in OF_DRAW else 0)
        return ratio(of_part(name, self.number), ROW_COUNT, [of_part(name, self.number, draw) for draw in draws])


@dataclass(frozen=True, eq=False)
class Bounds:
    """The least and the largest mean reward of a target that the log allows, under one assumption.

    - part: of whom, in which group, and what is assumed.
    - lower, upper: both ends, each with an interval of Imbens and Manski (2004): from `lower.low` to `upper.high` lies
      the true value with the level of the result.
    - difference_lower, difference_upper: the ends of the difference to `part.against`, likewise.
    - shown: the share of the target's displays of which the log tells the reward.
    """

    part: Part
    lower: Interval
    upper: Interval
    difference_lower: Interval
    difference_upper: Interval
    shown: float
    counted: Inference = field(repr=False)

    @classmethod
    def of(cls, part: Part, counted: Inference) -> Bounds:
        """Return the bounds from the sums of all columns. counted: at the level of the result."""
        level = 1 - (1 - counted.confidence) / part.comparisons
        shown, displayed = (counted.sums.value(part.mean(name)) for name in ("known", "displayed"))
        least, most = (0.0, displayed) if part.limits is None else part.limits
        alone, paired = (replace(counted, confidence=level, nonnegative=one) for one in (least >= 0, False))
        lower, upper = _held_by_both(alone, part.mean("lower"), part.mean("upper"))
        lower = replace(lower, low=min(max(lower.low, least), lower.value))
        upper = replace(upper, high=max(min(upper.high, most), upper.value))
        less, more = (_settled(one, displayed) for one in _held_by_both(paired, part.mean("less"), part.mean("more")))
        return cls(part, lower, upper, less, more, shown / displayed if displayed > 0 else 1.0, counted)

    def at(self, confidence: float) -> Bounds:
        """Return the same with intervals at another level."""
        return Bounds.of(self.part, replace(self.counted, confidence=confidence))

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
        return f"that rows of one {self.part.context} are alike and {self.part.says}"

    def to_dict(self) -> dict[str, Any]:
        """Return numbers and words as plain values."""
        return {
            "target": self.part.target,
            "against": self.part.against,
            "group": self.part.group,
            "assumes": self.assumes_in_words,
            "context": self.part.context,
            "lower": self.lower.to_dict(),
            "upper": self.upper.to_dict(),
            "difference_lower": self.difference_lower.to_dict(),
            "difference_upper": self.difference_upper.to_dict(),
            "shown": self.shown,
            "decision": self.decision,
            "trust": self.trust,
        }


NamedBounds = Mapping[str, tuple[Bounds, ...]]
"""By target name, the bounds under ever stronger assumptions."""


def at_level(bounds: NamedBounds, confidence: float) -> NamedBounds:
    """Return the same with intervals at another level."""
    return {name: tuple(one.at(confidence) for one in each) for name, each in bounds.items()}


def _settled(found: Interval, scale: float) -> Interval:
    """Return the interval with 0 for what is a rounding error beside `scale`."""
    value, low, high = (0.0 if abs(one) <= 1e-12 * scale else one for one in (found.value, found.low, found.high))
    return replace(found, value=value, low=low, high=high)


def _held_by_both(counted: Inference, lower: Mean, upper: Mean) -> tuple[Interval, Interval]:
    """Return the intervals of both ends that together hold the value between them with this confidence.

    Imbens and Manski (2004): at the c with F(c + width / error) - F(-c) = confidence. Far ends miss it at one side.
    """
    ends = counted.interval(lower), counted.interval(upper)
    error, normal, confidence = (
        max(one.standard_error for one in ends),
        NormalDist(),
        INTERVALS[counted.method].level(counted.confidence),
    )
    if not 0 < error < np.inf:
        return ends
    away = (ends[1].value - ends[0].value) / error
    least, most = normal.inv_cdf(confidence), normal.inv_cdf(0.5 + confidence / 2)
    for _ in range(60):
        middle = (least + most) / 2
        enough = normal.cdf(middle + away) - normal.cdf(-middle) >= confidence
        least, most = (least, middle) if enough else (middle, most)
    method = "studentised" if counted.method == "anytime" else counted.method  # at the level of one look
    level = replace(counted, confidence=2 * normal.cdf(most) - 1, method=method)
    return level.interval(lower), level.interval(upper)
