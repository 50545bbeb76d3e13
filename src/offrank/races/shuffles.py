"""Blocks of ranks within which a sorted list is shuffled: how they are drawn, and the laws that follow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..errors import UsageError
from .grid import Integers
from .keys import Floats

SHUFFLES = ("blocks", "top", "fair_pairs", "window")


class Partition(NamedTuple):
    """A partition of ranks into blocks, with the probability that it is drawn.

    share: [n]. start, width: [n, k] the block of each rank; a rank beyond a row's slots is alone.
    """

    share: Floats
    start: Integers
    width: Integers


def refuse_other_shuffles(said: object, block: object, method: object) -> None:
    """Refuse blocks of less than two ranks, and unknown methods. said: the policy, as it is named in the error.

    Raises:
        UsageError: see above.
    """
    if type(block) is not int or block < 2:
        raise UsageError(f"{said}: block is {block!r}", "give the number of ranks in a block, at least 2")
    if method not in SHUFFLES:
        raise UsageError(f"{said}: unknown method {method!r}", f"give one of {', '.join(SHUFFLES)}")


def partitions(method: str, block: int, length: Integers, slots: int) -> Iterator[Partition]:
    """The partitions of which one is drawn, with shares that add up to 1 in every row. length: [n] slots of each."""
    rank = np.arange(slots)
    count = {"fair_pairs": block, "window": max(slots - block + 1, 1)}.get(method, 1)
    for place in range(count):
        start, end = _block(method, block, place, rank)
        end = np.minimum(end, length[:, None])
        alone = (rank >= length[:, None]) | (end - start < 2)
        share = _share(method, block, place, length)
        yield Partition(share, np.where(alone, rank, start), np.where(alone, 1, end - start))


def shuffled(parts: Iterator[Partition], slates: Integers, rng: np.random.Generator) -> Integers:
    """Sorted slates [n, k] with their order drawn uniformly within the blocks of a partition that is drawn first."""
    n = len(slates)
    above = rng.random(n)
    start, share = np.empty(slates.shape, np.int64), np.zeros(n)
    for part in parts:
        chosen = (share <= above) & (part.share > 0)  # the last partition that begins below the number
        start[chosen] = part.start[chosen]
        share += part.share
    order = np.lexsort((rng.random(slates.shape), start), axis=1)
    return np.take_along_axis(slates, order, axis=1)


def moved(part: Partition) -> Floats:
    """[n, k, k] P(an item at rank r of the sorted slate is shown at rank j)."""
    return np.asarray((part.start[:, :, None] == part.start[:, None, :]) / part.width[:, None, :])


def shuffled_slots(first: Any, width: Any, slates: Any, start: Any, within: Any, out: Any) -> None:
    """out [n, k] <- P(each slot's item given the slots above), of a sorted slate shuffled in blocks; not on pads.

    first, width: [n, k] the ranks of each slot's item in the sorted slate, shared by those it ties with; first is -1
    where it is not shown. start, within: [n, k] the block of each slot. A slot is filled by the tied items that its
    block took, of which any is as likely. Plain loops: policies compile them.
    """
    n, k = slates.shape
    for row in range(n):
        for slot in range(k):
            if slates[row, slot] < 0:
                continue
            low, high = first[row, slot], first[row, slot] + width[row, slot]
            begin, end = start[row, slot], start[row, slot] + within[row, slot]
            taken, left = min(high, end) - max(low, begin), width[row, slot]
            for above in range(slot):
                if slates[row, above] >= 0 and first[row, above] == low:
                    left -= 1
                    taken -= above >= begin
            out[row, slot] = taken / ((end - slot) * left) if low >= 0 and taken > 0 and left > 0 else 0.0


def _block(method: str, block: int, place: int, rank: Integers) -> tuple[Integers, Integers]:
    """[k] first rank of each rank's block, and the first rank below it."""
    if method in ("top", "window"):
        inside = (rank >= place) & (rank < place + block)
        return np.where(inside, place, rank), np.where(inside, place + block, rank + 1)
    start = place + (rank - place) // block * block
    return np.maximum(start, 0), start + block


def _share(method: str, block: int, place: int, length: Integers) -> Floats:
    """[n] probability of the partition of this number."""
    if method == "fair_pairs":
        return np.full(len(length), 1 / block)
    places = np.maximum(length - block + 1, 1) if method == "window" else np.ones_like(length)
    return np.asarray((place < places) / places)
