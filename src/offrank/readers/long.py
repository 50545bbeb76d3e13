"""The long layout: a row per item, turned into the wide layout while it streams by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from ..errors import RowError
from ..log.batch import LogBatch
from ..log.schema import LONG_ROLES, ROLES, Columns
from ..log.source import Needs
from . import arrow
from .dataset import FileTable
from .long_table import LongTable
from .scattered import GatheredTable
from .tables import Table, told
from .wide import Gaps, Invalid, WideLog


@dataclass(frozen=True)
class LongLog:
    """A table with a row per item, as a source of log batches.

    noted: what a first look found, shared with copies: rows, whether impressions are scattered, the top position.
    """

    table: Table
    renamed: Mapping[str, str]
    invalid: Invalid = "raise"
    needed: Needs = field(default_factory=Needs)
    gaps: Gaps = "raise"
    top_k: int | None = None
    noted: dict[str, int] = field(default_factory=dict, compare=False)

    def __repr__(self) -> str:
        return told("long", self.table)

    def parts(self) -> int:
        return min(self.table.parts(), 1)

    def describe(self) -> str:
        zero = ", positions from 0" if self.noted.get("top", 1) == 0 and self.gaps == "raise" else ""
        return self.table.describe() + zero

    def batches(self, part: int) -> Iterator[LogBatch]:
        own = {"slate": "item", "candidates": "item", "clicks": "click"}
        try:
            yield from self.wide.batches(part)
        except RowError as error:
            if error.column not in own:
                raise
            column = self.renamed.get(own[error.column], own[error.column])
            raise RowError(error.file, error.row, column, error.rule, error.detail, error.remedy) from None

    def select(self, needed: Needs) -> LongLog:
        known = Columns(self.table.names, self.renamed, self.describe())
        if "clicks" in needed.roles or ("reward" in needed.roles and not known.has("reward")):
            known.of("click")
        self._wide(self.table).select(needed)
        return replace(self, needed=needed)

    @property
    def wide(self) -> WideLog:
        """The same log in the wide layout, once a first look has told how its rows stand."""
        table = _typed(self.table, self.renamed, self.needed)
        if not self.noted:
            self.noted.update(self._look(table))
        if self.noted["scattered"]:
            table = GatheredTable(table, self.renamed.get("impression", "impression"), self.noted["rows"])
        return self._wide(table, self.noted["top"])

    def _wide(self, table: Table, top: int = 1) -> WideLog:
        long = LongTable(table, self.renamed, self.needed, self.invalid, self.gaps, top)
        kept = {role: name for role, name in self.renamed.items() if role in ROLES and role in LONG_ROLES}
        return WideLog(long, kept, self.invalid, self.needed, self.top_k)

    def _look(self, table: Table) -> dict[str, int]:
        """Rows, whether impressions come back after others, and the position at the top."""
        impression, position = (self.renamed.get(role, role) for role in ("impression", "position"))
        rows, from_0, last, begun = 0, 0, None, [np.empty(0, np.int64)]
        for piece in (piece for part in range(table.parts()) for piece in table.pieces(part, (impression, position))):
            codes = arrow.codes(piece.data.column(impression), impression)
            ranks = arrow.numbers(piece.data.column(position), position)
            from_0 += int((ranks == 0).sum())
            new = np.append(codes[:1] != last, codes[1:] != codes[:-1])
            begun.append(codes[new])
            rows, last = rows + len(codes), codes[-1]
        found = np.concatenate(begun)
        impressions = len(np.unique(found))
        return {"rows": rows, "scattered": impressions < len(found), "top": 0 if 2 * from_0 > impressions else 1}


def _typed(table: Table, renamed: Mapping[str, str], needed: Needs) -> Table:
    """Text files with the kinds of their columns said, since they cannot be read off a first block."""
    if not isinstance(table, FileTable):
        return table
    text = [renamed.get(role, role) for role in ("impression", "item", "query")] + list(needed.keys | needed.labels)
    text += [renamed.get(name, name) for name in sorted(needed.clusters)]
    numbers = [renamed.get(role, role) for role in ("position", "click", "reward", "propensity", "inclusion")]
    kinds = dict.fromkeys([*numbers, *needed.scores, *needed.rankings], pa.float64())
    return table.typed(kinds if table.kind == "json" else kinds | dict.fromkeys(text, pa.string()))
