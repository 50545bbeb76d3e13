"""Points and lines on two axes as SVG, for a page or on its own; the data are kept separate from the drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape

from ..language.formatting import printable, shorten, typographic
from .plots import Axis

Numbers = Sequence[float]

_WIDTH, _HEIGHT = 520, 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 14, 10, 48
_CAP = 4.5  # half of the line at an end of an interval: of a narrow one nothing else would be seen
_LINE, _LETTER = 22, 8.8  # room for the larger letters on a phone
_COLOURS = ("#2f6fb5", "#c2571a", "#2e8b57", "#8e5bb5", "#b8860b", "#50717b", "#c0417a", "#6b8e23", "#8b5a3c")


@dataclass(frozen=True)
class Series:
    """Named points, joined to a line if `joined`; low and high are the ends of their intervals."""

    name: str
    x: Numbers
    y: Numbers
    low: Numbers | None = None
    high: Numbers | None = None
    line: bool = False


@dataclass(frozen=True)
class Chart:
    """Series on two axes. diagonal: whether to draw the line of equality. log_x, log_y: logarithmic axes.

    whole_x: ticks at whole numbers only, as for ranks. zero_y: the axis begins at 0.
    """

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    diagonal: bool = False
    log_x: bool = False
    log_y: bool = False
    whole_x: bool = False
    zero_y: bool = False

    @property
    def x_axis(self) -> Axis:
        """Return an axis that covers every point."""
        return _axis([value for one in self.series for value in one.x], self.log_x)

    @property
    def y_axis(self) -> Axis:
        """Return an axis that covers every point and interval."""
        ends = [end for one in self.series for end in (one.y, one.low or (), one.high or ())]
        axis = _axis([value for end in ends for value in end], self.log_y)
        return replace(axis, low=0.0) if self.zero_y else axis


def chart_svg(chart: Chart, width: int | None = None) -> str:
    """Draw the chart as one `<svg>` element, readable in light and dark mode.

    width: of a drawing that stands alone, in pixels; it brings its own paper. Within a page it takes the room there is.
    """
    name = escape(printable(chart.title))
    content = _frame(chart)
    if chart.diagonal:
        content += _diagonal(chart)
    for index, series in enumerate(chart.series):
        content += _series(chart, series, _COLOURS[index % len(_COLOURS)])
    legend, more = _legend(chart)
    content += legend
    size = f'viewBox="0 0 {_WIDTH} {_HEIGHT + more}" style="max-width:{_WIDTH}px"'
    if width is not None:
        tall = round(width * (_HEIGHT + more) / _WIDTH)
        size = f'width="{width}" height="{tall}" viewBox="0 0 {_WIDTH} {_HEIGHT + more}" color="#1b2026"'
        content = f'<rect width="{_WIDTH}" height="{_HEIGHT + more}" fill="#fff"/>{content}'
    font = 'font-family="system-ui, sans-serif" font-size="12"'
    start = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{name}" {size} {font} fill="currentColor">'
    return f"{start}<title>{name}</title>{content}</svg>"


def _axis(values: list[float], log: bool) -> Axis:
    low, high = min(values, default=0.0), max(values, default=1.0)
    if log:
        return Axis(low / 1.15, high * 1.15, log=True)
    margin = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    return Axis(low - margin, high + margin)


def _place(chart: Chart, x: float, y: float) -> tuple[float, float]:
    across, up = chart.x_axis.position(x), chart.y_axis.position(y)
    return _LEFT + across * (_WIDTH - _LEFT - _RIGHT), _HEIGHT - _BOTTOM - up * (_HEIGHT - _TOP - _BOTTOM)


def _frame(chart: Chart) -> str:
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    drawn = ""
    for tick in chart.x_axis.ticks():
        if chart.whole_x and not float(tick.label).is_integer():
            continue
        x = _LEFT + tick.position * (right - _LEFT)
        drawn += _line(x, _TOP, x, bottom, 'stroke="currentColor" opacity=".12"')
        drawn += _text(x, bottom + 17, tick.label, "middle")
    for tick in chart.y_axis.ticks():
        y = bottom - tick.position * (bottom - _TOP)
        drawn += _line(_LEFT, y, right, y, 'stroke="currentColor" opacity=".12"')
        drawn += _text(_LEFT - 8, y + 4, tick.label, "end")
    drawn += _line(_LEFT, bottom, right, bottom, 'stroke="currentColor" opacity=".5"')
    middle = (_TOP + bottom) / 2
    turned = f'<g transform="rotate(-90 14 {middle:g})">{_text(14, middle, chart.y_label, "middle")}</g>'
    return drawn + _text((_LEFT + right) / 2, _HEIGHT - 8, chart.x_label, "middle") + turned


def _diagonal(chart: Chart) -> str:
    low = max(chart.x_axis.low, chart.y_axis.low)
    high = min(chart.x_axis.high, chart.y_axis.high)
    if low >= high:
        return ""
    ends = (*_place(chart, low, low), *_place(chart, high, high))
    return _line(*ends, 'stroke="currentColor" opacity=".5" stroke-dasharray="4 3"')


def _series(chart: Chart, series: Series, colour: str) -> str:
    places = [_place(chart, x, y) for x, y in zip(series.x, series.y, strict=True)]
    drawn = ""
    if series.low is not None and series.high is not None:
        for x, low, high in zip(series.x, series.low, series.high, strict=True):
            (at, bottom), (_, top) = _place(chart, x, low), _place(chart, x, high)
            drawn += _line(at, bottom, at, top, f'stroke="{colour}" stroke-width="1.6" opacity=".75"')
            for end in (bottom, top) if top < bottom else ():
                drawn += _line(at - _CAP, end, at + _CAP, end, f'stroke="{colour}" stroke-width="1.6" opacity=".75"')
    if series.line:
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        drawn += f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="1.8"/>'
    radius = 2.4 if series.line else 3.6
    return drawn + "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}"/>' for x, y in places)


def _legend(chart: Chart) -> tuple[str, int]:
    """Return the drawn names of the series below the axes, and their height."""
    drawn, x, y = "", float(_LEFT), _HEIGHT + 8
    for index, series in enumerate(chart.series if len(chart.series) > 1 else ()):
        name, colour = shorten(printable(series.name), 40), _COLOURS[index % len(_COLOURS)]
        width = 30 + _LETTER * len(name)
        if x > _LEFT and x + width > _WIDTH + 16:  # the gap after the last name may overflow
            x, y = float(_LEFT), y + _LINE
        drawn += f'<circle cx="{x + 5:.1f}" cy="{y}" r="4" fill="{colour}"/>'
        drawn += f'<text x="{x + 14:.1f}" y="{y + 4}">{escape(name)}</text>'
        x += width
    return drawn, y + 10 - _HEIGHT if drawn else 0


def _line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {style}/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(typographic(text))}</text>'
