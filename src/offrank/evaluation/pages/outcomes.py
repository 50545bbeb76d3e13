"""Outcomes beside the reward on a page: what is decided of each, and whether the guardrails hold."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings.gate import Guarded
from ...language.formatting import Span, quote
from ...report.document import Answer, Figures, Section
from ..estimates import ResultData
from .headline import SEVERITY_OF, TRUST, reason

_STATES = {"holds": ("Holds", "ok"), "broken": ("Broken", "serious"), "not shown": ("Not shown to hold", "warning")}


def guardrail_answers(found: ResultData) -> Iterator[Answer]:
    """Say of each guardrail whether it holds, or else that it stands against the ranking."""
    for at, one in enumerate(found.guardrails, 1):
        careful = one.state == "holds" and one.trust != "sound"
        said, severity = ("Holds, with care", "warning") if careful else _STATES[one.state]
        rail = one.guardrail
        text = f"**{said}:** the guardrail {quote(str(rail))}, of {quote(one.decision)}. {_change(one)}"
        last = at == len(found.guardrails) > 1
        said_above = found.decisions[one.decision].reasons
        new = (each for each in found.outcomes[rail.outcome].decisions[one.decision].reasons if each not in said_above)
        reasons = tuple(map(reason, new)) if one.trust != "sound" else ()
        yield Answer(text, f"The {at} intervals of guardrails hold jointly (Bonferroni)." * last, severity, reasons)


def _change(one: Guarded) -> str:
    """Say what the log shows of the outcome, and what that means for the guardrail."""
    outcome = quote(one.guardrail.outcome)
    if one.change is None:
        why = "no number of it is to be used" if one.trust == "none" else "its mean is not clearly above 0"
        return f"{outcome}: {why}, so that this log cannot pass it."
    span = Span.of(one.change)
    value, ends = (span.percents if one.guardrail.share else span.parts)(True, one.guardrail.bound)
    more = "" if one.state != "not shown" else ": a log of more rows may tell"
    return f"{outcome} changes by {value} ({ends}){more}."


def outcomes_section(found: ResultData) -> Section:
    """Tabulate what is decided of each outcome beside the reward."""
    rows, told, guarded = [], [], {one.guardrail.outcome for one in found.guardrails}
    for name, result in found.outcomes.items():
        for decided, verdict in result.decisions.items():
            change, part = Span.of(verdict.difference), Span.of(verdict.relative)
            numbers = *part.percents(), change.number(signed=True), change.interval(signed=True)
            label = name if len(result.decisions) == 1 else f"{name}: {decided}"
            rows.append((label, *numbers, verdict.decision, verdict.trust, verdict.estimator))
            if verdict.trust != "sound" and name not in guarded:
                reasons = tuple(map(reason, verdict.reasons))
                told.append(Answer(f"{TRUST[verdict.trust]}: {quote(label)}.", "", SEVERITY_OF[verdict.trust], reasons))
    header = ("outcome", "relative", "interval", "change", "interval", "decision", "trust", "estimator")
    return Section(
        "Other outcomes", tables=(Figures("", header, tuple(rows), extra=((3, 4), (7,))),), answers=tuple(told)
    )
