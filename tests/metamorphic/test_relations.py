"""The relations themselves: what they change and leave, what rewards do to estimates, and that faults are found."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.errors import OffrankError, UsageError
from offrank.estimators import estimator
from tests.metamorphic.changes import (
    RELATIONS,
    REWARDS,
    LogTable,
    Relation,
    broken,
    check_relation,
    differences,
    files,
    flat_answer,
    scale_rewards,
    shift_rewards,
)
from tests.metamorphic.logs import log
from tests.metamorphic.relations import given as changed
from tests.metamorphic.spellings import EXAMINATION, SOME_POLICIES, written_out
from tests.night import some

SMALL = LogTable(
    pa.table(
        {
            "slate": [[7, 8], [9], [8, 7, 9]],
            "candidates": [[8, 7, 9], [9, 7], [7, 8, 9]],
            "clicks": [[1, 0], [1], [0, 0, 2]],
            "reward": [1.0, 3.0, -2.0],
            "score": [[0.8, 0.7, 0.9], [1.9, 1.7], [2.7, 2.8, 2.9]],
            "best": [[9, 7], None, [8]],
        }
    ),
    beside=("score",),
    rankings=("best",),
)
RNG = np.random.default_rng(0)
TARGETS = {name: written_out(name) for name in SOME_POLICIES}


def rows(table: pa.Table) -> list[dict[str, Any]]:
    return table.to_pylist()


def pairs(table: pa.Table) -> list[set[tuple[int, float]]]:
    return [set(zip(row["candidates"], row["score"], strict=True)) for row in rows(table)]


def test_candidates_keep_their_scores() -> None:
    found = [RELATIONS["candidates in another order"].change(SMALL, np.random.default_rng(seed)) for seed in range(9)]
    assert all(pairs(one) == pairs(SMALL.table) for one in found)
    assert all(
        one.drop_columns(["candidates", "score"]) == SMALL.table.drop_columns(["candidates", "score"]) for one in found
    )
    assert len({str(one["candidates"].to_pylist()) for one in found}) > 5


def test_candidates_that_were_not_written_are_written_out() -> None:
    plain = LogTable(pa.table({"slate": [["a", "b", "c"]], "old": [[1.0, 2.0, 3.0]]}), beside=("old",))
    found = RELATIONS["candidates in another order"].change(plain, np.random.default_rng(2))
    (row,) = rows(found)
    assert row["slate"] == ["a", "b", "c"] != row["candidates"]
    assert dict(zip(row["candidates"], row["old"], strict=True)) == {"a": 1.0, "b": 2.0, "c": 3.0}


@pytest.mark.parametrize(("name", "kind"), [("items under other numbers", int), ("items named by text", str)])
def test_items_are_the_same_under_other_names(name: str, kind: type) -> None:
    found = rows(RELATIONS[name].change(SMALL, RNG))
    ids = {
        old: new
        for one, row in zip(rows(SMALL.table), found, strict=True)
        for old, new in zip(one["slate"], row["slate"], strict=True)
    }
    assert {type(new) for new in ids.values()} == {kind}
    assert len(set(ids.values())) == 3
    assert not set(ids) & set(ids.values())
    for one, row in zip(rows(SMALL.table), found, strict=True):
        assert row["candidates"] == [ids[item] for item in one["candidates"]]
        assert row["best"] == (one["best"] and [ids[item] for item in one["best"]])
        assert row["score"] == one["score"]


def test_rows_are_all_there() -> None:
    many = log("partial")
    for name in ("rows in another order", "rows in other batches"):
        found = RELATIONS[name].change(many, np.random.default_rng(1))
        assert sorted(map(str, rows(found))) == sorted(map(str, rows(many.table)))
    assert rows(found) == rows(many.table)
    assert len(found["slate"].chunks) > 4
    assert min(map(len, found["slate"].chunks)) == 1


def test_a_column_is_added_under_a_free_name() -> None:
    once = RELATIONS["an unread column"].change(SMALL, RNG)
    twice = RELATIONS["an unread column"].change(LogTable(once), RNG)
    assert set(twice.schema.names) - set(SMALL.table.schema.names) == {"unread0", "unread1"}
    assert once.select(SMALL.table.schema.names) == SMALL.table
    assert once.schema.names[1:] == SMALL.table.schema.names[::-1]


def test_the_same_rows_in_several_files(tmp_path: Path) -> None:
    relation = files(tmp_path)
    paths = relation.change(log("partial"), np.random.default_rng(2))
    assert len(paths) > 2
    ask = partial(
        offrank.evaluate, target="top(new)", logging="logged", estimators=["snips", "ipm"], interval="bootstrap"
    )
    assert broken(ask, log("partial"), Relation("read", lambda *_: paths)) == {}
    found = offrank.read_log(paths)
    assert found.parts() > len(paths)


def test_scaled_rewards_scale_the_estimates() -> None:
    question = partial(offrank.evaluate, target=TARGETS, logging="uniform", examination=EXAMINATION)
    for name, one in some([*changed("partial", ()).estimators.items()], 6):
        found = broken(partial(question, estimators=one), log("partial"), scale_rewards(2.5, (*REWARDS, "detectable")))
        if name.startswith("weights"):  # scaled clicks are not those that its model is learnt from, and it says so
            found = {where: both for where, both in found.items() if ".warnings[" not in where}
        assert not found or name.startswith(("direct", "dr"))


def ask(readable: Any, *, given: Any) -> Any:
    return offrank.evaluate(readable, TARGETS, "plackett_luce(old)", given, examination=EXAMINATION)


@pytest.mark.turns(3)
def test_shifted_rewards_shift_the_estimates() -> None:
    every = changed("partial", ()).estimators
    given = [
        one for name, one in every.items() if name != "pi(slots=independent)"
    ]  # which this logging policy is refused
    relation = shift_rewards(0.75, given, factor=2.0)
    weighed = [one for one in given if not repr(one).startswith(("direct", "dr"))]
    check_relation(partial(ask, given=weighed), log("partial"), relation)
    compared = relation.expected(flat_answer(partial(ask, given=weighed), log("partial").table))  # type: ignore[misc]
    names = {repr(one) for one in weighed if f"estimates[top(tied), {one!r}].value" in compared}
    assert {repr(one) for one in weighed} - names == {
        "switch(snipm, 3)",
        "snipm",
        "snrips",
        "interpol(window=1)",
        "interpol(window=slope)",
        "pbm",
        "sninterpol(window=2)",
        "weights(cascade)",
        "weights(rdctr)",
    }
    check_relation(partial(ask, given=given), log("partial"), shift_rewards(0.75, given))


def test_rewards_of_one_give_one() -> None:
    given = [
        estimator(name)
        for name in (
            "snips",
            "snipm(normaliser=pooled)",
            "snrips(normaliser=pooled)",
            "wpi",
            "controlled(ips)",
            "clip(snips, 2)",
            "logged",
        )
    ]
    relation = shift_rewards(1.0, given, factor=0.0)
    check_relation(partial(ask, given=given), log("partial"), relation)
    found = ask(relation.change(log("partial"), RNG), given=given)
    assert [one.value for one in found.estimates.values()] == pytest.approx([1.0] * len(found.estimates), rel=1e-12)


def test_faults_are_found() -> None:
    faults = {
        "candidates in another order": lambda t: {"first": [row[0] for row in pa.table(t)["candidates"].to_pylist()]},
        "items under other numbers": lambda t: {"largest": max(max(row) for row in pa.table(t)["slate"].to_pylist())},
        "items named by text": lambda t: {"kind": str(pa.table(t)["slate"].type)},
        "rows in another order": lambda t: {"last": pa.table(t)["reward"].to_pylist()[-1]},
        "rows in other batches": lambda t: {"batches": len(pa.table(t).to_batches())},
        "an unread column": lambda t: {"columns": len(pa.table(t).schema.names)},
    }
    assert set(faults) == set(RELATIONS)
    for name, fault in faults.items():
        with pytest.raises(AssertionError, match=name):
            check_relation(fault, log("partial"), RELATIONS[name], np.random.default_rng(5))


def raising(error: type[OffrankError], message: str) -> Any:
    def question(readable: Any) -> Any:
        raise error(message, "mend it")

    return question


def test_a_refusal_is_an_answer() -> None:
    usage = flat_answer(raising(UsageError, "no such thing"), SMALL.table)
    assert usage == {"refused": "UsageError", "why": "no such thing"}
    assert flat_answer(raising(OffrankError, "row 3"), SMALL.table) == {"refused": "OffrankError"}
    assert differences(usage, {"value": 1.0}) == {
        "refused": ("UsageError", "nothing"),
        "why": ("no such thing", "nothing"),
        "value": ("nothing", 1.0),
    }


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        (1.0, 1.0 + 1e-12, True),
        (1.0, 1.0 + 1e-8, False),
        (1e-12, 0.0, True),
        (1e6, 1e6 + 1e-4, True),
        (1e6, 1e6 + 1e-2, False),
        (float("nan"), float("nan"), True),
        (float("nan"), 1.0, False),
        (3, 3.0, True),
        (None, 0.0, False),
        ("text", "text", True),
        ("text", "texts", False),
    ],
)
def test_what_counts_as_the_same(before: Any, after: Any, same: bool) -> None:
    assert (differences({"value": before}, {"value": after}) == {}) is same


def test_ends_of_intervals_near_zero_are_roots() -> None:
    assert differences({"a.low": 1e-8}, {"a.low": 0.0}) == {}
    assert differences({"a.low": 1e-6}, {"a.low": 0.0}) != {}
    assert differences({"a.value": 1e-8}, {"a.value": 0.0}) != {}
