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
        f"Rows with the same `{found.column}` are alike (design effect {effect:.1f}): the interval is made from the "
        f"sums of about {found.clusters:,} clusters.",
        Wording(
            "Keep it, unless the question is about these very values and no others: then {} takes rows as "
            "independent. {} names another column.",
            Option("cluster", None),
            Option("cluster", "column"),
        ),
    )
