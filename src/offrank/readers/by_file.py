"""Logs whose rows are numbered within their files, so that a part of a log has the numbers that it has in the whole."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import UsageError
from ..log.batch import LogBatch
from ..log.hashing import alone
from ..log.source import Needs, Source, stamp_of
from .long import LongLog
from .tables import Piece
from .wide import WideLog

_LAYOUTS: dict[str, Any] = {"wide": WideLog, "long": LongLog}


@dataclass(frozen=True)
class ByFile:
    """A log with rows numbered within their files: the first number of a file follows from its name.

    So the draws of a bootstrap and random samples are the same, whichever other files are read with it. folder: where
    relative names begin.
    """

    source: Source
    folder: str

    @classmethod
    def of(cls, source: Source, otherwise: Path) -> ByFile:
        """From a log. otherwise: what names the rows of a log that is not in files."""
        files = files_of(source)
        if files is None:
            return cls(source, str(otherwise.absolute()))
        return cls(source, str(Path.cwd()) if files.local else "")

    def parts(self) -> int:
        return self.source.parts()

    def select(self, needed: Needs) -> ByFile:
        return replace(self, source=self.source.select(needed))

    def describe(self) -> str:
        return self.source.describe()

    def stamp(self) -> Mapping[str, Any] | None:
        return stamp_of(self.source)

    def batches(self, part: int) -> Iterator[LogBatch]:
        for batch in self.source.batches(part):
            first = first_row(file_name(self.folder, batch.file))
            row = batch.row + np.uint64(first) - np.uint64(batch.base)
            old, new = (alone(one).view(np.int64) for one in (batch.row, row))
            clusters = {name: np.where(codes == old, new, codes) for name, codes in batch.clusters.items()}
            yield replace(batch, row=row, base=first, clusters=clusters)


def files_of(source: Source) -> Any:
    """Return the files that a log is in; None if it is in none."""
    return getattr(getattr(source, "table", None), "files", None)


def file_name(folder: str, file: str) -> str:
    """The name of a file that is the same from wherever it is read on this machine."""
    return os.path.normpath(os.path.join(folder, file))  # noqa: PTH118  an address is no path


@cache
def first_row(name: str) -> int:
    """The number of the first row of a file: below 2^62, and such that a float holds it exactly."""
    return int.from_bytes(hashlib.sha256(name.encode("utf-8", "surrogateescape")).digest()[:8], "little") >> 12 << 10


@dataclass(frozen=True)
class NoRows:
    """A table without rows, which has the columns of another. period: its days, if known; time: their column."""

    names: tuple[str, ...]
    where: str
    period: Mapping[str, str] | None
    time: str | None = None

    @property
    def schema(self) -> pa.Schema:
        """Return the column of time, which alone is known: of texts where nothing but rows tells the days."""
        return pa.schema([(self.time, pa.date32() if self.period else pa.string())] if self.time else [])

    def ends(self, name: str) -> list[str]:
        """Return the first and the last day."""
        return [self.period["first"], self.period["last"]] if self.period else []

    def parts(self) -> int:
        return 0

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        return iter(())

    def describe(self) -> str:
        return self.where


def layout_of(source: Source) -> dict[str, Any]:
    """What a log is without its rows, as plain values.

    Raises:
        UsageError: a source of another kind, such as a simulation or a part of a log.
    """
    if not isinstance(source, WideLog | LongLog):
        raise UsageError(f"{source.describe()} is not a complete log", "give the whole log, as files or a table")
    kind = "wide" if isinstance(source, WideLog) else "long"
    names = sorted(source.table.names)
    return {"kind": kind, "columns": names, "renamed": dict(source.renamed), "top_k": source.top_k}


def without_rows(layout: Mapping[str, Any], where: str, period: Mapping[str, str] | None) -> Source:
    """A log with this layout and period that has no rows. where: its description."""
    table = NoRows(tuple(layout["columns"]), where, period, layout.get("time"))
    log: Source = _LAYOUTS[layout["kind"]](table, layout["renamed"], top_k=layout["top_k"])
    return log
