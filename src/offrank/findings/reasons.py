"""The reasons of a verdict: findings in the order in which they should be read, each cause once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..sums.estimate import Caution
from ..wording import joined
from .registry import SEVERITIES, has_cause

MOST_REASONS = 3
IN_CLICKS = "clicks"
"""The outcome of numbers of clicks where the log has a reward that is not their sum."""


@dataclass(frozen=True)
class Reason:
    """A reason not to trust an answer, or only with care: a finding and the estimators concerned (none: the log)."""

    code: str
    message: str
    remedy: str
    estimators: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The code, the message and the remedy."""
        return joined(" ", (f"{self.code}:", self.message, self.remedy))

    def __str__(self) -> str:
        return str(self.text)


def first_words(outcome: str) -> str:
    """What is said before any number: that it is in clicks, where the log has a reward that is not their sum."""
    return "In clicks, not in the log's reward: " if outcome == IN_CLICKS else ""


def against_all(found: Iterable[tuple[str, Caution]], about_log: Iterable[Caution]) -> tuple[Reason, ...]:
    """The reasons why there is no answer: faults of the log, then of the estimates. found: (estimator, caution)."""
    of_log = [one for one in about_log if one.severity == "serious"]
    serious = [(name, one) for name, one in found if one.severity == "serious"]
    if of_log:  # which explains what the weights of an estimate say
        serious = [(name, one) for name, one in serious if not has_cause(one, "mean weight")]
    ranked = reasons([*(("", one) for one in of_log), *serious])
    return tuple(ranked[:MOST_REASONS]) or (Reason("no-interval", "No estimate has an interval.", "Log more."),)


def reasons(found: Iterable[tuple[str, Caution]]) -> list[Reason]:
    """The findings as reasons: each code once with all its estimators, causes before consequences.

    Too little overlap is one reason, and the last: any fault may lead to it.
    """
    by_code: dict[str, list[tuple[str, Caution]]] = {}
    for name, one in found:
        by_code.setdefault("too little overlap" if has_cause(one, "overlap") else one.code, []).append((name, one))
    ranked = []
    for place, same in enumerate(by_code.values()):
        _, worst = min(same, key=lambda one: SEVERITIES[one[1].severity])
        names = tuple(dict.fromkeys(name for name, one in same if name and one.code == worst.code))
        of_log = any(not name for name, _ in same)
        key = (SEVERITIES[worst.severity], not of_log, has_cause(worst, "overlap"), -len(names), place)
        ranked.append((key, Reason(worst.code, worst.message, worst.remedy, () if of_log else names)))
    return [reason for _, reason in sorted(ranked, key=lambda one: one[0])]
