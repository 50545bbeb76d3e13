"""Counting a log: by hand, under any partition, with pads, holes, repeated clicks and inclusion probabilities."""

from __future__ import annotations

import pickle
from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from offrank.clicks import DBN, DCTR, PBM, ClickModel
from offrank.clicks.click_counts import (
    ClickCounts,
    Counting,
    CountsFold,
    CountTable,
    browsing_cell,
    count_clicks,
    rank_of,
)
from offrank.clicks.documents import keys
from offrank.clicks.sessions import Sessions, SessionsFold, Tally, TrainingData, Weighed
from offrank.errors import EmptyLogError, UsageError
from offrank.log.batch import Contexts, LogBatch, Shown
from offrank_testing import check_fold
from tests.clicks.readers import log

Cell = tuple[int, int, int]


TWENTIETH = {"inclusion": [0.05] * 400}


def batch(n: int = 200, seed: int = 0) -> LogBatch:
    """Slates of up to five of six items, with holes; some ranks clicked twice; a third of the rows sampled."""
    rng = np.random.default_rng(seed)
    slates = np.argsort(rng.random((n, 6)), axis=1)[:, :5]
    slates[np.arange(5) >= rng.integers(1, 6, n)[:, None]] = -1
    slates[:, 1][rng.random(n) < 0.2] = -1
    clicks = np.where(slates >= 0, rng.integers(0, 3, slates.shape), 0).astype(float)
    candidates = rng.integers(0, 9, (n, 1)) + np.arange(6)
    contexts = Contexts(candidates, np.full(n, 6), np.full(n, 5), keys={"query": rng.integers(0, 4, n)})
    inclusion = np.where(rng.random(n) < 1 / 3, 0.25, 1.0)
    return LogBatch(
        contexts, Shown(slates), clicks, None, inclusion, np.arange(n, dtype=np.uint64), skipped={"rule": 3}
    )


def by_hand(log: LogBatch, by: str | None, *, browsing: bool) -> dict[Cell, list[float]]:
    found: dict[Cell, list[float]] = defaultdict(lambda: [0.0, 0.0])
    key, clicks = keys(log.contexts, by), log.clicks
    assert clicks is not None
    for row in range(len(log)):
        last = 0
        for rank, at in enumerate(log.slates[row].tolist()):
            if at < 0:
                continue
            cell = found[int(key[row, at]), rank, last if browsing else 0]
            cell[0] += 1 / log.inclusion[row]
            if clicks[row, rank]:
                cell[1] += 1 / log.inclusion[row]
                last = rank + 1
    return dict(found)


def as_dict(gathered: TrainingData) -> dict[Cell, list[float]]:
    counts: Any = gathered.data
    rank = rank_of(counts.cell) if counts.browsing else counts.cell
    last = counts.cell - browsing_cell(rank, np.zeros_like(rank)) if counts.browsing else np.zeros_like(rank)
    cells = zip(gathered.documents.keys[counts.document].tolist(), rank.tolist(), last.tolist(), strict=True)
    return dict(zip(cells, np.stack([counts.shown, counts.clicked], axis=1).tolist(), strict=True))


settings = pytest.mark.parametrize(("by", "browsing"), [("query", False), ("query", True), (None, False), (None, True)])


@settings
def test_counts_are_those_by_hand(by: str | None, browsing: bool) -> None:
    fold, rows = CountsFold(by, browsing), batch()
    found = fold.result(fold.of(rows))
    expected = by_hand(rows, by, browsing=browsing)
    assert as_dict(found) == {cell: pytest.approx(counts) for cell, counts in expected.items()}
    assert found.tally.impressions == 200
    assert found.tally.repeated == (rows.clicks == 2).sum()
    assert found.tally.skipped == {"rule": 3}


@settings
def test_laws_of_folds(by: str | None, browsing: bool) -> None:
    check_fold(CountsFold(by, browsing), replace(batch(seed=1), skipped={}), np.random.default_rng(0))


@pytest.mark.parametrize("browsing", [False, True])
def test_sessions_in_memory_give_the_same_counts(browsing: bool) -> None:
    rows, fold, sessions = batch(seed=2), CountsFold("query", browsing), SessionsFold("query")
    gathered = sessions.result(sessions.of(rows))
    assert isinstance(gathered.data, Sessions)
    again = TrainingData(gathered.documents, count_clicks(gathered.data, browsing=browsing), gathered.tally)
    direct = as_dict(fold.result(fold.of(rows)))
    assert as_dict(again) == {cell: pytest.approx(counts) for cell, counts in direct.items()}


