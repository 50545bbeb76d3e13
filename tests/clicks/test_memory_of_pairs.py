"""What a further pair of query and item costs while a click model is learnt."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from offrank.clicks import DBN, DCTR, PBM, UBM
from offrank.clicks.model import ClickModel

SHOWN = 5


def log(folder: Path, pairs: int) -> Path:
    """Ten items for each query, five of them in each of six lists."""
    rng, queries = np.random.default_rng(0), pairs // 10
    query = rng.integers(queries, size=6 * queries)
    slates = query[:, None] * 10 + rng.random((len(query), 10)).argsort(axis=1)[:, :SHOWN]
    clicks = (rng.random(slates.shape) < 0.4 / np.arange(1, SHOWN + 1)).astype(np.int8)
    ends = pa.array(np.arange(0, slates.size + 1, SHOWN, dtype=np.int32))
    lists = (pa.ListArray.from_arrays(ends, pa.array(one.ravel())) for one in (slates, clicks))
    columns = dict(zip(("slate", "clicks"), lists, strict=True))
    path = folder / f"{pairs}.parquet"
    pq.write_table(pa.table({"query": query, **columns}), path, row_group_size=6_000)
    return path


@pytest.mark.parametrize("model", [DCTR(), PBM(), UBM(), DBN()], ids=str)
def test_a_further_pair_costs_less_than_150_bytes(model: ClickModel, tmp_path: Path) -> None:
    peaks, pairs = [], []
    model.fit(log(tmp_path, 1_000))
    for size in (50_000, 150_000):
        path = log(tmp_path, size)
        tracemalloc.start()
        try:
            fitted = model.fit(path)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        pairs.append(len(fitted.documents))
    assert 60 < (peaks[1] - peaks[0]) / (pairs[1] - pairs[0]) < 150
