"""`disagreement`: an estimator that differs from one which assumes less, further than chance would have it."""

from __future__ import annotations

from .evidence import OfDisagreement
from .registry import Said, finding

ODD = 4.0
"""Standard errors of the difference; with some ten pairs, chance gives fewer than one such in a thousand logs."""
VISIBLE = 0.25
"""Of the width of the estimate's interval."""


def contradicts(found: OfDisagreement) -> bool:
    """Whether the difference is neither chance nor too small to matter."""
    return found.away > ODD and found.difference > VISIBLE * found.width


@finding("disagreement", "Disagreement")
def disagreement(found: OfDisagreement) -> Said | None:
    if not contradicts(found):
        return None
    far = f"{found.away:.1f}" if found.away < 1000 else "over 1,000"
    return Said(
        "serious",
        f"It differs from `{found.other}`, which assumes less of users, by {far} standard errors of their difference.",
        "What it assumes beyond that is wrong here (the examination curve, that a click depends on its own item only, "
        "or the click model): believe the one that assumes less.",
    )
