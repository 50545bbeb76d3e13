"""Tables that have none of our names: the roles of their columns, what is asked, and answers that stay the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import offrank
from benchmarks.strangers.forms import (
    CLICKS,
    DECOYS,
    POSITIONS,
    TRAPS,
    VOCABULARIES,
    Form,
    own_form,
    random_form,
    roles,
    wide_log,
    written,
)
from benchmarks.strangers.spelling import BATCHES
from benchmarks.strangers.tables import judged
from offrank.errors import ColumnError
from offrank.log.source import Needs
from offrank.readers.description import Description
from offrank.readers.long import LongLog
from offrank.readers.wide import WideLog

QUESTION: dict[str, Any] = {
    "target": "plackett_luce(score, temperature=2)",
    "logging": "plackett_luce(score)",
    "estimators": ["ips", "snips"],
}


def read(table: Any, columns: dict[str, str] | None = None) -> tuple[WideLog | LongLog, Description]:
    """The log that a table is read as, and how its columns were found."""
    log = offrank.read_log(table, columns)
    assert isinstance(log, WideLog | LongLog)
    assert log.description.layout != "none"
    return log, log.description


def columns_of(found: Description) -> dict[str, str]:
    return dict(found.roles)


def answers(log: Any) -> list[float]:
    found = offrank.evaluate(log, **QUESTION)
    return [number for name in QUESTION["estimators"] for number in (found[name].value, found[name].standard_error)]


FORMS = [
    *(
        Form(trade, order=order, top=top)
        for trade in VOCABULARIES
        for order, top in (("shuffled", 0), ("by position", 1))
    ),
    *(Form(trade, "wide", order=order) for trade in VOCABULARIES for order in ("by list", "shuffled")),
    *(Form(click=click, pool=pool, order="shuffled") for click in CLICKS for pool in (True, False)),
    *(Form(position=position) for position in POSITIONS),
    *(Form(decoys=(name,)) for name in DECOYS),
    *(Form(trade, layout, decoys=DECOYS) for trade in VOCABULARIES for layout in ("wide", "long")),
]


@pytest.mark.turns(3)
@pytest.mark.parametrize("form", FORMS, ids=repr)
def test_a_log_in_any_form_gives_the_same_roles_and_answers(form: Form) -> None:
    rng = np.random.default_rng(3)
    rows = wide_log(rng)
    log, found = read(written(rows, form, rng))
    assert columns_of(found) == roles(form)
    assert not found.unsettled
    assert not found.lacks
    assert answers(log) == pytest.approx(answers(own_form(rows, form)), rel=0, abs=1e-12)


@pytest.mark.turns(3)
@pytest.mark.parametrize("seed", range(12))
def test_what_was_found_reproduces_the_reading(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = written(wide_log(rng), random_form(rng), rng)
    log, found = read(table)
    again = offrank.read_log(table, found.columns)
    assert again == log
    assert again.description.groups == log.description.groups
    assert answers(again) == answers(log)


@pytest.mark.parametrize("name", TRAPS)
def test_what_is_open_is_asked_for(name: str) -> None:
    with pytest.raises(ColumnError) as raised:
        offrank.read_log(TRAPS[name](np.random.default_rng(0)))
    told = str(raised.value)
    expected = {
        "ratings": "it has ratings ('rating' by 'user_id' of 'movie_id'), but not the lists that were shown",
        "orders": 'columns={"click": "returned"}',
        "totals": "a row counts several impressions, in 'impressions'",
        "lists of queries": "its own id",
        "two clicks": 'columns={"click": "is_click"}, or columns={"click": "n_clicks"}',
        "unnamed click": 'columns={"click": "flag"}, or columns={"click": "in_stock"}',
        "no click": "no column says what was clicked",
        "no position": "no column is an id that repeats",
        "no impression": "no column identifies the list in which an item was shown",
        "no item": "no column names the items",
    }
    assert expected[name] in told


@pytest.mark.parametrize("name", ["two clicks", "unnamed click"])
def test_the_first_option_settles_it(name: str) -> None:
    table = TRAPS[name](np.random.default_rng(0))
    with pytest.raises(ColumnError) as raised:
        offrank.read_log(table)
    assert raised.value.remedy is not None
    click = {"two clicks": "is_click", "unnamed click": "flag"}[name]
    assert f'columns={{"click": "{click}"}}' in raised.value.remedy
    log, found = read(table, {"click": click})
    assert columns_of(found)["click"] == click
    assert offrank.evaluate(log, "uniform", "uniform", "ips")["ips"].n == 120


LISTS = [["a", "b", "c"], ["c", "d", "a"], ["b", "a", "d"], ["d", "c", "b"]] * 10
CLICKED = [["b"], [], ["b", "d"], ["d"]] * 10
FLAGS = [[int(item in clicked) for item in shown] for shown, clicked in zip(LISTS, CLICKED, strict=True)]
FIRST = [clicked[0] if clicked else None for clicked in CLICKED]


def _long(**more: list[Any]) -> dict[str, list[Any]]:
    """A row per item of LISTS."""
    return {
        "reqNo": [f"r{row}" for row in range(40) for _ in range(3)],
        "thing": [item for shown in LISTS for item in shown],
        "spot": [1, 2, 3] * 40,
        **more,
    }


EVERY = [flag for flags in FLAGS for flag in flags]
WHEN = np.datetime64("2024-05-01T10:00:00", "s")
TIMES = [WHEN if flag else None for flag in EVERY]
STRANGERS: dict[str, tuple[dict[str, list[Any]], dict[str, str]]] = {
    "flags beside lists": ({"shown": LISTS, "was_clicked": FLAGS}, {"slate": "shown", "clicks": "was_clicked"}),
    "clicked ids": ({"recs": LISTS, "clicked_ids": CLICKED}, {"slate": "recs", "clicks": "clicked_ids"}),
    "the clicked id": ({"results": LISTS, "clicked_doc": FIRST}, {"slate": "results", "clicks": "clicked_doc"}),
    "clicked ids in JSON": (
        {
            "recs": [str(one).replace("'", '"') for one in LISTS],
            "clicked": [str(one).replace("'", '"') for one in CLICKED],
        },
        {"slate": "recs", "clicks": "clicked"},
    ),
    "purchases beside": (
        {"tracks": LISTS, "clicks": FLAGS, "purchased": CLICKED, "pool": [["a", "b", "c", "d"]] * 40},
        {"slate": "tracks", "clicks": "clicks", "candidates": "pool"},
    ),
    "times beside lists": (
        {"shown": LISTS, "click_at": [[WHEN if flag else None for flag in flags] for flags in FLAGS]},
        {"slate": "shown", "clicks": "click_at"},
    ),
    "empty where not clicked": (
        _long(clicks=[flag or None for flag in EVERY]),
        {"impression": "reqNo", "item": "thing", "position": "spot", "click": "clicks"},
    ),
    "click times": (
        _long(clicked_at=TIMES, served_at=[np.datetime64("2024-05-01", "s")] * 120),
        {"impression": "reqNo", "item": "thing", "position": "spot", "click": "clicked_at"},
    ),
    "clicks by id": (
        _long(click_id=[f"c{row:04}" if flag else "" for row, flag in enumerate(EVERY)]),
        {"impression": "reqNo", "item": "thing", "position": "spot", "click": "click_id"},
    ),
    "sessions of two requests": (
        _long(clk=EVERY, session=[f"s{row // 6}" for row in range(120)]),
        {"impression": "reqNo", "item": "thing", "position": "spot", "click": "clk", "session": "session"},
    ),
    "logged probabilities": (
        _long(clk=EVERY, pscore=[0.25, 0.5, 1.0] * 40, price=[1.5, 2.5, 0.5] * 40),
        {"impression": "reqNo", "item": "thing", "position": "spot", "click": "clk", "slot_propensity": "pscore"},
    ),
    "another ranking beside": (
        _long(clk=EVERY, new_rank=[3, 1, 2] * 40),
        {"impression": "reqNo", "item": "thing", "position": "spot", "click": "clk"},
    ),
}


@pytest.mark.parametrize("name", STRANGERS)
def test_a_table_of_a_stranger(name: str) -> None:
    table, expected = STRANGERS[name]
    log, found = read(pa.table(table))
    assert columns_of(found) == expected
    clicks = FLAGS
    if name == "the clicked id":
        clicks = [[int(item == first) for item in shown] for shown, first in zip(LISTS, FIRST, strict=True)]
    same = pa.table({"slate": LISTS, "clicks": clicks, "candidates": table.get("pool", LISTS)})
    assert offrank.evaluate(log, "uniform", "uniform", "ips")["ips"].value == pytest.approx(
        offrank.evaluate(same, "uniform", "uniform", "ips")["ips"].value, abs=1e-12
    )


def test_columns_that_are_given_are_not_doubted() -> None:
    table = pa.table(_long(clk=EVERY, new_rank=[3, 1, 2] * 40))
    _, found = read(table, {"position": "new_rank"})
    assert columns_of(found)["position"] == "new_rank"
    assert columns_of(found)["impression"] == "reqNo"


def test_two_positions_with_names_that_fit_as_well_are_asked_for() -> None:
    table = pa.table({**_long(clk=EVERY), "pos": [2, 3, 1] * 40, "rank": [1, 2, 3] * 40}).drop_columns(["spot"])
    with pytest.raises(ColumnError, match="which column is the position") as raised:
        offrank.read_log(table)
    assert '"position": "pos"' in str(raised.value)
    assert '"position": "rank"' in str(raised.value)


def test_our_own_names_are_read_without_a_look() -> None:
    log = offrank.read_log([{"slate": ["a", "b"], "clicks": [1, 0]}])
    assert isinstance(log, WideLog)
    assert log.description.layout == "none"


def test_a_text_that_is_no_position_breaks_a_rule_in_its_row() -> None:
    table = pa.table({**_long(clk=EVERY), "spot": ["1", "2", "third", *["1", "2", "3"] * 39]})
    log = offrank.read_log(table, {"impression": "reqNo", "item": "thing", "position": "spot", "click": "clk"})
    with pytest.raises(offrank.errors.RowError, match=r"row 2 .*'spot': 'third' interrupts"):
        offrank.evaluate(log, "uniform", "uniform", "ips")


def test_a_clicked_id_that_was_not_shown_breaks_a_rule() -> None:
    table = pa.table({"recs": LISTS[:2], "chosen": ["b", "z"]})
    log = offrank.read_log(table, {"slate": "recs", "clicks": "chosen"})
    with pytest.raises(offrank.errors.RowError, match=r"row 1 .*'chosen'.*bad-clicks"):
        offrank.evaluate(log, "uniform", "uniform", "ips")


@pytest.mark.parametrize("click", CLICKS)
def test_text_files_have_the_same_roles(click: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    rows, form = (
        wide_log(rng),
        Form("search", click=click, position="1st", order="shuffled", decoys=("price", "device")),
    )
    pyarrow.csv.write_csv(written(rows, form, rng), tmp_path / "log.csv")
    log, found = read(tmp_path / "log.csv")
    assert columns_of(found) == roles(form)
    assert answers(log) == pytest.approx(answers(rows), rel=0, abs=1e-12)


@pytest.mark.parametrize(
    ("rewards", "earned"), [([1, 1, 0, 0], [1.0, 0.0]), ([1, 0, 0, 0], [1.0, 0.0]), ([1, 1, 1, 0], [2.0, 1.0])]
)
def test_a_reward_beside_an_item_of_another_name_is_that_of_the_list(rewards: list[int], earned: list[float]) -> None:
    """It has one value in all rows of a list, as in a log of our names; where rows of a list differ, it is of items."""
    table = pa.table({"impression": [1, 1, 2, 2], "product": [5, 7, 7, 5], "position": [1, 2, 1, 2], "reward": rewards})
    source = offrank.read_log(table, {"item": "product"}).select(Needs(frozenset(["reward"])))
    assert np.concatenate([batch.reward for batch in source.batches(0)]).tolist() == earned


def test_what_is_read_of_a_strangers_table_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    both = {name: BATCHES["fourth unseen"][name] for name in ("jobs opened", "marketplace structs")}
    layouts, laws = judged(both, 1)
    assert (layouts, laws) == ({"asked": 1, "right": 1}, {"open": 1, "right": 1})
    assert capsys.readouterr().err.startswith("jobs opened: layout asked, law drawn open; it is not clear which column")
