"""A table that can be opened and is not read as a log yet: its columns, what was tried, and what would settle it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from ..errors import OffrankError
from ..frames import Plain, plain
from ..language.outputs import refuse_result
from ..readers.beginning import Beginning
from ..readers.clicked_indices import column_of
from ..readers.description import Unsettled
from ..readers.detect import format_of, roles_of
from ..readers.log_columns import LogColumn, first_look
from ..readers.without_slates import lacks_lists
from ..report.document import Answer, Document, Figures, Section
from ..report.printable import Printed
from ..wording import Wording, joined
from .mapping_file import write_mapping


@dataclass(frozen=True)
class UnreadTable(Printed, Plain):
    """The result of `inspect` for a table that can be opened but cannot be read as a log yet.

    Parameters:
        source: where it is.
        columns: with their types and first values.
        why: what stands against reading it, or what it lacks.
        unsettled: what is open, and the options that settle it.
        layout: its shape as far as it is known.
        path: see `source`.
        given: role -> column, as far as it was said.
        roles: those that are known.
        command: what to run next, if anything.
        logging: the policy that drew the log, where that is known.

    Examples:
        >>> found = offrank.inspect([{"user": 1, "movie": 7, "rating": 5}])
        >>> found.layout, found.command
        ('none', '')
    """

    source: str
    columns: tuple[LogColumn, ...]
    why: str
    unsettled: tuple[Unsettled, ...] = ()
    layout: str = "none"
    path: str | None = None
    given: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    command: str = ""
    logging: None = None

    def command_with(self, _mapping: str) -> str:
        """Return nothing: no command reads this table yet.

        Parameters:
            _mapping: the path of the mapping.

        Returns:
            An empty text.

        Examples:
            >>> offrank.inspect([{"user": 1, "movie": 7, "rating": 5}]).command_with("log.toml")
            ''
        """
        return ""

    def mapping(self) -> dict[str, Any]:
        """Return the contents for `--config` as far as they are known: each role's column.

        Returns:
            Tables of the TOML file by name.

        Examples:
            >>> offrank.inspect([{"user": 1, "movie": 7, "rating": 5}]).mapping()
            {'columns': {}}
        """
        return {"columns": {**self.roles, **self.given}}

    def save(self, path: str | PathLike[str], overwrite: bool = False) -> None:
        """Write the mapping as TOML, to be completed by hand.

        Parameters:
            path: the file to write.
            overwrite: replace a file of others that is there.

        Examples:
            >>> offrank.inspect([{"user": 1, "movie": 7, "rating": 5}]).save("log.toml")
        """
        refuse_result(path, self, overwrite)
        write_mapping(self.mapping(), self.source, path)

    def to_dict(self) -> dict[str, Any]:
        """Return the description as plain lists and dicts, with the keys of an inspection that hold of it."""
        found: dict[str, Any] = plain(
            {
                "schema": 2,
                "kind": "inspect",
                **vars(self),
                "logging": {"policy": None, "status": "unknown"},
                "mapping": self.mapping(),
            }
        )
        return found

    def to_document(self) -> Document:
        """Return the page: why it is not read, what would settle it, and its columns."""
        known = ", ".join(f"{role}={name}" for role, name in self.mapping()["columns"].items())
        rows = tuple((one.name, one.type, ", ".join(one.samples)) for one in self.columns)
        sections = (
            Section("What to do", tuple(map(_choice, self.unsettled))) if self.unsettled else None,
            Section("What is known", (known,)) if known else None,
            Section("Next", code=f"  {self.command}") if self.command else None,
            Section("Columns", tables=(Figures("Contents", ("column", "type", "first values"), rows),)),
        )
        answer = Answer(Wording("**This table cannot be read as a log yet**: {}", self.why), severity="warning")
        return Document(self.source, "", tuple(one for one in sections if one is not None), (answer,))

    __repr__ = Printed.__str__


def _choice(one: Unsettled) -> Wording:
    """Say what is open, and which options settle it, the likeliest first."""
    return Wording("{}: {}", one.what, joined(", or ", one.options))


def describe_unread(
    beginning: Beginning,
    error: OffrankError,
    columns: Mapping[str, str] | None,
    kind: str | None,
    *,
    closed: bool = False,
) -> UnreadTable:
    """Return the description of a table that could not be read as a log.

    error: what `read_log` said of it. closed: whether gaps between positions were to be closed.

    Raises:
        OffrankError: that error, where it is no table either, or where a column was said that it does not have.
    """
    log, said = beginning.source, dict(columns or {})
    if beginning.table is None and beginning.several and not said:
        return _several(beginning, error, kind)
    if beginning.table is None or beginning.rows is None or not beginning.rows.num_rows:
        raise error
    found = roles_of(beginning, said, closed=closed)
    if found is None or {column_of(one, beginning.table.names) for one in said.values()} - {*beginning.table.names}:
        raise error
    path = str(log) if isinstance(log, str | PathLike) else None
    where, roles = beginning.table.describe(), {role: one.column for role, one in found.roles.items()}
    known = None if said or kind else format_of(beginning)
    if known is not None:
        return UnreadTable(where, first_look(beginning.rows), _told(error), layout=known.layout, path=path)
    why = (
        ": ".join(filter(None, (found.lacks, found.instead)))
        or " and ".join(f"it is not clear {one.what}" for one in found.unsettled)
        or _told(error)
    )
    made = UnreadTable(where, first_look(beginning.rows), why, found.unsettled, found.layout, path, said, roles)
    return replace(made, command=found.command)


def _told(error: OffrankError) -> str:
    """Return what an error says, with its remedy."""
    return Wording("{}: {}", error.message, error.remedy) if error.remedy else error.message


def _several(beginning: Beginning, error: OffrankError, kind: str | None) -> UnreadTable:
    """Return the description of files that are no one table: the columns of each.

    Raises:
        OffrankError: what was said of them, where none of them is a table.
    """
    columns: list[LogColumn] = []
    for each in beginning.several[:_DESCRIBED_FILES]:
        rows, where = Beginning.of(each, kind).rows, each if isinstance(each, str) else each.describe()
        if rows is not None and rows.num_rows:
            columns += [replace(one, name=f"{one.name} ({Path(where).name})") for one in first_look(rows)]
    if not columns:
        raise error
    without, known = (None, None) if kind else (lacks_lists(beginning), format_of(beginning))
    why = _told(error) if without is None else f"{without.lacks}: {without.instead}"
    layout = next((one.layout for one in (known, without) if one is not None), "none")
    source = ", ".join(map(str, log)) if isinstance(log := beginning.source, list) else str(log)
    command = "" if without is None else without.command
    return UnreadTable(source, tuple(columns), why, layout=layout, path=source, command=command)


_DESCRIBED_FILES = 8
"""Files of a folder that are described."""
