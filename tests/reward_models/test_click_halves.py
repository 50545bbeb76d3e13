"""Rows are told apart by what they say: another order of a log divides it into the same halves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.clicks import Cascading
from offrank.errors import EmptyLogError
from offrank.estimators import estimator
from offrank.log.source import Needs
from offrank.readers.log import read_log
from offrank.reward_models import click_halves
from tests.estimators.test_click_weights import EXACT, sorted_log


def exactly_alike(one: Any, other: Any, *, ends: bool = True) -> None:
    for name in ("value", "low", "high") if ends else ("value",):
        assert getattr(other, name) == pytest.approx(getattr(one, name), rel=EXACT, abs=0)


def shuffled(log: pa.Table) -> pa.Table:
    return log.take(pa.array(np.random.default_rng(1).permutation(len(log))))


@pytest.mark.parametrize("spelling", ["weights(dbn)", "weights(pbm)"])
def test_a_log_of_sorted_rankings_in_another_order(spelling: str) -> None:
    """Most rows are copies: only how many of them are in which half matters."""
    log, asked = sorted_log(30_000), {"estimators": [spelling], "cluster": None}
    one, other = (offrank.evaluate(each, "top(new)", **asked)[spelling] for each in (log, shuffled(log)))
    exactly_alike(one, other)
    short = offrank.evaluate(log.slice(0, 29_000), "top(new)", **asked)[spelling]
    assert short.value != pytest.approx(one.value, rel=1e-6)  # so much would another division move it


def test_a_log_with_scores_in_another_order_and_in_parts(tmp_path: Path) -> None:
    """Also what is drawn of a target that draws follows from what rows say."""
    log, found = scored_log(30_000), []
    pq.write_table(shuffled(log), tmp_path / "parts.parquet", row_group_size=7_000)
    for each in (log, tmp_path / "parts.parquet"):
        asked = (
            each,
            {"top": "top(new)", "any": "epsilon(top(new), 0.5)"},
            "plackett_luce(old)",
            ["weights(dbn, draws=2)"],
        )
        found.append(offrank.estimate(*asked, cluster=None))
    for target in ("top", "any"):
        exactly_alike(*(each[target, "weights(dbn, draws=2)"] for each in found))


@pytest.mark.parametrize("make", ["sorted", "scored"])
def test_items_and_queries_under_other_names_fall_into_the_same_halves(make: str) -> None:
    log = sorted_log(5_000) if make == "sorted" else scored_log(5_000)
    rng, logging = np.random.default_rng(2), () if make == "sorted" else ("plackett_luce(old)",)
    names = rng.permutation(1000)
    other = log.set_column(
        log.column_names.index("slate"), "slate", [names[np.array(log["slate"].to_pylist())].tolist()]
    )
    if make == "sorted":
        other = other.set_column(0, "query", [rng.permutation(8)[np.array(log["query"])]])
    else:
        candidates = names[np.array(log["candidates"].to_pylist())].tolist()
        other = other.set_column(log.column_names.index("candidates"), "candidates", [candidates])
    one, two = (
        offrank.estimate(each, "top(new)", *logging, estimators="weights(pbm)", cluster=None) for each in (log, other)
    )
    exactly_alike(one["weights(pbm)"], two["weights(pbm)"], ends=False)  # the draws of documents follow their names


def scored_log(rows: int) -> pa.Table:
    """Slates of 4 of 6 items by Plackett-Luce, each row with scores of its own."""
    rng = np.random.default_rng(3)
    old, new = rng.exponential(size=(2, rows, 6))
    slates = np.argsort(-(np.log(old) + rng.gumbel(size=old.shape)), axis=1)[:, :4]
    going = np.full((rows, 4), 0.8)
    attraction = np.linspace(0.1, 0.7, 6)[slates]
    clicks = Cascading(attraction, going * (1 - attraction / 2), going).sample(rng).astype(int)
    columns = {"slate": slates, "clicks": clicks, "old": old, "new": new}
    made = {name: values.tolist() for name, values in columns.items()}
    return pa.table({**made, "candidates": [[*range(6)]] * rows})


def halves_of(log: pa.Table, told: Needs | None = None) -> Any:
    """The half of each row."""
    made = estimator("weights(pbm)").model.by_halves(read_log(log), (), told=told)
    (batch,) = read_log(log).select(made.needs()).batches(0)
    (first, _), (second, _) = made.parts(batch)
    assert sorted([*first, *second]) == [*range(len(log))]
    return np.isin(np.arange(len(log)), second)


def test_clicks_are_in_halves_by_chance() -> None:
    """Of rows that say the same, as many are in each half as coins would bring: halves are not balanced by clicks."""
    log = sorted_log(30_000)
    half, query = halves_of(log), np.array(log["query"])
    clicked = np.array(log["clicks"].to_pylist())
    codes = query * 16 + clicked @ [8, 4, 2, 1]
    away = [
        (half[codes == one].sum() - size / 2) ** 2 / (size / 4) for one, size in enumerate(np.bincount(codes)) if size
    ]
    assert 0.6 * len(away) < sum(away) < 1.5 * len(away)  # chi square: a standard deviation is 15 % of it
    assert abs(half.mean() - 0.5) < 4 * 0.5 / len(half) ** 0.5


TOLD = Needs(frozenset(["candidates"]), frozenset(["old"]))


@pytest.mark.parametrize(
    ("made", "cells", "moves"),
    [("scored", 16_000, False), ("scored", 15_999, False), ("copied", 16_000, False), ("copied", 15_999, True)],
)
def test_of_too_many_rows_those_with_copies_are_told_apart_by_place(
    made: str, cells: int, moves: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """4,000 rows of 4 slots, of which 3 % say the same as another one in the copied log, and have the same clicks."""
    monkeypatch.setattr(click_halves, "MOST_SHOWN", cells)
    log = scored_log(4_000)
    rows = np.arange(4_000) if made == "scored" else np.minimum(np.arange(4_000), 3_880)
    log, order = log.take(pa.array(rows)), np.random.default_rng(1).permutation(4_000)
    one, other = halves_of(log, TOLD), halves_of(log.take(pa.array(order)), TOLD)
    alone = rows[order] < 3_880
    assert bool((one[order] != other)[alone].mean() > 0.4) is moves
    if not moves:
        assert np.array_equal(one[order][alone], other[alone])
        assert one.sum() == other.sum()


def test_a_row_that_breaks_a_rule_of_what_tells_rows_apart_is_left_out_everywhere() -> None:
    log = scored_log(200)
    old = log["old"].to_pylist()
    old[7] = [-1.0] * 6
    broken = log.set_column(log.column_names.index("old"), "old", [old])
    kept = log.take(pa.array([one for one in range(200) if one != 7]))
    sources = offrank.read_log(broken, invalid="skip"), offrank.read_log(kept)
    asked = "top(new)", "plackett_luce(old)", "weights(pbm)"
    one, other = (offrank.estimate(source, *asked, cluster=None)["weights(pbm)"] for source in sources)
    exactly_alike(one, other)


def test_a_log_without_rows_is_refused() -> None:
    with pytest.raises(EmptyLogError):
        offrank.evaluate(sorted_log(10).slice(0, 0), "top(new)", estimators=["weights(pbm)"])