def test_counts_by_last_click_add_up_to_those_by_rank() -> None:
    rows, fold = batch(seed=3), CountsFold("query", browsing=True)
    found = fold.result(fold.of(rows))
    assert isinstance(found.data, ClickCounts)
    ranks = TrainingData(found.documents, found.data.by_rank(), found.tally)
    expected = by_hand(rows, "query", browsing=False)
    assert as_dict(ranks) == {cell: pytest.approx(counts) for cell, counts in expected.items()}


def test_totals() -> None:
    counts = ClickCounts(
        np.array([0, 0, 2]), np.array([0, 1, 1]), np.array([5.0, 3.0, 2.0]), np.array([4.0, 1.0, 0.0]), 3, 3
    )
    shown, clicked = counts.by_document()
    assert (shown.tolist(), clicked.tolist()) == ([8, 0, 2], [5, 0, 0])
    shown, clicked = counts.by_cell()
    assert (shown.tolist(), clicked.tolist()) == ([5, 5, 0], [4, 1, 0])


def test_thinned_counts_keep_whole_documents() -> None:
    counts = ClickCounts(np.arange(10), np.zeros(10, int), np.arange(10.0), np.zeros(10), 10, 1)
    assert counts.thinned(3).shown.tolist() == [0, 3, 6, 9]
    assert counts.thinned(3).documents == 4
    assert counts.thinned(1).documents == 10


def test_every_cell_knows_its_rank() -> None:
    cells = [(rank, last) for rank in range(200) for last in range(rank + 1)]
    rank, last = np.array(cells).T
    assert browsing_cell(rank, last).tolist() == list(range(len(cells)))
    assert rank_of(np.arange(len(cells))).tolist() == rank.tolist()


def test_tables_differ_where_counts_do() -> None:
    rows = batch()
    one, other = (CountTable().add(batch(seed=seed), "query", browsing=False) for seed in (0, 1))
    assert one == CountTable().add(rows, "query", browsing=False)
    assert one != other
    assert one != CountTable().add(rows, None, browsing=False)
    assert one != "table"


@pytest.mark.parametrize("model", [DCTR(), PBM(), DBN()])
def test_thinning_a_log_evenly_makes_nothing_surer(model: ClickModel) -> None:
    """One row in twenty was kept: what is left is what it is, and not twenty times as much."""
    rng = np.random.default_rng(0)
    slates = np.argsort(rng.random((400, 9)), axis=1)[:, :3]
    clicks = rng.random((400, 3)) < 0.5 / np.arange(1, 4)
    whole, thinned = (model.fit(log(slates.tolist(), clicks.astype(int).tolist(), **more)) for more in ({}, TWENTIETH))
    for name, table in whole.learnt.parameters.items():
        assert thinned.learnt.parameters[name] == pytest.approx(table, rel=1e-6)
    for name, strength in whole.learnt.strength.items():
        assert thinned.learnt.strength[name] == pytest.approx(strength, rel=1e-4)


@pytest.mark.parametrize("fold", [CountsFold("query"), SessionsFold("query")])
def test_a_sampled_log_is_worth_fewer_sessions_than_it_has(fold: CountsFold | SessionsFold) -> None:
    rows = batch(seed=4)
    weight = 1 / rows.inclusion
    found: Any = fold.result(fold.of(rows))  # type: ignore[arg-type]
    assert found.worth == pytest.approx(weight.sum() / (weight**2).sum())
    assert weight.sum() * found.worth < 200


def test_a_fraction_of_a_click_is_refused_with_its_row() -> None:
    with pytest.raises(UsageError, match="row 1: a number of clicks is not whole"):
        PBM().fit(log([[1, 2], [2, 1]], [[0, 1], [0.5, 0]]), by=None)


def test_a_log_without_impressions_is_refused() -> None:
    fold = CountsFold()
    with pytest.raises(EmptyLogError):
        fold.result(Counting(CountTable(), Tally(), 0, Weighed(), {}))


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_table_from_another_process_grows(protocol: int) -> None:
    def table(first: int, documents: int) -> CountTable:
        keys, counts = np.zeros((documents, 3), np.int64), np.zeros((documents, 8, 2))
        keys[:, 2] = np.arange(first, first + documents)
        counts[:, 0] = 1
        return CountTable().add_blocks(keys, counts)

    sent = pickle.loads(pickle.dumps(table(0, 400), protocol=protocol))
    assert sent.add_blocks(*table(1_000, 5_000).held) == table(0, 400).add_blocks(*table(1_000, 5_000).held)
    assert len(sent.held[0]) == 5_400
