"""Tables as they are after unfolding: lazily, batch by batch, with the row numbers of what they were made from.

Structs, and lists of them, give columns with dotted names: `items: list<struct<sku, click>>` has `items.sku`; columns
of one place each, `item_1`, `item_2` and `click_1`, `click_2`, become columns of lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...errors import ColumnError
from ...log.source import Engine, engine_of, stamp_of
from .. import flat
from ..column_sets import FileTable
from ..computed_columns import Computed, DerivedTable
from ..conversions import is_number, is_text
from ..files import partition
from ..names import CALLED, SURE_FIT, called_as_place, closeness
from ..tables import Piece, Table, TableOver, few_rows, first_pieces, once_only, refuse_lacking, row_count, schema_of
from .cells import Form, as_text
from .texts import text_forms

_SEPARATING = r"[\[{|;,\s]"
"""What separates values in a text."""
_LISTS = ("slate", "clicks", "candidates", "position", "slot_propensity")
"""Roles of columns that hold lists in the wide layout."""
_DOCUMENT = "_source"
"""The column of an exported index that holds the document of each row."""
Path = tuple[str, ...]
"""The fields that lead from a column to what is taken out of it."""
_OF_LISTS = (*flat.LISTS, pa.FixedSizeListType, pa.ListViewType, pa.LargeListViewType)
FirstRows = Callable[..., pa.Table]
"""As `few_rows`."""


class Reshaped(TableOver):
    """A table whose rows are each made of one of another: with its files, parts and name."""

    @property
    def once(self) -> bool:
        return once_only(self.table)

    @property
    def files(self) -> Any:
        return getattr(self.table, "files", None)

    @cached_property
    def schema(self) -> pa.Schema | None:
        """The columns and their types, where they are known without reading."""
        return schema_of(self.table)

    @property
    def num_rows(self) -> int | None:
        return row_count(self.table)

    def engine(self) -> Engine | None:
        return engine_of(self.table)

    def stamp(self) -> Mapping[str, Any] | None:
        return stamp_of(self.table)


@dataclass(frozen=True)
class UnfoldedTable(Reshaped):
    """A table with other columns in the place of those that hold structs or packed text.

    taken: name -> the folded column that it is made of, and the way in it. texts: folded columns that are texts.
    """

    table: Table
    taken: Mapping[str, tuple[str, Path]]
    texts: Mapping[str, Form] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.taken)

    @cached_property
    def schema(self) -> pa.Schema | None:
        folded = schema_of(self.table)
        if folded is None:
            return None
        kinds = {one.name: self.texts[one.name].kind if one.name in self.texts else one.type for one in folded}
        ways = ((name, taken(pa.array([], kinds[column]), path)) for name, (column, path) in self.taken.items())
        return pa.schema([(name, one.type) for name, one in ways])

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        for piece in self.table.pieces(part, self._folded(columns)):
            yield replace(piece, data=self.unfold(piece, columns))

    def first(self, columns: tuple[str, ...], rows: int = 1) -> Iterator[Piece]:
        """Yield its first rows; see `first_pieces`."""
        for piece in first_pieces(self.table, self._folded(columns), rows):
            yield replace(piece, data=self.unfold(piece, columns))

    def _folded(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        refuse_lacking(self, columns)  # such as a column that is a struct here, and a text in other logs
        return tuple(dict.fromkeys(self.taken[name][0] for name in columns))

    def unfold(self, piece: Piece, columns: tuple[str, ...]) -> pa.RecordBatch:
        """Return these columns of a piece; raise a `RowError` at a text unlike those of the first rows."""
        held = dict(zip(piece.data.schema.names, piece.data.columns, strict=True))
        with piece.telling():
            held |= {name: self.texts[name].read(held[name], name) for name in held if name in self.texts}
        found = [taken(held[column], path) for column, path in (self.taken[name] for name in columns)]
        return pa.record_batch(found, names=list(columns))


def unfolded(table: Table, renamed: Mapping[str, str] | None = None, look: FirstRows | None = None) -> Table:
    """Return a table with its structs, packed texts and numbered columns unfolded; the same table if it has none.

    renamed: role -> column, as the user said it: a column of a role that is a list holds lists. look: `few_rows`,
    which may hold what it has read before.
    """
    given, table, look = table, in_lists_by_number(table), look or few_rows
    names, said, schema = {*table.names}, renamed or {}, schema_of(table)
    own = said.get("slate", "slate") in names or {said.get(role, role) for role in ("impression", "item")} <= names
    if schema is None and table is given and own and names.issuperset(said.values()):  # then nothing need be known
        return table
    schema = schema or look(table, table.names, 1).schema
    folders = partition(table.files.paths[0]) if isinstance(table, FileTable) else {}
    of_text = tuple(one.name for one in schema if is_text(one.type) and one.name not in folders)
    lists = tuple(one.name for one in schema if hasattr(one.type, "value_type") and not is_text(one.type))
    sample = look(table, of_text) if of_text else pa.table({})
    cells, texts = (as_text(one) for column in sample.columns for one in column.chunks), dict[str, Form]()
    if any(pc.any(pc.match_substring_regex(one, _SEPARATING)).as_py() for one in cells):
        texts = text_forms(sample, [said.get(role, role) for role in _LISTS], lambda: look(table, lists))
    if not texts and not any("struct<" in str(kind) for kind in schema.types):
        return table
    made = _taken(schema, texts)
    return UnfoldedTable(table, made, texts) if texts or list(made) != schema.names else table


def documents(table: Table) -> Table:
    """Return a table with its structs alone unfolded; of an exported index, whose rows hold their documents, those."""
    schema = schema_of(table) or few_rows(table, table.names, 1).schema
    names = _taken(schema, {})
    if _DOCUMENT in schema.names and pa.types.is_struct(schema.field(_DOCUMENT).type):
        inside = f"{_DOCUMENT}."
        names = {name.removeprefix(inside): way for name, way in names.items() if name.startswith(inside)}
    return UnfoldedTable(table, names)


def _taken(schema: pa.Schema, texts: Mapping[str, Form]) -> dict[str, tuple[str, Path]]:
    """Return the columns that are made of those with structs: name -> the column, and the way in it."""
    kinds = {one.name: texts[one.name].kind if one.name in texts else one.type for one in schema}
    names: dict[str, tuple[str, Path]] = {}
    for column, kind in kinds.items():
        paths = list(leaves(kind))
        made = {".".join((column, *path)): (column, path) for path in paths}
        free = len(made) == len(paths) and not made.keys() & (names.keys() | kinds.keys() - {column})
        names |= made if free else {column: (column, ())}
    return names


def leaves(kind: pa.DataType, *, listed: bool = False) -> Iterator[Path]:
    """Yield the way to each plain value or list of a type; one empty way where there is nothing to take apart.

    listed: whether a list was met on the way: lists in the structs of a list stay as they are.
    """
    inner = kind.value_type if isinstance(kind, _OF_LISTS) and not listed else kind
    if pa.types.is_struct(inner) and inner.num_fields:
        within = listed or inner is not kind
        yield from ((field.name, *rest) for field in inner for rest in leaves(field.type, listed=within))
    else:
        yield ()


def taken(column: pa.Array, path: Path) -> pa.Array:
    """Return what lies at the end of a path: a value per row, or a list per row if a list was met on the way."""
    for name in path:
        column = _child(flat.plain_column(column), name)
    return column


def _child(column: pa.Array, name: str) -> pa.Array:
    """Return one field of structs, or of the structs in lists; what is null has null fields."""
    if pa.types.is_struct(column.type):
        return pc.struct_field(column, [column.type.get_field_index(name)])
    column = flat.plain_list(column)
    offsets = np.asarray(column.offsets)
    held = column.values.slice(offsets[0], offsets[-1] - offsets[0])  # of this slice alone
    null = column.is_null() if column.null_count else None
    return type(column).from_arrays(pa.array(offsets - offsets[0]), _child(flat.plain_column(held), name), mask=null)


_NUMBERED = re.compile(r"(.*?)[ _.-]?0*([0-9]+)([ _.-]?[A-Za-z_]*)")
_ROLES = ("item", "position", "slate", "click")


def in_lists_by_number(table: Table) -> Table:
    """Return a table with lists in the place of numbered columns, if some are called items and others, or one, clicks.

    A place without an item has no value in any list. The same table if it has no such columns.
    """
    groups = _by_number(table.names)
    items = [name for name in groups if _called_either("item", "slate", name)]
    clicks = [name for name in groups if _called_either("click", "used", name) and name not in items]
    others = [name for name in groups if name not in clicks]
    items = others if not items and len(others) == 1 else items  # what is clicked, whatever it is called
    called = [{role for role in _ROLES if closeness(role, one) >= CALLED} for one in table.names]
    of_items = any(roles - {"click"} for roles in called)  # then a row is one, or has its list
    named = any(closeness(role, one) for one in items for role in _ROLES)
    placed = named and any(map(called_as_place, table.names))
    beside = clicks or (not of_items and (placed or any("click" in roles for roles in called)))
    if len(items) != 1 or not beside or once_only(table):
        return table
    shown = groups[items[0]]
    alike = {name: group for name, group in groups.items() if len(group) == len(shown) and name not in table.names}
    if not {items[0], *clicks[:1]} <= alike.keys():
        return table
    computed: dict[str, Computed] = {
        name: (tuple(dict.fromkeys((*group, *shown))), partial(_gathered, group, shown))
        for name, group in alike.items()
    }
    taken = {column for group in alike.values() for column in group}
    return DerivedTable(table, {name: name for name in table.names if name not in taken}, computed, len(shown))


def _called_either(role: str, other: str, name: str) -> bool:
    return max(closeness(role, name), closeness(other, name)) >= SURE_FIT


def _by_number(columns: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """Return the columns that differ in a number from 1 or from 0 alone, in its order, by the rest of their names."""
    found: dict[str, dict[int, str]] = {}
    for name in columns:
        if one := _NUMBERED.fullmatch(name):
            found.setdefault((one[1] + one[3]).strip(" _.-"), {})[int(one[2])] = name
    whole = {
        rest: by_number
        for rest, by_number in found.items()
        if rest and len(by_number) > 1 and sorted(by_number) in _from_the_top(len(by_number))
    }
    return {rest: tuple(by_number[at] for at in sorted(by_number)) for rest, by_number in whole.items()}


def _from_the_top(length: int) -> list[list[int]]:
    return [list(range(top, top + length)) for top in (0, 1)]


def _gathered(group: Sequence[str], shown: Sequence[str], rows: pa.RecordBatch) -> pa.Array:
    """Return the values of the columns of a group as lists, without the places that have no item."""
    there = np.column_stack([~flat.nulls(flat.plain_column(rows.column(name))) for name in shown])
    columns = [flat.plain_column(rows.column(name)) for name in group]
    columns = columns if group == shown else _as_numbers(columns)
    kind = [column.type for column in columns]
    plain = pa.float64() if all(is_number(one) or pa.types.is_null(one) for one in kind) else pa.string()
    common = kind[0] if len({*kind}) == 1 else plain
    try:
        values = pa.concat_arrays([column.cast(common) for column in columns])
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        kinds = " with ".join(dict.fromkeys(map(str, kind)))
        mixed = "whole numbers beyond 2^53 with fractions" if pa.types.is_floating(common) else kinds
        said = f"{group[0]!r} to {group[-1]!r} mix {mixed}"
        raise ColumnError(said, "write these columns in one type") from None
    order = np.arange(len(values)).reshape(len(group), len(rows)).T[there]
    found = values.take(pa.array(order))
    return flat.lists_of(_as_ids(found) if group == shown else found, there.sum(axis=1))


def _as_numbers(columns: list[pa.Array]) -> list[pa.Array]:
    """Return texts as numbers beside numbers: text is also the type of a place that no list of the first block has."""
    if not any(is_number(column.type) for column in columns):
        return columns
    try:
        return [one.cast(pa.float64()) if pa.types.is_string(one.type) else one for one in columns]
    except pa.ArrowInvalid:
        return columns


def _as_ids(values: pa.Array) -> pa.Array:
    """Return whole numbers as integers: with places that have no item, other libraries make fractions of them."""
    if not pa.types.is_floating(values.type):
        return values
    try:
        return values.cast(pa.int64())
    except pa.ArrowInvalid:  # fractions, which are no ids
        return values
