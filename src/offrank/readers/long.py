"""The long layout: a row per item, converted to the wide layout while streaming."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import ColumnError, RowError
from ..log import rules
from ..log.batch import Floats, Integers, LogBatch
from ..log.python_values import as_arrow
from ..log.rules import Faults
from ..log.schema import GROUPING, LONG_ROLES, ROLES, Columns
from ..log.source import Engine, Needs, OnePart, engine_of, refuse_once
from . import conversions, flat
from .column_sets import ASKED_FOR, told_of_all
from .composite_ids import joined_columns
from .computed_columns import DerivedTable
from .impressions import GatheredTable, Rows
from .row_filter import refuse_shortened
from .tables import FEW_ROWS, FIRST_ROWS, Piece, Table, TableOver, all_pieces, few_rows, first_piece, unified_table
from .unfolding.table import Reshaped
from .wide import Gaps, TableLog, WideLog, outline, place

FROM_0 = ", positions from 0"
"""What a description ends with, where the first position is 0."""


@dataclass(frozen=True, repr=False)
class LongLog(TableLog):
    """A table with a row per item, as a source of log batches.

    noted: results of the first pass, shared with copies: rows, whether impressions are scattered, the top position,
    and that of what was not shown: 0, -1, or none but null (-2).
    """

    gaps: Gaps = "raise"
    noted: dict[str, int] = field(default_factory=dict, compare=False)

    def __repr__(self) -> str:
        return outline("long", self.table, self.description.left_out)

    @property
    def table(self) -> Table:
        """The table."""
        return self.stored

    def parts(self) -> int:
        return min(self.stored.parts(), 1)

    def describe(self) -> str:
        zero = FROM_0 if self.noted.get("top", 1) == 0 and self.gaps == "raise" else ""
        none = self.noted.get("unshown", -2)
        where = place(self.table, self.description.left_out)
        return where + zero + f", items at position {none} not shown" * (none > -2)

    def engine(self) -> Engine | None:
        return engine_of(self.table) and self.wide.engine()

    def batches(self, part: int) -> Iterator[LogBatch]:
        own = {"slate": "item", "candidates": "item", "clicks": "click"}
        try:
            for batch in self.wide.batches(part):
                yield replace(batch, listed=False)
        except RowError as error:
            if error.column not in own:
                raise
            column = self.column(own[error.column])
            raise RowError(error.file, error.row, column, error.rule, error.detail, error.remedy, error.line) from None

    def per_item(self, name: str) -> bool:
        if name not in self.table.names:
            return False
        columns = self.column("impression"), name
        (data,) = few_rows(self.table, columns, FIRST_ROWS).drop_null().combine_chunks().to_batches() or [None]
        return data is not None and bool(Rows(Piece(data, "", np.arange(len(data))), columns[0]).differing(name).any())

    def select(self, needed: Needs) -> LongLog:
        known = Columns(self.table.names, self.renamed, self.describe())
        if (name := self.column("impression")) == self.column("position"):
            raise ColumnError(f"column {name!r} is both the impression and the position", "name a column for each")
        try:
            if "clicks" in needed.roles or ("reward" in needed.roles and not known.has("reward")):
                known.of("click")
            self._wide(self.table).select(needed)
        except ColumnError as error:
            raise (error if error.column in ASKED_FOR else told_of_all(error, self.table)) from None
        return replace(self, needed=needed)

    def column(self, role: str) -> str:
        """Return the log's own name of a column."""
        return self.renamed.get(role, role)

    @property
    def wide(self) -> WideLog:
        """Return the same log in the wide layout, after a first pass has found the order of its rows."""
        table = self._typed()
        if not self.noted:
            self.refuse_at_once()
            self.noted.update(self._look(table))
        if self.noted["scattered"]:
            table = GatheredTable(table, self.column("impression"), self.noted["rows"])
        return self._wide(table)

    def refuse_at_once(self, *, every: bool = False) -> None:
        """Raise what the first rows of files show, before all are read for their order. every: of every column.

        Rules about positions are left to that pass: rows of the same impression may come later.

        Raises:
            LogError: a column cannot be read as what it is needed for, or a value differs within an impression.
        """
        if self.stamp() is None or engine_of(self.table):
            return
        wide = self._wide(_Beginning(self._typed()))
        columns = wide.columns()
        try:
            for piece in wide.pieces(0, wide.table.names if every else tuple(dict.fromkeys(columns.values()))):
                list(wide.decode(piece, columns))
        except RowError as error:
            if error.rule == rules.NOT_CONSTANT.code:
                raise

    def _wide(self, table: Table) -> WideLog:
        kept = {role: name for role, name in self.renamed.items() if role in ROLES and role in LONG_ROLES}
        how = self.invalid, self.needed, self.top_k, self.duplicates, replace(self.description, clicks_as="numbers")
        return WideLog(_WideTable(self, table), kept, *how)

    def _look(self, table: Table) -> dict[str, int]:
        """Return rows, whether impressions reappear after others, and the position at the top."""
        refuse_once(self, "the order of the rows of the long layout is read first")
        if self.where is not None:
            refuse_shortened(table, self.column("impression"))
        engine, columns = engine_of(table), (self.column("impression"), self.column("position"))
        look = partial(_first_look, table, *columns, engine is None)
        rows, begun, impressions, from_0, below = sum(engine.each(look), np.zeros(5)) if engine else look(0)
        unshown = -1 if below > impressions else 0 if from_0 > impressions else -2
        top = 0 if 2 * from_0 > impressions and unshown else 1
        return {"rows": int(rows), "scattered": bool(impressions < begun), "top": top, "unshown": unshown}

    def _typed(self) -> Table:
        """Return the table; for text files with column types that a first block cannot show."""
        return self._typed_of(self.table)

    def _typed_of(self, table: Table) -> Table:
        given: Any = table
        if isinstance(table, Reshaped | DerivedTable):
            return replace(given, table=self._typed_of(table.table))
        if hasattr(table, "grouped"):
            return cast("Table", given.grouped(self.column("impression")))
        if not hasattr(table, "typed"):
            return table
        needed, told = self.needed, self.description
        text = [self.column(role) for role in ("impression", "item", "query")]
        text += [{**told.groups, **self.renamed}.get(role, role) for role in sorted(needed.clusters)]
        text += [*needed.keys, *needed.labels, *joined_columns(self.column("impression"), table.names)]
        numbers = [self.column(role) for role in ("reward", "propensity", "inclusion")]
        text += [self.column("click")] * (told.clicks_as == "items")
        numbers += [name for role in ("position", "click") if self._is_number(given.schema, name := self.column(role))]
        numbers = [name for name in numbers if name not in text]
        kinds = dict.fromkeys(
            [*numbers, *needed.scores, *needed.rankings, *needed.numbers, *needed.item_numbers], pa.float64()
        )
        return cast("Table", given.typed(kinds if given.kind == "json" else kinds | dict.fromkeys(text, pa.string())))

    def _is_number(self, schema: pa.Schema, name: str) -> bool:
        """Whether a column of a text file must hold numbers: if its first block shows any, or none of its values."""
        if self.description.clicks_as == "numbers" or name not in schema.names:
            return True
        kind = schema.field(name).type
        return not (conversions.is_text(kind) or pa.types.is_temporal(kind) or pa.types.is_boolean(kind))


