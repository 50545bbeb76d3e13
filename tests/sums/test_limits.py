"""Parts that know what other parts leave out keep less, and give the same in the end."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.checks.duplicates import ContentsFold
from offrank.checks.randomness import WholeContextsFold
from offrank.checks.repeats import RepeatsFold
from offrank.log.batch import NO_LIMIT, Limits
from offrank.log.source import Needs
from offrank.sums.base import total
from offrank.sums.sampled import KEPT, SampledRowsFold
from offrank_testing import same, take
from tests.exact.worlds import world

FOLDS = [
    SampledRowsFold(Needs(), 5),
    SampledRowsFold(Needs(), 40, cells=150),
    ContentsFold(15),
    RepeatsFold(offrank.PlackettLuce("old"), kept=40),
]


@pytest.mark.parametrize("fold", FOLDS, ids=["rows", "cells", "contents", "repeats"])
@pytest.mark.parametrize("seed", range(3))
def test_what_parts_tell_each_other_changes_nothing(fold: Any, seed: int) -> None:
    batch = world("top", "cascade").batch(offrank.PlackettLuce("old"))
    dealt = np.random.default_rng(seed).integers(0, 6, len(batch))
    pieces = [take(batch, np.flatnonzero(dealt == part)) for part in range(6)]
    limits = Limits()
    alone = [fold.of(replace(piece, limits=Limits())) for piece in pieces]
    told = [fold.of(replace(piece, limits=limits)) for piece in pieces]
    assert limits.of(fold) < NO_LIMIT
    assert len(pickle.dumps(told)) < len(pickle.dumps(alone))  # they keep less
    same(reduce(total, told), reduce(total, alone), 0.0, "merged")
    same(reduce(total, told[::-1]), reduce(total, alone), 0.0, "merged in reverse")


def test_contexts_of_two_kinds_keep_in_one_pass_what_each_keeps_alone() -> None:
    rows = 3 * KEPT  # all of one set of candidates
    table = pa.table({"slate": [[1, 2]] * rows, "clicks": [[0, 1]] * rows, "query": np.arange(rows) % 50})
    folds = [WholeContextsFold(Needs(frozenset(["candidates"])), by) for by in ("candidates", "query")]
    source = offrank.read_log(table).select(folds[0].needs() | folds[1].needs())
    batches = [batch for part in range(source.parts()) for batch in source.batches(part)]
    pieces = [take(batch, piece) for batch in batches for piece in np.array_split(np.arange(len(batch)), 6)]

    def kept(*folds: WholeContextsFold) -> list[Any]:
        limits, states = Limits(), [None for _ in folds]
        for piece in pieces:
            beside = replace(piece, limits=limits)
            states = [fold.add(state, beside) for fold, state in zip(folds, states, strict=True)]
        return states

    together = kept(*folds)
    assert [len(fold.result(state)) for fold, state in zip(folds, together, strict=True)] == [KEPT, KEPT]
    for state, fold in zip(together, folds, strict=True):
        same(state, kept(fold)[0], 0.0, fold.by)


def test_keys_of_several_parts_are_a_bound_together() -> None:
    limits = Limits()
    for keys in ([9, 4], [7, 4], [5]):
        assert limits.of("fold") == NO_LIMIT
        limits.note("fold", np.array(keys, np.uint64), 4)
    assert limits.of("fold") == 9  # four different ones are smaller or equal
    limits.note("fold", np.array([1], np.uint64), 4)
    assert limits.of("fold") == 7


def test_another_process_begins_anew() -> None:
    limits = Limits()
    limits.note("fold", np.empty(0, np.uint64), 4, np.uint64(7))
    limits.note("fold", np.empty(0, np.uint64), 4, np.uint64(9))
    assert limits.of("fold") == 7
    assert limits.of("other") == NO_LIMIT
    assert pickle.loads(pickle.dumps(limits)).of("fold") == NO_LIMIT
