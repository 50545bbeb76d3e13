"""By which columns all slates of a log are sorted: one, several in turn, the id; and what sorts every log is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.checks.sort_keys import SortKey, sort_keys
from offrank.log.batch import Contexts
from offrank.log.texts import Texts

N, SIZE, SLOTS = 300, 7, 5
RNG = np.random.default_rng(3)
ITEMS = np.array([RNG.permutation(40)[:SIZE] for _ in range(N)])
PRICE, STARS = RNG.uniform(1, 99, (N, SIZE)), RNG.integers(1, 5, (N, SIZE)).astype(float)
WHOLE = Texts.none()


def keys(order: np.ndarray, scores: dict[str, np.ndarray], texts: Texts | None = None) -> tuple[SortKey, ...]:
    contexts = Contexts(ITEMS, np.full(N, SIZE), np.full(N, SLOTS), scores)
    return sort_keys(contexts, order[:, :SLOTS], texts=texts)


@pytest.mark.parametrize(
    ("sorted_by", "texts", "found"),
    [
        ([PRICE], None, [("price", True)]),
        ([-PRICE], None, [("price", False)]),
        ([-STARS, PRICE], None, [("stars", False), ("price", True)]),
        ([STARS, -PRICE], WHOLE, [("stars", True), ("price", False)]),
        ([STARS, ITEMS], WHOLE, [("stars", True), (None, True)]),
        ([-STARS, -ITEMS], WHOLE, [("stars", False), (None, False)]),
        ([ITEMS], WHOLE, [(None, True)]),
        ([-STARS, ITEMS], None, []),
        ([-STARS, RNG.random((N, SIZE))], WHOLE, []),
        ([RNG.random((N, SIZE))], WHOLE, []),
    ],
)
def test_keys_are_found_in_turn(
    sorted_by: list[np.ndarray], texts: Texts | None, found: list[tuple[str | None, bool]]
) -> None:
    order = np.lexsort(sorted_by[::-1], axis=1)
    assert keys(order, {"price": PRICE, "stars": STARS}, texts) == tuple(SortKey(*one) for one in found)


def test_ids_that_are_texts_are_sorted_as_texts() -> None:
    names = [f"i{code}" for code in range(40)]
    texts = Texts.of(np.arange(40), pa.array(names, pa.large_string()))
    rank = np.argsort(np.argsort(names))
    assert keys(np.argsort(rank[ITEMS], axis=1), {}, texts) == (SortKey(None, True),)
    assert not keys(np.argsort(ITEMS, axis=1), {}, texts)


def test_one_slate_in_another_order_is_enough() -> None:
    order = np.argsort(PRICE, axis=1)
    order[7, [0, 1]] = order[7, [1, 0]]
    assert not keys(order, {"price": PRICE})


SLOT = np.argsort(np.argsort(RNG.random((N, SIZE)), axis=1), axis=1).astype(float)
FOLLOWS = {
    "another position": SLOT + 11,
    "height on the page": 120 * SLOT + RNG.uniform(0, 40, (N, SIZE)),
    "a number of rows": SLOT + SIZE * np.arange(N)[:, None],
    "a time": 2.5 * SLOT + RNG.random((N, SIZE)) + 1e5 * RNG.permutation(N)[:, None],
}


@pytest.mark.parametrize("name", FOLLOWS)
def test_what_follows_the_slots_sorts_nothing(name: str) -> None:
    order = np.argsort(SLOT, axis=1)
    assert not keys(order, {"follows": FOLLOWS[name], "price": PRICE}, WHOLE)


def long_table(order: np.ndarray, **columns: np.ndarray) -> pa.Table:
    row, slot = (one.ravel() for one in np.indices((N, SLOTS)))
    item = order[row, slot]
    held: dict[str, Any] = {name: values[row, item] for name, values in columns.items()}
    ids = [f"h{code:02}" for code in ITEMS[row, item]]
    return pa.table({"search": row, "rank": slot + 1, "hotel": ids, "click": RNG.integers(0, 2, len(row)), **held})


def test_a_list_from_the_cheapest_on_is_not_random() -> None:
    found = offrank.inspect(long_table(np.argsort(PRICE, axis=1), price=PRICE))
    assert (found.logging.policy, found.logging.status) == ("top(price, ascending=True)", "not random")


def test_a_list_in_the_order_of_ids_is_not_random() -> None:
    found = offrank.inspect(long_table(np.argsort(ITEMS, axis=1), stars=STARS))
    assert (found.logging.policy, found.logging.status) == (None, "not random")
    assert found.logging.why.endswith("every slate is sorted by the item id")


def test_a_height_on_the_page_makes_no_log_sorted() -> None:
    found = offrank.inspect(long_table(np.argsort(SLOT, axis=1), y_px=FOLLOWS["height on the page"], price=PRICE))
    assert found.logging.status == "unknown"
