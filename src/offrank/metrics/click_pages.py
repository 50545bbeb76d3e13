"""Pages about click models: the sections written by `clicks evaluate`, `clicks harvest` and `select clicks`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..clicks.evaluation import QUANTITIES, Evaluations, Fit, Predictor
from ..clicks.fitted import Fitted
from ..clicks.summary import log_findings
from ..language import formatting
from ..language.formatting import MISSING, Span, with_half
from ..log.batch import Floats
from ..report.charts import Chart, Series
from ..report.document import Answer, Cell, Document, Figures, Section
from ..report.facts import again
from ..report.plots import Forest, ForestRow
from ..report.printable import Delivered
from ..sums.estimate import Caution, Interval
from .conditional_information import Cmip
from .graded import Ranked

Numbers = Sequence[Interval]
"""A number per rank with its interval; NaN where it is missing."""

HEADINGS = ("log-likelihood", "perplexity", "conditional perplexity")
"""One value for each of `QUANTITIES`, in their order."""
_APART = 0.06
_SPREAD = 0.24
"""Horizontal spacing of the models at one rank, and of all models together, to keep intervals apart."""


def looked_at(curve: Numbers) -> str:
    """Say how much less the last known rank is examined than the first."""
    known = [(rank, one) for rank, one in enumerate(curve, 1) if math.isfinite(one.value)]
    (first, _), (last, one) = known[0], known[-1]
    value, between = Span.of(one).percents(signed=False)
    said = f"Rank {last} is examined **{value}** as often as rank {first}"
    if math.isinf(one.high):
        return f"{said} ({formatting.percent(one.low)} or more: no upper bound)."
    return f"{said}." if between == MISSING else f"{said} ({between})."


def ends(found: Interval, signed: bool = False) -> str:
    """Format the ends of an interval; an infinite end is open."""
    span = Span.of(found)
    if math.isinf(found.high):
        return f"{span.parts(signed, other=found.low)[0]} or more" if found.low > 0 else "not identified"
    return span.interval(signed)


def answer(found: Evaluations, severity: str) -> Answer:
    """Say which model predicts best, and whether the difference is significant."""
    first = next(iter(found))
    best = min(found, key=lambda name: formatting.nine_digits(found[name].perplexity.value))
    said = f"{formatting.quote(best)} **predicts these clicks best**: perplexity {with_half(found[best].perplexity)}"
    if len(found) == 1:
        said = f"{formatting.quote(best)}: **perplexity {with_half(found[best].perplexity)}**"
    differences = {name: found.difference(name, first) for name in found if name != first}
    if best != first:
        change = differences[best]
        said += f"; its difference to {formatting.quote(first)} is {with_half(change, signed=True)}"
        said += "" if change.high < 0 else ", **no clear difference**"
    elif close := [formatting.quote(name) for name, change in differences.items() if not change.low > 0]:
        said += f", but not clearly better than {formatting.listing(close)}"
    doubtful = "**Do not use.** On this log, " if severity == "serious" else ""
    return Answer(f"{doubtful}{said}. A perplexity of 1 is perfect, 2 is a coin toss.", severity=severity)


def quantities(found: Evaluations, ranked: Ranked | None, title: str) -> Iterator[Section]:
    """List each quantity of each model, the paired differences, and both perplexities at each rank."""
    first, *others = found
    header, rows, away = ("model", *HEADINGS, *([] if ranked is None else ["nDCG"])), [], []
    for index, (name, one) in enumerate(found.items()):
        own = [getattr(one, quantity) for quantity in QUANTITIES]
        rows.append((name, *map(with_half, [*own, *([] if ranked is None else [ranked.of(index)])])))
        change = [found.difference(name, first, quantity) for quantity in QUANTITIES]
        change += [] if ranked is None else [ranked.difference(index, 0)]
        away.append((name, *(with_half(number, signed=True) for number in change)))
    yield Section(title, forests=forests(found)[1:], tables=(Figures(title, header, tuple(rows)),))
    if others:
        table = Figures(f"Difference to {first}, on the same sessions", header, tuple(away[1:]))
        yield Section(f"{title}: differences to {first}", forests=forests(found, first), tables=(table,))
    yield _by_rank(found, f"{title}: at each rank")


def curve_of(model: Fitted, confidence: float) -> Numbers | None:
    """Return a model's examination curve, with intervals if its table has them; None if it has no curve."""
    curve, table = model.examination(), model.learnt.parameters.get("examination")
    if curve is None:
        return None
    low = high = np.full(curve.shape, np.nan)
    if table is not None and table.shape == curve.shape and "examination" in model.learnt.strength:
        low, high = (end / table[0] for end in model.interval("examination", confidence))
    return numbers(curve, low, high)


