"""Users whose clicks can be enumerated in plain Python, and logs of theirs."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from offrank.clicks.laws import Cascading, ClickLaw
from offrank.log.batch import Contexts, Integers
from offrank.log.source import Needs


@dataclass(frozen=True)
class Reader:
    """Reads from the top; clicks item i with probability attraction[i]; goes on with `on` after a click, else always.

    An item that is not in the table attracts nobody.
    """

    attraction: tuple[float, ...]
    on: float = 0.5

    def needs(self) -> Needs:
        return Needs()

    def law(self, contexts: Contexts, slates: Integers) -> ClickLaw:
        items = np.take_along_axis(contexts.candidates, np.maximum(slates, 0), axis=1)
        a = np.where(slates >= 0, np.array(self.attraction)[items], 0.0)
        return Cascading(a, np.full(a.shape, self.on), np.ones(a.shape))

    def joint(self, slate: list[int], clicks: tuple[int, ...]) -> float:
        """P(clicks), by summing over whether the user goes on after each click."""
        total = 0.0
        for goes_on in itertools.product([0, 1], repeat=len(slate)):
            chance, reading = 1.0, True
            for item, click, on in zip(slate, clicks, goes_on, strict=True):
                attraction = self.attraction[item] if reading else 0.0
                chance *= attraction if click else 1 - attraction
                if not click:  # nothing to decide: count one of the two futures
                    chance *= on
                else:
                    chance *= self.on if on else 1 - self.on
                    reading = reading and bool(on)
            total += chance
        return total

    def share(self, slate: list[int], fixed: dict[int, int]) -> float:
        """P(the clicks at some ranks are as `fixed` says), by enumeration of all clicks."""
        return sum(
            p for clicks, p in _patterns(self, tuple(slate)) if all(clicks[rank] == c for rank, c in fixed.items())
        )


@cache
def _patterns(reader: Reader, slate: tuple[int, ...]) -> list[tuple[tuple[int, ...], float]]:
    return [(clicks, reader.joint(list(slate), clicks)) for clicks in itertools.product([0, 1], repeat=len(slate))]


SLATES = [[0, 1, 2], [2, 0], [1, 2, 0], [1], [2, 1, 0], [0, 2], [0, 1, 2], [1, 0]]
CLICKS = [[1, 0, 1], [0, 0], [0, 1, 0], [1], [0, 0, 0], [1, 1], [0, 0, 1], [0, 1]]


def log(slates: list[list[int]] = SLATES, clicks: list[list[int]] = CLICKS, **columns: Any) -> pa.Table:
    """A log of these sessions."""
    return pa.table({"slate": slates, "clicks": clicks, **columns})


def drawn(reader: Reader, rows: int, seed: int = 0) -> tuple[list[list[int]], list[list[int]]]:
    """Sessions of a reader, of one to three ranks."""
    rng = np.random.default_rng(seed)
    slates = [rng.permutation(len(reader.attraction))[: rng.integers(1, 4)].tolist() for _ in range(rows)]
    clicks = []
    for slate in slates:
        patterns, chances = zip(*_patterns(reader, tuple(slate)), strict=True)
        clicks.append(list(patterns[rng.choice(len(patterns), p=chances)]))
    return slates, clicks
