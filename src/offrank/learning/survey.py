"""Which features come, how large their values are, and which are the same for all candidates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
class SurveyFold:
    """Looks at every candidate of a log once."""

    bits: int

    def empty(self) -> Survey:
        none = np.zeros(1 << self.bits, dtype=np.bool_)
        return Survey(none, none, np.zeros(1 << self.bits))

    def add(self, state: Survey, batch: LogBatch) -> Survey:
        lines = Encoding.plain(self.bits).lines(batch.contexts)
        seen, differs, largest = state.seen.copy(), state.differs.copy(), state.largest.copy()
        number = np.full(1 << self.bits, -1)
        scratch = [np.zeros(1 << self.bits) for _ in range(3)]
        linear.survey(
            lines.starts, lines.offsets, lines.indices, lines.values, seen, differs, largest,
            scratch[0], number, np.zeros_like(number), scratch[1], scratch[2],
        )  # fmt: skip
        counts = (state.rows + len(batch), state.lines + int(lines.starts[-1]), state.entries + len(lines.indices))
        return Survey(seen, differs, largest, *counts)

    def merge(self, left: Survey, right: Survey) -> Survey:
        counts = (left.rows + right.rows, left.lines + right.lines, left.entries + right.entries)
        return Survey(
            left.seen | right.seen, left.differs | right.differs, np.maximum(left.largest, right.largest), *counts
        )

    def finish(self, state: Survey) -> Survey:
        return state
