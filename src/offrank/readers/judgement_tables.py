"""Tables of judgements: how good each document is for a query, by whom and when. Of people, models or clicks."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import ColumnError, EmptyLogError, LogError, RowError
from ..log import rules
from ..log.batch import Floats, Integers
from .flat import as_numpy, plain_column
from .joining import event_times
from .names import DICTIONARY, likeliest, parts
from .opening import Beginning
from .tables import MemoryTable, Piece, Table, all_pieces, refuse_lacking, refuse_twice, table_of_dicts, unified_table
from .text import open_bytes
from .trec import kind_of_trec, read_qrels
from .unfolding import documents

_ROLES = ("query", "item", "grade", "grader", "time")
_NEEDED, _IDS = _ROLES[:3], ("query", "item", "grader")
_WORDS = {role: DICTIONARY[f"JUDGED_{role.upper()}"] for role in _ROLES}
_TWICE = "keep one; or say in a column `grader` who gave each, or in `time` when: then the last one counts"
_QUEPID = ["query", "docid"]
"""How every CSV of Quepid begins; then follow `rating`, or a column for each person who judged."""
_BY_PERSON = {"query": "query", "item": "docid", "grade": "rating", "grader": "judge"}
_ESCAPED = r"^ ([-+=@])"
"""A space before what a spreadsheet would take for a formula."""


def judgement_table(source: Any, **columns: str) -> pa.Table:
    """Read judgements: a row for each query, document and, where it is known, person who judged.

    Reads CSV, JSON, Parquet and tables in memory, whose columns may have any of the usual names (`docid`, `rating`,
    `judge`, ...), qrels of TREC, the CSV that Quepid exports, with a column for each person too, and the judgement
    lists of OpenSearch as JSON. Pairs without a grade are left out. Of several grades of a pair by one person the last
    counts, if their times are known.

    Parameters:
        source: a path, a glob or a table.
        columns: the names of columns that are called otherwise, by role: `item="sku_code"`.

    Returns:
        A table with columns `query` and `item`, as texts, `grade` and, where they are there, `grader` and `time` (dates
        in microseconds since 1970, numbers as they are). Its metadata count the rows that are left out: `unjudged`
        without a grade, `replaced` by a later one.

    Raises:
        ColumnError: no column of queries, of items or of grades.
        RowError: a grade that is no number, no query or item, two grades of a pair by one person at one time.
        EmptyLogError: nothing is judged.

    Examples:
        >>> table = offrank.readers.judgement_table([{"qid": 7, "docid": "a", "rating": 3}])
        >>> table.to_pylist()
        [{'query': '7', 'item': 'a', 'grade': 3.0}]
    """
    table = _opened(source)
    read = _Read.of(table, columns)
    made = {role: _texts(column, read.names[role]) for role, column in read.found.items() if role in _IDS}
    made["grade"], wrong = _grades(read.found["grade"])
    if wrong is not None:
        detail = f"the grade {read.found['grade'][wrong].as_py()!r} is no number"
        raise read.error(wrong, "grade", rules.BAD_NUMBER.code, detail, "write numbers")
    if "time" in read.found:
        made["time"] = event_times(read.found["time"], read.names["time"])
    judged = np.flatnonzero(~np.isnan(made["grade"]))
    if not len(judged):
        raise EmptyLogError(f"{table.describe()} has no grades", "give a grade in some row")
    given = pa.table({role: made[role] for role in _ROLES if role in made}).take(judged)
    for role in ("query", "item"):
        if "" in (texts := given[role].fill_null("").to_pylist()):
            detail, remedy = f"no {role} is named", rules.NULL.remedy
            raise read.error(judged[texts.index("")], role, rules.NULL.code, detail, remedy)
    kept, again = _last(given)
    if len(again):
        first, second = given.take(again).to_pylist()
        by, at = f" by {second['grader']}" if "grader" in second else "", read.row[judged[again[0]]]
        detail = f"{second['item']!r} of query {second['query']!r} has a second grade{by}, {second['grade']:g}"
        detail += f" beside {first['grade']:g} in row {at}"
        raise read.error(judged[again[1]], "grade", "judged-twice", detail, _TWICE)
    counts = {"unjudged": str(len(read.row) - len(judged)), "replaced": str(len(judged) - len(kept))}
    return given.take(kept).replace_schema_metadata(counts)


@dataclass(frozen=True)
class _Read:
    """What was read. row: [n] of each judgement; names: what columns are called, by role; found: the columns."""

    pieces: list[Piece]
    row: Integers
    names: dict[str, str]
    found: dict[str, pa.Array]

    @classmethod
    def of(cls, table: Table, said: Mapping[str, str]) -> _Read:
        """Read a table, whose columns are called as is said, or as usual."""
        pieces = [piece for piece in all_pieces(table, table.names) if len(piece.data)]
        if not pieces:
            raise EmptyLogError(f"{table.describe()} has no judgements", "give a row for each query and document")
        read = unified_table([piece.data for piece in pieces])
        refuse_lacking(table, said.values())
        names, row, graders = _named(table.names, said), np.arange(len(read)), read.column_names[2:]
        if "grade" not in names and read.column_names[:2] == _QUEPID and graders:
            names, row, read = _BY_PERSON, np.tile(row, len(graders)), _long(read, graders)
        for role in _NEEDED:
            if role not in names:
                said_so = f"{table.describe()} has no column with the {role}: it has {', '.join(table.names)}"
                raise ColumnError(said_so, f"call it `{role}`, or {', '.join(_WORDS[role][1:5])}")
        found = {role: plain_column(read[names[role]].combine_chunks()) for role in _ROLES if role in names}
        return cls(pieces, row, names, found)

    def error(self, at: int, role: str, rule: str, detail: str, remedy: str) -> RowError:
        """Return the error of a row, with its file and its number there."""
        place, starts = self.row[at], np.cumsum([0, *(len(piece.data) for piece in self.pieces)])
        number = int(np.searchsorted(starts, place, side="right")) - 1
        piece, by_person = self.pieces[number], self.names is _BY_PERSON and role == "grade"
        column = self.found["grader"][at].as_py() if by_person else self.names[role]
        row = int(piece.rows[place - starts[number]])
        return piece.located(RowError(piece.file, row, column, rule, detail, remedy))


def _opened(source: Any) -> Table:
    """Return what was given as a plain table: qrels, CSV of Quepid and nested JSON too."""
    beginning = Beginning(source)
    if len(beginning.paths) == 1:
        path, text = beginning.paths[0], beginning.text
        if kind_of_trec(text) == "qrels":
            return MemoryTable(pa.table(dict(zip(_NEEDED, zip(*read_qrels(path), strict=True), strict=True))), path)
        if [name.strip('"\r\n ') for name in text.partition("\n")[0].split(",")][:2] == _QUEPID:
            return MemoryTable(_quepid(path), path)
        if text.lstrip()[:1] in ("{", "[") and any(f'"{name}"' in text for name in ("ratings", "judgmentRatings")):
            return MemoryTable(_nested(path), path)
    return documents(beginning.stored)


def _named(names: tuple[str, ...], said: Mapping[str, str]) -> dict[str, str]:
    """Return the columns by role: those that are said, else by their names."""
    found = dict(said)
    plain = {"".join(parts(name)): name for name in reversed(names)}
    for role in _ROLES:
        words = [word.replace("_", "") for word in _WORDS[role]]
        known = [plain[word] for word in words if word in plain]
        known += likeliest(role, names, least=3) if role in ("query", "item") else []
        free = [name for name in known if name not in found.values()]
        if role not in found and free:
            found[role] = free[0]
    return found


def _quepid(path: str) -> pa.Table:
    """Read CSV of Quepid, where the line of a query without grades has its query only."""
    with open_bytes(path) as file:
        header, *rows = csv.reader(io.TextIOWrapper(file, "utf-8-sig", newline=""))
    refuse_twice(header, path)
    for line, row in enumerate(rows, 2):
        if len(row) > len(header):
            raise LogError(f"{path}, line {line}, has {len(row)} cells below {len(header)} names", "quote cells")
    columns = [[row[at] if at < len(row) else None for row in rows if row] for at in range(len(header))]
    made = {name: pa.array(column, pa.string()) for name, column in zip(header, columns, strict=True)}
    return pa.table({**made, "query": pc.replace_substring_regex(made["query"], _ESCAPED, r"\1")})


def _nested(path: str) -> pa.Table:
    """Read JSON whose queries hold the list of their documents: one value, or one in each line."""
    with open_bytes(path) as file:
        text = file.read().decode("utf-8-sig")
    try:
        values = json.loads(text)
    except ValueError:
        with suppress(ValueError):
            values = [json.loads(line) for line in text.splitlines() if line.strip()]
    return table_of_dicts([*_leaves(values, {})])


def _leaves(value: Any, around: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the innermost objects that have a grade, each with the values of those around it."""
    if isinstance(value, list):
        for one in value:
            yield from _leaves(one, around)
    elif isinstance(value, dict):
        held = value.get("judgmentRatings")
        if isinstance(held, dict):  # as the first versions had it: query -> ratings
            value = {**value, "judgmentRatings": [{"query": query, "ratings": one} for query, one in held.items()]}
        own = {**around, **{name: one for name, one in value.items() if not isinstance(one, list | dict)}}
        inside = [one for one in value.values() if isinstance(one, list | dict)]
        for one in inside:
            yield from _leaves(one, own)
        if not inside and "grade" in _named(tuple(value), {}):
            yield own


