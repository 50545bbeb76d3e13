"""Formatting of numbers and names for readers: every number is rounded to the precision of its standard error."""

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

    @property
    def places(self) -> int:
        """Return the number of decimals."""
        return decimals(self.value, self.scale)

    def parts(self, signed: bool = False) -> tuple[str, str]:
        """Format the value and the ends, as "0.412" and "0.405 to 0.419"."""
        places = self.places
        value, *ends = (number(one, places, signed) for one in (self.value, self.low, self.high))
        return value, MISSING if MISSING in ends else " to ".join(ends)

    def number(self, signed: bool = False) -> str:
        """Format the value."""
        return number(self.value, self.places, signed)

    def interval(self, signed: bool = False) -> str:
        """Format the ends, as "0.405 to 0.419"."""
        return self.parts(signed)[1]

    def text(self, signed: bool = False) -> str:
        """Format the value with its interval."""
        value, ends = self.parts(signed)
        return value if ends == MISSING else f"{value} ({ends})"

    def percents(self, signed: bool = True) -> tuple[str, str]:
        """Format a share and its ends as percentages, as "+2.41 %" and "+1.02 % to +3.79 %"."""
        value, low, high, error = (
            None if one is None else 100 * one for one in (self.value, self.low, self.high, self.scale)
        )
        places = decimals(value, error)
        of_value, *ends = (f"{number(one, places, signed)} %" for one in (value, low, high))
        return MISSING if value is None else of_value, MISSING if None in (low, high) else " to ".join(ends)

    def share(self) -> str:
        """Format a relative change with its interval; empty if there is none."""
        return "" if self.value is None else "{} ({})".format(*self.percents())


def finite(value: float | None) -> float | None:
    """Return the number, or None if it is unknown or infinite."""
    return None if value is None or not math.isfinite(value) else float(value)


def nine_digits(value: float) -> float:
    """Round a sort key: numbers that differ by rounding errors only, which processors make in other ways, tie."""
    return float(f"{value:.8e}") if math.isfinite(value) else value


def decimals(value: float | None, error: float | None) -> int:
    """Return the number of decimals for a value with this standard error; negative above the decimal point.

    Three significant digits of the error, at most seven of the value, and never so few that a nonzero value
    reads as zero. Without an error: three significant digits of the value. Nothing else counts, such as the other
    rows of a plot or a table: a number reads the same wherever it stands, and never has more digits than it is
    known to.
    """
    size = _exponent(value)
    if error is None or not math.isfinite(error) or error <= 0:
        return 2 - size
    wanted = 2 - _exponent(float(f"{error:.2e}"))  # an error of 0.00999999 has the decimals of 0.01
    return max(min(wanted, 6 - size), -size) if value else wanted


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
    text = f"{value:{sign},.{max(0, places)}f}"
    return text.lstrip("-+") if float(text.replace(",", "")) == 0 else text


def with_half(found: Between, signed: bool = False) -> str:
    """`1.2342 ± 0.0021`, rounded to the precision of the error."""
    if not math.isfinite(found.value):
        return "-inf" if found.value < 0 else MISSING
    half, span = (found.high - found.low) / 2, Span.of(found)
    text = span.number(signed)
    return f"{text} ± {number(half, span.places)}" if math.isfinite(half) else text


def with_error(value: float, error: float, signed: bool = False) -> tuple[str, str]:
    """Format a value and its standard error, with the same number of decimals."""
    places = decimals(value, error)
    return number(value, places, signed), number(error, places)


def with_ends(found: Between) -> str:
    """`0.803 (0.799 to 0.806)`; the value alone if it is given, not learnt."""
    if not math.isfinite(found.high - found.low) or found.high - found.low <= 1e-6 * abs(found.value):
        return f"{found.value:.4g}"
    error = found.standard_error if math.isfinite(found.standard_error) else (found.high - found.low) / 4
    places = decimals(found.value, error)
    value, low, high = (number(one, places) for one in (found.value, found.low, found.high))
    return f"{value} ({low} to {high})"


def count(value: float | None) -> str:
    """Format a count: with separators for thousands, and a decimal only below ten."""
    if value is None:
        return MISSING
    return number(value, 0 if value >= 10 or float(value).is_integer() else 1)


def percent(share: float | None, places: int | None = None, signed: bool = False) -> str:
    """Format a share as a percentage, "27 %": with two significant digits, or this many decimals."""
    if share is None:
        return MISSING
    value = 100 * share
    if places is not None:
        return f"{value:{'+' if signed else ''}.{places}f} %"
    if value != 0 and abs(value) < 0.01 and not signed:
        return "< 0.01 %"
    rounded = float(f"{value:.1e}")
    return f"{number(value, min(4, max(0, 1 - _exponent(rounded))), signed)} %"


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
    """Format a cell: four significant digits, a dash for a missing value."""
    if value is None:
        return "\u2013"
    if isinstance(value, float):
        return typographic(f"{value:,.4g}")
    return f"{value:,}" if isinstance(value, int) else typographic(printable(value))
