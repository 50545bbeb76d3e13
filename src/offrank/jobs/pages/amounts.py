"""Records of numbers in words, with the digits that their errors leave."""

from __future__ import annotations

from ...report import words
from .facts import Record, error_of


def number(record: Record, signed: bool = False) -> str:
    """The value."""
    return words.number(record.get("value"), _places(record), signed)


def interval(record: Record, signed: bool = False) -> str:
    """The ends of its interval, as "0.405 to 0.419"."""
    return words.interval(record.get("low"), record.get("high"), _places(record), signed)


def amount(record: Record, signed: bool = False) -> str:
    """The value with its interval."""
    return words.amount(record.get("value"), record.get("low"), record.get("high"), error_of(record), signed)


def share(record: Record) -> str:
    """A relative change with its interval; nothing where there is none."""
    return "" if not record else f"{words.percent(record['value'], signed=True)} ({share_ends(record)})"


def share_ends(record: Record) -> str:
    """The ends of a relative change."""
    return " to ".join(words.percent(record.get(end), signed=True) for end in ("low", "high"))


def refusal(record: Record) -> str:
    """Why there are no numbers, in two words; nothing where there are some."""
    error = record.get("error")
    return str(error["code"]).replace("-", " ") if error else ""


def _places(record: Record) -> int:
    return words.decimals(record.get("value"), error_of(record))
