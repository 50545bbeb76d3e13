"""What findings look at: plain numbers, whose defaults speak against nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from ..folds.estimate import Interval


@dataclass(frozen=True, kw_only=True)
class OfEstimate:
    """One estimate of a target.

    - n: impressions read. slots: how many ranks have clicks, 0 where the log has rewards only.
    - kind: whether whole slates are weighted or items, a click model is asked (`direct`), or the log's mean taken.
    - bounded: how the estimator is spelled with its weights bounded. method: of the interval.
    - normalised: whether the weights have expectation 1. plain: neither divided nor corrected by the mean weight.
      clipped: whether the weights are bounded.
    - ess, max_weight_share, tail_index, mean_weight: as in `Estimate`.
    - control: mean of the weights left by clipping, or the share of what the target shows that was logged, or that
      the click model knows.
    - sampling_factor: sum of squared 1 / inclusion over its sum, which the mean weight would be if the propensities
      contained the factor already.
    - designed: whether the policies alone tell which weights can occur. luck: the effective number of weights that they
      let expect in such logs over that which this log has, at most 1. hidden, unsupported, visible: as in `Design`; the
      first two of weights whose expectation is 1.
    - effective_rewards: rewarded impressions that the estimate rests on, infinite where that is not known.
    - ties: share of the impressions in which equal scores leave the target's order open.
    - counted: whether the logging probabilities that it asks were counted in the log. other_outcome: whether it
      estimates clicks where rewards are something else.
    """

    n: int = 0
    slots: int = 0
    kind: Literal["slates", "items", "model", "logged"] = "slates"
    bounded: str = "clip(ips, 100)"
    method: str = "normal"
    normalised: bool = True
    plain: bool = True
    clipped: bool = False
    ess: float = math.inf
    max_weight_share: float = 0.0
    tail_index: float | None = None
    mean_weight: Interval | None = None
    control: float = 1.0
    sampling_factor: float = 1.0
    designed: bool = False
    luck: float = 1.0
    hidden: float = 0.0
    unsupported: float = 0.0
    visible: float = math.inf
    effective_rewards: float = math.inf
    ties: float = 0.0
    counted: bool = False
    other_outcome: bool = False


@dataclass(frozen=True, kw_only=True)
class OfClusters:
    """How the rows of an estimate depend on each other.

    - column, clusters, effective, design_effect: the clusters that were taken (column None: none), how many there
      are, how many of one size they are worth, and the variance by them over that of independent rows. chosen: that
      nobody named the column.
    - apart, values, missed: the clusters that were found and not taken, how many there are, and their design effect.
    - method: of the interval. group: of one of several groups of the log.
    """

    column: str | None = None
    clusters: int = 0
    effective: float = math.inf
    design_effect: float | None = None
    chosen: bool = False
    apart: str | None = None
    values: int = 0
    missed: float | None = None
    method: str = "normal"
    group: bool = False


@dataclass(frozen=True, kw_only=True)
class OfTraining:
    """What was learnt and is judged. share: of the judged rows that it was learnt from. policy: that it is a policy."""

    share: float = 0.0
    policy: bool = True


@dataclass(frozen=True, kw_only=True)
class OfCurve:
    """An examination curve [k], top first."""

    curve: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class OfRows:
    """The rows of a log. copies: the share of them that are copies of others, at least."""

    copies: float = 0.0


@dataclass(frozen=True, kw_only=True)
class OfCounting:
    """Propensities that were counted in the log. rows: per context, on average over rows; by: what makes a context."""

    rows: float = math.inf
    by: str = "query"


@dataclass(frozen=True, kw_only=True)
class OfChoice:
    """Which of several estimators the data chose; the first of them assumes least.

    chosen: its place in names. refuted: the first that contradicts those before it. trusted: the first whose error is
    known.
    """

    names: tuple[str, ...]
    chosen: int = 0
    refuted: int | None = None
    trusted: int | None = 0


@dataclass(frozen=True, kw_only=True)
class OfDisagreement:
    """An estimate against one that assumes less of users, on the same rows.

    - other, other_assumes, other_sound: spelling of that one, what it assumes, and whether nothing serious is known of
      its estimate. further: what the judged one assumes beyond that.
    - difference: judged less other, paired. width: of the judged estimate's interval.
    - luck: how many times more than in the sample the error may be (its design's over its own), 1 or more.
    - pairs: how many are compared in the run.
    """

    other: str
    difference: Interval = Interval(0.0, 0.0, 0.0, 0.0)  # noqa: RUF009
    width: float = math.inf
    further: frozenset[str] = frozenset()
    other_assumes: frozenset[str] = frozenset()
    other_sound: bool = True
    luck: float = 1.0
    pairs: int = 1

    @property
    def deviations(self) -> float:
        """Standard errors of the difference between them, as a normal deviate."""
        return self.difference.deviation(0.0) / self.luck if self.difference.standard_error > 0 else 0.0

    @property
    def decisive(self) -> bool:
        """Whether the other one is to be believed: it is sound and assumes nothing."""
        return self.other_sound and not self.other_assumes


@dataclass(frozen=True, kw_only=True)
class OfPropensities:
    """Inverse propensities of slates.

    slots: of how many slots, 0 for all slates. largest: of their 1 / propensity. impressions: as many, before
    sub-sampling.
    """

    slots: int = 0
    largest: float = math.inf
    impressions: float = math.inf


@dataclass(frozen=True, kw_only=True)
class OfSupport:
    """What a target shows and the logging policy never does.

    shares: [k] of what it shows at each rank, top first. asked: whether somebody wants to judge the target.
    """

    target: str = "uniform"
    shares: tuple[float, ...] = ()
    asked: bool = True


@dataclass(frozen=True, kw_only=True)
class OfSkipped:
    """Rows that were left out while reading. count: of those that broke the rule."""

    rule: str = ""
    count: int = 0