def numbers(curve: Floats, low: Floats, high: Floats) -> Numbers:
    """Pair a curve [k] with the ends of its interval."""
    each = zip(curve.tolist(), low.tolist(), high.tolist(), strict=True)
    return [Interval(*one, math.nan) for one in each]


def curves(models: Mapping[str, Fitted], confidence: float) -> Iterator[Section]:
    """Return the examination curves of the models that have one."""
    found = {name: curve for name, model in models.items() if (curve := curve_of(model, confidence)) is not None}
    if found:
        most = max(map(len, found.values()))
        rows = tuple((str(at + 1), *(_at_rank(curve, at) for curve in found.values())) for at in range(most))
        table = Figures("", ("rank", *found), rows)
        prose = "Examination relative to rank 1. Only the ratio can be learnt from clicks."
        yield Section("Examination", (prose,), charts=(examination_chart(found),), tables=(table,))


def examination_chart(found: Mapping[str, Numbers]) -> Chart:
    """Plot the examination curves by name."""
    return replace(_chart("Examination by rank", "examination", found), zero_y=True)


def fit_section(model: Fitted, fit: Fit | None, confidence: float) -> Section:
    """Tell how a model fits the clicks that it was learnt from, and how often documents were shown, in two charts."""
    curve, shown = curve_of(model, confidence), model.documents.shown
    charts = [] if curve is None else [examination_chart({"": curve})]
    if curve is None and fit is not None:
        charts = [_chart("Perplexity at each rank", "perplexity", {"": fit.perplexity_at_rank})]
    charts += [] if shown is None or not len(shown) else [_views(shown)]
    relative = ["Examination is relative to rank 1: only the ratio can be learnt from clicks."] if curve else []
    return Section("Fit", (*_fitted(model, fit), *_seen(shown), *relative), charts=tuple(charts))


def _fitted(model: Fitted, fit: Fit | None) -> Iterator[str]:
    if fit is None:
        return
    first = "" if fit.sessions == model.tally.impressions else f"first {fit.sessions:,} "
    which = f"{first}sessions that it was learnt from"
    if fit.impossible:
        few = formatting.plural(fit.impossible, "session", "sessions")
        yield f"The model gives probability 0 to {few} of the {which}, which it cannot explain."
        return
    away = "better than" if fit.ahead.low > 0 else "worse than" if fit.ahead.high < 0 else "not clearly better than"
    yield (
        f"On the {which}, its log-likelihood a session is {Span.of(fit.log_likelihood).number()}: {away} click rates "
        f"by rank alone ({Span.of(fit.by_rank).number()}), by {Span.of(fit.ahead).text(signed=True)}. Perplexity "
        f"{Span.of(fit.perplexity).number()}. On other sessions it predicts less well: `offrank clicks evaluate`."
    )


def _seen(shown: Floats | None) -> Iterator[str]:
    """Say how often documents were shown, where that is known."""
    if shown is not None and len(shown):
        few, some = (f"{int((shown < times).sum()):,}" for times in (10, 100))
        yield (
            f"Of {len(shown):,} documents, {few} were shown fewer than 10 times and {some} fewer than 100 times; half "
            f"were shown at least {np.median(shown):,.0f} times."
        )


