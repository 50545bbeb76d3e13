"""The evidence that findings use: plain numbers, whose defaults lead to no finding."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..sums.estimate import Interval
from ..sums.outcome_shape import USUAL, OutcomeShape
from .evidence_rows import NOTHING_KEPT, KeptEvidence
from .row import Row


@dataclass(frozen=True, kw_only=True)
class ClustersEvidence:
    """The evidence about the dependence between the rows of an estimate.

    - column, clusters, effective, design_effect: the clusters used (column None: none), how many there
      are, the equivalent number of equal size, and their variance over that of independent rows. chosen: that
      the column was chosen automatically.
    - apart, values, missed: clusters that were found but not used, how many there are, and their design effect.
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
class TrainingEvidence:
    """Evaluation on training rows. share: of the evaluated rows, those in the training log. policy: it is a policy."""

    share: float = 0.0
    policy: bool = True


@dataclass(frozen=True, kw_only=True)
class CurveEvidence:
    """An examination curve [k], top first."""

    curve: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RowsEvidence:
    """The rows of a log. copies: a lower bound of the share that are copies of others."""

    copies: float = 0.0


@dataclass(frozen=True, kw_only=True)
class CountingEvidence:
    """Propensities counted in the log. rows: mean number per context, over rows; by: the column of contexts."""

    rows: float = math.inf
    by: str = "query"


@dataclass(frozen=True, kw_only=True)
class SelectedMemberEvidence:
    """The choice between several estimators by the data; the first of them assumes least.

    chosen: its index in names. refuted: the first that contradicts those before it. trusted: the first whose error is
    known. bias: the estimated one of the chosen bound on weights; None where SLOPE chose.
    """

    names: tuple[str, ...]
    chosen: int = 0
    refuted: int | None = None
    trusted: int | None = 0
    bias: float | None = None


@dataclass(frozen=True, kw_only=True)
class SelectorEvidence:
    """The choice of an estimator by its estimated error.

    chosen, error: its spelling and its estimated error, None if no candidate can be used. among: number of candidates.
    trusted, trusted_error: the least assuming one with a reliable standard error that is not refuted, or None.
    refuted: candidates that are off by more than their standard error, each with the less assuming one that shows it.
    unchecked: whether the trusted one assumes anything. choice_refuted: whether the chosen one is off so far itself.
    """

    chosen: str = "ips"
    error: float | None = 0.0
    among: int = 1
    trusted: str | None = "ips"
    trusted_error: float = 0.0
    refuted: tuple[tuple[str, str], ...] = ()
    unchecked: bool = False
    choice_refuted: bool = False


@dataclass(frozen=True, kw_only=True)
class DisagreementEvidence:
    """The comparison of an estimate with one of fewer assumptions about users, on the same rows.

    - other, other_assumes, other_sound: spelling of that one, its assumptions, and whether nothing serious is known of
      its estimate. further: the further assumptions of the judged one.
    - difference: judged minus other, paired. width: of the judged estimate's interval.
    - error_ratio: factor by which the sample may underestimate the error (its design's over its own), 1 or more.
    - pairs: number of comparisons in the run.
    - missing, own_missing: what each value (of the other, of the judged one) may lack, since so short a log hides a
      share of the target's slates or items from it.
    """

    other: str
    difference: Interval = Interval(0.0, 0.0, 0.0, 0.0)  # noqa: RUF009
    width: float = math.inf
    further: frozenset[str] = frozenset()
    other_assumes: frozenset[str] = frozenset()
    other_sound: bool = True
    error_ratio: float = 1.0
    pairs: int = 1
    missing: float = 0.0
    own_missing: float = 0.0

    @property
    def deviations(self) -> float:
        """The difference beyond what either may lack, in standard errors, as a normal deviate."""
        away = self.difference.value
        nearest = min(away, self.missing) if away > 0 else max(away, -self.own_missing)
        if not self.difference.standard_error > 0 or away == nearest:
            return 0.0
        return self.difference.deviation(nearest) / self.error_ratio

    @property
    def decisive(self) -> bool:
        """Whether the other one is decisive: it is sound and assumes nothing."""
        return self.other_sound and not self.other_assumes


@dataclass(frozen=True, kw_only=True)
class PropensitiesEvidence:
    """The largest of the inverse propensities of the slates shown."""

    largest: float = math.inf


@dataclass(frozen=True, kw_only=True)
class SupportEvidence:
    """The share of a target's items that the logging policy never shows.

    shares: [k] of the items at each rank, top first. asked: whether the target is to be evaluated.
    """

    target: str = "uniform"
    shares: tuple[float, ...] = ()
    asked: bool = True


@dataclass(frozen=True, kw_only=True)
class SkippedEvidence:
    """Rows that were left out while reading. count: number that broke the rule. files: those that were left out."""

    rule: str = ""
    count: int = 0
    files: tuple[str, ...] = ()


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


@dataclass(frozen=True, kw_only=True)
class LawEvidence:
    """The mean weights of a run, each of which tests the logging policy of the log.

    weights: of each estimator for each target, asked for or a reference, with its name. targets: their number.
    copies: a lower bound of the share of rows that are copies of others. unlisted: as in `LogEvidence`.
    """

    weights: tuple[tuple[str, Row], ...] = ()
    targets: int = 1
    copies: float = 0.0
    unlisted: bool = False


@dataclass(frozen=True, kw_only=True)
class ComparisonEvidence:
    """The evidence about a metric of a model.

    ess: effective number of clicked impressions. rejected: share of the clicks that have nothing to be
    compared with. pairwise: whether the metric compares items shown together. shuffled: whether the slates were
    drawn uniformly. counted: whether the logging probabilities were counted in the log.
    """

    ess: float = math.inf
    rejected: float = 0.0
    pairwise: bool = False
    shuffled: bool = True
    counted: bool = False


@dataclass(frozen=True, kw_only=True)
class PointsEvidence:
    """The relevance that a CMIP is of. points: whether the model has only point estimates of it, and no posterior."""

    points: bool = False


@dataclass(frozen=True, kw_only=True)
class CmipEvidence:
    """The evidence about a CMIP.

    - value: in nats. n: documents. method, least: its name, and how many documents it needs. permutations: of its test.
    - grades: their number. left_out: documents of grades that are too small, by grade.
    - permutable: share of the documents with another one of the same grade and cluster, 1 without clusters.
    - constant: whether model or logging policy is constant within every grade, so that nothing was measured. level:
      whether the policy is, and the model is not.
    - unpaired: documents whose grade is missing in the other half.
    - direction: rank correlation with the policy within grades. floor: value and direction of a right model.
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
    level: bool = False
    unpaired: int = 0
    direction: Interval | None = None
    floor: tuple[Interval, Interval] | None = None
