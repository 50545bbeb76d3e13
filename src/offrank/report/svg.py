"""Forest plots: rows of HTML with a small SVG each, which flow with a page, or one SVG that stands alone.

Both draw the same marks. On a page, positions across are percentages, so that text keeps its size and can wrap;
colours, fonts and the change from two lines per row (narrow) to one (wide) come from `first.css`.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from importlib.resources import files
from textwrap import wrap

from ..language.formatting import printable, shorten, together, typographic
from .plots import MARKS, MINUS, Forest, ForestRow

_LONGEST = 60
"""A name that is longer is cut on a page."""
_LETTERS = 21
"""Letters in a line of a label of a drawing that stands alone."""
_STEP, _TALL, _TOP, _AXIS = 34, 44, 24, 40
_SIDES = {"labels": 0.20, "field": 0.37}
"""Widths of a drawing that stands alone, as shares; the numbers have the rest."""


@dataclass(frozen=True)
class _Lane:
    """Where marks stand: as percentages of a page, or as pixels of a drawing, from `left` on."""

    left: float = 0.0
    width: float | None = None
    top: str = "0"
    bottom: str = "100%"
    middle: float = 0.0

    def across(self, position: float) -> str:
        return _percent(position) if self.width is None else f"{self.left + position * self.width:.1f}"

    def length(self, share: float) -> str:
        return _percent(share) if self.width is None else f"{share * self.width:.1f}"

    def at(self, position: float, content: str) -> str:
        """Place content of fixed size."""
        if self.width is None:
            return f'<svg x="{self.across(position)}" overflow="visible">{content}</svg>'
        return f'<g transform="translate({self.across(position)} 0)">{content}</g>'

    def centred(self, content: str) -> str:
        """Place content around the middle of the row."""
        if self.width is None:
            return f'<svg y="50%" overflow="visible">{content}</svg>'
        return f'<g transform="translate(0 {self.middle:g})">{content}</g>'


_PAGE = _Lane()


def forest_html(plot: Forest) -> str:
    """Draw intervals below each other for a page or a notebook."""
    name = escape(printable(plot.title))
    rows = "".join(_row(plot, row) for row in plot.rows)
    head = "" if plot.reference is None else _cells("head", _lane(_reference_label(plot, _PAGE, "12")))
    axis = _cells("axis", _lane(_axis(plot, _PAGE, 14)))
    return f'<div class="forest" role="group" aria-label="{name}">{head}{rows}{axis}</div>'


def _row(plot: Forest, row: ForestRow) -> str:
    refused = "" if row.span.value is not None else " refused"
    number = f'<div class="f-number{refused}">{_said(row.summary)}</div>'
    parts = ", ".join(f"<span>{_said(part)}</span>" for part in row.aside.split(", "))
    aside = f'<div class="f-aside">{parts}</div>' if row.aside else ""
    label = f'<div class="f-label">{_light(row.light)}{_name(row.label)}</div>'
    return _cells("", label + _lane(_background(plot, _PAGE) + _marks(plot, row, _PAGE)) + number + aside)


def _cells(kind: str, content: str) -> str:
    return f'<div class="f-row {kind}">{content}</div>' if kind else f'<div class="f-row">{content}</div>'


def _lane(content: str) -> str:
    return f'<div class="f-lane"><svg width="100%" height="100%" aria-hidden="true">{content}</svg></div>'


def _said(text: str) -> str:
    return escape(typographic(together(printable(text))))


def _name(label: str) -> str:
    """Write a name; of `one minus other` each is cut on its own, so that both can be told."""
    full = printable(label) or "(empty)"
    parts = [shorten(part, _LONGEST) for part in full.split(MINUS)]
    title = f' title="{escape(full)}"' if MINUS.join(parts) != full else ""
    names = f" <span>{MINUS.strip()}</span> ".join(f'<bdi class="name">{escape(part)}</bdi>' for part in parts)
    return f"<span{title}>{names}</span>"


def _light(light: str) -> str:
    """Write a decision as its mark, and a status as a coloured circle."""
    if not light:
        return ""
    kind = light.replace(" ", "-")
    if light in MARKS:
        return f'<span class="mark {kind}" title="{light}">{MARKS[light]}</span> '
    return f'<span class="light {kind}" role="img" aria-label="{light}" title="{light}"></span> '


def standalone(plot: Forest, width: int = 800) -> str:
    """Draw the same plot as one SVG that needs no page."""
    labels, field = (share * width for share in _SIDES.values())
    left, step = labels, _TALL if plot.tall or any(len(_lines(row.label)) > 1 for row in plot.rows) else _STEP
    top = _TOP if plot.reference is not None else 8
    bottom = top + step * len(plot.rows)
    lane = _Lane(left, field, f"{top}", f"{bottom}")
    drawn = _background(plot, lane)
    if plot.reference is not None:
        drawn += _reference_label(plot, lane, f"{top - 8}")
    for index, row in enumerate(plot.rows):
        middle = top + step * (index + 0.5)
        if index:
            drawn += f'<line class="rule" x1="0" x2="{width}" y1="{top + step * index}" y2="{top + step * index}"/>'
        own = _Lane(left, field, lane.top, lane.bottom, middle)
        drawn += _marks(plot, row, own) + _beside(row, middle, width)
    drawn += f'<g transform="translate(0 {bottom})">{_axis(plot, _Lane(left, field), 16)}</g>'
    height = bottom + _AXIS
    name = escape(printable(plot.title))
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    start = f'<svg xmlns="http://www.w3.org/2000/svg" class="alone" role="img" aria-label="{name}" {size}>'
    style = escape(files("offrank.report").joinpath("templates/alone.css").read_text(encoding="utf-8"), quote=False)
    paper = f'<rect class="paper" width="{width}" height="{height}"/>'
    return f"{start}<title>{name}</title><style>{style}</style>{paper}{drawn}</svg>"


def _beside(row: ForestRow, middle: float, width: int) -> str:
    """Draw the label and the numbers of a row of a drawing that stands alone."""
    lines, start = _lines(row.label), 20 if row.light else 4
    first = middle + 4 - 7.5 * (len(lines) - 1)
    drawn = "".join(
        f'<text class="label" x="{start}" y="{first + 15 * at:g}">{escape(line)}</text>'
        for at, line in enumerate(lines)
    )
    if row.light in MARKS:
        kind = row.light.replace(" ", "-")
        mark = f"{MARKS[row.light]}<title>{row.light}</title>"
        drawn += f'<text class="mark {kind}" x="8" y="{middle + 5:g}" text-anchor="middle">{mark}</text>'
    elif row.light:
        drawn += f'<circle class="light {row.light}" cx="8" cy="{middle:g}" r="5"/>'
    texts = [text for text in (row.summary, row.aside) if text]
    kinds = ("number" if row.span.value is not None else "number refused", "number aside")
    for at, (text, kind) in enumerate(zip(texts, kinds, strict=False)):
        y = middle + 4.5 + (16 * at - 8 if len(texts) > 1 else 0)
        said = escape(typographic(printable(text)))
        drawn += f'<text class="{kind}" x="{width - 4}" y="{y:g}" text-anchor="end">{said}</text>'
    return drawn


def _lines(label: str) -> list[str]:
    """Break a label into at most two lines; of `one minus other` each has its own."""
    name = printable(label) or "(empty)"
    one, minus, other = name.partition(MINUS)
    if len(name) <= _LETTERS:
        return [name]
    if minus:
        return [shorten(one, _LETTERS), minus.lstrip() + shorten(other, _LETTERS - len(minus) + 1)]
    first, *rest = wrap(name, _LETTERS) or [name]
    return [first, shorten(" ".join(rest), _LETTERS)] if rest else [first]


def _background(plot: Forest, lane: _Lane) -> str:
    """Draw the grid, the band and the reference line; where 0 is, a stronger line."""
    drawn, axis = "", plot.axis
    for tick in axis.ticks():
        drawn += _vertical("zero" if tick.zero else "grid", lane, tick.position)
    if plot.band.low is not None and plot.band.high is not None:
        low, high = (_inside(axis.position(end)) for end in (plot.band.low, plot.band.high))
        place = f'x="{lane.across(low)}" width="{lane.length(high - low)}" y="{lane.top}"'
        height = lane.bottom if lane.width is None else f"{float(lane.bottom) - float(lane.top):g}"
        drawn += f'<rect class="band" {place} height="{height}"/>'
    return drawn if plot.reference is None else drawn + _vertical("reference", lane, axis.position(plot.reference))


def _vertical(kind: str, lane: _Lane, position: float) -> str:
    at = lane.across(position)
    return f'<line class="{kind}" x1="{at}" x2="{at}" y1="{lane.top}" y2="{lane.bottom}"/>'


def _reference_label(plot: Forest, lane: _Lane, y: str) -> str:
    at = plot.axis.position(plot.reference or 0.0)
    return _text("reference-label", lane, at, y, plot.label, _anchor(at, 0.15))


def _axis(plot: Forest, lane: _Lane, y: float) -> str:
    """Draw the numbers below, which way is better, and on which side 0 is where it is not on the axis."""
    axis = plot.axis
    drawn = "".join(_text("tick", lane, one.position, f"{y}", one.label, _anchor(one.position)) for one in axis.ticks())
    place, better = (0.0, "\u2190 better") if plot.better == "left" else (1.0, "better \u2192")
    if plot.better:
        drawn += _text("towards", lane, place, f"{y + 16}", better, _anchor(place))
    if plot.zero:
        side, text = (0.0, "\u2190 0 is not shown") if plot.zero == "left" else (1.0, "0 is not shown \u2192")
        if plot.better and side == place:
            side, text = 1 - side, f"0 is not shown, further {plot.zero}"
        drawn += _text("tick", lane, side, f"{y + 16}", text, _anchor(side))
    return drawn


def _marks(plot: Forest, row: ForestRow, lane: _Lane) -> str:
    """Draw the interval of a row around the middle of its lane."""
    span, axis, drawn = row.span, plot.axis, ""
    if span.value is None:
        return ""
    value = axis.position(span.value)
    if plot.bars:
        drawn += f'<rect class="bar" x="{lane.across(0)}" y="-6" width="{lane.length(value)}" height="12"/>'
    if span.low is not None and span.high is not None:
        low, high = axis.position(span.low), axis.position(span.high)
        drawn += _line("interval", lane, low, high)
        drawn += _end(lane, low, low < 0, -1) if low <= 1 else ""
        drawn += _end(lane, high, high > 1, 1) if high >= 0 else ""
        if row.inner.low is not None and row.inner.high is not None:
            drawn += _line("interval inner", lane, axis.position(row.inner.low), axis.position(row.inner.high))
    elif value != _inside(value):
        drawn += _end(lane, value, True, 1 if value > 1 else -1)
    if row.logged is not None and 0 <= axis.position(row.logged) <= 1:
        drawn += lane.at(axis.position(row.logged), '<path class="reference" d="M0-7V7"/>')
    if 0 <= value <= 1 and not plot.bars:
        kind = "point doubtful" if row.doubtful else "point"
        drawn += lane.at(value, f'<circle class="{kind}" r="4.5"/>')
    if row.truth is not None and 0 <= axis.position(row.truth) <= 1:
        drawn += lane.at(axis.position(row.truth), '<path class="truth" d="M0 5 5 12-5 12Z"/>')
    return lane.centred(drawn)


def _line(kind: str, lane: _Lane, low: float, high: float) -> str:
    return f'<line class="{kind}" x1="{lane.across(_inside(low))}" x2="{lane.across(_inside(high))}" y1="0" y2="0"/>'


def _end(lane: _Lane, position: float, cut: bool, side: int) -> str:
    """Draw the end of an interval: a small bar across, or an arrow if it is cut."""
    drawn = (
        f'<path class="interval" d="M{-6 * side}-5 0 0 {-6 * side} 5"/>' if cut else '<path class="end" d="M0-4V4"/>'
    )
    return lane.at(_inside(position), drawn)


def _inside(position: float) -> float:
    return min(max(position, 0.0), 1.0)


def _anchor(position: float, edge: float = 0.03) -> str:
    return "start" if position < edge else "end" if position > 1 - edge else "middle"


def _text(kind: str, lane: _Lane, position: float, y: str, text: str, anchor: str) -> str:
    shown = escape(typographic(text))
    return f'<text class="{kind}" x="{lane.across(position)}" y="{y}" text-anchor="{anchor}">{shown}</text>'


def _percent(position: float) -> str:
    return f"{100 * position:.2f}%"
