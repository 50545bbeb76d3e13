"""What findings look at: plain numbers, whose defaults speak against nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
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
    - hidden: share of what the target shows at weights so large that such a log is expected to hold fewer than five
      rows with one of them; None where the policies do not tell.
    - control: mean of the weights left by clipping, or the share of what the target shows that was logged, or that
      the click model knows.
    - sampling_factor: sum of squared 1 / inclusion over its sum, which the mean weight would be if the propensities
      contained the factor already.
    - luck: the effective number of weights that the policies alone let expect in such logs over that which this log
      has, at most 1. unsupported, visible: as in `Design`.
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
    hidden: float | None = None
    control: float = 1.0
    sampling_factor: float = 1.0
    luck: float = 1.0
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


@dataclass(frozen=True)
class Frequency:
    """How often something was shown, and how often the logging policy says it is: the worst of many comparisons.

    rank: from 1 at the top, None for any rank. item: its code; else `lift` says which items: those that the policy
    shows there at least so many times as often as a uniform one would. observed, expected: rows (before sub-sampling).
    chance: an upper bound of the probability that some comparison of a right log is as far off.
    """

    rank: int | None
    observed: float
    expected: float
    chance: float
    item: int | None = None
    lift: float | None = None


@dataclass(frozen=True, kw_only=True)
class OfLog:
    """A log, whatever is estimated from it.

    - rows: impressions read; logging: the spelling of the logging policy.
    - compared, apart, typical_ratio: rows with a written propensity, those in which it is not the logging policy's,
      and how many times that it typically is (geometric mean).
    - fit: how what was shown fits the logging policy, None where that could not be compared.
    - copies: the least share of the rows that are copies of others.
    - mean_weight: of the uniform policy; sampling_factor: the sum of squared 1 / inclusion over the sum of them;
      ess: effective sample size of those weights.
    - shown_only: whether every impression showed all of its candidates.
    - rows_per_context, counted_by: where propensities were counted in the log.
    - unknown: check -> why it could not be made.
    """

    rows: int = 0
    logging: str = "logged"
    compared: int = 0
    apart: int = 0
    typical_ratio: float = 1.0
    fit: Frequency | None = None
    copies: float = 0.0
    mean_weight: Interval | None = None
    sampling_factor: float = 1.0
    ess: float = 0.0
    shown_only: bool = False
    rows_per_context: float = math.inf
    counted_by: str | None = None
    unknown: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class OfComparison:
    """A metric of a model.

    ess: clicked impressions that the comparisons are worth. rejected: share of the clicks that have nothing to be
    compared with. pairwise: whether the metric compares what was shown together. shuffled: whether the slates were
    drawn uniformly. counted: whether the logging probabilities were counted in the log.
    """

    ess: float = math.inf
    rejected: float = 0.0
    pairwise: bool = False
    shuffled: bool = True
    counted: bool = False


@dataclass(frozen=True, kw_only=True)
class OfCmip:
    """A CMIP.

    - value: in nats. n: documents. method, least: by which, and how many documents it needs. permutations: of its test.
    - grades: how many there are. left_out: documents of grades that are too small, by grade.
    - permutable: share of the documents that share grade and cluster with another, 1 without clusters.
    - constant: whether model or logging policy find all documents of every grade alike, so that nothing was measured.
    - unpaired: documents whose grade the other half lacked.
    """

    value: float = 0.0
    n: int = 0
    method: str = "binned"
    least: int = 0
    permutations: int = 0
    grades: int = 2
    left_out: tuple[tuple[float, int], ...] = ()
    permutable: float = 1.0
    constant: bool = False
    unpaired: int = 0
