"""An examination curve with its doubt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..folds.estimate import Caution
from ..log.batch import Floats
from . import text
from .sessions import Tally


@dataclass(frozen=True)
class Harvested:
    """How likely each rank is looked at, over the first.

    - curve, low, high: [k], with the ends of its interval; NaN where nothing links a rank to the first. high is
      infinite where the log sets no upper bound (caution `open-intervals`).
    - documents: [k, k] how many were shown at both ranks.
    - clicks: [k] at each rank, on documents that were shown at another rank too.
    - impressions: how many were read. tally: what was left out.
    """

    curve: Floats
    low: Floats
    high: Floats
    documents: NDArray[np.int64]
    clicks: Floats
    impressions: int
    method: str
    cautions: tuple[Caution, ...] = ()
    tally: Tally = field(default_factory=Tally)

    def examination(self) -> Floats:
        """The curve, as `pbm`, `interpol` and `evaluate(examination=...)` take it.

        Raises:
            UsageError: a rank is not linked to the first.
        """
        if np.isnan(self.curve).any():
            (caution,) = (one for one in self.cautions if one.code == "unlinked-ranks")
            raise UsageError(f"the harvested curve has holes: {caution.message}", caution.remedy)
        return self.curve

    def rows(self) -> Iterator[tuple[str, str, str, str, str]]:
        """Of each rank: number, examination, interval, documents (at it and the rank with most in common), clicks."""
        for rank, value in enumerate(self.curve):
            ends = _interval(float(self.low[rank]), float(self.high[rank]))
            compared = f"{self.documents[rank].max(initial=0):,}"
            shown = (f"{value:.3f}", ends) if np.isfinite(value) else ("-", "-")
            yield f"{rank + 1}", *shown, compared, f"{self.clicks[rank]:,.0f}"

    def __str__(self) -> str:
        head = ("rank", "examination", "interval", "documents", "clicks")
        lines = ("{:>4}  {:>11}  {:^15}  {:>9}  {:>9}".format(*row) for row in (head, *self.rows()))
        return "\n".join([*lines, *text.reading(self.tally), *text.told({"": self.cautions})])

    __repr__ = __str__


def _interval(low: float, high: float) -> str:
    """Its ends; one that is infinite is open."""
    if np.isinf(high):
        return f"{low:.3f} or more" if low > 0 else "not identified"
    return f"{low:.3f} to {high:.3f}"
