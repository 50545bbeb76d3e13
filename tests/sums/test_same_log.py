"""Fingerprints of rows: copies are found again, other logs of the same small world are not taken for copies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.findings.rows import LEAST
from offrank.log.batch import LogBatch
from offrank.log.source import Source
from offrank.running.executors import run
from offrank.sums.fingerprint import KEEP, Content, Fingerprint, FingerprintFold
from offrank.sums.same_log import share_learnt
from offrank_testing import check_fold, take

N = 10_000


def drawn(
    seed: int, n: int = N, items: int = 4, slots: int = 1, queries: int = 0, ctr: float = 0.3, plan: str = ""
) -> pa.Table:
    """Slates of a small world. plan: `turn` asks the queries in turn; `fixed` also shows each its own slate."""
    rng = np.random.default_rng(seed)
    query = np.arange(n) % queries if plan else rng.integers(0, max(queries, 1), n)
    slate = np.argsort(rng.random((n, items)), axis=1)[:, :slots]
    if plan == "fixed":
        slate = np.argsort((query[:, None] * 7919 + np.arange(items) * 104_729) % 1009, axis=1)[:, :slots]
    clicks = (rng.random((n, slots)) < ctr).astype(float)
    return pa.table({"slate": list(slate), "clicks": list(clicks), "query": query})


def fingerprint(log: Any, key: str | None, beside: Fingerprint | None = None) -> Fingerprint:
    fold = FingerprintFold(Content(key)) if beside is None else FingerprintFold.beside(beside)
    source: Source = offrank.read_log(log)
    return run(source.select(fold.content.needs()), fold)


def share(learnt: Any, judged: Any, key: str | None) -> float:
    first = fingerprint(learnt, key)
    return share_learnt(first, fingerprint(judged, key, first))


WORLDS: dict[str, dict[str, Any]] = {
    "four items": {},
    "four items, two slots": {"slots": 2},
    "four items that are seldom clicked": {"ctr": 0.01},
    "fifty queries": {"queries": 50},
    "fifty queries in turn": {"queries": 50, "plan": "turn"},
    "a thousand queries in turn": {"queries": 1000, "plan": "turn"},
    "a thousand queries in turn, seldom clicked": {"queries": 1000, "plan": "turn", "ctr": 0.01},
    "each query once": {"queries": N, "plan": "turn", "slots": 2},
    "each query once, seldom clicked": {"queries": N, "plan": "turn", "slots": 2, "ctr": 0.002},
    "each query twice, always the same slate": {"queries": N // 2, "plan": "fixed", "slots": 3},
    "long slates": {"items": 10, "slots": 5, "queries": 200},
}


@pytest.mark.parametrize("world", WORLDS)
def test_another_log_of_the_same_world_is_no_copy(world: str) -> None:
    """Day 1 against days 2 to 6; two thirds of a log against its last; days 2 to 6 together."""
    given = WORLDS[world]
    key = "query" if "queries" in given else None
    first = drawn(1, **given)
    learnt = fingerprint(first, key)
    days = [drawn(seed, **given) for seed in range(2, 7)]
    for other in (*days, pa.concat_tables(days)):
        assert share_learnt(learnt, fingerprint(other, key, learnt)) < LEAST
    dealt = np.random.default_rng(0).permutation(N)
    assert share(first.take(dealt[: 2 * N // 3]), first.take(dealt[2 * N // 3 :]), key) < LEAST


RICH = {name: world for name, world in WORLDS.items() if world.get("ctr", 0.3) > 0.1 and "queries" in world}


@pytest.mark.parametrize("world", RICH)
def test_a_copy_is_found_in_any_order_and_in_parts(world: str) -> None:
    first = drawn(1, **RICH[world])
    dealt = np.random.default_rng(0).permutation(N)
    assert share(first, first.take(dealt), "query") == pytest.approx(1, abs=0.05)
    assert share(first.take(dealt[: 2 * N // 3]), first, "query") == pytest.approx(2 / 3, abs=0.1)


@pytest.mark.parametrize("world", ["each query once", "long slates", "a thousand queries in turn"])
def test_a_part_and_a_larger_log_are_found(world: str) -> None:
    first, other = drawn(1, **WORLDS[world]), drawn(2, **WORLDS[world])
    part = first.take(np.random.default_rng(0).permutation(N)[:3_000])
    assert share(first, part, "query") == pytest.approx(1, abs=0.05)
    assert share(first, pa.concat_tables([other, first]), "query") == pytest.approx(1 / 2, abs=0.1)


@pytest.mark.parametrize("world", ["four items", "four items, two slots"])
def test_even_a_world_of_few_kinds_of_rows_knows_its_own_log(world: str) -> None:
    first = drawn(1, **WORLDS[world])
    assert share(first, first.take(np.random.default_rng(0).permutation(N)), None) == 1.0


def test_no_rows_and_other_worlds_have_nothing_in_common() -> None:
    first = fingerprint(drawn(1, n=500, queries=100), "query")
    empty = FingerprintFold(Content("query")).of(
        take(batch(drawn(1, n=500, queries=100), Content("query")), np.arange(0))
    )
    assert share_learnt(first, empty) == share_learnt(empty, first) == 0.0
    assert share_learnt(first, fingerprint(drawn(1, n=500, queries=100, items=9), "query", first)) == 0.0


def batch(log: Any, content: Content) -> LogBatch:
    source = offrank.read_log(log).select(content.needs())
    (found,) = source.batches(0)
    return found


@pytest.mark.parametrize("keep", [8, KEEP])
def test_a_fingerprint_is_the_same_under_any_partition_and_order(keep: int) -> None:
    content = Content("query")
    rows = batch(drawn(3, n=400, queries=30, slots=2), content)
    check_fold(FingerprintFold(content, keep), rows, np.random.default_rng(1), tolerance=0.0)
    assert len(FingerprintFold(content, keep).of(rows).keys) <= keep


FEATURED = {
    "slate": [[7, 5]],
    "candidates": [[5, 6, 7]],
    "features": [[[1], [2, 9], [3]]],
    "feature_values": [[[0.1], [1.0, -2.0], [3.0]]],
    "reward": [0.3],
    "propensity": [0.2],
}
SAME: dict[str, dict[str, Any]] = {
    "candidates and features in another order": {
        "candidates": [[6, 7, 5]],
        "features": [[[9, 2], [3], [1]]],
        "feature_values": [[[-2.0, 1.0], [3.0], [0.1]]],
    },
    "numbers of 32 bits": {
        "reward": [float(np.float32(0.3))],
        "feature_values": [[[float(np.float32(0.1))], [1.0, -2.0], [3.0]]],
    },
    "another propensity": {"propensity": [0.9]},
}
OTHER: dict[str, dict[str, Any]] = {
    "another slate": {"slate": [[5, 7]]},
    "another candidate": {"candidates": [[5, 8, 7]]},
    "another feature": {"features": [[[4], [2, 9], [3]]]},
    "another value": {"feature_values": [[[0.1], [1.0, -2.0], [3.5]]]},
    "features of another candidate": {
        "features": [[[2, 9], [1], [3]]],
        "feature_values": [[[1.0, -2.0], [0.1], [3.0]]],
    },
    "another reward": {"reward": [0.4]},
}


@pytest.mark.parametrize("change", [*SAME, *OTHER])
def test_what_tells_the_rows_of_policies_apart(change: str) -> None:
    content = Content(features=True)
    changed = {**FEATURED, **(SAME | OTHER)[change]}
    one, other = (int(content.keys(batch(pa.table(table), content))[0]) for table in (FEATURED, changed))
    assert (one == other) == (change in SAME)


def test_what_tells_sessions_apart() -> None:
    content = Content("query")

    def key(slate: list[int], clicks: list[float], query: int) -> int:
        return int(content.keys(batch(pa.table({"slate": [slate], "clicks": [clicks], "query": [query]}), content))[0])

    rows = [([1, 2], [0, 0], 1), ([2, 1], [0, 0], 1), ([1, 2], [1, 0], 1), ([1, 2], [0, 1], 1), ([1, 2], [0, 0], 2)]
    found = [key(*row) for row in rows]
    assert len(set(found)) == len(rows)
    assert len({one >> 32 for one in found[:4]}) == 1  # the same query
    assert found[0] >> 16 == found[2] >> 16 == found[3] >> 16  # the same slate
    assert found == [key(*row) for row in rows]