def _views(shown: Floats) -> Chart:
    """Draw how many documents were shown at least so often."""
    decades = range(len(str(int(shown.max()))))
    steps = [step * 10**decade for decade in decades for step in (1, 2, 5) if step * 10**decade <= shown.max()] or [1]
    counts = [float((shown >= step).sum()) for step in steps]
    line = Series("documents", list(map(float, steps)), counts, line=True)
    return Chart("Documents shown at least so often", "times shown", "documents", (line,), log_x=True, zero_y=True)


def measured(here: Evaluations, ranked: Ranked, cmip: Mapping[str, Cmip]) -> Section:
    """Plot CMIP against perplexity and the direction of each model, and list all with nDCG in a table.

    CMIP is what is above that of a right model on the same log, with its interval; beside it stand both.
    """
    points = tuple(
        Series(name, [here[name].perplexity.value], [found.value], [found.low], [found.high])
        for name, found in ((name, above(one)) for name, one in cmip.items())
    )
    floored = any(found.draws > 1 for found in cmip.values())
    what = "CMIP above unbiased (nats)" if floored else "CMIP (nats)"
    chart = Chart(
        "Lower is better on both axes: prediction of clicks, independence of the policy", "perplexity", what, points
    )
    rows = []
    for index, (name, found) in enumerate(cmip.items()):
        debiased, floor = Interval(found.value, found.low, found.high, found.standard_error), found.floor
        numbers = map(with_half, (here[name].perplexity, ranked.of(index)))
        excess = None if found.excess is None else with_half(found.excess, signed=True)
        noise = None if floor is None else Span.of(replace(floor.value, low=max(floor.value.low, 0.0))).interval()
        towards = None if found.direction is None else with_half(found.direction, signed=True)
        rows.append((name, *numbers, excess, towards, with_half(debiased), noise))
    heading = (
        "model",
        "perplexity",
        "nDCG",
        "CMIP above an unbiased model's",
        "direction",
        "CMIP (nats)",
        "an unbiased model's",
    )
    table = Figures("Measured", heading, tuple(rows), extra=((5,), (6,)))
    return Section("Measurements", charts=(chart,), forests=_directions(cmip), tables=(table,))


def above(found: Cmip) -> Interval:
    """Return what strategies choose by: what CMIP by draws is above the floor, since each model has its own floor.

    CMIP by point estimates stays as the paper has it.
    """
    own = Interval(found.value, found.low, found.high, found.standard_error)
    return found.excess or own if found.draws > 1 else own


def _directions(cmip: Mapping[str, Cmip]) -> tuple[Forest, ...]:
    """Plot the direction of each model; beside it that of a right model."""
    rows = []
    for name, found in cmip.items():
        if found.direction is not None:
            floor = "" if found.floor is None else f"an unbiased model: {ends(found.floor.direction, signed=True)}"
            text = with_half(found.direction, signed=True)
            rows.append(ForestRow(name, Span.of(found.direction), text, aside=floor))
    title = "Direction: rank correlation of relevance with the policy, among documents of the same grade"
    return (Forest(title, tuple(rows), 0.0, "neither"),) if rows else ()


def forests(found: Evaluations, first: str | None = None) -> tuple[Forest, ...]:
    """Plot both perplexities of each model or, if `first` is given, their paired differences to that model."""
    made, signed = [], first is not None
    for quantity, heading in zip(QUANTITIES[1:], HEADINGS[1:], strict=True):
        title, line, label = heading.capitalize(), None, ""
        each = {name: getattr(one, quantity) for name, one in found.items()}
        if first is not None:
            title, line, label = f"{title}, minus {first}", 0.0, "no difference"
            each = {name: found.difference(name, first, quantity) for name in found if name != first}
        rows = (ForestRow(name, Span.of(one), with_half(one, signed)) for name, one in each.items())
        made.append(Forest(title, tuple(rows), line, label, better="left"))
    return tuple(made)


