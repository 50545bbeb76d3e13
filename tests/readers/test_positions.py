"""Wide tables with positions beside their items: slates are read in that order, and what has none was not shown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.errors import RowError, UsageError
from offrank.log.source import Needs
from tests.readers.plain import codes, contents, skipped
from tests.readers.test_unfolding import NEEDED, NESTED, Row, nested, objects, world


def test_the_order_of_struct_entries_does_not_matter_where_positions_are_given() -> None:
    log = world(200)
    rng = np.random.default_rng(3)
    shuffled = [{**row, "shown": [row["shown"][i] for i in rng.permutation(len(row["shown"]))]} for row in nested(log)]
    target, logging = "top('shown.model.new')", "plackett_luce('shown.model.old')"
    estimators = ["ips", "snips", "ipm"]
    ours = offrank.evaluate(log, "top(new)", "plackett_luce(old)", estimators)
    for rows in (nested(log), shuffled):
        found = offrank.evaluate(offrank.read_log(rows, NESTED), target, logging, estimators)
        for name in estimators:
            assert found[name].value == pytest.approx(ours[name].value, rel=1e-12)
            assert found[name].low == pytest.approx(ours[name].low, rel=1e-12)


def ranked(positions: list[list[Any]], **how: Any) -> list[Row]:
    """What is read of items 'a', 'b', 'c' with these positions."""
    log = [{"i": ["a", "b", "c"][: len(row)], "c": [0, 1, 2][: len(row)], "r": row} for row in positions]
    return contents(offrank.read_log(log, {"slate": "i", "clicks": "c", "position": "r"}, **how))


def wide(*rows: tuple[str, list[int]]) -> list[Row]:
    """What is read of such slates and clicks, with candidates 'a', 'b' and 'c'."""
    log = [{"slate": list(slate), "clicks": clicks, "candidates": list("abc")} for slate, clicks in rows]
    return contents(offrank.read_log(log))


def test_positions_from_0_and_from_1() -> None:
    both = wide(("cab", [2, 0, 1]), ("b", [1]), ("bc", [1, 2]))
    assert ranked([[2, 3, 1], [None, 1, None], [None, 1, 2]]) == both
    assert ranked([[1, 2, 0], [None, 0, None], [None, 0, 1]]) == both
    assert ranked([[1.0, 2.0, 3.0]]) == wide(("abc", [0, 1, 2]))


def test_positions_from_0_are_told_by_most_rows() -> None:
    fine, missing = [0, 1, 2], [1, 2, None]
    with pytest.raises(RowError, match=r"row 2 .*column 'r'.*interrupts the positions"):
        ranked([fine, fine, missing])
    log = [{"i": list("abc"), "c": [0, 1, 2], "r": row} for row in (fine, fine, missing)]
    names = {"slate": "i", "clicks": "c", "position": "r"}
    assert skipped(offrank.read_log(log, names, invalid="skip")) == {"bad-position": 1}
    assert ranked([fine, missing, fine], invalid="skip") == wide(("abc", [0, 1, 2]), ("abc", [0, 1, 2]))


BAD_POSITIONS = {
    "a gap": ([1, 3, None], "bad-position"),
    "a tie": ([1, 1, 2], "bad-position"),
    "a fraction": ([1, 1.5, 2], "bad-position"),
    "from 2": ([2, 3, 4], "bad-position"),
    "no item shown": ([None, None, None], "empty-slate"),
    "too few": (None, "null"),
}


@pytest.mark.parametrize("case", BAD_POSITIONS)
def test_bad_positions(case: str) -> None:
    positions, rule = BAD_POSITIONS[case]
    table = pa.table(
        {"i": [list("abc")] * 2, "c": [[0, 1, 2]] * 2, "r": pa.array([[1, 2, 3], positions], pa.list_(pa.float64()))}
    )
    names = {"slate": "i", "clicks": "c", "position": "r"}
    with pytest.raises(RowError, match="row 1 ") as caught:
        contents(offrank.read_log(table, names))
    assert (caught.value.rule, caught.value.row) == (rule, 1)
    kept = offrank.read_log(table, names, invalid="skip")
    assert contents(kept) == wide(("abc", [0, 1, 2]))
    assert skipped(kept) == {rule: 1}


def test_lists_beside_the_positions_must_fit() -> None:
    names = {"slate": "i", "clicks": "c", "position": "r"}
    for column in ("c", "r"):
        log = [{"i": ["a", "b"], "c": [1, 0], "r": [2, 1]}, {"i": ["a", "b"], "c": [1, 0], "r": [2, 1], column: [1]}]
        with pytest.raises(RowError, match=f"row 1 .*column '{column}'.*does not have the length"):
            contents(offrank.read_log(log, names))
    with pytest.raises(RowError, match=r"row 1 .*column 'c'.*is null"):
        contents(offrank.read_log([{"i": ["a"], "c": [1], "r": [1]}, {"i": ["a"], "c": None, "r": [1]}], names))


def test_gaps_between_positions() -> None:
    assert ranked([[5, 2, None]], gaps="close") == wide(("ba", [1, 0]))
    with pytest.raises(UsageError, match="or between positions in a named column"):
        offrank.read_log([{"slate": ["a"], "clicks": [0]}], gaps="close")
    log = [{"i": ["a", "b"], "c": [1, 0], "r": [3, 1]}]
    found = offrank.read_log(log, {"slate": "i", "clicks": "c", "position": "r"})
    ours = offrank.read_log([{"slate": ["b", None, "a"], "clicks": [0, 0, 1], "candidates": ["a", "b"]}])
    holes = Needs(frozenset(["clicks"]), holes=True)
    assert contents(found, holes) == contents(ours, holes)


def test_candidates_of_their_own_and_matrices() -> None:
    log = world(30)
    matrix = [[[1 / len(row["slate"])] * len(row["slate"]) for _ in row["slate"]] for row in log]
    shown = [
        {**row, "rank_propensity": rows, "at": list(range(1, len(rows) + 1))}
        for row, rows in zip(log, matrix, strict=True)
    ]
    beside = ("slate", "clicks", "slot_propensity", "rank_propensity", "at")
    turned = [{name: v[::-1] if name in beside else v for name, v in row.items()} for row in shown]
    asked = Needs(NEEDED.roles | {"rank_propensity"}, NEEDED.scores)
    names = {"position": "at"}
    assert contents(offrank.read_log(turned, names), asked) == contents(offrank.read_log(shown), asked)
    written = Needs(frozenset(["clicks"]), written=frozenset(["slot_propensity:slot_propensity"]))
    assert contents(offrank.read_log(turned, names), written) == contents(offrank.read_log(shown), written)


def test_a_column_called_position_is_the_users_own_unless_it_was_named() -> None:
    log = [{"slate": ["a", "b"], "clicks": [0, 1], "position": [2, 1]}]
    assert contents(offrank.read_log(log)) == contents(offrank.read_log([{**log[0], "position": None}]))


def test_positions_are_found_by_their_shape() -> None:
    log = world(200)
    rows = [
        {"shown": [{**{n: one[n] for n in ("sku", "rank")}, "clicked": one["hit"]} for one in objects(r)]} for r in log
    ]
    plain = [{name: row[name] for name in ("slate", "clicks", "candidates")} for row in log]
    found = offrank.read_log(rows)
    assert found.description.layout != "none"
    assert found.description.columns == {"slate": "shown.sku", "clicks": "shown.clicked", "position": "shown.rank"}
    assert contents(found) == contents(offrank.read_log(plain))
    renamed = pa.table(
        {"sku": [["a", "b", "c"], ["d", "e"]], "position": [[2, 3, 1], [2, 1]], "clicked": [[1, 0, 0], [0, 1]]}
    )
    assert contents(offrank.read_log(renamed))[0]["slate"] == codes(["c", "a", "b"])


def test_lists_in_order_need_no_position() -> None:
    rows = [
        {"items": [{"sku": item, "rank": i + 1, "clicked": i % 2} for i, item in enumerate(r["slate"])]}
        for r in world()
    ]
    found = offrank.read_log(rows)
    assert found.description.layout != "none"
    assert found.description.columns == {"slate": "items.sku", "clicks": "items.clicked"}


@pytest.mark.parametrize("click", [1, 0])
def test_copies_of_rows_are_named_and_their_lists_left_out(click: int) -> None:
    """A second row of an item at its position is no second position, whatever its click."""
    rows = [
        {"impression": f"r{at}", "item": item, "position": None if item == "c" else "ab".index(item) + 1, "click": 0}
        for at in range(5)
        for item in "abc"
    ]
    rows.append({**rows[6], "click": click})
    needed = Needs(frozenset(["clicks"]))
    words = r"(?s)row 15 \(the first is 0\), column 'item'.*repeats row 6, .*: 1 of 13 rows are such copies.*group by"
    with pytest.raises(RowError, match=words):
        list(offrank.read_log(rows).select(needed).batches(0))
    assert skipped(offrank.read_log(rows, invalid="skip"), needed) == {"duplicate-row": 1}
    del rows[-1], rows[6]
    with pytest.raises(RowError, match="bad-position"):  # a gap, and no copy
        list(offrank.read_log(rows).select(needed).batches(0))


@pytest.mark.parametrize(("none", "top"), [(0, 1), (-1, 1), (-1, 0)])
@pytest.mark.parametrize("names", [("impression", "item", "position", "click"), ("list_id", "sku", "rank", "clicked")])
def test_a_position_of_several_items_of_a_list_is_none(none: int, top: int, names: tuple[str, ...]) -> None:
    rng = np.random.default_rng(4)
    order = np.argsort(rng.random((200, 5)), axis=1)
    clicks = rng.random((200, 5)) < 0.3
    rows = [
        (f"i{row}", f"d{item}", int(place), bool(clicks[row, item]))
        for row in range(200)
        for item, place in _places(order[row])
    ]
    written = [
        dict(zip(names, (*row[:2], row[2] + top - 1 if row[2] else none, row[3] and row[2] > 0), strict=True))
        for row in rows
    ]
    nulls = [{**row, names[2]: None if row[names[2]] == none else row[names[2]]} for row in written]
    logs = [offrank.read_log(rows) for rows in (written, nulls)]
    found, wanted = (offrank.evaluate(log, "uniform", "uniform", "snips")["snips"].value for log in logs)
    assert found == wanted
    assert [f"items at position {none} not shown" in log.describe() for log in logs] == [True, False]


def _places(order: np.ndarray) -> list[tuple[int, int]]:
    """Each item with its place from 1, or 0 below the third."""
    return [(int(item), place + 1 if place < 3 else 0) for place, item in enumerate(order)]
