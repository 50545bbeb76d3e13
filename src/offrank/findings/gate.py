"""What a gate asks of verdicts: that a ranking is better, or worse by less than a margin; and guardrails beside it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Literal, get_args

from ..errors import UsageError
from ..frames import plain
from ..language.formatting import Span
from ..sums.estimate import Interval
from ..wording import Option, Wording
from .reasons import IN_CLICKS
from .verdict import Verdict

State = Literal["holds", "broken", "not shown"]
_TEXT = re.compile(
    r"^\s*(?P<outcome>[^<>]+?)\s*(?P<side>[<>])\s*(?P<bound>[-+]?(?:\d+\.?\d*|\.\d+))\s*(?P<unit>%|units?)?\s*$"
)
Required = Literal["better", "not-worse"]
REQUIRED: tuple[str, ...] = get_args(Required)
"""What may be required."""
_SUCH_AS = Wording(
    "; use {}, a share of what it is compared with, or {}, in units of the reward",
    *(Option("margin", one) for one in ("1%", 0.01)),
)
_OTHER_OUTCOME = "ask for an estimator of the reward, such as snips, or omit the reward from the log if clicks count"


@dataclass(frozen=True)
class Guardrail:
    """What an outcome may change: above a bound (`revenue > -1%`), or below it (`refunds < 2%`).

    outcome: its name. share: whether the bound is one of the mean that is compared with, else in units of the outcome.
    written: the bound as it was given.
    """

    outcome: str
    above: bool
    bound: float
    share: bool
    written: str = field(default="", compare=False)

    @classmethod
    def of(cls, text: object) -> Guardrail:
        """Return the guardrail of a text.

        Raises:
            UsageError: it is none, or its bound has no unit.
        """
        found = _TEXT.match(text) if isinstance(text, str) else None
        if found is None:
            raise UsageError(f"{text!r} is no guardrail", "name an outcome and a bound: 'revenue > -1%'")
        bound = float(found["bound"])
        if found["unit"] is None:
            raise UsageError(
                f"the bound of the guardrail {text!r} has no unit",
                "write '{0}%' for a share of what it is compared with, or '{0} units' of it".format(found["bound"]),
            )
        share = found["unit"] == "%"
        written = found["bound"] + ("%" if share else " units")
        return cls(found["outcome"], found["side"] == ">", bound / 100 if share else bound, share, written)

    def __str__(self) -> str:
        return f"{self.outcome} {'>' if self.above else '<'} {self.written}"

    def change(self, verdict: Verdict) -> Interval | None:
        """The change of the outcome that it is held against; None where a verdict has none to rely on."""
        return None if verdict.trust == "none" else verdict.relative if self.share else verdict.difference

    def state(self, verdict: Verdict) -> State:
        """Whether it holds for every value of the interval, for none, or that is not shown."""
        if (change := self.change(verdict)) is None:
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
        return cls(rail, name, rail.state(verdict), rail.change(verdict), verdict.trust)

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


@dataclass(frozen=True)
class Gate:
    """A gate. margin: the guardrail on the reward that it stands for; None: `better`."""

    margin: Guardrail | None = None

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
        return cls(_margin(margin))

    def passes(self, verdict: Verdict) -> bool:
        """Whether a verdict on the reward is sound, and its interval above minus the margin; `better`: above 0."""
        if verdict.trust != "sound" or verdict.outcome == IN_CLICKS:
            return False
        return verdict.decision == "better" if self.margin is None else self.margin.state(verdict) == "holds"

    def said(self, verdict: Verdict) -> str:
        """Say of a verdict what the gate looks at."""
        text = f"{verdict.decision!r}, trust {verdict.trust!r}"
        if verdict.outcome == IN_CLICKS:
            return f"{text}, but in clicks, not in the log's reward: {_OTHER_OUTCOME}"
        if self.margin is None or verdict.trust == "none":
            return text
        away = Span.of(self.margin.change(verdict))
        ends = (away.percents if self.margin.share else away.parts)(True, self.margin.bound)[1]
        return f"{text}, with a change of {ends}"


def _margin(given: str | float) -> Guardrail:
    """Return the guardrail that a margin stands for.

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
        return Guardrail("reward", True, -size, relative)
    raise UsageError(
        f"{given!r} is no margin: it is above 0, and a share below 100 %",
        Wording("give a number or a percentage{}", _SUCH_AS),
    )
