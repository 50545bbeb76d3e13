"""Lists scattered over a long file are told from its rows, whatever the clock says."""

from __future__ import annotations

import time
from itertools import count
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from offrank.readers.opening import open_table
from offrank.readers.sampling import scattered_roles
from offrank.readers.tables import first_rows

LISTS, SLOTS = 9000, 5


@pytest.fixture
def shuffled(tmp_path: Path) -> str:
    rng = np.random.default_rng(0)
    rows = rng.permutation(LISTS * SLOTS)
    at, place = rows // SLOTS, rows % SLOTS
    columns = {
        "rid": rng.permutation(10 * LISTS)[at],
        "rk": place + 1,
        "sku": (at + 7 * place) % 400,
        "clicked": (rng.random(len(rows)) < 0.3 / (1 + place)).astype(int),
    }
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=3000)
    return str(path)


def test_a_slow_clock_changes_nothing(shuffled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = count(0, 100)
    monkeypatch.setattr(time, "monotonic", lambda: float(next(seconds)))
    table = open_table(shuffled)
    found = scattered_roles(table, first_rows(table).slice(0, 3000), {})
    assert found is not None
    roles = dict(found.roles)
    assert roles == {"impression": "rid", "position": "rk", "item": "sku", "click": "clicked"}
