"""A row that breaks a rule: named with file, row, column and remedy, or skipped and counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import RowError
from offrank.log import rules
from offrank.log.rules import Rule
from offrank.log.source import Needs
from tests.readers.plain import rows, skipped

FINE = {
    "slate": [1, 2],
    "candidates": [1, 2, 3],
    "clicks": [0.0, 1.0],
    "reward": 1.0,
    "propensity": 0.5,
    "inclusion": 1.0,
    "rank_propensity": [[0.5, 0.5], [0.5, 0.5]],
    "score": [0.1, 0.2, 0.3],
    "ranking": [3, 1],
    "query": "q",
}
TYPES = pa.schema(
    {
        "slate": pa.list_(pa.int64()),
        "candidates": pa.list_(pa.int64()),
        "clicks": pa.list_(pa.float64()),
        "reward": pa.float64(),
        "propensity": pa.float64(),
        "inclusion": pa.float64(),
        "rank_propensity": pa.list_(pa.list_(pa.float64())),
        "score": pa.list_(pa.float64()),
        "ranking": pa.list_(pa.int64()),
        "query": pa.string(),
    }
)
NEEDED = Needs(
    frozenset(["clicks", "reward", "candidates", "propensity", "rank_propensity", "inclusion"]),
    scores=frozenset(["score"]),
    weights=frozenset(["score"]),
    rankings=frozenset(["ranking"]),
    keys=frozenset(["query"]),
)
NAN, INF = float("nan"), float("inf")

BROKEN: list[tuple[str, Any, Rule]] = [
    ("slate", None, rules.NULL),
    ("slate", [1, None], rules.NULL),
    ("slate", [], rules.EMPTY_SLATE),
    ("slate", [1, 1], rules.DUPLICATE),
    ("slate", [1, 4], rules.NOT_CANDIDATE),
    ("candidates", None, rules.NULL),
    ("candidates", [1, 2, 2], rules.DUPLICATE),
    ("ranking", [3, 3], rules.DUPLICATE),
    ("ranking", [4, 1], rules.RANKED_OUTSIDE),
    ("ranking", None, rules.NULL),
    ("clicks", None, rules.NULL),
    ("clicks", [1.0], rules.RAGGED),
    ("clicks", [1.0, 0.0, 0.0], rules.RAGGED),
    ("clicks", [-1.0, 0.0], rules.BAD_CLICKS),
    ("clicks", [NAN, 0.0], rules.BAD_CLICKS),
    ("clicks", [None, 0.0], rules.BAD_CLICKS),
    ("clicks", [INF, 0.0], rules.BAD_CLICKS),
    ("score", [0.1, 0.2], rules.RAGGED),
    ("score", [0.1, NAN, 0.2], rules.BAD_SCORE),
    ("score", [0.1, None, 0.2], rules.BAD_SCORE),
    ("score", [0.1, INF, 0.2], rules.BAD_SCORE),
    ("score", [0.1, -0.1, 0.2], rules.NEGATIVE_SCORE),
    ("reward", NAN, rules.BAD_REWARD),
    ("reward", None, rules.BAD_REWARD),
    ("reward", INF, rules.BAD_REWARD),
    ("propensity", 0.0, rules.BAD_PROPENSITY),
    ("propensity", 3.3, rules.BAD_PROPENSITY),
    ("propensity", None, rules.BAD_PROPENSITY),
    ("inclusion", 0.0, rules.BAD_INCLUSION),
    ("inclusion", 1.1, rules.BAD_INCLUSION),
    ("inclusion", -0.1, rules.BAD_INCLUSION),
    ("rank_propensity", [[0.5, 0.5]], rules.RAGGED),
    ("rank_propensity", [[0.5], [0.5]], rules.RAGGED),
    ("rank_propensity", [[0.5, 0.5], None], rules.RAGGED),
    ("rank_propensity", None, rules.RAGGED),
    ("rank_propensity", [[0.0, 0.5], [0.5, 0.5]], rules.BAD_RANK_PROPENSITY),
    ("rank_propensity", [[0.5, 0.7], [0.5, 0.5]], rules.BAD_RANK_PROPENSITY),
    ("rank_propensity", [[0.5, -0.1], [0.5, 0.5]], rules.BAD_RANK_PROPENSITY),
    ("rank_propensity", [[0.5, NAN], [0.5, 0.5]], rules.BAD_RANK_PROPENSITY),
    ("query", None, rules.NULL),
]


def table(log: list[dict[str, Any]]) -> pa.Table:
    """A log of these rows."""
    return pa.Table.from_pylist(log, schema=TYPES)


def named(case: Any) -> str | None:
    return case.code if isinstance(case, Rule) else None


@pytest.mark.parametrize(("column", "value", "rule"), BROKEN, ids=named)
def test_the_error_says_where_what_and_how_to_mend(column: str, value: Any, rule: Rule, tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    pq.write_table(table([FINE, FINE, FINE | {column: value}, FINE]), path, row_group_size=2)
    with pytest.raises(RowError) as caught:
        rows(offrank.read_log(path), NEEDED)
    error = caught.value
    assert (error.file, error.row, error.column, error.rule) == (str(path), 2, column, rule.code)
    assert rule.broken in str(error)
    assert error.remedy == rule.remedy
    assert f"{path}, row 2 (the first is 0), column '{column}'" in str(error)


@pytest.mark.parametrize(("column", "value", "rule"), BROKEN, ids=named)
def test_bad_rows_are_skipped_and_counted(column: str, value: Any, rule: Rule) -> None:
    log = table([FINE, FINE | {column: value}, FINE, FINE | {column: value}])
    source = offrank.read_log(log, invalid="skip")
    assert [row["row"] for row in rows(source, NEEDED)] == [0, 2]
    assert skipped(source, NEEDED) == {rule.code: 2}


def test_a_row_counts_for_the_first_rule_that_it_breaks() -> None:
    log = table([FINE | {"slate": [1, 1], "propensity": 7.0}, FINE | {"propensity": 7.0}])
    assert skipped(offrank.read_log(log, invalid="skip"), NEEDED) == {"duplicate-item": 1, "bad-propensity": 1}


def test_nothing_may_be_left() -> None:
    source = offrank.read_log(table([FINE | {"propensity": 7.0}]), invalid="skip")
    assert rows(source, NEEDED) == []
    assert skipped(source, NEEDED) == {"bad-propensity": 1}


def test_skipped_rows_do_not_shift_the_others() -> None:
    good = [FINE | {"slate": [number % 3 + 1], "clicks": [float(number)]} for number in range(60)]
    log = table([row | {"rank_propensity": [[1.0]]} for row in good])
    log = pa.concat_tables([log.slice(0, 30), table([FINE | {"slate": []}]), log.slice(30)])
    found = rows(offrank.read_log(log, invalid="skip"), NEEDED)
    assert [row["clicks"] for row in found] == [row["clicks"] for row in good]
    assert [row["row"] for row in found] == [*range(30), *range(31, 61)]


def test_a_fine_row_beside_an_absurd_one_is_read_right() -> None:
    log = table([FINE, FINE | {"rank_propensity": [[0.5, 0.5], [0.5]]}, FINE])
    found = rows(offrank.read_log(log, invalid="skip"), NEEDED)
    assert [row["rank_propensity"] for row in found] == [FINE["rank_propensity"]] * 2


def test_without_candidates_a_ranking_may_name_other_items() -> None:
    log = pa.table({"slate": [[1, 2]], "clicks": [[0, 1]], "ranking": [[9, 1]]})
    [row] = rows(offrank.read_log(log), Needs(frozenset(["clicks"]), rankings=frozenset(["ranking"])))
    assert row["ranking"] == [None, 1]


def test_negative_scores_that_are_no_weights() -> None:
    log = table([FINE | {"score": [-1.0, -2.0, 0.0]}])
    needed = Needs(frozenset(["candidates"]), scores=frozenset(["score"]))
    assert rows(offrank.read_log(log), needed)[0]["score"] == [-1, -2, 0]


def test_probabilities_may_be_one() -> None:
    log = table([FINE | {"propensity": 1.0, "rank_propensity": [[1.0, 0.0], [0.0, 1.0]]}])
    assert rows(offrank.read_log(log), NEEDED)[0]["propensity"] == 1


@pytest.mark.parametrize("size", [15, 16, 17, 100])
def test_duplicates_in_short_and_long_lists(size: int) -> None:
    items = np.random.default_rng(size).permutation(size * 7)[:size].tolist()
    fine = {"slate": items, "clicks": [0.0] * size}
    assert len(rows(offrank.read_log([fine]))) == 1
    with pytest.raises(RowError, match="duplicate-item"):
        rows(offrank.read_log([fine, fine | {"slate": [*items[:-1], items[0]]}]))


@pytest.mark.parametrize("size", [15, 16, 17, 100])
def test_outsiders_in_short_and_long_lists(size: int) -> None:
    items = np.random.default_rng(size).permutation(size * 7)[:size].tolist()
    slate = items[::-2]
    fine = {"slate": slate, "candidates": items, "clicks": [0.0] * len(slate)}
    assert rows(offrank.read_log([fine]))[0]["slate"] == slate
    with pytest.raises(RowError, match="not-a-candidate"):
        rows(offrank.read_log([fine, fine | {"slate": [*slate[:-1], size * 7]}]))


def test_long_values_are_cut_in_the_message() -> None:
    with pytest.raises(RowError) as caught:
        rows(offrank.read_log([{"slate": [1, *range(100)], "clicks": [0.0] * 101}]))
    assert len(caught.value.message) < 200


LINE = {"impression": 1, "item": 5, "position": 1, "click": 0.0, "propensity": 0.5, "query": "q"}
BROKEN_LINES: dict[str, tuple[list[dict[str, Any]], str, int, Rule]] = {
    "position twice": ([{}, {"item": 6}], "position", 1, rules.BAD_POSITION),
    "position 0": ([{"position": 0}], "position", 0, rules.BAD_POSITION),
    "gap": ([{}, {"item": 6, "position": 3}], "position", 1, rules.BAD_POSITION),
    "half": ([{}, {"item": 6, "position": 1.5}], "position", 1, rules.BAD_POSITION),
    "propensity differs": (
        [{}, {"item": 6, "position": 2, "propensity": 0.4}], "propensity", 1, rules.NOT_CONSTANT,
    ),
    "query differs": ([{}, {"item": 6, "position": 2, "query": "r"}], "query", 1, rules.NOT_CONSTANT),
    "nothing shown": ([{}, {"impression": 2, "position": None, "click": None}], "item", 1, rules.EMPTY_SLATE),
    "item twice": ([{}, {"position": 2}], "item", 0, rules.DUPLICATE),
    "no click": ([{"click": None}], "click", 0, rules.BAD_CLICKS),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN_LINES)
def test_rules_of_the_long_layout(case: str) -> None:
    changes, column, row, rule = BROKEN_LINES[case]
    needed = Needs(frozenset(["clicks", "propensity", "candidates"]), keys=frozenset(["query"]))
    before = [LINE | {"impression": 0, "item": 4}]
    with pytest.raises(RowError) as caught:
        rows(offrank.read_log(before + [LINE | change for change in changes]), needed)
    error = caught.value
    assert (error.row, error.column, error.rule) == (row + 1, column, rule.code)
    assert error.remedy == rule.remedy


@pytest.mark.parametrize("case", BROKEN_LINES)
def test_bad_impressions_of_the_long_layout_are_skipped(case: str) -> None:
    changes, _, _, rule = BROKEN_LINES[case]
    needed = Needs(frozenset(["clicks", "propensity", "candidates"]), keys=frozenset(["query"]))
    around = [LINE | {"impression": number, "item": 4} for number in (0, 9)]
    log = [around[0], *(LINE | change for change in changes), around[1]]
    source = offrank.read_log(log, invalid="skip")
    assert {0, len(log) - 1} <= {row["row"] for row in rows(source, needed)} <= {0, 1, len(log) - 1}
    assert skipped(source, needed) == {rule.code: 1}


def test_no_impression_of_the_long_layout_may_be_left() -> None:
    source = offrank.read_log([LINE | {"position": 2}], invalid="skip")
    assert rows(source) == []
    assert skipped(source) == {"bad-position": 1}


@pytest.mark.parametrize("column", ["impression", "item"])
def test_null_ids_in_the_long_layout(column: str) -> None:
    log = [LINE | {"impression": number, column: None if number == 7 else number} for number in range(9)]
    with pytest.raises(RowError, match="null") as caught:
        rows(offrank.read_log(log))
    assert (caught.value.row, caught.value.column) == (7, column)


def test_differing_values_that_nobody_needs_are_no_fault() -> None:
    log = [LINE, LINE | {"item": 6, "position": 2, "query": "r"}]
    assert len(rows(offrank.read_log(log))) == 1


@pytest.mark.parametrize("rewards", [[0, None], [None, 0], [0.0, None]])
def test_no_reward_beside_a_reward_of_0_differs(rewards: list[float | None]) -> None:
    lines = [{"impression": 1, "item": at, "position": at, "reward": one} for at, one in enumerate(rewards, start=1)]
    other = {"impression": 2, "item": 1, "position": 1, "reward": 0}
    needed = Needs(frozenset(["reward"]))
    with pytest.raises(RowError, match="not-constant") as caught:
        rows(offrank.read_log([*lines, other]), needed)
    assert (caught.value.row, caught.value.column) == (1, "reward")
    assert [row["row"] for row in rows(offrank.read_log([*lines, other], invalid="skip"), needed)] == [2]


def test_clicks_whose_sum_is_too_large_for_a_number_are_left_out() -> None:
    log = [{"slate": [1, 2], "clicks": [largest, largest]} for largest in (1.0, np.finfo(float).max)]
    source, needed = offrank.read_log(log, invalid="skip"), Needs(frozenset(["clicks"]))
    assert [row["row"] for row in rows(source, needed)] == [0]
    assert skipped(source, needed) == {"too-large-value": 1}


@pytest.mark.parametrize("column", ["clicks", "score", "propensity"])
def test_cells_of_text_that_cannot_be_read_are_left_out_one_by_one(column: str) -> None:
    good = {"slate": "[1, 2]", "clicks": "[0, 1]", "score": "[0.5, 1]"}
    good |= {"propensity": "0.5" if column == "propensity" else 0.5}  # type: ignore[dict-item]
    log = [
        good | ({column: "0.1x66" if column == "propensity" else "[0, 0.1x66]"} if at in (1, 2, 6) else {})
        for at in range(8)
    ]
    needed = Needs(frozenset(["clicks", "propensity"]), scores=frozenset(["score"]))
    with pytest.raises(RowError, match=r"(?s)row 1 \(the first is 0\).*0\.1x66"):
        rows(offrank.read_log(log), needed)
    source = offrank.read_log(log, invalid="skip")
    assert [row["row"] for row in rows(source, needed)] == [0, 3, 4, 5, 7]
    assert skipped(source, needed) == {"bad-list": 3}
    by_outcome = sum(batch.dropped[4] for batch in source.select(needed).batches(0))
    assert by_outcome == (3 if column == "clicks" else 0)
