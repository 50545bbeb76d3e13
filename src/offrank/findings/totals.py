"""`totals`: the rows that were kept do not stand for the numbers of impressions that there were."""

import math

from .evidence_rows import KeptEvidence
from .registry import Statement, finding

FAR = 3.5
"""Standard errors: both numbers together are off in at most one right log in a thousand."""
NEAR = 0.005
"""Share of a total: an estimate is off by as much, which changes no decision."""


@finding("totals", "Rows against the true totals", lambda kept: kept.totals, cause="sampling")
def totals(kept: KeptEvidence) -> Statement | None:
    worst = None
    for which, true in sorted(kept.totals.items()):
        number, variance = kept.estimated(which)
        away = abs(number - true)
        far = away / math.sqrt(variance) if variance > 0 else math.inf
        if away > NEAR * true and far > FAR and (worst is None or far > worst[0]):
            worst = far, which, number, true
    if worst is None:
        return None
    far, which, number, true = worst
    what = "impressions with a click" if which == "clicked" else "impressions"
    said = f" ({far:.1f} standard errors apart)" if math.isfinite(far) else ""
    return Statement(
        "serious",
        f"The rows represent {number:,.0f} {what}, but there were {true:,.0f}{said}: the rates in `inclusion` are "
        "wrong, or rows are missing.",
        "Write the true share of such rows that was kept into `inclusion`, or use the whole log.",
    )
