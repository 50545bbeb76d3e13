"""The ways in which a case's table is given: in memory, and written in every kind of file."""

from __future__ import annotations

import bz2
import gzip
import json
import random
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet as pq

from .cases import LogCase, Unwritable
from .shapes import SHAPES

ArrowErrors = (pa.ArrowException, TypeError, ValueError, OverflowError, NotImplementedError)


def _flat(make: Callable[[], pa.DataType]) -> Callable[[Any], pa.DataType]:
    """A type of the values inside lists, at any depth."""

    def typed(kind: Any) -> pa.DataType:
        return pa.list_(typed(kind.value_type)) if pa.types.is_list(kind) else make()

    return typed


TYPES: dict[str, Callable[[Any], pa.DataType]] = {
    **{name: _flat(vars(pa)[name]) for name in ("int8", "uint8", "int16", "int32", "uint32", "int64", "uint64")},
    **{name: _flat(vars(pa)[name]) for name in ("float16", "float32", "float64", "string", "large_string", "binary")},
    **{name: _flat(vars(pa)[name]) for name in ("string_view", "binary_view", "bool_", "null", "date32")},
    "decimal": _flat(lambda: pa.decimal128(38, 12)),
    "whole decimal": _flat(lambda: pa.decimal128(30, 0)),
    "decimal of 256 bits": _flat(lambda: pa.decimal256(60, 12)),
    "timestamp": _flat(lambda: pa.timestamp("us", "Europe/Paris")),
    "duration": _flat(lambda: pa.duration("ns")),
    "dictionary of texts": _flat(lambda: pa.dictionary(pa.int32(), pa.string())),
    "dictionary": lambda kind: pa.dictionary(pa.int8(), kind),
    "run ends": lambda kind: pa.run_end_encoded(pa.int32(), kind),
    "large list": lambda kind: pa.large_list(kind.value_type),
    "list view": lambda kind: pa.list_view(kind.value_type),
    "list of two": lambda kind: pa.list_(kind.value_type, 2),
    "struct": lambda kind: pa.struct({"a": kind}),
}
"""Name -> the type in which a column is written, given its plain type."""


def table(case: LogCase) -> pa.Table:
    """Return a case's columns as an Arrow table.

    Raises:
        Unwritable: a column mixes types, or its type cannot hold it.
    """
    try:
        arrays = {role: _array(cells, case.types.get(role)) for role, cells in case.columns.items()}
    except ArrowErrors as error:
        raise Unwritable(str(error)) from error
    return pa.Table.from_arrays([*arrays.values()], [case.name(role) for role in arrays])


def _array(cells: list[Any], kind: str | None) -> pa.Array:
    try:
        plain = pa.array(cells)
    except pa.ArrowException:  # whole numbers that only an unsigned type holds, or beside fractions
        plain = _of_numbers(cells)
    if kind is None:
        return plain
    wanted = _typed(plain.type, kind, len(cells))
    if kind == "struct":
        return pa.StructArray.from_arrays([plain], ["a"])
    if kind == "run ends":
        return pa.compute.run_end_encode(plain)
    try:
        made = pa.array(cells, wanted)
    except ArrowErrors:
        return plain.cast(wanted)
    if kind in _WHOLE and made.to_pylist() != cells:  # fractions were cut without a word
        raise Unwritable("fractions in a whole type")
    return made


def _typed(plain: Any, kind: str, number: int) -> pa.DataType:
    """Return the type in which a column is written; of structs one field has it, also of those in lists."""
    if pa.types.is_list(plain) and pa.types.is_struct(plain.value_type):
        return pa.list_(_typed(plain.value_type, kind, number))
    if not pa.types.is_struct(plain) or not plain.num_fields:
        return TYPES[kind](plain)
    fields = [plain.field(at) for at in range(plain.num_fields)]
    bent = number % len(fields)
    fields[bent] = fields[bent].with_type(_typed(fields[bent].type, kind, number))
    return pa.struct(fields)


_WHOLE = frozenset({"int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"})


def _of_numbers(cells: list[Any]) -> pa.Array:
    kinds = [pa.uint64(), pa.float64()]
    for kind in [*kinds, *map(pa.list_, kinds)]:
        try:
            made = pa.array(cells, kind)
        except ArrowErrors:
            continue
        if pa.types.is_floating(kind.value_type if pa.types.is_list(kind) else kind) or made.to_pylist() == cells:
            return made
    raise Unwritable("values of different types")


def _dicts(case: LogCase, _folder: Path) -> Any:
    names = [case.name(role) for role in case.columns]
    return [dict(zip(names, row, strict=True)) for row in zip(*case.columns.values(), strict=True)]


def _pandas(case: LogCase, _folder: Path) -> Any:
    return table(case).to_pandas()


def _polars(case: LogCase, _folder: Path) -> Any:
    import polars as pl

    if {*case.types.values()} - _POLARS:
        raise Unwritable("a type that Polars cannot hold")
    return pl.from_arrow(table(case))


_POLARS = frozenset({"int8", "int64", "uint64", "float32", "string", "string_view", "binary", "bool_", "large list"})


