"""A small log of pages with features, scores, predictions and rewards, and the truth about its targets."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

QUERIES, CANDIDATES, SLOTS, FEATURES = 24, 4, 2, 3
ROWS = 600
BY_SLOT = np.array([[1.0, 0.5, -0.3], [0.4, 0.6, 0.1]])
"""What a unit of each feature earns in each slot."""


@cache
def log(seed: int = 0) -> tuple[pa.Table, float]:
    """The log of uniform slates, and what top(new) earns in its queries per impression."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(QUERIES, CANDIDATES, FEATURES))
    new = features @ [1.0, 0.6, 0.0]
    query = rng.integers(0, QUERIES, ROWS)
    slates = np.argsort(rng.random((ROWS, CANDIDATES)), axis=1)[:, :SLOTS]
    rewards = 2 + _earned(features[query], slates) + 0.3 * rng.normal(size=ROWS)
    best = np.argsort(-new, axis=1)[:, :SLOTS]
    truth = 2 + _earned(features, best)[query].mean()
    ids = 100 * query[:, None] + np.arange(CANDIDATES)
    columns: dict[str, Any] = {
        "query": query,
        "slate": np.take_along_axis(ids, slates, axis=1).tolist(),
        "candidates": ids.tolist(),
        "features": [[list(range(FEATURES))] * CANDIDATES] * ROWS,
        "feature_values": features[query].tolist(),
        "new": new[query].tolist(),
        "pred": (1 + features[query] @ [0.7, 0.5, 0.0]).tolist(),
        "reward": rewards,
    }
    columns |= {f"f{number}": features[query][:, :, number].tolist() for number in range(FEATURES)}
    return pa.table(columns), float(truth)


def _earned(features: Any, slates: Any) -> Any:
    shown = np.take_along_axis(features, slates[:, :, None], axis=1)
    return np.einsum("nkd,kd->n", shown, BY_SLOT) + 0.5 * shown[:, 0, 0] * shown[:, 1, 1]


def changed(**columns: Any) -> pa.Table:
    """The log with other columns."""
    table = log()[0]
    for name, values in columns.items():
        table = table.drop_columns(name) if name in table.schema.names else table
        table = table if values is None else table.append_column(name, pa.array(values))
    return table
