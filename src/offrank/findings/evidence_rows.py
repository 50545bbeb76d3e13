"""The evidence about which rows of a log were kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Both = tuple[float, float]
"""Of the rows without a click, and of those with one."""


@dataclass(frozen=True, kw_only=True)
class OfKept:
    """The rows without and with a click, and the share of them that was kept.

    - rows: that were read. impressions: the sum of their 1 / inclusion, with its variance over which rows were kept.
    - apart: how far the mean inclusion of both differs, in standard errors; infinite where it is constant in both.
    - clicks: whether the outcome is clicked or not, rather than a grade or an amount.
    - totals: the true numbers of impressions, `clicked` and `all`, as far as the user gave them.
    """

    rows: Both = (0.0, 0.0)
    impressions: Both = (0.0, 0.0)
    variance: Both = (0.0, 0.0)
    apart: float = 0.0
    clicks: bool = True
    totals: Mapping[str, float] = field(default_factory=dict)

    def estimated(self, which: str) -> Both:
        """The number of impressions, `clicked` or `all`, that the rows stand for, and its variance."""
        first = 1 if which == "clicked" else 0
        return sum(self.impressions[first:]), sum(self.variance[first:])


NOTHING_KEPT = OfKept()
