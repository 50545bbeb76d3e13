"""Columns in other languages, flags that follow a click, numbered columns, choices of one, sorted probabilities."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.errors import RowError
from offrank.log.source import needs
from offrank.readers.conversions import click_numbers
from offrank.readers.names import closeness

LISTS, SLOTS, POOL = 120, 4, 9
RNG = np.random.default_rng(26)
SHOWN = np.array([RNG.permutation(POOL)[:SLOTS] for _ in range(LISTS)])
CLICK = RNG.random((LISTS, SLOTS)) < 0.4
Rows = dict[str, Any]


def drawing(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def rows(**more: np.ndarray) -> Rows:
    """The log with a row per item, under names that tell each role; more: other columns [lists, slots]."""
    lists, places = np.indices((LISTS, SLOTS))
    found = {"request_id": lists, "sku": SHOWN + 700, "pos": places + 1, "clicked": CLICK.astype(int)}
    return {name: np.ravel(column) for name, column in {**found, **more}.items()}


def renamed(**names: str) -> Rows:
    return {names.get(name, name): column for name, column in rows().items()}


@pytest.mark.parametrize(
    ("role", "name"),
    [
        ("click", "Geklickt"),
        ("position", "Posición"),
        ("impression", "Requête-ID"),
        ("item", "商品"),
        ("click", "dianji"),
    ],
)
def test_names_of_other_languages_are_known(role: str, name: str) -> None:
    assert closeness(role, name) >= 2


@pytest.mark.parametrize(("role", "name"), [("click", "pclick_geschätzt"), ("propensity", "p_click")])
def test_what_is_predicted_is_not_called_as_a_role(role: str, name: str) -> None:
    assert closeness(role, name) < 2


def test_yes_and_no_of_other_languages_are_clicks() -> None:
    texts = ["ja", "Nein", "oui", "non", "sí", "não", "X", ""]
    assert click_numbers(pa.array(texts)).to_pylist() == [1, 0, 1, 0, 1, 0, 1, 0]


def test_numbered_lists_are_not_taken_for_positions() -> None:
    named = renamed(request_id="busqueda", sku="hotel", pos="posicion", clicked="clic")
    found = offrank.inspect(pa.table({**named, "busqueda": named["busqueda"] + 1}))
    assert (found.layout, found.logging is None) == ("long", False)
    assert found.renamed == {"impression": "busqueda", "item": "hotel", "position": "posicion", "click": "clic"}


def funnel(first: str, share: float, then: str) -> Rows:
    """A log whose flags follow each other: the first is set in a share of the rows, the other in half of those."""
    deed = drawing(3).random((LISTS, SLOTS)) < share
    more = {first: deed.astype(int), then: (deed & (drawing(4).random(deed.shape) < 0.5)).astype(int)}
    return {name: column for name, column in rows(**more).items() if name != "clicked"}


def test_the_flag_that_others_follow_is_offered_first() -> None:
    found = offrank.inspect(pa.table(funnel("viewed", 0.4, "applied")))
    assert [dict(one)["click"] for one in found.unsettled[0].columns] == ["viewed", "applied"]


def test_a_flag_that_is_called_as_a_deed_is_read_where_it_comes_first() -> None:
    found = offrank.inspect(pa.table(funnel("tapped", 0.4, "purchased")))
    assert found.renamed["click"] == "tapped"


def test_what_is_set_nearly_always_is_no_deed_that_others_follow() -> None:
    found = offrank.inspect(pa.table(funnel("in_stock", 0.9, "tapped")))
    assert found.renamed["click"] == "tapped"


def test_probabilities_that_lists_are_sorted_by_are_scores() -> None:
    chance = drawing(3).uniform(0.05, 0.9, (LISTS, SLOTS))
    drawn, predicted = chance, -np.sort(-chance, axis=1)
    seen = {kind: offrank.inspect(pa.table(rows(prob=one))) for kind, one in (("drawn", drawn), ("sorted", predicted))}
    assert (seen["drawn"].renamed["slot_propensity"], seen["drawn"].logging.status) == ("prob", "written, not tested")
    assert "slot_propensity" not in seen["sorted"].renamed
    assert (seen["sorted"].logging.policy, seen["sorted"].logging.status) == ("top(prob)", "not random")


def test_the_same_holds_of_lists() -> None:
    chance = -np.sort(-drawing(3).uniform(0.05, 0.9, (LISTS, SLOTS)), axis=1)
    table = pa.table({"shown": SHOWN.tolist(), "clicks": CLICK.tolist(), "probs": chance.tolist()})
    assert offrank.inspect(table).logging.status == "not random"


def test_a_propensity_that_differs_within_a_list_is_that_of_the_slot() -> None:
    table = pa.table({**rows(), "propensity": drawing(3).uniform(0.05, 0.9, LISTS * SLOTS)})
    own = table.rename_columns(["impression", "item", "position", "click", "propensity"])
    found = offrank.inspect(own)
    assert (found.given["slot_propensity"], found.logging.status) == ("propensity", "written, not tested")


@pytest.mark.parametrize(("damaged", "role"), [(4, "propensity"), (5, "slot_propensity")])
def test_a_propensity_that_differs_within_few_lists_is_that_of_the_list(damaged: int, role: str) -> None:
    lists, slots = 8, 2
    probability = np.full((lists, slots), 0.5)
    probability[:damaged, 1] = 0.25
    shown = {"list": np.repeat(np.arange(lists), slots), "item": np.arange(lists * slots) % 5}
    table = pa.table({**shown, "position": [1, 2] * lists, "click": [0, 1] * lists, "propensity": probability.ravel()})
    log = offrank.read_log(table, columns={"impression": "list"})
    assert log.renamed.get("slot_propensity") == (None if role == "propensity" else "propensity")
    one = offrank.read_log(table.slice(0, 2), columns={"impression": "list"}).select(needs("propensity"))
    with pytest.raises(RowError, match="differs within one impression"):
        next(iter(one.batches(0)))


def numbered(**more: list[Any]) -> pa.Table:
    """The log with a column per place, the last of which is empty in the first row."""
    items = [[f"p{item}" for item in SHOWN[:, place]] for place in range(SLOTS)]
    items[-1][0] = None
    columns = {f"product_{place + 1}": column for place, column in enumerate(items)}
    clicks = {f"click_{place + 1}": CLICK[:, place].astype(int) for place in range(SLOTS)}
    return pa.table({"session": np.arange(LISTS), **columns, **clicks, **more})


def test_numbered_columns_are_lists() -> None:
    log = offrank.read_log(numbered())
    batch = next(iter(log.select(offrank.log.Needs(frozenset(["clicks"]))).batches(0)))
    first = int(np.argmin(batch.row))
    assert (batch.slates[first] >= 0).sum() == SLOTS - 1
    assert batch.clicks[:, :SLOTS].sum() == CLICK.sum() - CLICK[0, -1]


def test_numbered_columns_without_clicks_stay_as_they_are() -> None:
    answers = pa.table({f"q{at}": drawing(at).integers(1, 6, 60) for at in range(1, 6)})
    assert offrank.inspect(answers).layout == "none"
    assert [one.name for one in offrank.inspect(answers).columns] == [f"q{at}" for at in range(1, 6)]


def test_candidates_are_found_beside_our_own_names() -> None:
    pool = [sorted(map(int, drawing(at).permutation(POOL))) for at in range(LISTS)]
    table = pa.table({"slate": SHOWN.tolist(), "clicks": CLICK.tolist(), "pool": pool})
    assert offrank.inspect(table).renamed == {"candidates": "pool"}


def test_an_id_that_stands_in_the_slate_is_asked_for() -> None:
    clicked = [int(line[0]) if flag else None for line, flag in zip(SHOWN, CLICK[:, 0], strict=True)]
    found = offrank.inspect(pa.table({"session_id": np.arange(LISTS), "shown": SHOWN.tolist(), "reference": clicked}))
    assert [dict(one) for one in found.unsettled[0].columns] == [{"clicks": "reference"}]


def choices(**more: Any) -> pa.Table:
    flags = drawing(3).random(LISTS * SLOTS) < 0.3
    options = [f"v{one}" for one in drawing(4).integers(0, 3, LISTS * SLOTS)]
    return pa.table({"send_id": [f"s{at}" for at in range(LISTS * SLOTS)], "variant": options, "opened": flags, **more})


def test_a_choice_of_one_is_read_by_the_probability_that_was_written() -> None:
    found = offrank.inspect(choices(probability=drawing(5).uniform(0.2, 0.6, LISTS * SLOTS)))
    assert found.format == "router(chosen=variant, reward=opened, propensity=probability)"


def test_a_choice_of_one_without_its_probability_says_what_to_log() -> None:
    found = offrank.inspect(choices())
    assert (found.layout, found.logging) == ("none", None)
    assert "router(chosen=variant, reward=opened, propensity=NAME)" in found.why


def test_a_folder_of_a_run_and_its_judgments_is_described(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 9.5 mine\nq1 Q0 d2 2 8.5 mine\n", encoding="utf-8")
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq1 0 d2 0\n", encoding="utf-8")
    found = offrank.inspect(tmp_path)
    assert found.layout == "pairs"
    assert "TREC run" in str(found)
