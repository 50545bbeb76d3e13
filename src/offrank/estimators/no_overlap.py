"""The refusal of an estimate whose weights are all zero, and the bound on weights that remedies suggest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..errors import NoOverlapError
from ..findings.weights import items_help
from ..policies.base import Policy
from ..wording import EstimatorOption, Option, Wording
from .base import Estimator
from .cuts import Clip

_LONG = 20
"""From so many slots a slate's weight may be too small to be summed, and not only 0."""
_BOUND = 100.0
"""The largest weight that a remedy suggests."""


def no_overlap(target: Policy, estimator: Estimator, n: int, slots: int, *, cancelled: bool) -> NoOverlapError:
    """Return the refusal. n: rows. slots: ranks with clicks. cancelled: whether weights below 0 cancel the others."""
    kind = estimator.kind
    if kind.weighs == "model":
        return NoOverlapError(
            f"{estimator!r}: the model was trained on nothing that {target!r} shows, in any of {n:,} impressions",
            Wording("fit it to a log with the same queries and items, or by item alone ({})", Option("by", None)),
        )
    if cancelled:  # pseudoinverse weights may be negative
        return NoOverlapError(
            f"{estimator!r}: the sum of the weights of {n:,} impressions is not positive for {target!r}; it should "
            f"be about {n:,}",
            "log more, or evaluate a policy that is closer to the logging policy",
        )
    if (bound := kind.bound) is not None and bound.drops is not None:
        return NoOverlapError(
            f"{estimator!r}: none of {n:,} impressions has a positive weight of at most {bound.drops:g} for {target!r}",
            ("use the prediction alone, " if kind.predicts else "")
            + f"raise the {bound.parameter}, evaluate a policy that is closer to the logging policy, or log more "
            "randomly",
        )
    never = "never shows" if slots < _LONG or kind.weighs != "slates" else "never, or almost never, shows"
    items = "use an item-level estimator (ipm, interpol(window=2), pbm), "
    return NoOverlapError(
        f"{estimator!r}: {target!r} {never} what was logged, in any of {n:,} impressions",
        (items if items_help(slots, kind.weighs) else "")
        + Wording(
            "evaluate a policy that is closer to the logging policy, or log more randomly. Without randomness, a "
            "click model can give weights ({}), and `evaluate` can bound the value ({})",
            EstimatorOption("weights(dbn)"),
            Option("bounds", True),
        ),
    )


def with_bound(estimator: Estimator) -> Estimator:
    """Return the estimator with clipped weights, or with a clipped correction of its model."""
    whole: Any = estimator
    plain = whole.unnormalised
    if (weighting := plain.weighting) is None or plain.kind.weighs == "logged":
        return estimator
    bounded = Clip(weighting, _BOUND)
    if weighting is not plain:
        [correction] = [name for name, part in vars(plain).items() if part is weighting]
        bounded = replace(plain, **{correction: bounded})
    return bounded if plain is whole else replace(whole, base=bounded)
