"""An examination curve with its doubt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..folds.estimate import Caution
from ..log.batch import Floats
from ..log.errors import UsageError
from . import text
from .sessions import Tally

FEW_CLICKS = 30


@dataclass(frozen=True)
class Harvested:
    """How likely each rank is looked at, over the first.

    - curve, low, high: [k], with the ends of its interval; NaN where nothing links a rank to the first.
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
            ends = f"{self.low[rank]:.3f} to {self.high[rank]:.3f}"
            compared = int(self.documents[rank].max(initial=0))
            lines.append(f"{rank + 1:>4}  {value:>11.3f}  {ends:^15}  {compared:>9,}  {self.clicks[rank]:>9,.0f}")
        return "\n".join([*lines, *text.reading(self.tally), *text.told({"": self.cautions})])

    __repr__ = __str__


def cautions_of(linked: NDArray[np.bool_], clicks: Floats) -> tuple[Caution, ...]:
    """What to know of the curve of ranks that are linked [k], and rest on so many clicks [k]."""
    return tuple(_cautions(linked, clicks))


def _cautions(linked: NDArray[np.bool_], clicks: Floats) -> Iterator[Caution]:
    if not linked.all():
        yield Caution(
            "unlinked-ranks",
            "serious",
            f"Nothing compares {_named(~linked)} with the first: no document was shown, and clicked, at both, nor at "
            "ranks in between.",
            "Log rankings that vary more, or cut the slates there.",
        )
    few = linked & (clicks < FEW_CLICKS)
    if few.any():
        yield Caution(
            "few-pairs",
            "warning",
            f"The curve of {_named(few)} rests on fewer than {FEW_CLICKS} clicks on documents that were also shown "
            "at other ranks.",
            "Log more; what is said of these ranks is noise.",
        )


def _named(which: NDArray[np.bool_]) -> str:
    ranks = ", ".join(str(rank + 1) for rank in np.flatnonzero(which))
    return f"{'rank' if which.sum() == 1 else 'ranks'} {ranks}"
