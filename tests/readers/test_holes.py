"""Ranks where nothing was shown: read by jobs that ask for them, refused by all others."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import offrank
from offrank.clicks import CM, DBN, PBM, RCTR, UBM, load
from offrank.errors import RowError
from offrank.log.batch import LogBatch
from offrank.log.source import Needs, Source, needs

HOLES = Needs(frozenset(["clicks"]), holes=True)
WIDE: list[dict[str, Any]] = [
    {"query": "a", "slate": [7, None, 9], "clicks": [0, None, 1]},
    {"query": "a", "slate": [None, 9], "clicks": [0, 0]},
    {"query": "b", "slate": [8], "clicks": [2]},
    {"query": "b", "slate": [8, 7, None, None], "clicks": [1, 0, 0, None]},
]
LONG: list[dict[str, Any]] = [
    {"impression": 1, "query": "a", "item": 9, "position": 3, "click": 1},
    {"impression": 1, "query": "a", "item": 7, "position": 1, "click": 0},
    {"impression": 1, "query": "a", "item": 5, "position": None, "click": None},
    {"impression": 2, "query": "a", "item": 9, "position": 2, "click": 0},
    {"impression": 3, "query": "b", "item": 8, "position": 1, "click": 2},
    {"impression": 4, "query": "b", "item": 7, "position": 2, "click": 0},
    {"impression": 4, "query": "b", "item": 8, "position": 1, "click": 1},
]


def read(log: Any, needed: Needs = HOLES, **options: Any) -> list[LogBatch]:
    source: Source = offrank.read_log(log, **options).select(needed)
    return [batch for part in range(source.parts()) for batch in source.batches(part)]


def shown(log: Any, needed: Needs = HOLES) -> list[tuple[list[int | None], list[float]]]:
    """(item or None at each rank, clicks) of each impression."""
    found = []
    for batch in read(log, needed):
        assert batch.clicks is not None
        for row, length in enumerate(batch.contexts.length):
            assert (batch.slates[row, length:] == -1).all()
            items = batch.contexts.candidates[row]
            slate = [None if place < 0 else int(items[place]) for place in batch.slates[row, :length]]
            found.append((slate, batch.clicks[row, :length].tolist()))
    return found


def test_wide() -> None:
    assert shown(WIDE) == [
        ([7, None, 9], [0, 0, 1]),
        ([None, 9], [0, 0]),
        ([8], [2]),
        ([8, 7, None, None], [1, 0, 0, 0]),
    ]


def test_long() -> None:
    """An empty rank below the lowest item cannot be told."""
    assert shown(LONG) == [([7, None, 9], [0, 0, 1]), ([None, 9], [0, 0]), ([8], [2]), ([8, 7], [1, 0])]


def test_candidates_are_items_only() -> None:
    batch, rest = read(LONG, HOLES | needs("candidates"))
    assert [*batch.contexts.size, *rest.contexts.size] == [3, 1, 1, 2]
    assert batch.contexts.candidates[0].tolist() == [9, 7, 5]
    assert batch.slates[0].tolist() == [1, -1, 0]
    (wide,) = read(WIDE)
    assert wide.contexts.size.tolist() == [2, 1, 1, 2]
    assert wide.contexts.length.tolist() == [3, 2, 1, 4]


@given(
    st.lists(
        st.lists(st.one_of(st.none(), st.integers(0, 2**40)), min_size=1, max_size=9, unique_by=lambda x: x or object())
        .filter(lambda slate: slate[-1] is not None)
        .filter(lambda slate: slate.count(0) < 2),
        min_size=1,
        max_size=9,
    ),
    st.integers(0, 99),
)
def test_layouts_agree(slates: list[list[int | None]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    clicks = [[0.0 if item is None else float(rng.integers(0, 3)) for item in slate] for slate in slates]
    wide = [{"slate": slate, "clicks": click} for slate, click in zip(slates, clicks, strict=True)]
    long = [
        {"impression": number, "item": item, "position": rank, "click": click[rank - 1]}
        for number, (slate, click) in enumerate(zip(slates, clicks, strict=True))
        for rank, item in rng.permutation(np.array(list(enumerate(slate, 1)), object)).tolist()
        if item is not None
    ]
    # Rows of unlike size go to batches of their own: in any order.
    expected = sorted(zip(slates, clicks, strict=True), key=str)
    assert sorted(shown(wide), key=str) == expected
    assert sorted(shown(long), key=str) == expected


@pytest.mark.parametrize(("log", "rule", "row"), [(WIDE, "null", 0), (LONG, "bad-position", 0)])
def test_other_jobs_refuse_holes(log: Any, rule: str, row: int) -> None:
    with pytest.raises(RowError) as caught:
        read(log, needs("clicks"))
    assert (caught.value.rule, caught.value.row) == (rule, row)


@pytest.mark.parametrize("log", [WIDE, LONG])
def test_an_estimate_refuses_holes(log: Any) -> None:
    with pytest.raises(RowError):
        offrank.evaluate(log, target="uniform", logging="uniform", estimators=["ips"])


FAULTS: list[tuple[str, list[dict[str, Any]], str]] = [
    ("not whole", [{**LONG[1], "position": 1.5}], "bad-position"),
    ("below 0", [{**LONG[1], "position": -1}], "bad-position"),
    ("twice", [LONG[1], {**LONG[0], "position": 1}], "bad-position"),
    ("beyond all lists", [{**LONG[1], "position": 10**12}], "bad-position"),
    ("no item", [LONG[1], {**LONG[0], "item": None}], "null"),
    ("an item twice", [LONG[1], {**LONG[0], "item": 7}], "duplicate-item"),
    ("nothing but holes", [{"slate": [None, None], "clicks": [0, 0]}], "empty-slate"),
    ("no list", [WIDE[0], {"slate": None, "clicks": [0]}], "null"),
    ("a click on a hole", [{"slate": [None, 1], "clicks": [1, 0]}], "bad-clicks"),
    ("a click that is null", [{"slate": [None, 1], "clicks": [0, None]}], "bad-clicks"),
    ("too few clicks", [{"slate": [None, 1], "clicks": [0]}], "ragged"),
]


@pytest.mark.parametrize(("log", "rule"), [pytest.param(log, rule, id=name) for name, log, rule in FAULTS])
def test_faults(log: list[dict[str, Any]], rule: str) -> None:
    with pytest.raises(RowError) as caught:
        read(log)
    assert caught.value.rule == rule


def test_faulty_impressions_are_skipped_and_the_others_keep_their_holes() -> None:
    wrong = [{"impression": 0, "query": "a", "item": one, "position": 2, "click": 0} for one in (1, 2)]
    batches = read([*wrong, *LONG], invalid="skip")
    assert [dict(batch.skipped) for batch in batches] == [{"bad-position": 1}, {}]
    assert batches[0].slates[0].tolist() == [0, -1, 1]


def drawn(rows: int = 4000, seed: int = 0) -> pa.Table:
    """A long log with results at ranks 1, 2 and 4, whose clicks are those of a PBM with examination 1 / rank."""
    rng = np.random.default_rng(seed)
    attraction, ranks = np.array([0.8, 0.5, 0.2]), np.array([1, 2, 4])
    order = np.argsort(rng.random((rows, 3)), axis=1)
    click = rng.random((rows, 3)) < attraction[order] / ranks
    return pa.table(
        {
            "impression": np.repeat(np.arange(rows), 3),
            "item": order.ravel(),
            "position": np.tile(ranks, rows),
            "click": click.astype(float).ravel(),
        }
    )


def test_click_models_learn_from_ranks_1_2_and_4(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    pq.write_table(drawn(), path, row_group_size=1000)
    model = PBM().fit(path)
    assert model.tally.holes == 4000
    assert model.tally.ranks == 4
    examination = model.examination()
    assert examination is not None
    assert examination[[0, 1, 3]] == pytest.approx([1, 1 / 2, 1 / 4], abs=0.05)
    result = offrank.evaluate_clicks(path, {"pbm": model})
    judged = result.here["pbm"]
    assert judged.sessions_at_rank == (4000, 4000, 0, 4000)
    assert [math.isnan(one.value) for one in judged.perplexity_at_rank] == [False, False, True, False]
    assert judged.perplexity.value == pytest.approx(np.nanmean([one.value for one in judged.perplexity_at_rank]))
    assert "nan" not in str(result)
    assert judged.tally.holes == 4000
    model.save(tmp_path / "model.json")
    assert json.loads((tmp_path / "model.json").read_text())["tally"]["holes"] == 4000
    assert load(tmp_path / "model.json").tally == model.tally


def test_holes_are_looked_past() -> None:
    """Of a cascade user, a hole costs nothing; a list without its holes says the same."""
    table = drawn(800).to_pylist()
    closed = [{**line, "position": min(line["position"], 3)} for line in table]
    with_holes, without = (CM().fit(log) for log in (table, closed))
    for name, values in without.learnt.parameters.items():
        assert with_holes.learnt.parameters[name] == pytest.approx(values, rel=1e-6)
    batch = read(table)[0]
    for model in (with_holes, DBN().fit(table), UBM().fit(table), RCTR().fit(table)):
        law = model.law(batch.contexts, batch.slates)
        assert batch.clicks is not None
        for chance in (law.marginal(), law.conditional(batch.clicks), law.sample(np.random.default_rng(0))):
            assert (chance[:, 2] == 0).all()
            assert (chance[:, 3] > 0).any()


def test_patterns_of_a_slate_with_a_hole_sum_to_one() -> None:
    model = DBN().fit(drawn(800).to_pylist())
    (batch,) = read(drawn(1).to_pylist())
    total = 0.0
    for pattern in itertools.product([0.0, 1.0], repeat=4):
        chance = model.conditional_click_probs(batch.contexts, batch.slates, np.array([pattern]))[0]
        total += float(np.where(np.array(pattern) > 0, chance, 1 - chance).prod())
    assert total == pytest.approx(1)
