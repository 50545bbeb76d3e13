"""Plots as inline SVG that flows with the page: positions are percentages, so that text keeps its size.

Colours, fonts and the change from two lines per row (phone) to one (wide) come from the style sheet.
"""

from __future__ import annotations

from html import escape
from importlib.resources import files

from ..formatting import printable, shorten, typographic
from .plots import MARKS, Axis, Forest, ForestRow, Tick

_ROW, _TALL, _TOP, _FOOT = 42, 66, 22, 26
_TEXT = 15
_MARK = 29  # offset of the interval below the top of its row; the style sheet moves it beside the label
_ASIDE = 53
_SIDES = {"labels": (0, 20), "field": (20, 39), "numbers": (59, 41)}


def forest_svg(plot: Forest) -> str:
    """Draw intervals below each other for a page: between labels and numbers, or below them on a phone."""
    return f'<div class="forest{" tall" if plot.tall else ""}">{"".join(_parts(plot).values())}</div>'


def standalone(plot: Forest, width: int = 800) -> str:
    """Draw the same plot as one SVG that needs no page."""
    height = _height(plot) + _FOOT + 4
    style = files("offrank.report").joinpath("templates/report.css").read_text(encoding="utf-8")
    parts = _parts(plot)
    placed = "".join(
        parts[name].replace('width="100%"', f'x="{start}%" width="{wide}%"', 1)
        for name, (start, wide) in _SIDES.items()
    )
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    content = f'<g class="forest wide{" tall" if plot.tall else ""}">{placed}</g>'
    name = escape(printable(plot.title))
    start = f'<svg xmlns="http://www.w3.org/2000/svg" class="alone" role="img" aria-label="{name}" {size}>'
    return f"{start}<style>{escape(style, quote=False)}</style>{content}</svg>"


def _height(plot: Forest) -> int:
    return _top(plot) + (_TALL if plot.tall else _ROW) * len(plot.rows)


def _top(plot: Forest) -> int:
    return _TOP if plot.reference is not None else 4


def _parts(plot: Forest) -> dict[str, str]:
    top, bottom, axis = _top(plot), _height(plot), plot.axis
    step = _TALL if plot.tall else _ROW
    rules = "".join(_line("rule", 0, 1, top + step * index, top + step * index) for index in range(1, len(plot.rows)))
    ticks = axis.ticks()
    field = "".join(_line("grid", tick.position, tick.position, top, bottom) for tick in ticks)
    field += _ticks(ticks, bottom) + _reference(plot, axis, top, bottom) + rules
    labels = numbers = rules
    for index, row in enumerate(plot.rows):
        y = top + index * step
        field += _marks(plot, axis, row, y + _MARK)
        labels += _label(row, y + _TEXT)
        numbers += _number(row, y)
    if plot.better:
        place = (0.0, "\u2190 better") if plot.better == "left" else (1.0, "better \u2192")
        field += _text("better", place[0], bottom + _FOOT + 2, place[1], _anchor(place[0]))
    sides = (("labels", labels), ("numbers", numbers))
    drawn = {"field": _figure("field", plot.title, bottom + _FOOT + (4 if plot.better else 0), field)}
    return drawn | {kind: f'<svg class="{kind}" width="100%" height="{bottom}">{text}</svg>' for kind, text in sides}


def _figure(kind: str, title: str, height: float, content: str) -> str:
    name = escape(printable(title))
    size = f'width="100%" height="{height:g}"'
    return f'<svg class="{kind}" role="img" aria-label="{name}" {size}><title>{name}</title>{content}</svg>'


def _ticks(ticks: tuple[Tick, ...], y: float) -> str:
    return "".join(_text("tick", tick.position, y + 16, tick.label, _anchor(tick.position)) for tick in ticks)


def _reference(plot: Forest, axis: Axis, top: float, bottom: float) -> str:
    if plot.reference is None:
        return ""
    at, band = axis.position(plot.reference), ""
    if plot.band.low is not None and plot.band.high is not None:
        low, high = axis.position(plot.band.low), axis.position(plot.band.high)
        place = f'x="{_percent(low)}" width="{_percent(high - low)}" y="{top}" height="{bottom - top}"'
        band = f'<rect class="band" {place}/>'
    label = _text("reference-label", at, top - 8, plot.label, _anchor(at, 0.15))
    return band + _line("reference", at, at, top - 4, bottom) + label


