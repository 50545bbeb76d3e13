"""Row filters: which rows are read, in every layout and kind of source, and what is said of impossible ones."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import ColumnError, OffrankError, StateError, UsageError
from offrank.language.row_filter import RowFilter
from offrank.readers.parquet_orc_arrow import ParquetFile
from tests.cli.commands import call

ROWS = 400


def world() -> list[dict[str, Any]]:
    """Lists of two of three items; those of even weeks are clicked at the top."""
    rng = np.random.default_rng(11)
    found = []
    for number in range(ROWS):
        week, slate = number // 100, [("a", "b", "c")[one] for one in rng.permutation(3)[:2]]
        clicks = [int(week % 2 == 0), int(rng.random() < 0.3)]
        day = dt.date(2026, 1, 1) + dt.timedelta(days=number // 10)
        found.append({"slate": slate, "clicks": clicks, "week": week, "explored": number % 3 == 0, "day": day})
        found[-1] |= {"country": ("DE", "FR", "it's", None)[number % 4], "share": number / ROWS, "my flag": number % 2}
    return found


LOG = world()
FILTERS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "explored = true": lambda row: row["explored"],
    "explored = 1": lambda row: row["explored"],
    "explored != TRUE": lambda row: not row["explored"],
    "week in (1, 3)": lambda row: row["week"] in (1, 3),
    "week = 2 and explored = true": lambda row: row["week"] == 2 and row["explored"],
    "share >= .25 and share<0.5": lambda row: 0.25 <= row["share"] < 0.5,
    "week <= 1.5": lambda row: row["week"] <= 1,
    "week > -1 AND week <> 2": lambda row: row["week"] != 2,
    "country = 'DE'": lambda row: row["country"] == "DE",
    "country IN ('it''s','FR')": lambda row: row["country"] in ("it's", "FR"),
    "country != 'DE'": lambda row: row["country"] not in ("DE", None),
    "day >= '2026-01-15' and day < '2026-02-01'": lambda row: dt.date(2026, 1, 15) <= row["day"] < dt.date(2026, 2, 1),
    '"my flag" = true': lambda row: row["my flag"] == 1,
}


def value(log: Any, **how: Any) -> float:
    return offrank.evaluate(offrank.read_log(log, **how), "uniform", "uniform", "ips")["ips"].value


def mean(kept: Callable[[dict[str, Any]], bool]) -> float:
    return float(np.mean([sum(row["clicks"]) for row in LOG if kept(row)]))


def long() -> list[dict[str, Any]]:
    others = ("week", "explored", "day", "country", "share", "my flag")
    return [
        {"impression": number, "item": item, "position": place + 1, "click": row["clicks"][place]}
        | {name: row[name] for name in others}
        for number, row in enumerate(LOG)
        for place, item in enumerate(row["slate"])
    ]


def source(kind: str, folder: Path) -> Any:
    table, path = pa.Table.from_pylist(LOG), folder / f"log.{kind}"
    if kind == "parquet":
        pq.write_table(table, path, row_group_size=50)
    elif kind == "csv":
        texts = {name: list(map(json.dumps, table[name].to_pylist())) for name in ("slate", "clicks")}
        pyarrow.csv.write_csv(pa.table({name: texts.get(name, table[name]) for name in table.schema.names}), path)
    elif kind == "jsonl":
        path.write_text("\n".join(json.dumps(row, default=str) for row in LOG) + "\n")
    elif kind == "long":
        return long()
    elif kind == "nested":
        structs = pa.array([{name: row[name] for name in row if name not in ("slate", "clicks")} for row in LOG])
        return pa.table({"slate": table["slate"], "clicks": table["clicks"], "of": structs})
    elif kind == "encoded":
        week, country = pc.run_end_encode(table["week"].combine_chunks()), table["country"].dictionary_encode()
        return table.set_column(2, "week", week).set_column(5, "country", country)
    elif kind == "stream":
        return table.to_reader(30)
    else:
        return LOG
    return path


@pytest.mark.parametrize("kind", ["memory", "parquet", "csv", "jsonl", "long", "encoded", "stream"])
@pytest.mark.parametrize("where", FILTERS)
def test_only_these_rows_are_read(where: str, kind: str, tmp_path: Path) -> None:
    if kind == "jsonl" and "day" in where:
        where = where.replace("2026-01-01", "2026-01-01")  # days are texts there, in the same order
    assert value(source(kind, tmp_path), where=where) == pytest.approx(mean(FILTERS[where]))


def test_a_field_of_a_struct(tmp_path: Path) -> None:
    found = value(source("nested", tmp_path), where="of.week in (0, 3) and of.explored = true")
    assert found == pytest.approx(mean(lambda row: row["week"] in (0, 3) and row["explored"]))


def test_row_groups_without_such_rows_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups of 50 rows: those of week 2 are the fifth and the sixth."""
    path, read, whole = source("parquet", tmp_path), [], ParquetFile.batches

    def noted(self: ParquetFile, number: int, columns: list[str]) -> Any:
        read.append(number)
        return whole(self, number, columns)

    log = offrank.read_log(path, where="week = 2")
    monkeypatch.setattr(ParquetFile, "batches", noted)
    assert len(np.concatenate([batch.row for part in range(log.parts()) for batch in log.batches(part)])) == 100
    assert read == [4, 5]