def _stream_of(case: LogCase, _folder: Path) -> Any:
    found = table(case)
    return lambda: pa.RecordBatchReader.from_batches(found.schema, found.to_batches(max_chunksize=2))


def _dataset(case: LogCase, _folder: Path) -> Any:
    return pa.dataset.dataset(table(case))


def _parquet(case: LogCase, folder: Path) -> Any:
    rng, path = random.Random(case.seed), folder / "log.parquet"
    how: dict[str, Any] = {
        "compression": rng.choice(["none", "snappy", "gzip", "zstd"]),
        "use_dictionary": rng.random() < 0.5,
        "data_page_version": rng.choice(["1.0", "2.0"]),
        "row_group_size": rng.choice([1, 2, 100]),
        "write_page_checksum": rng.random() < 0.5,
        "write_statistics": rng.random() < 0.5,
    }
    pq.write_table(table(case), path, **how)
    return path


def _arrow(case: LogCase, folder: Path) -> Any:
    found, path = table(case), folder / "log.arrow"
    with pa.ipc.new_file(path, found.schema) as file:
        file.write_table(found, max_chunksize=random.Random(case.seed).choice([1, 3, 100]))
    return path


def _arrow_stream(case: LogCase, folder: Path) -> Any:
    found, path = table(case), folder / "log.arrows"
    with pa.ipc.new_stream(path, found.schema) as file:
        file.write_table(found, max_chunksize=3)
    return path


def _feather(case: LogCase, folder: Path) -> Any:
    path = folder / "log.feather"
    pa.feather.write_feather(table(case), path, compression="lz4")
    return path


def _orc(case: LogCase, folder: Path) -> Any:
    path = folder / "log.orc"
    pa.orc.write_table(table(case), path)
    return path


def _folder(case: LogCase, folder: Path) -> Any:
    found, place = table(case), folder / "day=1"
    place.mkdir()
    half = _border(case)
    pq.write_table(found.slice(0, half), place / "a.parquet")
    pq.write_table(found.slice(half), place / "b.parquet")
    return folder


