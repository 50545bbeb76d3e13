"""Rows that depend on each other: the clusters of an interval."""

import math

from ..wording import Option, Wording
from .evidence import ClustersEvidence
from .registry import Statement, finding

LARGE_DESIGN_EFFECT = 1.5


@finding("clustered", "Clusters", lambda found: found.column is not None and found.chosen, cause="dependence")
def clustered(found: ClustersEvidence) -> Statement | None:
    effect = found.design_effect
    if effect is None or not effect > LARGE_DESIGN_EFFECT:
        return None
    return Statement(
        "note",
        f"Rows with the same `{found.column}` are correlated (design effect {effect:.1f}): the interval is computed "
        f"from the sums of about {found.clusters:,} clusters.",
        Wording(
            "Keep it, unless the question is about exactly these values: {} treats rows as independent, and {} "
            "names another column.",
            Option("cluster", None),
            Option("cluster", "column"),
        ),
    )


CHANCE = 0.01
"""Share of logs of independent rows whose design effect triggers a warning."""


@finding("unclustered", "Clusters", lambda found: found.apart is not None, cause="dependence")
def unclustered(found: ClustersEvidence) -> Statement | None:
    if found.group and found.values == 1:
        return None  # a group of this column has only one of its values
    effect, column = found.missed or 1.0, found.apart
    severe = effect > most_by_chance(found.values - 1)
    if found.column is not None and not (severe and effect > (found.design_effect or 0.0)):
        return None
    reason = f"The log has only {found.values} value{'s' if found.values > 1 else ''} of `{column}`, too few to cluster"
    reason, remedy = (
        f"{reason} by",
        Wording("Log more values, or use {} for the wide interval.", Option("cluster", column)),
    )
    if found.method == "bernstein":
        reason = "Bernstein intervals cannot use clusters"
        remedy = Wording("Use {} or bootstrap, which cluster by this column.", Option("interval", "studentised"))
    return Statement(
        "warning" if severe else "note",
        f"{reason}: rows are treated as independent, and the interval applies to these values of `{column}` only"
        + (f" (design effect {effect:.1f})." if found.values > 1 else "."),
        remedy,
    )


def most_by_chance(freedom: int) -> float:
    """The design effect that one log in a hundred of independent rows exceeds."""
    from scipy.special import chdtri

    return float(chdtri(freedom, CHANCE)) / freedom if freedom > 0 else math.inf


FEW_CLUSTERS = 20
"""Effective number of clusters."""
VERY_FEW = 5
_UNLIKE = 0.9
"""Ratio of effective to actual clusters below which their unequal size is mentioned."""


@finding(
    "few-clusters",
    "Clusters",
    lambda found: found.column is not None and round(found.effective, 6) < FEW_CLUSTERS,
    cause="dependence",
)
def few_clusters(found: ClustersEvidence) -> Statement:
    worth = round(found.effective, 6)
    only = f"The log has only about {found.clusters} clusters (values of `{found.column}`)"
    unlike = f", which carry the information of about {worth:.1f} equal ones"
    message = f"{only}{unlike if worth < _UNLIKE * found.clusters else ''}."
    return Statement(
        "serious" if worth < VERY_FEW else "warning",
        message if found.clusters > 1 else f"The log has only one cluster (value of `{found.column}`).",
        "Log more clusters, or cluster by a finer column.",
    )
