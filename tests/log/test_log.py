"""Batches, needs, columns and errors."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from offrank import errors
from offrank.errors import ColumnError, LogError, OffrankError, RowError, UsageError
from offrank.log.batch import Contexts, LogBatch, Shown
from offrank.log.rules import NULL, RAGGED, Faults
from offrank.log.schema import LONG_ROLES, ROLES, Columns, check_renamed
from offrank.log.source import Needs, needs


def batch(clicks: Any = None, outcome: Any = None) -> LogBatch:
    contexts = Contexts(np.array([[7, 8, 0], [4, 5, 6]]), np.array([2, 3]), np.array([1, 2]))
    slates = np.array([[1, -1], [0, 2]])
    return LogBatch(contexts, Shown(slates), clicks, outcome, np.ones(2), np.array([0, 1], np.uint64))


def test_the_reward_is_what_was_logged_or_the_sum_of_the_clicks() -> None:
    clicks, outcome = np.array([[1.0, 0.0], [2.0, 3.0]]), np.array([0.5, -1.0])
    assert batch(clicks).reward.tolist() == [1, 5]
    assert batch(clicks, outcome).reward.tolist() == [0.5, -1]
    with pytest.raises(ValueError, match="has no outcome"):
        _ = batch().reward


@pytest.mark.parametrize(
    ("row", "kind"), [([0, 0], 0), ([0, 1], 1), ([1, 1], 1), ([2, 0], 2), ([1, 0.5], 2), ([0, np.nan], 2), ([], 0)]
)
def test_what_kind_of_clicks_a_row_has(row: list[float], kind: int) -> None:
    assert batch(np.array([row, row], float)).click_sums.kind.tolist() == [kind, kind]


def test_sizes() -> None:
    assert (len(batch()), len(batch().contexts), batch().contexts.slots) == (2, 2, 2)


def test_no_rows() -> None:
    none = np.empty(0, np.int64)
    assert Contexts(none.reshape(0, 0), none, none).slots == 0


def test_columns_of_some_rows_are_cut_when_they_are_asked_for_and_once() -> None:
    asked = list[str]()

    class Whole(dict[str, Any]):
        def __getitem__(self, name: str) -> Any:
            asked.append(name)
            return super().__getitem__(name)

    scores = Whole(one=np.arange(6.0).reshape(3, 2), other=np.ones((3, 2)))
    size = np.full(3, 2)
    some = Contexts(np.zeros((3, 2), np.int64), size, size, scores).take(np.array([2, 0])).take(np.array([1, 1, 0]))
    assert not asked
    assert (list(some.scores), len(some.scores), "third" in some.scores) == (["one", "other"], 2, False)
    assert some.scores["one"].tolist() == [[0, 1], [0, 1], [4, 5]]
    assert some.scores["one"] is some.scores["one"]
    assert asked == ["one"]
    some = Contexts(np.zeros((3, 2), np.int64), size, size, dict(scores)).take(np.array([1, 1]))
    assert pickle.loads(pickle.dumps(some)).scores["other"].tolist() == [[1, 1]] * 2


def test_needs_add_up() -> None:
    both = needs("clicks", scores="old") | needs("reward", scores="new", keys="query")
    assert both.roles == {"clicks", "reward"}
    assert both.scores == {"old", "new"}
    assert both.keys == {"query"}
    assert both | Needs() == both
    assert both | both == both


def test_columns() -> None:
    known = Columns(("shown", "clicks", "new_score"), {"slate": "shown"}, "log.parquet")
    assert (known.of("slate"), known.of("clicks"), known.named("new_score")) == ("shown", "clicks", "new_score")
    assert known.has("slate")
    assert not known.has("reward")


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("new_scor", "the nearest name is 'new_score'"), ("xyzzy", "it has 'shown', 'clicks', 'new_score'")],
)
def test_a_missing_column_and_what_there_is(name: str, remedy: str) -> None:
    known = Columns(("shown", "clicks", "new_score"), {}, "log.parquet")
    with pytest.raises(ColumnError, match=r"log\.parquet has no column") as caught:
        known.named(name)
    assert caught.value.remedy == remedy


def test_many_columns_are_not_all_listed() -> None:
    known = Columns(tuple(f"c{number}" for number in range(40)), {}, "log")
    with pytest.raises(ColumnError) as caught:
        known.of("propensity")
    assert "'c11' and 28 more" in caught.value.remedy
    assert 'columns={"propensity": "..."}' in caught.value.remedy
    assert ROLES["propensity"] in caught.value.message


@pytest.mark.parametrize("role", sorted({*ROLES, *LONG_ROLES}))
def test_every_role_may_be_renamed(role: str) -> None:
    check_renamed({role: "x"})


def test_an_unknown_role() -> None:
    with pytest.raises(UsageError, match="'propensty' is not a role of a column; did you mean 'propensity'"):
        check_renamed({"propensty": "p"})


def test_faults_count_a_row_once() -> None:
    faults = Faults(np.zeros(4, np.int16))
    assert faults.first("f", np.arange(4), lambda *_: "") is None
    faults.mark(np.array([False, True, False, True]), NULL, "a")
    faults.mark(np.array([True, True, False, False]), RAGGED, "b")
    faults.mark(np.zeros(4, bool), NULL, "c")
    assert faults.counts() == {"null": 2, "ragged": 1}
    first = faults.first("f", np.arange(10, 14), lambda column, row: f"{column}[{row}]")
    assert isinstance(first, RowError)
    assert (first.row, first.column, first.rule) == (10, "b", "ragged")
    assert first.detail == f"b[0] {RAGGED.broken}"


def test_row_errors_survive_the_way_from_another_process() -> None:
    error = RowError("log.parquet", 3, "clicks", "ragged", "[1] is short", "write one each")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.row, again.remedy) == (str(error), 3, "write one each")
    plain = pickle.loads(pickle.dumps(LogError("no log", "give one")))
    assert (plain.message, plain.remedy) == ("no log", "give one")


def test_messages_say_what_to_do() -> None:
    assert str(LogError("no log", "give one")) == "no log\n  what to do: give one"
    assert str(LogError("no log")) == "no log"


def tree(kind: type[OffrankError]) -> set[str]:
    return {kind.__name__}.union(*(tree(child) for child in kind.__subclasses__()))


def test_the_tree_in_the_documentation_is_the_real_one() -> None:
    assert errors.__doc__ is not None
    drawn = {line.split("--")[-1].split()[0] for line in errors.__doc__.splitlines() if "Error" in line}
    assert drawn == {name for name in tree(OffrankError) if hasattr(errors, name)}
