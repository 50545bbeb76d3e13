"""The answer in plain words; backticks mark names, and asterisks what to read first."""

from __future__ import annotations

from dataclasses import replace

from ...formatting import Span, count, listing, number, percent, plural, quote
from ...report.document import Answer
from . import document as of
from .document import Record

WORDS = {"use": "Use", "use with care": "Use with care", "do not use": "Do not use"}
_SEVERITY = {"use": "ok", "use with care": "warning", "do not use": "serious"}


def answers(document: Record) -> list[Answer]:
    """Summarise the document in a few sentences: the problems of the log, then the verdict on each target."""
    found = ((name, of.estimates_of(document, name)) for name in of.targets(document))
    lines = _checks(document)
    if document.get("kind") == "check" and lines:
        word = (of.verdict_of(document, "the log") or {}).get("word")
        return [replace(lines[0], text=f"**{WORDS[word]}.** {lines[0].text}"), *lines[1:]] if word else lines
    compared = document.get("comparisons") or []
    lines += [_compared(document, one) for one in compared]
    lines += [_target(document, name, estimates) for name, estimates in found if estimates and not compared]
    return lines or [Answer("There is nothing to report: the document holds neither estimates nor checks.")]


def _target(document: Record, target: str, found: list[Record]) -> Answer:
    verdict = of.verdict_of(document, target)
    if verdict is None and all(of.is_logged(one) and of.is_sound(one) for one in found):
        return _logged(document, target, found[0])
    word = "do not use" if verdict is None else verdict["word"]
    reasons = tuple(_reason(one) for one in (verdict or {}).get("reasons") or [])
    if verdict is None or word == "do not use":
        text = f"**{WORDS[word]}.** This log cannot say what {quote(target)} would have earned."
        return Answer(text, severity=_SEVERITY[word], reasons=reasons, about=quote(target))
    text = f"**{WORDS[word]}.** {quote(target)} would have earned {_amount(document, verdict['value'])}"
    aside = _source(verdict) + _truth(verdict, found)
    return Answer(text + _against(verdict), aside, _SEVERITY[word], reasons, quote(target))


def _compared(document: Record, found: Record) -> Answer:
    """Say which of two targets earns more, and by how much; or how many rows would be needed."""
    names = [quote(found["target"]), _named(document, found["against"])]
    reasons, severity = tuple(_reason(one) for one in found["reasons"]), _SEVERITY[found["word"]]
    if found["word"] == "do not use":
        text = f"This log cannot say which of {listing(names)} would have earned more."
        return Answer(f"**Do not use.** {text}", severity=severity, reasons=reasons)
    value, ends = _in_words(found["difference"], signed=True)
    absolute = f"{value} ({ends}) {document.get('unit') or 'per impression'}"
    share = Span.of(found["relative"])
    if found["decided"]:
        side = "more" if found["difference"]["value"] > 0 else "less"
        size, between = _size(share) if found["relative"] else (value.lstrip("-+"), ends)
        text = f"**{WORDS[found['word']]}.** {names[0]} would have earned **{size} {side}** than {names[1]} ({between})"
        text += f", which is {absolute}." if found["relative"] else "."
    else:
        text = f"This log **cannot tell** which of {listing(names)} would have earned more: "
        also = f", {share.share()}" if found["relative"] else ""
        text += f"the difference is {absolute}{also}.{_more_rows(found)}"
    aside, several = _source(found), len(document["comparisons"])
    if several > 1:
        each = "Both" if several == 2 else f"All {several}"
        aside += f" {each} comparisons hold together at {100 * document['confidence']:g} % (Bonferroni)."
    return Answer(text, aside, severity, reasons)


def _size(share: Span) -> tuple[str, str]:
    """Say how large a share is, with its interval; with a sign if the interval contains 0."""
    value, low, high = share.value or 0.0, share.low or 0.0, share.high or 0.0
    if not low * high > 0:
        return percent(value, signed=True), share.percents()
    low, high = sorted((abs(low), abs(high)))
    return percent(abs(value)), Span(abs(value), low, high).percents(signed=False)


def _named(document: Record, against: str) -> str:
    logged = against == "logged" and against not in (document.get("targets") or {})
    return "the logged ranking" if logged else quote(against)


def _more_rows(found: Record) -> str:
    rows = found.get("rows_needed")
    if rows is None:
        return ""
    return f" If it is as large as that, a log of {_about(rows)} rows of this kind would tell, four times of five."


def _about(rows: int) -> str:
    """Format a large number to two digits."""
    return count(float(f"{rows:.1e}"))


