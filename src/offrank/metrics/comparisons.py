"""Metrics that compare a clicked item with other items, defined by the alternatives and the cost.

A metric is named `<against>_<cost>`, and every combination exists:

- `pairwise_...`: against the other items of the slate, each with the same weight. Valid for traffic that was
  shuffled uniformly; elsewhere items at the top are favoured (position bias).
- `counterfactual_...`: against the items that would be at the same rank if the slate's items were put in
  order again; paper non-shuffled-traffic, Algorithm 2, as an exact expectation without rejection.
- `banner_...`: the same, if the whole slate were drawn again; section 5.1.

- `..._disagreement`: 1 where the model scores the other item higher, 1/2 where it ties.
- `..._loss`: logistic (or hinge) loss of the difference of the scores; section 5.2.
- `..._ndcg`: the gain 1 / log2(1 + rank by the model) of the clicked item less that of the other one, on the
  scale of nDCG; section 5.2. On shuffled slates of one size it is their nDCG exactly.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, get_args

from ..errors import UsageError
from ..language.spelling import parse

Against = Literal["pairwise", "counterfactual", "banner"]
Cost = Literal["disagreement", "loss", "ndcg"]
Form = Literal["logistic", "hinge"]
Several = Literal["each", "unclicked", "single"]


@dataclass(frozen=True, repr=False)
class Comparison:
    """A metric of a model's scores: sum of costs / sum of comparison weights, over the clicks of a log.

    - against, cost: the alternatives and the cost (see the module).
    - form: of the loss, `logistic` or `hinge`.
    - several: the convention for slates with several clicks, which the paper does not cover. `each`: every
      click is compared with all other items, so that a pair counts for its better item at either rank.
      `unclicked`: only with items that were not clicked, as in usual pairwise metrics; the comparison of
      two items then depends on the rank of the other one, a trace of position bias. `single`: slates with
      one click only; the clicks of other slates count as not compared.
    - draws: 0 for the exact expectation, else that many orders drawn per slate (Algorithm 2), by `seed`.
    """

    against: Against
    cost: Cost
    form: Form = field(default="logistic", kw_only=True)
    several: Several = field(default="each", kw_only=True)
    draws: int = field(default=0, kw_only=True)
    seed: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        for name, kind in (("against", Against), ("cost", Cost), ("form", Form), ("several", Several)):
            if getattr(self, name) not in get_args(kind):
                raise UsageError(f"{name} is {getattr(self, name)!r}", "use " + ", ".join(get_args(kind)))
        if self.form != "logistic" and self.cost != "loss":
            raise UsageError(f"{self.name} has no form", "a form applies to losses only")
        if self.draws < 0 or (self.draws and self.against != "counterfactual"):
            raise UsageError(
                f"{self.name} with draws={self.draws}",
                "only counterfactual metrics draw orders. 0 computes the exact expectation, which is better than "
                "any number of draws",
            )

    @property
    def name(self) -> str:
        """The metric without its options."""
        return f"{self.against}_{self.cost}"

    def __repr__(self) -> str:
        defaults = {"form": "logistic", "several": "each", "draws": 0, "seed": 0}
        words = [f"{key}={getattr(self, key)}" for key, value in defaults.items() if getattr(self, key) != value]
        return f"{self.name}({', '.join(words)})" if words else self.name

    __str__ = __repr__


METRICS = {
    f"{against}_{cost}": partial(Comparison, against, cost) for against in get_args(Against) for cost in get_args(Cost)
}
"""The metrics by name."""

Metrics = str | Comparison | Iterable[str | Comparison]


def metric(spelling: str | Comparison) -> Comparison:
    """The metric with this spelling; a metric is returned as it is.

    Raises:
        SpellingError: not a metric's spelling.
    """
    found: Comparison = parse(spelling, METRICS, "metric") if isinstance(spelling, str) else spelling
    return found


def metrics(given: Metrics) -> tuple[Comparison, ...]:
    """The metrics of several spellings, without duplicates.

    Raises:
        UsageError: none.
    """
    several = [given] if isinstance(given, str | Comparison) else list(given)
    if not several:
        raise UsageError("there is no metric", "name at least one, such as counterfactual_disagreement")
    return tuple(dict.fromkeys(metric(one) for one in several))
