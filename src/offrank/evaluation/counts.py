"""Estimates with their intervals, from the states of the folds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from operator import truediv
from statistics import NormalDist
from typing import Any

from ..checks.log_problems import binding_models, of_rows
from ..checks.rows import dependence
from ..errors import NoDivisorError, NoOverlapError, UsageError
from ..estimators.base import Estimator, Weighted
from ..estimators.effective_size import EffectiveSize
from ..estimators.layout import CONTROL, MARKS, REWARD, ROWS, SLOTS, Layout, Marks, TargetPair, of_arm
from ..estimators.no_overlap import no_overlap, with_bound
from ..estimators.unseen_rewards import rare_evidence, with_unseen_rewards
from ..findings import cautions_for, explained, has_cause
from ..findings.reasons import Facts
from ..findings.row import NO_NUMBER, Row
from ..inference.clusters_and_level import AUTO, IntervalSpec
from ..inference.mean_intervals import Inference
from ..inference.pareto import tail_index
from ..language.assumptions import as_model, needs_curve
from ..policies.base import Policy
from ..policies.fit import counts
from ..sums.estimate import FEW_EFFECTIVE, Caution, Design, Estimate, Interval
from ..sums.mean import Mean, Name, Products, adjusted, mean_by_block, mean_of_means, ratio, relative, with_control
from ..sums.named_sums import ByName, Sums
from .provenance import NOTHING, Provenance

POWER = 0.8
"""The power at which a detectable difference is reported."""
_SAME = 1e-9
"""Share of the variance of the reward that a control which is no outcome leaves unexplained at least."""


@dataclass(frozen=True)
class Counts:
    """The reduced log, from which estimates follow.

    logging: by which rows were drawn, as estimators take it. products: pairs of columns whose products are summed
    too. group: how many groups the log has, one of which this is, or 0. losses: whether outcomes are below 0 in the
    rest of the log. slots: how many ranks have clicks. about_log: problems of the log that affect every estimate; those
    of its propensities affect only estimates that require the logging policy. ties: share of the impressions in which
    equal scores do not determine the order, by sorting target.
    trained: targets evaluated on their own training rows. designs: weight statistics that depend on the policies only,
    for each pair of the layout; or none. facts: by which assumptions are chosen. of_group: what refutes the
    logging policy in this group. sums: of all columns of the layout. effective_sizes: of all pairs. nonnegative:
    whether no outcome of the log is below 0.
    """

    layout: Layout
    spec: IntervalSpec
    folded: Mapping[str, Any]
    logging: Policy | None = None
    products: Products = ()
    group: int = 0
    losses: bool = False
    slots: int = 0
    about_log: tuple[Caution, ...] = ()
    ties: Mapping[Policy, float] = field(default_factory=dict)
    trained: Provenance = NOTHING
    designs: tuple[Design | None, ...] = ()
    facts: Facts = field(default_factory=Facts)
    of_group: tuple[Caution, ...] = ()
    made: dict[tuple[Policy, Estimator], Row] = field(default_factory=dict, init=False, compare=False, repr=False)
    sums: Sums = field(init=False, compare=False, repr=False)
    effective_sizes: EffectiveSize = field(init=False, compare=False, repr=False)
    nonnegative: bool = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        sums = Sums(self.layout.columns, self.folded["moments"])
        more = ByName(self.layout.summed, self.folded["worth"])
        sizes = EffectiveSize(sums, more, Marks(*(float(more[name]) for name in MARKS)))
        object.__setattr__(self, "sums", sums)
        object.__setattr__(self, "effective_sizes", sizes)
        object.__setattr__(self, "nonnegative", not self.losses and bool(sums.least[REWARD] >= 0))

    @cached_property
    def counted(self) -> bool:
        """Whether the logging probabilities were counted in the log."""
        return self.logging is not None and counts(self.logging)

    @cached_property
    def inference(self) -> Inference:
        """Return the inference that intervals are made from."""
        return with_unseen_rewards(self, self.spec.inference(self.layout.columns, self.folded, self.products))

    @cached_property
    def _alone(self) -> Inference:
        """Return the inference for independent rows, unless the user named clusters.

        Weights have expectation 1 in every context, so those of one query are uncorrelated if slates were drawn
        independently. A few clusters would detect wrong propensities less well than the many rows do.
        """
        if self.spec.cluster != AUTO:
            return self.inference
        return replace(self.spec, cluster=None).inference(self.layout.columns, self.folded, self.products)

    def logged(self, estimator: Estimator) -> Interval:
        """Return the logged mean of the outcome that the estimator weights."""
        return self.inference.interval(self.layout.logged(estimator))

    def row(self, target: Policy, estimator: Estimator) -> Row:
        """Return what one estimator says of one target: the estimate with all findings, or why there is none."""
        if (target, estimator) not in self.made:
            self.made[target, estimator] = self._row(target, estimator)
        return self.made[target, estimator]

    def number(self, target: Policy, estimator: Estimator) -> Estimate | NoOverlapError:
        """Return the number of one estimator for one target, with interval and effective size; nothing is checked."""
        at, mean = self.columns(target, estimator), self.mean(target, estimator)
        if not self.sums.total[at.weight] > 0:
            return self._refusal(at, estimator)
        clusters, weighed = self.inference.widest(mean).clusters, at.weighted
        made = self._number(mean, self.inference.interval(mean), at, None if clusters is None else clusters.column)
        if weighed is None:
            return made
        error = math.inf if self.layout.ratio else made.standard_error
        return replace(made, ess=self.effective_sizes.impressions(at, weighed, error))

    def _refusal(self, at: TargetPair, estimator: Estimator) -> NoOverlapError:
        cancelled = bool(self.sums.squares[at.weight] > 0)
        return no_overlap(at.target, estimator, self.sums.n, self.slots, cancelled=cancelled)

    def _number(self, mean: Mean, earned: Interval, at: TargetPair, cluster: str | None) -> Estimate:
        """Return a mean with its interval and its difference to the log, as an estimate of which nothing is checked."""
        ends, away = (earned.low, earned.high), self.inference.difference(mean, ratio(at.outcome, self.layout.divisor))
        made = Estimate(earned.value, *ends, earned.standard_error, self.sums.n, difference=away)
        return replace(made, cluster=cluster, checked=False)

    def _row(self, target: Policy, estimator: Estimator) -> Row:
        at, kind = self.columns(target, estimator), estimator.kind
        row = Row(
            repr(estimator),
            estimator,
            kind,
            outcome="clicks" if kind.outcome == "clicks" and not self.rewards_are_clicks else "reward",
            base=at.estimator,
        )
        if not self.sums.total[at.weight] > 0:
            return replace(row, refusal=self._refusal(at, estimator))
        if self.layout.ratio and not self.inference.interval(ratio(at.per, at.weight)).low > 0:
            why = f"the mean that the outcome is divided by is not clearly above 0 under {target!r}"
            return replace(row, refusal=NoDivisorError(why, "log more rows, or decide by an outcome that is no ratio"))
        mean = self.mean(target, estimator)
        earned = self.inference.interval(mean)
        depending = dependence(self.inference, mean, at.weight, group=self.group > 0)
        made = self._number(mean, earned, at, depending.column)
        if depending.column is not None:
            made = replace(made, design_effect=depending.design_effect, effective_clusters=depending.effective)
        row = self._with_numbers(row, at, made)
        evidence = [
            row,
            depending,
            rare_evidence(self.inference, [at.value], earned, row.estimate.difference),
            *self.trained.evidence(target, estimator),
        ]
        about_log = self.about_log if kind.logging is not None else of_rows(self.about_log)
        if about_log and (needs_curve(kind.assumes) or as_model(kind.assumes) is not None):
            about_log = tuple(map(binding_models, about_log))
        known, counted = explained(about_log) if about_log else (), target in self.trained.shown
        said = cautions_for(*evidence)
        base = () if any(has_cause(one, "mean weight") for one in said) else self._of_base(at)
        law = self.of_group if kind.logging is not None else ()
        new = (caution for caution in (*base, *said) if caution.code not in known)
        warnings = [caution for caution in new if not ((counted or law) and has_cause(caution, "mean weight"))]
        return replace(row, estimate=replace(row.estimate, warnings=(*law, *warnings), about_log=about_log))

    def _with_numbers(self, row: Row, at: TargetPair, made: Estimate) -> Row:
        """Add an estimate, and what findings read of it: the log's part and the estimator's."""
        tail, ess_ratio = self.inference.tail(at.value), self.ess_ratio(at)
        detectable = self.detectable(made.difference, made.standard_error, ess_ratio)
        row = replace(
            row,
            estimate=replace(made, checked=True, design=self.design(at), detectable=detectable),
            groups=self.group,
            slots=self.slots,
            method=self.spec.method,
            control=self.kept(at.target, row.base),
            effective_rewards=self.effective_sizes.rewards(at),
            ties=self.ties.get(at.target, 0.0),
            reward_index=None if tail is None else tail.heavy,
            reward_skewness=0.0 if tail is None else tail.skewness,
            counted=self.counted and row.kind.logging is not None,
        )
        if at.parts:
            known = self.mean(at.target, at.estimator), ratio(at.outcome, self.layout.divisor), self.inference
            row = replace(row, judged=at.estimator.evidence(at, *known))
        return row if at.weighted is None else self._with_weights(replace(row, ess_ratio=ess_ratio), at, at.weighted)

    def _with_weights(self, row: Row, at: TargetPair, weighed: Weighted) -> Row:
        """Add what is known of the weights to an estimate, and what findings read of them."""
        mean_weight = self._alone.interval(ratio(at.weight, ROWS)) if weighed.normalised else None
        error = math.inf if self.layout.ratio else row.estimate.standard_error  # of a ratio it is of no reward
        estimate = replace(
            row.estimate,
            ess=self.effective_sizes.impressions(at, weighed, error),
            mean_weight=None if mean_weight is None else mean_weight.value,
            max_weight_share=float(self.sums.largest[at.weight] / self.sums.total[at.weight]),
            tail_index=tail_index(self.folded["largest"].values[at.number], self.sums.n),
            mean_weight_interval=mean_weight,
        )
        if (design := estimate.design) is not None:
            rare = (design.hidden, design.unsupported) if weighed.normalised else (0.0, 0.0)
            row = replace(row, hidden=rare[0], unsupported=rare[1], visible=design.visible)
        return replace(
            row,
            estimate=estimate,
            with_bound=partial(with_bound, row.estimator),
            normalised=weighed.normalised,
            sampling_factor=self._sampling_factor,
        )

    def columns(self, target: Policy, estimator: Estimator) -> TargetPair:
        """Return the columns of an estimator for a target; the same with and without normalisation."""
        return self.layout.places[target, estimator.unnormalised]

    def design(self, at: TargetPair) -> Design | None:
        """Return the distribution of weights that follows from the policies; None where it is not known."""
        return self.designs[at.number] if self.designs else None

    def ess_ratio(self, at: TargetPair) -> float:
        """Return the typical effective sample size of such logs over that of this log, at most 1."""
        design = self.design(at)
        if design is None:
            return 1.0
        return min(design.visible / self.effective_sizes.kish(at), 1.0)

    def error_ratio(self, target: Policy, estimator: Estimator) -> float:
        """Return the typical error of such logs over the error of this log, at least 1."""
        ess_ratio = self.ess_ratio(self.columns(target, estimator))
        return 1 / math.sqrt(ess_ratio) if ess_ratio > 0 else math.inf

    def detectable(self, difference: Interval | None, error: float, ess_ratio: float) -> float:
        """Return the true difference that is detected with probability POWER; error: of the comparison.

        If the weights of this log vary less than is typical for such logs, it grows in proportion.
        """
        if difference is None or not ess_ratio > 0:
            return math.nan
        if difference.standard_error < 1e-6 * error:
            return 0.0  # both are the same policy, up to rounding
        deviates = sum(map(NormalDist().inv_cdf, (0.5 + self.spec.level / 2, POWER)))
        return deviates * difference.standard_error / math.sqrt(ess_ratio)

    def error_is_reliable(self, target: Policy, row: Row) -> bool:
        """Whether the standard error is reliable enough to compare the estimate with others.

        A small effective sample size does not make its standard error unreliable: enough impressions of the log
        must have a weight, and there must be no other problem with the weights.
        """
        sound = all(one.severity != "serious" or has_cause(one, "effective size") for one in row.estimate.warnings)
        enough = self.weighted_rows(target, row.estimator) >= FEW_EFFECTIVE
        return sound and enough and row.estimate.standard_error > 0

    def weighted_rows(self, target: Policy, estimator: Estimator) -> float:
        """Return the effective number of rows with a weight."""
        weight = self.columns(target, estimator).weight
        squares = float(self.sums.squares[weight])
        return float(self.sums.total[weight]) ** 2 / squares if squares > 0 else 0.0

    def kept(self, target: Policy, estimator: Estimator) -> float:
        """Return the mean weight, after any bound; where weights have no expectation of 1, the covered share."""
        return self.sums.value(ratio(self.columns(target, estimator).weight, ROWS))

    def relative(self, one: Mean, other: Mean) -> Interval | None:
        """Return the difference of two means as a share of the second; None if that is not clearly above 0."""
        return self.inference.interval(relative(one, other)) if self.inference.interval(other).low > 0 else None

    def at(self, confidence: float) -> Counts:
        """Return the same summary at this confidence level."""
        if confidence == self.spec.confidence:
            return self
        return replace(self, spec=replace(self.spec, confidence=confidence))

    def weight_of(self, target: Policy, estimator: Estimator) -> Row | None:
        """Return the evidence that its mean weight is of the logging policy; None where it has no expectation of 1."""
        at = self.columns(target, estimator)
        weighed, design = at.weighted, self.design(at)
        told = self.counted or target in self.trained.shown  # by what was shown, so that it does not test it
        if weighed is None or not (weighed.normalised and self.sums.total[at.weight] > 0) or told:
            return None
        weights = replace(
            NO_NUMBER,
            mean_weight_interval=self._alone.interval(ratio(at.weight, ROWS)),
            max_weight_share=float(self.sums.largest[at.weight] / self.sums.total[at.weight]),
            tail_index=tail_index(self.folded["largest"].values[at.number], self.sums.n) if design is None else None,
        )
        return Row(
            kind=weighed.kind,
            estimate=weights,
            groups=self.group,
            hidden=None if design is None else design.hidden,
            unsupported=0.0 if design is None else design.unsupported,
            control=self.kept(target, estimator),
            sampling_factor=self._sampling_factor,
        )

    def _of_base(self, at: TargetPair) -> list[Caution]:
        """Return what refutes the weights that a bound or a model hides, if they are of this run too."""
        if at.plain is None or at.plain == at.estimator or (at.target, at.plain) not in self.layout.places:
            return []
        found = self.weight_of(at.target, at.plain)
        said = () if found is None else cautions_for(found)
        return [one for one in said if has_cause(one, "mean weight") and one.severity == "serious"]

    @property
    def _sampling_factor(self) -> float:
        return float(self.sums.squares[ROWS] / self.sums.total[ROWS])

    @cached_property
    def slope(self) -> float:
        """Return how much the reward rises with the control, by the rows or clusters that errors are made from."""
        control = self.layout.control
        if control is None:
            return 0.0
        variance, covariance, rewards = self.inference.covariances(ratio(CONTROL, ROWS), ratio(REWARD, ROWS))
        if variance and covariance**2 >= (1 - _SAME) * variance * rewards:
            raise UsageError(
                f"the control {control!r} is the reward, or determines it: it is an outcome",
                "name a column whose value was known before the impression, such as the user's past click rate",
            )
        return covariance / variance if variance else 0.0

    def arm_mean(self, arm: int) -> Mean:
        """Return the mean reward of an arm of an experiment."""
        return self._adjusted(self.layout.arm_mean(arm, REWARD), of_arm(arm, ROWS))

    def mean(self, target: Policy, estimator: Estimator) -> Mean:
        """Return an estimate as a function of the columns' sums."""
        at = self.columns(target, estimator)
        if at.parts:
            return at.estimator.mean(at, self.inference)
        if estimator.kind.normalisation == "control":
            found = with_control(at.value, at.weight, ROWS, self.sums.best_slope(at.value, at.weight, ROWS))
        elif estimator.kind.normalisation == "slot":
            found = mean_by_block(at.slot_value, at.slot_weight, SLOTS, ROWS)
            if self.layout.ratio:
                found = mean_of_means(truediv, found, mean_by_block(at.slot_per, at.slot_weight, SLOTS, ROWS))
        elif self.layout.ratio:
            found = self.layout.logged(estimator) if estimator.kind.weighs == "logged" else ratio(at.value, at.per)
        else:
            found = ratio(at.value, ROWS if estimator.kind.normalisation is None else at.weight, tuple(at.drawn))
        if self.layout.control is None:
            return found
        # A bound takes more of some contexts than of others, so that chance alone would not have it at 0.
        whole = at.weighted is not None and at.weighted.normalised and at.weighted.kind.bound is None
        return self._adjusted(found, at.weight) if whole else found

    def _adjusted(self, mean: Mean, weight: Name) -> Mean:
        """Return a mean less what chance gave it by the control. weight: the column of its weights."""
        excess = self.layout.excess(weight, mean.shares[0])
        return adjusted(mean, excess, self.slope) if excess is not None and self.slope else mean

    @property
    def rewards_are_clicks(self) -> bool:
        """Whether the logged reward is the sum of the clicks in every row (or one of them was not logged)."""
        return not self.effective_sizes.marks.unlike

    @property
    def clicks_alone(self) -> bool:
        """Whether clicks are logged, and the reward is their sum in every row."""
        return self.rewards_are_clicks and bool(self.effective_sizes.marks.clicks)
