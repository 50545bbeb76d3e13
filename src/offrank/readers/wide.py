"""The wide layout: record batches to checked and padded log batches; and the plain case, a Parquet file that has it."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa

from ..errors import ColumnError, LogError, OffrankError, UsageError
from ..log import rules
from ..log.batch import Integers, LogBatch
from ..log.schema import GROUPING, WRITTEN, Columns
from ..log.source import Engine, Needs, Source, SourceOver, engine_of, stamp_of
from ..wording import Option, Wording
from . import flat
from .column_sets import ASKED_FOR, told_of_all
from .conversions import is_json, is_text
from .decode import Decoded, Duplicates
from .description import Description
from .files import Files
from .json_text import BadCell
from .names import CALLED, closeness, may_group
from .parquet_orc_arrow import ParquetTable
from .tables import Piece, Table, few_rows, row_count, schema_of
from .unfolding import RankedTable, unfolded

Invalid = Literal["raise", "skip"]
Gaps = Literal["raise", "close"]
_NAMED = 3
"""Files left out that the description of a log names; its `repr` names all."""


@dataclass(frozen=True)
class ReadOptions:
    """How `read_log` was told to read."""

    invalid: Invalid = "raise"
    gaps: Gaps = "raise"
    top_k: int | None = None
    duplicates: Duplicates | None = None
    skip_broken_files: bool = False
    where: str | None = None

    def check(self) -> None:
        """Refuse choices that there are not."""
        for name, kind in (("invalid", Invalid), ("gaps", Gaps)):
            if (said := getattr(self, name)) not in get_args(kind):
                raise UsageError(f"{name} is {said!r}", 'use "{}" or "{}"'.format(*get_args(kind)))
        if self.duplicates not in (None, *get_args(Duplicates)):
            raise UsageError(f"duplicates is {self.duplicates!r}", 'use "first", "each" or "raise"')
        top_k: Any = self.top_k
        if not (top_k is None or (isinstance(top_k, int | np.integer) and top_k >= 1)):
            raise UsageError(f"top_k is {top_k!r}", "give 1 or more, a whole number")
        if not isinstance(self.where, str | None):
            raise UsageError(f"where is {self.where!r}", "give a text, such as 'explored = true'")


@dataclass(frozen=True)
class TableLog:
    """A table, and how it is read as a log.

    stored: the table. top_k: how many slots of each slate are kept. duplicates: how items that stand in a slate twice
    are read. where: the filter of its rows, if it has one.
    """

    stored: Table
    renamed: Mapping[str, str]
    invalid: Invalid = "raise"
    needed: Needs = field(default_factory=Needs)
    top_k: int | None = None
    duplicates: Duplicates = "raise"
    description: Description = field(default_factory=Description, compare=False)
    where: str | None = None

    def stamp(self) -> Mapping[str, Any] | None:
        return stamp_of(self.stored)

    def per_item(self, name: str) -> bool:
        """Whether a column has a number for each item shown, as the first rows tell."""
        raise NotImplementedError


@dataclass(frozen=True, repr=False)
class WideLog(TableLog):
    """A table with a row per impression, as a source of log batches.

    texts: its columns of text that have not been looked at for lists and objects in them.
    """

    texts: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return outline("wide", self.table, self.description.left_out)

    @cached_property
    def table(self) -> Table:
        """The table, with what its columns of text hold: they are looked at when this is first asked for."""
        return unfolded(self.stored) if self.texts else self.stored

    def looked_at(self) -> WideLog:
        """Return the same log, all of whose columns of text have been looked at."""
        return replace(self, stored=self.table, texts=frozenset())

    def parts(self) -> int:
        return self.stored.parts()

    def describe(self) -> str:
        left_out = self.description.left_out
        return place(self.stored, left_out) if left_out else self.stored.describe()

    def engine(self) -> Engine | None:
        return engine_of(self.stored)

    def has(self, needed: Needs) -> bool:
        """Whether it has these columns: what `select` tells by an error, which takes long to word."""
        columns = {*replace(self, needed=needed).columns().values()}
        absent = columns.difference(self.stored.names)
        if columns & self.texts or (self.texts and any("." in name for name in absent)):  # of an object in a text
            return self.looked_at().has(needed)
        return not absent

    def per_item(self, name: str) -> bool:
        if name not in self.table.names:
            return False
        found = few_rows(self.table, (name,)).column(name).combine_chunks()
        return pa.types.is_nested(found.type) or is_json(found)

    def select(self, needed: Needs) -> WideLog:
        table = self.stored.needing(needed) if isinstance(self.stored, RankedTable) else self.stored
        chosen = replace(self, needed=needed, stored=table)
        columns = chosen.columns()
        absent = {name: column for name, column in columns.items() if column not in table.names}
        if self.texts and (absent or not self.texts.isdisjoint(columns.values())):
            return self.looked_at().select(needed)
        for name, column in absent.items():
            kind, _, own = name.partition(":")
            role = (own if own in GROUPING and kind not in WRITTEN else None) if own else kind
            try:
                Columns(table.names, self.renamed, table.describe()).named(column, role)
            except ColumnError as error:
                raise (error if column in ASKED_FOR else told_of_all(error, table)) from None
        if self.top_k is not None:
            _refuse_of_whole_slates(columns)
        return chosen

    def batches(self, part: int) -> Iterator[LogBatch]:
        columns = self.columns()
        pieces = self.pieces if self.description.left_out else self.stored.pieces
        for piece in pieces(part, tuple(dict.fromkeys(columns.values()))):
            yield from self.decode(piece, columns)

    def pieces(self, part: int, names: tuple[str, ...]) -> Iterator[Piece]:
        """Yield the rows of one part, with these columns only; the first piece of all tells what was left out."""
        left_out = {} if part else self.description.left_out
        for piece in self.stored.pieces(part, names):
            yield replace(piece, skipped=Counter(piece.skipped) + Counter(left_out)) if left_out else piece
            left_out = {}

    def columns(self) -> dict[str, str]:
        """Return the columns to read: role (or `scores:name` and the like) -> column; `select` refuses absent ones."""
        names, named = self.stored.names, self.renamed
        there = Columns(names, named, "").roles() if named else {*names}  # without the user's own names, theirs
        roles = {*self.needed.roles} | ({"clicks", "inclusion"} & there)
        if "reward" in roles - there:
            roles = roles - {"reward"} | {"clicks"}
        roles -= {"candidates"} - there
        if "features" in roles:
            roles |= {"feature_values"} & there
        chosen = {role: named.get(role, role) for role in ("slate", *sorted(roles - set(WRITTEN)))}
        for role in sorted(roles & set(WRITTEN)):
            # If it is missing, another may be equivalent: the product of the slots' probabilities is the slate's,
            # and on slates of one slot all three are equal.
            held = next((one for one in (role, *WRITTEN[role]) if one in there), role)
            chosen[held] = named.get(held, held)
        chosen |= {name: name.partition(":")[2] for name in sorted(self.needed.written)}
        for kind in ("scores", "rankings", "keys", "labels", "clusters", "numbers", "item_numbers", "times"):
            own = {**self.description.groups, **named} if kind == "clusters" else named
            for name in sorted(getattr(self.needed, kind)):
                chosen[f"{kind}:{name}"] = own.get(name, name) if name in GROUPING else name
        return chosen

    def decode(self, piece: Piece, columns: Mapping[str, str], *, split: bool = False) -> Iterator[LogBatch]:
        """Yield log batches of a piece; rows of very different size go to separate batches.

        split: whether it is a part of one with a cell that cannot be read, so that its columns may seem of other types.

        Raises:
            RowError: a row breaks a rule, unless invalid rows are to be skipped.
        """
        try:
            found = Decoded(piece, columns, self.needed, self.top_k, self.duplicates, self.description.clicks_as)
        except (BadCell, ColumnError) as error:
            cell = error if isinstance(error, BadCell) else None
            if cell is not None and (self.invalid == "raise" or not cell.alone):
                raise piece.fault(cell) from None
            if cell is None and not split:
                raise
            name = None if cell is None else cell.name
            for part in piece.around(name, {columns.get("clicks"), columns.get("reward")}):
                yield from self.decode(part, columns, split=len(part.data) > 0)
            return
        except (pa.ArrowException, OverflowError) as error:
            where = f"{piece.file}, rows {piece.rows[0]} to {piece.rows[-1]}" if len(piece.rows) else piece.file
            remedy = "use plain numbers, strings and lists of them"
            raise LogError(f"{where} cannot be read: {error}", remedy) from error
        faults, skipped, dropped, rows = found.faults, dict[str, int](), piece.dropped, None
        if faults.rules or piece.skipped or found.ranks is not None:
            broken = faults.first(
                piece.file, piece.rows, lambda name, row: flat.show_value(piece.data.column(name), row)
            )
            if broken is not None and self.invalid == "raise":
                raise piece.located(broken)
            skipped = dict(Counter(faults.counts()) + Counter(piece.skipped) + Counter(found.repeated()))
        if faults.rules:
            dropped, rows = piece.dropped + found.dropped(), np.flatnonzero(faults.which == 0)
        sizes = np.maximum(found.candidates.lengths, found.length)
        sizes = sizes if rows is None else sizes[rows]
        alike = not len(sizes) or sizes.max() <= 2 * sizes.mean() + 8
        for some in [rows] if alike else _alike(sizes, rows):
            yield found.batch(some, skipped, dropped)
            skipped, dropped = {}, np.zeros(5)


def place(table: Table, left_out: Iterable[str]) -> str:
    """Describe where the data of a log is, and the first files that were left out: every result names its log so."""
    broken = sorted(one for one in left_out if not one.startswith(rules.NO_TABLE))
    more = f" and {len(broken) - _NAMED:,} more" if len(broken) > _NAMED else ""
    return f"{table.describe()}, without {', '.join(broken[:_NAMED])}{more}" if broken else table.describe()


def outline(layout: str, table: Table, left_out: Iterable[str] = ()) -> str:
    """Describe the log, each column and what was left out, a line each; rows only if they are known without reading.

    They are known for tables in memory, and for Parquet, which has them in its metadata.
    """
    rows, schema = row_count(table), schema_of(table)
    kinds = {} if schema is None else dict(zip(schema.names, schema.types, strict=True))
    columns = "".join(f"\n  {name}: {kinds[name]}" if name in kinds else f"\n  {name}" for name in table.names)
    without = "".join(f"\n  left out: {each}" for each in left_out)
    return f"{table.describe()}: {layout} layout{'' if rows is None else f', {rows:,} rows'}{columns}{without}"


def documented(source: Any) -> WideLog | None:
    """Return the log of a Parquet file in the documented wide layout: the plain case; None of any other source.

    No other column could be meant for one of the layout, or be made of others. No row is read: columns of text, which
    may hold lists or objects, are looked at when one of them is asked for.
    """
    path = str(Path(source)) if isinstance(source, str | Path) else ""
    if not path.endswith(".parquet") or {":", "="} & {*path} or not os.path.isfile(path):  # noqa: PTH113  a name?
        return None
    table = ParquetTable(Files((path,)))
    try:
        kinds = {one.name: one.type for one in table.schema}
        listed = {name for name, kind in kinds.items() if isinstance(kind, flat.LISTS)}
        if len(kinds) < len(table.schema) or not {"slate", "clicks", *({"candidates"} & kinds.keys())} <= listed:
            return None
        numbered, nested = re.search("[0-9]", "".join(kinds)), any("struct<" in str(kind) for kind in kinds.values())
        if numbered or nested or may_group(kinds) or not table.parts() or table.may_be_null("clicks"):
            return None
    except (OffrankError, UnicodeError):  # whoever looks at the file tells what is wrong
        return None
    log = WideLog(table, {}, texts=frozenset(name for name, kind in kinds.items() if is_text(kind)))
    return None if "candidates" not in kinds and lacks_candidates(log) else log


def lacks_candidates(log: Any) -> bool:
    """Whether a wide log has no candidates under their name, but a column that is called as they are."""
    if not isinstance(log, WideLog) or "candidates" in log.stored.names:
        return False
    return any(closeness("candidates", name) >= CALLED for name in log.stored.names)


def per_item(source: Source, name: str) -> bool:
    """Whether a column of a log has a number for each item shown; a source of batches has none."""
    while isinstance(source, SourceOver):
        source = source.source
    return isinstance(source, TableLog) and source.per_item(name)


def _refuse_of_whole_slates(columns: Mapping[str, str]) -> None:
    """Raise if a column describes whole slates that are to be cut."""
    for name, column in columns.items():
        if name.partition(":")[0] in ("propensity", "reward"):
            raise UsageError(
                f"column {column!r} describes whole slates, so it says nothing about their first slots",
                "name the logging policy, or log slot_propensity"
                if name != "reward"
                else Wording("omit the column to count the clicks of the first slots, or omit {}", Option("top_k")),
            )


def _alike(sizes: Integers, rows: Integers | None) -> list[Integers]:
    """Group rows (all if None) of similar size, so that padding stays small. sizes: those of the rows."""
    rows, octave = np.arange(len(sizes)) if rows is None else rows, np.ceil(np.log2(np.maximum(sizes, 1)))
    return [rows[octave == o] for o in np.unique(octave)]
