"""Clicks that are empty where nothing was clicked, in columns of our own names; and what is none, by its value."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import ColumnError, LogError, RowError
from offrank.log.source import Needs
from offrank.readers.roles.columns import like_clicks
from tests.cli.commands import call

ROWS = 60


def clicked(log: object) -> list[list[float]]:
    source = offrank.read_log(log).select(Needs(frozenset(["clicks"])))
    return [row for batch in source.batches(0) for row in batch.clicks.tolist()]


def test_an_empty_click_of_a_list_is_none(tmp_path: Path) -> None:
    rows = [{"slate": ["a", "b", f"c{at}"], "clicks": [None, 1 if at % 3 else None, None]} for at in range(ROWS)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "log.parquet")
    assert clicked(tmp_path / "log.parquet") == [[0.0, float(at % 3 > 0), 0.0] for at in range(ROWS)]
    assert offrank.inspect(tmp_path / "log.parquet").rows == ROWS


def test_beside_zeros_an_empty_click_is_a_gap() -> None:
    with pytest.raises(RowError):
        clicked([{"slate": ["a", "b"], "clicks": [0, None]}, {"slate": ["a", "b"], "clicks": [0, 1]}])


@pytest.mark.parametrize("none", ["NA", ""])
def test_a_click_that_is_not_there_in_text(none: str, tmp_path: Path) -> None:
    lines = [f"r{at},i{k},{k + 1},{1 if (at + k) % 3 == 0 else none}" for at in range(ROWS) for k in range(3)]
    (tmp_path / "log.csv").write_text("\n".join(["request_id,item,position,click", *lines]))
    found = clicked(tmp_path / "log.csv")
    assert found == [[float((at + k) % 3 == 0) for k in range(3)] for at in range(ROWS)]


def test_a_value_that_is_no_click_is_named(tmp_path: Path) -> None:
    lines = [f"r{at},i{k},{k + 1},{'banana' if at == 50 else 0}" for at in range(ROWS) for k in range(3)]
    (tmp_path / "log.csv").write_text("\n".join(["request_id,item,position,click", *lines]))
    found = offrank.inspect(tmp_path / "log.csv")
    assert "'click' has the name of a click, but contains 'banana', which is not one" in found.to_dict()["why"]


def test_search_is_what_was_searched_for_and_search_id_one_search() -> None:
    rows = [
        {"search_id": f"r{at}", "search": f"q{at % 9}", "item": f"i{(at + k) % 7}", "position": k + 1, "click": k % 2}
        for at in range(ROWS)
        for k in range(3)
    ]
    found = offrank.inspect(rows)
    assert "impression=search_id" in str(found.to_dict()["read_as"])
    assert "query=search" in str(found.to_dict()["read_as"])


@pytest.mark.parametrize("ids", [("request_id", "item"), ("session", "product")])
def test_two_tables_that_do_not_join_are_described(ids: tuple[str, str], tmp_path: Path) -> None:
    shown = [f"r{at},i{k},{k + 1}" for at in range(ROWS) for k in range(3)]
    (tmp_path / "impressions.csv").write_text("\n".join(["request_id,item,position", *shown]))
    (tmp_path / "clicks.csv").write_text(
        "\n".join([f"{','.join(ids)},ts", *(f"z{at},x{at},{at}" for at in range(ROWS))])
    )
    done = call("inspect", tmp_path, "--json", "-")
    assert done.exit_code == 0
    assert "no click is on an item that was shown" in " ".join(done.output.split())
    assert {one["name"] for one in json.loads(offrank.inspect(tmp_path).to_json())["columns"]} >= {
        "position (impressions.csv)",
        "ts (clicks.csv)",
    }


def test_positions_from_0_are_said_once() -> None:
    rows = [
        {"rid": f"r{at}", "sku": f"i{(at + k) % 7}", "pos": k, "clicked": (at + k) % 2}
        for at in range(ROWS)
        for k in range(3)
    ]
    assert str(offrank.inspect(rows)).count("from 0") == 1


def test_the_folder_of_mind_is_described(tmp_path: Path) -> None:
    lines = [f"{at}\tU1\t11/11/2019 9:05:58 AM\tN7 N8\tN1-0 N2-1 N{at}-0" for at in range(3, ROWS)]
    (tmp_path / "behaviors.tsv").write_text("\n".join(lines))
    (tmp_path / "news.tsv").write_text(
        "\n".join(f"N{at}\tsport\tgolf\tA title\tText\thttps://x\t[]\t[]" for at in range(ROWS))
    )
    found = offrank.inspect(tmp_path)
    assert found.layout == "sessions"
    assert "shuffled before publication" in found.to_dict()["why"]


def test_truth_values_that_are_empty_where_nothing_was_clicked() -> None:
    lines = [(0, "a", 1, True), (1, "b", 1, None), (1, "c", 2, True)]
    rows = [dict(zip(("impression", "item", "position", "click"), line, strict=True)) for line in lines]
    assert clicked(pa.Table.from_pylist(rows)) == [[1.0], [0.0, 1.0]]


def test_a_flag_that_is_never_set_is_no_click() -> None:
    lists, places = np.divmod(np.arange(12), 2)
    assert not like_clicks("flag", np.zeros(12), lists, places, np.zeros(12, int))


def test_files_of_which_one_has_text_for_numbers(tmp_path: Path) -> None:
    for name, propensity in (("a", "é"), ("b", 0.5)):
        row = {"slate": [1, 2], "clicks": [1, 0], "propensity": propensity, "note": "a,b"}
        (tmp_path / f"{name}.jsonl").write_text(f"{json.dumps(row)}\n")
    source = offrank.read_log(tmp_path).select(Needs(frozenset(["clicks", "propensity"])))
    with pytest.raises(LogError, match="'propensity' holds string, not numbers"):
        list(source.batches(0))


@pytest.mark.parametrize("clicks", [[0.5, 0.0, 0.0, 1.0, 2.0], [0.5, 0.0, 0.0, -1.0, 1.0]])
def test_what_is_called_a_click_is_not_passed_over_for_another_flag(clicks: list[float]) -> None:
    columns = {"session": ["s0"] * 5, "ts": [0, 0, 0, 0, 1], "item": [1, 2, 3, 4, 5], "position": [2, 3, 1, 4, 1]}
    table = pa.table({**columns, "click": clicks, "bought": [0.0, 0.0, 0.0, 0.0, 1.0], "query": [*"aaaab"]})
    if min(clicks) < 0:
        with pytest.raises(RowError, match="click"):
            clicked(table)
    else:
        assert clicked(table) == [[0.0, 0.5, 0.0, 1.0], [2.0]]


@pytest.mark.parametrize("empty", [None, [None, None]])
def test_clicks_that_say_nothing_in_any_row_are_an_error(empty: list[None] | None) -> None:
    rows = [{"slate": ["a", "b"], "clicks": empty}] * 30
    with pytest.raises(ColumnError, match="'clicks' is null in all rows"):
        clicked(rows)
    assert "were clicked: log 1 or 0" in str(offrank.inspect(rows))
    if empty is not None:
        assert clicked([*rows, {"slate": ["a", "b"], "clicks": [None, 1]}])[-1] == [0, 1]
