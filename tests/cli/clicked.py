"""A log of a simulated user, for the tests of click models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from offrank.clicks.laws import Cascading
from tests.cli.commands import call

QUERIES, ITEMS = 60, 6


def sessions(rows: int, seed: int, spread: float) -> pa.Table:
    """Plackett-Luce slates by `score`, clicked by a DBN of the grades. spread: how random the slates are."""
    world, rng = np.random.default_rng(7), np.random.default_rng(seed)
    grade = world.integers(0, 5, (QUERIES, ITEMS)).astype(float)
    score = (grade + world.normal(0, 1, grade.shape)) / spread
    query = rng.integers(0, QUERIES, rows)
    slate = np.argsort(-(score[query] + rng.gumbel(size=(rows, ITEMS))), axis=1)
    shown = np.take_along_axis(grade[query], slate, axis=1)
    attraction = 0.1 + 0.9 * (2**shown - 1) / 15
    clicks = Cascading(attraction, 0.8 * (1 - attraction / 2), np.full(shown.shape, 0.8)).sample(rng)
    return pa.table(
        {
            "query": query,
            "slate": slate.tolist(),
            "candidates": [list(range(ITEMS))] * rows,
            "clicks": clicks.astype(int).tolist(),
            "grade": grade[query].tolist(),
            "score": score[query].tolist(),
        }
    )


_MADE: list[Path] = []


def folder_of(factory: pytest.TempPathFactory) -> Path:
    """Logs of two policies, and models that have learnt from another log of the first; made once for all tests."""
    if not _MADE:
        _MADE.append(_filled(factory.mktemp("clicks")))
    return _MADE[0]


def _filled(path: Path) -> Path:
    for name, rows, seed, spread in (("train", 6000, 1, 1.0), ("test", 2000, 2, 1.0), ("other", 2000, 3, 1e9)):
        pq.write_table(sessions(rows, seed, spread), path / f"{name}.parquet")
    for model in ("dbn", "pbm", "gctr"):
        done = call("clicks", "fit", path / "train.parquet", "--model", model, "-o", path / f"{model}.json")
        assert done.exit_code == 0, done.output
    return path
