"""Worlds whose rewards add up over items and slots, or do not."""

from __future__ import annotations

from functools import cache

from offrank_testing.exact import Reward, World
from offrank_testing.laws import Slate
from tests.exact.worlds import RELEVANCE, SHAPES, USERS, situation


def additive(index: int, slate: Slate) -> float:
    """A sum over slots of any table of item and slot, some of it negative."""
    return sum(RELEVANCE[index][item] ** (1 + slot * (1 + item % 2)) - 0.1 * slot for slot, item in enumerate(slate))


def together(index: int, slate: Slate) -> float:
    """Items earn more beside others that earn: no sum over slots."""
    first, last = slate[0], slate[-1]
    return additive(index, slate) + RELEVANCE[index][first] * RELEVANCE[index][last] * (1 + 3 * (first < last))


@cache
def world(shape: str, reward: Reward = additive) -> World:
    """The worlds of the exact tests, where only the reward of the whole slate is looked at."""
    situations = tuple(situation(index, *sizes) for index, sizes in enumerate(SHAPES[shape]))
    return World(situations, USERS["slate"], reward)
