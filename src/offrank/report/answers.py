"""The answer in plain words, with names between backticks and what to read first between asterisks."""

from __future__ import annotations

from dataclasses import dataclass

from offrank.report import facts, words
from offrank.report.facts import Document, Record


@dataclass(frozen=True)
class Answer:
    """A sentence to read first, and where it comes from."""

    text: str
    aside: str = ""
    severity: str = "ok"


def answers(document: Document) -> list[Answer]:
    """The document in a few sentences: what is wrong with the log, then one answer per target."""
    found = ((name, facts.estimates_of(document, name)) for name in facts.targets(document))
    lines = _checks(document) or _of_log(document)
    if document.get("kind") == "check" and lines:
        return lines
    lines += [_target(document, name, estimates) for name, estimates in found if estimates]
    return lines or [Answer("There is nothing to report: the document holds neither estimates nor checks.")]


def _target(document: Document, target: str, found: list[Record]) -> Answer:
    best = facts.most_trustworthy(found)
    if best is None and all(facts.is_logged(one) and facts.is_sound(one) for one in found):
        return _logged(document, target, found[0])
    if best is None:
        return Answer(_refusal(target, found), severity="serious")
    text = _value(document, target, best) + _difference(document, best)
    return Answer(text, _source(best, found) + _truth(best))


def _logged(document: Document, target: str, mean: Record) -> Answer:
    """Nothing was asked but what the log earned: that is an answer, if only about the logged ranking."""
    text = f"The logged ranking earned {_amount(document, mean)}."
    if target in ("logged", document.get("logging")):
        return Answer(text)
    return Answer(
        text, f"What {words.quote(target)} would have earned was not asked: name an estimator such as `snips`."
    )


def _refusal(target: str, found: list[Record]) -> str:
    reason = "no estimate below can be trusted"
    if all(one.get("error") for one in found):
        reason = "every estimator refused to give a number"
    return f"**This log cannot say** what {words.quote(target)} would have earned: {reason}."


def _value(document: Document, target: str, best: Record) -> str:
    return f"{words.quote(target)} would have earned {_amount(document, best)}"


def _amount(document: Document, best: Record) -> str:
    places = words.decimals(best["value"], error_of(best))
    value = words.number(best["value"], places)
    ends = words.interval(best["low"], best["high"], places)
    unit = document.get("unit") or "clicks per impression"
    confidence = f"{100 * (document.get('confidence') or 0.95):g} %"
    return f"**{value}** {unit} ({confidence} interval {ends})"


def _difference(document: Document, best: Record) -> str:
    difference = best.get("difference") or {}
    value, low, high = (difference.get(key) for key in ("value", "low", "high"))
    if value is None:
        return "."
    logged = (document.get("logged") or {}).get("value")
    places = words.decimals(value, words.doubt(low, high))
    if low is not None and high is not None and low <= 0 <= high:
        change = words.number(value, places, signed=True)
        share = f", {words.percent(value / logged, signed=True)}" if logged else ""
        return f": **not clearly different** from the logged ranking ({change}{share})."
    share = f" ({words.percent(abs(value / logged))})" if logged else ""
    side = "more" if value > 0 else "less"
    return f": **{words.number(abs(value), places)}{share} {side}** than the logged ranking."


def _source(best: Record, found: list[Record]) -> str:
    """Which estimator the answer is from, why that one, and whether the others agree."""
    cautious = facts.severity(best) == "warning"
    kind = "serious warning" if cautious else "warning"
    caution = " Even it carries a warning." if cautious else ""
    if len(found) == 1:
        return f"This is {words.quote(best['estimator'])}.{caution}"
    others = [one for one in found if one is not best and facts.is_usable(one)]
    agreeing = sum(one["low"] <= best["high"] and best["low"] <= one["high"] for one in others)
    agreement = f" {agreeing} of {len(others)} other usable estimates agree with it." if others else ""
    reason = f"the tightest interval of those without a {kind}"
    return f"This is {words.quote(best['estimator'])}, which has {reason}.{caution}{agreement} All are below."


def _truth(best: Record) -> str:
    truth = best.get("truth")
    if truth is None:
        return ""
    places = words.decimals(best["value"], error_of(best))
    inside = "inside" if best["low"] <= truth <= best["high"] else "outside"
    return f" In this simulated world the truth is known: {words.number(truth, places)}, {inside} the interval."


def _of_log(document: Document) -> list[Answer]:
    """What is wrong with the log whatever the estimate."""
    found = document.get("log_findings") or []
    serious = [words.quote(str(one["code"])) for one in found if one.get("severity") == "serious"]
    if not serious:
        return []
    return [Answer(f"**The log is in doubt** ({words.listing(serious)}): read why first.", severity="serious")]


def _checks(document: Document) -> list[Answer]:
    checks = document.get("checks") or []
    titles: dict[str, list[str]] = {}
    for check in checks:
        titles.setdefault(check.get("status") or "ok", []).append(str(check.get("title") or check["code"]))
    if failed := titles.get("serious"):
        number = words.plural(len(failed), "check of the log fails", "checks of the log fail")
        return [
            Answer(
                f"**{number}** ({words.listing(failed)}): read why before you believe a number.",
                severity="serious",
            )
        ]
    if doubtful := titles.get("warning"):
        number = words.plural(len(doubtful), "check of the log warns", "checks of the log warn")
        return [Answer(f"**{number}** ({words.listing(doubtful)}): see the checks below.", severity="warning")]
    if checks and (document.get("kind") == "check" or not facts.estimates(document)):
        made = words.plural(len(checks) - len(titles.get("skipped", [])), "check", "checks")
        if noted := titles.get("note"):
            found = f"**No check of the log fails**: {made} made. But note what they say of {words.listing(noted)}."
            return [Answer(found, severity="note")]
        return [Answer(f"**Nothing speaks against this log**: {made} made.")]
    return []


def error_of(estimate: Record) -> float | None:
    """The standard error of an estimate, read off its interval where it is not given."""
    given = estimate.get("standard_error")
    return words.doubt(estimate.get("low"), estimate.get("high")) if given is None else given
