"""Simulated logs to measure on: Arrow tables, and small worlds whose slates are enumerated and whose truth is known."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def lists(values: NDArray[np.generic]) -> pa.Array:
    """[n, k] numbers as a list column whose lists and values cannot be null."""
    n, width = values.shape
    inner = pa.array(np.ascontiguousarray(values).ravel())
    offsets = pa.array(np.arange(0, n * width + 1, width, dtype=np.int32))
    return pa.ListArray.from_arrays(offsets, inner, type=pa.list_(pa.field("item", inner.type, nullable=False)))


def squares(values: NDArray[np.generic]) -> pa.Array:
    """[n, k, k] numbers as a column of lists of lists."""
    n, width, _ = values.shape
    inner = lists(values.reshape(n * width, width))
    offsets = pa.array(np.arange(0, n * width + 1, width, dtype=np.int32))
    return pa.ListArray.from_arrays(offsets, inner, type=pa.list_(pa.field("item", inner.type, nullable=False)))


def table(columns: dict[str, pa.Array]) -> pa.Table:
    """A table of columns that cannot be null."""
    fields = [pa.field(name, column.type, nullable=False) for name, column in columns.items()]
    return pa.table(list(columns.values()), schema=pa.schema(fields))


def draw(scores: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """[n, m] orders drawn by Plackett-Luce with weights `scores`."""
    return np.argsort(rng.exponential(size=scores.shape) / scores, axis=1)


def logged(old: np.ndarray, new: np.ndarray, slots: int, rng: np.random.Generator) -> pa.Table:
    """Slates that the old scores drew, beside all candidates and both scores."""
    slate = draw(old, rng)[:, :slots]
    columns = {"candidates": np.tile(np.arange(old.shape[1]), (len(old), 1)), "old_score": old, "new_score": new}
    columns |= {"slate": slate, "clicks": (rng.random(slate.shape) < 0.2).astype(np.uint8)}
    return table({name: lists(values) for name, values in columns.items()})


def reranked(n: int, slots: int, seed: int = 0, examination: Sequence[float] | None = None) -> pa.Table:
    """A Plackett-Luce log whose candidates are the slate: all items are shown, in random order.

    `old_score` drew the slates and stands beside them, as do `new_score` and position-based clicks.
    """
    rng = np.random.default_rng(seed)
    curve = 1 / np.arange(1, slots + 1) if examination is None else np.asarray(examination)
    merit = rng.normal(size=(n, slots))
    old = np.exp(merit * 0.5)
    new = np.exp(merit * 0.5 + rng.normal(scale=0.3, size=(n, slots)))
    order = draw(old, rng)
    old, new, merit = (np.take_along_axis(a, order, axis=1) for a in (old, new, merit))
    clicks = rng.random((n, slots)) < curve * 0.5 / (1 + np.exp(-merit))
    return table(
        {
            "slate": lists(order),
            "old_score": lists(old),
            "new_score": lists(new),
            "clicks": lists(clicks.astype(np.uint8)),
        }
    )


def swapped(n: int, slots: int, rng: np.random.Generator, stay: float = 0.9, matrices: bool = False) -> pa.Table:
    """A log of a fixed ranking with random swaps, as in paper interpol; position-based clicks 1 / rank.

    `base` is the ranking before the swaps and `new` another system's, `base_score` and `new_score` are
    scores that sort alike. With `matrices`, a `rank_propensity` column replaces the base ranking.
    """
    items = np.arange(slots)
    first = rng.integers(0, 2**20, size=(n, 1))
    uniform = rng.random(n) < (1 - stay) * slots / (slots - 1)
    slate = np.where(uniform[:, None], np.argsort(rng.random((n, slots)), axis=1), items)
    merit = -items + rng.normal(scale=1.5, size=(n, slots))
    new = np.argsort(-merit, axis=1)
    chance = 0.3 * np.exp(0.1 * np.take_along_axis(merit, slate, axis=1)) / np.arange(1, slots + 1)
    columns = {
        "slate": lists((slate + first).astype(np.int64)),
        "clicks": lists((rng.random((n, slots)) < chance).astype(np.uint8)),
        "new": lists((new + first).astype(np.int64)),
        "new_score": lists(np.take_along_axis(merit, slate, axis=1).astype(np.float32)),
    }
    if matrices:
        law = np.where(slate[:, :, None] == items, stay, (1 - stay) / (slots - 1)).astype(np.float32)
        return table(columns | {"rank_propensity": squares(law)})
    base = np.broadcast_to(items, (n, slots)) + first
    return table(columns | {"base": lists(base.astype(np.int64)), "base_score": lists((-slate).astype(np.float32))})


def matrix(log: pa.Table, name: str) -> np.ndarray:
    """[n, k] a list column, without copying."""
    column = log.column(name).combine_chunks()
    return column.flatten().to_numpy().reshape(len(column), -1)


def narrow(log: pa.Table) -> pa.Table:
    """The same log with numbers of fewer bytes."""
    kinds = {"old_score": np.float32, "new_score": np.float32, "clicks": np.uint8}
    return table({name: lists(matrix(log, name).astype(kinds.get(name, np.int32))) for name in log.column_names})


def scaled(log: pa.Table, factor: float) -> pa.Table:
    """The same log with its scores multiplied, which changes no probability."""
    scores = {name: lists(matrix(log, name) * np.float32(factor)) for name in ("old_score", "new_score")}
    return table({name: log.column(name).combine_chunks() for name in log.column_names} | scores)


# Weights and clicks of a log are drawn at once ------------------------------------------------------------------------

CONTEXTS, ITEMS = 30, 6
TARGETS = ("uniform", "new", "sharp", "top")
"""Uniform; a Plackett-Luce ranker of scores of its own; the same of their fourth powers; sorted by them, nearly."""


def law(scores: np.ndarray, slates: np.ndarray) -> np.ndarray:
    """[contexts, slates, k] Plackett-Luce probability of each slot given the slots above."""
    held = scores[:, slates]
    above = np.cumsum(held, axis=2) - held
    return held / (scores.sum(axis=1)[:, None, None] - above)


@dataclass(frozen=True)
class World:
    """Everything that can happen, [s] of contexts and slates.

    chance: under the logging policy. slate: weight of the whole slate. prefix, item: [s, k] weights of clicks of rips
    and ipm. click: [s, k] click probabilities of users of the position-based model. truth: of the target; logged: of
    the logging policy.
    """

    chance: np.ndarray
    slate: np.ndarray
    prefix: np.ndarray
    item: np.ndarray
    click: np.ndarray

    @property
    def truth(self) -> float:
        """What the target earns per impression."""
        return float(self.chance * self.slate @ self.click.sum(axis=1))

    @property
    def logged(self) -> float:
        """What the logging policy earns."""
        return float(self.chance @ self.click.sum(axis=1))

    def effective(self, rows: int) -> float:
        """Effective sample size of the weights of slates, as designed."""
        return rows / float(self.chance @ self.slate**2)

    def hidden(self, rows: int) -> float:
        """Share of the target at weights so large that fewer than five rows with one of them are expected."""
        order = np.argsort(-self.slate)
        size, expected = self.slate[order], rows * np.cumsum(self.chance[order])
        last = np.append(size[1:] < size[:-1] * (1 - 1e-9), True)
        seen = np.flatnonzero(last & (expected >= 5))
        least = size[seen[0]] if len(seen) else -np.inf
        return float((self.chance * self.slate)[self.slate > least * (1 + 1e-9)].sum()) if len(seen) else 1.0

    def draw(self, rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """[rows] what happened, and [rows, k] the clicks."""
        edges = np.cumsum(self.chance)
        drawn = np.minimum(np.searchsorted(edges, rng.random(rows) * edges[-1]), len(edges) - 1)
        return drawn, (rng.random((rows, self.click.shape[1])) < self.click[drawn]).astype(float)


def world(slots: int, scale: float, target: str, seed: int = 5) -> World:
    """The logging ranker's log-scores have this standard deviation (0: uniform), a new ranker's are some .6 off."""
    rng = np.random.default_rng([seed, slots])
    base, apart = rng.normal(size=(2, CONTEXTS, ITEMS))
    old, new = np.exp(scale * base), np.exp(scale * base + 0.6 * apart)
    slates = np.array(list(itertools.permutations(range(ITEMS), slots)))
    drawn = law(old, slates)
    wanted = law(_scores(new, target), slates)
    examination = 1 / np.arange(1, slots + 1)
    relevance = rng.beta(1.5, 4.0, size=(CONTEXTS, ITEMS))
    mine, theirs = wanted.prod(axis=2), drawn.prod(axis=2)
    return World(
        (theirs / CONTEXTS).ravel(),
        (mine / theirs).ravel(),
        np.cumprod(wanted / drawn, axis=2).reshape(-1, slots),
        (_shown(mine, slates) / _shown(theirs, slates)).reshape(-1, slots),
        (relevance[:, slates] * examination).reshape(-1, slots),
    )


def _scores(new: np.ndarray, target: str) -> np.ndarray:
    if target == "top":
        return np.exp(6.0 * np.argsort(np.argsort(new, axis=1), axis=1))
    return {"uniform": np.ones_like(new), "new": new, "sharp": new**4}[target]


def _shown(chance: np.ndarray, slates: np.ndarray) -> np.ndarray:
    """[contexts, slates, k] how probable the item of each slot is there, over all slates."""
    found = np.empty((*chance.shape, slates.shape[1]))
    for rank in range(slates.shape[1]):
        law_here = np.stack([chance[:, slates[:, rank] == item].sum(axis=1) for item in range(ITEMS)], axis=1)
        found[:, :, rank] = law_here[:, slates[:, rank]]
    return found
