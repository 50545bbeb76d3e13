"""Ranking metrics of ranked lists, of models on logged clicks, and of a model's dependence on the logging policy."""

from .cmip import Cmip, cmip
from .cmip_models import cmip_of
from .comparisons import Comparison
from .measured import Measured, Measurements
from .measurements import (
    banner_disagreement,
    counterfactual_disagreement,
    counterfactual_loss,
    counterfactual_ndcg,
    pairwise_disagreement,
)
from .ranking import average_precision, dcg, discount, err, mean, mrr, ndcg, ranked

__all__ = [
    "Cmip",
    "Comparison",
    "Measured",
    "Measurements",
    "average_precision",
    "banner_disagreement",
    "cmip",
    "cmip_of",
    "counterfactual_disagreement",
    "counterfactual_loss",
    "counterfactual_ndcg",
    "dcg",
    "discount",
    "err",
    "mean",
    "mrr",
    "ndcg",
    "pairwise_disagreement",
    "ranked",
]