def _by_rank(found: Evaluations, title: str) -> Section:
    kinds = {"Perplexity": "perplexity_at_rank", "Given the clicks above": "conditional_perplexity_at_rank"}
    sessions = next(iter(found.values())).sessions_at_rank
    charts, tables = [], []
    for heading, name in kinds.items():
        each: dict[str, Numbers] = {model: getattr(one, name) for model, one in found.items()}
        charts.append(_chart(f"{heading} at each rank", "perplexity", each))
        rows = [
            (str(rank), f"{count:,.0f}", *map(with_half, at))
            for rank, (count, *at) in enumerate(zip(sessions, *each.values(), strict=True), 1)
            if count  # otherwise empty in every session
        ]
        tables.append(Figures(heading, ("rank", "sessions", *each), tuple(rows)))
    return Section(title, charts=tuple(charts), tables=tuple(tables), folded=True)


def _chart(title: str, y: str, each: Mapping[str, Numbers]) -> Chart:
    """Draw a line per model over the ranks that have a value."""
    lines = []
    for place, (name, curve) in enumerate(each.items()):
        shift = (place - (len(each) - 1) / 2) * min(_APART, _SPREAD / len(each))
        known = [(rank + shift, one) for rank, one in enumerate(curve, 1) if math.isfinite(one.value)]
        low, high = (
            [end if math.isfinite(end := getattr(one, side)) else one.value for _, one in known]
            for side in ("low", "high")
        )
        lines.append(Series(name, [x for x, _ in known], [one.value for _, one in known], low, high, line=True))
    return Chart(title, "rank", y, tuple(lines), whole_x=True)


def _at_rank(curve: Numbers, rank: int) -> Cell:
    if rank >= len(curve) or not math.isfinite(curve[rank].value):
        return None
    one = curve[rank]
    span = Span.of(one)
    return f"{span.number()} ({ends(one)})" if math.isinf(one.high) else span.text()


@dataclass(frozen=True)
class ClickEvaluation(Delivered):
    """Results of click models on a log.

    - here: on the log itself. elsewhere: on another log, such as of another ranking policy; None if not given.
    - ranked: nDCG; None without labels.
    """

    models: Mapping[str, Predictor]
    here: Evaluations
    elsewhere: Evaluations | None = None
    ranked: Ranked | None = None

    @property
    def cautions(self) -> dict[str, tuple[Caution, ...]]:
        """Return the warnings about each model: from its fit, from this log, and from the other log."""
        found = {}
        for name, model in self.models.items():
            away = self.elsewhere[name].cautions if self.elsewhere else ()
            learnt = model.cautions if isinstance(model, Fitted) else ()
            found[name] = tuple(dict.fromkeys((*learnt, *self.here[name].cautions, *away)))
        return found

    headings = ("model", "quantity", "rank", "value", "difference")

    def records(self) -> list[dict[str, Any]]:
        return self.here.records()

    def to_dict(self) -> dict[str, Any]:
        found = {**self.facts, **self.here.to_dict()}
        if self.elsewhere is not None:
            found["out_of_distribution"] = self.elsewhere.to_dict()
        if self.ranked is not None:
            found["ndcg"] = self.ranked.to_dict(list(self.models))
        return found

    def to_document(self) -> Document:
        first = next(iter(self.here.values()))
        away = next(iter(self.elsewhere.values())).tally if self.elsewhere else None
        parts = [
            log_findings(self.findings_by_code(), first.tally, away, self.facts.get("grades")),
            *quantities(self.here, self.ranked, "On this log"),
        ]
        if self.elsewhere is not None:
            parts += quantities(self.elsewhere, None, f"Out of distribution: {self.facts['other']}")
        fitted = {name: model for name, model in self.models.items() if isinstance(model, Fitted)}
        parts += curves(fitted, first.confidence)
        parts.append(again(self.facts, "log", "other", "labels", "cluster", "spelling"))
        read = f"{first.sessions:,} sessions, {100 * first.confidence:g} % intervals"
        return self._page(read, parts, answer(self.here, self.severity), forests(self.here)[0])
