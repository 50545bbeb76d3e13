"""What an estimate rests on: its weights, rewards and clusters, and those that have not occurred yet."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..inference.rare_rewards import hides
from ..language.formatting import percent, rough
from ..sums.estimate import FEW_EFFECTIVE, FEW_REWARDS
from ..wording import EstimatorOption, Option, Wording, joined
from .log import LogEvidence
from .odd_mean import LawEvidence, OddMean, odd_mean
from .registry import Statement, finding, note, serious, warning
from .row import Row

_TYPICAL = 0.8
"""Of the effective rows of this log, those that such logs have: with fewer, its own number is too high to be told."""
SMALL_SHARE = 0.01  # Share of the impressions
SEEN = 0.7
"""Share of the standard error that the log's own rows show. The table of benchmarks/rewards.py rare has what is sound
beside it, and how much of that holds."""
_ENOUGH = 10.0  # Rewarded rows that tell their own error: with so many, one more changes it by 5 %
_MOST = 1000  # More times as many rows are not worth a number
LARGE, VERY_LARGE = 0.05, 0.2  # Share of the total weight on one impression
LITTLE, MUCH = 0.98, 0.8  # Share of the weight that remains
HEAVY = 0.5  # Pareto index above which the variance is infinite
VERY_HEAVY = 0.7
"""Index above which no feasible log suffices for a mean (Vehtari and others, Pareto smoothed importance sampling)."""
MOSTLY_HIDDEN = 0.2  # Share of the target's slates or items
SKEWED = 0.7
"""Skewness of the sum of the rewards, with those that the log is too short to show: that of two equal rewards. Where it
is less, 95 % intervals of lognormal rewards (sigma 2) hold the truth in at least 94 of 100 logs of 1,000 rows
(benchmarks/rewards.py skewed)."""
LARGE_DESIGN_EFFECT = 1.5  # Variance by clusters over that of independent rows
CHANCE = 0.01  # Share of logs of independent rows whose design effect triggers a warning
FEW_CLUSTERS = 20  # Effective number of clusters
VERY_FEW = 5
_UNLIKE = 0.9  # Ratio of effective to actual clusters below which their unequal size is mentioned
FACTOR = 1.5  # Smallest sub-sampling factor of the rows at which it can be distinguished from other faults
LEAST, MOST = 0.7, 1.3  # Bounds of the mean weight divided by that factor
CLOSER = "evaluate a policy that is closer to the logging policy"


@dataclass(frozen=True)
class RareEvidence:
    """Whether rewards are too rare for the weights that meet them."""

    n: int = 0  # impressions read
    seen: float = 1.0  # share of the standard error, of value or difference, that the log's own rows show
    weight: float = 1.0  # of the heaviest rows
    expected: float = math.inf  # rewarded rows with about such a weight that such a log holds


@dataclass(frozen=True, kw_only=True)
class ClustersEvidence:
    """The evidence about the dependence between the rows of an estimate."""

    column: str | None = None  # of the clusters used; None: none
    clusters: int = 0
    effective: float = math.inf  # the equivalent number of equal size
    design_effect: float | None = None  # their variance over that of independent rows
    chosen: bool = False  # whether the column was chosen automatically
    apart: str | None = None  # column of clusters that were found but not used
    values: int = 0  # how many of these there are
    missed: float | None = None  # their design effect
    method: str = "normal"  # of the interval
    group: bool = False  # whether it is of one of several groups of the log


def items_help(slots: int, kind: str) -> bool:
    """Whether an estimator of items may help: slates are weighted, and the log has clicks in several slots."""
    return slots > 1 and kind == "slates"


def _clip(found: Row, verb: str = "clip") -> str:
    """The remedy of bounding the weights. verb: as a sentence begins, if it is the first word."""
    return Wording("{} the weights ({})", verb, EstimatorOption(str(found.with_bound())))


@finding("low-ess", "Effective sample size", cause=("overlap", "effective size", "weights"))
def low_ess(found: Row) -> Statement | None:
    ess, n = found.estimate.ess, found.estimate.n
    if not ess * found.ess_ratio < FEW_EFFECTIVE:
        return None
    message = f"Effective sample size: {ess * found.ess_ratio:.0f} of {n:,} impressions"
    if found.ess_ratio < _TYPICAL:
        message += (
            f". This log's own weights suggest {ess:.0f}, which is too many: the largest weights are still to come"
        )
    if found.kind.weighs == "logged":
        return serious(f"{message}.", "Log more.")
    if not items_help(found.slots, found.kind.weighs):
        return serious(f"{message}.", f"Log more, or {CLOSER}.")
    items = EstimatorOption("ipm"), EstimatorOption("interpol(window=1)")
    return serious(f"{message}.", "Log more, {}, or use an item-level estimator ({}, {}).", CLOSER, *items)


@finding("small-ess-share", "Effective sample size", cause=("effective size", "weights"))
def small_ess_share(found: Row) -> Statement | None:
    ess, n = found.estimate.ess, found.estimate.n
    if ess * found.ess_ratio < FEW_EFFECTIVE or not ess < SMALL_SHARE * n:
        return None
    more = items_help(found.slots, found.kind.weighs)
    further = f", {CLOSER}, or use an estimator that assumes more about users" if more else f", or {CLOSER}"
    return note(
        f"Effective sample size: {ess:,.0f} of {n:,} impressions. Most of the log says nothing about this policy.",
        f"Log more{further}.",
    )


@finding(
    "few-rewards",
    "Rewarded impressions",
    lambda found: found.effective_rewards * found.ess_ratio < FEW_REWARDS,
    cause=("overlap", "tail"),
)
def few_rewards(found: Row) -> Statement:
    if found.effective_rewards == 0:
        wide = found.estimate.high > found.estimate.low
        return serious(
            "No impression with weight under this policy has a reward: the interval "
            f"{'is that of a single one' if wide else 'has no width'}.",
            "Log more: the value is close to zero, but this log cannot say how close.",
        )
    message = f"The estimate is based on about {found.effective_rewards * found.ess_ratio:.0f} rewarded impressions."
    if found.method != "normal":
        return warning(message, "Log more: with so few, no interval can tell how much future rewards will differ.")
    other = Option("interval", "studentised")
    return warning(message, "That is too few for a normal interval: use {}, and log more.", other)


@finding("rare-rewards", "Rewards at large weights", lambda found: found.seen < SEEN, cause=("overlap", "tail"))
def rare_rewards(found: RareEvidence) -> Statement:
    times = _ENOUGH / max(found.expected, _ENOUGH / _MOST)
    return warning(
        f"The answer rests on impressions of weight near {rough(found.weight)}, and in a log of {found.n:,} only about "
        f"{found.expected:.2g} of these have a reward: its rows alone show {percent(found.seen)} of the standard "
        "error. The interval allows for the whole error.",
        f"Log {math.ceil(max(times, 2)):,} times as many impressions, or show what the target shows that many times "
        "as often (a larger epsilon, a higher temperature).",
    )


@finding("large-weight", "Largest weight", cause=("overlap", "weights", "tail"))
def large_weight(found: Row) -> Statement | None:
    share = found.estimate.max_weight_share
    if not share > LARGE:
        return None
    ways = [] if found.kind.bound or found.kind.weighs == "logged" else [_clip(found)]
    ways += ["compare with an item-level estimator"] if items_help(found.slots, found.kind.weighs) else []
    return Statement.of(
        "serious" if share > VERY_LARGE else "warning",
        f"One impression carries {percent(share)} of the total weight.",
        "Do not trust the interval; {}.",
        joined(" or ", ways) or "log more",
    )


@finding("clipped", "Clipped weights", lambda found: found.kind.bound is not None, cause="assumption")
def clipped(found: Row) -> Statement | None:
    kind, bound = found.kind, found.kind.bound
    if bound is None or not found.normalised or not found.control < LITTLE:
        return None
    # Divided or corrected by the remaining weight, the estimate may move either way.
    plain = kind.normalisation is None and not kind.predicts
    lower = ", or read it as a lower bound (if no reward or weight is negative)."
    free = ". It is divided by the remaining weight or added to a model's prediction, so it can be too high or too low."
    leans = "relies on the model's prediction there" if kind.predicts else "is biased towards the logging policy"
    return Statement.of(
        "warning" if found.control < MUCH else "note",
        f"{bound.done} removed {percent(1 - found.control)} of the weight, so the estimate {leans}.",
        f"Raise the {bound.parameter} until the value stops changing" + (lower if plain else free),
        missing=1 - found.control if plain else 0.0,
    )


@finding("heavy-tail", "Tail of the weights", lambda found: found.hidden is None, cause=("overlap", "weights", "tail"))
def heavy_tail(found: Row) -> Statement | None:
    # A tail that ends at the maximum is not heavy: clipping costs bias instead, which `clipped` reports.
    # Where the policies determine which weights can occur, `hidden-mass` reports those not yet seen.
    index = found.estimate.tail_index or 0.0
    if found.kind.bound or not index > HEAVY:
        return None
    further = ", use an item-level estimator" if items_help(found.slots, found.kind.weighs) else ""
    return Statement.of(
        "serious" if index > VERY_HEAVY else "warning",
        f"The weights have a heavy tail (Pareto index {index:.2f}; above 0.5 the variance is infinite, above 0.7 no "
        "log of feasible size determines the mean): both value and interval are likely too low.",
        _clip(found, "Clip") + f"{further}, or {CLOSER}.",
        missing=math.inf,
    )


@finding("hidden-mass", "Overlap of the policies", cause=("overlap", "tail"))
def hidden_mass(found: Row) -> Statement | None:
    """What the target shows at weights that a log of this length shows in fewer than five rows, or never.

    Most such logs are too low, a few far too high. Intervals hold what it may earn: nothing, or twice as much as the
    rest of the target does.
    """
    share = (found.hidden or 0.0) + found.unsupported
    if not (hides(share, found.visible, found.effective_rewards * found.ess_ratio) or share > MOSTLY_HIDDEN):
        return None
    never = f" ({percent(found.unsupported)} is never shown)" if found.unsupported > 0.0005 else ""
    further = "" if found.kind.bound else ", or " + _clip(found)
    items = ", use an item-level estimator" if items_help(found.slots, found.kind.weighs) else ""
    return Statement.of(
        "serious" if share > MOSTLY_HIDDEN else "warning",
        f"{percent(share)} of what the target shows is almost absent from this log{never}: the logging policy shows it "
        f"so rarely that fewer than five of {found.estimate.n:,} impressions are expected to have any of it. Value and "
        "interval are likely too low.",
        f"Log more, {CLOSER}{items}" + further + ".",
        missing=share,
    )


@finding("heavy-rewards", "Tail of the rewards", lambda found: found.reward_skewness > SKEWED, cause="tail")
def heavy_rewards(found: Row) -> Statement | None:
    if found.reward_index is None:
        return None
    return warning(
        "A few large rewards determine the value, and larger ones are likely to come (Pareto index up to "
        f"{found.reward_index:.2f}; above 0.5 the variance is infinite). The interval allows for such rewards.",
        "Log more, or evaluate a bounded reward, such as orders or capped revenue.",
    )


@finding("observed-range", "Range of the values", lambda found: found.method == "bernstein", cause="method")
def observed_range(_: Row) -> Statement:
    return note(
        "The empirical Bernstein interval needs the range of the values, and the observed range is used.",
        "The interval is guaranteed only if no larger weight can occur, as with clip(...).",
    )


def sampled_twice(odd: OddMean) -> bool:
    """Whether the sub-sampling, which the propensities contain already, explains a mean weight."""
    return odd.factor > FACTOR and LEAST < odd.mean.value / odd.factor < MOST


@finding("double-subsampling", "Mean weight", odd_mean, cause="mean weight", explains="mean weight")
def double_subsampling(found: Row | LogEvidence | LawEvidence) -> Statement | None:
    odd = odd_mean(found)
    if odd is None or not sampled_twice(odd):
        return None
    return serious(
        f"{odd.name} is {rough(odd.mean.value)}, and sub-sampling weights the rows by a factor of {rough(odd.factor)}: "
        "the propensities already contain that factor.",
        "Correct for the sub-sampling only once: remove the factor from the propensities, or do not give `inclusion`.",
    )


@finding("counted-propensities", "Counted propensities", lambda found: found.counted, cause=("weights", "counting"))
def counted_propensities(_: Row) -> Statement:
    return note(
        "The propensities were estimated by counting in the log itself, and the intervals do not include their error.",
        "Log propensities with every impression.",
    )


@finding("clustered", "Clusters", lambda found: (found.design_effect or 0.0) > LARGE_DESIGN_EFFECT, cause="dependence")
def clustered(found: ClustersEvidence) -> Statement | None:
    """The design effect is the variance by clusters over that of independent rows."""
    if found.column is None or not found.chosen:
        return None
    return note(
        f"Rows with the same `{found.column}` are correlated (design effect {found.design_effect:.1f}): the interval "
        f"is computed from the sums of about {found.clusters:,} clusters.",
        "Keep it, unless the question is about exactly these values: {} treats rows as independent, and {} "
        "names another column.",
        Option("cluster", None),
        Option("cluster", "column"),
    )


@finding("unclustered", "Clusters", lambda found: found.apart is not None, cause="dependence")
def unclustered(found: ClustersEvidence) -> Statement | None:
    if found.group and found.values == 1:
        return None  # a group of this column has only one of its values
    effect, column = found.missed or 1.0, found.apart
    severe = effect > most_by_chance(found.values - 1)
    if found.column is not None and not (severe and effect > (found.design_effect or 0.0)):
        return None
    reason = (
        f"The log has only {found.values} value{'s' if found.values > 1 else ''} of `{column}`, too few to cluster by"
    )
    remedy, option = "Log more values, or use {} for the wide interval.", Option("cluster", column)
    if found.method == "bernstein":
        reason = "Bernstein intervals cannot use clusters"
        remedy, option = "Use {} or bootstrap, which cluster by this column.", Option("interval", "studentised")
    return Statement.of(
        "warning" if severe else "note",
        f"{reason}: rows are treated as independent, and the interval applies to these values of `{column}` only"
        + (f" (design effect {effect:.1f})." if found.values > 1 else "."),
        remedy,
        option,
    )


def most_by_chance(freedom: int) -> float:
    """The design effect that one log in a hundred of independent rows exceeds."""
    from scipy.special import chdtri

    return float(chdtri(freedom, CHANCE)) / freedom if freedom > 0 else math.inf


@finding("few-clusters", "Clusters", cause="dependence")
def few_clusters(found: ClustersEvidence) -> Statement | None:
    """The effective number is that of the degrees of freedom of the standard error, plus one."""
    worth = round(found.effective, 6)
    if found.column is None or not worth < FEW_CLUSTERS:
        return None
    only = f"The log has only about {found.clusters} clusters (values of `{found.column}`)"
    unlike = f", which carry the information of about {worth:.1f} equal ones"
    message = f"{only}{unlike if worth < _UNLIKE * found.clusters else ''}."
    return Statement.of(
        "serious" if worth < VERY_FEW else "warning",
        message if found.clusters > 1 else f"The log has only one cluster (value of `{found.column}`).",
        "Log more clusters, or cluster by a finer column.",
    )