def test_rows_keep_their_numbers(tmp_path: Path) -> None:
    log = offrank.read_log(source("parquet", tmp_path), where="week = 2 and explored = true")
    rows = np.concatenate([batch.row for part in range(log.parts()) for batch in log.batches(part)])
    assert rows.tolist() == [number for number, row in enumerate(LOG) if row["week"] == 2 and row["explored"]]


@pytest.mark.parametrize(
    ("where", "error", "said"),
    [
        ("weeek = 1", ColumnError, "has no column 'weeek'"),
        ("week = '1'", ColumnError, "'week' holds int64, which does not compare with '1'"),
        ("country = 1", ColumnError, "'country' holds string, which does not compare with 1"),
        ("day = 'soon'", ColumnError, "'day' holds date32.*, which does not compare with 'soon'"),
        ("slate = 'a'", ColumnError, "'slate' holds list.*, which does not compare"),
        ("explored = 2", ColumnError, "'explored' holds bool, which does not compare with 2"),
        ("country = DE", UsageError, "'DE' in the row filter is not a value"),
        ("week = 1 or week = 2", UsageError, "is not understood at 'week = 1 or week = 2'"),
        ("week = 1 and", UsageError, "is not understood at 'week = 1 and'"),
        ("week =< 1", UsageError, "is not understood"),
        ("week in ()", UsageError, "is not understood"),
        ("", UsageError, "is not understood"),
        ("week = 99", OffrankError, "where week = 99 has no"),
    ],
)
def test_filters_that_cannot_work(where: str, error: type[OffrankError], said: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=said):
        value(source("parquet", tmp_path), where=where)


def test_what_was_read_is_named(tmp_path: Path) -> None:
    log = offrank.read_log(source("parquet", tmp_path), where="week  =  2")
    result = offrank.evaluate(log, "uniform", "uniform", "ips")
    assert result.facts["log"]["source" if "source" in result.facts["log"] else "name"].endswith("where week = 2")


def test_states_of_different_filters_are_not_merged(tmp_path: Path) -> None:
    path = source("parquet", tmp_path)
    for name, where in {"one": "week = 1", "two": "week = 2", "again": "week = 2"}.items():
        log = offrank.read_log(path, where=where)
        offrank.evaluate(log, "uniform", "uniform", "ips", state=tmp_path / f"{name}.state")
    with pytest.raises(StateError, match=r"where is 'week = 1' in .*one\.state, and 'week = 2' in"):
        offrank.merge([tmp_path / "one.state", tmp_path / "two.state"])
    with pytest.raises(StateError, match="both hold"):
        offrank.merge([tmp_path / "again.state", tmp_path / "two.state"])


