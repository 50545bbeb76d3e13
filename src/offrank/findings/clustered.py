"""`clustered`: clusters that were chosen automatically, and their effect on the interval."""

from ..wording import Option, Wording
from .evidence import ClustersEvidence
from .registry import Statement, finding

LARGE_DESIGN_EFFECT = 1.5


@finding("clustered", "Clusters", cause="dependence")
def clustered(found: ClustersEvidence) -> Statement | None:
    effect = found.design_effect
    if found.column is None or not found.chosen or effect is None or not effect > LARGE_DESIGN_EFFECT:
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
