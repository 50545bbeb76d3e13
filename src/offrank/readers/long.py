"""The long layout: a row per item, turned into the wide layout while it streams by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from ..errors import RowError
from ..log.batch import LogBatch
from ..log.schema import LONG_ROLES, ROLES, Columns
from ..log.source import Needs
from .long_table import LongTable
from .tables import CsvTable, Table
from .told import told
from .wide import Invalid, WideLog


@dataclass(frozen=True)
class LongLog:
    """A table with a row per item, as a source of log batches."""

    table: Table
    renamed: Mapping[str, str]
    invalid: Invalid = "raise"
    needed: Needs = field(default_factory=Needs)

    def __repr__(self) -> str:
        return told("long", self.table)

    def parts(self) -> int:
        return self.wide.parts()

    def describe(self) -> str:
        return self.table.describe()

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
        self.wide.select(needed)
        return replace(self, needed=needed)

    @property
    def wide(self) -> WideLog:
        """The same log in the wide layout."""
        typed = _typed(self.table, self.renamed, self.needed)
        table = LongTable(typed, self.renamed, self.needed, self.invalid)
        kept = {role: name for role, name in self.renamed.items() if role in ROLES and role in LONG_ROLES}
        return WideLog(table, kept, self.invalid, self.needed)


def _typed(table: Table, renamed: Mapping[str, str], needed: Needs) -> Table:
    """A CSV table with the kinds of its columns said, since they cannot be read off a first block."""
    if not isinstance(table, CsvTable):
        return table
    text = [renamed.get(role, role) for role in ("impression", "item", "query")] + list(needed.keys | needed.labels)
    text += [renamed.get(name, name) for name in sorted(needed.clusters)]
    numbers = [renamed.get(role, role) for role in ("position", "click", "reward", "propensity", "inclusion")]
    return replace(table, text=tuple(text), numeric=(*numbers, *needed.scores, *needed.rankings))
