"""Outcomes beside the reward on a page: what is decided of each, and whether the guardrails hold."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings.guardrails import Guarded
from ...language.formatting import Span, quote
from ...report.document import Answer, Figures, Section
from ..estimates import ResultData

_STATES = {"holds": ("Holds", "ok"), "broken": ("Broken", "serious"), "not shown": ("Not shown to hold", "warning")}


def guardrail_answers(found: ResultData) -> Iterator[Answer]:
    """Say of each guardrail whether it holds, or else that it stands against the ranking."""
    several = len(found.guardrails) > 1
    for one in found.guardrails:
        said, severity = _STATES[one.state]
        if one.state == "holds" and one.trust != "sound":
            said, severity = "Holds, with care", "warning"
        rail = one.guardrail
        text = f"**{said}:** the guardrail {quote(str(rail))}, of {quote(one.decision)}. {_change(one)}"
        aside = f" All {len(found.guardrails)} guardrails hold jointly (Bonferroni)." if several else ""
        yield Answer(text + aside, severity=severity)


def _change(one: Guarded) -> str:
    """Say what the log shows of the outcome, and what that means for the guardrail."""
    outcome = quote(one.guardrail.outcome)
    if one.change is None:
        why = "no number of it is to be used" if one.trust == "none" else "its mean is not clearly above 0"
        return f"{outcome}: {why}, so that this log cannot pass it."
    span = Span.of(one.change)
    value, ends = span.percents() if one.guardrail.share else (span.number(signed=True), span.interval(signed=True))
    more = "" if one.state != "not shown" else ": a log of more rows may tell"
    return f"{outcome} changes by {value} ({ends}){more}."


def outcomes_section(found: ResultData) -> Section:
    """Tabulate what is decided of each outcome beside the reward."""
    rows = []
    for name, result in found.outcomes.items():
        for decided, verdict in result.decisions.items():
            change, part = Span.of(verdict.difference), Span.of(verdict.relative)
            numbers = change.number(signed=True), change.interval(signed=True), *part.percents()
            label = name if len(result.decisions) == 1 else f"{name}: {decided}"
            rows.append((label, verdict.estimator or "", *numbers, verdict.decision, verdict.trust))
    header = ("outcome", "estimator", "change", "interval", "relative", "interval", "decision", "trust")
    return Section("Other outcomes", tables=(Figures("", header, tuple(rows), extra=((2, 3), (1,))),))