def _logged(document: Record, target: str, mean: Record) -> Answer:
    """Answer when only logged quantities were requested: a statement about the logged ranking only."""
    text = f"The logged ranking earned {_amount(document, mean)}."
    if target in ("logged", document.get("logging")):
        return Answer(text)
    return Answer(text, f"What {quote(target)} would have earned was not asked: name an estimator such as `snips`.")


def _reason(reason: Record) -> str:
    """Describe a finding, with the estimators that it is about unless it names them."""
    names = [quote(name) for name in reason.get("estimators") or []]
    about = f" ({listing(names)})" if any(name not in reason["message"] for name in names) else ""
    return f"{quote(reason['code'])}{about}: {reason['message']} {reason['remedy']}".strip()


def _amount(document: Record, found: Record) -> str:
    unit = document.get("unit") or "clicks per impression"
    confidence = f"{100 * (document.get('confidence') or 0.95):g} %"
    value, ends = _in_words(found)
    return f"**{value}** {unit} ({confidence} interval {ends})"


def _in_words(found: Record, signed: bool = False) -> tuple[str, str]:
    """Format a value and its interval; an end that is 0 is written as such."""
    span = Span.of(found)
    ends = ["0" if end == 0 else number(end, span.places, signed) for end in (span.low, span.high)]
    return span.number(signed), " to ".join(ends)


def _against(verdict: Record) -> str:
    """Compare with the logged mean: the difference as a number and as a share."""
    difference, logged = verdict.get("difference"), verdict.get("logged")
    if not difference or not logged or difference["value"] is None:
        return "."
    earned = "; the logged ranking earned {} ({})".format(*_in_words(logged))
    low, high = difference["low"], difference["high"]
    if low == high == 0:
        return f"{earned}: **the same**, impression by impression."
    change = f", {share}" if (share := Span.of(verdict.get("relative_change")).share()) else ""
    value, between = _in_words(difference, signed=True)
    if low is None or high is None or low <= 0 <= high:
        return f"{earned}: **not clearly different**, {value} ({between}){change}.{_power(verdict)}"
    side = "more" if difference["value"] > 0 else "less"
    return f"{earned}: **{value.lstrip('-+')} {side}** ({between}){change}."


def _power(verdict: Record) -> str:
    least = verdict.get("detectable")
    return "" if least is None else f" A difference of {number(least)} would be seen in four of five such logs."


def _source(verdict: Record) -> str:
    """Name the estimator of the answer, its assumptions, and the estimates that it was compared with."""
    told = any(one["code"] == "assumed" for one in verdict.get("reasons") or [])
    text = f"This is {quote(verdict['estimator'])}"
    if not told:
        that = "that " if verdict.get("assumes") else ""
        text += f", which assumes {that}{verdict.get('assumes_in_words') or 'nothing of users'}"
    anchor = verdict.get("anchor")
    if anchor:
        span = "holds the interval" if anchor["spans"] else "was widened to hold the value"
        return f"{text}. The interval {span} of {quote(anchor['estimator'])}, which assumes less."
    return f"{text}."


def _truth(verdict: Record, found: list[Record]) -> str:
    truth = next((one["truth"] for one in found if one.get("truth") is not None), None)
    if truth is None:
        return ""
    value = verdict["value"]
    inside = "inside" if value["low"] <= truth <= value["high"] else "outside"
    told = number(truth, Span.of(value).places)
    return f" In this simulated world the truth is known: {told}, {inside} the interval."


def _checks(document: Record) -> list[Answer]:
    checks = document.get("checks") or []
    titles: dict[str, dict[str, None]] = {}
    for check in checks:  # each title once: slates and items may fail under the same name
        titles.setdefault(check.get("status") or "ok", {})[str(check.get("title") or check["code"])] = None
    if failed := titles.get("serious"):
        number = plural(len(failed), "check of the log fails", "checks of the log fail")
        return [
            Answer(
                f"**{number}** ({listing(list(failed))}): read why before you believe a number.",
                severity="serious",
            )
        ]
    if doubtful := titles.get("warning"):
        number = plural(len(doubtful), "check of the log warns", "checks of the log warn")
        return [Answer(f"**{number}** ({listing(list(doubtful))}): see the checks below.", severity="warning")]
    if checks and (document.get("kind") == "check" or not of.estimates(document)):
        made = plural(sum(check.get("status") != "skipped" for check in checks), "check", "checks")
        if noted := titles.get("note"):
            found = f"**No check of the log fails**: {made} made. But note what they say of {listing(list(noted))}."
            return [Answer(found, severity="note")]
        return [Answer(f"**Nothing speaks against this log**: {made} made.")]
    return []
