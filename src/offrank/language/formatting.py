"""Formatting of numbers and names for readers: every number is rounded to the precision of its error."""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

MISSING = "-"
_WIDEST = 1e9
_FINEST = 9
"""Numbers from `_WIDEST` on, and those that need more decimals, are written in powers of ten."""
_HALF = 3
"""Half an interval is at least this many units of the last digit, and less than ten times as many."""
_SHORT, _SKEWED = 1.5, 20
"""Of an interval with a side more than twice as long as the other, so many times the shorter one count as half of it;
if half is more than `_SKEWED` times as long, the value stands at an end."""
_NOISE = 1e-9
"""An error that is smaller relative to its value, or a distance relative to its error, is of rounding."""
_MINUS = re.compile(r"(?<![\w.)-])-(?=[\d.]|inf)|(?<=\de)-(?=\d)")
_TOGETHER = re.compile(
    r"(?<=\d) (?=%|to [-+\d]|\u00b1)|(?<=\d %) (?=to [-+\d])|(?<=\bto) (?=[-+]?\d)(?!\d{4}-\d)|(?<=\u00b1) (?=\d)"
)


@runtime_checkable
class Doubted(Protocol):
    """A value with its interval: an `Interval`, a `Cmip`, an `Estimate`."""

    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


class Between(Doubted, Protocol):
    """The same with its standard error."""

    @property
    def standard_error(self) -> float: ...


@dataclass(frozen=True)
class Span:
    """A value with the ends of its interval; a missing value was refused. error: its standard error, if known."""

    value: float | None
    low: float | None
    high: float | None
    error: float | None = None

    @classmethod
    def of(cls, found: object) -> Span:
        """Build from what has a value, ends and a standard error, such as an estimate; what it lacks is missing."""
        return cls(*(finite(getattr(found, name, None)) for name in ("value", "low", "high", "standard_error")))

    @property
    def ends(self) -> list[float]:
        """Return the value and the known ends; empty if there is no value."""
        return [end for end in (self.value, self.low, self.high) if end is not None and self.value is not None]

    @property
    def width(self) -> float | None:
        """Return the length of the interval."""
        return None if self.low is None or self.high is None else self.high - self.low

    @property
    def scale(self) -> float | None:
        """Return the standard error; if unknown, an approximate one from the interval."""
        if self.error is not None or self.low is None or self.high is None:
            return self.error
        return (self.high - self.low) / 4

    def parts(self, signed: bool = False, border: float = 0.0, other: float | None = None) -> tuple[str, str]:
        """Format the value and the ends, as "0.41" and "0.40 to 0.42".

        border: what the ends are compared with; an end that differs from it is never written like it. other: a number
        to format instead of the value, such as the truth, which is compared with the ends.
        """
        value, low, high, half = self.value, self.low, self.high, None
        if low is not None and high is not None:
            half, short = (high - low) / 2, 0.0 if value is None else _SHORT * min(abs(value - low), abs(high - value))
            half = short if half / _SKEWED < short < half else half
        elif (end := high if low is None else low) is not None and value is not None:
            half = abs(value - end)
        elif self.error is not None:
            half = 2 * self.error
        beside = None if low is None or high is None or not low < 0 < high else value  # around 0, it may read as 0
        places, texts, first = decimals(value, half), [], (value, beside or 0.0)
        if other is not None:
            known = [end for end in (low, high) if end is not None]
            first = other, min(known, key=lambda end: abs(end - other), default=0.0)
        for one, edge in (first, (low, border), (high, border)):
            away, finer = 0.0 if one is None else abs(one - edge), places
            if away > _NOISE * (half or 0.0) and number(one, places) == number(edge, places):
                finer = max(places, -math.floor(math.log10(float(f"{away:.0e}"))))
            texts.append(number(one, finer, signed) if one else MISSING if one is None else "0")
        return texts[0], MISSING if MISSING in texts[1:] else " to ".join(texts[1:])

    def number(self, signed: bool = False) -> str:
        """Format the value."""
        return self.parts(signed)[0]

    def interval(self, signed: bool = False) -> str:
        """Format the ends, as "0.40 to 0.42"."""
        return self.parts(signed)[1]

    def text(self, signed: bool = False, border: float = 0.0) -> str:
        """Format the value with its interval; alone if it is given, not learnt."""
        value, ends = self.parts(signed, border)
        low, high = self.low, self.high
        given = low is not None and high is not None and high - low <= 1e-6 * abs(self.value or 0.0)
        return value if given or ends == MISSING else f"{value} ({ends})"

    def percents(self, signed: bool = True, border: float = 0.0) -> tuple[str, str]:
        """Format a share and its ends as percentages, as "+2.4 %" and "+1.0 % to +3.8 %". border: a share."""
        each = (None if one is None else 100 * one for one in (self.value, self.low, self.high, self.error))
        value, ends = Span(*each).parts(signed, 100 * border)
        return (MISSING if value == MISSING else f"{value} %"), MISSING if ends == MISSING else (
            " to ".join(f"{end} %" for end in ends.split(" to "))
        )

    def share(self) -> str:
        """Format a relative change with its interval; empty if there is none."""
        value, ends = self.percents()
        return "" if value == MISSING else value if ends == MISSING else f"{value} ({ends})"


