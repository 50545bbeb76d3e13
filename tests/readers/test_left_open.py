"""Tables that are nearly read: what stands in the way is named, with the option or the line that mends it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import ColumnError
from offrank.inspection.unread_table import UnreadTable
from offrank.log.source import Needs
from offrank.readers.opening import open_table
from offrank.readers.parquet_orc_arrow import ParquetTable
from offrank.readers.tables import MemoryTable, may_be_null
from tests.readers.plain import contents
from tests.readers.samples import SOGOU

ROWS, SLOTS = 300, 5
RNG = np.random.default_rng(4)
SLATES = np.argsort(RNG.random((ROWS, 30)), axis=1)[:, :SLOTS]
CLICKS = (RNG.random((ROWS, SLOTS)) < 0.4 / (1 + np.arange(SLOTS))).astype(int)


def long(position: str = "rank", first: int = 1, slates: Any = SLATES) -> pa.Table:
    """A row for each item that was shown."""
    at, place = (each.ravel() for each in np.indices((ROWS, SLOTS)))
    columns = {"request": at, "sku": slates.ravel(), position: place + first, "clicked": CLICKS.ravel()}
    return pa.table(columns)


def unread(table: Any, **how: Any) -> str:
    """What is said of a table that is not read yet."""
    found = offrank.inspect(table, **how)
    assert isinstance(found, UnreadTable)
    return " ".join(str(found).split())


def test_labels_beside_our_own_slate_are_clicks_where_they_behave_so() -> None:
    found = offrank.inspect(pa.table({"slate": SLATES.tolist(), "labels": CLICKS.tolist()}))
    assert found.to_dict()["mapping"]["columns"]["clicks"] == "labels"
    assert "the only flag" in found.read_as


def test_labels_that_do_not_behave_as_clicks_are_asked_about() -> None:
    found = offrank.inspect(pa.table({"slate": SLATES.tolist(), "labels": CLICKS[:, ::-1].tolist()}))
    assert "clicks" not in found.to_dict()["mapping"]["columns"]
    assert "if labels is the clicks, use columns={'clicks': 'labels'}" in " ".join(str(found).replace('"', "'").split())


@pytest.mark.parametrize("lists", [False, True])
def test_an_item_twice_is_named_with_its_rule_row_and_item(lists: bool) -> None:
    slates = SLATES.copy()
    slates[1::3, 3] = slates[1::3, 0]
    wide = pa.table({"shown_items": slates.tolist(), "clicked": CLICKS.tolist()})
    said = unread(wide if lists else long(slates=slates))
    column, row = ("shown_items", 1) if lists else ("sku", SLOTS + 3)
    assert f"'{column}' contains an item twice (duplicate-item): row {row} has {slates[1, 0]}" in said
    assert "give repeated ones their own ids" in said
    with pytest.raises(ColumnError, match="duplicate-item"):
        offrank.read_log(wide if lists else long(slates=slates))


BESIDE: dict[str, dict[str, Any]] = {
    "in a table of their own": {},
    "as ids": {"clicked": [[one] if flag else [] for one, flag in zip("abab", [1, 0, 1, 1], strict=True)]},
}


@pytest.mark.parametrize("clicks", BESIDE)
def test_candidates_are_not_taken_for_a_slate_with_an_item_twice(clicks: str) -> None:
    slates = [["a", "b"], ["b", "b"], ["a", "c"], ["b", "a"]]
    lists = {"request": ["r1", "r2", "r3", "r4"], "slate": slates, "candidates": [["a", "b", "c"]] * 4}
    table = pa.table(lists | BESIDE[clicks])
    log = [table, pa.table({"request": ["r1", "r3"], "sku": ["a", "c"]})] if not BESIDE[clicks] else table
    with pytest.raises(ColumnError, match=r"'slate' contains an item twice \(duplicate-item\): row 1 has 'b'"):
        offrank.read_log(log)


def test_candidates_are_not_taken_for_a_slate_that_cannot_be_read() -> None:
    lists = pa.table({"request": ["r1", "r2"], "slate": ["[1, 2]", '[2, "x"]'], "candidates": ["[1, 2]", "[2, 3]"]})
    with pytest.raises(ColumnError, match="'slate' does not contain a list of distinct ids in each row"):
        offrank.read_log([lists, pa.table({"request": ["r1", "r2"], "sku": [1, 2]})])


@pytest.mark.parametrize("own", [False, True])
def test_positions_of_a_second_page_alone_are_asked_about(own: bool) -> None:
    table = long("position", 11)
    table = table.rename_columns(["impression", "item", "position", "click"]) if own else table
    assert "positions in 'position' start at 11 in every list" in unread(table)
    assert "(--gaps close)" in unread(table)
    found = offrank.inspect(table, gaps="close")
    assert found.rows == ROWS
    assert ("from 11" in found.read_as) is not own
    assert offrank.inspect(long("position", 1)).rows == ROWS


def test_clicks_alone_are_told_what_to_log(tmp_path: Any) -> None:
    (tmp_path / "SogouQ.txt").write_bytes("".join(SOGOU.splitlines(keepends=True)[:3] * 20).encode("gb18030"))
    found = offrank.inspect(tmp_path / "SogouQ.txt")
    assert found.only_clicks
    assert found.command == ""
    assert "Log whole lists, clicked or not" in str(found)
    usual = offrank.inspect(pa.table({"slate": SLATES.tolist(), "clicks": CLICKS.tolist()}))
    assert not usual.only_clicks
    assert "clicks fit" in usual.command


def choices(known: bool) -> pa.Table:
    """Choices of one of two or of three options. known: whether the options are listed."""
    options = [["a", "b", "c"][: 2 + row % 2] for row in range(ROWS)]
    found = {
        "arm": [str(RNG.choice(each)) for each in options],
        "reward": RNG.integers(0, 2, ROWS).astype(float),
        "p": [1 / len(each) for each in options],
    }
    return pa.table(found | ({"options": options} if known else {}))


def test_a_router_without_options_asks_for_them_where_they_differ() -> None:
    said = "router(chosen=arm, reward=reward, propensity=p{})"
    with pytest.raises(ColumnError, match=r"not every row of .* had all options of 'arm'") as refused:
        offrank.read_log(choices(known=False), format=said.format(""))
    assert said.format(", candidates=NAME") in str(refused.value)
    assert "candidates=NAME" in unread(choices(known=False), format=said.format(""))
    found = offrank.inspect(choices(known=True), format=said.format(", candidates=options"))
    assert found.logging.status in ("written", "written, not tested")


def test_costs_of_choices_are_no_rewards() -> None:
    table = pa.table({"a": RNG.integers(1, 5, ROWS), "cost": -RNG.integers(0, 2, ROWS), "p": np.full(ROWS, 0.25)})
    said = unread(table)
    assert "add a column of -cost" in said
    assert "format='router(chosen=a, reward=NAME, propensity=p)'" in said
    earned = table.append_column("gain", pa.array(-table["cost"].to_numpy()))
    assert offrank.inspect(earned, format="router(chosen=a, reward=gain, propensity=p)").rows == ROWS


def test_a_table_tells_whether_it_may_hold_nulls(tmp_path: Any) -> None:
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table({"full": [1, 2], "open": [1, None]}), path)
    table = open_table(str(path))
    assert isinstance(table, ParquetTable)
    assert not may_be_null(table, "full")
    assert may_be_null(table, "open")
    assert may_be_null(MemoryTable(pa.table({"full": [1]})), "full")


def test_lists_in_text_with_the_place_of_the_click() -> None:
    """No other list is beside them; their name is that of lists."""
    place = [int(row.argmax()) + 1 if row.any() else None for row in CLICKS]
    texts = ["|".join(f"s{item}" for item in row) for row in SLATES]
    found = offrank.inspect(pa.table({"typed_id": range(ROWS), "suggestions": texts, "selected_position": place}))
    columns = found.to_dict()["mapping"]["columns"]
    assert columns == {"slate": "suggestions", "clicks": "selected_position:from1"}


def test_some_of_the_shown_items_in_text_are_what_was_clicked() -> None:
    """Most cells hold one id or none: by themselves they are no lists."""
    shown = [" ".join(map(str, row)) for row in SLATES]
    taken = [" ".join(str(item) for item in row[flags > 0]) for row, flags in zip(SLATES, CLICKS, strict=True)]
    assert sum(" " in cell for cell in taken) < ROWS / 2
    log = offrank.read_log(pa.table({"shown": shown, "clicked": taken}))
    clicks = [batch.clicks for part in range(log.parts()) for batch in log.batches(part)]
    assert np.concatenate(clicks)[:, :SLOTS].tolist() == CLICKS.tolist()


def test_what_an_arm_paid_off_is_its_reward() -> None:
    arm = RNG.choice(3, 600, p=[0.6, 0.3, 0.1])
    payoff = (RNG.random(600) < 0.1 * (1 + arm)).astype(int)
    found = offrank.inspect(pa.table({"arm": arm, "propensity": np.array([0.6, 0.3, 0.1])[arm], "payoff": payoff}))
    assert "router(chosen=arm, reward=payoff, propensity=propensity)" in found.read_as


def test_an_infinite_click_is_no_reason_for_a_warning() -> None:
    said = unread(pa.table({"shown": [[1, 2]] * 3, "seen": [[np.inf, 0.0]] * 3}))
    assert "no list says which items of the slate were clicked" in said


def test_candidates_that_lack_what_was_shown_are_not_taken_for_the_slate() -> None:
    rows = [{"slate": ["a"], "candidates": ["a"], "clicked": []}]
    rows.append({"slate": ["b", "a", "c"], "candidates": ["a", "c"], "clicked": ["c"]})
    with pytest.raises(offrank.errors.RowError, match=r"row 1 .*'slate'.*not among the candidates"):
        contents(offrank.read_log(pa.Table.from_pylist(rows)), Needs(frozenset(["clicks", "candidates"])))


def test_lists_in_texts_of_views_are_told() -> None:
    # pyarrow has no kernel that drops the nulls of such texts.
    table = pa.table({"slate": pa.array(["[1, 2]", None, "[2, 1]"], pa.string_view()), "clicks": [[1, 0]] * 3})
    with pytest.raises(offrank.errors.RowError, match="row 1"):
        contents(offrank.read_log(table), Needs(frozenset(["clicks"])))
