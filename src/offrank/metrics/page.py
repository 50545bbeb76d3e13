"""The page of `measure`: which model agrees best with the clicks, a plot and a table per metric, then groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import NoOverlapError
from ..language.formatting import Span, count, finite, listing, nine_digits, percent, quote
from ..report.document import Answer, Cell, Document, Figures, Section, findings, worst
from ..report.facts import again, asked, eyebrow, refusal
from ..report.plots import Forest, ForestRow, Side
from ..report.printable import Printed
from ..sums.estimate import Interval
from .measured import Measured, Measurements

_HEADER = ("model", "value", "interval", "to the first", "interval", "rejected", "worth")

ByModel = Mapping[str, Measured | NoOverlapError]
"""One metric of each model."""


@dataclass(frozen=True, repr=False)
class MetricsReport(Printed, Measurements):
    """Metrics by (model, metric), with ways to print and save them."""

    @property
    def estimates(self) -> Measurements:
        """Return the metrics, under the name that `evaluate` uses."""
        return self

    def to_document(self) -> Document:
        """Return the page of the report and the terminal."""
        return measurement_document(self)

    __repr__ = Printed.__str__


def measurement_document(found: Measurements) -> Document:
    """Return the page of a result of `offrank.measure`."""
    names = list(dict.fromkeys(metric for _, metric in found.found))
    whole = {name: _of(found.found, name) for name in names}
    sections = [_section(name, each, index == 0) for index, (name, each) in enumerate(whole.items())]
    if found.facts["by"]:
        sections += [_by_group(found, name) for name in names]
    placed = ((one.caution, _place(one.model, one.metric, one.group), one.group is not None) for one in found.findings)
    sections += [Section("Notes", findings=findings(placed)), again(found.facts)]
    level = f"{100 * found.facts['confidence']:g} % intervals."
    answers = tuple(_answer(name, each) for name, each in whole.items())
    lead = f"Slates drawn by {quote(found.facts['logging'])}; {level}"
    return Document(
        found.facts["title"],
        lead,
        tuple(sections),
        answers,
        (_forest(names[0], whole[names[0]]),),
        eyebrow(found.facts),
        asked(found.facts),
    )


def _of(found: Mapping[tuple[str, str], Measured | NoOverlapError], metric: str) -> ByModel:
    return {model: one for (model, name), one in found.items() if name == metric}


def _place(model: str | None, metric: str | None, group: str | None) -> str:
    return ", ".join(filter(None, [quote(str(model)), metric, group]))


def _better(metric: str) -> Side:
    """Return the direction of better values."""
    return "right" if metric.partition("(")[0].endswith("ndcg") else "left"


def _differences(found: ByModel) -> dict[str, Interval]:
    """Return the difference of each further model to the first, where both were measured."""
    given = {name: one.difference for name, one in found.items() if isinstance(one, Measured)}
    return {name: change for name, change in given.items() if change is not None}


def _answer(metric: str, found: ByModel) -> Answer:
    """Say which model is best, and whether the difference is significant."""
    given = {name: one for name, one in found.items() if isinstance(one, Measured)}
    if not given:
        none = f"**This log cannot say** how well the models agree with its clicks: {metric}."
        return Answer(none, severity="serious")
    refused = ["serious"] * (len(given) < len(found))
    severity = worst([*refused, *(caution.severity for one in given.values() for caution in one.warnings)])
    first, sign = next(iter(given)), 1 if _better(metric) == "right" else -1
    best = max(given, key=lambda name: sign * nine_digits(given[name].value))
    way = "higher" if sign > 0 else "lower"
    value = f"{metric} {Span.of(given[best]).text()}, {way} is better"
    changes = _differences(found)
    if not changes:
        return Answer(f"{quote(first)}: **{value}**.", severity=severity)
    clear = {name: not change.low <= 0 <= change.high for name, change in changes.items()}
    if best == first:
        close = [quote(name) for name, is_clear in clear.items() if not is_clear]
        end = (
            f", but not clearly better than {listing(close)}" if close else (", clearly better than every other model")
        )
    else:
        end = f"; its difference to {quote(first)} is {Span.of(changes[best]).text(signed=True)}"
        end += "" if clear[best] else ", **no clear difference**"
    return Answer(f"{quote(best)} **agrees best with the clicks**: {value}{end}.", severity=severity)


def _forest(metric: str, found: ByModel) -> Forest:
    rows = (ForestRow(name, Span.of(one), refusal(one) or None) for name, one in found.items())
    return Forest(f"{metric} of each model", tuple(rows), better=_better(metric))


def _section(metric: str, found: ByModel, drawn: bool) -> Section:
    """Return the section of one metric; drawn: whether its plot is on the first screen."""
    forests = [] if drawn else [_forest(metric, found)]
    if changes := {name: Span.of(one) for name, one in _differences(found).items()}:
        rows = tuple(ForestRow(name, change, change.text(signed=True)) for name, change in changes.items())
        title = f"Difference to {next(iter(found))}, on the same clicks"
        forests.append(Forest(title, rows, 0.0, "no difference", better=_better(metric)))
    caption = metric
    if given := next((one for one in found.values() if isinstance(one, Measured)), None):
        caption += f": {percent(given.rejected)} of the clicks rejected, effective size {_size(given)} impressions"
    table = Figures(caption, _HEADER[:5], tuple(_cells(name, one)[:5] for name, one in found.items()))
    return Section(metric, forests=tuple(forests), tables=(table,))


def _by_group(found: Measurements, metric: str) -> Section:
    by, header = found.facts["by"], (f"{found.facts['by']}: model", *_HEADER[1:])
    rows = tuple(
        _cells(f"{group}: {name}", one)
        for group, part in found.groups.items()
        for name, one in _of(part, metric).items()
    )
    return Section(f"{metric} by {by}", tables=(Figures(f"{metric} by {by}", header, rows, ((4,), (6,))),))


def _cells(label: str, one: Measured | NoOverlapError) -> tuple[Cell, ...]:
    if isinstance(one, NoOverlapError):
        return (label, "", refusal(one), *[""] * 4)
    span, change = Span.of(one), Span.of(one.difference)
    away = (change.number(signed=True), change.interval(signed=True)) if one.difference else ("", "")
    return (label, span.number(), span.interval(), *away, percent(one.rejected), _size(one))


def _size(found: Measured) -> str:
    return count(round(finite(found.ess) or 0))
