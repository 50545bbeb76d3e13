"""The refusal of an estimate whose weights are all zero, and what the weights are of."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from ..errors import NoOverlapError
from ..estimators.base import Estimator, Weighted
from ..estimators.bounded import Bounded
from ..estimators.clip import Clip, clip
from ..estimators.doubly_robust import DoublyRobust
from ..estimators.items import IPM, Interpol, PositionBased
from ..estimators.logged import LoggedMean
from ..estimators.switch import Switch
from ..estimators.wrappers import SelfNormalised, bare, weighing
from ..findings.advice import items_help
from ..policies.propensities import AnyPolicy
from ..wording import Option, Wording

AnyEstimator = Estimator | SelfNormalised
_BOUND = 100.0
"""The largest weight that a remedy suggests."""


def no_overlap(target: AnyPolicy, estimator: AnyEstimator, n: int, slots: int, *, cancelled: bool) -> NoOverlapError:
    """Return the refusal. n: rows. slots: ranks with clicks. cancelled: whether weights below 0 cancel the others."""
    weighed = weighing(estimator)
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
    if isinstance(weighed, Switch):
        return NoOverlapError(
            f"{estimator!r}: none of {n:,} impressions has a weight for {target!r} that is above 0 and at most "
            f"{weighed.threshold:g}",
            ("ask for the prediction alone, " if isinstance(bare(estimator), DoublyRobust) else "")
            + "raise the threshold, evaluate a policy closer to the logging one, or log more randomly",
        )
    items = "use an item-level estimator (ipm, interpol(window=2), pbm), "
    return NoOverlapError(
        f"{estimator!r}: {target!r} never does what was logged, in any of {n:,} impressions",
        (items if items_help(slots, kind_of(weighed)) else "")
        + "evaluate a policy closer to the logging one, or log more randomly",
    )


def kind_of(weighed: Weighted | None) -> Literal["slates", "items", "model", "logged"]:
    """Return what an estimator weights, as in `OfEstimate`."""
    while isinstance(weighed, Bounded):
        weighed = weighed.base
    if weighed is None or isinstance(weighed, LoggedMean):
        return "model" if weighed is None else "logged"
    return "items" if isinstance(weighed, IPM | Interpol | PositionBased) else "slates"


def with_bound(estimator: AnyEstimator) -> AnyEstimator:
    """Return the estimator with clipped weights, or with a clipped correction of its model."""
    plain = bare(estimator)
    if not isinstance(plain, DoublyRobust):
        return estimator if isinstance(plain, LoggedMean) else clip(estimator, _BOUND)
    inner = replace(plain, residual=Clip(plain.residual, _BOUND))
    return replace(estimator, base=inner) if isinstance(estimator, SelfNormalised) else inner
