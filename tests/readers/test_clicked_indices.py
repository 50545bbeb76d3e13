"""Clicks that are written as the place, or the id, of what was clicked: read where it is clear how, else asked for."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import offrank
from offrank.errors import ColumnError, RowError
from offrank.inspection.unread_table import UnreadTable
from offrank.log.source import Needs
from offrank.wording import worded

N, SLOTS = 400, 4
RNG = np.random.default_rng(7)
SHOWN = [RNG.permutation(9)[:SLOTS].tolist() for _ in range(N)]
PLACES = [int(place) if place < SLOTS else None for place in RNG.integers(0, 2 * SLOTS, N)]


def clicks(log: Any, columns: dict[str, str] | None = None) -> np.ndarray:
    found = offrank.read_log(log, columns).select(Needs(frozenset(["clicks"])))
    return np.vstack([batch.clicks for batch in found.batches(0)])


def table(name: str, values: list[Any], items: str = "sku{}") -> list[dict[str, Any]]:
    ids = [[items.format(one) if items else 100 + one for one in shown] for shown in SHOWN]
    return [{"request": f"r{n}", "shown": ids[n], name: values[n]} for n in range(N)]


TRUTH = np.array([[float(place == at) for at in range(SLOTS)] for place in PLACES])
WAYS = {
    "clicked_index": [-1 if place is None else place for place in PLACES],
    "selectedIndex": PLACES,
    "chosen_rank": [place if place is None else place + 1 for place in PLACES],
    "click_position": [0 if place is None else place + 1 for place in PLACES],
    "clicked_item": [-1 if place is None else place for place in PLACES],
    "clicked_positions": [[] if place is None else [place] for place in PLACES],
    "clicked_slots": ["[]" if place is None else json.dumps([place + 1]) for place in PLACES],
}


@pytest.mark.parametrize("name", WAYS)
def test_places_are_clicks(name: str) -> None:
    log = table(name, WAYS[name])
    assert offrank.inspect(log).renamed["clicks"].startswith(name + ":from")
    assert (clicks(log) == TRUTH).all()
    said = [{"slate" if role == "shown" else role: value for role, value in row.items()} for row in log]
    assert (clicks(said, {"clicks": name}) == TRUTH).all()


@pytest.mark.parametrize("items", ["sku{}", ""])
@pytest.mark.parametrize("name", ["selected_id", "clicked_item"])
def test_ids_of_what_was_clicked_may_be_missing_in_their_own_way(name: str, items: str) -> None:
    rows = table(name, [None] * N, items)
    ids = [("" if items else -1) if at is None else row["shown"][at] for row, at in zip(rows, PLACES, strict=True)]
    log = table(name, ids, items)
    assert offrank.inspect(log).renamed["clicks"] == name
    assert (clicks(log) == TRUTH).all()


def test_where_places_begin_is_asked_if_both_ends_are_never_clicked() -> None:
    inner = [place if place in (1, 2, 3) else None for place in PLACES]
    found = offrank.inspect(table("click_pos", inner))
    assert isinstance(found, UnreadTable)
    options = [worded(one, "command line") for one in found.unsettled[0].options]
    assert options == ["--column clicks=click_pos:from1", "--column clicks=click_pos:from0"]
    for top in (0, 1):
        expected = [[float(place is not None and place - top == at) for at in range(SLOTS)] for place in inner]
        assert (clicks(table("click_pos", inner), {"clicks": f"click_pos:from{top}"}) == np.array(expected)).all()
    with pytest.raises(ColumnError, match="count from 1 or 0"):
        offrank.read_log(table("click_pos", inner), {"clicks": "click_pos"})


@pytest.mark.parametrize("name", ["clicks", "num_clicked", "clicked"])
def test_counts_and_flags_are_no_places(name: str) -> None:
    counts = RNG.integers(0, 2 if name == "clicked" else SLOTS, N).tolist()
    found = offrank.inspect(table(name, counts))
    assert isinstance(found, UnreadTable)
    assert not found.unsettled


def test_a_place_that_the_slate_does_not_have_breaks_a_rule() -> None:
    values = [*WAYS["clicked_index"][:-1], SLOTS]
    with pytest.raises(RowError, match="clicked_index:from0"):
        clicks(table("clicked_index", values))


def test_numbers_beside_the_slate_are_no_places() -> None:
    beside = RNG.integers(0, 2, (N, SLOTS)).tolist()
    assert (clicks(table("click_pos", beside), {"slate": "shown", "clicks": "click_pos"}) == np.array(beside)).all()


def test_an_infinite_number_is_no_place() -> None:
    beside: list[list[float]] = [[1, 0, 0, 0], [0, math.inf], [1, 1, 0], [2]] * (N // 4)
    with pytest.raises(RowError, match="row 1"):
        clicks(table("clicked", beside), {"slate": "shown", "clicks": "clicked"})


@pytest.mark.parametrize("name", ["outcomes", "feedback"])
def test_numbers_beside_our_own_slate_may_be_called_by_what_they_tell(name: str) -> None:
    beside = RNG.integers(0, 2, (N, SLOTS)).tolist()
    log = [{"slate": row["shown"], name: row[name]} for row in table(name, beside)]
    assert offrank.inspect(log).renamed == {"clicks": name}


def test_a_list_beside_places_that_cannot_be_read_is_named_with_its_row() -> None:
    log = [{"slate": json.dumps([1, 2, 3]), "clicked_slots": "[2]"} for _ in range(20)]
    log[7]["slate"] = f"[{2**64}]"
    with pytest.raises(RowError, match=r"row 7 .*column 'slate'.*bad-list"):
        clicks(log, {"clicks": "clicked_slots"})


@pytest.mark.parametrize("eligible", [False, True])
def test_places_beside_a_column_for_each_slot(eligible: bool) -> None:
    """Of them the slate is made, not of the longer list of what could have been shown."""
    rows = table("clicked_slot", WAYS["click_position"])
    slots = [{f"ad_slot_{at + 1}": sku for at, sku in enumerate(row.pop("shown"))} for row in rows]
    log = [{**row, **each} for row, each in zip(rows, slots, strict=True)]
    log = [{**row, "eligible_ads": [f"sku{one}" for one in range(9)]} if eligible else row for row in log]
    assert (clicks(log) == TRUTH).all()
    pool = {"candidates": "eligible_ads"} if eligible else {}
    assert offrank.inspect(log).renamed == {"slate": "ad_slot", "clicks": "clicked_slot:from1", **pool}


def test_numbers_for_each_slot_are_no_slate_beside_places() -> None:
    rows = table("clicked_slot", WAYS["click_position"])
    log = [{**row, **{f"feature_{at}": at * n % 7 for at in range(SLOTS)}} for n, row in enumerate(rows)]
    assert (clicks(log) == TRUTH).all()
