"""The refusal of an estimate whose weights are all zero, and the bound on weights that remedies suggest."""

from __future__ import annotations

from ..errors import NoOverlapError
from ..findings.advice import items_help
from ..policies.propensities import AnyPolicy
from ..wording import EstimatorOption, Option, Wording
from .base import Estimator
from .clip import Clip
from .wrappers import SelfNormalised, weights_of, without_normalisation, wrapped

AnyEstimator = Estimator | SelfNormalised
_LONG = 20
"""From so many slots a slate's weight may be too small to be summed, and not only 0."""
_BOUND = 100.0
"""The largest weight that a remedy suggests."""


def no_overlap(target: AnyPolicy, estimator: AnyEstimator, n: int, slots: int, *, cancelled: bool) -> NoOverlapError:
    """Return the refusal. n: rows. slots: ranks with clicks. cancelled: whether weights below 0 cancel the others."""
    weighed = weights_of(estimator)
    if weighed is None:
        return NoOverlapError(
            f"{estimator!r}: the model has learnt of nothing that {target!r} shows, in any of {n:,} impressions",
            Wording("fit it to a log with the same queries and items, or by items alone ({})", Option("by", None)),
        )
    if cancelled:  # pseudoinverse weights may be negative
        return NoOverlapError(
            f"{estimator!r}: the weights of {n:,} impressions add up to nothing or less for {target!r}, where "
            "their number is expected",
            "log more, or evaluate a policy closer to the logging one",
        )
    if (bound := weighed.bound) is not None and bound.drops is not None:
        return NoOverlapError(
            f"{estimator!r}: none of {n:,} impressions has a weight for {target!r} that is above 0 and at most "
            f"{bound.drops:g}",
            ("ask for the prediction alone, " if without_normalisation(estimator).predicts else "")
            + f"raise the {bound.parameter}, evaluate a policy closer to the logging one, or log more randomly",
        )
    never = "never does" if slots < _LONG or weighed.weighs != "slates" else "never, or too seldom to count, does"
    items = "use an item-level estimator (ipm, interpol(window=2), pbm), "
    return NoOverlapError(
        f"{estimator!r}: {target!r} {never} what was logged, in any of {n:,} impressions",
        (items if items_help(slots, weighed.weighs) else "")
        + Wording(
            "evaluate a policy closer to the logging one, or log more randomly. Without randomness a click model can "
            "weigh ({}), and `evaluate` can say between what values it lies ({})",
            EstimatorOption("weights(dbn)"),
            Option("bounds", True),
        ),
    )


def with_bound(estimator: AnyEstimator) -> AnyEstimator:
    """Return the estimator with clipped weights, or with a clipped correction of its model."""
    return wrapped(estimator, lambda inner: inner.with_weights(lambda weighed: Clip(weighed, _BOUND)))