def _long(read: pa.Table, graders: list[str]) -> pa.Table:
    """Return a row for each person and pair of a table with a column for each person."""
    ids = {name: read[name].combine_chunks().take(np.tile(np.arange(len(read)), len(graders))) for name in _QUEPID}
    rating = pa.concat_arrays([read[name].combine_chunks().cast(pa.string()) for name in graders])
    return pa.table({**ids, "rating": rating, "judge": np.repeat(graders, len(read))})


def _texts(column: pa.Array, name: str) -> pa.Array:
    """Return ids as texts, whole numbers where others made fractions of them."""
    try:
        whole = column.cast(pa.int64()) if pa.types.is_floating(column.type) else column
        return whole.cast(pa.string())
    except pa.ArrowException as error:
        raise ColumnError(f"{name!r} contains {column.type}, no ids", "write ids as texts or whole numbers") from error


def _grades(column: pa.Array) -> tuple[Floats, int | None]:
    """Return the grades, NaN where there is none, and the place of the first that is no finite number."""
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = pc.utf8_trim_whitespace(column)
        column = pc.if_else(pc.equal(column, ""), None, column)
    try:
        found = as_numpy(column.cast(pa.float64())).astype(np.float64)
    except pa.ArrowException:
        for place, value in enumerate(column.to_pylist()):
            try:
                float("nan" if value is None else value)
            except (TypeError, ValueError):
                return np.full(len(column), np.nan), place
        raise
    infinite = np.flatnonzero(np.isinf(found))
    return found, int(infinite[0]) if len(infinite) else None


def _last(table: pa.Table) -> tuple[Integers, Integers]:
    """Return the rows with the last grade of each pair and person; and the first two of equal times, if there are."""
    keys = [name for name in ("query", "item", "grader") if name in table.column_names]
    codes = [np.asarray(table[name].combine_chunks().dictionary_encode("encode").indices) for name in keys]
    times = np.asarray(table["time"]) if "time" in table.column_names else np.zeros(len(table))
    times = np.where(np.isnan(times), -np.inf, times)
    order = np.lexsort((times, *codes))
    same = np.all([code[order][1:] == code[order][:-1] for code in codes], axis=0)
    again = np.flatnonzero(same & (times[order][1:] == times[order][:-1]))
    kept = np.sort(order[np.append(~same, True)])
    return kept, order[again[np.argmin(order[again + 1])] + np.arange(2)] if len(again) else again
