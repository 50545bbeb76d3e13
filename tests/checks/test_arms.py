"""What was randomised between arms: a user, a visit, a query, or each impression."""

from __future__ import annotations

from typing import cast

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.checks.arms import SharedUnitsFold, UnitsFold
from offrank.policies import By, policy
from offrank.running.executors import run
from offrank.sums.base import total
from offrank.sums.sampled import Sketch

ROWS = 600


def log(by: str) -> pa.Table:
    """Two arms, randomised by a user, by a visit, or by each impression; users have three visits of two impressions."""
    rng = np.random.default_rng(1)
    session = np.arange(ROWS) // 2
    columns = {"user": session // 3, "session": session}
    arm = rng.integers(0, 2, ROWS)[columns[by]] if by in columns else rng.integers(0, 2, ROWS)
    return pa.table(
        {
            "slate": [[1, 2]] * ROWS,
            "clicks": [[0, 1]] * ROWS,
            "arm": np.array(["A", "B"])[arm],
            "user": columns["user"],
            "session": session,
        }
    )


@pytest.mark.parametrize(
    ("arms", "told"),
    [("AB", True), ("ABC", True), ("ABX", False), ("AA", False)],
    ids=["two rankers", "three", "one unexplained", "one ranker"],
)
def test_what_the_page_says_of_arms(arms: str, told: bool) -> None:
    rng, which = np.random.default_rng(5), np.arange(ROWS) % len(arms)
    scores = {name: rng.random((ROWS, 5)) for name in "ABCX"}
    items = np.array([rng.permutation(50)[:5] for _ in range(ROWS)])
    by = np.stack([scores[arm] for arm in arms])[which, np.arange(ROWS)]
    order = np.argsort(-by, axis=1)
    columns = {name.lower(): np.take_along_axis(scores[name], order, axis=1).tolist() for name in "ABC"}
    slate = np.take_along_axis(items, order, axis=1).tolist()
    table = pa.table({"slate": slate, "clicks": rng.integers(0, 2, (ROWS, 5)).tolist(), "arm": which, **columns})
    said = " ".join(str(offrank.inspect(table)).split())
    for number, name in enumerate(arms):
        share = f"{100 * np.mean(which == number):.0f} %"
        sentence = f"arm = {number} ({share} of the impressions): every slate is sorted by top({name.lower()})."
        assert (sentence in said) == told
    assert ("Deterministic rankers, identified by arm:" in said) == told
    assert ("offrank compare" in said) == told


@pytest.mark.parametrize(("by", "unit"), [("user", "user"), ("session", "session"), ("impression", "")])
def test_what_was_randomised(by: str, unit: str) -> None:
    fold = UnitsFold("arm", ("user", "session"))
    shuffled = log(by).take(np.random.default_rng(2).permutation(ROWS))
    for table in (log(by), shuffled):
        assert run(offrank.read_log(table).select(fold.needs()), fold) == unit


def test_one_row_each_says_nothing() -> None:
    single = log("impression").set_column(3, "user", pa.array(np.arange(ROWS)))
    fold = UnitsFold("arm", ("user",))
    assert run(offrank.read_log(single).select(fold.needs()), fold) == ""


def test_parts_merge_to_the_same_units() -> None:
    fold = UnitsFold("arm", ("user", "session"))
    batches = [
        batch
        for start in range(0, ROWS, 90)
        for batch in offrank.read_log(log("user").slice(start, 90)).select(fold.needs()).batches(0)
    ]
    state = None
    for batch in reversed(batches):
        state = total(fold.of(batch), state)
    assert fold.result(state) == "user"


def test_users_of_one_row_are_in_one_arm_whoever_assigned_them() -> None:
    rows, least, greatest = (np.array(one)[:, None] for one in ([1, 1, 2, 2], [0, 1, 0, 0], [0, 1, 1, 0]))
    seen = Sketch(np.arange(4, dtype=np.uint64), rows, least, greatest, 4)
    fold = SharedUnitsFold(cast(By, policy("by(arm, {A: top(a), B: top(b)})")), "user")
    found = fold.result({"seen": seen, "rows": np.array([3.0, 3.0])})
    assert (found.shared, found.by_row) == (0.5, 0.5)  # of the two with two rows, and by chance
