"""The wide layout, the long one and any way to cut a log into files say the same."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import offrank
from offrank.log.source import Needs
from offrank.readers.tables import MemoryTable
from offrank.readers.wide import WideLog
from tests.readers.logs import Row, to_long, wide_rows
from tests.readers.plain import codes, contents, rows

NEEDED = Needs(
    frozenset(["clicks", "reward", "candidates", "propensity", "rank_propensity", "inclusion"]),
    scores=frozenset(["score"]),
    rankings=frozenset(["ranking"]),
    keys=frozenset(["query"]),
    labels=frozenset(["banner"]),
)
IDS = pytest.mark.parametrize("ids", ["integer", "string"])


def expected(log: list[Row]) -> list[dict[str, Any]]:
    """What reading must give."""
    return [
        {
            "candidates": codes(row["candidates"]),
            "slate": codes(row["slate"]),
            "inclusion": row["inclusion"],
            "clicks": row["clicks"],
            "reward": row["reward"],
            "propensity": row["propensity"],
            "rank_propensity": row["rank_propensity"],
            "score": row["score"],
            "ranking": codes(row["ranking"]),
            "key:query": codes([row["query"]])[0],
            "label:banner": row["banner"],
        }
        for row in log
    ]


@IDS
@given(data=st.data())
def test_wide(ids: str, data: st.DataObject) -> None:
    log = data.draw(wide_rows(ids))
    assert contents(offrank.read_log(log), NEEDED) == expected(log)


@IDS
@given(data=st.data())
def test_long(ids: str, data: st.DataObject) -> None:
    log = data.draw(wide_rows(ids))
    assert contents(offrank.read_log(to_long(log)), NEEDED) == expected(log)


@given(log=wide_rows(), seed=st.randoms(use_true_random=False))
def test_long_rows_of_an_impression_may_stand_in_any_order(log: list[Row], seed: Any) -> None:
    lines = to_long(log)
    shuffled: list[Row] = []
    for number in range(len(log)):
        own = [line for line in lines if line["impression"] == number]
        seed.shuffle(own)
        shuffled += own
    without = Needs(NEEDED.roles - {"candidates"}, keys=NEEDED.keys, labels=NEEDED.labels)
    found = contents(offrank.read_log(shuffled), without)
    wanted = contents(offrank.read_log(lines), without)
    assert [row["slate"] for row in found] == [row["slate"] for row in wanted]
    assert [row["clicks"] for row in found] == [row["clicks"] for row in wanted]
    assert [sorted(row["candidates"]) for row in found] == [sorted(row["candidates"]) for row in wanted]


@given(log=wide_rows(), cuts=st.lists(st.integers(0, 8), max_size=4))
def test_rows_and_their_ids_do_not_depend_on_the_files(log: list[Row], cuts: list[int]) -> None:
    table = pa.Table.from_pylist(log)
    edges = [0, *sorted(min(cut, len(log)) for cut in cuts), len(log)]
    with tempfile.TemporaryDirectory() as name:
        for suffix, write in (("parquet", pq.write_table), ("feather", pyarrow.feather.write_feather)):
            for number, (start, end) in enumerate(itertools.pairwise(edges)):
                write(table.slice(start, end - start), str(Path(name) / f"{number}.{suffix}"))
            found = rows(offrank.read_log(str(Path(name) / f"*.{suffix}")), NEEDED)
            assert found == rows(offrank.read_log(log), NEEDED)


@given(log=wide_rows(), size=st.integers(1, 5))
def test_row_groups_and_parts_do_not_matter(log: list[Row], size: int) -> None:
    table = pa.Table.from_pylist(log)
    whole = rows(offrank.read_log(table), NEEDED)
    assert rows(WideLog(MemoryTable(table, part_rows=size), {}), NEEDED) == whole
    with tempfile.TemporaryDirectory() as name:
        pq.write_table(table, Path(name) / "log.parquet", row_group_size=size)
        assert rows(offrank.read_log(name), NEEDED) == whole


@given(log=wide_rows(), size=st.integers(1, 5))
def test_long_impressions_may_cross_row_groups(log: list[Row], size: int) -> None:
    table = pa.Table.from_pylist(to_long(log))
    with tempfile.TemporaryDirectory() as name:
        pq.write_table(table, Path(name) / "log.parquet", row_group_size=size)
        assert rows(offrank.read_log(name), NEEDED) == rows(offrank.read_log(table), NEEDED)