def _border(case: LogCase) -> int:
    """Return a row in the middle at which no impression goes on: none goes on in another file."""
    if {"session", "position"} <= case.columns.keys():  # which are impressions together
        return case.rows
    cells = case.columns.get("impression", range(case.rows))
    borders = [row for row in range(case.rows + 1) if not {*map(repr, cells[:row])} & {*map(repr, cells[row:])}]
    return borders[len(borders) // 2]


def by_query(case: LogCase) -> LogCase:
    """Return a log with a query, its rows in the order of it, as folders of it are read."""
    if "query" not in case.columns:
        return replace(case, columns={**case.columns, "query": ["a"] * case.rows})
    order = sorted(range(case.rows), key=case.columns["query"].__getitem__)
    return replace(case, columns={role: [cells[row] for row in order] for role, cells in case.columns.items()})


def _hive(case: LogCase, folder: Path) -> Any:
    """Write the rows of each query into a folder that is called so, as any kind of file."""
    queries, kind = case.columns.get("query", []), random.Random(case.seed).choice(["parquet", "csv", "json lines"])
    if (
        not queries
        or not all(isinstance(one, str) and _IN_PATH.fullmatch(one) for one in queries)
        or sorted(queries) != queries
    ):
        raise Unwritable("a query that cannot be a folder")
    others = {role: cells for role, cells in case.columns.items() if role != "query"}
    for query in dict.fromkeys(queries):
        rows = [row for row, one in enumerate(queries) if one == query]
        place = folder / f"{case.name('query')}={query}"
        place.mkdir()
        columns = {role: [cells[row] for row in rows] for role, cells in others.items()}
        FORMS[kind](replace(case, columns=columns), place)
    return folder


_IN_PATH = re.compile(r"[^/\0=%*?\[\]]{1,60}")


def _duckdb(case: LogCase, folder: Path) -> Any:
    import duckdb

    path, rows = folder / "log.duckdb", table(case)
    with closing(duckdb.connect(path)) as base:
        base.register("rows", rows)
        base.execute("create table log as from rows")
    return f"{path}:log" if random.Random(case.seed).random() < 0.5 else path


def _sqlite(case: LogCase, folder: Path) -> Any:
    path, names = folder / "log.sqlite", [case.name(role) for role in case.columns]
    columns = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
    with sqlite3.connect(path) as base:
        base.execute(f"create table log ({columns})")
        rows = [[_cell(cell) for cell in row] for row in zip(*case.columns.values(), strict=True)]
        base.executemany(f"insert into log values ({', '.join('?' * len(names))})", rows)
    base.close()
    return f"{path}:log"


def _cell(cell: Any) -> Any:
    return json.dumps(cell) if isinstance(cell, list) else cell


def csv_text(case: LogCase, delimiter: str = ",") -> str:
    """Return a case as delimited text: texts in quotes, lists in JSON, an empty cell for null."""
    lines = [[case.name(role) for role in case.columns], *zip(*case.columns.values(), strict=True)]
    return "".join(delimiter.join(map(_quoted, line)) + "\n" for line in lines)


def _quoted(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, list | str):
        text = json.dumps(cell, ensure_ascii=False) if isinstance(cell, list) else cell
        return '"' + text.replace('"', '""') + '"'
    return str(cell).lower() if isinstance(cell, bool) else repr(cell)


def _csv(delimiter: str, suffix: str, code: str = "utf-8") -> Callable[[LogCase, Path], Any]:
    def write(case: LogCase, folder: Path) -> Path:
        path = folder / f"log.{suffix}"
        path.write_bytes(_packed(csv_text(case, delimiter).encode(code), suffix))
        return path

    return write


def _json(suffix: str, *, lines: bool = True) -> Callable[[LogCase, Path], Any]:
    def write(case: LogCase, folder: Path) -> Path:
        path, rows = folder / f"log.{suffix}", _dicts(case, folder)
        ascii_only = random.Random(case.seed).random() < 0.5
        each = [json.dumps(row, ensure_ascii=ascii_only) for row in rows]
        text = "".join(f"{row}\n" for row in each) if lines else f"[{', '.join(each)}]"
        path.write_bytes(_packed(text.encode(), suffix))
        return path

    return write


def _packed(content: bytes, suffix: str) -> bytes:
    if suffix.endswith(".gz"):
        return gzip.compress(content, 1)
    if suffix.endswith(".bz2"):
        return bz2.compress(content)
    return bytes(pa.compress(content, "zstd", asbytes=True)) if suffix.endswith(".zst") else content


FORMS: dict[str, Callable[[LogCase, Path], Any]] = {
    "table": lambda case, _: table(case),
    "dicts": _dicts,
    "pandas": _pandas,
    "polars": _polars,
    "stream": _stream_of,
    "dataset": _dataset,
    "parquet": _parquet,
    "arrow": _arrow,
    "arrow stream": _arrow_stream,
    "feather": _feather,
    "orc": _orc,
    "folder": _folder,
    "hive": _hive,
    "sqlite": _sqlite,
    "duckdb": _duckdb,
    "csv": _csv(",", "csv"),
    "tsv": _csv("\t", "tsv"),
    "semicolons": _csv(";", "csv"),
    "csv without a name": _csv(",", "dat"),
    "csv in utf-16": _csv(",", "csv", "utf-16"),
    "csv.gz": _csv(",", "csv.gz"),
    "csv.bz2": _csv(",", "csv.bz2"),
    "csv.zst": _csv(",", "csv.zst"),
    "json lines": _json("jsonl"),
    "json array": _json("json", lines=False),
    "jsonl.gz": _json("jsonl.gz"),
}
"""Name -> how a case is written into an empty folder; returns what `read_log` is given."""

ANY_COLUMN = ""
"""A key of `LogCase.types`: a column of each table of a stranger, whatever it is called."""
TYPED = ("table", "pandas", "polars", "stream", "dataset", "parquet", "arrow", "feather", "orc", "duckdb")
"""Forms that keep the type of a column."""
_AS_WRITTEN = frozenset({"int64", "uint64", "float64", "large_string", "string_view"})
"""Types in which the oracle expects the same values."""
IN_MEMORY = frozenset({"table", "dicts", "pandas", "polars", "stream", "dataset"})
TEXTUAL = frozenset({form for form in FORMS if "csv" in form or "json" in form or form in ("tsv", "semicolons")})


def written(case: LogCase, folder: Path) -> Any:
    """Write a case in its shape and form.

    Raises:
        Unwritable: they cannot hold it.
    """
    try:
        if not case.shape:
            return FORMS[case.form](case, folder)
        return _of_stranger(case, folder)
    except Unwritable:
        raise
    except Exception as error:  # each library that writes has errors of its own
        raise Unwritable(str(error)) from error


def _has_no_names(form: str) -> bool:
    return form == "dicts" or "json" in form


def _of_stranger(case: LogCase, folder: Path) -> Any:
    """Write the tables of a shape, each in the form of the case; of several, a list."""
    shape = SHAPES[case.shape]
    if shape.forms and case.form not in shape.forms:
        raise Unwritable("a form that the shape is not written in")
    if shape.file:
        return shape.file(case, folder)
    found = []
    for number, columns in enumerate(shape.tables(case)):
        if number and _has_no_names(case.form) and not any(columns.values()):
            raise Unwritable("a table without rows, and so without names")
        place = folder / f"table{number}"
        place.mkdir()
        types = _one_type(case, columns, number)
        found.append(FORMS[case.form](LogCase(case.layout, columns, case.form, types=types, seed=case.seed), place))
    return found[0] if len(found) == 1 else found


def _one_type(case: LogCase, columns: dict[str, list[Any]], number: int) -> dict[str, str]:
    """Return the type of one column of a stranger's table, if the case has one for them."""
    if ANY_COLUMN not in case.types or not columns:
        return {}
    name, kind = random.Random(f"{case.seed} {number}").choice([*columns]), case.types[ANY_COLUMN]
    if kind in _AS_WRITTEN and _array(columns[name], kind).to_pylist() != columns[name]:
        raise Unwritable("values that become others: other tables hold them as they were")
    return {name: kind}
