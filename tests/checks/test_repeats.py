"""Rows whose probability nobody knows take no places of those that can be compared."""

from __future__ import annotations

from dataclasses import astuple, replace

import numpy as np
import pytest

from offrank.checks.repeats import RepeatsFold
from offrank.log.batch import Contexts, LogBatch, RunCache, Shown
from offrank.log.contexts import contexts_of_rows
from offrank.policies import policy


def batch(first: int, rows: int, items: int) -> LogBatch:
    """Rows of one context that all show items 0 and 1, of `items` candidates, with a logged probability of a half."""
    contexts = Contexts(np.tile(np.arange(7, 7 + items), (rows, 1)), np.full(rows, items), np.full(rows, 2))
    shown = Shown(np.tile([0, 1], (rows, 1)), {"propensity": np.full(rows, 0.5)})
    row = np.arange(first, first + rows, dtype=np.uint64)
    clicks = (row[:, None] >> np.arange(2, dtype=np.uint64) & np.uint64(1)).astype(float)
    return LogBatch(contexts, shown, clicks, None, np.ones(rows), row, run=RunCache())


def test_rows_that_list_only_what_they_show_are_left_out() -> None:
    fold = RepeatsFold(policy("logged"), kept=100)
    listed, unlisted = batch(0, 150, 3), batch(150, 5000, 2)
    alone = fold.of(listed)
    assert fold.of(unlisted) is None
    both = fold.add(fold.of(unlisted), listed)
    assert both.key.tolist() == alone.key.tolist()
    assert len(alone.key) == 100
    found = fold.result(both)
    assert found.pairs > 0
    assert found.observed > 1.5 * found.expected


def test_a_query_names_the_context_whatever_is_listed() -> None:
    fold = RepeatsFold(policy("logged"), by="query")
    rows = batch(0, 150, 2)
    named = LogBatch(
        rows.contexts, rows.shown, rows.clicks, None, rows.inclusion, rows.row, clusters={"query": np.ones(150, int)}
    )
    assert len(fold.of(named).key) == 150


@pytest.mark.parametrize("each", [7, 3_000])
def test_rows_in_another_order_repeat_as_often(each: int) -> None:
    """Of more rows than are kept, those of whole contexts are compared."""
    rows, rng = 40_000, np.random.default_rng(2)
    whole = replace(batch(0, rows, 5), clusters={"query": np.arange(rows) // each})
    slates = np.argsort(rng.random((rows, 5)), axis=1)[:, :2]
    whole = replace(whole, shown=Shown(slates, {"propensity": rng.uniform(0.03, 0.07, rows)}))
    order, fold = rng.permutation(rows), RepeatsFold(policy("logged"), by="query")
    first, second = (fold.result(fold.of(one)) for one in (whole, replace(whole.take(order), row=whole.row)))
    assert first.pairs > 5_000
    assert astuple(first)[2:] == pytest.approx(astuple(second)[2:], rel=1e-9)


def test_the_item_at_the_top_of_one_slot_is_its_slate_in_any_batch() -> None:
    """Where longer slates stand in the same batch, and where none does."""
    rows = 40
    size, length = np.full(rows, 3), np.repeat([1, 2], rows // 2)
    slates = np.where(np.arange(2) < length[:, None], np.array([0, 1]), -1)
    scores = {"old": np.tile([1.0, 0.5, 0.2], (rows, 1))}
    contexts = Contexts(np.tile([7, 8, 9], (rows, 1)), size, length, scores)
    clicks = np.zeros((rows, 2))
    whole = LogBatch(contexts, Shown(slates, {}), clicks, None, np.ones(rows), np.arange(rows, dtype=np.uint64))
    fold = RepeatsFold(policy("plackett_luce(old)"))
    short = np.flatnonzero(length == 1)
    alone = LogBatch(
        contexts_of_rows(contexts, short),
        Shown(slates[short, :1], {}),
        clicks[short, :1],
        None,
        np.ones(len(short)),
        whole.row[short],
    )
    together = dict(zip(fold.of(whole).key.tolist(), fold.of(whole).propensity.tolist(), strict=True))
    apart = dict(zip(fold.of(alone).key.tolist(), fold.of(alone).propensity.tolist(), strict=True))
    assert apart == {key: together[key] for key in apart}
    assert np.isfinite([*apart.values()]).all()
