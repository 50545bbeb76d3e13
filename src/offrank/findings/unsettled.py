"""`unsettled`: the bound of its rounds ended the learning of a click model, and not its tolerance."""

from .evidence_clicks import FitEvidence
from .registry import Statement, finding


@finding("unsettled", "Learning that did not settle", lambda found: not found.settled, cause="click model")
def unsettled(found: FitEvidence) -> Statement:
    return Statement(
        "warning",
        f"Learning stopped after {found.rounds:,} rounds, before its numbers had settled. More rounds would have "
        "changed them by more than the tolerance, and intervals do not allow for it.",
        "Take a larger tolerance=, or a log that tells the tables of this model apart.",
    )
