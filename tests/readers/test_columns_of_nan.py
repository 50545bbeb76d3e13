"""Columns that hold no number at all, or ids of another kind: they are told, and no warning of NumPy's is."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.errors import OffrankError
from offrank.log.source import needs

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


@pytest.mark.parametrize("pool", ["candidates", "pool"])
def test_a_list_beside_candidates_that_have_the_whole_slate_is_no_ranking(pool: str) -> None:
    rows = pa.table({"shown": [[18], [7]], "clicks": [[1], [0]], pool: [[18], [7]], "new": [[-(2**63)], [5]]})
    read = offrank.evaluate(offrank.read_log(rows, columns={"slate": "shown"}), "top(new)", "uniform", "ips")
    assert (read["ips"].n, read["ips"].value) == (2, 0.5)


def test_candidates_are_of_two_lists_where_the_slate_is_of_both() -> None:
    rows = pa.table({"shown": [["a", "b"], ["c", "b"]], "clicks": [[1, 0]] * 2, "one": [["a"], ["b"]]})
    log = offrank.read_log(rows.append_column("two", pa.array([["b"], ["c"]])), columns={"slate": "shown"})
    assert log.select(needs("candidates")).columns()["candidates"] == "one+two"


@pytest.mark.parametrize(("name", "kind"), [("new", float), ("new", int), ("rank", float)])
def test_fractions_that_run_are_places_only_if_they_are_called_so(name: str, kind: type) -> None:
    rows = pa.table({"slate": [["a", "b", "c"]] * 3, "seen": [[1, 0, 0]] * 3, name: [[*map(kind, (3, 2, 1))]] * 3})
    log = offrank.read_log(rows, columns={"clicks": "seen"})
    assert ("position" in log.renamed) == (name == "rank" or kind is int)


def test_texts_of_white_space_name_no_things() -> None:
    with pytest.raises(OffrankError):
        offrank.evaluate(pa.table({"row": [["\n"], [" "]]}), "uniform", "uniform", "ips")


def test_a_column_of_another_role_is_not_taken_for_the_clicks_by_its_name() -> None:
    rows = pa.table({"slate": [[17], [4]], "click": [[17], [4]]})
    log = offrank.read_log(rows, columns={"candidates": "click"})
    assert log.select(needs("candidates")).columns() == {"slate": "slate", "candidates": "click"}