def _first_look(table: Table, impression: str, position: str, brief: bool, _part: int) -> Integers:
    """Return the numbers of rows, of times that an impression begins, of impressions, of positions 0 and -1.

    brief: whether a bound of the impressions will do where the first show that they reappear, and no position is such.
    """
    rows, from_0, below, last, begun = 0, 0, 0, None, [np.empty(0, np.int64)]
    for piece in all_pieces(table, (impression, position)):
        if not len(piece.data):
            continue
        codes = flat.id_codes(piece.data.column(impression), impression)
        ranks = flat.numbers(conversions.positions(piece.data.column(position)), position)
        from_0, below = from_0 + int((ranks == 0).sum()), below + int((ranks == -1).sum())
        new = np.append(codes[0] != last, codes[1:] != codes[:-1])
        begun.append(codes[new])
        rows, last = rows + len(codes), codes[-1]
    found = np.concatenate(begun)
    if brief and not from_0 and not below and _distinct(some := found[:_FIRST_BEGUN]) < len(some):
        return np.array([rows, len(found), len(found) - 1, 0, 0])
    return np.array([rows, len(found), _distinct(found), from_0, below])


_FIRST_BEGUN = 1 << 16


def _distinct(codes: Integers) -> int:
    return len(as_arrow(codes).unique())


