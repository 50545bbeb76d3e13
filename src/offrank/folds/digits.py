"""Numbers in words: digits from the doubt, never more and never fewer."""

from __future__ import annotations

import math
import unicodedata

from .estimate import Interval

MISSING = "-"
_WIDEST = 1e9


def decimals(value: float | None, error: float | None) -> int:
    """Digits after the point that a value with this standard error deserves.

    Two significant digits of the error where it starts below 3.55, else one (the rule of the Particle Data
    Group), at most six significant digits of the value, and never so few that a value reads as zero that is
    not. Without an error: three significant digits of the value.
    """
    size = exponent(value)
    if error is None or not math.isfinite(error) or error <= 0:
        return max(0, 2 - size)
    power = exponent(error)
    digits = 2 if error / 10.0**power < 3.55 else 1
    wanted = digits - 1 - power
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


def printable(name: str) -> str:
    """The text without control characters, which could rewrite a terminal or a line."""
    return "".join(" " if letter in "\n\t" else "\ufffd" if _controls(letter) else letter for letter in name)


def with_half(found: Interval, signed: bool = False) -> str:
    """`1.2342 ± 0.0021`, with the digits that it deserves."""
    if not math.isfinite(found.value):
        return "-inf" if found.value < 0 else MISSING
    half = (found.high - found.low) / 2
    places = decimals(found.value, doubt(found.low, found.high))
    text = number(found.value, places, signed)
    return f"{text} ± {number(half, places)}" if math.isfinite(half) else text


def with_ends(found: Interval) -> str:
    """`0.803 (0.799 to 0.806)`; the value alone where it is given, not learnt."""
    if not (math.isfinite(found.low) and math.isfinite(found.high)) or found.low == found.high:
        return f"{found.value:.4g}"
    places = decimals(found.value, doubt(found.low, found.high))
    return f"{number(found.value, places)} ({interval(found.low, found.high, places)})"


def _controls(letter: str) -> bool:
    joins = letter in "\u200c\u200d"  # inside words of some scripts, and inside emoji
    return unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") and not joins


def exponent(value: float | None) -> int:
    """Of the first digit; 0 for what has none."""
    if not value or not math.isfinite(value):
        return 0
    return math.floor(math.log10(abs(value)))
