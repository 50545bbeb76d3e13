"""Guardrails: outcomes that a ranking may harm by less than a margin, and whether a log shows that it does not."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Literal

from ..errors import UsageError
from ..frames import plain
from ..sums.estimate import Interval
from .verdict import Verdict

State = Literal["holds", "broken", "not shown"]
_TEXT = re.compile(r"^\s*(?P<outcome>[^<>]+?)\s*(?P<side>[<>])\s*(?P<bound>[^<>]+?)\s*(?P<unit>%|units?)?\s*$")


@dataclass(frozen=True)
class Guardrail:
    """What an outcome may change: above a bound (`revenue > -1%`), or below it (`refunds < 2%`).

    outcome: its name. share: whether the bound is one of the mean that is compared with, else in units of the outcome.
    """

    outcome: str
    above: bool
    bound: float
    share: bool

    @classmethod
    def of(cls, text: object) -> Guardrail:
        """Return the guardrail of a text.

        Raises:
            UsageError: it is none, or its bound has no unit.
        """
        found = _TEXT.match(text) if isinstance(text, str) else None
        try:
            bound = float(found["bound"]) if found else math.nan
        except ValueError:
            bound = math.nan
        if found is None or not math.isfinite(bound):
            raise UsageError(f"{text!r} is no guardrail", "name an outcome and a bound: 'revenue > -1%'")
        if found["unit"] is None:
            raise UsageError(
                f"the bound of the guardrail {text!r} has no unit",
                f"write '{bound:g}%' for a share of what it is compared with, or '{bound:g} units' of the outcome",
            )
        share = found["unit"] == "%"
        return cls(found["outcome"], found["side"] == ">", bound / 100 if share else bound, share)

    def __str__(self) -> str:
        bound = f"{100 * self.bound:g}%" if self.share else f"{self.bound:g} units"
        return f"{self.outcome} {'>' if self.above else '<'} {bound}"

    def state(self, change: Interval | None) -> State:
        """Whether it holds for every value of an interval, for none, or that is not shown."""
        if change is None:
            return "not shown"
        sign = 1 if self.above else -1
        worst, best = sorted((sign * change.low, sign * change.high))
        return "holds" if worst > sign * self.bound else "broken" if best < sign * self.bound else "not shown"


@dataclass(frozen=True)
class Guarded:
    """What a log shows of a guardrail.

    - decision: the target, or the two that are compared. trust: in what is shown.
    - change: of the outcome, at a level by which all guardrails hold together.
    """

    guardrail: Guardrail
    decision: str
    state: State
    change: Interval | None
    trust: str

    @classmethod
    def of(cls, rail: Guardrail, name: str, verdict: Verdict) -> Guarded:
        """Return what a verdict on its outcome shows."""
        change = None if verdict.trust == "none" else verdict.relative if rail.share else verdict.difference
        return cls(rail, name, rail.state(change), change, verdict.trust)

    @property
    def passes(self) -> bool:
        """Whether it is soundly shown to hold."""
        return self.state == "holds" and self.trust == "sound"

    @property
    def said(self) -> str:
        """Return what is shown of it, for a gate."""
        return f"the guardrail {str(self.guardrail)!r} is {self.state!r} of {self.decision}, trust {self.trust!r}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        change = plain(self.change)
        known = {"guardrail": str(self.guardrail), "outcome": self.guardrail.outcome, "decision": self.decision}
        return {**known, "state": self.state, "trust": self.trust, "change": change}
