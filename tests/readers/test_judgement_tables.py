"""Tables of judgements of every tool, as one table: who gave which grade to which document of which query."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from offrank.errors import ColumnError, EmptyLogError, LogError, OffrankError, RowError
from offrank.readers import judgement_table

PAIRS = [("red dress", "B07", 3.0), ("red dress", "B08", 0.0), ("jeans", "B07", 1.5)]
LISTS = [
    {"query": "red dress", "ratings": [{"docId": "B07", "rating": "3.000"}, {"docId": "B08", "rating": "0.000"}]},
    {"query": "jeans", "ratings": [{"docId": "B07", "rating": "1.500"}]},
]
IMPORT = {"name": "ours", "description": "by hand", "type": "IMPORT_JUDGMENT", "judgmentRatings": LISTS}


def read(tmp_path: Path, text: str, name: str = "judged.csv") -> list[tuple[Any, ...]]:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return rows_of(tmp_path / name)


def rows_of(source: Any) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in judgement_table(source).to_pylist()]


@pytest.mark.parametrize(
    "header",
    [
        "query,item,grade",
        "qid,docID,label",
        "query_id,product_id,rating",
        "userQuery,object_id,judgment",
        "Search Term,SKU,Score",
        "topic,docno,rel",
        "query_text,hotel_id,relevance",
    ],
)
def test_columns_are_found_by_their_usual_names(tmp_path: Path, header: str) -> None:
    assert read(tmp_path, f"{header}\nred dress,B07,3\nred dress,B08,0\njeans,B07,1.5\n") == PAIRS


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("judged.tsv", "query\tdocument\trating\nred dress\tB07\t3\nred dress\tB08\t0\njeans\tB07\t1.5\n"),
        ("quepid.csv", 'query,docid,rating\nred dress,B07,3\n"red dress",B08,0.0\njeans,B07,1.5\n'),
        ("list.json", json.dumps(IMPORT)),
        ("pretty.json", json.dumps(IMPORT, indent=2)),
        ("first.json", json.dumps({"judgmentRatings": {one["query"]: one["ratings"] for one in LISTS}})),
        ("lists.jsonl", "\n".join(map(json.dumps, LISTS))),
        ("rows.jsonl", "\n".join(json.dumps({"query": q, "document": d, "judgment": g}) for q, d, g in PAIRS)),
        ("hits.jsonl", "\n".join(json.dumps({"_source": {"query": q, "doc": d, "rating": g}}) for q, d, g in PAIRS)),
    ],
)
def test_every_form_is_the_same_table(tmp_path: Path, name: str, text: str) -> None:
    assert read(tmp_path, text, name) == PAIRS


def test_what_opensearch_answers_is_read_too(tmp_path: Path) -> None:
    source = {"id": "b54f", "timestamp": "2025-06-11T06:07:23Z", "status": "COMPLETED", **IMPORT, "metadata": {}}
    answer = {"took": 36, "hits": {"total": {"value": 1}, "hits": [{"_id": "b54f", "_source": source}]}}
    assert [row[:3] for row in read(tmp_path, json.dumps(answer), "answer.json")] == PAIRS


def test_qrels_have_whole_or_broken_grades_and_may_be_packed(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "qrels.gz", "wt") as file:
        file.write("t1 0 doc-a 2\nt1 0 doc-b -1\n\nt2\t0\tdoc-a\t1.0\n")
    assert rows_of(tmp_path / "qrels.gz") == [("t1", "doc-a", 2.0), ("t1", "doc-b", -1.0), ("t2", "doc-a", 1.0)]


def test_tables_in_memory_and_parquet(tmp_path: Path) -> None:
    table = pa.table({"query": [7, 7], "item": ["a", "b"], "relevance": [0.25, 0.5], "grade": [1, 2]})
    pq.write_table(table, tmp_path / "judged.parquet")
    expected = [("7", "a", 1.0), ("7", "b", 2.0)]  # of a grade and a relevance it is the grade
    for source in (tmp_path / "judged.parquet", table, table.to_pandas(), pl.from_arrow(table), table.to_pylist()):
        assert rows_of(source) == expected
    named = judgement_table(table.rename_columns(["query", "z", "x", "y"]), item="z", grade="x")
    assert named["grade"].to_pylist() == [0.25, 0.5]


def test_ids_are_what_was_written(tmp_path: Path) -> None:
    assert read(tmp_path, "query,doc,grade\n1,007,1\n1,7,2\n") == [("1", "007", 1.0), ("1", "7", 2.0)]
    missing = pd.DataFrame({"query": ["q", "q"], "doc": [29.0, None], "grade": [1, None]})
    assert rows_of(missing) == [("q", "29", 1.0)]  # pandas makes fractions of whole numbers beside missing ones


def test_of_two_grades_by_one_person_the_later_counts(tmp_path: Path) -> None:
    rows = "a,1,2,ann,2026-01-02\na,1,3,ann,2026-01-01\na,1,0,bob,2026-01-01\na,2,1,,\n"
    (tmp_path / "judged.csv").write_text(f"query,doc,rating,user,timestamp\n{rows}")
    found = judgement_table(tmp_path / "judged.csv")
    assert found.column_names == ["query", "item", "grade", "grader", "time"]
    assert found["grade"].to_pylist() == [2, 0, 1]
    assert found["grader"].to_pylist() == ["ann", "bob", None]
    assert found.schema.metadata == {b"unjudged": b"0", b"replaced": b"1"}


def test_a_book_of_quepid_has_a_column_for_each_person(tmp_path: Path) -> None:
    rows = read(tmp_path, "query,docid,Ann,Bob B.\nred,1,3,\nred,2,1,2.5\n")
    assert rows == [("red", "1", 3.0, "Ann"), ("red", "2", 1.0, "Ann"), ("red", "2", 2.5, "Bob B.")]


def test_queries_without_grades_are_counted(tmp_path: Path) -> None:
    (tmp_path / "case.csv").write_text("query,docid,rating\n -x,1,2\nnothing\n")
    found = judgement_table(tmp_path / "case.csv")
    assert found["query"].to_pylist() == ["-x"]  # Quepid hides a formula behind a space
    assert found.schema.metadata[b"unjudged"] == b"1"


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("doc,grade\n1,3\n", ColumnError, ("judged.csv", "no column with the query", "it has doc, grade", "query_id")),
        ("query,grade\n1,3\n", ColumnError, ("no column with the item", "doc_id")),
        ("query,doc\n1,3\n", ColumnError, ("no column with the grade", "rating")),
        ("query,doc,grade\n", EmptyLogError, ("no judgements",)),
        ("query,doc,grade\na,1,\n", EmptyLogError, ("no grades",)),
        ("query,doc,grade\na,1,1\na,2,good\n", RowError, ("line 3, row 1", "'grade'", "'good' is no number")),
        ("query,doc,grade\na,1,1\na,2,inf\n", RowError, ("line 3, row 1", "'grade'", "no number")),
        ("query,doc,grade\n,1,1\n", RowError, ("line 2, row 0", "'query'", "no query is named")),
        ("query,doc,grade\na,,1\n", RowError, ("line 2, row 0", "'doc'", "no item is named")),
        (
            "query,doc,grade\nb,1,0\na,1,1\na,1,2\n",
            RowError,
            ("row 2", "second grade, 2 beside 1 in row 1", "`grader`"),
        ),
        ("query,doc,grade,judge\na,1,1,x\na,1,2,x\n", RowError, ("row 1", "second grade by x, 2 beside 1 in row 0")),
        ("query,doc,grade,date\na,1,1,2026-01-01\na,1,1,2026-01-01\n", RowError, ("row 1", "second grade")),
        ("query,docid,Ann,Bob\na,1,1,\na,2,1,3|2\n", RowError, ("row 1", "'Bob'", "'3|2' is no number")),
        ("query,docid,rating\na,1,1,2\n", LogError, ("line 2", "more cells than columns")),
    ],
)
def test_what_cannot_be_meant_is_one_sentence(
    tmp_path: Path, text: str, error: type[OffrankError], words: tuple[str, ...]
) -> None:
    with pytest.raises(error) as raised:
        read(tmp_path, text)
    assert type(raised.value) is error
    assert [word for word in words if word not in str(raised.value)] == []
    assert raised.value.remedy


def test_json_that_is_cut_is_told(tmp_path: Path) -> None:
    with pytest.raises(LogError, match=r"cut\.json cannot be read as JSON"):
        read(tmp_path, json.dumps(IMPORT)[:-3], "cut.json")


def test_of_several_files_the_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("query,doc,grade\na,1,1\na,2,1\n")
    (tmp_path / "b.csv").write_text("query,doc,grade\na,3,1\na,1,0\n")
    with pytest.raises(RowError, match=r"b\.csv, line 3, row 1 .* 0 beside 1 in row 0"):
        judgement_table(tmp_path)