@dataclass(frozen=True)
class _Beginning(OnePart, TableOver):
    """The first rows of a table."""

    table: Table

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        first = first_piece(self.table, columns)
        if first is not None:
            yield first.between(part, min(len(first.data), FEW_ROWS))


@dataclass(frozen=True)
class _WideTable(TableOver):
    """A long table as a wide one. Its rows are grouped by impression.

    Needed scores have a value per row; needed rankings hold an item's 1-based rank, null if it
    is not ranked. Every other column is per impression. An impression may continue in the
    next part, so all parts are read as one.
    """

    log: LongLog
    table: Table

    @property
    def names(self) -> tuple[str, ...]:
        impression = {self.log.column("impression")} - {*GROUPING}  # a query of its own each time is both
        own = impression | {self.log.column(role) for role in ("item", "position", "click")}
        clicks = ("clicks",) if self.log.column("click") in self.table.names else ()
        return ("slate", "candidates", *clicks, *(name for name in self.table.names if name not in own))

    def parts(self) -> int:
        return min(self.table.parts(), 1)

    def engine(self) -> Engine | None:
        return engine_of(self.table)

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        known = Columns(self.table.names, self.log.renamed, self.describe())
        roles = ("impression", "item", "position", *(("click",) if "clicks" in columns else ()))
        wanted = [known.of(role) for role in roles] + [name for name in columns if name in self.table.names]
        for piece in self._whole_impressions(tuple(dict.fromkeys(wanted))):
            rows = self._checked(Rows(piece, known.of("impression")), columns)
            data = pa.record_batch({name: self._column(rows, name) for name in columns})
            yield replace(rows.piece, data=data, rows=rows.piece.rows[rows.starts])

    def _whole_impressions(self, columns: tuple[str, ...]) -> Iterator[Piece]:
        """Yield pieces cut between impressions; the rest of the last one waits for the next piece."""
        rest: Piece | None = None
        empty: Counter[str] = Counter()  # what pieces without rows have left out
        for read in all_pieces(self.table, columns):
            if not len(read.data):
                empty.update(read.skipped)
                continue
            skipped, empty = empty + Counter(read.skipped), Counter()
            piece = replace(read, data=self._converted(flat.plain_columns(read.data)), skipped=skipped)
            if rest is not None and rest.file != piece.file:
                more = self._more_of(rest, piece)
                rest = self._joined(rest, piece.between(0, more)) if more else rest
                piece = piece.between(more, len(piece.data))
                if not len(piece.data):
                    continue
                yield rest
                rest = None
            if rest is not None:  # it continues in the same file
                piece = self._joined(rest, piece)
            starts = Rows(piece, self.log.column("impression")).starts
            cut = int(starts[-1]) if len(starts) else 0
            if cut:
                yield piece.between(0, cut)
            rest = piece.between(cut, len(piece.data))
        if rest is not None and len(rest.data):
            yield replace(rest, skipped=Counter(rest.skipped) + empty)

    def _more_of(self, rest: Piece, piece: Piece) -> int:
        """Return with how many rows of the next file the last impression of a file goes on."""
        name = self.log.column("impression")
        last, codes = (flat.id_codes(one.data.column(name), name) for one in (rest, piece))
        return int(np.append(codes != last[-1], True).argmax())

    def _joined(self, rest: Piece, more: Piece) -> Piece:
        """Return the rows of two pieces. Those of two files are numbered across all files."""
        (data,) = unified_table([rest.data, more.data]).combine_chunks().to_batches()
        left_out = Counter(rest.skipped) + Counter(more.skipped)
        if rest.file == more.file:
            return replace(rest, data=data, rows=np.concatenate([rest.rows, more.rows]), skipped=left_out)
        rows = np.concatenate([one.rows + one.base for one in (rest, more)])
        return Piece(data, self.describe(), rows, skipped=left_out)

    def _converted(self, data: pa.RecordBatch) -> pa.RecordBatch:
        """Return the same rows with clicks and positions as numbers, unless they must be written so.

        Positions of 0, or of -1, are none where there are more of them than lists.
        """
        position, clicks_as = self.log.column("position"), self.log.description.clicks_as
        if (unshown := self.log.noted.get("unshown", -2)) > -2 and position in data.schema.names:
            place, ranks = data.schema.get_field_index(position), conversions.positions(data.column(position))
            data = data.set_column(place, position, pc.if_else(pc.equal(ranks, unshown), None, ranks))
        if clicks_as == "numbers":
            return data
        for role, converted in (("click", conversions.click_numbers), ("position", conversions.positions)):
            name = self.log.column(role)
            if name in data.schema.names and (role, clicks_as) != ("click", "items"):
                raw = data.column(name) if conversions.is_text(data.column(name).type) else None
                place = data.schema.get_field_index(name)
                found = converted(data.column(name))
                if role == "click" and clicks_as == "filled":
                    found = pc.fill_null(found, pa.scalar(0).cast(found.type))
                data = data.set_column(place, name, found)
                data = data if raw is None else data.append_column(conversions.RAW + name, raw)
        return data

    def _checked(self, rows: Rows, columns: tuple[str, ...]) -> Rows:
        """Return the rows, without impressions that break a rule of this layout if those are to be skipped.

        Raises:
            RowError: an impression breaks a rule, unless such rows are to be skipped.
        """
        log, needed = self.log, self.log.needed
        faults, close = Faults(np.zeros(len(rows.of_row), np.int16)), log.gaps == "close"
        item, position, click = log.column("item"), log.column("position"), log.column("click")
        flat.id_codes(rows.piece.data.column(item).slice(0, 0), item)  # what is no id is told by the user's own name
        if log.description.clicks_as == "items" and click in rows.piece.data.schema.names:
            faults.mark(rows.count_clicks(click, item)[rows.of_row], rules.CLICKED_OUTSIDE, click)
        kept = needed.holes and not close
        rule = rules.BAD_RANK if kept else rules.BAD_POSITION
        wrong = rows.count(position, log.noted.get("top", 1), kept=kept, closed=close)
        if wrong.any():
            again, first = rows.copies(item, position)
            faults.mark(again, rules.copied_row(first, int(again.sum()), len(again)), item)
            wrong &= np.bincount(rows.of_row, again)[rows.of_row] == 0  # which no position of theirs follows
        faults.mark(wrong, rule, position)
        for name in needed.rankings:
            faults.mark(rows.count(name), rules.BAD_POSITION, name)
        if needed.holes:  # in a slate, null is a rank without an item
            ranked = np.asarray(rows.piece.data.column(position).is_valid())
            faults.mark(ranked & flat.nulls(rows.piece.data.column(item)), rules.NULL, item)
        beside = {*needed.scores, *needed.rankings, *needed.times, *self._by_position, "slate", "candidates", "clicks"}
        for name in columns:
            if name not in beside:
                faults.mark(rows.differing(name), rules.NOT_CONSTANT, name)
        error = faults.first(rows.piece.file, rows.piece.rows, rows.show)
        if error is None:
            return rows
        if log.invalid == "raise":
            raise rows.piece.located(error)
        return rows.without(faults, {click, log.column("reward")}, self._earned(rows))

    def _earned(self, rows: Rows) -> Floats:
        """Return the reward of each impression, or the sum of its clicks; NaN where neither was read."""
        data, reward, click = rows.piece.data, self.log.column("reward"), self.log.column("click")
        if reward in data.schema.names:
            return flat.numbers(data.column(reward), reward)[rows.starts]
        if click not in data.schema.names:
            return np.full(len(rows.starts), np.nan)
        shown = ~np.isnan(flat.numbers(data.column(self.log.column("position")), self.log.column("position")))
        clicks = np.where(shown, flat.numbers(data.column(click), click), 0.0)
        return np.bincount(rows.of_row, clicks, len(rows.starts)).astype(np.float64)

    def _column(self, rows: Rows, name: str) -> pa.Array:
        """Return a column of the wide layout."""
        data, item, position = rows.piece.data, self.log.column("item"), self.log.column("position")
        by_position = {"slate": item, "clicks": self.log.column("click")}
        if name == "candidates" or name in self.log.needed.scores:
            return flat.lists_between(data.column(item if name == "candidates" else name), rows.ends)
        if name in by_position or name in self._by_position:
            return rows.ordered(by_position.get(name, name), position)
        if name in self.log.needed.rankings:
            return rows.ordered(item, name)
        return data.column(name).take(as_arrow(rows.starts))

    @property
    def _by_position(self) -> set[str]:
        """Return the columns that hold logged probabilities, or other numbers, for each shown item."""
        others = (name.partition(":") for name in self.log.needed.written)
        own = {self.log.column("slot_propensity"), self.log.column("rank_propensity")}
        written = {column for role, _, column in others if role != "propensity"}
        return own | written | self.log.needed.item_numbers
