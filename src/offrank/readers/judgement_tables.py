"""Tables of judgements: how good each document is for a query, by whom and when. Of people, models or clicks."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import ColumnError, EmptyLogError, LogError, RowError
from ..log import rules
from ..log.batch import Integers
from .flat import plain_column
from .joining import event_times
from .names import DICTIONARY, likeliest, parts
from .opening import Beginning
from .tables import MemoryTable, Table, all_pieces, refuse_lacking, table_of_dicts, unified_table
from .text import open_bytes
from .trec import kind_of_trec, read_qrels
from .unfolding import documents

_Fault = Callable[..., RowError]
_ROLES, _IDS = ("query", "item", "grade", "grader", "time"), ("query", "item", "grader")
_WORDS = {role: DICTIONARY[f"JUDGED_{role.upper()}"] for role in _ROLES}
_QUEPID, _BY_PERSON = ["query", "docid"], {"query": "query", "item": "docid", "grade": "rating", "grader": "judge"}
"""How every CSV of Quepid begins; then follow `rating`, or a column for each person, which becomes these."""
_ESCAPED = r"^ ([-+=@])"
"""A space before what a spreadsheet would take for a formula."""
_NESTED, _LINES = re.compile(r'"(judgmentR|r)atings"'), re.compile(r"}\s*\n\s*{")
_TWICE = "keep one; or say in a column `grader` who gave each, or in `time` when: then the last one counts"


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
    found, names, error = _read(table, columns)
    made: dict[str, Any] = {role: _texts(found[role], names[role]) for role in _IDS if role in found}
    made["grade"] = grade = np.array([*map(_number, found["grade"].to_pylist())])
    for at in np.flatnonzero(np.isinf(grade)):
        said = f"the grade {found['grade'][at].as_py()!r} is no number"
        raise error(at, "grade", "bad-number", said, "write numbers")
    if "time" in found:
        made["time"] = event_times(found["time"], names["time"])
    judged = np.flatnonzero(~np.isnan(grade))
    if not len(judged):
        raise EmptyLogError(f"{table.describe()} has no grades", "give a grade in some row")
    given = pa.table({role: made[role] for role in _ROLES if role in made}).take(judged)
    for role in ("query", "item"):
        if "" in (texts := given[role].fill_null("").to_pylist()):
            raise error(judged[texts.index("")], role, rules.NULL.code, f"no {role} is named", rules.NULL.remedy)
    kept, again = _last(given)
    if len(again):
        (first, second), before = given.take(again).to_pylist(), error(judged[again[0]], "grade", "", "", "").row
        by = f" by {second['grader']}" if "grader" in second else ""
        detail = f"{second['item']!r} of query {second['query']!r} has a second grade{by}, {second['grade']:g}"
        said = f"{detail} beside {first['grade']:g} in row {before}"
        raise error(judged[again[1]], "grade", "judged-twice", said, _TWICE)
    counts = {"unjudged": str(len(grade) - len(judged)), "replaced": str(len(judged) - len(kept))}
    return given.take(kept).replace_schema_metadata(counts)


def _opened(source: Any) -> Table:
    """Return what was given as a plain table: qrels, CSV of Quepid and nested JSON too."""
    beginning = Beginning(source)
    if len(beginning.paths) == 1:
        path, text = beginning.paths[0], beginning.text
        if kind_of_trec(text) == "qrels":
            return MemoryTable(pa.table(dict(zip(_ROLES, zip(*read_qrels(path), strict=True), strict=False))), path)
        if [name.strip('"\r\n ') for name in text.partition("\n")[0].split(",")][:2] == _QUEPID:
            return MemoryTable(_quepid(path), path)
        if text.lstrip()[:1] in ("{", "[") and _NESTED.search(text):
            return MemoryTable(_nested(path), path)
    return documents(beginning.stored)


def _read(table: Table, said: Mapping[str, str]) -> tuple[dict[str, pa.Array], Mapping[str, str], _Fault]:
    """Return the columns by role, what they are called, and what makes the error of a row."""
    pieces = [piece for piece in all_pieces(table, table.names) if len(piece.data)]
    if not pieces:
        raise EmptyLogError(f"{table.describe()} has no judgements", "give a row for each query and document")
    read = unified_table([piece.data for piece in pieces])
    refuse_lacking(table, said.values())
    rows, names, graders = len(read), _named(table.names, said), read.column_names[2:]
    if "grade" not in names and read.column_names[:2] == _QUEPID and graders:
        ids = {name: read[name].combine_chunks().take(np.tile(np.arange(rows), len(graders))) for name in _QUEPID}
        rating = pa.concat_arrays([read[name].combine_chunks().cast(pa.string()) for name in graders])
        names, read = _BY_PERSON, pa.table({**ids, "rating": rating, "judge": np.repeat(graders, rows)})
    for role in _ROLES[:3]:
        if role not in names:
            lacking = f"{table.describe()} has no column with the {role}: it has {', '.join(table.names)}"
            raise ColumnError(lacking, f"call it `{role}`, or {', '.join(_WORDS[role][1:5])}")
    found = {role: plain_column(read[names[role]].combine_chunks()) for role in _ROLES if role in names}

    def error(at: int, role: str, rule: str, detail: str, remedy: str) -> RowError:
        piece, row = next(islice(((each, row) for each in pieces for row in each.rows), int(at) % rows, None))
        column = read["judge"][int(at)].as_py() if (names, role) == (_BY_PERSON, "grade") else names[role]
        return piece.located(RowError(piece.file, int(row), column, rule, detail, remedy))

    return found, names, error


def _named(names: tuple[str, ...], said: Mapping[str, str]) -> Mapping[str, str]:
    """Return the columns by role: those that are said, else by their names."""
    found, plain = dict(said), {"".join(parts(name)): name for name in reversed(names)}
    for role in _ROLES:
        known = [plain[word] for one in _WORDS[role] if (word := one.replace("_", "")) in plain]
        known += likeliest(role, names, least=3) if role in ("query", "item") else []
        if role not in found and (free := [name for name in known if name not in found.values()]):
            found[role] = free[0]
    return found


def _quepid(path: str) -> pa.Table:
    """Read CSV of Quepid, where the line of a query without grades has its query only."""
    with open_bytes(path) as file:
        rows = [*csv.DictReader(io.TextIOWrapper(file, "utf-8-sig", newline=""), restkey="")]
    if longer := [line for line, row in enumerate(rows, 2) if "" in row]:
        raise LogError(f"{path}, line {longer[0]}, has more cells than columns", "quote cells that hold commas")
    return table_of_dicts([{**row, "query": re.sub(_ESCAPED, r"\1", row["query"])} for row in rows])


def _nested(path: str) -> pa.Table:
    """Read JSON whose queries hold the list of their documents: one value, or one in each line."""
    with open_bytes(path) as file:
        text = _LINES.sub("},{", file.read().decode("utf-8-sig"))
    try:
        return table_of_dicts([*_leaves(json.loads(f"[{text}]"), {})])
    except ValueError as error:
        raise LogError(f"{path} cannot be read as JSON: {error}", "give a list of judgements as JSON") from error


def _leaves(value: Any, around: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the innermost objects that have a grade, each with the values of those around it."""
    if isinstance(value, list):
        value = dict(enumerate(value))
    elif isinstance(held := value.get("judgmentRatings"), dict):  # as the first versions had it: query -> ratings
        value = {**value, "judgmentRatings": [{"query": query, "ratings": one} for query, one in held.items()]}
    inside = [one for one in value.values() if isinstance(one, list | dict)]
    own = {**around, **{name: one for name, one in value.items() if not isinstance(one, list | dict)}}
    for one in inside:
        yield from _leaves(one, own)
    if not inside and "grade" in _named(tuple(map(str, value)), {}):
        yield own


