"""An examination curve with its doubt."""

from __future__ import annotations

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

    def __str__(self) -> str:
        """A line per rank; documents: how many were shown there and at the rank with which it shares most."""
        lines = [f"{'rank':>4}  {'examination':>11}  {'interval':^15}  {'documents':>9}  {'clicks':>9}"]
        for rank, value in enumerate(self.curve):
            ends = _interval(float(self.low[rank]), float(self.high[rank]))
            compared = int(self.documents[rank].max(initial=0))
            lines.append(f"{rank + 1:>4}  {value:>11.3f}  {ends:^15}  {compared:>9,}  {self.clicks[rank]:>9,.0f}")
        return "\n".join([*lines, *text.reading(self.tally), *text.told({"": self.cautions})])

    __repr__ = __str__


def _interval(low: float, high: float) -> str:
    """Its ends; one that is infinite is open."""
    if np.isinf(high):
        return f"{low:.3f} or more" if low > 0 else "not identified"
    return f"{low:.3f} to {high:.3f}"
