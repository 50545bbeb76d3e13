"""A law that cannot say how likely some rows are is contradicted by them; it does not end the search for others."""

from __future__ import annotations

import numpy as np

from offrank.checks.fitted_logging_policy import drawn
from offrank.checks.randomness import WholeContextsFold
from offrank.log.batch import Contexts, LogBatch, RunCache, Shown
from offrank.log.source import Needs
from offrank.sums.sampled import SampledRowsFold

ROWS, ITEMS = 400, 4


def batch(*, tied: bool) -> LogBatch:
    """Rows in the order of either score by chance, some with equal scores."""
    rng = np.random.default_rng(1)
    scores = {name: rng.normal(size=(ROWS, ITEMS)) for name in ("old", "new")}
    if tied:
        scores["new"][::7, 0] = scores["new"][::7, 1]
    best = np.where(rng.random(ROWS)[:, None] < 0.5, *(np.argsort(-each, axis=1) for each in scores.values()))
    sizes = np.full(ROWS, ITEMS)
    contexts = Contexts(np.arange(ROWS * ITEMS).reshape(ROWS, ITEMS), sizes, sizes, scores)
    row = np.arange(ROWS, dtype=np.uint64)
    return LogBatch(contexts, Shown(best, {}), np.zeros((ROWS, ITEMS)), None, np.ones(ROWS), row, run=RunCache())


def test_ties_in_rows_of_whole_contexts_alone() -> None:
    wanted = Needs(frozenset(["candidates"]), scores=frozenset(["old", "new"]))
    whole, some = WholeContextsFold(wanted, "candidates"), SampledRowsFold(wanted)
    sample = some.result(some.of(batch(tied=False)))
    found = drawn(sample, samples={"candidates": whole.result(whole.of(batch(tied=True)))})
    merged = [one for one in found if "interleaved" in repr(one.policy)]
    assert merged
    assert all("has ties" in one.against for one in merged)
