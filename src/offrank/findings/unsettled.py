"""`unsettled`: the bound of its rounds ended the learning of a click model, and not its tolerance."""

from .evidence_clicks import FitEvidence
from .registry import Statement, finding


@finding("unsettled", "Convergence", lambda found: not found.settled, cause="click model")
def unsettled(found: FitEvidence) -> Statement:
    return Statement(
        "warning",
        f"Not converged after {found.rounds:,} iterations: more iterations would change the estimates by more than "
        "the tolerance, and the intervals do not allow for it.",
        "Use a larger tolerance=, or a log that determines the model's parameters better.",
    )
