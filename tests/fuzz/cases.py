"""A case: a small log as plain Python columns, how it is written, and what is asked of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Layout = Literal["wide", "long"]
Invalid = Literal["raise", "skip"]
Columns = Mapping[str, list[Any]]

WIDE_ROLES = ("slate", "clicks", "candidates", "propensity", "inclusion", "reward", "query", "old", "new")
"""The roles of a wide log here; `old` and `new` are scores."""
LONG_LAYOUT = ("impression", "item", "position", "click", "propensity", "inclusion", "reward", "query", "old", "new")
"""The roles of a long log here."""


class Unwritable(Exception):
    """A log cannot be written in a shape or a form, so that there is nothing to read."""


@dataclass(frozen=True)
class LogCase:
    """A log and a question.

    - columns: role -> cells; what is no role here is a column that nobody reads.
    - names: role -> what its column is called, where that is not the role.
    - types: role -> the Arrow type that it is written in, by a name of `forms.TYPES`.
    - form: how the table is given, a name of `forms.FORMS`. question: a name of `questions.QUESTIONS`.
    - shape: how a stranger writes the log, a name of `shapes.SHAPES`; none for our own layout. said: further roles
      that have to be said; format: the reader. told: whether anything is said of how it is read.
    - seed: what it was drawn from; it also settles choices that matter little.
    - changed: what was done to the log, in words.
    """

    layout: Layout
    columns: Columns
    form: str = "table"
    question: str = "read"
    invalid: Invalid = "raise"
    names: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    seed: str = ""
    changed: tuple[str, ...] = ()
    shape: str = ""
    said: Mapping[str, str] = field(default_factory=dict)
    format: str | None = None
    told: bool = True

    @property
    def rows(self) -> int:
        """The rows of the table."""
        return max(map(len, self.columns.values()), default=0)

    def name(self, role: str) -> str:
        """What the column of a role is called."""
        return self.names.get(role, role)

    @property
    def renamed(self) -> dict[str, str]:
        """The roles whose columns have another name, as they are said; scores have none."""
        if not self.told:
            return {}
        named = {role: name for role, name in self.names.items() if role in self.columns and role not in ("old", "new")}
        return named if self.format else {**named, **self.said}
