"""Small logs for the verbs: good ones, and the parts to break them with."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from offrank import PlackettLuce, Top
from offrank.simulation import SearchWorld

LOGGING = PlackettLuce("old_score")
TARGET = Top("new_score")
WORLD = SearchWorld(impressions=4_000, queries=40, candidates=4, slots=3, seed=5)
CURVE = [1.0, 0.5, 1 / 3]
ALL = [
    "ips",
    "snips",
    "clip(snips, 20)",
    "rips",
    "snrips",
    "ipm",
    "snipm",
    "interpol(window=1)",
    "sninterpol(window=1, form=windowed)",
    "pbm",
    "logged",
]


@cache
def search() -> pa.Table:
    """A good log of Plackett-Luce slates: `WORLD.truth` knows what policies earn."""
    return WORLD.table(WORLD.impressions, 0)


def replaced(table: pa.Table, **columns: Any) -> pa.Table:
    """The table with columns replaced, added, or, where None, left out."""
    for name, values in columns.items():
        if name in table.column_names:
            table = table.drop_columns([name])
        if values is not None:
            table = table.append_column(name, pa.array(values))
    return table


def coins(rows: int, seed: int = 0, **columns: Any) -> pa.Table:
    """One of the items 0 and 1 is shown, by the toss of a fair coin; item 1 earns more clicks.

    `best` is a ranking that shows item 1.
    """
    rng = np.random.default_rng(seed)
    item = rng.integers(0, 2, rows)
    clicks = (rng.random(rows) < 0.2 + 0.3 * item).astype(np.int64)
    made = pa.table(
        {
            "slate": pa.array(item[:, None].tolist()),
            "clicks": pa.array(clicks[:, None].tolist()),
            "candidates": pa.array([[0, 1]] * rows),
            "best": pa.array([[1]] * rows),
            "propensity": pa.array(np.full(rows, 0.5)),
        }
    )
    return replaced(made, **columns)


def dice(rows: int, seed: int = 0, sides: int = 6, slots: int = 2, loaded: float = 1.0) -> pa.Table:
    """The same candidates in every row, drawn by Plackett-Luce with weights 1, 2, 3, ...; `score` says so.

    loaded: item 2 is drawn with this times its weight, which the log does not know.
    """
    rng = np.random.default_rng(seed)
    score = np.arange(1.0, sides + 1)
    truly = score * np.where(np.arange(sides) == 2, loaded, 1.0)
    race = np.log(truly) + rng.gumbel(size=(rows, sides))
    slates = np.argsort(-race, axis=1)[:, :slots]
    clicks = rng.random(slates.shape) < 0.3
    left = score.sum() - np.cumsum(score[slates], axis=1) + score[slates]
    return pa.table(
        {
            "slate": pa.array((slates * 10).tolist()),
            "clicks": pa.array(clicks.astype(int).tolist()),
            "candidates": pa.array([list(range(0, 10 * sides, 10))] * rows),
            "score": pa.array([score.tolist()] * rows),
            "propensity": pa.array((score[slates] / left).prod(axis=1)),
        }
    )
