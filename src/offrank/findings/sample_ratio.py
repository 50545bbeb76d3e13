"""`sample-ratio`: an arm has another share of the impressions than was designed."""

from ..formatting import Span
from .evidence_rows import ArmsEvidence
from .registry import Statement, finding

MISMATCHED = 3.29
"""Deviates beyond which a right experiment has such a share in 1 of 1,000 logs, which is the usual bound: Fabijan and
others (2019), Diagnosing sample ratio mismatch in online controlled experiments."""


@finding("sample-ratio", "Shares of the arms", cause=("rows", "arms"))
def sample_ratio(found: ArmsEvidence) -> Statement | None:
    """Rows were lost, or added, in one arm more than in another: the arms no longer differ by chance alone."""
    away = {arm: share.deviation(said) for arm, (share, said) in found.shares.items()}
    worst = max(away, key=lambda arm: away[arm], default=None)
    if worst is None or not away[worst] > MISMATCHED:
        return None
    share, said = found.shares[worst]
    value, ends = Span.of(share).percents(signed=False)
    return Statement(
        "serious",
        f"Arm `{worst}` of `{found.column}` has {value} of the impressions ({ends}) "
        f"instead of the planned {100 * said:.4g} %: one arm has lost or gained rows, so "
        "the arms no longer differ by chance alone.",
        "Find out where the rows went, such as crashes, redirects, bots or filters that affect one arm more than "
        "another; or correct the planned shares.",
    )
