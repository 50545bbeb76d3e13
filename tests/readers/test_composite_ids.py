"""Lists that no single column tells apart: several columns are their id together, or it is asked for."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import ColumnError, LogError, RowError
from tests.cli.commands import call

LISTS, SLOTS = 120, 4
SHAPES = {
    "session and time": lambda at: {"session": f"s{at // 4}", "ts": at % 4 * 60 + 1_700_000_000},
    "session and a number": lambda at: {"session": at // 4, "search_no": at % 4},
    "user and a time": lambda at: {
        "user": f"u{at % 40}",
        "query": f"q{at % 9}",
        "time": datetime(2024, 5, 1, tzinfo=UTC) + timedelta(seconds=at // 3),
    },
}


def rows(shape: str) -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    items = np.argsort(rng.random((LISTS, 9)), axis=1)[:, :SLOTS]
    return [
        {**SHAPES[shape](at), "item": f"i{items[at, k]}", "position": k + 1, "click": int(rng.random() < 0.3)}
        for at in range(LISTS)
        for k in range(SLOTS)
    ]


def pages() -> list[dict[str, Any]]:
    """Requests of two pages whose positions start again on the second."""
    return [
        {"request_id": f"r{at // 2}", "page": at % 2 + 1, **{key: one[key] for key in ("item", "position", "click")}}
        for at, one in ((number // SLOTS, one) for number, one in enumerate(rows("session and a number")))
    ]


@pytest.mark.parametrize("shape", SHAPES)
def test_columns_that_make_lists_together_are_used_and_said(shape: str, tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(rows(shape)), tmp_path / "log.parquet")
    single = [{"impression": number // SLOTS, **one} for number, one in enumerate(rows(shape))]
    pq.write_table(pa.Table.from_pylist(single), tmp_path / "single.parquet")
    found = offrank.inspect(tmp_path / "log.parquet")
    assert "impression=" in found.to_dict()["read_as"]
    assert "+" in found.to_dict()["mapping"]["columns"]["impression"]
    assert found.rows == LISTS
    one, two = (
        offrank.evaluate(tmp_path / name, "uniform", "uniform", "snips") for name in ("log.parquet", "single.parquet")
    )
    assert one["snips"].value == pytest.approx(two["snips"].value, rel=1e-12)


def test_in_text_and_by_the_option(tmp_path: Path) -> None:
    made = rows("session and time")
    lines = [",".join(made[0]), *(",".join(map(str, one.values())) for one in made)]
    (tmp_path / "log.csv").write_text("\n".join(lines))
    for said in ([], ["--column", "impression=session+ts"]):
        done = call(
            "evaluate", tmp_path / "log.csv", "--target", "uniform", "--logging", "uniform", "-e", "snips", *said
        )
        assert done.exit_code == 0
        assert "impression=session+ts" in done.stderr or said
    found = offrank.inspect(tmp_path / "log.csv")
    found.save(tmp_path / "mapping.toml")
    assert "session+ts" in (tmp_path / "mapping.toml").read_text()
    assert call(*shlex.split(found.command_with(str(tmp_path / "mapping.toml")))[1:-1], tmp_path / "out").exit_code in (
        0,
        3,
    )


def test_positions_that_start_again_on_each_page_are_asked_about() -> None:
    found = offrank.inspect(pages())
    assert "positions start again on each page" in found.to_dict()["why"]
    assert "request_id+page" in str(found)
    with pytest.raises(ColumnError, match="start again on each page"):
        offrank.read_log(pages())
    assert offrank.inspect(pages(), {"impression": "request_id+page"}).rows == LISTS


def test_positions_that_run_on_to_the_next_page_are_never_renumbered() -> None:
    run_on = [{**one, "request_id": f"{one['request_id']}-{one['page']}"} for one in pages()]
    run_on = [{**one, "position": one["position"] + SLOTS * (one["page"] - 1)} for one in run_on]
    found = offrank.inspect(run_on)
    assert (found.rows, found.skipped) == (LISTS // 2, {"bad-position": LISTS // 2})
    with pytest.raises(RowError, match="page"):
        offrank.evaluate(run_on, "uniform", "uniform", "snips")


def test_what_repeats_is_no_id() -> None:
    """A user and a query that come back make no lists."""
    again = [{**one, "user": f"u{at % 7}"} for at, one in enumerate(rows("session and a number"))]
    for one in again:
        del one["session"], one["search_no"]
    assert offrank.inspect(again).layout == "none"
    holes = [{**one, "ts": None if at == 7 else one["ts"]} for at, one in enumerate(rows("session and time"))]
    with pytest.raises(RowError, match="null"):
        offrank.evaluate(holes, "uniform", "uniform", "snips", columns={"impression": "session+ts"})


def test_a_column_of_which_a_text_is_not_utf_8_makes_no_lists(tmp_path: Path) -> None:
    lines = [
        ",".join([*map(str, one.values()), f"q{at // SLOTS % 9}"])
        for at, one in enumerate(rows("session and a number"))
    ]
    text = "\n".join(["session,search_no,item,position,click,query", *lines]).encode()
    (tmp_path / "log.csv").write_bytes(text)
    offrank.evaluate(tmp_path / "log.csv", "uniform", "uniform", "ips")
    (tmp_path / "log.csv").write_bytes(text.replace(b",q3\n", b",q\xa2\n", 1))
    with pytest.raises(LogError, match=r"line 14, row 12 .*column 'query', .*its bytes are not UTF-8"):
        offrank.evaluate(tmp_path / "log.csv", "uniform", "uniform", "ips")
