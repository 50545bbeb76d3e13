"""Logs that were drawn in known ways, or not drawn: 40 queries of six documents each, of which three are shown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from tests.verbs.logs import replaced

ITEMS, SLOTS, QUERIES = 6, 3, 40

RNG = np.random.Generator


def log(kind: str, rows: int = 2000, seed: int = 0, *, tail: bool = False, correlation: float = 0.2) -> pa.Table:
    """A log. kind: who made it; tail: whether most queries come once.

    uniform, plackett_luce, sharp (its temperature is 0.5), greedy: drawn by `old`; written: the same with propensities
    and without the score. fixed: a list for each query by a hidden score, with which `stars` has this correlation;
    hidden: drawn by that score; arms: the best by `old` or by `new`, told by `arm`.
    """
    rng = np.random.default_rng(seed)
    query = rng.zipf(1.6, rows) % 100_000 if tail else rng.integers(0, QUERIES, rows)
    _, query = np.unique(query, return_inverse=True)
    merit = rng.normal(size=(query.max() + 1, ITEMS))
    old, new = (np.exp(0.7 * merit + scale * rng.normal(size=merit.shape)) for scale in (0.7, 0.5))
    stars = np.round(np.clip(3 + correlation * merit + rng.normal(size=merit.shape), 1, 5))
    noise, arm = rng.gumbel(size=(rows, ITEMS)), rng.integers(0, 2, rows)
    heights = {
        "uniform": lambda: noise,
        "plackett_luce": lambda: np.log(old)[query] + noise,
        "written": lambda: np.log(old)[query] + noise,
        "sharp": lambda: np.log(old)[query] / 0.5 + noise,
        "greedy": lambda: np.where(rng.random((rows, 1)) < 0.3, noise, old[query]),
        "fixed": lambda: merit[query],
        "hidden": lambda: 1.5 * merit[query] + noise,
        "arms": lambda: np.where(arm[:, None] == 0, old[query], new[query]),
    }[kind]()
    return table(query, heights, merit, rng, old=old, new=new, stars=stars, arm=np.array(["A", "B"])[arm], kind=kind)


def table(
    query: Any, heights: Any, merit: Any, rng: RNG, *, old: Any, new: Any, stars: Any, arm: Any, kind: str
) -> Any:
    """The log of these heights, with clicks of a position-based user."""
    order = np.argsort(-heights, axis=1)
    slate = order[:, :SLOTS]
    clicks = rng.random(slate.shape) < 0.7 / (1 + np.exp(-np.take_along_axis(merit[query], slate, axis=1))) / (
        1 + np.arange(SLOTS)
    )
    items = query[:, None] * ITEMS + np.arange(ITEMS)
    found = pa.table(
        {
            "query": query,
            "slate": np.take_along_axis(items, slate, axis=1).tolist(),
            "candidates": items.tolist(),
            "clicks": clicks.astype(int).tolist(),
            "stars": stars[query].tolist(),
        }
    )
    if kind in ("plackett_luce", "sharp", "greedy", "arms"):
        found = replaced(found, old=old[query].tolist(), new=new[query].tolist())
    if kind == "arms":
        found = replaced(found, arm=arm.tolist())
    if kind == "written":
        weight = np.take_along_axis(old[query], order, axis=1)
        found = replaced(found, propensity=(weight / weight[:, ::-1].cumsum(axis=1)[:, ::-1])[:, :SLOTS].prod(axis=1))
    return found


def shuffled(found: pa.Table, seed: int = 1) -> pa.Table:
    return found.take(np.random.default_rng(seed).permutation(found.num_rows))


def with_retries(found: pa.Table, share: float) -> pa.Table:
    """The log with some rows written again, unchanged."""
    rows = found.num_rows
    again = np.random.default_rng(1).choice(rows, int(share * rows), replace=False)
    return found.take(np.sort(np.concatenate([np.arange(rows), again])))


def named(found: pa.Table) -> pa.Table:
    """The log with texts for ids."""
    texts = {
        name: [[f"doc {item}" for item in row] for row in found[name].to_pylist()] for name in ("slate", "candidates")
    }
    return replaced(found, **texts)


def booked(found: pa.Table) -> pa.Table:
    """The log with what follows a click: bookings, what they cost, and the seconds spent."""
    rng, rows = np.random.default_rng(2), found.num_rows
    clicks = np.array(found["clicks"].to_pylist())
    place = np.array(found["slate"].to_pylist()) % ITEMS
    clicked, bookings = np.zeros((rows, ITEMS)), np.zeros((rows, ITEMS))
    np.put_along_axis(clicked, place, clicks, axis=1)
    np.put_along_axis(bookings, place, clicks * (rng.random(clicks.shape) < 0.5), axis=1)
    return replaced(
        found,
        booking_bool=bookings.astype(int).tolist(),
        x17=(bookings * rng.lognormal(4, 1, bookings.shape)).tolist(),
        dwell=(clicked * rng.lognormal(3, 1, bookings.shape)).tolist(),
    )
