"""A mean whose weight is all in one row has no interval: other rows tell nothing of its error."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest

import offrank
from offrank.inference.registry import INTERVALS

ROWS = 20


def log(fitting: int) -> pa.Table:
    """Two candidates, one shown at random; the target shows the second, as these many rows did, all of them clicked."""
    slates = [[1]] * fitting + [[0]] * (ROWS - fitting)
    clicks = [[1]] * fitting + [[at % 2] for at in range(ROWS - fitting)]
    return pa.table({"slate": slates, "clicks": clicks, "candidates": [[0, 1]] * ROWS, "new": [[0.0, 1.0]] * ROWS})


@pytest.mark.parametrize("method", list(INTERVALS))
def test_one_row_tells_no_error(method: str) -> None:
    found = offrank.estimate(log(1), "top(new)", "uniform", ["snips", "ips"], interval=method, cluster=None)
    assert (found["snips"].value, found["snips"].low, found["snips"].high) == (1.0, -math.inf, math.inf)
    difference = found["snips"].difference
    assert difference is not None
    assert (difference.low, difference.high) == (-math.inf, math.inf)
    assert math.isfinite(found["ips"].high), "a mean of all rows has their error"


def test_two_rows_tell_some() -> None:
    rows = log(2).to_pydict()
    rows["clicks"][0] = [0]
    found = offrank.estimate(pa.table(rows), "top(new)", "uniform", "snips", cluster=None)["snips"]
    assert found.value == 0.5
    assert 0 < found.standard_error < math.inf
