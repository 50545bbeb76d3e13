"""`shared-users`: users with rows in several arms of an experiment."""

from ..formatting import percent
from .evidence_rows import SharedUnitsEvidence
from .registry import Statement, finding

FEW = 0.01
"""Share of the users that may be in several arms by new cookies or devices."""
BY_USER = 0.25
"""Of the share that there would be if chance drew the arm of each row: with less, users kept their arm."""


@finding("shared-users", "Users in several arms", lambda found: found.shared > 0, cause="arms")
def shared_users(found: SharedUnitsEvidence) -> Statement:
    """Who has met both rankers behaves by both, and the means of the arms are of partly the same users."""
    said = f"Of the values of `{found.unit}` with several rows, {percent(found.shared)} are in more than one arm of "
    said += f"`{found.column}`"
    if found.shared >= BY_USER * found.by_row:
        return Statement(
            "note",
            f"{said}: the arm was drawn by impression or visit. What one ranker shows may change what the same user "
            "does under the other.",
            f"If the test was to be randomised by `{found.unit}`, its assignment is broken; else this is as designed.",
        )
    return Statement(
        "note" if found.shared <= FEW else "warning",
        f"{said}, while the others kept their arm. If the test was randomised by `{found.unit}`, this is a fault: they "
        "met both rankers, which blurs the difference of the arms.",
        "Find out why their arm changed (new cookies, another device, a new assignment), or remove their rows.",
    )
