"""How the rows of a mean depend on each other: the clusters that were taken, and those that were passed over."""

from __future__ import annotations

from dataclasses import replace

from ..findings.evidence import OfClusters
from ..folds.clusters import Clusters
from ..inference.ratio import Mean
from ..inference.spread import Spread


def dependence(spread: Spread, mean: Mean, weight: int, *, group: bool = False) -> OfClusters:
    """What is known of the clusters of a mean.

    weight: the column that says how much each row counts in it. group: it is of one of several groups of the log.
    """
    found = OfClusters(method=spread.method, group=group, chosen=spread.chosen)
    if (used := spread.clustered(mean)) is not None:
        effect = spread.design_effect(mean, used)
        worth = effective_clusters(used, mean, weight)
        found = replace(found, column=used.column, clusters=len(used), effective=worth, design_effect=effect)
    if (apart := spread.passed_over(mean)) is not None:
        missed = spread.design_effect(mean, apart)
        found = replace(found, apart=apart.column, values=len(apart), missed=missed)
    return found


def effective_clusters(clusters: Clusters, mean: Mean, weight: int) -> float:
    """How many clusters of one size these are worth: Satterthwaite's degrees of freedom + 1; g of one size, g.

    The lesser of two: by what a cluster holds of the denominator of the mean, and of the weights.
    """
    return 1 + min(clusters.freedom(mean.denominator), clusters.freedom(weight))
