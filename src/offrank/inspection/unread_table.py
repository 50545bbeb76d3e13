"""A table that can be opened and is not read as a log yet: its columns, what was tried, and what would settle it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from ..frames import Plain, plain
from ..language.outputs import refuse_result
from ..readers.description import Unsettled
from ..readers.log_columns import LogColumn
from ..report.document import Answer, Document, Figures, Section
from ..report.printable import Printed
from ..wording import Wording, joined
from .result import write_mapping


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
        asked = tuple(Wording("{}: {}", one.what, joined(", or ", one.options)) for one in self.unsettled)
        sections = (
            Section("What to do", asked) if asked else None,
            Section("What is known", (known,)) if known else None,
            Section("Next", code=f"  {self.command}") if self.command else None,
            Section("Columns", tables=(Figures("Contents", ("column", "type", "first values"), rows),)),
        )
        answer = Answer(Wording("**This table cannot be read as a log yet**: {}", self.why), severity="warning")
        return Document(self.source, "", tuple(one for one in sections if one is not None), (answer,))

    __repr__ = Printed.__str__
