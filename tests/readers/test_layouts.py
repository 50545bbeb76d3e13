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
from hypothesis import given, settings
from hypothesis import strategies as st

import offrank
from offrank.errors import RowError, UsageError
from offrank.log.source import Needs
from offrank.readers import impressions
from offrank.readers.long import LongLog
from offrank.readers.tables import MemoryTable
from offrank.readers.wide import WideLog
from tests.readers.logs import Row, to_long, wide_rows
from tests.readers.plain import EVERYTHING, batches, codes, contents, rows

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


@pytest.mark.turns(3)
@IDS
@given(data=st.data())
def test_wide(ids: str, data: st.DataObject) -> None:
    log = data.draw(wide_rows(ids))
    assert contents(offrank.read_log(log), NEEDED) == expected(log)


@pytest.mark.turns(3)
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


@settings(max_examples=15)
@given(log=wide_rows(), seed=st.randoms(use_true_random=False), size=st.integers(1, 5))
@pytest.mark.parametrize("room", [2, 10**6])
def test_long_rows_may_be_scattered(room: int, log: list[Row], seed: Any, size: int) -> None:
    lines = to_long(log)
    order = list(range(len(lines)))
    seed.shuffle(order)
    # An impression is known by its first row, and its candidates stand in the order of their rows.
    of = [lines[line]["impression"] for line in order]
    together = sorted(order, key=lambda line: of.index(lines[line]["impression"]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(impressions, "_ROOM", room)
        table = MemoryTable(pa.Table.from_pylist([lines[o] for o in order]), part_rows=size)
        found = rows(LongLog(table, {}), NEEDED)
    wanted = rows(offrank.read_log([lines[o] for o in together]), NEEDED)
    assert [row.pop("row") for row in found] == sorted(of.index(number) for number in range(len(log)))
    assert found == [{name: value for name, value in row.items() if name != "row"} for row in wanted]


@pytest.mark.turns(3)
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


@pytest.mark.turns(3)
@given(log=wide_rows(), size=st.integers(1, 5))
def test_row_groups_and_parts_do_not_matter(log: list[Row], size: int) -> None:
    table = pa.Table.from_pylist(log)
    whole = rows(offrank.read_log(table), NEEDED)
    assert rows(WideLog(MemoryTable(table, part_rows=size), {}), NEEDED) == whole
    with tempfile.TemporaryDirectory() as name:
        pq.write_table(table, Path(name) / "log.parquet", row_group_size=size)
        assert rows(offrank.read_log(name), NEEDED) == whole


@settings(max_examples=15)
@given(log=wide_rows(), cuts=st.lists(st.integers(0, 40), max_size=4))
def test_long_impressions_may_go_on_in_the_next_file(log: list[Row], cuts: list[int]) -> None:
    table = pa.Table.from_pylist(to_long(log))
    edges = [0, *sorted(min(cut, len(table)) for cut in cuts), len(table)]
    with tempfile.TemporaryDirectory() as name:
        for number, (start, end) in enumerate(itertools.pairwise(edges)):
            pq.write_table(table.slice(start, end - start), Path(name) / f"{number}.parquet")
        assert contents(offrank.read_log(name), NEEDED) == contents(offrank.read_log(table), NEEDED)


@pytest.mark.turns(3)
@settings(max_examples=15)
@given(log=wide_rows(), size=st.integers(1, 5))
def test_long_impressions_may_cross_row_groups(log: list[Row], size: int) -> None:
    table = pa.Table.from_pylist(to_long(log))
    with tempfile.TemporaryDirectory() as name:
        pq.write_table(table, Path(name) / "log.parquet", row_group_size=size)
        assert rows(offrank.read_log(name), NEEDED) == rows(offrank.read_log(table), NEEDED)


def test_positions_from_0_are_those_from_1() -> None:
    lines = [{"impression": n // 3, "item": n % 3, "position": n % 3 + 1, "click": n % 2} for n in range(9)]
    from_0 = [line | {"position": line["position"] - 1} for line in lines]
    log = offrank.read_log(from_0)
    assert rows(log) == rows(offrank.read_log(lines))
    assert log.describe() == "list in memory, positions from 0"
    # What half of the impressions say, or fewer, is a fault of theirs.
    for mixed, row in ((from_0[:3] + lines[3:], 0), (from_0[:6] + lines[6:], 6)):
        with pytest.raises(RowError, match=rf"row {row} .*bad-position.*\n.*--gaps close"):
            rows(offrank.read_log(mixed))


def test_gaps_in_positions_can_be_closed() -> None:
    lines = [{"impression": n // 3, "item": n, "position": [9, 2, 5][n % 3], "click": n % 2} for n in range(6)]
    with pytest.raises(RowError, match=r"row 0 .*bad-position"):
        rows(offrank.read_log(lines))
    log = offrank.read_log(lines, gaps="close")
    assert [row["slate"] for row in rows(log)] == [[1, 2, 0], [4, 5, 3]]
    assert [row["clicks"] for row in rows(log)] == [[1, 0, 0], [0, 1, 1]]
    with pytest.raises(RowError, match=r"row 1 .*bad-position"):
        rows(offrank.read_log([lines[0], lines[1] | {"position": 9}], gaps="close"))
    with pytest.raises(UsageError, match="only in the long layout"):
        offrank.read_log([{"slate": [1]}], gaps="close")
    with pytest.raises(UsageError, match='"raise" or "close"'):
        offrank.read_log(lines, gaps="open")  # type: ignore[arg-type]


TOP = [
    {"slate": [1, 2, 3], "candidates": [3, 2, 1, 4], "clicks": [0, 1, 1], "s": [1.0, 2, 3, 4], "p": [0.5, 0.4, 0.3]},
    {"slate": [5], "candidates": [5, 6], "clicks": [1], "s": [1.0, 2], "p": [0.25]},
]


def test_top_k_keeps_the_first_slots_and_all_candidates() -> None:
    log = offrank.read_log(TOP, {"slot_propensity": "p"}, top_k=2)
    needed = EVERYTHING | Needs(frozenset(["slot_propensity"]), scores=frozenset(["s"]))
    first, second = rows(log, needed)
    assert (first["slate"], first["clicks"], first["candidates"]) == ([1, 2], [0, 1], [3, 2, 1, 4])
    assert (second["slate"], second["clicks"]) == ([5], [1])
    (batch,) = batches(log, needed)
    assert batch.contexts.length.tolist() == [2, 1]
    assert batch.shown.written["slot_propensity"].tolist() == [[0.5, 0.4], [0.25, 1.0]]
    assert rows(offrank.read_log(TOP, top_k=3)) == rows(offrank.read_log(TOP))


@pytest.mark.parametrize(("column", "value"), [("propensity", 0.1), ("reward", 2.0)])
def test_top_k_refuses_what_is_of_the_whole_slate(column: str, value: float) -> None:
    log = offrank.read_log([row | {column: value} for row in TOP], top_k=2)
    with pytest.raises(UsageError, match=f"'{column}' describes whole slates"):
        log.select(Needs(frozenset([column])))


def test_top_k_asks_the_policy_for_the_first_slots() -> None:
    """Plackett-Luce draws of the first of two slots: 3/4 for item 1, 1/4 for item 2."""
    log = [{"slate": [1, 2], "clicks": [1, 0], "s": [3.0, 1.0]}] * 3 + [
        {"slate": [2, 1], "clicks": [0, 1], "s": [1.0, 3.0]}
    ]
    result = offrank.evaluate(offrank.read_log(log, top_k=1), "uniform", "plackett_luce(s)", ["ips"], interval="normal")
    assert result["ips"].value == pytest.approx((3 * 1 * (1 / 2) / (3 / 4) + 0) / 4)