def finite(value: float | None) -> float | None:
    """Return the number, or None if it is unknown or infinite."""
    return None if value is None or not math.isfinite(value) else float(value)


def nine_digits(value: float) -> float:
    """Round a sort key: numbers that differ by rounding errors only, which processors make in other ways, tie."""
    return float(f"{value:.8e}") if math.isfinite(value) else value


def decimals(value: float | None, half: float | None, least: int = _HALF) -> int:
    """Return the number of decimals for a value with half of its interval; negative above the decimal point.

    Two significant digits of half the interval below 30, as in 0.187 (0.170 to 0.214), one from there, as in 0.81
    (0.77 to 0.86): the ends then differ by 6 to 60 units of the last digit. Nothing is rounded to tens. Without an
    interval: three significant digits of the value, and no decimals of a whole number. Nothing else counts, such as
    the other rows of a plot or a table: a number reads the same wherever it stands.

    least: how many units of the last digit half the interval has at least: 10 for two digits of an error, always.
    """
    if half is None or not math.isfinite(half) or half <= _NOISE * abs(value or 0.0):
        if not value or not math.isfinite(value) or float(f"{value:.12e}").is_integer():
            return 0
        return max(0, 2 - math.floor(math.log10(abs(value))))
    places = -math.floor(math.log10(float(f"{half / least:.2e}")))  # a half of 0.0299999 has the decimals of 0.03
    return 0 if places == -1 else places


def number(value: float | None, places: int | None = None, signed: bool = False) -> str:
    """Format a number with this many decimals; very large and very small ones in powers of ten.

    places: by default those for a number with unknown error.
    """
    if value is None:
        return MISSING
    value = float(f"{value:.12e}")  # a tie is rounded alike whatever the order of the sums that made it
    places = decimals(value, None) if places is None else places
    sign = "+" if signed else ""
    if abs(value) >= _WIDEST or places > _FINEST:
        return f"{value:{sign}.{min(6, max(0, places + _exponent(value)))}e}" if value else "0"
    text = f"{round(value, min(0, places)) if places < 0 else value:{sign},.{max(0, places)}f}"
    return text.lstrip("-+") if float(text.replace(",", "")) == 0 else text


def with_half(found: Between, signed: bool = False) -> str:
    """`1.2342 ± 0.0021`: two significant digits of half the interval."""
    if not math.isfinite(found.value):
        return "-inf" if found.value < 0 else MISSING
    half = (found.high - found.low) / 2
    return " ± ".join(with_error(found.value, half, signed)) if math.isfinite(half) else Span.of(found).number(signed)


def with_error(value: float, error: float, signed: bool = False) -> tuple[str, str]:
    """Format a value and its error: with two significant digits of the error."""
    places = decimals(value, error, 10)
    return number(value, places, signed), number(error, places)


def between(lower: Doubted, upper: Doubted, signed: bool = False) -> tuple[str, str, str]:
    """Format two bounds, each by its own interval but never alike, and the interval around both."""
    (low, left), (high, right) = (Span.of(one).parts(signed) for one in (lower, upper))
    if low == high and lower.value != upper.value:
        low, high = apart(lower.value, upper.value, signed=signed)
    return low, high, f"{left.split(' to ')[0]} to {right.split(' to ')[-1]}"


