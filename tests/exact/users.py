"""Expected clicks of simple users, one for each assumption of the estimators."""

from __future__ import annotations

import math
from collections.abc import Sequence

from offrank_testing.exact import Clicks
from offrank_testing.laws import Slate

Table = Sequence[Sequence[float]]


def position_based_clicks(relevance: Table, examination: Sequence[float]) -> Clicks:
    """Clicks are relevance[context][item] * examination[slot]."""

    def clicks(context: int, slate: Slate) -> list[float]:
        return [relevance[context][item] * examination[slot] for slot, item in enumerate(slate)]

    return clicks


def item_position_clicks(relevance: Table) -> Clicks:
    """Clicks depend on item and slot but no other item; here they are not a product of the two."""

    def clicks(context: int, slate: Slate) -> list[float]:
        return [relevance[context][item] ** (1 + slot * (1 + item % 2)) for slot, item in enumerate(slate)]

    return clicks


def cascade_clicks(relevance: Table) -> Clicks:
    """A user reads from the top and tires of each item by its relevance."""

    def clicks(context: int, slate: Slate) -> list[float]:
        chances = [relevance[context][item] for item in slate]
        return [p * math.prod(1 - 0.7 * q for q in chances[:slot]) for slot, p in enumerate(chances)]

    return clicks


def whole_slate_clicks(relevance: Table) -> Clicks:
    """Every click depends on all shown items, below and above: only whole-slate weights are correct."""

    def clicks(context: int, slate: Slate) -> list[float]:
        chances = [relevance[context][item] for item in slate]
        mood = math.fsum((slot + 1) * p for slot, p in enumerate(chances))
        return [p / (slot + 1) / (1 + mood) for slot, p in enumerate(chances)]

    return clicks