@pytest.mark.parametrize(("where", "told"), [("n_clicks > 0", True), ("explored = true", False)])
def test_a_filter_by_the_outcome_is_told(where: str, told: bool) -> None:
    log = [{**row, "n_clicks": sum(row["clicks"])} for row in LOG]
    result = offrank.evaluate(offrank.read_log(log, where=where), "uniform", "uniform", "ips")
    assert ("filtered-by-outcome" in {one.code for one in result.about_log}) == told
    assert not told or result.verdict.trust != "sound"


def test_on_the_command_line(tmp_path: Path) -> None:
    path = source("parquet", tmp_path)
    asked = [
        "--target",
        "uniform",
        "--logging",
        "uniform",
        "-e",
        "ips",
        "--where",
        "week = 1",
        "--json",
        "-",
        "--quiet",
    ]
    found = json.loads(call("evaluate", str(path), *asked).stdout)
    assert found["estimates"][0]["value"] == pytest.approx(mean(lambda row: row["week"] == 1))
    assert "--where 'week = 1'" in found["command"]
    seen = json.loads(call("inspect", str(path), "--where", "week = 1", "--json", "-", "--quiet").stdout)
    assert seen["rows"] == 100
    assert "--where 'week = 1'" in seen["command"]


def test_a_named_format_and_two_tables(tmp_path: Path) -> None:
    rows = [{"model": "ab"[n % 2], "reward": n % 5, "propensity": 0.5, "team": n % 3} for n in range(60)]
    kept = [row["reward"] for row in rows if row["team"] == 1]
    form = "router(chosen=model, reward=reward, propensity=propensity)"
    log = offrank.read_log(rows, format=form, where="team = 1")
    assert offrank.evaluate(log, "uniform", "logged", "ips")["ips"].value == pytest.approx(np.mean(kept))
    shown = [{key: row[key] for key in ("impression", "item", "position", "week")} for row in long()]
    clicked = [{"impression": row["impression"], "item": row["item"]} for row in long() if row["click"]]
    assert value([pa.Table.from_pylist(shown), pa.Table.from_pylist(clicked)], where="week = 1") == pytest.approx(
        mean(lambda row: row["week"] == 1)
    )


def test_what_is_said_is_what_was_typed() -> None:
    assert RowFilter.of("a = 1\n and  b in ('x y', 'z')").text == "a = 1 and b in ('x y', 'z')"


def test_ids_of_later_rows_are_texts(tmp_path: Path) -> None:
    """The first megabyte shows whole numbers alone."""
    lines = ["impression,item,position,click,week"]
    for number in range(30_000):
        first = "x1" if number > 29_000 else "1"
        lines += [f"{number},{first},1,1,{number % 2}", f"{number},2,2,0,{number % 2}"]
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n")
    assert value(tmp_path / "log.csv", where="week = 1") == pytest.approx(1.0)


@pytest.mark.parametrize("scattered", [False, True])
def test_a_filter_that_shortens_lists_is_refused(scattered: bool, tmp_path: Path) -> None:
    rows = sorted(long(), key=lambda row: str(row["item"])) if scattered else long()
    item = rows[0]["item"]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "log.parquet", row_group_size=7)
    cut = len({row["impression"] for row in rows if row["item"] == item})
    log = offrank.read_log(tmp_path / "log.parquet", where=f"item != '{item}'")
    with pytest.raises(ColumnError, match=f"(?s)drops others, in {cut:,} lists.*the same for all items"):
        offrank.evaluate(log, "uniform", "uniform", "ips")
    whole = offrank.read_log(tmp_path / "log.parquet", where="week = 1")
    assert offrank.evaluate(whole, "uniform", "uniform", "ips")["ips"].n == len(
        {row["impression"] for row in rows if row["week"] == 1}
    )
