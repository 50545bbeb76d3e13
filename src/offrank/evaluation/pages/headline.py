"""The answer in plain words; backticks mark names, and asterisks what to read first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...bounds.ends import Bounds
from ...findings.reasons import MOST_ASSUMPTIONS, Reason, first_words
from ...findings.verdict import ASSUMED, EXPLAINED, Decision, Trust, Verdict
from ...language.assumptions import GRADES_ALIKE, as_model, in_words
from ...language.formatting import Span, between, count, listing, percent, plural, quote, rough
from ...language.registry import Later
from ...report.document import Answer
from ...sums.estimate import Estimate
from ...wording import joined
from ..ab_test import COMBINED
from ..differences import Difference
from ..estimates import Found, ResultData
from ..metadata import Status
from .document import is_sound

outcomes: Any = Later(".outcomes", __package__)

DECISIONS: dict[Decision, str] = {
    "better": "Better",
    "worse": "Worse",
    "no clear difference": "No clear difference",
    "unknown": "Unknown",
}
TRUST: dict[Trust, str] = {"sound": "Sound", "with care": "With care", "none": "Do not use"}
"""How far a number can be relied on; of a log, whether it can be used."""
SEVERITY_OF: dict[Trust, str] = {"sound": "ok", "with care": "warning", "none": "serious"}


def answers(found: ResultData) -> list[Answer]:
    """Summarise a result in a few sentences: the problems of the log, then the verdict on each target."""
    lines = _checks(found) if found.metadata.checks else []
    if found.metadata.kind == "check":
        trust = TRUST[found.verdict.trust]
        return [replace(lines[0], text=f"**{trust}.** {lines[0].text}"), *lines[1:]]
    told = [_between_ends(found, one) for each in found.bounds.values() for one in each]
    of_guardrails = outcomes.guardrail_answers(found) if found.guardrails else ()
    if found.comparisons:
        told += [_winner(found), *(_compared(found, one) for one in found.comparisons)]
        return [*lines, *told, *of_guardrails, *_untested([one.verdict for one in found.comparisons])]
    if not found.bounds or found.verdicts:
        told += [_target(found, name, found.estimates.of(name)) for name in found.metadata.targets]
    return [*lines, *told, *of_guardrails, *_untested(list(found.verdicts.values()))]


def _target(found: ResultData, target: str, estimates: Mapping[str, Found]) -> Answer:
    verdict = found.verdicts.get(target)
    mean = next(iter(estimates.values()))
    if verdict is None and isinstance(mean, Estimate) and all(map(is_sound, estimates.values())):
        return _logged(found, target, mean)
    reasons = tuple(map(reason, verdict.reasons if verdict else ()))
    if verdict is None or not verdict.usable:
        text = f"**Unknown.** This log cannot say what {quote(target)} would have earned."
        return Answer(text, "", SEVERITY_OF["none"], reasons, quote(target), "unknown")
    text = f"{_headline(verdict)} As logged, {quote(target)} would have earned {_amount(found, verdict.value)}"
    aside = _source(verdict) + _truth(verdict, found.truths.get(target))
    told = text + _against(verdict)
    return Answer(told, aside, SEVERITY_OF[verdict.trust], reasons, quote(target), verdict.decision)


def _between_ends(found: ResultData, bounds: Bounds) -> Answer:
    """Say between what values the difference of a target lies, then its mean; decided only if both ends decide."""
    about, part, compares = found.metadata, bounds.part, found.metadata.kind == "compare"
    target, against = quote(part.target), _named(found, part.against)
    unit = about.unit or "clicks per impression"
    low, high, ends = between(bounds.lower, bounds.upper)
    less, more, around = between(bounds.difference_lower, bounds.difference_upper, signed=True)
    is_at = f"**{less}**" if less == more else f"between **{less} and {more}**"
    text = f"**{DECISIONS[bounds.decision]}.** {target} minus {against} is {is_at} {unit} "
    text += f"({100 * about.confidence:g} % interval {around}), assuming {bounds.assumes_in_words}."
    aside = f"{TRUST[bounds.trust]}: the log contains the reward of {percent(bounds.shown)} of what {target} shows. "
    alone = low if low == high else f"between {low} and {high}"
    aside += f"As logged, {target} alone would have earned {alone} ({ends})."
    subject = f"{target} minus {against}" if compares else target
    return Answer(text, aside, SEVERITY_OF[bounds.trust], (), subject, bounds.decision)


def _headline(verdict: Verdict) -> str:
    """Lead with the decision and its size: as a share, or else as the difference itself."""
    first, change = first_words(verdict.outcome), Span.of(verdict.difference)
    said = first + DECISIONS[verdict.decision]
    model = as_model(verdict.assumes)
    given = "" if model is None else f", if users click as {quote(model)} says"
    given += f", if {in_words(alike)}" if (alike := verdict.assumes & GRADES_ALIKE) else ""
    if change.value is None:
        return f"**{said}.**"
    if change.low == change.high == 0:
        return f"**{first}No difference.**"
    if verdict.relative is not None:
        value, ends = Span.of(verdict.relative).percents()
    else:
        value, ends = Span.of(verdict.difference).parts(signed=True)
    if any(one.code == EXPLAINED for one in verdict.reasons):
        return f"**{said}:** a known error could explain {value} ({ends}){given}."
    return f"**{said}: {value}** ({ends}){given}."


def _winner(found: ResultData) -> Answer:
    """Name the target that earns more than all others, or say that there is none."""
    baseline = str(found.metadata.baseline)
    first = max(first_words(one.verdict.outcome) for one in found.comparisons)
    if found.winner is None:
        names = [*(quote(one.target) for one in found.comparisons), _named(found, baseline)]
        text = f"{first}**No winner.** This log does not show that one of {listing(names)} earns more than "
        text += "the other." if len(names) == 2 else "all others."
        return Answer(text, severity="note", decision="no clear difference")
    trust = min((one.verdict.trust for one in found.comparisons), key=["none", "with care", "sound"].index)
    name = _named(found, found.winner)
    than = "each of the others" if len(found.comparisons) > 1 else _named(found, baseline)
    if found.winner == baseline:
        others = [quote(one.target) for one in found.comparisons]
        than = others[0] if len(others) == 1 else than
    text = f"{first}**Winner: {found.winner if found.winner != 'logged' else name}.** It earns more than {than}."
    care = "" if trust == "sound" else f"{TRUST[trust]}: read the reasons of the comparisons first."
    return Answer(text, care, SEVERITY_OF[trust], decision="better")


def _compared(found: ResultData, compared: Difference) -> Answer:
    """Say which of two targets earns more, and by how much; or how many rows would be needed."""
    verdict, about = compared.verdict, found.metadata
    names = [quote(compared.target), _named(found, compared.against)]
    reasons, severity = tuple(map(reason, verdict.reasons)), SEVERITY_OF[verdict.trust]
    if not verdict.usable:
        text = f"**Unknown.** This log cannot say which of {listing(names)} would have earned more."
        return Answer(text, "", severity, reasons, f"{names[0]} minus {names[1]}", "unknown")
    value, ends = Span.of(verdict.difference).parts(signed=True)
    text = f"{_headline(verdict)} {names[0]} minus {names[1]} is {value} ({ends}) {about.unit or 'per impression'}."
    text += _of_means(found, compared) + _more_rows(compared.rows_needed)
    aside, several = _source(verdict), len(found.comparisons)
    if several > 1:
        each = "Both" if several == 2 else f"All {several}"
        aside += f" {each} comparisons hold jointly at {100 * about.confidence:g} % (Bonferroni)."
    return Answer(text, aside, severity, reasons, f"{names[0]} minus {names[1]}", verdict.decision)


def _of_means(found: ResultData, compared: Difference) -> str:
    """Say what the difference of means of an A/B test is alone, beside the answer that it was combined into."""
    if found.metadata.ab_test is None or compared.verdict.estimator != COMBINED:
        return ""
    for one in found.metadata.ab_test.compared:
        if (one.target, one.against) == (compared.target, compared.against):
            value, ends = Span.of(one.means).parts(signed=True)
            told = f" The difference of means alone is {value} ({ends})"
            if one.lists_alone is None:
                return f"{told}."
            value, ends = Span.of(one.lists_alone).parts(signed=True)
            return f"{told}; if the arms differ only in the lists that they show, it is {value} ({ends})."
    return ""


def _untested(verdicts: list[Verdict]) -> list[Answer]:
    """Name what the numbers rest on that this log cannot test: once for all of them, what fits it first."""
    places = [(place, one) for verdict in verdicts for place, one in enumerate(verdict.assumptions)]
    every = tuple(dict.fromkeys(one for _, one in sorted(places, key=lambda pair: pair[0])))[:MOST_ASSUMPTIONS]
    text = "Assumptions that this log cannot test, each with the number that rests on it:"
    return [Answer(text, severity="note", assumptions=every)] if every else []


def _named(found: ResultData, against: str) -> str:
    logged = against == "logged" and against not in found.metadata.targets
    return "the logged ranking" if logged else quote(against)


def _more_rows(needed: int | None) -> str:
    if needed is None:
        return ""
    rows = count(float(f"{needed:.1e}"))  # two digits
    return f" If the true difference is this large, a log of {rows} such rows detects it with a power of 80 %."


def _logged(found: ResultData, target: str, mean: Estimate) -> Answer:
    """Answer when only logged quantities were requested: a statement about the logged ranking only."""
    text = f"The logged ranking earned {_amount(found, mean)}."
    if target in ("logged", found.metadata.logging):
        return Answer(text)
    return Answer(text, f"The value of {quote(target)} was not estimated: name an estimator such as `snips`.")


def reason(found: Reason) -> str:
    """Describe a finding, with the estimators that it is about unless it names them."""
    names = [quote(name) for name in found.estimators]
    whose = f" ({listing(names)})" if any(name not in found.message for name in names) else ""
    return joined(" ", (f"{quote(found.code)}{whose}:", found.message, found.remedy))


def _amount(found: ResultData, earned: object) -> str:
    unit, confidence = found.metadata.unit or "clicks per impression", found.metadata.confidence
    value, ends = Span.of(earned).parts()
    kind = "interval at every look" if found.metadata.anytime else "interval"
    return f"**{value}** {unit} ({100 * confidence:g} % {kind} {ends})"


def _against(verdict: Verdict) -> str:
    """Compare with the logged mean: the difference, and what would be seen where there is no clear one."""
    difference = Span.of(verdict.difference)
    if difference.value is None or verdict.logged is None:
        return "."
    earned = f"; the logged ranking earned {Span.of(verdict.logged).text()}"
    if difference.low == difference.high == 0:
        return f"{earned}: **the same**, impression by impression."
    value, between = Span.of(verdict.difference).parts(signed=True)
    if verdict.decision not in ("better", "worse"):
        return f"{earned}: a difference of {value} ({between}).{_power(verdict.detectable)}"
    side = "more" if difference.value > 0 else "less"
    return f"{earned}: {value.lstrip('-+')} {side} ({between})."


def _power(least: float | None) -> str:
    if least is None:
        return ""
    return f" The smallest difference that such a log detects with a power of 80 % is {rough(least)}."


def _source(verdict: Verdict) -> str:
    """Say how far to rely on the number: its estimator, what it assumes, and what it was compared with."""
    text = f"{TRUST[verdict.trust]}: by {quote(str(verdict.estimator))}"
    if all(one.code != ASSUMED for one in verdict.reasons):
        text += f", which assumes {'that ' if verdict.assumes else ''}{in_words(verdict.assumes)}"
    if verdict.anchor_name is None:
        return f"{text}."
    if verdict.estimator == COMBINED:
        return f"{text}."
    span = "contains that" if verdict.spans else "was widened to contain the value"
    return f"{text}. The interval {span} of {quote(verdict.anchor_name)}, which assumes less."


def _truth(verdict: Verdict, truth: float | None) -> str:
    if truth is None or verdict.value is None:
        return ""
    inside = "inside" if verdict.value.low <= truth <= verdict.value.high else "outside"
    exactly = Span.of(verdict.value).parts(other=truth)[0]
    return f" In this simulated world the truth is known: {exactly}, {inside} the interval."


def _checks(found: ResultData) -> list[Answer]:
    checks = found.metadata.checks
    titles: dict[Status, dict[str, None]] = {}
    for check in checks:  # each title once: slates and items may fail under the same name
        titles.setdefault(check.status, {})[check.title] = None
    if failed := titles.get("serious"):
        many = plural(len(failed), "check of the log fails", "checks of the log fail")
        text = f"**{many}** ({listing(list(failed))}): read why before you rely on any number."
        return [Answer(text, severity="serious")]
    if doubtful := titles.get("warning"):
        many = plural(len(doubtful), "check of the log warns", "checks of the log warn")
        return [Answer(f"**{many}** ({listing(list(doubtful))}): see the checks below.", severity="warning")]
    if found.metadata.kind != "check":
        return []
    made = plural(sum(check.status != "skipped" for check in checks), "check", "checks")
    if noted := titles.get("note"):
        text = f"**No check failed** ({made}). See the notes on {listing(list(noted))}."
        return [Answer(text, severity="note")]
    return [Answer(f"**All checks passed** ({made}).")]
