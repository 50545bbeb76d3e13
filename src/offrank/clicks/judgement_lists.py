"""Judgements as other tools read them: qrels of TREC, judgement lists of OpenSearch, CSV of Quepid."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping
from itertools import groupby
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..errors import UsageError
from ..frames import check_table_path, write_table
from ..language.files import write_text
from .judgements import Judgements

Graded = tuple[str, str, int]
"""Query, item and grade."""
_NAME, _DESCRIPTION = 50, 250
"""Characters that OpenSearch takes of the name and of the description of a list."""
_REFUSED = re.compile(r'["\\<>]')
"""What it takes in neither."""


def _qrels(rows: list[Graded], _: Judgements, __: str) -> str:
    for query, item, _grade in rows:
        for kind, name in (("query", query), ("item", item)):
            if len(name.split()) != 1 or name != name.strip():
                raise UsageError(
                    f"qrels separate words by spaces, so that the {kind} {name!r} would be read as two",
                    "write .json, .csv or .parquet; or learn the model from a log with ids for texts",
                )
    return "".join(f"{query} 0 {item} {grade}\n" for query, item, grade in rows)


def _quepid(rows: list[Graded], _: Judgements, __: str) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("query", "docid", "rating"), *rows])
    return text.getvalue()


def _opensearch(rows: list[Graded], found: Judgements, model: str) -> str:
    cuts = ", ".join(f"{cut:.3g}" for cut in found.cuts)
    said = f"Grades by {model}: 1, 2 ... from relevance {cuts} on; of {len(found):,} documents {found.wide:,} are vague"
    lists: list[dict[str, Any]] = [
        {"query": query, "ratings": [{"docId": item, "rating": f"{grade:.1f}"} for _, item, grade in each]}
        for query, each in groupby(rows, key=lambda row: row[0])
    ]
    name, description = (_REFUSED.sub("'", text) for text in (f"offrank {model}"[:_NAME], said[:_DESCRIPTION]))
    made = {"name": name, "description": description, "type": "IMPORT_JUDGMENT", "judgmentRatings": lists}
    return json.dumps(made, ensure_ascii=False) + "\n"


_WRITERS: Mapping[str, Callable[[list[Graded], Judgements, str], str]] = {
    "qrels": _qrels,
    "opensearch": _opensearch,
    "quepid": _quepid,
}
FORMATS = ("table", *_WRITERS)
_SUFFIXES = {".qrels": "qrels", ".json": "opensearch"}


def format_of(path: str | PathLike[str], said: str | None) -> str:
    """Return the format that is said, else that of a path's suffix.

    Raises:
        UsageError: no such format, a suffix that names none, or no folder to write to.
    """
    if said not in (None, *FORMATS):
        raise UsageError(f"there is no format {said!r} of judgements", f"use one of {', '.join(FORMATS)}")
    suffix = Path(path).suffix
    check_table_path(path, _SUFFIXES if said is None else () if said == "table" else (suffix,))
    return said or _SUFFIXES.get(suffix, "table")


def write_judgements(path: str | PathLike[str], form: str, found: Judgements, model: str) -> None:
    """Write judgements in a format, atomically. model: what judges, in words.

    Raises:
        UsageError: documents without queries, or with ids that the format cannot hold.
    """
    if form == "table":
        write_table(path, found.to_arrow().combine_chunks().to_batches())
        return
    if found.query.null_count:
        remedy = "write .csv or .parquet, or learn the model from a log with a column of queries"
        raise UsageError(f"{model} judges items without queries, which a list of judgements needs", remedy)
    query, item = (ids.cast(pa.string()).to_pylist() for ids in (found.query, found.item))
    write_text(path, _WRITERS[form](list(zip(query, item, found.grade.tolist(), strict=True)), found, model))
