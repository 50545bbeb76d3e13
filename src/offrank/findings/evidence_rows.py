"""The evidence about which rows of a log were kept."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..sums.estimate import Interval

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
class RareEvidence:
    """Whether rewards are too rare for the weights that meet them.

    n: impressions read. seen: the share of the standard error, of the value or of its difference, that the log's own
    rows show. weight: of the heaviest rows. expected: rewarded rows with about such a weight that such a log holds.
    """

    n: int = 0
    seen: float = 1.0
    weight: float = 1.0
    expected: float = math.inf


@dataclass(frozen=True, kw_only=True)
class GroupEvidence:
    """The mean weights of one group of a log, each of which tests the logging policy in its rows.

    weights: the name, the mean, and a bound of the probability of so high a mean under right propensities.
    tested: targets times groups, which share the false alarms.
    """

    weights: tuple[tuple[str, Interval, float], ...] = ()
    tested: int = 1


@dataclass(frozen=True, kw_only=True)
class OwnClicksEvidence:
    """What a score column knows of the clicks of this very log.

    - column, of: its name, and what was counted: clicks per `item`, per `item of a query` or `of a candidate set`.
    - cells, counts, reproduced: how many have both clicks and impressions without, the different numbers of clicks in
      them, and the share of these that the score gives to a hundredth of their noise.
    - pairs, close: pairs of neighbours in the order of the score, and those whose click rates differ by less than a
      quarter of their noise.
    - freedom, residual: degrees of freedom of what the score and the ranks leave of the clicks, and its mean square in
      units of the noise.
    """

    column: str = "score"
    of: str = "item"
    cells: int = 0
    counts: int = 0
    reproduced: float = 0.0
    pairs: int = 0
    close: int = 0
    freedom: int = 0
    residual: float = 1.0


@dataclass(frozen=True, kw_only=True)
class ArmsEvidence:
    """The arms of an experiment. shares: by arm, the share of the impressions, and the one that was designed."""

    column: str = "arm"
    shares: Mapping[str, tuple[Interval, float]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ControlEvidence:
    """A control in an experiment. arms: the column of the arms. away: by arm, its mean there less that of all rows."""

    column: str = "past_rate"
    arms: str = "arm"
    away: Mapping[str, Interval] = field(default_factory=dict)


@dataclass(frozen=True)
class Window:
    """A part of a log by its time, or by the order of its rows, held against the rest.

    first, last: shares of the log that come before it, and up to its end. inside, outside: the mean of the outcome, or
    the share of an arm. deviates: how clearly they differ, as a normal deviate of the clearest. when: its times.
    """

    first: float
    last: float
    inside: float
    outside: float
    deviates: float
    when: tuple[str, str] | None = None


@dataclass(frozen=True)
class Ramp:
    """Two arms of an experiment along its log. column, arm, other: that tells them, and their names.

    window: of the share of the first. pooled, within: the difference of their means in all, and within short parts of
    the log. apart: the first less the second.
    """

    column: str
    arm: str
    other: str
    window: Window
    pooled: Interval
    within: Interval
    apart: Interval


@dataclass(frozen=True)
class AlongEvidence:
    """What moves along a log. moved, weights: outcome and mean weight where they differ most. ramps: pairs of arms.

    fine: whether it is along times of day. weights: of the uniform policy.
    """

    moved: Window | None = None
    ramps: tuple[Ramp, ...] = ()
    weights: Window | None = None
    fine: bool = False


@dataclass(frozen=True)
class PlaceboEvidence:
    """Rows in which two rankers of an experiment show the same. column, arms: their names; pairs: how many there are.

    first: whether only the first item is the same, and its clicks are the outcome; else lists are, and rewards. rows,
    means: of each arm, weighted by how likely the other shows the same. deviates: how clearly the means differ, as a
    normal deviate. drawn: whether a ranker draws, so that the weights rest on its law.
    """

    column: str = "arm"
    arms: tuple[str, ...] = ("A", "B")
    pairs: int = 1
    first: bool = False
    rows: tuple[float, ...] = (0.0, 0.0)
    means: tuple[float, ...] = (0.0, 0.0)
    deviates: float = 0.0
    drawn: bool = False


@dataclass(frozen=True)
class SharedUnitsEvidence:
    """Users, or visits, of several rows. column, unit: that tell the arm, and the user.

    shared: the share of them with rows in more than one arm. by_row: that share if chance drew the arm of each row.
    """

    column: str = "arm"
    unit: str = "user"
    shared: float = 0.0
    by_row: float = 1.0


@dataclass(frozen=True)
class RobotsEvidence:
    """Users of some rows, and how many of their lists they clicked whole. unit: the column that tells them.

    users: looked at. robots, fewer: shares of those who do so in 70 % of their lists or more, and in 40 to 70 %.
    clearer: log-likelihood ratio of such a group apart. carried: share of the clicks that users like robots have.
    """

    unit: str = "user"
    users: int = 0
    robots: float = 0.0
    fewer: float = 1.0
    clearer: float = 0.0
    carried: float = 0.0