def _texts(column: pa.Array, name: str) -> pa.Array:
    """Return ids as texts, whole numbers where others made fractions of them."""
    try:
        return (column.cast(pa.int64()) if pa.types.is_floating(column.type) else column).cast(pa.string())
    except pa.ArrowException as error:
        raise ColumnError(f"{name!r} contains {column.type}, no ids", "write ids as texts or whole numbers") from error


def _number(value: Any) -> float:
    """Return a grade, NaN where there is none; infinite if it is no number."""
    try:
        return float("nan" if value in (None, "") else value)
    except (TypeError, ValueError):
        return np.inf


def _last(table: pa.Table) -> tuple[Integers, Integers]:
    """Return the rows with the last grade of each pair and person; and the first two of equal times, if there are."""
    keys = [table[name].combine_chunks() for name in _IDS if name in table.column_names]
    codes = [np.asarray(key.dictionary_encode("encode").indices) for key in keys]
    times = np.asarray(table["time"]) if "time" in table.column_names else np.zeros(len(table))
    times = np.where(np.isnan(times), -np.inf, times)
    order = np.lexsort((times, *codes))
    same = np.all([code[order][1:] == code[order][:-1] for code in codes], axis=0)
    again = np.flatnonzero(same & (times[order][1:] == times[order][:-1]))
    kept = np.sort(order[np.append(~same, True)])
    return kept, order[again[np.argmin(order[again + 1])] + np.arange(2)] if len(again) else again
