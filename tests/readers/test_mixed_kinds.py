"""Columns with several kinds of values, and columns that are written in unusual types."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import ColumnError, LogError, RowError, UsageError
from offrank.log.source import Needs

ROWS = 200


def world() -> list[dict[str, Any]]:
    rng = np.random.default_rng(5)
    slates = [[int(one) + 10 for one in rng.permutation(5)[:3]] for _ in range(ROWS)]
    return [{"slate": slate, "clicks": [int(one) for one in rng.random(3) < 0.3]} for slate in slates]


LOG = world()
MEAN = sum(sum(row["clicks"]) for row in LOG) / ROWS


def value(log: Any, **how: Any) -> float:
    return offrank.evaluate(log, "uniform", "uniform", "ips", **how)["ips"].value


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    return path


def as_text(item: int, number: int) -> Any:
    return str(item) if number % 7 == 0 else item


JSON = {
    "ids in both ways": [
        {**row, "slate": [as_text(one, n + k) for k, one in enumerate(row["slate"])]} for n, row in enumerate(LOG)
    ],
    "ids that become texts": [
        {**row, "slate": [as_text(one, 7 * (n > 99)) if n > 99 else one for one in row["slate"]]}
        for n, row in enumerate(LOG)
    ],
    "a price that becomes a text": [{**row, "price": "1.5" if n > 99 else 1.5} for n, row in enumerate(LOG)],
    "a note of several kinds": [{**row, "note": [1, "a", {"b": 2}, None][n % 4]} for n, row in enumerate(LOG)],
    "ids of 10^30": [{**row, "slate": [10**30 + one for one in row["slate"]]} for row in LOG],
    "counts that become texts": [
        {**row, "clicks": [str(one) if n > 99 else one for one in row["clicks"]]} for n, row in enumerate(LOG)
    ],
}


@pytest.mark.parametrize("case", JSON)
def test_json_lines(case: str, tmp_path: Path) -> None:
    assert value(lines(tmp_path / "log.jsonl", JSON[case])) == pytest.approx(MEAN)


def test_equal_ids_are_one_item(tmp_path: Path) -> None:
    log = offrank.read_log(lines(tmp_path / "log.jsonl", JSON["ids in both ways"]))
    [batch] = log.select(Needs(frozenset({"clicks"}))).batches(0)
    assert np.unique(batch.contexts.candidates).tolist() == [10, 11, 12, 13, 14]


def test_texts_far_down(tmp_path: Path) -> None:
    """The first megabyte shows numbers alone."""
    rows = [{**row, "query": n % 20, "pad": "x" * 200} for n, row in enumerate(LOG * 40)]
    for row in rows[6000:]:
        row["query"] = str(row["query"])
    path = lines(tmp_path / "log.jsonl", rows)
    assert value(path, cluster="query") == pytest.approx(MEAN)
    rows[7000]["query"] = "x7"
    with pytest.raises(LogError, match="column 'query'"):
        value(lines(path, rows), cluster="query")


def test_numbers_that_begin_with_zeros_stay_texts(tmp_path: Path) -> None:
    rows = [{"slate": [7, "007"], "clicks": [1, 0]}, {"slate": ["007", 8], "clicks": [0, 1]}] * 50
    assert value(lines(tmp_path / "log.jsonl", rows)) == pytest.approx(1.0)


def test_a_table_of_pandas_with_a_column_that_nobody_asked_for() -> None:
    frame = pd.DataFrame({"slate": [row["slate"] for row in LOG], "clicks": [row["clicks"] for row in LOG]})
    frame["note"] = [1 if n % 2 else "a" for n in range(ROWS)]
    frame["large"] = [10**30 + n for n in range(ROWS)]
    assert value(frame) == pytest.approx(MEAN)
    with pytest.raises(ColumnError, match="same kind"):
        value(frame.assign(slate=[[1, "a", 3]] * ROWS))


@pytest.mark.parametrize("kind", ["pandas", "dicts"])
def test_ids_of_many_digits(kind: str) -> None:
    rows = [
        {"impression": 10**30 + number, "item": 10**31 + item, "position": place, "click": click}
        for number, row in enumerate(LOG)
        for place, (item, click) in enumerate(zip(row["slate"], row["clicks"], strict=True), start=1)
    ]
    assert value(pd.DataFrame(rows) if kind == "pandas" else rows) == pytest.approx(MEAN)


@pytest.mark.parametrize("coded", ["dictionary", "runs"])
def test_kinds_of_events_in_any_type(coded: str) -> None:
    shown = [
        ("show", number, item, place) for number, row in enumerate(LOG) for place, item in enumerate(row["slate"], 1)
    ]
    clicked = [
        ("click", number, item, None)
        for number, row in enumerate(LOG)
        for item, click in zip(row["slate"], row["clicks"], strict=True)
        if click
    ]
    names = ("event", "request_id", "item_id", "position")
    table = pa.table(dict(zip(names, map(list, zip(*shown, *clicked, strict=True)), strict=True)))
    event = table["event"].combine_chunks()
    event = event.dictionary_encode() if coded == "dictionary" else pc.run_end_encode(event)
    assert value(table.set_column(0, "event", event)) == pytest.approx(MEAN)


def test_a_query_of_any_length(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    pq.write_table(pa.Table.from_pylist(LOG), tmp_path / "log.parquet")
    long = " and ".join(f"len(slate) <> {number + 1000}" for number in range(100))
    query = f"duckdb:select * from '{tmp_path / 'log.parquet'}' where {long}"
    assert value(query) == pytest.approx(MEAN)


@pytest.mark.parametrize("name", ["by", "cluster"])
def test_several_columns_where_one_is_asked_for(name: str) -> None:
    with pytest.raises(UsageError, match=rf"{name} is \['device'\], not the name of a column"):
        value(LOG, **{name: ["device"]})


def test_a_column_that_is_no_name() -> None:
    with pytest.raises(UsageError, match="the column of 'slate' is 3, not a name"):
        offrank.read_log(LOG, {"slate": 3})  # type: ignore[dict-item]


def test_a_name_with_a_space_is_to_be_quoted() -> None:
    with pytest.raises(UsageError, match="quote a name with spaces: 'new score'"):
        offrank.evaluate(LOG, "top(new score)", "uniform")


@pytest.mark.parametrize("role", ["propensity", "reward", "inclusion"])
def test_one_bad_number_is_named_with_its_file_and_row(role: str, tmp_path: Path) -> None:
    rows = [f'"{row["slate"]}","{row["clicks"]}",{"0.1x66" if n == 117 else 0.5}' for n, row in enumerate(LOG)]
    (tmp_path / "log.csv").write_text("\n".join([f"slate,clicks,{role}", *rows]) + "\n")
    with pytest.raises(
        RowError, match=rf"log\.csv, line 119, row 117 .*column '{role}': '0\.1x66' is among numbers, but is none"
    ):
        offrank.evaluate(tmp_path / "log.csv", "uniform", "logged" if role == "propensity" else "uniform", "ips")


@pytest.mark.parametrize(
    ("small", "infinite"), [("5e-324", False), ("1e-308", False), ("1e150", False), ("1e400", True)]
)
def test_the_smallest_numbers_beside_whole_ones_that_no_float_holds(small: str, infinite: bool, tmp_path: Path) -> None:
    """Arrow reads such a column as texts."""
    lines = [
        f'{{"slate": ["a", "b"], "clicks": [1, 0], "new": [{new}]}}' for new in (f"4, {small}", "1, 9007199254740993")
    ]
    (tmp_path / "log.jsonl").write_text("\n".join(lines))
    source = offrank.read_log(tmp_path / "log.jsonl").select(Needs(scores=frozenset(["new"])))
    if infinite:
        with pytest.raises(RowError, match=r"line 1, row 0 .* contains a score that is not a finite number"):
            list(source.batches(0))
        return
    scores = np.concatenate([batch.contexts.scores["new"] for batch in source.batches(0)])
    assert scores.tolist() == [[4.0, float(small)], [1.0, 9007199254740992.0]]


def test_a_text_of_digits_among_whole_numbers_is_the_item_of_that_number(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(
        '{"slate": ["7"], "clicks": [1], "candidates": [7]}\n{"slate": [5], "clicks": [0], "candidates": [7, 5]}\n'
    )
    assert offrank.evaluate(tmp_path / "log.jsonl", "uniform", "uniform", "ips")["ips"].value == 0.5
