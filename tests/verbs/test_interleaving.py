"""Logs of interleaved lists: `compare` decides them, with credit beside it, and `inspect` proposes it."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import ImpossibleSlateError
from tests.cli.commands import call

ITEMS, SLOTS, QUERIES = 10, 5, 12
LOGGING = "interleaved(top(a_score), top(b_score))"
RANKERS = {"A": "top(a_score)", "B": "top(b_score)"}
EXAMINED = np.array([1.0, 0.7, 0.5, 0.4, 0.3])
_RNG = np.random.default_rng(3)
RELEVANCE = _RNG.uniform(0.05, 0.7, (QUERIES, ITEMS))
NOISE = _RNG.normal(size=(3, QUERIES, ITEMS))


def draft(lists: np.ndarray, rng: np.random.Generator, fault: str = "") -> np.ndarray:
    """Team draft of [2, n, k] lists, item by item; with a fault one team is treated unlike the other."""
    merged = np.full(lists.shape[1:], -1)
    for row, both in enumerate(lists.swapaxes(0, 1).tolist()):
        ahead, shown = 0, list[int]()
        while len(shown) < SLOTS:
            coin = 0 if fault == "A begins" else int(rng.random() < 0.5)
            team = coin if ahead == 0 else int(ahead > 0)
            best = next(item for item in both[team] if item not in shown)
            ahead += 1 - 2 * team
            if fault == "B loses its turn" and team == 1 and best != both[1][len(shown) // 2]:
                continue  # to an item that A has shown
            shown.append(best)
        merged[row] = shown
    return merged


def log_of(scores: np.ndarray, rows: int, seed: int = 1, fault: str = "") -> pa.Table:
    """Scores [2 or 3, q, i] of the rankers that are merged, and of a third one."""
    rng = np.random.default_rng(seed)
    query, lists = rng.integers(0, QUERIES, rows), np.argsort(-scores, axis=2)[:, :, :SLOTS]
    slate = draft(lists[:2, query], rng, fault)
    clicks = rng.random(slate.shape) < EXAMINED * RELEVANCE[query[:, None], slate]
    columns = {"candidates": np.tile(np.arange(ITEMS), (rows, 1)), "slate": slate, "clicks": clicks.astype(int)}
    columns |= {f"{name}_score": one[query] for name, one in zip("abc", scores, strict=False)}
    made = {name: pa.array(values.tolist()) for name, values in columns.items()}
    return pa.table({"query": query, "user": np.arange(rows) // 5, **made})


def true_mean(score: np.ndarray) -> float:
    lists = np.argsort(-score, axis=1)[:, :SLOTS]
    return float((EXAMINED * np.take_along_axis(RELEVANCE, lists, axis=1)).sum(axis=1).mean())


CLEAR = RELEVANCE + np.array([0.5, 0.05, 0.2])[:, None, None] * NOISE
"""The second ranker knows more of the relevance than the first, and the third is between them."""


def test_a_clear_difference_is_decided_with_credit_beside_it_and_a_third_ranker() -> None:
    found = offrank.compare(log_of(CLEAR, 4000), {**RANKERS, "C": "top(c_score)"}, LOGGING, cluster="user")
    for name, one in zip("BC", found.comparisons, strict=True):
        away, true = one.verdict.difference, true_mean(CLEAR["ABC".index(name)]) - true_mean(CLEAR[0])
        assert away is not None
        assert (one.verdict.decision, one.verdict.trust, one.verdict.estimator) == ("better", "with care", "history")
        assert away.low < true < away.high
    credit = found.metadata.credit
    assert credit is not None
    assert (credit.first, credit.unit) == ("top(a_score)", "user")
    assert credit.deviates < -4
    assert credit.wins + credit.ties + credit.losses == pytest.approx(4000)
    assert credit.more + credit.even + credit.fewer == 800
    said = " ".join(str(found).split())
    assert f"Sign test by users: z = {-credit.deviates:.1f} for top(b_score)" in said
    assert "clicks depend on those above and the item below as the model says" in said


def test_rankers_that_earn_the_same_are_not_told_apart() -> None:
    mirrored = np.stack([RELEVANCE + 0.2 * NOISE[0], RELEVANCE + 0.2 * NOISE[0]])
    mirrored[1, :, ::2], mirrored[1, :, 1::2] = (
        mirrored[0, :, 1::2],
        mirrored[0, :, ::2],
    )  # pairs of items change places
    alike = RELEVANCE.copy()
    alike[:, 1::2] = alike[:, ::2]
    rng = np.random.default_rng(5)
    table = log_of(mirrored, 4000)
    slate = np.array(table["slate"].to_pylist())
    clicks = rng.random(slate.shape) < EXAMINED * alike[table["query"].to_numpy()[:, None], slate]
    table = table.set_column(table.column_names.index("clicks"), "clicks", pa.array(clicks.astype(int).tolist()))
    found = offrank.compare(table, RANKERS, LOGGING, cluster="user")
    assert found.comparisons[0].verdict.decision == "no clear difference"
    assert found.metadata.credit is not None
    assert abs(found.metadata.credit.deviates) < 3


def test_without_queries_items_are_judged_by_their_ranks() -> None:
    found = offrank.compare(log_of(CLEAR, 4000).drop_columns(["query"]), RANKERS, LOGGING, cluster=None)
    away, true = found.comparisons[0].verdict.difference, true_mean(CLEAR[1]) - true_mean(CLEAR[0])
    assert away is not None
    assert found.comparisons[0].verdict.estimator == "history"
    assert away.low < true < away.high
    assert found.metadata.credit is not None
    assert found.metadata.credit.unit == "list"


def test_rankers_that_share_nothing_are_not_judged_by_what_is_never_shown() -> None:
    apart = np.stack([RELEVANCE.copy(), RELEVANCE.copy()])
    apart[0, :, 5:] -= 5
    apart[1, :, :5] -= 5
    [one] = offrank.compare(log_of(apart, 1000), RANKERS, LOGGING, cluster=None).comparisons
    assert one.verdict.decision == "unknown"
    assert "guessed-items" in [reason.code for reason in one.verdict.reasons]


def test_what_is_no_click_is_left_out_and_said() -> None:
    table = log_of(CLEAR, 500)
    paid = [sum(row) * 2.0 for row in table["clicks"].to_pylist()]
    found = offrank.compare(table.append_column("reward", pa.array(paid)), RANKERS, LOGGING, "snips", cluster=None)
    assert "history could not sharpen the answer by past clicks: it needs clicks of 0 or 1" in " ".join(
        str(found).split()
    )


@pytest.mark.parametrize("fault", ["", "A begins", "B loses its turn"])
def test_a_merge_that_is_not_what_it_claims_is_refused(fault: str) -> None:
    table = log_of(CLEAR, 3000, fault=fault)
    if fault == "B loses its turn":
        with pytest.raises(ImpossibleSlateError, match="gives the logged slate probability 0"):
            offrank.compare(table, RANKERS, LOGGING, cluster=None)
        return
    found = offrank.compare(table, RANKERS, LOGGING, cluster=None)
    serious = [one.code for one in found.about_log if one.severity == "serious"]
    assert ("miscalibrated" in serious) == bool(fault)
    assert (found.comparisons[0].verdict.decision == "unknown") == bool(fault)


@pytest.mark.parametrize("kind", ["scores", "rankings"])
def test_inspect_proposes_the_comparison(kind: str, tmp_path: Path) -> None:
    table, names = log_of(CLEAR[:2], 1500), ("a_score", "b_score")
    ranker = "top({})"
    if kind == "rankings":
        ranker, names = "ranking({})", ("rank_a", "rank_b")
        lists = np.argsort(-CLEAR[:2], axis=2)[:, table["query"].to_numpy()]
        table = table.drop_columns(["a_score", "b_score"])
        for name, one in zip(names, lists, strict=True):
            table = table.append_column(name, pa.array(one.tolist()))
    path = tmp_path / "log.parquet"
    pq.write_table(table, path)
    found: Any = offrank.inspect(path)
    words, (one, other) = shlex.split(found.command), (ranker.format(name) for name in names)
    assert words[:2] == ["offrank", "compare"]
    assert words[-6:] == ["--target", one, "--target", other, "--logging", f"interleaved({one}, {other})"]
    said = call(*words[1:])
    assert said.exit_code in (0, 3)
    assert "Interleaving" in said.stdout


@pytest.mark.parametrize("unit", ["user", None])
def test_days_have_the_credit_of_the_whole_log(unit: str | None, tmp_path: Path) -> None:
    log, days = log_of(CLEAR, 300), (slice(0, 101), slice(101, 300))  # users span days
    if unit is None:
        log = log.drop_columns(["user"])
    for day, rows in enumerate(days):
        pq.write_table(log.take([*range(300)][rows]), tmp_path / f"{day}.parquet")
        offrank.compare(
            str(tmp_path / f"{day}.parquet"), RANKERS, LOGGING, state=tmp_path / f"{day}.state", cluster=unit
        )
    whole = offrank.compare(log, RANKERS, LOGGING, cluster=unit).metadata.credit
    merged = offrank.merge(str(tmp_path / "*.state"), state=tmp_path / "all.state")
    for found in (merged, offrank.merge(tmp_path / "all.state")):
        credit = found.metadata.credit
        assert credit is not None
        assert asdict(credit) == pytest.approx(asdict(whole), rel=1e-12)
        assert credit.more + credit.even + credit.fewer == pytest.approx(60 if unit else 300)
        assert found.metadata.left_out == "a state holds sums of rows, and no model that two logs could share"
    assert offrank.evaluate(log, RANKERS, LOGGING, state=tmp_path / "one.state").metadata.credit is None
