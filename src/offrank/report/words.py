"""Numbers and names as a reader should see them."""

from __future__ import annotations

import re
import unicodedata

from ..folds.digits import MISSING, decimals, doubt, exponent, interval, number, printable

__all__ = [
    "MISSING",
    "amount",
    "count",
    "decimals",
    "doubt",
    "interval",
    "listing",
    "number",
    "percent",
    "plural",
    "printable",
    "quote",
    "shorten",
    "together",
    "typographic",
]


_MINUS = re.compile(r"(?<![\w.)-])-(?=[\d.]|inf)|(?<=\de)-(?=\d)")
_TOGETHER = re.compile(
    r"(?<=\d) (?=%|to [-+\d]|\u00b1)|(?<=\d %) (?=to [-+\d])|(?<=\bto) (?=[-+]?\d)|(?<=\u00b1) (?=\d)"
)


def together(text: str, joint: str = "\u00a0") -> str:
    """Text in which no line ends inside a number with its unit, or inside an interval."""
    return _TOGETHER.sub(joint, text)


def typographic(text: str) -> str:
    """Numbers with a true minus sign, and a dash for what is missing; hyphens stay."""
    return "\u2013" if text == MISSING else _MINUS.sub("\u2212", text)


def count(value: float | None) -> str:
    """A number of things: thousands apart, a decimal only where it matters (below ten)."""
    if value is None:
        return MISSING
    return number(value, 0 if value >= 10 or float(value).is_integer() else 1)


def amount(
    value: float | None, low: float | None, high: float | None, error: float | None = None, signed: bool = False
) -> str:
    """A value with its interval; its digits are those that its standard error leaves."""
    places = decimals(value, doubt(low, high) if error is None else error)
    text, ends = number(value, places, signed), interval(low, high, places, signed)
    return text if ends == MISSING else f"{text} ({ends})"


def percent(share: float | None, signed: bool = False) -> str:
    """A share as a percentage with two significant digits."""
    if share is None:
        return MISSING
    value = 100 * share
    if value != 0 and abs(value) < 0.01 and not signed:
        return "< 0.01 %"
    rounded = float(f"{value:.1e}")
    return f"{number(value, min(4, max(0, 1 - exponent(rounded))), signed)} %"


def quote(name: str) -> str:
    """A name between backticks, which the page sets as code."""
    return "`" + name.replace("`", "\u2019") + "`"


def listing(words: list[str], most: int = 6) -> str:
    """Words as "a, b and c", the end of a long list only counted."""
    shown = words if len(words) <= most else [*words[: most - 1], f"{len(words) - most + 1:,} more"]
    return "".join(shown) if len(shown) < 2 else ", ".join(shown[:-1]) + " and " + shown[-1]


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


def _columns(letter: str) -> int:
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def _take(name: str, columns: int) -> str:
    used = 0
    for index, letter in enumerate(name):
        used += _columns(letter)
        if used > columns:
            return name[:index]
    return name
