"""The page of `metrics`: which model agrees best with the clicks, a plot and a table per metric, then groups."""

from __future__ import annotations

from ...formatting import Span, count, listing, percent, quote
from ...report.document import Answer, Cell, Document, Figures, Section, findings, worst
from ...report.plots import Forest, ForestRow, Side
from . import document as of
from .document import Record, again, eyebrow, refusal

_HEADER = ("model", "value", "interval", "to the first", "interval", "rejected", "worth")


def sheet(document: Record) -> Document:
    """Return the page of a result of `offrank.measure`; see its `to_dict`."""
    rows = list(document.get("metrics") or [])
    names = list(dict.fromkeys(one["metric"] for one in rows))
    whole = {name: [one for one in rows if one["metric"] == name and one["group"] is None] for name in names}
    told = findings(
        (caution, _place(one), one["group"] is not None)
        for one in sorted(rows, key=lambda one: one["group"] is not None)
        for caution in of.cautions(one)
    )
    sections = [_section(name, found, index == 0) for index, (name, found) in enumerate(whole.items())]
    if document.get("by"):
        sections += [_by_group(document, name, rows) for name in names]
    sections += [Section("What to know", findings=told), again(document)]
    level = 100 * (document.get("confidence") or 0.95)
    lead = f"Slates drawn by {quote(str(document.get('logging')))}; {level:g} % intervals."
    answers = tuple(_answer(name, found) for name, found in whole.items())
    first = next(iter(whole.items()), None)
    pictures = () if first is None else (_forest(*first),)
    return Document(str(document["title"]), lead, tuple(sections), answers, pictures, eyebrow(document))


def _place(one: Record) -> str:
    return ", ".join(filter(None, [quote(one["model"]), one["metric"], one["group"]]))


def _better(metric: str) -> Side:
    """Return the direction of better values."""
    return "right" if metric.partition("(")[0].endswith("ndcg") else "left"


def _answer(metric: str, found: list[Record]) -> Answer:
    """Say which model is best, and whether the difference is significant."""
    given = [one for one in found if one.get("value") is not None and not one.get("error")]
    if not given:
        return Answer(
            f"**This log cannot say** how well the models agree with its clicks: {metric}.", severity="serious"
        )
    severity = worst(caution.severity for one in found for caution in of.cautions(one))
    first, sign = given[0], 1 if _better(metric) == "right" else -1
    best = max(given, key=lambda one: sign * one["value"])
    way = "higher" if sign > 0 else "lower"
    told = f"{metric} {Span.of(best).text()}, {way} is better"
    others = [one for one in given if one is not first and one.get("difference")]
    if not others:
        return Answer(f"{quote(first['model'])}: **{told}**.", severity=severity)
    clear = {one["model"]: not one["difference"]["low"] <= 0 <= one["difference"]["high"] for one in others}
    if best is first:
        close = [quote(name) for name, is_clear in clear.items() if not is_clear]
        end = f", but not clearly better than {listing(close)}" if close else ", clearly before each other model"
    else:
        change = Span.of(best["difference"]).text(signed=True)
        end = f"; its difference to {quote(first['model'])} is {change}"
        end += "" if clear[best["model"]] else ", **not clearly different**"
    return Answer(f"{quote(best['model'])} **agrees best with the clicks**: {told}{end}.", severity=severity)


def _forest(metric: str, found: list[Record]) -> Forest:
    rows = (ForestRow(one["model"], Span.of(one), refusal(one) if one.get("error") else None) for one in found)
    return Forest(f"{metric} of each model", tuple(rows), better=_better(metric))


def _section(metric: str, found: list[Record], drawn: bool) -> Section:
    """Return the section of one metric; drawn: whether its plot is on the first screen."""
    others = [one for one in found if one.get("difference")]
    forests = [] if drawn else [_forest(metric, found)]
    if others:
        changes = {one["model"]: Span.of(one["difference"]) for one in others}
        rows = tuple(ForestRow(name, change, change.text(signed=True)) for name, change in changes.items())
        title = f"Difference to {found[0]['model']}, on the same clicks"
        forests.append(Forest(title, rows, 0.0, "no difference", better=_better(metric)))
    given = next((one for one in found if one.get("rejected") is not None), None)
    caption = metric
    if given:
        share, size = percent(given["rejected"]), count(round(given["ess"] or 0))
        caption += f": {share} of the clicks rejected, worth {size} impressions"
    return Section(metric, forests=tuple(forests), tables=(Figures(caption, _HEADER[:5], _rows(found)),))


def _by_group(document: Record, metric: str, rows: list[Record]) -> Section:
    found = [one for one in rows if one["metric"] == metric and one["group"] is not None]
    cells = tuple((f"{one['group']}: {one['model']}", *_cells(one)[1:]) for one in found)
    by = str(document["by"])
    return Section(
        f"{metric} by {by}", tables=(Figures(f"{metric} by {by}", (f"{by}: model", *_HEADER[1:]), cells, (4, 6)),)
    )


def _rows(found: list[Record]) -> tuple[tuple[Cell, ...], ...]:
    return tuple(_cells(one)[:5] for one in found)


def _cells(one: Record) -> tuple[Cell, ...]:
    if one.get("error"):
        return (one["model"], "", refusal(one), *[""] * 4)
    span, change = Span.of(one), Span.of(one.get("difference"))
    away = (change.number(signed=True), change.interval(signed=True)) if one.get("difference") else ("", "")
    kept = (percent(one["rejected"]), count(round(one["ess"] or 0)))
    return (one["model"], span.number(), span.interval(), *away, *kept)
