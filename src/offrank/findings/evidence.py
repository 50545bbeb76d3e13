"""The evidence about a log: plain numbers, whose defaults lead to none of the findings that read them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..sums.estimate import Interval
from ..sums.outcome_shape import USUAL, OutcomeShape

Both = tuple[float, float]
"""Of the rows without a click, and of those with one."""


@dataclass(frozen=True, kw_only=True)
class UnreadRate:
    """A column that is not read and follows the outcome: its value in rows of the least outcome, and of the largest."""

    column: str = "keep_prob"
    low: float = 1.0
    high: float = 1.0


@dataclass(frozen=True, kw_only=True)
class KeptEvidence:
    """The rows without and with a click, and the share of them that was kept.

    - rows: that were read. impressions: the sum of their 1 / inclusion, with its variance over which rows were kept.
    - apart: how far the mean inclusion of both differs, in standard errors; infinite where it is constant in both.
    - clicks: whether the outcome is clicked or not, rather than a grade or an amount.
    - read, left_out: rows read, and left out while reading; of these by_outcome: for what their clicks or reward hold;
      tested: others whose outcome is known. earned: the mean of those read and those tested; gap: in standard errors.
    - totals: the true numbers of impressions, `clicked` and `all`, as far as the user gave them.
    - unread: a column that may be the rate with which rows were kept, and is not read as such.
    """

    rows: Both = (0.0, 0.0)
    impressions: Both = (0.0, 0.0)
    variance: Both = (0.0, 0.0)
    apart: float = 0.0
    clicks: bool = True
    read: int = 0
    left_out: int = 0
    by_outcome: int = 0
    tested: int = 0
    earned: Both = (0.0, 0.0)
    gap: float = 0.0
    totals: Mapping[str, float] = field(default_factory=dict)
    unread: UnreadRate | None = None

    def estimated(self, which: str) -> Both:
        """The number of impressions, `clicked` or `all`, that the rows stand for, and its variance."""
        first = 1 if which == "clicked" else 0
        return sum(self.impressions[first:]), sum(self.variance[first:])


NOTHING_KEPT = KeptEvidence()


@dataclass(frozen=True)
class Frequency:
    """Observed and expected frequency of items under the logging policy: the worst of many comparisons.

    rank: from 1 at the top, None for any rank. item, name: its code and what the log calls it; else `lift` selects the
    items: those shown there at least `lift` times as often as by a uniform policy. observed, expected: rows (before
    sub-sampling); untested: too large to compare. chance: a bound of P(a correct log deviates as much somewhere).
    """

    rank: int | None
    observed: float
    expected: float
    chance: float
    item: int | None = None
    lift: float | None = None
    name: str = ""
    untested: int = 0


@dataclass(frozen=True, kw_only=True)
class Repeats:
    """How often two rows of one context show the same, beside what the logging policy says.

    by: what makes a context. what: the slate, or the item at its top. pairs: independent pairs of rows; observed,
    expected: of them, those that show the same. chance: an upper bound of the probability of so many under right
    propensities. least: the smallest share of pairs that repeat for another reason which would be found.
    """

    by: str = "query"
    what: str = "slate"
    pairs: float = 0.0
    observed: float = 0.0
    expected: float = 0.0
    chance: float = 1.0
    least: float = 1.0

    @property
    def fixed(self) -> float:
        """Estimated share of the pairs that repeat for another reason than chance."""
        left = self.pairs - self.expected
        return max((self.observed - self.expected) / left, 0.0) if left > 0 else 0.0


@dataclass(frozen=True, kw_only=True)
class LogEvidence:
    """The evidence about a log, whatever is estimated from it.

    - rows: impressions read; logging: the spelling of the logging policy.
    - unconfirmed: of a logging policy that nobody has confirmed, the least share of fixed rows that the log would show.
    - compared, apart, typical_ratio: rows with a logged propensity, those that differ from the logging policy's,
      and the typical ratio to that (geometric mean).
    - fit: how well the shown items fit the logging policy, None if that could not be compared.
    - repeats: the comparison of rows of one context with the smallest chance, corrected for their number.
      least_repeats: the smallest share of pairs in a fixed order that one of these comparisons would have shown.
    - copies: a lower bound of the share of rows that are copies of others.
    - mean_weight: of the uniform policy; ess: effective sample size of those weights; largest_weight: of them, over its
      inclusion; impressions: before sub-sampling. sampling_factor: the sum of squared 1 / inclusion over that of them.
    - shown_only: whether every impression showed all of its candidates. unlisted: whether no other list names them.
    - rows_per_context, counted_by: if propensities were counted. along: what moves along the log, and between arms.
    - unknown: check -> why it could not be done. kept: which rows were kept. outcome: the shape of clicks and rewards.
    """

    rows: int = 0
    logging: str = "logged"
    unconfirmed: float | None = None
    compared: int = 0
    apart: int = 0
    typical_ratio: float = 1.0
    fit: Frequency | None = None
    repeats: Repeats | None = None
    least_repeats: float = 1.0
    copies: float = 0.0
    mean_weight: Interval | None = None
    sampling_factor: float = 1.0
    ess: float = 0.0
    largest_weight: float = 0.0
    impressions: float = math.inf
    shown_only: bool = False
    unlisted: bool = False
    rows_per_context: float = math.inf
    counted_by: str | None = None
    unknown: Mapping[str, str] = field(default_factory=dict)
    kept: KeptEvidence = NOTHING_KEPT
    outcome: OutcomeShape = USUAL
    along: tuple[Any, ...] = ()
