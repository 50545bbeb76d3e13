"""The period of a log: its first and last day, where metadata tell them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.readers.log import period_of

WRITTEN = ["2026-09-03 23:59:00", None, "2026-08-31 00:00:00", "2026-09-02 12:00:00"]
TIMES = pa.array(WRITTEN).cast(pa.timestamp("us"))
LATER = pa.array(["2026-09-09 00:00:00"] * 4).cast(pa.timestamp("us"))
LOG = {"slate": [[1, 2], [2, 1]] * 2, "candidates": [[1, 2]] * 4, "clicks": [[0, 1], [1, 0]] * 2}
KNOWN = {"column": "timestamp", "first": "2026-08-31", "last": "2026-09-03"}


def log(**columns: Any) -> pa.Table:
    return pa.table({**LOG, **columns})


def written(folder: Path, *tables: pa.Table, **how: Any) -> Path:
    for number, table in enumerate(tables):
        pq.write_table(table, folder / f"{number}.parquet", row_group_size=1, **how)
    return folder


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "Pacific/Auckland"])
def test_times_of_any_unit_give_days_in_utc(unit: str, zone: str | None, tmp_path: Path) -> None:
    table = log(timestamp=TIMES.cast(pa.timestamp(unit)).cast(pa.int64()).cast(pa.timestamp(unit, zone)))
    assert period_of(offrank.read_log(table)) == KNOWN
    assert period_of(offrank.read_log(written(tmp_path, table))) == KNOWN


@pytest.mark.parametrize("days", [TIMES.cast(pa.date32()), TIMES.cast(pa.date64()), pa.array(WRITTEN)])
def test_a_day_is_a_date_or_a_text_that_is_called_so(days: Any, tmp_path: Path) -> None:
    table = log(day=days)
    assert period_of(offrank.read_log(table)) == {**KNOWN, "column": "day"}
    assert period_of(offrank.read_log(written(tmp_path, table))) == {**KNOWN, "column": "day"}


def test_names_of_folders_give_days(tmp_path: Path) -> None:
    for day in ("2026-09-03", "2026-08-31"):
        (tmp_path / f"day={day}").mkdir()
        written(tmp_path / f"day={day}", log())
    assert period_of(offrank.read_log(tmp_path)) == {**KNOWN, "column": "day"}


def test_the_likeliest_name_is_taken() -> None:
    born = pa.array([0] * 4).cast(pa.date64())
    assert period_of(offrank.read_log(log(birth_date=born, timestamp=TIMES))) == KNOWN
    for name in ("birth_date", "release_date", "expires"):  # no days of the log
        assert period_of(offrank.read_log(log(**{name: born}))) is None


def test_files_are_read_together(tmp_path: Path) -> None:
    two = (log(timestamp=TIMES.take(pa.array([row] * 4))) for row in (0, 2))
    assert period_of(offrank.read_log(written(tmp_path, *two))) == KNOWN


def test_what_is_not_known_is_not_said(tmp_path: Path) -> None:
    unlike = {
        "no time": (log(),),
        "numbers": (log(day=[20260901] * 4),),
        "texts that are no days": (log(day=["2026-09-01", "2026-09-02", "Monday", "2026-09-03"]),),
        "nothing but nulls": (log(timestamp=pa.nulls(4, pa.timestamp("us"))),),
        "a file without it": (log(timestamp=TIMES), log()),
    }
    for what, tables in unlike.items():
        (tmp_path / what).mkdir()
        assert period_of(offrank.read_log(written(tmp_path / what, *tables))) is None, what
    bare = written(tmp_path / "no time", log(timestamp=TIMES), write_statistics=False)
    assert period_of(offrank.read_log(bare)) is None
    assert period_of(offrank.read_log(lambda: iter([log(timestamp=TIMES)]))) is None


def test_a_text_file_would_have_to_be_read(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("impression,item,position,click,timestamp\n1,a,1,0,2026-09-01 10:00:00\n")
    assert period_of(offrank.read_log(tmp_path / "log.csv")) is None


def test_results_and_their_pages_have_it(tmp_path: Path) -> None:
    table = log(timestamp=TIMES, propensity=[0.5] * 4)
    later = log(timestamp=LATER, propensity=[0.5] * 4)
    states = [tmp_path / "0.state", tmp_path / "1.state"]
    found = [
        offrank.evaluate(each, "uniform", "logged", "snips", state=state)
        for each, state in zip((table, later), states, strict=True)
    ]
    for result in (found[0], offrank.check(table), offrank.merge(states[0])):
        assert dict(result.to_document().facts)["Period"] == "2026-08-31 to 2026-09-03 (`timestamp`)"
        assert result.to_dict()["log"]["period"] == KNOWN
    assert offrank.merge(states).to_dict()["log"]["period"] == {**KNOWN, "last": "2026-09-09"}
    assert offrank.harvest_clicks(log(timestamp=TIMES, query=[1] * 4)).to_dict()["period"] == KNOWN


def shown(result: Any) -> str:
    """The period on the page of a result; nothing where it has none."""
    return dict(result.to_document().facts).get("Period", "")


def test_every_page_of_a_log_says_its_days(tmp_path: Path) -> None:
    """Of a Parquet file, whose metadata tell them."""
    rows = [
        {"query": at % 30, "slate": [1 + at // 30 % 2, 2 - at // 30 % 2], "clicks": [at % 3 // 2, at % 5 // 4]}
        for at in range(240)
    ]
    more = {"score": [[0.5, 0.1]] * 240, "grade": [[1, 0]] * 240, "features": [[[1.0], [2.0]]] * 240}
    more |= {"candidates": [[1, 2]] * 240, "timestamp": TIMES.take(pa.array([0, 2] * 120))}
    table, path = pa.Table.from_pylist(rows), tmp_path / "log.parquet"
    for name, values in more.items():
        table = table.append_column(name, pa.array(values))
    pq.write_table(table, path)
    model = offrank.fit_clicks(path, "pbm", tmp_path / "pbm.json")
    pages = {
        "evaluate": offrank.evaluate(path, "top(score)", "uniform", "ipm"),
        "compare": offrank.compare(path, ["top(score)", "uniform"], "uniform", "ipm"),
        "check": offrank.check(path, "top(score)", "uniform"),
        "inspect": offrank.inspect(path),
        "measure": offrank.measure(path, "score", "uniform"),
        "learn": offrank.learn(path, "regression", tmp_path / "policy.npz", logging="uniform"),
        "select estimators": offrank.select_estimators(path, "top(score)", "uniform"),
        "clicks fit": model,
        "clicks evaluate": offrank.evaluate_clicks(path, model.fitted),
        "clicks harvest": offrank.harvest_clicks(path),
        "clicks predict": offrank.predict_clicks(path, model.fitted, tmp_path / "predicted.parquet"),
        "select clicks": offrank.select_clicks(path, {"pbm": model.fitted}, "grade", "uniform"),
    }
    said = "2026-08-31 to 2026-09-03 (`timestamp`)"
    assert {name: shown(result) for name, result in pages.items()} == dict.fromkeys(pages, said)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_texts_are_counted_while_the_log_is_read(kind: str, tmp_path: Path) -> None:
    """Of texts nothing but rows tells the days: no page is without, and the log is read once."""
    days = ["2026-09-03T23:59:00", "", "2026-08-31T00:00:00", "no day"]
    rows = [
        {"impression": at, "item": item, "position": place, "click": (at + place) % 3 // 2, "score": ord(item)}
        | {"event_time": days[at % 4]}
        for at in range(60)
        for place, item in enumerate("ab" if at % 5 < 2 else "ba", start=1)
    ]
    path = tmp_path / f"log.{kind}"
    if kind == "csv":
        pa_csv.write_csv(pa.Table.from_pylist(rows), path)
    elif kind == "jsonl":
        path.write_text("\n".join(map(json.dumps, rows)))
    else:
        pq.write_table(pa.Table.from_pylist(rows), path)
    assert period_of(offrank.read_log(path)) is None
    state = tmp_path / "log.state"
    read: list[tuple[int, int]] = []
    found = offrank.evaluate(path, "top(score)", "uniform", "ipm", state=state, progress=lambda *one: read.append(one))
    assert read == [(1, 1)]
    pages = [
        found,
        offrank.merge(state),
        offrank.check(path, "top(score)", "uniform"),
        offrank.inspect(path),
        offrank.measure(path, "score", "uniform"),
    ]
    assert {shown(one) for one in pages} == {"2026-08-31 to 2026-09-03 (`event_time`)"}


def test_texts_that_are_no_days_give_none(tmp_path: Path) -> None:
    table = log(timestamp=["a", "b", "", "c"])
    assert shown(offrank.evaluate(table, "uniform", "uniform", "ipm")) == ""
    assert shown(offrank.inspect(table)) == ""
