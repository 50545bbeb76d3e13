"""Terms of the history of clicks: the influence of a row against models learnt without it; bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.estimators.history import WIDER, ArmRowsFold, ArmRowsState, ArmsHistory, history_of
from offrank.log.batch import LogBatch
from offrank.log.hashing import hashed
from offrank.sums.base import total
from tests.verbs.test_ab_test import columns

ARMS = offrank.By("arm", {"A": offrank.Top("a_score"), "B": offrank.Top("b_score")})


def batches(rows: int = 800, each: int = 800) -> Iterator[LogBatch]:
    """The rows of an A/B test of some queries."""
    made = columns(rows=rows)
    kept = [row for row in range(rows) if int(made["query"][row]) < 12]
    table = pa.table({name: [values[row] for row in kept] for name, values in made.items()})
    log = offrank.read_log(lambda: iter(table.to_batches(max_chunksize=each))).select(ArmRowsFold(ARMS).needs())
    for part in range(log.parts()):
        yield from log.batches(part)


def state_of(fold: ArmRowsFold, some: Any, *, apart: bool = False) -> ArmRowsState:
    """The rows of batches; equal ones apart, if so said."""
    state = ArmRowsState(most=fold.most, different=None) if apart else None
    for batch in some:
        state = fold.add(state, batch)
    return fold.result(state)


def learnt(state: ArmRowsState) -> ArmsHistory:
    found = history_of(ARMS, state).found
    assert isinstance(found, ArmsHistory)
    assert found.known == 1
    return found


def plain(found: ArmsHistory, state: ArmRowsState) -> tuple[np.ndarray, float]:
    """What the model expects of B more than of A in each row, and its mean."""
    [rows] = state.rows
    lists = np.searchsorted(found.keys, rows.documents)
    one, other = (found.model.expected(np.ascontiguousarray(lists[:, arm]))[0] for arm in (2, 1))
    return one - other, float(np.average(one - other, weights=rows.weight))


def test_the_term_of_a_row_is_how_it_moves_the_model() -> None:
    """Each of some rows is counted twice, and all is learnt anew."""
    fold = ArmRowsFold(ARMS)
    [batch] = batches(4000, 4000)
    state = state_of(fold, [batch], apart=True)
    [rows], found = state.rows, learnt(state)
    terms = (found.terms(batch) @ [-1.0, 1.0])[np.argsort(hashed(batch.row), kind="stable")]  # as the rows are kept
    away, value = plain(found, state)
    known, moved = [], []
    for row in range(0, len(rows), len(rows) // 16):
        weight = rows.weight.copy()
        weight[row] += 1
        heavier = replace(state, different=None, pieces=(replace(rows, weight=weight),))
        again = plain(learnt(heavier), heavier)[1]
        moved.append((again - value) * weight.sum() - (away[row] - value))
        known.append(terms[row] - away[row])
    assert np.corrcoef(known, moved)[0, 1] > 0.97
    slope = np.dot(known, moved) / np.dot(known, known)  # terms are widened
    assert 0.8 < slope * WIDER < 1.1
    assert terms.mean() == pytest.approx(value, abs=0.05 * terms.std() / np.sqrt(len(terms)))


def test_a_large_log_is_learnt_from_in_bounded_memory() -> None:
    """The rows with the smallest hashes are kept, in whatever parts the log is read; all rows have terms."""
    fold = ArmRowsFold(ARMS, most=150)
    parts = [one.take(rows) for one in batches(each=50) for rows in np.array_split(np.arange(len(one)), 8)]
    one = state_of(fold, parts, apart=True)
    left, right = state_of(fold, parts[:2], apart=True), state_of(fold, parts[2:], apart=True)
    other = fold.result(total(right, left))
    [all_rows] = state_of(ArmRowsFold(ARMS), parts, apart=True).rows
    every = np.sort(all_rows.key)
    for state in (one, other):
        [rows] = state.rows
        assert sorted(rows.key.tolist()) == every[:150].tolist()
    whole, some = learnt(state_of(ArmRowsFold(ARMS), parts)), history_of(ARMS, one).found
    assert isinstance(some, ArmsHistory)
    means = [np.concatenate([each.terms(batch) for batch in parts]) @ [-1.0, 1.0] for each in (whole, some)]
    error = means[0].std() / np.sqrt(len(means[0]))
    assert abs(means[1].mean() - means[0].mean()) < 2 * error


@pytest.mark.parametrize("most", [120, 100])
def test_equal_rows_are_one_so_that_another_order_learns_the_same(most: int) -> None:
    """Of more rows than are kept, of which few differ; where too many do, their numbers choose."""
    [whole] = batches(rows=4_000, each=4_000)
    rows = len(whole)
    shuffled = replace(whole.take(np.random.default_rng(3).permutation(rows)), row=whole.row)
    pieces = [shuffled.take(some) for some in np.array_split(np.arange(rows), 9)]
    states = [state_of(ArmRowsFold(ARMS, most=most), some) for some in ([whole], pieces)]
    [first], [second] = (state.rows for state in states)
    assert len(state_of(ArmRowsFold(ARMS), [whole]).rows[0]) == 113
    assert rows > 1_000
    if most > 113:
        assert first.times.sum() == rows
        assert first.weight == pytest.approx(second.weight)
        terms = [learnt(state).terms(whole) for state in states]
        assert terms[0] == pytest.approx(terms[1], rel=1e-9)
    else:
        assert first.times.tolist() == [1] * most
        assert not np.array_equal(first.documents, second.documents)
