"""`few-clusters`: an interval from too few clusters."""

from .evidence import ClustersEvidence
from .registry import Statement, finding

FEW = 20
"""Effective number of clusters."""
VERY_FEW = 5
_UNLIKE = 0.9
"""Ratio of effective to actual clusters below which their unequal size is mentioned."""


@finding("few-clusters", "Clusters", cause="dependence")
def few_clusters(found: ClustersEvidence) -> Statement | None:
    worth = round(found.effective, 6)
    if found.column is None or worth >= FEW:
        return None
    only = f"The log has only about {found.clusters} clusters (values of `{found.column}`)"
    unlike = f", which carry the information of about {worth:.1f} equal ones"
    message = f"{only}{unlike if worth < _UNLIKE * found.clusters else ''}."
    return Statement(
        "serious" if worth < VERY_FEW else "warning",
        message if found.clusters > 1 else f"The log has only one cluster (value of `{found.column}`).",
        "Log more clusters, or cluster by a finer column.",
    )
