"""The logs that every question is asked of: small, ragged, with ties, and with every column that anything reads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from offrank.policies import policy
from offrank_testing.laws import Situation, enumerated_rank_probs, enumerated_slot_probs, law
from tests.metamorphic.changes import LogTable

ROWS = 250
ALL = ((4, 4), (3, 3), (2, 2), (1, 1))
#: (candidates, slots) of the contexts: more candidates than any slate has items; as many as the longest slate has, of
#: which some rows show a part; all are shown; the same, and the candidates are not written; one item is shown; so many
#: slates are possible that some are drawn
SHAPES = {
    "partial": ((5, 3), (4, 2), (3, 3), (6, 1), (4, 3)),
    "ragged": ((4, 4), (3, 3), (4, 2), (3, 1), (1, 1)),
    "full": ALL,
    "slates": ALL,
    "single": ((4, 1), (3, 1), (5, 1)),
    "long": ((6, 4), (4, 2)),
}
CONTEXTS = 10
FEATURES = 16
BESIDE = ("old", "new", "tied", "ad", "features", "feature_values", "grades")


@dataclass(frozen=True)
class Context:
    """What is the same in every impression of a query."""

    items: tuple[int, ...]
    situation: Situation
    features: list[list[int]]
    values: list[list[float]]
    grades: list[int]
    relevance: tuple[float, ...]


def _context(rng: np.random.Generator, size: int, slots: int) -> Context:
    scores = {
        "old": tuple(rng.choice([0.25, 0.5, 1.0, 2.0, 4.0, 3.0, 1.5], size, replace=False).tolist()),
        "new": tuple(rng.choice([0.2, 0.3, 0.6, 1.1, 2.5, 3.5], size, replace=False).tolist()),
        "tied": tuple(rng.choice([1.0, 2.0], size).tolist()),
    }
    return Context(
        tuple((100 + rng.choice(12, size, replace=False)).tolist()),
        Situation(size, slots, scores, {}),
        [sorted(rng.choice(FEATURES, 3, replace=False).tolist()) for _ in range(size)],
        [np.round(rng.uniform(0.5, 2.0, 3), 2).tolist() for _ in range(size)],
        rng.integers(0, 5, size).tolist(),
        tuple(rng.uniform(0.1, 0.8, size).tolist()),
    )


@cache
def log(shape: str) -> LogTable:
    """A log drawn by plackett_luce(old), every fourth impression without a click left out at random.

    The candidates come in any order, the shown ones anywhere; where there are none, scores stand beside the slates.
    `single` has clicks only.
    """
    rng = np.random.default_rng(11)
    contexts = [_context(rng, *SHAPES[shape][index % len(SHAPES[shape])]) for index in range(CONTEXTS)]
    laws = [law(policy("plackett_luce(old)"), context.situation) for context in contexts]
    rows = [_row(rng, query, contexts[query], laws[query]) for query in rng.integers(0, CONTEXTS, ROWS).tolist()]
    if shape == "slates":
        rows = [_beside_the_slate(row) for row in rows]
    table = pa.Table.from_pylist(rows)
    return LogTable(table.drop_columns("reward") if shape == "single" else table, BESIDE, ("written",))


def _row(rng: np.random.Generator, query: int, context: Context, found: Any) -> dict[str, Any]:
    slates = list(found)
    slate = slates[rng.choice(len(slates), p=np.array(list(found.values())))]
    looks = 0.8 ** np.arange(len(slate))
    clicks = (rng.random(len(slate)) < looks * np.array([context.relevance[item] for item in slate])).astype(int)
    order = rng.permutation(context.situation.size)
    scores = {name: [values[item] for item in order] for name, values in context.situation.scores.items()}
    ranks = [enumerated_rank_probs(found, item, len(slate)) for item in slate]
    return {
        "query": query,
        "session": int(rng.integers(0, 60)),
        "device": ["phone", "desk"][query % 2],
        "slate": [context.items[item] for item in slate],
        "candidates": [context.items[item] for item in order],
        "clicks": clicks.tolist(),
        "reward": round(float(clicks.sum() * 2 + rng.uniform(0, 1)), 3),
        "trained": clicks.tolist(),
        "propensity": found[slate],
        "slot_propensity": enumerated_slot_probs(found, slate),
        "rank_propensity": ranks,
        "inclusion": 1.0 if clicks.any() else 0.75,
        "features": [context.features[item] for item in order],
        "feature_values": [context.values[item] for item in order],
        "ad": [2.0 * (value == max(scores["old"])) for value in scores["old"]],
        "grades": [context.grades[item] for item in order],
        "written": [context.items[item] for item in np.random.default_rng(query).permutation(len(context.items))],
        **scores,
    }


def _beside_the_slate(row: dict[str, Any]) -> dict[str, Any]:
    """The row without candidates: all are shown, and what stood beside them stands beside the slate."""
    places = [row["candidates"].index(item) for item in row["slate"]]
    moved = {name: [row[name][place] for place in places] for name in BESIDE}
    return {name: value for name, value in (row | moved).items() if name != "candidates"}
