"""`odd-examination`: an examination curve that rises. Only ratios of its values matter, not its scale."""

from itertools import accumulate

from ..wording import EstimatorOption, Wording
from .evidence import CurveEvidence
from .registry import Statement, finding

ODD_RISE = 1.2
"""Ratio to the smallest value above; smaller rises are within the error of a harvested curve."""
ABSURD_RISE = 2.0
"""Ratio to the first rank."""


@finding("odd-examination", "Examination curve", cause="assumption")
def odd_examination(found: CurveEvidence) -> Statement | None:
    curve = found.curve
    above = list(accumulate(curve, min))[:-1]
    rises = [here / least for least, here in zip(above, curve[1:], strict=True)]
    rise = max(rises, default=0.0)
    if not rise > ODD_RISE:
        return None
    lower = rises.index(rise) + 1
    upper = curve.index(above[lower - 1])
    return Statement(
        "serious" if max(curve) > ABSURD_RISE * curve[0] else "warning",
        f"The examination curve has rank {lower + 1} examined {rise:.3g} times as often as rank {upper + 1} above it.",
        Wording(
            "Check that the curve is correct and starts at the top rank. Compare with {}, which needs no curve.",
            EstimatorOption("ipm"),
        ),
    )
