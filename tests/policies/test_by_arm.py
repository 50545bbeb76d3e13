"""Rankers told by a column of the log: what they refuse, how values are read, and what the verbs say of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import ImpossibleSlateError, RowError, UsageError
from offrank.log.batch import Contexts
from offrank.policies import By, Top, policy

ROWS = 300
ARMS = "by(arm, {A: top(a), B: top(b)})"
#: values of an arm column in a log, and how `by` names them
VALUES: dict[str, tuple[pa.Array, str]] = {
    "words": (pa.array(["A", "B"]), "{A: top(a), B: top(b)}"),
    "numbers": (pa.array([0, 1]), "{0: top(a), 1: top(b)}"),
    "negative numbers": (pa.array([-1, 1], pa.int8()), "{-1: top(a), 1: top(b)}"),
    "numbers as words": (pa.array([3, 4]), "{'3': top(a), '4': top(b)}"),
    "words of digits": (pa.array(["3", "04"]), "{3: top(a), '04': top(b)}"),
    "truth": (pa.array([False, True]), "{False: top(a), True: top(b)}"),
    "categories": (pa.array(["ä", "B b"]).dictionary_encode(), "{ä: top(a), 'B b': top(b)}"),
}


def table(values: pa.Array = VALUES["words"][0]) -> pa.Table:
    """A log of two rankers, each sorting by a column of its own."""
    rng = np.random.default_rng(5)
    arm = (rng.random(ROWS) < 0.4).astype(int)
    scores = rng.random((2, ROWS, 5))
    slates = np.argsort(-scores[arm, np.arange(ROWS)], axis=1)[:, :3]
    return pa.table(
        {
            "arm": values.take(pa.array(arm)),
            "slate": slates.tolist(),
            "candidates": [list(range(5))] * ROWS,
            "a": scores[0].tolist(),
            "b": scores[1].tolist(),
            "clicks": (rng.random(slates.shape) < 0.3).astype(int).tolist(),
        }
    )


@pytest.mark.parametrize("kind", VALUES)
def test_values_of_any_kind_are_told_apart(kind: str) -> None:
    values, named = VALUES[kind]
    log = table(values)
    same = offrank.evaluate(log, f"by(arm, {named})", f"by(arm, {named})", ["ips", "snipm"])
    assert [one.value for one in same.estimates.values()] == pytest.approx([same["ips"].value] * 2)
    assert same["ips"].mean_weight == 1.0


def test_a_value_without_a_policy_is_named_with_file_and_row(tmp_path: Path) -> None:
    log = table()
    arms = log["arm"].to_pylist()
    arms[271] = "C"
    path = tmp_path / "log.parquet"
    pq.write_table(log.set_column(0, "arm", pa.array(arms)), path, row_group_size=100)
    with pytest.raises(RowError, match=re.escape("log.parquet, row 271 (the first is 0), column 'arm'")) as error:
        offrank.evaluate(str(path), "top(a)", ARMS, "ips")
    assert "'C'" in error.value.detail
    assert "A, B" in error.value.remedy


@pytest.mark.parametrize("around", ["pinned", "filtered"])
def test_so_it_is_inside_a_policy_of_fewer_candidates(around: str) -> None:
    log = table()
    log = log.append_column("some", pa.array([[int(around == "filtered")] * 5] * ROWS))
    with pytest.raises(RowError, match="no policy is given for 'B'") as error:
        offrank.evaluate(log, f"{around}(by(arm, {{A: top(a)}}), some)", "uniform", "snips")
    assert f"row {log['arm'].to_pylist().index('B')} " in str(error.value)


def test_an_arm_that_never_served_is_no_side_of_an_ab_test() -> None:
    log, query = table(), pa.array([str(row % 9) for row in range(ROWS)])
    log = log.filter(pc.equal(log["arm"], "A")).append_column("user", query[: log["arm"].to_pylist().count("A")])
    found = offrank.compare(log, {"a": "top(a)", "b": "top(b)"}, f"balanced({ARMS})", cluster="user")
    told = found.to_dict()["ab_test"]
    assert [arm["impressions"] for arm in told["arms"]] == [len(log), 0]
    assert told["arms"][1]["mean"] == dict.fromkeys(("value", "low", "high", "standard_error"))
    assert not told["compared"]


def test_a_list_that_the_row_s_ranker_cannot_show_is_refused() -> None:
    log = table()
    swapped = log.set_column(0, "arm", pa.array(["B" if arm == "A" else "A" for arm in log["arm"].to_pylist()]))
    with pytest.raises(ImpossibleSlateError):
        offrank.evaluate(swapped, "top(a)", ARMS, "ips")


@pytest.mark.parametrize(
    ("policies", "why"),
    [
        ({}, "is not a mapping"),
        ("A", "is not a mapping"),
        ({"A": "top(a)"}, "is not a policy"),
        ({1.5: Top("a")}, "1.5 cannot be the value of a column"),
        ({1: Top("a"), "1": Top("b")}, "two policies for '1'"),
    ],
)
def test_what_is_no_mapping_of_values_to_policies_is_refused(policies: Any, why: str) -> None:
    with pytest.raises(UsageError, match=re.escape(why)):
        By("arm", policies)


def test_contexts_alone_are_refused_too() -> None:
    here = Contexts(np.zeros((1, 1), np.int64), np.ones(1, np.int64), np.ones(1, np.int64), keys={"arm": np.array([2])})
    with pytest.raises(UsageError, match="no policy for the value of 'arm' with the code 2"):
        policy("by(arm, {0: uniform, 1: uniform})").rank_probs(here, np.zeros((1, 1), np.int64))  # type: ignore[union-attr]
