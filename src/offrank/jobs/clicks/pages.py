"""Click models on a page: the sections of what `clicks evaluate`, `clicks harvest` and `select clicks` write."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ... import formatting as words
from ...clicks import text
from ...clicks.evaluated import Evaluations
from ...clicks.fitted import Fitted
from ...clicks.layout import QUANTITIES
from ...clicks.sessions import Tally
from ...folds.estimate import Interval
from ...formatting import Span, with_ends, with_half
from ...log.batch import Floats
from ...metrics.cmip_result import Cmip
from ...report.charts import Chart, Series
from ...report.plots import Forest, ForestRow
from ...report.sheet import Answer, Cell, Figures, Finding, Section
from ...selection.click_models import Selection
from .ndcg import Ranked

Curve = tuple[Floats, Floats, Floats]
"""[k] a curve, and the ends of its interval, NaN where there is none."""

HEADINGS = ("log-likelihood", "perplexity", "conditional perplexity")
"""Of `QUANTITIES`, in their order."""
_APART = 0.06
_SPREAD = 0.24
"""Between the points of models at the same rank, and of all of them, so that intervals can be told apart."""


def known(findings: tuple[Finding, ...], tally: Tally, other: Tally | None = None) -> Section:
    """What to know before the numbers are relied on, and what reading this log and the other one left out."""
    prose = () if findings else ("Nothing was found that speaks against the numbers.",)
    items = (*text.reading(tally), *text.reading(other or Tally(), " of the other log"))
    return Section("What to know", prose, items=items, findings=findings)


def answer(found: Evaluations, severity: str) -> Answer:
    """Which model predicts best, and whether it is clearly so."""
    first = next(iter(found))
    best = min(found, key=lambda name: found[name].perplexity.value)
    said = f"{words.quote(best)} **predicts these clicks best**: perplexity {_told(found[best].perplexity)}"
    if len(found) == 1:
        said = f"{words.quote(best)}: **perplexity {_told(found[best].perplexity)}**"
    differences = {name: found.difference(name, first) for name in found if name != first}
    if best != first:
        change = differences[best]
        said += f"; its difference to {words.quote(first)} is {_told(change, signed=True)}"
        said += "" if change.high < 0 else ", **not clearly different**"
    elif close := [words.quote(name) for name, change in differences.items() if not change.low > 0]:
        said += f", but not clearly better than {words.listing(close)}"
    return Answer(f"{said}. 1 is perfect, 2 is a coin.", severity=severity)


def perplexities(found: Evaluations) -> Forest:
    """The picture of the answer."""
    return _forests(found)[0]


def quantities(found: Evaluations, ranked: Ranked | None, title: str) -> Iterator[Section]:
    """Each quantity of each model, the paired differences, and both perplexities at each rank."""
    first, *others = found
    header, rows, away = ("model", *HEADINGS, *([] if ranked is None else ["nDCG"])), [], []
    for index, (name, one) in enumerate(found.items()):
        own = [getattr(one, quantity) for quantity in QUANTITIES]
        rows.append((name, *map(_told, [*own, *([] if ranked is None else [ranked.of(index)])])))
        change = [found.difference(name, first, quantity) for quantity in QUANTITIES]
        change += [] if ranked is None else [ranked.difference(index, 0)]
        away.append((name, *(_told(number, signed=True) for number in change)))
    yield Section(title, forests=_forests(found)[1:], tables=(Figures(title, header, tuple(rows)),))
    if others:
        table = Figures(f"Less {first}, on the same sessions", header, tuple(away[1:]))
        yield Section(f"{title}, less {first}", forests=_forests(found, first), tables=(table,))
    yield _by_rank(found, f"{title}: at each rank")


def curves(models: Mapping[str, Fitted], confidence: float) -> Iterator[Section]:
    """The examination curves of the models that have one."""
    found = {name: curve for name, model in models.items() if (curve := model.examination()) is not None}
    if found:
        each = {name: (curve, *_ends(models[name], curve, confidence)) for name, curve in found.items()}
        yield examination(each, "Only their products with attraction show in clicks: each is over its first rank.")


def examination(each: Mapping[str, Curve], *prose: str, table: Figures | None = None) -> Section:
    """Curves by name. table: instead of one of the curves."""
    lines = []
    for place, (name, (curve, *ends)) in enumerate(each.items()):
        there = np.flatnonzero(np.isfinite(curve))
        x = there + 1 + _shift(place, len(each))
        low, high = (np.where(np.isfinite(end), end, curve)[there].tolist() for end in ends)
        lines.append(Series(name, x.tolist(), curve[there].tolist(), low, high, line=True))
    chart = Chart("How likely each rank is looked at", "rank", "examination", tuple(lines), whole_x=True)
    return Section("Examination", prose, charts=(chart,), tables=(table or _curves(each),))


def _curves(each: Mapping[str, Curve]) -> Figures:
    most = max(len(curve) for curve, *_ in each.values())
    rows = tuple((str(rank + 1), *(_entry(one, rank) for one in each.values())) for rank in range(most))
    return Figures("Examination", ("rank", *each), rows)


def chosen(selection: Selection) -> Section:
    """The reasons of the choice, and what each strategy chooses."""
    rows = tuple((name, one.name, ", ".join(one.kept)) for name, one in selection.choices.items())
    left = tuple(f"not used: {name} ({why})" for name, why in selection.left_out.items())
    table = Figures("Strategies", ("strategy", "chooses", "kept for the last step"), rows, extra=(2,))
    return Section("The choice", items=(*selection.choice.reasons, *left), tables=(table,))


def choice(selection: Selection, severity: str) -> Answer:
    """What to use, who says so, and what could have come out otherwise."""
    one, strategies = selection.choice, len(selection.choices)
    votes = f" {selection.votes[one.name]} of {strategies} strategies choose it." if strategies > 1 else ""
    said = f"{words.quote(one.name)} **is the choice** of {words.quote(one.strategy)}.{votes}"
    return Answer(said, severity=severity, reasons=tuple(f"but: {doubt}" for doubt in one.doubts))


def measured(here: Evaluations, ranked: Ranked, cmip: Mapping[str, Cmip]) -> Section:
    """CMIP against perplexity, and both with nDCG in a table."""
    points = tuple(
        Series(name, [here[name].perplexity.value], [found.value], [found.low], [found.high])
        for name, found in cmip.items()
    )
    chart = Chart("Both lower is better: clicks predicted, policy forgotten", "perplexity", "CMIP (nats)", points)
    rows = [
        (name, _told(here[name].perplexity), _told(ranked.of(index)), _told(_cmip(found)), _p_value(found))
        for index, (name, found) in enumerate(cmip.items())
    ]
    table = Figures("Measured", ("model", "perplexity", "nDCG", "CMIP (nats)", "p if debiased"), tuple(rows))
    return Section("What was measured", charts=(chart,), tables=(table,))


def _forests(found: Evaluations, first: str | None = None) -> tuple[Forest, ...]:
    """Both perplexities of each model, or (first) their paired differences to one of them."""
    made = []
    for quantity, heading in zip(QUANTITIES[1:], HEADINGS[1:], strict=True):
        each = {name: getattr(one, quantity) for name, one in found.items()}
        if first is not None:
            each = {name: found.difference(name, first, quantity) for name in found if name != first}
        rows = tuple(ForestRow(name, _span(one), _told(one, first is not None)) for name, one in each.items())
        title, line, label = (
            heading.capitalize(),
            None if first is None else 0.0,
            "" if first is None else "no difference",
        )
        made.append(Forest(title if first is None else f"{title}, less {first}", rows, line, label, better="left"))
    return tuple(made)


def _by_rank(found: Evaluations, title: str) -> Section:
    kinds = {"Perplexity": "perplexity_at_rank", "Given the clicks above": "conditional_perplexity_at_rank"}
    sessions = next(iter(found.values())).sessions_at_rank
    charts, tables = [], []
    for heading, name in kinds.items():
        each = {model: getattr(one, name) for model, one in found.items()}
        charts.append(Chart(f"{heading} at each rank", "rank", "perplexity", tuple(_lines(each)), whole_x=True))
        rows = [
            (str(rank), f"{count:,.0f}", *map(_told, numbers))
            for rank, (count, *numbers) in enumerate(zip(sessions, *each.values(), strict=True), 1)
            if count  # else empty in every session
        ]
        tables.append(Figures(heading, ("rank", "sessions", *each), tuple(rows)))
    return Section(title, charts=tuple(charts), tables=tuple(tables), folded=True)


def _lines(each: Mapping[str, Sequence[Interval]]) -> Iterator[Series]:
    for place, (name, numbers) in enumerate(each.items()):
        told = [(rank, one) for rank, one in enumerate(numbers, 1) if not math.isnan(one.value)]
        x = [rank + _shift(place, len(each)) for rank, _ in told]
        values, lows, highs = ([getattr(one, end) for _, one in told] for end in ("value", "low", "high"))
        yield Series(name, x, values, lows, highs, line=True)


def _shift(place: int, of: int) -> float:
    return (place - (of - 1) / 2) * min(_APART, _SPREAD / of)


def _ends(model: Fitted, curve: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Of the interval of a curve, where the model has a table of it; else NaN."""
    table = model.learnt.parameters.get("examination")
    if table is None or table.shape != curve.shape or "examination" not in model.learnt.strength:
        return (np.full(curve.shape, np.nan),) * 2
    low, high = model.interval("examination", confidence)
    return low / table[0], high / table[0]


def _entry(curve: Curve, rank: int) -> Cell:
    if rank >= len(curve[0]):
        return None
    value, low, high = (float(part[rank]) for part in curve)
    if math.isinf(high):
        return f"{value:.3g} ({low:.3g} or more)" if low > 0 else f"{value:.3g} (not identified)"
    return with_ends(Interval(value, low, high, math.nan)) if math.isfinite(value) else None


def _cmip(found: Cmip) -> Interval:
    return Interval(found.value, found.low, found.high, found.standard_error)


def _p_value(found: Cmip) -> Cell:
    return None if found.p_value is None else f"{found.p_value:.3g}"


def _span(found: Interval) -> Span:
    ends = (found.value, found.low, found.high)
    return Span(*(end if math.isfinite(end) else None for end in ends))


def _told(found: Interval, signed: bool = False) -> str:
    return with_half(found, signed)
