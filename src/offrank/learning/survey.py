"""Which features come, how large their values are, and which are the same for all candidates."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..folds.base import PlusFold, Turned
from ..log.batch import Floats, LogBatch
from ..policies.linear import Encoding
from ..policies.linear import _kernels as linear


@dataclass(frozen=True)
class Survey:
    """Of a whole log. seen, differs: [2^bits] features that come, and that tell candidates of a row apart.

    largest: [2^bits] absolute values. rows, lines, entries: impressions, candidates, features of candidates.
    """

    seen: NDArray[np.bool_]
    differs: NDArray[np.bool_]
    largest: Floats
    rows: int = 0
    lines: int = 0
    entries: int = 0

    def __add__(self, other: Survey) -> Survey:
        counts = (self.rows + other.rows, self.lines + other.lines, self.entries + other.entries)
        seen, differs = self.seen | other.seen, self.differs | other.differs
        return Survey(seen, differs, np.maximum(self.largest, other.largest), *counts)

    @property
    def context(self) -> NDArray[np.bool_]:
        """[2^bits] features that cannot matter to a linear scorer without crossings."""
        return self.seen & ~self.differs

    def encoding(self, bits: int, cross: bool) -> Encoding:
        """Each feature scaled to a largest value of 1."""
        scale = np.ones(len(self.largest))
        np.divide(1.0, self.largest, out=scale, where=self.largest > 0)
        return Encoding(bits, self.context if cross else np.zeros_like(self.seen), scale, cross)

    def bytes(self, cross: bool) -> float:
        """About how much memory the encoded log takes."""
        each = self.entries / max(self.lines, 1)
        return 12.0 * self.entries * (max(each / 4, 1.0) if cross else 1.0)


@dataclass(frozen=True)
class SurveyFold(Turned):
    """Looks at every candidate of a log once."""

    bits: int

    @property
    def reducer(self) -> PlusFold:
        return PlusFold(self._none())

    def turned(self, batch: LogBatch) -> Survey:
        lines, found = Encoding.plain(self.bits).lines(batch.contexts), self._none()
        number = np.full(1 << self.bits, -1)
        scratch = [np.zeros(1 << self.bits) for _ in range(3)]
        linear.survey(
            lines.starts, lines.offsets, lines.indices, lines.values, found.seen, found.differs, found.largest,
            scratch[0], number, np.zeros_like(number), scratch[1], scratch[2],
        )  # fmt: skip
        return replace(found, rows=len(batch), lines=int(lines.starts[-1]), entries=len(lines.indices))

    def _none(self) -> Survey:
        return Survey(np.zeros(1 << self.bits, np.bool_), np.zeros(1 << self.bits, np.bool_), np.zeros(1 << self.bits))
