"""A simulated log while it is being written: arrays by column, and what may go wrong with them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .engine import Engine, Floats, Integers, Law, Users

Columns = dict[str, NDArray[np.generic]]


@dataclass
class Draft:
    """A log of one engine. slate: [n, slots] places among the candidates; columns: what is written, a row each."""

    engine: Engine
    users: Users
    query: Integers
    slate: Integers
    columns: Columns
    rng: np.random.Generator

    def keep(self, rows: NDArray[np.generic]) -> None:
        """These rows only (a mask, or numbers of rows)."""
        self.query, self.slate = self.query[rows], self.slate[rows]
        self.columns = {name: column[rows] for name, column in self.columns.items()}

    def scatter(self, values: Floats) -> Floats:
        """[n, candidates] with the values of the shown items in their places, and 0 elsewhere."""
        found = np.zeros((len(self.query), self.engine.candidates))
        np.put_along_axis(found, self.slate, values, axis=1)
        return found

    def table(self) -> pa.Table:
        """What offrank reads."""
        length = self.columns.pop("length", None)
        ragged = ("slate", "clicks") if length is not None else ()
        made = {
            name: _lists(column, length if name in ragged else None) if column.ndim == 2 else pa.array(column)
            for name, column in self.columns.items()
        }
        return pa.table(made)


Step = Callable[[Draft], None]
"""What happens to a log, for better or worse."""


def _lists(values: NDArray[np.generic], length: NDArray[np.generic] | None) -> pa.Array:
    """[n, k] values as a list column, the first `length` of each row."""
    n, width = values.shape
    sizes = np.full(n, width) if length is None else length
    kept = values[np.arange(width) < np.asarray(sizes)[:, None]]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(kept))


# What was shown is not what was drawn --------------------------------------------------------------------------------


def swap(one: int, two: int, share: float = 1.0) -> Step:
    def step(draft: Draft) -> None:
        rows = np.flatnonzero(draft.rng.random(len(draft.slate)) < share)
        draft.slate[np.ix_(rows, [one, two])] = draft.slate[np.ix_(rows, [two, one])]

    return step


def shuffle(draft: Draft) -> None:
    draft.slate = draft.rng.permuted(draft.slate, axis=1)


def turn_over(draft: Draft) -> None:
    draft.slate = draft.slate[:, ::-1].copy()


def pin(share: float) -> Step:
    """The first candidate stands on top; the others move down."""

    def step(draft: Draft) -> None:
        rows = draft.rng.random(len(draft.slate)) < share
        where = np.where(draft.slate == 0, -1.0, np.arange(draft.slate.shape[1]))
        pinned = np.take_along_axis(draft.slate, where.argsort(axis=1), axis=1)
        missing = (pinned[:, 0] != 0)[:, None]
        pushed = np.concatenate([np.zeros((len(pinned), 1), np.int64), pinned[:, :-1]], axis=1)
        draft.slate[rows] = np.where(missing, pushed, pinned)[rows]

    return step


def reload(draft: Draft) -> None:
    """Every second impression is one that was shown before, once more."""
    draft.keep(np.repeat(np.arange(len(draft.query)), 2)[: len(draft.query)])


# What was written is not what was shown or clicked -------------------------------------------------------------------


def propensities(law: Law, factor: float = 1.0) -> Step:
    """Written propensities of a slate and its slots. factor: by which that of the slate is wrong."""

    def step(draft: Draft) -> None:
        prefixes = law.prefixes(draft.engine, draft.query, draft.slate)
        draft.columns["propensity"] = np.minimum(prefixes[:, -1] * factor, 1.0)
        if factor == 1:
            above = np.concatenate([np.ones((len(prefixes), 1)), prefixes[:, :-1]], axis=1)
            draft.columns["slot_propensity"] = prefixes / above

    return step


def of_the_set(draft: Draft) -> None:
    """The propensity as if the order within the slate did not matter."""
    propensities(Law(), float(math.factorial(draft.engine.slots)))(draft)


def mixed_up(draft: Draft) -> None:
    """Propensities joined to the wrong rows."""
    propensities(Law())(draft)
    del draft.columns["slot_propensity"]
    draft.columns["propensity"] = np.roll(draft.columns["propensity"], 1)


def of_two_kinds(draft: Draft) -> None:
    """Propensities that are right on average over the hidden kinds of a query."""
    half, law = draft.engine.queries, Law("insider_score")
    twin = (draft.query + half) % (2 * half)
    both = [law.prefixes(draft.engine, query, draft.slate)[:, -1] for query in (draft.query, twin)]
    draft.columns["propensity"] = (both[0] + both[1]) / 2


def subsample(keep: float) -> Step:
    """Rows without a click are kept with this probability, and it is written."""

    def step(draft: Draft) -> None:
        clicked = np.asarray(draft.columns["clicks"]).any(axis=1)
        draft.columns["inclusion"] = np.where(clicked, 1.0, keep)
        draft.keep(draft.rng.random(len(clicked)) < draft.columns["inclusion"])

    return step


def clicked_only(draft: Draft) -> None:
    """Rows without a click are not kept."""
    draft.keep(np.asarray(draft.columns["clicks"]).any(axis=1))


def one_arm(draft: Draft) -> None:
    """Half of the rows has the propensities of another arm, of a hotter policy."""
    propensities(Law())(draft)
    right = dict(draft.columns)
    propensities(Law(temperature=2.0))(draft)
    other = draft.rng.random(len(draft.query)) < 0.5
    for name in ("propensity", "slot_propensity"):
        mine, theirs = np.asarray(right[name]), np.asarray(draft.columns[name])
        draft.columns[name] = np.where(other[:, None] if mine.ndim == 2 else other, theirs, mine)


def drop(column: str) -> Step:
    def step(draft: Draft) -> None:
        del draft.columns[column]

    return step


def inclusion_twice(draft: Draft) -> None:
    propensities(Law())(draft)
    del draft.columns["slot_propensity"]
    draft.columns["propensity"] = np.asarray(draft.columns["propensity"]) * draft.columns["inclusion"]


def inclusion_inverted(draft: Draft) -> None:
    column = np.asarray(draft.columns["inclusion"])
    draft.columns["inclusion"] = np.where(column == 1, column.min(), 1.0)


def bottom_first(column: str) -> Step:
    def step(draft: Draft) -> None:
        draft.columns[column] = draft.columns[column][:, ::-1]

    return step


def one_rank_late(draft: Draft) -> None:
    clicks = np.asarray(draft.columns["clicks"])
    draft.columns["clicks"] = np.concatenate([np.zeros_like(clicks[:, :1]), clicks[:, :-1]], axis=1)


def double(share: float) -> Step:
    """The first rows are written once more."""

    def step(draft: Draft) -> None:
        n = len(draft.query)
        draft.keep(np.concatenate([np.arange(n), np.arange(int(share * n))]))

    return step


def bots(share: float) -> Step:
    """In so many rows everything is clicked."""

    def step(draft: Draft) -> None:
        rows = draft.rng.random(len(draft.query)) < share
        draft.columns["clicks"] = np.where(rows[:, None], 1.0, draft.columns["clicks"])

    return step


def reward(factor: float, noise: float = 0.0) -> Step:
    """A column of what the slate earned: the clicks in another unit, with noise."""

    def step(draft: Draft) -> None:
        clicks = np.asarray(draft.columns["clicks"]).sum(axis=1)
        draft.columns["reward"] = factor * clicks + noise * draft.rng.normal(size=len(clicks))

    return step


def prices(draft: Draft) -> None:
    """Clicks earn unlike much, 1 on average."""
    clicks = np.asarray(draft.columns["clicks"])
    draft.columns["clicks"] = clicks * draft.rng.gamma(2.0, 0.5, size=clicks.shape)


def leak(draft: Draft) -> None:
    """The new ranker's score knows what was clicked."""
    found = np.asarray(draft.columns["near_score"])
    draft.columns["near_score"] = found * np.exp(draft.scatter(np.asarray(draft.columns["clicks"])))


def shown_only(draft: Draft) -> None:
    """Candidates that were not shown are not in the log."""
    del draft.columns["candidates"]
    for name in [name for name in draft.columns if name.endswith("_score")]:
        draft.columns[name] = np.take_along_axis(draft.columns[name], draft.slate, axis=1)


def cut(draft: Draft) -> None:
    """Slates of unlike lengths."""
    chances = draft.engine.lengths
    draft.columns["length"] = draft.rng.choice(np.arange(1, len(chances) + 1), len(draft.query), p=chances)


def tell_query(draft: Draft) -> None:
    draft.columns["query"] = draft.query
