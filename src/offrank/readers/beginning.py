"""The beginning of a source: what is looked at to tell how it is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any

import pyarrow as pa

from ..errors import OffrankError
from .file_kinds import HEAD
from .files import Files, find, is_paths, refuse_too_long
from .opening import Opened
from .tables import Table, few_rows, first_rows, once_only
from .unfolding import unfolded


@dataclass(frozen=True)
class Beginning(Opened):
    """What is looked at of a source: nothing is read before it is asked for, and nothing twice."""

    def __post_init__(self) -> None:
        refuse_too_long(self.source)

    @property
    def table(self) -> Table | None:
        """The source as a plain table; None where it is none, or where its first rows cannot be read."""
        return self._looked[0]

    @property
    def rows(self) -> pa.Table | None:
        """The first rows; None where there is no table, and of a stream that can be read once only."""
        return self._looked[1]

    def unfolded(self, said: Mapping[str, str]) -> Table:
        """Return the source as a plain table, or raise an `OffrankError`. said: the roles that were given."""
        return unfolded(self.stored, said, self._few_rows)

    def _few_rows(self, table: Table, *which: Any) -> pa.Table:
        """Return `few_rows` of unfolding, read once of what was opened."""
        return self._few(*which) if table is self.stored else few_rows(table, *which)

    @cached_property
    def _few(self) -> Callable[..., pa.Table]:
        return cache(partial(few_rows, self.stored))

    def rows_as(self, table: Table) -> pa.Table | None:
        """Return the first rows of the source as this table has them, if they were read so; None if not."""
        found = self.rows if "_looked" in vars(self) else None
        return found if found is not None and table == self.table else None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns; none where it is no table."""
        return () if self.table is None else self.table.names

    @property
    def paths(self) -> tuple[str, ...]:
        """Its files, if it has any."""
        return () if self._files is None else self._files.paths

    @property
    def several(self) -> Sequence[str | Table]:
        """Its files, or its tables where it has no files; none where it is one."""
        try:
            found: Sequence[str | Table] = self.paths or self.tables
        except OffrankError:
            return ()
        return found if len(found) > 1 else ()

    @cached_property
    def head(self) -> bytes:
        """The first bytes of the first file, unpacked."""
        try:
            return b"" if self._files is None else self._files.head(self._files.paths[0])
        except (OffrankError, OSError):
            return b""

    @cached_property
    def text(self) -> str:
        """The first bytes as text; empty where they are not UTF-8."""
        try:
            whole = self.head if len(self.head) < HEAD else self.head[: self.head.rfind(b"\n") + 1]
            return "" if b"\0" in whole else whole.decode("utf-8-sig")
        except UnicodeDecodeError:
            return ""

    @cached_property
    def _looked(self) -> tuple[Table | None, pa.Table | None]:
        try:
            return self._read()
        except OffrankError:
            return None, None

    def _read(self) -> tuple[Table, pa.Table | None]:
        table = self.unfolded({})
        return table, None if once_only(table) else first_rows(table)

    def refuse_unreadable(self) -> None:
        """Raise if its first rows cannot be read, so that nobody knows what they hold.

        Raises:
            OffrankError: what was wrong with them.
        """
        if self.table is None:
            self._read()

    @cached_property
    def _files(self) -> Files | None:
        try:
            return find(self.source, empty=self.empty) if is_paths(self.source) else None
        except (OffrankError, OSError):
            return None
