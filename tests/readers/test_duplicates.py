"""Items that stand in a slate twice: refused, their first place, or each place; all counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import offrank
from offrank.clicks import DBN, DCTR, PBM, ClickModel
from offrank.errors import RowError, UsageError
from offrank.log.batch import LogBatch
from offrank.log.source import Needs

HOLES = Needs(frozenset(["clicks"]), keys=frozenset(["query"]), holes=True)
ROWS: list[dict[str, Any]] = [
    {"query": "q", "slate": ["a", "b", "a", None, "a", "b"], "clicks": [0, 1, 2, None, 0, 1]},
    {"query": "q", "slate": ["c", "b", "a"], "clicks": [1, 0, 0]},
    {"query": "q", "slate": ["d", "d"], "clicks": [-1, 0]},  # another fault
]
LONG = [
    {"impression": row, "query": "q", "item": item, "position": rank, "click": click}
    for row, one in enumerate(ROWS[:2])
    for rank, (item, click) in enumerate(zip(one["slate"], one["clicks"], strict=True), 1)
    if item is not None
]


def read(rows: list[dict[str, Any]], duplicates: Any, needed: Needs = HOLES, **how: Any) -> LogBatch:
    """The first batch, which holds the first row."""
    return next(iter(offrank.read_log(rows, duplicates=duplicates, **how).select(needed).batches(0)))


@pytest.mark.parametrize("rows", [ROWS[:2], LONG], ids=["wide", "long"])
def test_the_first_place_counts(rows: list[dict[str, Any]]) -> None:
    found = read(rows, "first")
    assert found.slates[0].tolist() == [0, 1, -1, -1, -1, -1]
    assert found.clicks is not None
    assert found.clicks[0].tolist() == [0, 1, 0, 0, 0, 0]
    assert found.skipped == {"place-repeated": 3, "click-on-repeat": 2}
    assert found.contexts.length[0] == 6


@pytest.mark.parametrize("rows", [ROWS[:2], LONG], ids=["wide", "long"])
def test_each_place_counts(rows: list[dict[str, Any]]) -> None:
    found = read(rows, "each")
    items = np.take_along_axis(found.contexts.candidates, np.maximum(found.slates, 0), axis=1)
    assert (items[0, 0] == items[0, 2] == items[0, 4]) & (items[0, 1] == items[0, 5] != items[0, 0])
    assert found.clicks is not None
    assert found.clicks[0].tolist() == [0, 1, 2, 0, 0, 1]
    assert found.skipped == {"repeat-counted": 3}


def test_rows_with_another_fault_are_not_counted() -> None:
    found = read(ROWS, "first", invalid="skip")
    assert found.skipped == {"bad-clicks": 1, "place-repeated": 3, "click-on-repeat": 2}


@pytest.mark.parametrize("duplicates", [None, "raise"])
def test_by_default_a_repeated_item_is_an_error(duplicates: str | None) -> None:
    with pytest.raises(RowError, match=r"duplicate-item(?s:.*)--duplicates first"):
        read(ROWS, duplicates)


def test_jobs_with_propensities_always_refuse_them() -> None:
    with pytest.raises(RowError, match="duplicate-item"):
        read([{"slate": ["a", "a"], "clicks": [0, 0]}], "each", Needs(frozenset(["clicks"])))


def test_there_are_three_rules() -> None:
    with pytest.raises(UsageError, match="duplicates is 'last'"):
        offrank.read_log(ROWS, duplicates="last")  # type: ignore[arg-type]


def test_a_log_without_duplicates_is_the_same_by_every_rule() -> None:
    plain, *others = (read(ROWS[1:2], duplicates) for duplicates in (None, "first", "each"))
    for found in others:
        assert found.slates.tolist() == plain.slates.tolist()
        assert found.skipped == plain.skipped == {}


@pytest.mark.parametrize(("duplicates", "rate"), [("first", 1 / 4), ("each", 2 / 6)])
def test_rates_count_impressions_by_the_rule(duplicates: Any, rate: float) -> None:
    model = DCTR(prior=(1, 1)).fit(offrank.read_log(ROWS[:2], duplicates=duplicates))
    found = {row["item"]: row["relevance"] for row in model.judgements().records()}
    assert found["a"] == pytest.approx(rate)
    told = " ".join(str(model).split())
    assert ("3 places were left out" if duplicates == "first" else "3 positions repeat a document of the same") in told


@pytest.mark.parametrize("model", [PBM(), DBN()])
def test_models_learn_from_lists_with_duplicates(model: ClickModel) -> None:
    fitted = model.fit(offrank.read_log(ROWS[:2] * 5, duplicates="each"))
    assert fitted.learnt.converged
    assert np.isfinite(fitted.score(offrank.read_log(ROWS[:2], duplicates="each")))
