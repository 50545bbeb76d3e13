"""`unclustered`: rows that are treated as independent but may not be."""

import math

from ..wording import Option, Wording
from .evidence import ClustersEvidence
from .registry import Statement, finding

CHANCE = 0.01
"""Share of logs of independent rows whose design effect triggers a warning."""


@finding("unclustered", "Clusters", cause="dependence")
def unclustered(found: ClustersEvidence) -> Statement | None:
    if found.apart is None or (found.group and found.values == 1):
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
