"""The answer in plain words; backticks mark names, and asterisks what to read first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ...findings.assumptions import in_words
from ...findings.verdict import ASSUMED, Reason, Verdict, Word
from ...folds.estimate import Estimate
from ...formatting import Span, count, listing, number, percent, plural, quote
from ...report.document import Answer
from ..background import Status
from ..data import Found, ResultData
from ..paired import Difference
from .document import is_sound

WORDS: dict[Word, str] = {"use": "Use", "use with care": "Use with care", "do not use": "Do not use"}
_SEVERITY: dict[Word, str] = {"use": "ok", "use with care": "warning", "do not use": "serious"}


def answers(found: ResultData) -> list[Answer]:
    """Summarise a result in a few sentences: the problems of the log, then the verdict on each target."""
    lines = _checks(found)
    if found.background.kind == "check":
        word = WORDS[found.verdict.word]
        return [replace(lines[0], text=f"**{word}.** {lines[0].text}"), *lines[1:]]
    if found.comparisons:
        return lines + [_compared(found, one) for one in found.comparisons]
    return lines + [_target(found, name, found.estimates.of(name)) for name in found.background.targets]


def _target(found: ResultData, target: str, estimates: Mapping[str, Found]) -> Answer:
    verdict = found.verdicts.get(target)
    mean = next(iter(estimates.values()))
    if verdict is None and isinstance(mean, Estimate) and all(map(is_sound, estimates.values())):
        return _logged(found, target, mean)
    word = "do not use" if verdict is None else verdict.word
    reasons = tuple(map(_reason, verdict.reasons if verdict else ()))
    if verdict is None or word == "do not use":
        text = f"**{WORDS[word]}.** This log cannot say what {quote(target)} would have earned."
        return Answer(text, severity=_SEVERITY[word], reasons=reasons, about=quote(target))
    text = f"**{WORDS[word]}.** {quote(target)} would have earned {_amount(found, verdict.value)}"
    aside = _source(verdict) + _truth(verdict, found.truths.get(target))
    return Answer(text + _against(verdict), aside, _SEVERITY[word], reasons, quote(target))


def _compared(found: ResultData, compared: Difference) -> Answer:
    """Say which of two targets earns more, and by how much; or how many rows would be needed."""
    verdict, about = compared.verdict, found.background
    names = [quote(compared.target), _named(found, compared.against)]
    reasons, severity = tuple(map(_reason, verdict.reasons)), _SEVERITY[verdict.word]
    if verdict.word == "do not use":
        text = f"This log cannot say which of {listing(names)} would have earned more."
        return Answer(f"**Do not use.** {text}", severity=severity, reasons=reasons)
    value, ends = _in_words(verdict.difference, signed=True)
    absolute = f"{value} ({ends}) {about.unit or 'per impression'}"
    share = Span.of(verdict.relative)
    if compared.decided:
        side = "less" if (Span.of(verdict.difference).value or 0.0) < 0 else "more"
        size, between = _size(share) if verdict.relative else (value.lstrip("-+"), ends)
        text = f"**{WORDS[verdict.word]}.** {names[0]} would have earned **{size} {side}** than {names[1]} ({between})"
        text += f", which is {absolute}." if verdict.relative else "."
    else:
        text = f"This log **cannot tell** which of {listing(names)} would have earned more: "
        also = f", {share.share()}" if verdict.relative else ""
        text += f"the difference is {absolute}{also}.{_more_rows(compared.rows_needed)}"
    aside, several = _source(verdict), len(found.comparisons)
    if several > 1:
        each = "Both" if several == 2 else f"All {several}"
        aside += f" {each} comparisons hold together at {100 * about.confidence:g} % (Bonferroni)."
    return Answer(text, aside, severity, reasons)


def _size(share: Span) -> tuple[str, str]:
    """Say how large a share is, with its interval; with a sign if the interval contains 0."""
    value, low, high = share.value or 0.0, share.low or 0.0, share.high or 0.0
    if not low * high > 0:
        return percent(value, signed=True), share.percents()
    low, high = sorted((abs(low), abs(high)))
    return percent(abs(value)), Span(abs(value), low, high).percents(signed=False)


def _named(found: ResultData, against: str) -> str:
    logged = against == "logged" and against not in found.background.targets
    return "the logged ranking" if logged else quote(against)


def _more_rows(needed: int | None) -> str:
    if needed is None:
        return ""
    rows = count(float(f"{needed:.1e}"))  # two digits
    return f" If it is as large as that, a log of {rows} rows of this kind would tell, four times of five."


def _logged(found: ResultData, target: str, mean: Estimate) -> Answer:
    """Answer when only logged quantities were requested: a statement about the logged ranking only."""
    text = f"The logged ranking earned {_amount(found, mean)}."
    if target in ("logged", found.background.logging):
        return Answer(text)
    return Answer(text, f"What {quote(target)} would have earned was not asked: name an estimator such as `snips`.")


def _reason(reason: Reason) -> str:
    """Describe a finding, with the estimators that it is about unless it names them."""
    names = [quote(name) for name in reason.estimators]
    whose = f" ({listing(names)})" if any(name not in reason.message for name in names) else ""
    return f"{quote(reason.code)}{whose}: {reason.message} {reason.remedy}".strip()


def _amount(found: ResultData, earned: object) -> str:
    unit, confidence = found.background.unit or "clicks per impression", found.background.confidence
    value, ends = _in_words(earned)
    return f"**{value}** {unit} ({100 * confidence:g} % interval {ends})"


def _in_words(found: object, signed: bool = False) -> tuple[str, str]:
    """Format a value and its interval; an end that is 0 is written as such."""
    span = Span.of(found)
    ends = ["0" if end == 0 else number(end, span.places, signed) for end in (span.low, span.high)]
    return span.number(signed), " to ".join(ends)


def _against(verdict: Verdict) -> str:
    """Compare with the logged mean: the difference as a number and as a share."""
    difference = Span.of(verdict.difference)
    if difference.value is None or verdict.logged is None:
        return "."
    earned = "; the logged ranking earned {} ({})".format(*_in_words(verdict.logged))
    low, high = difference.low, difference.high
    if low == high == 0:
        return f"{earned}: **the same**, impression by impression."
    change = f", {share}" if (share := Span.of(verdict.relative).share()) else ""
    value, between = _in_words(verdict.difference, signed=True)
    if low is None or high is None or low <= 0 <= high:
        return f"{earned}: **not clearly different**, {value} ({between}){change}.{_power(verdict.detectable)}"
    side = "more" if difference.value > 0 else "less"
    return f"{earned}: **{value.lstrip('-+')} {side}** ({between}){change}."


def _power(least: float | None) -> str:
    return "" if least is None else f" A difference of {number(least)} would be seen in four of five such logs."


def _source(verdict: Verdict) -> str:
    """Name the estimator of the answer, its assumptions, and the estimates that it was compared with."""
    text = f"This is {quote(str(verdict.estimator))}"
    if all(one.code != ASSUMED for one in verdict.reasons):
        text += f", which assumes {'that ' if verdict.assumes else ''}{in_words(verdict.assumes)}"
    if verdict.anchor_name is None:
        return f"{text}."
    span = "holds the interval" if verdict.spans else "was widened to hold the value"
    return f"{text}. The interval {span} of {quote(verdict.anchor_name)}, which assumes less."


def _truth(verdict: Verdict, truth: float | None) -> str:
    if truth is None or verdict.value is None:
        return ""
    inside = "inside" if verdict.value.low <= truth <= verdict.value.high else "outside"
    exactly = number(truth, Span.of(verdict.value).places)
    return f" In this simulated world the truth is known: {exactly}, {inside} the interval."


def _checks(found: ResultData) -> list[Answer]:
    checks = found.background.checks
    titles: dict[Status, dict[str, None]] = {}
    for check in checks:  # each title once: slates and items may fail under the same name
        titles.setdefault(check.status, {})[check.title] = None
    if failed := titles.get("serious"):
        many = plural(len(failed), "check of the log fails", "checks of the log fail")
        text = f"**{many}** ({listing(list(failed))}): read why before you believe a number."
        return [Answer(text, severity="serious")]
    if doubtful := titles.get("warning"):
        many = plural(len(doubtful), "check of the log warns", "checks of the log warn")
        return [Answer(f"**{many}** ({listing(list(doubtful))}): see the checks below.", severity="warning")]
    if found.background.kind != "check":
        return []
    made = plural(sum(check.status != "skipped" for check in checks), "check", "checks")
    if noted := titles.get("note"):
        text = f"**No check of the log fails**: {made} made. But note what they say of {listing(list(noted))}."
        return [Answer(text, severity="note")]
    return [Answer(f"**Nothing speaks against this log**: {made} made.")]
