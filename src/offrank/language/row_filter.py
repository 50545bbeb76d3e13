"""Row filters as text: `explored = true and week in (1, 2)`, simple comparisons with `and` between them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ..errors import UsageError

SIGNS = ("=", "!=", "<", "<=", ">", ">=")
_SAME_SIGN = {"==": "=", "<>": "!="}
_VALUE = r"'(?:[^']|'')*'|[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|[^\W\d]\w*"
_COMPARISON = re.compile(
    rf"""\s*(?P<name>"(?:[^"]|"")+"|[^\W\d][\w.]*)
    \s*(?:(?P<sign>[=<>!]+)\s*(?P<value>{_VALUE})|\bin\s*\(\s*(?P<values>(?:{_VALUE})(?:\s*,\s*(?:{_VALUE}))*)\s*\))
    \s*(?:(?P<more>and\b(?=\s*\S))|$)""",
    re.VERBOSE | re.IGNORECASE,
)
_FORM = "write comparisons with and between them, such as explored = true and week in (1, 2) and country != 'DE'"


@dataclass(frozen=True)
class ColumnTest:
    """A column and what it is compared with: several values where one of them is enough."""

    column: str
    sign: str
    values: tuple[Any, ...]


@dataclass(frozen=True)
class RowFilter:
    """Comparisons that all hold of the rows that are kept."""

    text: str
    conditions: tuple[ColumnTest, ...]

    @classmethod
    def of(cls, text: str) -> RowFilter:
        """Read a filter from its text.

        Raises:
            UsageError: it is none.
        """
        made, at, more = list[ColumnTest](), 0, True
        while more:
            found = _COMPARISON.match(text, at)
            sign = "" if found is None else _SAME_SIGN.get(found["sign"], found["sign"] or "=")
            if found is None or sign not in SIGNS:
                raise UsageError(f"the row filter {text!r} is not understood at {text[at:].strip()[:40]!r}", _FORM)
            name = found["name"]
            name = name[1:-1].replace('""', '"') if name.startswith('"') else name
            words = re.findall(_VALUE, found["value"] or found["values"], re.IGNORECASE)
            made.append(ColumnTest(name, sign, tuple(map(_value, words))))
            at, more = found.end(), bool(found["more"])
        return cls(" ".join(text.split()), tuple(made))

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns that are read for it."""
        return tuple(dict.fromkeys(one.column for one in self.conditions))


def _value(word: str) -> Any:
    if word.startswith("'"):
        return word[1:-1].replace("''", "'")
    if word.lower() in ("true", "false"):
        return word.lower() == "true"
    try:
        return int(word) if re.fullmatch(r"[+-]?\d+", word) else float(word)
    except ValueError:
        raise UsageError(f"{word!r} in the row filter is not a value", f"if it is a text, write '{word}'") from None
