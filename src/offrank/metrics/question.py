"""What is asked of a log by metrics: every argument of `measure`, once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..inference.arguments import Intervals
from ..language.argument import argument, arguments
from ..language.spelling import listed

if TYPE_CHECKING:
    from ..policies.propensities import AnyPolicy

Models = str | Sequence[str]


@arguments
class MetricsQuestion(Intervals):  # noqa: D101
    # How well models agree with clicks, by which metrics: the arguments of `measure`.

    score: Models = argument(
        "A model's scores; differences are to the first.", kw_only=False, many=True, spells="column", metavar="SCORE"
    )
    logging: str | AnyPolicy = argument(
        "The policy that drew the log.",
        default="logged",
        kw_only=False,
        more="Metrics use its law of the order of the shown items given the set of these (`counterfactual_...`) or "
        "its probability of each candidate at each rank (`banner_...`).",
        spells="policy",
    )
    metrics: Any = argument(
        "counterfactual_disagreement, pairwise_loss, banner_ndcg ...",
        default=("counterfactual_disagreement",),
        kw_only=False,
        more="Spellings such as `counterfactual_loss(form=hinge)` or `counterfactual_disagreement(several=unclicked)`; "
        "see `offrank.metrics.Comparison`.",
        flags=("-m", "--metric"),
        metavar="METRIC",
        many=True,
        read=listed,
    )
