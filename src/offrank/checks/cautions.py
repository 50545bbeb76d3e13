"""When not to trust an estimate: every warning with its stable code, what it means and what to do."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate

from ..folds.estimate import Caution, Estimate
from ..folds.intervals import Method

# Thresholds; docs/trust.md gives the reasons.
FEW_EFFECTIVE = 100.0
SMALL_SHARE = 0.01
LARGE_WEIGHT = 0.05
VERY_LARGE_WEIGHT = 0.2
HEAVY_TAIL = 0.5
VERY_HEAVY_TAIL = 0.7
FEW_REWARDS = 30.0
ODD_MEAN_WEIGHT = 3.3  # standard errors: one in a thousand
IMPOSSIBLE_MEAN_WEIGHT = 5.0
# Markov's inequality: weights are >= 0 with expectation 1, so the chance of a mean of t or more is at most 1 / t.
ODD_BY_MARKOV = 20.0
IMPOSSIBLE_BY_MARKOV = 100.0
ODD_RISE = 1.2
ABSURD_RISE = 2.0
UNKNOWN = 0.01
MOSTLY_UNKNOWN = 0.2


def about_weights(estimate: Estimate) -> Iterator[Caution]:
    """Warnings that follow from the weights, and from what they are worth."""
    if estimate.ess < FEW_EFFECTIVE:
        yield Caution(
            "low-ess",
            "serious",
            f"The {estimate.n:,} impressions are worth about {estimate.ess:.0f} of the policy itself.",
            "Log more, evaluate a policy closer to the logging one, or use an item-level estimator (ipm, interpol).",
        )
    elif estimate.ess < SMALL_SHARE * estimate.n:
        yield Caution(
            "small-ess-share",
            "note",
            f"The {estimate.n:,} impressions are worth about {estimate.ess:,.0f} of the policy itself: most of the log "
            "says nothing about it.",
            "Log more, ask about a policy closer to the logging one, or use an estimator that assumes more of users.",
        )
    if estimate.max_weight_share > LARGE_WEIGHT:
        yield Caution(
            "large-weight",
            "serious" if estimate.max_weight_share > VERY_LARGE_WEIGHT else "warning",
            f"One impression carries {estimate.max_weight_share:.0%} of all weight.",
            "Do not trust the interval; clip the weights (clip(ips, 100)) or compare with an item-level estimator.",
        )
    if estimate.tail_index is not None and estimate.tail_index > HEAVY_TAIL:
        yield Caution(
            "heavy-tail",
            "serious" if estimate.tail_index > VERY_HEAVY_TAIL else "warning",
            f"The largest weights fall off so slowly (Pareto index {estimate.tail_index:.2f}; above 0.5 the variance "
            "is infinite, above 0.7 the mean cannot be learnt from a log of feasible size) that both value and "
            "interval are likely too low.",
            "Clip the weights, use an item-level estimator, or evaluate a policy closer to the logging one.",
        )


def about_mean_weight(estimate: Estimate, sampling_factor: float) -> Iterator[Caution]:
    """Warnings that follow from a mean weight that is not 1.

    sampling_factor: sum of squared 1 / inclusion over its sum, which the mean weight would be if the
    propensities contained the factor already.
    """
    found = estimate.mean_weight_interval
    if found is None or not math.isfinite(found.standard_error):
        return
    away = min(found.deviation(1.0), abs(found.value - 1) / 1e-6)
    if found.value < ODD_BY_MARKOV and (away < ODD_MEAN_WEIGHT or abs(found.value - 1) < 0.005):
        return
    if sampling_factor > 1.5 and 0.7 < found.value / sampling_factor < 1.3:
        yield Caution(
            "double-subsampling",
            "serious",
            f"The mean weight is {found.value:.3g}, and rows count {sampling_factor:.3g}-fold for the "
            "sub-sampling: the propensities contain that factor already.",
            "Correct for the sub-sampling once: multiply it out of the propensities, or leave `inclusion` away.",
        )
        return
    far = f"{away:.1f}" if away < 1000 else "over 1,000"
    low = found.value < 1
    factor = 1 / found.value if low else found.value
    reason = (
        "Target slates without support in the log, a tail of weights that the log is too short to show, or "
        "propensities that are too large"
        if low
        else "Propensities that are too small (a sub-sampling factor in them?), or not those of the slate shown"
    )
    yield Caution(
        "mean-weight",
        "serious" if away > IMPOSSIBLE_MEAN_WEIGHT or found.value > IMPOSSIBLE_BY_MARKOV else "warning",
        f"The mean weight is {found.value:.4g} ({far} standard errors from 1): on average the propensities are "
        f"{factor:.3g} times too {'large' if low else 'small'} for this policy.",
        f"{reason} would do this; `offrank check` of the uniform policy tells them apart. A plain estimate is off by "
        "this factor, a self-normalised one hides it.",
    )


def about_clipping(mean_weight: float, plain: bool) -> Iterator[Caution]:
    """What clipping cut away. plain: not divided or corrected by what is left, which may move it either way."""
    bound = ", or read it as a lower bound (rewards and weights being >= 0)."
    free = ": divided by the weight that is left, or added to a model's prediction, it can be too high or too low."
    if mean_weight < 0.98:
        yield Caution(
            "clipped",
            "warning" if mean_weight < 0.8 else "note",
            f"Clipping removed {1 - mean_weight:.0%} of the weight, so the estimate leans towards the logged habits.",
            "Raise the maximum until the value stops moving" + (bound if plain else free),
        )


def about_coverage(covered: float) -> Iterator[Caution]:
    """Warnings of estimators that see only items which were shown."""
    if covered < 0.99:
        yield Caution(
            "unseen-items",
            "serious",
            f"{1 - covered:.0%} of what the target shows is not in the logged slates, and counts as earning nothing.",
            "Use interpol with a wide window, which knows how likely an item was shown; pbm is for logs that show "
            "every candidate.",
        )


def about_prediction(known: float) -> Iterator[Caution]:
    """Warnings of estimates that rest on a model alone. known: share of what the target shows that was learnt of."""
    yield Caution(
        "model-based",
        "warning",
        "This is what a click model expects: the interval tells how contexts differ, not how wrong the model may be.",
        "Compare with an estimator that looks at the clicks; dr(model) corrects the model by them.",
    )
    if known < 1 - UNKNOWN:
        yield Caution(
            "unseen-documents",
            "serious" if known < 1 - MOSTLY_UNKNOWN else "warning",
            f"{1 - known:.0%} of what the target shows was never shown in the log that the model has learnt from, and "
            "counts as clicked like an average document.",
            "Learn from a log that shows more of it, or by items alone (by=None) where queries are rare.",
        )


def about_examination(curve: Sequence[float]) -> Iterator[Caution]:
    """Warnings of an examination curve [k] that rises; only ratios of its numbers count, so that its scale is free."""
    above = list(accumulate(curve, min))[:-1]
    rises = [here / least for least, here in zip(above, curve[1:], strict=True)]
    rise = max(rises, default=0.0)
    if rise <= ODD_RISE:
        return
    lower = rises.index(rise) + 1
    upper = curve.index(above[lower - 1])
    yield Caution(
        "odd-examination",
        "serious" if max(curve) > ABSURD_RISE * curve[0] else "warning",
        f"The examination curve says that rank {lower + 1} is looked at {rise:.3g} times as often as rank {upper + 1}, "
        "which stands above it.",
        "Look whether the curve is written top first, and right; compare with ipm, which needs none.",
    )


def about_choice(names: Sequence[str], chosen: int, refuted: int | None, trusted: int | None) -> Caution:
    """Which of several estimators the data chose, the first of them assuming least, and what spoke against more.

    refuted: the first that contradicts those before it. trusted: the first without a serious warning.
    """
    if trusted is None:
        message = f"This is `{names[0]}`, which assumes least: none of {len(names)} estimates can be trusted."
        return Caution("chosen", "note", message, "Log more, or evaluate a policy closer to the logging one.")
    reason = f"of {len(names)} estimates that all agree it has the least standard error"
    if refuted is not None:
        reason = f"it has the least standard error of those before `{names[refuted]}`, which does not agree with them"
    unchecked = f" Nothing before `{names[trusted]}` can be trusted, so what that one assumes is not checked."
    return Caution(
        "chosen",
        "warning" if trusted else "note",
        f"This is `{names[chosen]}`: {reason} (SLOPE: values +- 2 standard errors must meet)."
        + (unchecked if trusted else ""),
        f"Which one is right no log can tell for sure, so the interval spans that of `{names[trusted]}` too.",
    )


def about_rewards(effective_rewards: float) -> Iterator[Caution]:
    """Warnings that follow from how many rewards the estimate rests on."""
    if effective_rewards == 0:
        yield Caution(
            "few-rewards",
            "serious",
            "No impression that counts for this policy earned anything, so the interval has no width.",
            "Log more; the value is near zero, but how near this log cannot say.",
        )
    elif effective_rewards < FEW_REWARDS:
        yield Caution(
            "few-rewards",
            "warning",
            f"The estimate rests on about {effective_rewards:.0f} rewarded impressions.",
            "Too few for a normal interval: use interval=bootstrap or bernstein, and log more.",
        )


def about_method(method: Method) -> Iterator[Caution]:
    """Warnings that follow from how the interval is made."""
    if method == "bernstein":
        yield Caution(
            "observed-range",
            "note",
            "The empirical Bernstein interval needs the range of the values, and takes the range that was observed.",
            "It is a guarantee only if no larger weight can occur, as with clip(...).",
        )


def about_ties(share: float) -> Iterator[Caution]:
    """Warnings of a target that does not say in which order it would show what it shows."""
    if share > 0:
        yield Caution(
            "ties",
            "note",
            f"In {share:.2%} of the impressions items that the new policy would show have the same score as another "
            "candidate. Which of them comes first is not known, so each order counts the same.",
            "Write scores that differ, or the ranking itself: ranking(column).",
        )


CLICKS_NOT_REWARD = Caution(
    "clicks-not-reward",
    "note",
    "This estimator corrects click by click and estimates clicks; the log's rewards are something else.",
    "Compare it with other click estimates only, or log the reward of each item as its click.",
)

COUNTED = Caution(
    "counted-propensities",
    "note",
    "The logging probabilities were counted in the log itself, so their own error is not in the intervals.",
    "Log propensities with every impression.",
)
