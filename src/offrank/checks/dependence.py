"""What is to be known of rows that depend on each other: the clusters that were taken, or why none were."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..folds.clusters import Clusters
from ..folds.estimate import Caution
from ..inference.mean import Mean
from ..inference.registry import Method
from ..inference.spread import Spread

# Thresholds; docs/trust.md gives the reasons.
FEW_CLUSTERS = 20
VERY_FEW_CLUSTERS = 5
LARGE_DESIGN_EFFECT = 1.5


def about_dependence(spread: Spread, mean: Mean, weight: int, *, group: bool = False) -> Iterator[Caution]:
    """All that is to be said of the interval of a mean.

    weight: the column that says how much each row counts in it. group: it is of one of several groups of the log.
    """
    used, apart = spread.clustered(mean), spread.passed_over(mean)
    effect = spread.design_effect(mean, used)
    if used is not None:
        yield from about_few(used.column, len(used), effective_clusters(used, mean, weight))
        if spread.chosen and effect is not None:
            yield from about_effect(used.column, len(used), effect)
    if apart is None or (group and len(apart) == 1):
        return  # a group by the very column has but one of its values
    missed = spread.design_effect(mean, apart)
    found = about_independence(apart.column, len(apart), missed, spread.method)
    if used is None or (found.severity != "note" and (missed or 0.0) > (effect or 0.0)):
        yield found


def effective_clusters(clusters: Clusters, mean: Mean, weight: int) -> float:
    """How many clusters of one size these are worth: Satterthwaite's degrees of freedom + 1; g of one size, g.

    The lesser of two: by what a cluster holds of the denominator of the mean, and of the weights.
    """
    return 1 + min(clusters.freedom(mean.denominator), clusters.freedom(weight))


def about_few(column: str, clusters: int, effective: float) -> Iterator[Caution]:
    """Warnings of too few clusters. effective: how many of one size they are worth."""
    worth = round(effective, 6)
    if worth >= FEW_CLUSTERS:
        return
    only = f"The log has only about {clusters} clusters (values of `{column}`)"
    unlike = f", so unlike in size or weight that they are worth about {worth:.1f}" if worth < 0.9 * clusters else ""
    yield Caution(
        "few-clusters",
        "serious" if worth < VERY_FEW_CLUSTERS else "warning",
        f"{only}{unlike}." if clusters > 1 else f"The log has only one cluster (value of `{column}`).",
        "Log more of them, or cluster by something finer.",
    )


def about_effect(column: str, clusters: int, design_effect: float) -> Iterator[Caution]:
    """What is to be known of clusters that nobody asked for."""
    if design_effect > LARGE_DESIGN_EFFECT:
        yield Caution(
            "clustered",
            "note",
            f"Rows with the same `{column}` are alike (design effect {design_effect:.1f}): the interval is made from "
            f"the sums of about {clusters:,} clusters.",
            "Keep it, unless the question is about these very values and no others: then cluster=None (--cluster none) "
            "takes rows as independent. cluster='column' names another column.",
        )


def about_independence(column: str, clusters: int, design_effect: float | None, method: Method) -> Caution:
    """Why rows count as independent that may not be."""
    effect, most = design_effect or 1.0, _most_by_chance(clusters - 1)
    reason = f"The log has only {clusters} value{'s' if clusters > 1 else ''} of `{column}`, too few to cluster by"
    remedy = f"Log more of them; cluster={column!r} gives the wide interval that so few allow."
    if method == "bernstein":
        reason = "Bernstein intervals take no clusters"
        remedy = "Use interval=normal or bootstrap, which cluster by it."
    return Caution(
        "unclustered",
        "warning" if effect > most else "note",
        f"{reason}: rows count as independent, and the interval speaks of these values of `{column}` only"
        + (f" (design effect {effect:.1f})." if clusters > 1 else "."),
        remedy,
    )


def _most_by_chance(freedom: int) -> float:
    """The design effect that one log in a hundred of independent rows exceeds."""
    from scipy.special import chdtri

    return float(chdtri(freedom, 0.01)) / freedom if freedom > 0 else math.inf
