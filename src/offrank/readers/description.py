"""How a table is read, or may be read: its layout, the roles of its columns and why, its clicks, and what is open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ..log.schema import LONG_ROLES, ROLES
from ..wording import ColumnNames, Wording

Layout = Literal["wide", "nested", "long", "sessions", "events", "pairs", "none"]
"""The shape of a table.

wide: a row per impression, with lists. nested: the same, with structs or packed text in the lists. long: a row per
item. sessions: items and clicks of an impression in one text. events: rows of several kinds, or several tables. pairs:
judged pairs of query and document, without impressions. none: what tells of no list that was shown.
"""

ClicksAs = Literal["numbers", "values", "filled", "items"]
"""How clicks are written: as numbers; as values that tell it each, such as times, yes and no; the same, but empty where
nothing was clicked; or as the ids of the items that were clicked, or the id of the only one."""


@dataclass(frozen=True)
class Unsettled:
    """What a table leaves open, and the options that settle it, the likeliest first."""

    what: str
    options: tuple[Wording, ...]

    @property
    def columns(self) -> tuple[Mapping[str, str], ...]:
        """What each option says: role -> column."""
        return tuple(part.named for one in self.options for part in one.parts if isinstance(part, ColumnNames))


@dataclass(frozen=True)
class Description:
    """How a table is read.

    - layout, which is "none" also where the documented names tell. roles: role -> its column; for a named standard they
      are those that its reader makes.
    - format: the spelled reader of a named standard, if it is one.
    - notes: what else was understood, such as "from 0" or "a click is a time", by role.
    - unsettled: what must be said before it can be read. lacks: why it can judge no ranking, and what to log.
    - instead: what to do with a table that is known to be something else; command: what does it.
    - logging: the policy that drew it, where its publishers say so.
    - clicks_as: how clicks are written. groups: role -> column, of query, user and session, for clusters alone.
    - left_out: as `LogBatch.skipped`, what is left out before anything is read.
    """

    layout: Layout = "none"
    roles: Mapping[str, str] = field(default_factory=dict)
    format: str | None = None
    notes: Mapping[str, str] = field(default_factory=dict)
    unsettled: tuple[Unsettled, ...] = ()
    lacks: str = ""
    instead: str = ""
    command: str = ""
    logging: str = ""
    clicks_as: ClicksAs = "numbers"
    groups: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def settled(self) -> bool:
        """Whether it can be read so."""
        return not (self.lacks or self.unsettled)

    @property
    def why(self) -> str:
        """What stands against reading it, and what to do; or what is open."""
        lacks = self.lacks if not self.instead else ": ".join(filter(None, (self.lacks, self.instead)))
        return lacks or " and ".join(f"it is not clear {one.what}" for one in self.unsettled)

    @property
    def remedy(self) -> str:
        """What to do instead, with the command."""
        return f"{self.instead}: `{self.command}`" if self.command else self.instead

    @property
    def columns(self) -> dict[str, str]:
        """Role -> column, for those whose column is not called as the role, or that count only if they are named."""
        named = {"position"} if self.layout == "wide" else set()
        return {role: name for role, name in self.roles.items() if name != role or role in named}

    @property
    def sure(self) -> dict[str, str]:
        """Role -> column as above, without the roles that are asked for."""
        asked = {role for one in self.unsettled for columns in one.columns for role in columns}
        return {role: name for role, name in self.columns.items() if role not in asked}

    @property
    def said(self) -> str:
        """One line: how the table is read; empty where the documented names tell."""
        if self.layout == "none":
            return ""
        row = {"wide": "one row per impression", "long": "one row per item"}.get(self.layout, self.layout)
        named = (
            f"{role}={name}" + (f" ({self.notes[role]})" if role in self.notes else "")
            for role, name in sorted(self.roles.items(), key=lambda pair: _ORDER.index(pair[0]))
        )
        if not self.format:
            return f"read as {row}: {', '.join(named)}"
        noted = ", ".join(f"{role}={note}" for role, note in self.notes.items())
        return f"read as {self.format}{noted and f': {noted}'}{self.lacks and f': {self.lacks}'}"


_ORDER = ("impression", "slate", "item", "position", "click", "clicks", "candidates", *LONG_ROLES, *ROLES)
"""Roles as a line names them: those of the list that was shown come first."""
