"""Random logs whose policy is none of one score: rankings merged, a shuffled top, drawn arms, a bucket, or unknown."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from tests.cli.commands import call

QUERIES, ITEMS, SLOTS, ROWS = 80, 6, 4, 3000


def team_draft(rng: np.random.Generator, one: list[int], other: list[int]) -> list[int]:
    """Two captains pick in turns, and a coin says who begins each round."""
    shown: list[int] = []
    while len(shown) < SLOTS:
        for ranking in (one, other) if rng.random() < 0.5 else (other, one):
            shown += [next(item for item in ranking if item not in shown)]
    return shown[:SLOTS]


def drawn(kind: str, *, scores: bool = True) -> list[dict[str, Any]]:
    """A log of one kind. scores: whether what its rankers sort by is in it."""
    rng, rows = np.random.default_rng(3), []
    old, new = rng.normal(size=(2, QUERIES, ITEMS))
    for _ in range(ROWS):
        query = int(rng.integers(QUERIES))
        one, other = (np.argsort(-each[query]).tolist() for each in (old, new))
        order, beside = one, {}
        if kind == "merged":
            order, beside = team_draft(rng, one, other), {"a": one, "b": other}
        elif kind == "shuffled":
            order = [*rng.permutation(one[:3]).tolist(), *one[3:]]
        elif kind == "bucket":
            explored = bool(rng.random() < 0.15)
            order, beside = (
                rng.permutation(ITEMS).tolist() if explored else one,
                {"zufall": "ja" if explored else "nein"},
            )
        elif kind == "arms":
            arm = int(rng.random() < 0.5)
            order = np.argsort(-((old, new)[arm][query] + rng.gumbel(size=ITEMS))).tolist()
            beside = {"variant": "AB"[arm]}
        elif kind == "noisy":
            order = np.argsort(-(old[query] + 0.4 * rng.normal(size=ITEMS))).tolist()
        sort = {"old": old[query].tolist(), "new": new[query].tolist()} if scores else {}
        clicks = (rng.random(SLOTS) < 0.3).astype(int).tolist()
        shown = {"slate": order[:SLOTS], "clicks": clicks, "candidates": [*range(ITEMS)]}
        rows.append({"query": f"q{query}", **shown, **sort, **beside})
    return rows


@pytest.mark.parametrize(
    ("kind", "policy"),
    [("merged", "interleaved(ranking(a), ranking(b))"), ("shuffled", "shuffled(top(old), 3, method=top)")],
)
def test_rankings_merged_and_a_shuffled_top_are_told(kind: str, policy: str) -> None:
    found = offrank.inspect(drawn(kind, scores=kind != "merged"))
    assert (found.logging.policy, found.logging.status) == (policy, "agrees")


def test_a_bucket_of_random_lists_is_read_alone(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    pq.write_table(pa.Table.from_pylist(drawn("bucket", scores=False)), path)
    found = offrank.inspect(path)
    assert (found.logging.policy, found.logging.status) == (None, "unknown")
    assert found.logging.bucket == "zufall = 'ja'"
    alone = call(*shlex.split(found.command)[1:])
    assert "Other rankings can be evaluated, with weights from uniform" in " ".join(alone.stdout.split())


@pytest.mark.parametrize("name", ["nein", "control"])
def test_an_arm_of_a_test_is_no_bucket(name: str) -> None:
    rows = [{**row, "zufall": {"nein": name}.get(row["zufall"], "ja")} for row in drawn("bucket", scores=False)]
    assert (offrank.inspect(rows).logging.bucket == "zufall = 'ja'") == (name == "nein")


def test_drawn_arms_of_a_test_are_arms(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    pq.write_table(pa.Table.from_pylist(drawn("arms")), path)
    found = offrank.inspect(path)
    assert (found.logging.status, found.logging.column) == ("arms", "variant")
    laws = {value: law.partition(",")[0] for value, law in found.logging.arms.items()}
    assert laws == {"A": "plackett_luce(old", "B": "plackett_luce(new"}
    said = " ".join(str(found).split())
    assert "Random rankers, identified by variant" in said
    assert "Without randomness" not in said
    assert call(*shlex.split(found.command)[1:]).exit_code in (0, 3)


def test_a_column_that_tells_no_arms_is_none() -> None:
    rng = np.random.default_rng(0)
    rows = [{**row, "variant": "AB"[int(rng.random() < 0.5)]} for row in drawn("shuffled")]
    assert offrank.inspect(rows).logging.status == "agrees"


def test_random_by_an_unknown_policy_is_an_answer_with_ways_to_say_it() -> None:
    found = offrank.inspect(drawn("noisy"))
    assert (found.logging.policy, found.logging.status, found.logging.randomness.state) == (None, "unknown", "random")
    said = " ".join(str(found).split())
    assert "This log is random, but the policy that drew it is unknown" in said
    random = found.logging.randomness
    assert f"{random.differing:,} of {random.pairs:,} pairs of rows of one query differ" in said
    for way in ('logging="counted(by=query)"', 'columns={"propensity": "NAME"}', 'where="explored = 1"'):
        assert way in said
    assert "nothing shows that this log is random" not in said