def apart(one: float, other: float, *, signed: bool = False) -> tuple[str, str]:
    """Format two numbers, of two digits at least, so that their difference can be read: as "0.313" and "0.309"."""
    places = decimals(one, abs(one - other))
    first, second = (number(each, max(places, 1 - _exponent(each)) if each else 0, signed) for each in (one, other))
    return first, second


def rough(value: float) -> str:
    """Format a number whose error is unknown: at most three significant digits, as "1,230" or "0.5"."""
    short = f"{value:.3g}"
    return f"{float(short):,.15g}" if abs(value) < _WIDEST else short


def count(value: float | None) -> str:
    """Format a count: with separators for thousands, and a decimal only below ten."""
    if value is None:
        return MISSING
    return number(value, 0 if value >= 10 or float(value).is_integer() else 1)


def percent(share: float | None, places: int | None = None, signed: bool = False) -> str:
    """Format a share as a percentage, "27 %": with two significant digits, or this many decimals."""
    if share is None:
        return MISSING
    value = float(f"{100 * share:.12e}")
    if places is not None:
        return f"{value:{'+' if signed else ''}.{places}f} %"
    if value.is_integer():
        return f"{number(value, 0, signed)} %"
    if abs(value) < 0.01 and not signed:
        return "< 0.01 %"
    if 99.99 < value < 100 and not signed:
        return "> 99.99 %"
    wanted = 1 - _exponent(float(f"{value:.1e}"))
    if 99 < value < 100:
        wanted = -_exponent(float(f"{100 - value:.0e}"))  # what is not all is not written like it
    return f"{number(value, min(4, max(0, wanted)), signed)} %"


def together(text: str, joint: str = "\u00a0") -> str:
    """Return text without line breaks inside a number with its unit, or inside an interval."""
    return _TOGETHER.sub(joint, text)


def typographic(text: str) -> str:
    """Return text with true minus signs in numbers, and a dash for missing values; hyphens stay."""
    return "\u2013" if text == MISSING else _MINUS.sub("\u2212", text)


def quote(name: str) -> str:
    """Put a name between backticks, which the page sets as code."""
    return "`" + name.replace("`", "\u2019") + "`"


def listing(words: list[str], most: int = 6) -> str:
    """Join words as "a, b and c"; the end of a long list is only counted."""
    shown = words if len(words) <= most else [*words[: most - 1], f"{len(words) - most + 1:,} more"]
    return "".join(shown) if len(shown) < 2 else ", ".join(shown[:-1]) + " and " + shown[-1]


def plural(number_of: int, one: str, many: str) -> str:
    """Format a count with its noun, as in "1 check" and "3 checks"."""
    return f"{number_of:,} {one if number_of == 1 else many}"


def printable(name: str) -> str:
    """Return the text without control characters, which could rewrite a terminal or a line."""
    if name.isprintable():
        return name
    return "".join(" " if letter in "\n\t" else "\ufffd" if _controls(letter) else letter for letter in name)


def shorten(name: str, columns: int = 24) -> str:
    """Cut the name before its end to this many columns, counting wide letters as two."""
    if (name.isascii() and len(name) <= columns) or sum(map(_columns, name)) <= columns:
        return name
    end = columns // 5
    head, tail = _take(name, columns - end - 1), _take(name[::-1], end)
    return f"{head}\u2026{tail[::-1]}"


def _exponent(value: float | None) -> int:
    """Return the exponent of the first digit; 0 if there is none."""
    return math.floor(math.log10(abs(value))) if value and math.isfinite(value) else 0


def _controls(letter: str) -> bool:
    joins = letter in "\u200c\u200d"  # needed inside words of some scripts, and inside emoji
    return unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") and not joins


def _columns(letter: str) -> int:
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def _take(name: str, columns: int) -> str:
    used = 0
    for index, letter in enumerate(name):
        used += _columns(letter)
        if used > columns:
            return name[:index]
    return name


def cell(value: Any) -> str:
    """Format a cell: three significant digits, a dash for a missing value."""
    if value is None:
        return "\u2013"
    if isinstance(value, float):
        return typographic(number(value))
    return f"{value:,}" if isinstance(value, int) else typographic(printable(value))
