"""Rows whose probability nobody knows take no places of those that can be compared."""

from __future__ import annotations

import numpy as np

from offrank.checks.repeats import RepeatsFold
from offrank.log.batch import Contexts, LogBatch, RunCache, Shown
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
