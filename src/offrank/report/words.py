"""Numbers and names as a reader should see them: digits from the doubt, never more and never fewer."""

from __future__ import annotations

import math
import unicodedata

MISSING = "-"
_WIDEST = 1e9


def decimals(value: float | None, error: float | None) -> int:
    """Digits after the point that a value with this standard error deserves.

    Two significant digits of the error where it starts below 3.55, else one (the rule of the Particle Data
    Group), at most six significant digits of the value, and never so few that a value reads as zero that is
    not. Without an error: three significant digits of the value.
    """
    size = _exponent(value)
    if error is None or not math.isfinite(error) or error <= 0:
        return max(0, 2 - size)
    exponent = _exponent(error)
    digits = 2 if error / 10.0**exponent < 3.55 else 1
    wanted = digits - 1 - exponent
    if value:
        wanted = max(min(wanted, 5 - size), -size)
    return max(0, wanted)


def number(value: float | None, places: int, signed: bool = False) -> str:
    """A number with so many digits after the point; very large and very small ones in powers of ten."""
    if value is None:
        return MISSING
    sign = "+" if signed else ""
    if abs(value) >= _WIDEST or places > 8:
        return f"{value:{sign}.2e}"
    text = f"{value:{sign},.{places}f}"
    return text.lstrip("-+") if float(text.replace(",", "")) == 0 else text


def interval(low: float | None, high: float | None, places: int, signed: bool = False) -> str:
    """Both ends of an interval, as "0.405 to 0.419"."""
    if low is None or high is None:
        return MISSING
    return f"{number(low, places, signed)} to {number(high, places, signed)}"


def doubt(low: float | None, high: float | None) -> float | None:
    """About one standard error, read off an interval; only to choose digits."""
    return None if low is None or high is None else (high - low) / 4


def count(value: float | None) -> str:
    """A number of things: thousands apart, a decimal only where it matters (below ten)."""
    if value is None:
        return MISSING
    return number(value, 0 if value >= 10 or float(value).is_integer() else 1)


def percent(share: float | None, signed: bool = False) -> str:
    """A share as a percentage with two significant digits."""
    if share is None:
        return MISSING
    value = 100 * share
    if value != 0 and abs(value) < 0.01 and not signed:
        return "< 0.01 %"
    rounded = float(f"{value:.1e}")
    return f"{number(value, min(4, max(0, 1 - _exponent(rounded))), signed)} %"


def quote(name: str) -> str:
    """A name between backticks, which the page sets as code."""
    return "`" + name.replace("`", "\u2019") + "`"


def listing(words: list[str], most: int = 6) -> str:
    """Words as "a, b and c", the end of a long list only counted."""
    shown = words if len(words) <= most else [*words[: most - 1], f"{len(words) - most + 1:,} more"]
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]


def plural(number_of: int, one: str, many: str) -> str:
    """A count with its noun, as in "1 check" and "3 checks"."""
    return f"{number_of:,} {one if number_of == 1 else many}"


def shorten(name: str, columns: int = 24) -> str:
    """The name cut before its end to so many columns, counting wide letters as two."""
    if sum(map(_columns, name)) <= columns:
        return name
    end = columns // 5
    head, tail = _take(name, columns - end - 1), _take(name[::-1], end)
    return f"{head}\u2026{tail[::-1]}"


def printable(name: str) -> str:
    """The text without control characters, which could rewrite a terminal or a line."""
    return "".join(" " if letter in "\n\t" else "\ufffd" if _controls(letter) else letter for letter in name)


def _exponent(value: float | None) -> int:
    if not value or not math.isfinite(value):
        return 0
    return math.floor(math.log10(abs(value)))


def _controls(letter: str) -> bool:
    joins = letter in "\u200c\u200d"  # inside words of some scripts, and inside emoji
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
