"""The ids of what was clicked in one cell: in every layout, and however they are written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import RowError

SLATES = [["d4", "d0", "d2"], ["d0", "d1", "d3"], ["d7", "d3", "d5"], ["d1", "d4", "d6"], ["d12", "d40", "d3"]] * 4
CLICKED = [["d4"], ["d0", "d3"], ["d7", "d3", "d5"], [], ["d12", "d40"]] * 4
MEAN = 8 / 5
"""Clicks per list, counted by hand."""

WRITTEN: dict[str, Callable[[list[str]], Any]] = {
    "bars": "|".join,
    "none is null": lambda ids: "|".join(ids) or None,
    "none in words": lambda ids: "|".join(ids) or "none",
    "a dash for none": lambda ids: ";".join(ids) or "-",
    "commas": ", ".join,
    "spaces": " ".join,
    "tabs": "\t".join,
    "slashes": "/".join,
    "plus signs": "+".join,
    "JSON": json.dumps,
    "braces": lambda ids: "{" + ",".join(ids) + "}",
    "NumPy": lambda ids: "[" + " ".join(f"'{one}'" for one in ids) + "]",
    "tuples": lambda ids: str(tuple(ids)),
    "lists": list,
}
ASKED = {"tabs", "slashes", "plus signs"}
"""What nobody writes so that it is told without a word; with one it is read."""


def mean(log: Any, columns: dict[str, str] | None = None) -> float:
    return offrank.evaluate(log, "uniform", "uniform", "ips", columns=columns)["ips"].value


@pytest.mark.parametrize("written", WRITTEN)
def test_beside_lists(written: str, tmp_path: Path) -> None:
    table = pa.table({"slate": SLATES, "clicked": list(map(WRITTEN[written], CLICKED))})
    pq.write_table(table, tmp_path / "log.parquet")
    assert mean(tmp_path / "log.parquet", {"clicks": "clicked"}) == pytest.approx(MEAN)
    if written not in ASKED:
        assert mean(tmp_path / "log.parquet") == pytest.approx(MEAN)


@pytest.mark.parametrize("written", WRITTEN)
def test_beside_each_item(written: str) -> None:
    rows = [
        {"list": number, "item": item, "position": place, "clicked": WRITTEN[written](clicked)}
        for number, (slate, clicked) in enumerate(zip(SLATES, CLICKED, strict=True))
        for place, item in enumerate(slate, start=1)
    ]
    assert mean(rows, {"impression": "list", "click": "clicked"}) == pytest.approx(MEAN)


@pytest.mark.parametrize("number", [False, True])
def test_beside_the_clicked_item_alone(number: bool, tmp_path: Path) -> None:
    lines = ["list,item,position,clicked"]
    for row, (slate, clicked) in enumerate(zip(SLATES, CLICKED, strict=True)):
        ids = [item[1:] if number else item for item in slate]
        shown = [one if item in clicked else "" for one, item in zip(ids, slate, strict=True)]
        lines += [f"{row},{one},{place},{mark}" for place, (one, mark) in enumerate(zip(ids, shown, strict=True))]
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n")
    assert mean(tmp_path / "log.csv", {"impression": "list", "click": "clicked"}) == pytest.approx(MEAN)


def test_counts_are_no_ids() -> None:
    """Items are called 0, 1 and 2, and each was clicked twice or not at all."""
    rows = [
        {"impression": row, "item": item, "position": place, "clicked": 2 * ((row + item) % 2)}
        for row in range(30)
        for place, item in enumerate([2, 0, 1] if row % 2 else [1, 2, 0], start=1)
    ]
    assert mean(rows, {"click": "clicked"}) == pytest.approx(sum(one["clicked"] for one in rows) / 30)


def test_beside_numbered_columns(tmp_path: Path) -> None:
    lines = ["id,item_1,item_2,item_3,clicked"]
    rows = enumerate(zip(SLATES, CLICKED, strict=True))
    lines += [f"r{row},{','.join(slate)},{'|'.join(clicked)}" for row, (slate, clicked) in rows]
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n")
    assert mean(tmp_path / "log.csv", {"clicks": "clicked"}) == pytest.approx(MEAN)
    assert mean(tmp_path / "log.csv") == pytest.approx(MEAN)


@pytest.mark.parametrize("layout", ["wide", "long"])
def test_an_id_that_was_not_shown(layout: str) -> None:
    clicked = ["|".join(one) or None for one in CLICKED]
    clicked[7] = "d7|d99"
    wide = [{"slate": slate, "clicked": one} for slate, one in zip(SLATES, clicked, strict=True)]
    long = [
        {"impression": row, "item": item, "position": place, "clicked": one["clicked"]}
        for row, one in enumerate(wide)
        for place, item in enumerate(one["slate"], start=1)
    ]
    rows, role = (wide, "clicks") if layout == "wide" else (long, "click")
    with pytest.raises(RowError, match=r"'d7', 'd99'\] names what was clicked, but no item of its slate"):
        mean(rows, {role: "clicked"})


def test_what_was_chosen_is_what_was_clicked(tmp_path: Path) -> None:
    lines = [
        "shown,chosen",
        *(f'"{",".join(slate)}","{",".join(clicked)}"' for slate, clicked in zip(SLATES, CLICKED, strict=True)),
    ]
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n")
    assert mean(tmp_path / "log.csv") == pytest.approx(MEAN)


@pytest.mark.parametrize("ragged", [1, 25, 50])
def test_flags_of_which_some_are_ragged_are_no_ids(ragged: int) -> None:
    """Items that are called 0 and 1 would be clicked in every row."""
    rows = [{"shown": [0, 1, 2], "flags": [0, 1, 0] if row >= ragged else [0, 0, 0, 0]} for row in range(50)]
    with pytest.raises(RowError, match=r"row 0 .*'flags': \[0, 0, 0, 0\] does not have the length of its list"):
        mean(rows, {"slate": "shown", "clicks": "flags"})
