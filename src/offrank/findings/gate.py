"""What a gate asks of verdicts: that a ranking is better, or that it is worse by less than a margin that was said."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Literal, get_args

from ..errors import UsageError
from ..language.formatting import Span
from ..wording import Option, Wording
from .reasons import IN_CLICKS
from .verdict import Verdict

Required = Literal["better", "not-worse"]
REQUIRED: tuple[str, ...] = get_args(Required)
"""What may be required."""
_SUCH_AS = Wording(
    "; use {}, a share of what it is compared with, or {}, in units of the reward",
    *(Option("margin", one) for one in ("1%", 0.01)),
)
_OTHER_OUTCOME = "ask for an estimator of the reward, such as snips, or omit the reward from the log if clicks count"


@dataclass(frozen=True)
class Gate:
    """A gate. margin: above 0, a share of the other mean if `relative`, else in units of the reward; None: `better`."""

    margin: float | None = None
    relative: bool = False

    @classmethod
    def of(cls, required: str, margin: str | float | None = None) -> Gate:
        """Return the gate that asks for this. margin: such as "1%", or 0.01 in units of the reward.

        Raises:
            UsageError: it cannot be required, the margin is missing, or there is no use for it.
        """
        if required not in REQUIRED:
            raise UsageError(f"{required!r} cannot be required", f"use one of {', '.join(REQUIRED)}")
        if required == "better":
            if margin is not None:
                raise UsageError(
                    "`better` takes no margin: it asks for an interval above 0", "omit it, or require not-worse"
                )
            return cls()
        if margin is None:
            raise UsageError(
                "`not-worse` needs a margin: a log that shows little would let a ranking pass that is far worse",
                Wording("choose how much worse it may be{}", _SUCH_AS),
            )
        return cls(*_margin(margin))

    def passes(self, verdict: Verdict) -> bool:
        """Whether a verdict on the reward is sound, and its interval's low end above minus the margin; `better`: 0."""
        low = self.low(verdict)
        if verdict.trust != "sound" or low is None or verdict.outcome == IN_CLICKS:
            return False
        return verdict.decision == "better" if self.margin is None else low > -self.margin

    def low(self, verdict: Verdict) -> float | None:
        """Return the low end of the interval that it looks at; None where that is not known."""
        away = verdict.relative if self.relative else verdict.difference
        return None if away is None else away.low

    def said(self, verdict: Verdict) -> str:
        """Say of a verdict what the gate looks at."""
        text = f"{verdict.decision!r}, trust {verdict.trust!r}"
        if verdict.outcome == IN_CLICKS:
            return f"{text}, but in clicks, not in the log's reward: {_OTHER_OUTCOME}"
        if self.margin is None or verdict.trust == "none":
            return text
        away = Span.of(verdict.relative if self.relative else verdict.difference)
        ends = away.percents()[1] if self.relative else away.interval(signed=True)
        return f"{text}, with a change of {ends}"


def _margin(given: str | float) -> tuple[float, bool]:
    """Return the size of a margin, and whether it is a share.

    Raises:
        UsageError: it is none, or lets everything pass.
    """
    text = given.strip() if isinstance(given, str) else ""
    relative = text.endswith("%")
    try:
        size = float(text.removesuffix("%")) / (100 if relative else 1) if text else float(given)
    except (TypeError, ValueError):
        size = math.nan
    known = isinstance(given, str | Real) and not isinstance(given, bool)
    if known and 0 < size < (1 if relative else math.inf):
        return size, relative
    raise UsageError(
        f"{given!r} is no margin: it is above 0, and a share below 100 %",
        Wording("give a number or a percentage{}", _SUCH_AS),
    )