def _marks(plot: Forest, axis: Axis, row: ForestRow, y: float) -> str:
    span, drawn = row.span, ""
    if span.value is None:
        return ""
    value = axis.position(span.value)
    if plot.bars:
        drawn += f'<rect class="bar" x="0" y="{y - 6}" width="{_percent(value)}" height="12"/>'
    if span.low is not None and span.high is not None:
        low, high = axis.position(span.low), axis.position(span.high)
        drawn += _line("interval", _inside(low), _inside(high), y, y)
        drawn += _end(_inside(low), y, low < 0, -1) if low <= 1 else ""
        drawn += _end(_inside(high), y, high > 1, 1) if high >= 0 else ""
    elif value != _inside(value):
        drawn += _end(_inside(value), y, True, 1 if value > 1 else -1)
    if row.logged is not None and 0 <= axis.position(row.logged) <= 1:
        drawn += _line("reference", axis.position(row.logged), axis.position(row.logged), y - 7, y + 7)
    if 0 <= value <= 1 and not plot.bars:
        careful = row.severity == "warning" and row.light in MARKS
        kind = "point doubtful" if careful or row.severity == "serious" else "point"
        drawn += f'<circle class="{kind}" cx="{_percent(value)}" cy="{y}" r="4.5"/>'
    if row.truth is not None and 0 <= axis.position(row.truth) <= 1:
        drawn += _shape("truth", axis.position(row.truth), y + 5, "M0 0 5 7-5 7Z")
    return f'<g class="marks">{drawn}</g>'


def _inside(position: float) -> float:
    return min(max(position, 0.0), 1.0)


def _end(position: float, y: float, cut: bool, side: int) -> str:
    """Draw the end of an interval: a small bar across, or an arrow if it is cut."""
    if cut:
        return _shape("interval", position, y, f"M{-6 * side}-5 0 0 {-6 * side} 5")
    return _line("interval", position, position, y - 4, y + 4)


def _label(row: ForestRow, y: float) -> str:
    name = printable(row.label) or "(empty)"
    full = f"<title>{escape(name)}</title>" if shorten(name) != name else ""
    light = _light(row.light, y) if row.light else ""
    return f'{light}<text class="label" x="{18 if light else 0}" y="{y}">{escape(shorten(name))}{full}</text>'


def _light(light: str, y: float) -> str:
    """Draw a decision as its mark, and a status as a coloured circle."""
    if light not in MARKS:
        return f'<circle class="light {light}" cx="6" cy="{y - 4}" r="5.5"/>'
    mark = f'<text class="light {light.replace(" ", "-")}" x="6" y="{y}" text-anchor="middle">{MARKS[light]}</text>'
    return mark.replace("</text>", f"<title>{light}</title></text>")


def _number(row: ForestRow, y: float) -> str:
    kind = ("number" if row.span.value is not None else "number refused") + ("" if row.aside else " single")
    text = f'<text class="{kind}" x="100%" y="{y + _TEXT}" text-anchor="end">{escape(typographic(row.summary))}</text>'
    if row.aside:
        aside = escape(typographic(row.aside))
        text += f'<text class="number aside" x="100%" y="{y + _ASIDE}" text-anchor="end">{aside}</text>'
    return text


def _anchor(position: float, edge: float = 0.03) -> str:
    return "start" if position < edge else "end" if position > 1 - edge else "middle"


def _text(kind: str, x: float, y: float, text: str, anchor: str) -> str:
    shown = escape(typographic(text))
    return f'<text class="{kind}" x="{_percent(x)}" y="{y:g}" text-anchor="{anchor}">{shown}</text>'


def _line(kind: str, x1: float, x2: float, y1: float, y2: float) -> str:
    ends = f'x1="{_percent(x1)}" x2="{_percent(x2)}" y1="{y1:g}" y2="{y2:g}"'
    return f'<line class="{kind}" {ends}/>'


def _shape(kind: str, x: float, y: float, path: str) -> str:
    """Draw a shape of fixed size at a percentage position, which a path alone cannot have."""
    return f'<svg x="{_percent(x)}" y="{y:g}" overflow="visible"><path class="{kind}" d="{path}"/></svg>'


def _percent(position: float) -> str:
    return f"{100 * position:.2f}%"
