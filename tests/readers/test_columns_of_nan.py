"""Columns that hold no number at all, or ids of another kind: they are told, and no warning of NumPy's is."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.errors import OffrankError

NAN = np.full(4, np.nan)


@pytest.mark.parametrize("click", [pa.array(NAN), pa.nulls(4, pa.uint8())], ids=["NaN", "null"])
@pytest.mark.parametrize("named", ["click", "clicked", "impressions"])
def test_a_long_table_whose_clicks_are_no_numbers_is_refused(named: str, click: pa.Array) -> None:
    rows = pa.table({"request": [0, 0, 1, 1], "item": ["a", "b", "a", "c"], "position": [1, 2, 1, 2], named: click})
    with pytest.raises(OffrankError):
        offrank.evaluate(rows, "uniform", "uniform", "ips")


def test_a_column_of_nan_is_no_logarithm() -> None:
    rows = pa.table({"slate": [["a", "b"], ["b", "a"]] * 50, "clicks": [[0, 1]] * 100, "logp": np.full(100, np.nan)})
    assert "exp(logp)" not in str(offrank.inspect(rows))


def test_candidates_of_two_columns_of_unlike_ids_are_refused() -> None:
    rows = pa.table({"slate": [["a"]], "clicks": [[1]], "one": [["a", "b"]], "two": [[1, 2]]})
    with pytest.raises(OffrankError, match="the ids in 'one' and 'two' differ in their types"):
        offrank.evaluate(offrank.read_log(rows, columns={"candidates": "one+two"}), "uniform", "uniform", "ips")
