"""The metrics of models on clicks once more, from their definitions over enumerated laws: slow and independent."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import permutations

from offrank_testing.exact import World
from offrank_testing.laws import Behaviour, Law, Slate, law

Compare = Callable[[float, float], float]
"""(score of the clicked item, score of the other one) -> cost."""


def disagreement(clicked: float, other: float) -> float:
    return 1.0 if other > clicked else 0.5 if other == clicked else 0.0


def logistic(clicked: float, other: float) -> float:
    return math.log(1 + math.exp(other - clicked))


def hinge(clicked: float, other: float) -> float:
    return max(0.0, 1 + other - clicked)


def reordered(found: Law, slate: Slate) -> dict[Slate, float]:
    """The law of the order, given the items of a slate."""
    orders = {order: found.get(order, 0.0) for order in permutations(slate)}
    total = sum(orders.values())
    return {order: chance / total for order, chance in orders.items()}


def shuffled(found: Law, slate: Slate) -> dict[Slate, float]:
    return dict.fromkeys(permutations(slate), 1 / math.factorial(len(slate)))


def redrawn(found: Law, slate: Slate) -> Law:
    return found


def algorithm_2(
    world: World, logging: Behaviour, model: str, again: Callable[[Law, Slate], Law], compare: Compare
) -> tuple[float, float]:
    """Expected cost of a comparison that is not rejected, and the share of clicks that is rejected.

    A slate is shown and clicked; a second one is drawn by `again`; what it shows at the rank of the click is
    compared with the clicked item, and rejected if it is the same.
    """
    cost = kept = clicked = 0.0
    for index, situation in enumerate(world.situations):
        scores, found = situation.scores[model], law(logging, situation)
        for slate, shown in found.items():
            for second, drawn in again(found, slate).items():
                for rank, click in enumerate(world.clicks(index, slate)):
                    clicked += shown * drawn * click
                    if second[rank] != slate[rank]:
                        kept += shown * drawn * click
                        cost += shown * drawn * click * compare(scores[slate[rank]], scores[second[rank]])
    return cost / kept, 1 - kept / clicked
