"""Plots as data: positions from 0 (left) to 1 (right) and labels in words; `svg` draws them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from offrank.report import facts, words
from offrank.report.answers import error_of
from offrank.report.facts import Document, Record
from offrank.report.rows import measured, row

_MARGIN = 0.05
_CUT_AT_WIDTHS = 10


@dataclass(frozen=True)
class Tick:
    """A labelled place on an axis."""

    position: float
    label: str


@dataclass(frozen=True)
class Axis:
    """A range of values laid on 0 to 1, evenly or (log) by powers of ten."""

    low: float
    high: float
    log: bool = False

    def position(self, value: float) -> float:
        """Where a value lies; outside 0 to 1 if it is beyond the axis."""
        low, high, at = (math.log10(v) if self.log else v for v in (self.low, self.high, value))
        return (at - low) / (high - low)

    def ticks(self, most: int = 5) -> tuple[Tick, ...]:
        """At most about so many ticks at round values."""
        if self.log:
            exponents = range(math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9) + 1)
            skip = max(1, math.ceil(len(exponents) / most))
            return tuple(Tick(self.position(10.0**e), f"{10.0**e:g}") for e in exponents if e % skip == 0)
        step = _round_step((self.high - self.low) / most)
        places = max(0, -math.floor(math.log10(step)))
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return tuple(Tick(self.position(i * step), words.number(i * step, places)) for i in range(first, last + 1))


@dataclass(frozen=True)
class ForestRow:
    """One interval as positions, None where there is nothing to draw; `cut_*` if it leaves the axis."""

    label: str
    text: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    cut_low: bool = False
    cut_high: bool = False
    truth: float | None = None
    logged: float | None = None
    severity: str = "ok"


@dataclass(frozen=True)
class ForestPlot:
    """Intervals below each other on one axis, with a line to compare them to; as bars from zero if `bars`."""

    title: str
    rows: tuple[ForestRow, ...]
    ticks: tuple[Tick, ...]
    reference: float | None = None
    reference_label: str = ""
    band: tuple[float, float] | None = None
    bars: bool = False

    @property
    def cut(self) -> bool:
        """Whether any row goes on beyond the axis."""
        return any(one.cut_low or one.cut_high for one in self.rows)

    @property
    def doubtful(self) -> bool:
        """Whether any estimate that is drawn has a serious warning."""
        return any(one.severity == "serious" and one.low is not None for one in self.rows)

    @property
    def truth(self) -> bool:
        """Whether the truth is marked."""
        return any(one.truth is not None for one in self.rows)

    @property
    def logged(self) -> bool:
        """Whether what the log earned is marked, for all rows or for each."""
        return self.band is not None or any(one.logged is not None for one in self.rows)


@dataclass(frozen=True)
class Span:
    """A value with the ends of its interval, in the units of the log; a missing value is a refused one."""

    value: float | None
    low: float | None
    high: float | None

    @property
    def width(self) -> float | None:
        """Length of the interval."""
        return None if self.low is None or self.high is None else self.high - self.low


def forest(document: Document, target: str) -> ForestPlot:
    """The estimates of one target; the axis is the same for all targets, so that plots can be compared."""
    whole_log = [one for one in facts.estimates(document) if one.get("group") is None]
    logged = document.get("logged") or {}
    reference = logged.get("value")
    known = [value for value in (reference, logged.get("low"), logged.get("high")) if value is not None]
    known += [one["truth"] for one in whole_log if one.get("truth") is not None]
    axis = shared_axis([_span(one) for one in whole_log], known)
    ends = [logged.get("low"), logged.get("high")]
    return ForestPlot(
        title=f"Estimates for {target} with their intervals",
        rows=tuple(_row(axis, one) for one in facts.estimates_of(document, target)),
        ticks=axis.ticks(),
        reference=None if reference is None else axis.position(reference),
        reference_label="" if reference is None else f"logged {words.number(reference, _places(logged))}",
        band=None if None in ends else (axis.position(logged["low"]), axis.position(logged["high"])),
    )


def group_forest(document: Document, target: str, estimator: str) -> ForestPlot:
    """One estimator in each of the largest groups, beside what the log earned there."""
    shown = set(facts.groups(document)[: facts.MOST_GROUPS])
    found = [one for one in facts.estimates(document) if one["target"] == target and one["estimator"] == estimator]
    found = sorted((one for one in found if one.get("group") in shown), key=lambda one: -(one.get("n") or 0))
    logged = [_logged_in_group(one) for one in found]
    axis = shared_axis([_span(one) for one in found], [value for value in logged if value is not None])
    return ForestPlot(
        title=f"{estimator} for {target} by {document.get('by') or 'group'}",
        rows=tuple(_row(axis, one, str(one["group"]), at) for one, at in zip(found, logged, strict=True)),
        ticks=axis.ticks(),
    )


def mean_weights(document: Document, target: str) -> ForestPlot:
    """The mean weight of each estimator that has one, around the 1 that it should be."""
    found = [one for one in facts.estimates_of(document, target) if one.get("mean_weight") is not None]
    spans = [Span(*(one.get(f"mean_weight{end}") for end in ("", "_low", "_high"))) for one in found]
    axis = shared_axis(spans, [0.95, 1.0, 1.05])  # less than that is not worth a closer look
    return ForestPlot(
        title=f"Mean importance weight for {target}, which should be 1",
        rows=tuple(_span_row(axis, span, one["estimator"]) for one, span in zip(found, spans, strict=True)),
        ticks=axis.ticks(),
        reference=axis.position(1.0),
        reference_label="1",
    )


def intervals(title: str, spans: Mapping[str, Span], reference: float | None = None, label: str = "") -> ForestPlot:
    """Any numbers by name with their intervals, and a line to compare them to."""
    axis = shared_axis(spans.values(), [] if reference is None else [reference])
    return ForestPlot(
        title=title,
        rows=tuple(_span_row(axis, span, name) for name, span in spans.items()),
        ticks=axis.ticks(),
        reference=None if reference is None else axis.position(reference),
        reference_label=label,
    )


def ranks(document: Document) -> ForestPlot:
    """Clicks per impression at each rank, as bars from zero with intervals."""
    found = document.get("ranks") or []
    spans = [Span(one.get("click_rate"), one.get("low"), one.get("high")) for one in found]
    highest = max((end for span in spans for end in (span.value, span.high) if end is not None), default=0.0)
    axis = Axis(0.0, (highest or 1.0) * (1 + _MARGIN))
    return ForestPlot(
        title="Clicks per impression at each rank",
        rows=tuple(_span_row(axis, span, f"rank {one['rank']}") for one, span in zip(found, spans, strict=True)),
        ticks=axis.ticks(),
        bars=True,
    )


def shared_axis(spans: Iterable[Span], known: Sequence[float] = ()) -> Axis:
    """A range that shows the known values and all intervals, but for those that would flatten the others.

    An interval is left out when it is ten times as wide as the tightest quarter of all, and three times as
    wide as the spread of everything tighter.
    """
    drawn = sorted((span for span in spans if span.value is not None), key=lambda span: span.width or 0.0)
    widths = [span.width for span in drawn if span.width]
    tight = widths[(len(widths) - 1) // 4] if widths else 0.0
    shown = list(known)
    for span in drawn:
        spread = max(shown) - min(shown) if shown else 0.0
        if not shown or (span.width or 0.0) <= max(_CUT_AT_WIDTHS * tight, 3 * spread):
            shown += [end for end in (span.value, span.low, span.high) if end is not None]
    low, high = min(shown, default=0.0), max(shown, default=1.0)
    margin = _MARGIN * (high - low) or 0.5 * abs(low) or 0.5
    return Axis(low - margin, high + margin)


def _row(axis: Axis, estimate: Record, label: str | None = None, logged: float | None = None) -> ForestRow:
    worded = row(estimate)
    truth = estimate.get("truth")
    drawn = _span(estimate)
    return ForestRow(
        label=worded.estimator if label is None else label or "(empty)",
        text=worded.summary,
        **_positions(axis, drawn),
        truth=None if truth is None else _within(axis, truth),
        logged=None if logged is None else _within(axis, logged),
        severity=worded.severity,
    )


def _span_row(axis: Axis, span: Span, label: str) -> ForestRow:
    return ForestRow(label=label, text=measured(vars(span)), **_positions(axis, span))


def _positions(axis: Axis, span: Span) -> dict[str, Any]:
    value, low, high = (None if v is None else axis.position(v) for v in (span.value, span.low, span.high))
    if value is None:
        return {}
    return {
        "value": value if 0 <= value <= 1 else None,
        "low": None if low is None else min(max(low, 0.0), 1.0),
        "high": None if high is None else min(max(high, 0.0), 1.0),
        "cut_low": min(value, value if low is None else low) < 0,
        "cut_high": max(value, value if high is None else high) > 1,
    }


def _span(estimate: Record) -> Span:
    refused = bool(estimate.get("error"))
    return Span(*(None if refused else estimate.get(key) for key in ("value", "low", "high")))


def _within(axis: Axis, value: float) -> float | None:
    position = axis.position(value)
    return position if 0 <= position <= 1 else None


def _logged_in_group(estimate: Record) -> float | None:
    difference = (estimate.get("difference") or {}).get("value")
    return None if difference is None or estimate.get("value") is None else estimate["value"] - difference


def _places(record: Record) -> int:
    return words.decimals(record.get("value"), error_of(record))


def _round_step(step: float) -> float:
    power = 10.0 ** math.floor(math.log10(step))
    return power * next(factor for factor in (1, 2, 5, 10) if factor * power >= step * (1 - 1e-9))
