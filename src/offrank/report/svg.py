"""Plots drawn as inline SVG that flows with the page: places are in per cent, so that text keeps its size.

Colours, fonts and the change from two lines per row (phone) to one (wide) come from the style sheet.
"""

from __future__ import annotations

from html import escape

from offrank.report import words
from offrank.report.histograms import Histogram
from offrank.report.plots import ForestPlot, ForestRow, Tick

_ROW, _TOP, _FOOT = 42, 22, 26
_TEXT = 15
_MARK = 29  # where the interval lies below the top of its row; the style sheet lifts it beside the label
_HISTOGRAM = 84


def forest_svg(plot: ForestPlot) -> str:
    """A forest plot, or bars with intervals: marks between labels and numbers, or under them on a phone."""
    top = _TOP if plot.reference is not None else 4
    bottom = top + _ROW * len(plot.rows)
    field = _grid(plot.ticks, top, bottom) + _reference(plot, top, bottom)
    labels, numbers = _rules(len(plot.rows), top), _rules(len(plot.rows), top)
    field += _rules(len(plot.rows), top)
    for index, row in enumerate(plot.rows):
        field += _marks(plot, row, top + index * _ROW + _MARK)
        labels += _label(row, top + index * _ROW + _TEXT)
        numbers += _number(row, top + index * _ROW + _TEXT)
    drawn = _figure("field", plot.title, bottom + _FOOT, field)
    texts = (("labels", labels), ("numbers", numbers))
    sides = "".join(f'<svg class="{kind}" width="100%" height="{bottom}">{text}</svg>' for kind, text in texts)
    return f'<div class="forest">{drawn}{sides}</div>'


def histogram_svg(plot: Histogram) -> str:
    """A histogram as one `<svg>` element; a bin that holds anything shows at least a sliver."""
    bars = ""
    for bar in plot.bars:
        height = max(1.5, bar.height * (_HISTOGRAM - 8))
        width = _percent(bar.right - bar.left)
        place = f'x="{_percent(bar.left)}" y="{_HISTOGRAM - height:.1f}" width="{width}" height="{height:.1f}"'
        bars += f'<rect class="bar" {place}/>'
    one = "" if plot.one is None else _line("reference", plot.one, plot.one, 0, _HISTOGRAM)
    floor = _line("floor", 0, 1, _HISTOGRAM, _HISTOGRAM)
    return _figure("histogram", plot.title, _HISTOGRAM + _FOOT, bars + one + floor + _axis(plot.ticks, _HISTOGRAM))


def _figure(kind: str, title: str, height: float, content: str) -> str:
    name = escape(words.printable(title))
    size = f'width="100%" height="{height:g}"'
    return f'<svg class="{kind}" role="img" aria-label="{name}" {size}><title>{name}</title>{content}</svg>'


def _rules(rows: int, top: float) -> str:
    return "".join(_line("rule", 0, 1, top + _ROW * index, top + _ROW * index) for index in range(1, rows))


def _grid(ticks: tuple[Tick, ...], top: float, bottom: float) -> str:
    lines = "".join(_line("grid", tick.position, tick.position, top, bottom) for tick in ticks)
    return lines + _axis(ticks, bottom)


def _axis(ticks: tuple[Tick, ...], y: float) -> str:
    return "".join(_text("tick", tick.position, y + 16, tick.label, _anchor(tick.position)) for tick in ticks)


def _reference(plot: ForestPlot, top: float, bottom: float) -> str:
    if plot.reference is None:
        return ""
    band = ""
    if plot.band is not None:
        low, high = plot.band
        place = f'x="{_percent(low)}" width="{_percent(high - low)}" y="{top}" height="{bottom - top}"'
        band = f'<rect class="band" {place}/>'
    label = _text("reference-label", plot.reference, top - 8, plot.reference_label, _anchor(plot.reference, 0.15))
    return band + _line("reference", plot.reference, plot.reference, top - 4, bottom) + label


def _marks(plot: ForestPlot, row: ForestRow, y: float) -> str:
    drawn = ""
    if plot.bars and row.value is not None:
        drawn += f'<rect class="bar" x="0" y="{y - 6}" width="{_percent(row.value)}" height="12"/>'
    if row.low is not None and row.high is not None:
        drawn += _line("interval", row.low, row.high, y, y)
        drawn += _end(row.low, y, row.cut_low, -1) + _end(row.high, y, row.cut_high, 1)
    if row.logged is not None:
        drawn += _line("reference", row.logged, row.logged, y - 7, y + 7)
    if row.value is not None and not plot.bars:
        kind = "point doubtful" if row.severity == "serious" else "point"
        drawn += f'<circle class="{kind}" cx="{_percent(row.value)}" cy="{y}" r="4.5"/>'
    if row.truth is not None:
        drawn += _shape("truth", row.truth, y + 5, "M0 0 5 7-5 7Z")
    return f'<g class="marks">{drawn}</g>'


def _end(position: float, y: float, cut: bool, side: int) -> str:
    """The end of an interval: a small bar across, or an arrow where it goes on."""
    if cut:
        return _shape("interval", position, y, f"M{-6 * side}-5 0 0 {-6 * side} 5")
    return _line("interval", position, position, y - 4, y + 4)


def _label(row: ForestRow, y: float) -> str:
    name = words.printable(row.label)
    full = f"<title>{escape(name)}</title>" if words.shorten(name) != name else ""
    return f'<text class="label" x="0" y="{y}">{escape(words.shorten(name))}{full}</text>'


def _number(row: ForestRow, y: float) -> str:
    kind = "number" if row.value is not None or row.low is not None else "number refused"
    return f'<text class="{kind}" x="100%" y="{y}" text-anchor="end">{escape(typographic(row.text))}</text>'


def typographic(text: str) -> str:
    """Numbers with a true minus sign, and a dash for what is missing."""
    return "\u2013" if text == words.MISSING else text.replace("-", "\u2212")


def _anchor(position: float, edge: float = 0.03) -> str:
    return "start" if position < edge else "end" if position > 1 - edge else "middle"


def _text(kind: str, x: float, y: float, text: str, anchor: str) -> str:
    shown = escape(typographic(text))
    return f'<text class="{kind}" x="{_percent(x)}" y="{y:g}" text-anchor="{anchor}">{shown}</text>'


def _line(kind: str, x1: float, x2: float, y1: float, y2: float) -> str:
    ends = f'x1="{_percent(x1)}" x2="{_percent(x2)}" y1="{y1:g}" y2="{y2:g}"'
    return f'<line class="{kind}" {ends}/>'


def _shape(kind: str, x: float, y: float, path: str) -> str:
    """A shape of fixed size at a place in per cent, which a path by itself cannot have."""
    return f'<svg x="{_percent(x)}" y="{y:g}" overflow="visible"><path class="{kind}" d="{path}"/></svg>'


def _percent(position: float) -> str:
    return f"{100 * position:.2f}%"
