"""`convert`: the same log again, or nothing at all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import offrank
from offrank.errors import ColumnError, EmptyLogError, LogError, RowError, UsageError
from offrank.log.source import Needs
from offrank_papers.adverts import AdvertWorld
from tests.cli.commands import call
from tests.readers.logs import Row, to_long, wide_rows
from tests.readers.plain import batches, contents

ALL = Needs(
    frozenset(["clicks", "candidates", "reward", "propensity", "rank_propensity", "inclusion"]),
    scores=frozenset(["score"]),
    keys=frozenset(["query"]),
    labels=frozenset(["banner"]),
)
ROW = {"slate": [1], "candidates": [1, 2], "clicks": [1], "propensity": 0.5, "score": [0.1, 0.2]}


@pytest.mark.turns(3)
@given(wide_rows(), st.booleans())
def test_the_same_log_in_either_layout(tmp_path_factory: Any, rows: list[Row], long: bool) -> None:
    path = tmp_path_factory.mktemp("converted") / "log.parquet"
    log = offrank.read_log(rows)
    offrank.convert(
        offrank.read_log([{k: v for k, v in r.items() if k != "ranking"} for r in to_long(rows)]) if long else log,
        path,
        scores=["score"],
    )
    assert contents(offrank.read_log(path), ALL) == contents(log, ALL)


def test_features_and_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("offrank.readers.convert._GROUP_ROWS", 100)
    world = AdvertWorld(impressions=300, contexts=40)
    world.write_text(tmp_path / "log.txt")
    text = offrank.read_log(tmp_path / "log.txt", format="criteo_paper")
    done = offrank.convert(text, tmp_path / "log.parquet")
    assert (done.rows, str(done)) == (300, f"300 impressions in {tmp_path / 'log.parquet'}")
    assert pq.ParquetFile(tmp_path / "log.parquet").num_row_groups == 3
    needed = Needs(frozenset(["clicks", "candidates", "features", "propensity"]), labels=frozenset(["banner"]))
    again = offrank.read_log(tmp_path / "log.parquet")
    assert contents(again, needed) == contents(text, needed)
    read = [[np.concatenate(list(entries(batch))) for batch in batches(log, needed)] for log in (again, text)]
    np.testing.assert_array_equal(*(np.sort(np.concatenate(one)) for one in read))


@pytest.mark.parametrize("compression", [None, "lz4"])
def test_as_arrow(tmp_path: Path, compression: str | None) -> None:
    AdvertWorld(impressions=300, contexts=40).write_text(tmp_path / "log.txt")
    text = offrank.read_log(tmp_path / "log.txt", format="criteo_paper")
    offrank.convert(text, tmp_path / "log.arrow")
    if compression:  # no file of ours, but it is read alike
        table = pa.ipc.open_file(tmp_path / "log.arrow").read_all()
        with pa.ipc.new_file(
            tmp_path / "log.arrow", table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)
        ) as file:
            file.write_table(table)
    needed = Needs(frozenset(["clicks", "candidates", "features", "propensity"]), labels=frozenset(["banner"]))
    again = offrank.read_log(tmp_path / "log.arrow")
    assert contents(again, needed) == contents(text, needed)
    read = [[np.concatenate(list(entries(batch))) for batch in batches(log, needed)] for log in (again, text)]
    np.testing.assert_array_equal(*(np.sort(np.concatenate(one)) for one in read))


def entries(batch: Any) -> Any:
    """Row, index and value of each entry, as one number each."""
    f = batch.contexts.features
    for row, first, size in zip(batch.row, f.first, batch.contexts.size, strict=True):
        where = slice(f.offsets[first], f.offsets[first + size])
        yield row * 1e9 + f.indices[where] + f.values[where] / 1e4


def test_columns_get_the_names_of_their_roles(tmp_path: Path) -> None:
    shown = [{("shown" if name == "slate" else name): value for name, value in ROW.items()}]
    offrank.convert(offrank.read_log(shown, {"slate": "shown"}), tmp_path / "log.parquet")
    assert pq.read_table(tmp_path / "log.parquet").to_pylist() == [ROW]
    both = [shown[0] | {"slate": 3}]
    with pytest.raises(UsageError, match="two columns would be called 'slate'"):
        offrank.convert(offrank.read_log(both, {"slate": "shown"}), tmp_path / "both.parquet")


def test_rows_that_break_a_rule(tmp_path: Path) -> None:
    rows = [ROW, ROW | {"propensity": 2.0}, ROW | {"clicks": [1, 1]}, ROW]
    with pytest.raises(RowError, match="bad-propensity"):
        offrank.convert(offrank.read_log(rows), tmp_path / "log.parquet")
    assert not list(tmp_path.iterdir())
    done = offrank.convert(offrank.read_log(rows, invalid="skip"), tmp_path / "log.parquet")
    assert (done.rows, done.skipped) == (2, {"bad-propensity": 1, "ragged": 1})
    assert "left out: 1 bad-propensity" in str(done)
    assert pq.read_table(tmp_path / "log.parquet").to_pylist() == [ROW, ROW]


def test_a_file_that_is_there_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    path.write_text("before")
    (tmp_path / "log.txt").write_text("example 1: a 0 0.5 1 1 3:1\n")
    with pytest.raises(LogError):
        offrank.convert(offrank.read_log(tmp_path / "log.txt", format="criteo_paper"), path, overwrite=True)
    assert path.read_text() == "before"
    assert len(list(tmp_path.iterdir())) == 2


def test_nothing_to_convert(tmp_path: Path) -> None:
    log = replace(AdvertWorld(slots=1, contexts=10), impressions=0).source()
    with pytest.raises(EmptyLogError):
        offrank.convert(log, tmp_path / "log.parquet")
    with pytest.raises(UsageError, match="cannot read a log from int"):
        offrank.convert(7, tmp_path / "log.parquet")


def test_what_read_log_takes_is_converted(tmp_path: Path) -> None:
    assert offrank.convert([ROW], tmp_path / "log.parquet").rows == 1


def test_the_command(tmp_path: Path) -> None:
    AdvertWorld(impressions=50, contexts=40).write_text(tmp_path / "log.txt.gz")
    done = call("convert", tmp_path / "log.txt.gz", "--format", "criteo_paper", "-o", tmp_path / "log.parquet")
    assert (done.exit_code, done.output.split()[:2]) == (0, ["50", "impressions"])
    seen: list[tuple[int, int]] = []
    offrank.convert(
        offrank.read_log(tmp_path / "log.parquet"), tmp_path / "b.parquet", progress=lambda *at: seen.append(at)
    )
    assert seen == [(1, 1)]


def test_a_suffix_that_cannot_be_read_again_is_refused(tmp_path: Path) -> None:
    log = offrank.read_log([{"slate": [1, 2], "clicks": [1, 0]}])
    for name in ("log.txt", "log", "log.csv", "log.parquet.gz"):
        with pytest.raises(UsageError, match="does not name a format"):
            offrank.convert(log, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_lists_that_were_text_become_lists(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(
        'shown,clicks,s,p\n"[""a"", ""b""]","[0, 1]","[1, 2.5]","[[1, 0], [0, 1]]"\n', encoding="utf-8"
    )
    names = {"slate": "shown", "rank_propensity": "p"}
    offrank.convert(offrank.read_log(tmp_path / "log.csv", names), tmp_path / "log.parquet")
    found = pq.read_table(tmp_path / "log.parquet")
    assert found.to_pylist() == [
        {"slate": ["a", "b"], "clicks": [0, 1], "s": [1, 2.5], "rank_propensity": [[1, 0], [0, 1]]}
    ]
    with pytest.raises(UsageError, match="whole slates"):
        offrank.convert(offrank.read_log([{"slate": [1]}], top_k=1), tmp_path / "log.parquet")


CLICKS: dict[str, tuple[list[Any], dict[str, str]]] = {
    "ids": ([["a"], [], ["b", "a"]], {"clicks": "clicked"}),
    "one id": (["a", None, "b"], {"clicks": "clicked"}),
    "words": ([["yes", "no"], ["no", "no"], ["yes", "yes"]], {"clicks": "clicked"}),
    "truth values": ([[True, False], [False, False], [True, True]], {"clicks": "clicked"}),
    "nothing where there is no click": ([[1, None], [None, None], [1, 1]], {"clicks": "clicked"}),
    "JSON with null": (["[1, null]", "[null, null]", "[1, 1]"], {"clicks": "clicked"}),
}


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("written", CLICKS)
def test_clicks_that_are_no_numbers_are_written_as_numbers(written: str, suffix: str, tmp_path: Path) -> None:
    clicks, columns = CLICKS[written]
    log = offrank.read_log(pa.table({"slate": [["a", "b"]] * 3, "clicked": clicks}), columns)
    assert offrank.convert(log, tmp_path / f"log.{suffix}").rows == 3
    made = offrank.evaluate(tmp_path / f"log.{suffix}", "uniform", "uniform", "ips", cluster=None)
    assert made["ips"].value == offrank.evaluate(log, "uniform", "uniform", "ips", cluster=None)["ips"].value


def test_clicks_of_nulls_alone_are_refused(tmp_path: Path) -> None:
    log = pa.table({"slate": [["a"]], "clicks": [[None]]})
    with pytest.raises(ColumnError, match="null in all rows"):
        offrank.convert(log, tmp_path / "log.parquet")
