"""The small worlds of the exact tests: ragged, with ties, seen in full or from the top only."""

from __future__ import annotations

from functools import cache

from offrank_testing.exact import World
from offrank_testing.laws import Situation
from tests.exact.users import cascade_clicks, item_position_clicks, position_based_clicks, whole_slate_clicks

EXAMINATION = (1.0, 0.6, 0.45, 0.3)
RELEVANCE = (
    (0.9, 0.2, 0.5, 0.7, 0.35),
    (0.1, 0.8, 0.4, 0.3, 0.6),
    (0.3, 0.9, 0.05, 0.5, 0.2),
    (0.6, 0.25, 0.7, 0.1, 0.4),
)
OLD = ((3.0, 1.0, 1.0, 0.5, 2.0), (0.2, 1.5, 0.4, 0.4, 0.7), (1.0, 2.0, 4.0, 3.0, 0.1), (0.5, 0.5, 1.0, 1.0, 1.0))
NEW = ((0.1, 0.9, 0.9, 2.0, 0.4), (1.0, 0.5, 2.5, 0.1, 0.3), (2.0, 2.0, 1.0, 0.3, 0.7), (0.8, 0.2, 0.3, 0.9, 0.1))
LOGITS = ((0.5, -1.0, 2.0, 0.0, 1.0), (3.0, 3.0, -0.5, 1.0, 0.2), (-2.0, 0.0, 0.3, 0.1, 0.4), (0.0, 1.0, 0.5, 0.2, 2.0))
STOCK = ((1, 1, 1, 0, 1), (1, 1, 1, 1, 0), (1, 1, 1, 0, 1), (1, 1, 1, 0, 1))
ADS = ((0, 2, 0, 0, 0), (1, 0, 0, 0, 0), (0, 0, 0, 0, 0), (0, 2, 0, 0, 0))
BRANDS = ((1, 2, 3, 2, 1), (1, 2, 3, 4, 4), (7, 8, 9, 7, 7), (5, 6, 5, 6, 6))
WRITTEN = ((2, 0, 3, 1, 4), (1, 3, 0, 2, 4), (2, 1, 0, 3, 4), (0, 1, 2, 3, 4))

#: (candidates, slots) of each situation
SHAPES = {"full": ((3, 3), (4, 4), (1, 1), (2, 2)), "top": ((4, 2), (5, 3), (3, 3), (2, 1))}
USERS = {
    "position": position_based_clicks(RELEVANCE, EXAMINATION),
    "item": item_position_clicks(RELEVANCE),
    "cascade": cascade_clicks(RELEVANCE),
    "slate": whole_slate_clicks(RELEVANCE),
}


def situation(index: int, size: int, slots: int) -> Situation:
    scores = {"old": OLD, "new": NEW, "logit": LOGITS, "stock": STOCK, "ad": ADS, "brand": BRANDS}
    written = tuple(item for item in WRITTEN[index] if item < size)
    columns = {name: rows[index][:size] for name, rows in scores.items()}
    return Situation(size, slots, columns, {"listed": written}, {"arm": index % 3})


@cache
def world(shape: str, users: str) -> World:
    """The world of a shape (full, top) whose users are position, item, cascade, slate or reward."""
    situations = tuple(situation(index, *sizes) for index, sizes in enumerate(SHAPES[shape]))
    if users != "reward":
        return World(situations, USERS[users])
    clicks = USERS["slate"]
    return World(situations, clicks, lambda index, slate: 5 - sum(clicks(index, slate)) ** 2 * (1 + slate[0]))
