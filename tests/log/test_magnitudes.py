"""Numbers of any magnitude, in every numeric role, through every verb: refused or computed; never inf or nan."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank

ROWS, ITEMS, ODD = 120, 3, 41
VALUES = (1e150, -1e200, 1e308, math.inf, math.nan, -0.0)
ROLES = ("clicks", "reward", "propensity", "inclusion", "slot_propensity", "score", "features", "rank_propensity")

Columns = dict[str, Any]


def _columns() -> Columns:
    """Uniform slates with a column for each numeric role."""
    rng = np.random.default_rng(3)
    slates = np.array([rng.permutation(ITEMS) for _ in range(ROWS)])
    slots = [[1 / 3, 1 / 2, 1.0]] * ROWS
    return {
        "query": rng.integers(0, 12, ROWS).astype(str).tolist(),
        "slate": slates.tolist(),
        "candidates": [list(range(ITEMS))] * ROWS,
        "clicks": rng.integers(0, 2, slates.shape).astype(float).tolist(),
        "reward": rng.integers(0, 3, ROWS).astype(float).tolist(),
        "propensity": [1 / 6] * ROWS,
        "inclusion": [0.5] * ROWS,
        "slot_propensity": slots,
        "rank_propensity": [[[1 / 3] * ITEMS] * ITEMS] * ROWS,
        "score": rng.random((ROWS, ITEMS)).tolist(),
        "features": rng.random((ROWS, ITEMS, 2)).tolist(),
    }


def _with(role: str, value: float) -> pa.Table:
    columns = _columns()
    found = columns[role] = [*columns[role]]
    found[ODD] = _put(found[ODD], value)
    return pa.table(columns)


def _put(held: Any, value: float) -> Any:
    """The same value, or lists, with another first number."""
    return [_put(held[0], value), *held[1:]] if isinstance(held, list) else value


def _evaluate(log: pa.Table, _folder: Path) -> str:
    asked = ["ips", "snips", "ipm", "pbm"]
    found = offrank.evaluate(log, "top(score)", estimators=asked, examination=[1.0, 0.5, 0.3], cluster="query")
    return found.to_json()


def _weighted(log: pa.Table, _folder: Path) -> str:
    return offrank.evaluate(log, "plackett_luce(score)", estimators=["ips", "snips", "dr(mean)"]).to_json()


def _check(log: pa.Table, _folder: Path) -> str:
    return offrank.check(log, "top(score)").to_json()


def _inspect(log: pa.Table, _folder: Path) -> str:
    return offrank.inspect(log).to_json()


def _measure(log: pa.Table, _folder: Path) -> str:
    return offrank.measure(log, "score", logging="uniform").to_json()


def _fit(log: pa.Table, folder: Path) -> str:
    return offrank.fit_clicks(log, "pbm", folder / "model.json").to_json()


def _learn(log: pa.Table, folder: Path) -> str:
    return offrank.learn(log, "poem", folder / "policy.npz", bits=6, epochs=1).to_json()


VERBS: tuple[Callable[[pa.Table, Path], str], ...] = (_evaluate, _weighted, _check, _inspect, _measure, _fit, _learn)


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _numbers(one)
    elif isinstance(value, float):
        yield value


@pytest.mark.turns(3)
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("verb", VERBS, ids=lambda one: one.__name__[1:])
@pytest.mark.parametrize("role", ROLES)
def test_no_magnitude_becomes_an_infinite_number(role: str, verb: Callable[..., str], tmp_path: Path) -> None:
    for value in VALUES:
        try:
            text = verb(_with(role, value), tmp_path)
        except offrank.OffrankError:
            continue
        assert "NaN" not in text
        assert all(map(math.isfinite, _numbers(json.loads(text))))
