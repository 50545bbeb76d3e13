"""What may be done about weights, as it fits the estimator and the log."""

from __future__ import annotations

from ..options import estimator
from .evidence import OfEstimate

CLOSER = "evaluate a policy closer to the logging one"


def items_help(slots: int, kind: str) -> bool:
    """Whether an estimator of items could do better: slates are weighted, and the log has clicks in several slots."""
    return slots > 1 and kind == "slates"


def log_more(found: OfEstimate) -> str:
    """For too few rows that count."""
    if found.kind == "logged":
        return "Log more."
    if not items_help(found.slots, found.kind):
        return f"Log more, or {CLOSER}."
    items = f"{estimator('ipm')}, {estimator('interpol(window=1)')}"
    return f"Log more, {CLOSER}, or use an item-level estimator ({items})."


def clip(found: OfEstimate) -> str:
    """How to bound its weights."""
    return f"clip the weights ({estimator(found.bounded)})"
