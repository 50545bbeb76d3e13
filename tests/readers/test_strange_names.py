"""Columns that are told by their shape, or by what people do with an item."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import offrank
from benchmarks.strangers.forms import Form, wide_log, written
from offrank.inspection.unread_table import UnreadTable
from offrank.readers.long import LongLog
from offrank.readers.names import closeness
from offrank.readers.roles.columns import like_clicks
from offrank.readers.wide import WideLog


def _read_as(table: pa.Table) -> dict[str, str]:
    log = offrank.read_log(table)
    assert isinstance(log, WideLog | LongLog)
    assert log.description.layout != "none"
    return dict(log.description.roles)


@pytest.mark.parametrize("name", ["tapped", "was_installed", "contact", "accepted"])
@pytest.mark.parametrize("layout", ["long", "wide"])
def test_one_flag_of_what_people_do_is_the_click(name: str, layout: str) -> None:
    form = Form(layout=layout, pool=False, decoys=("in_stock",) if layout == "long" else (), names={"click": name})
    found = _read_as(written(wide_log(np.random.default_rng(1)), form, np.random.default_rng(2)))
    assert found["click" if layout == "long" else "clicks"] == name


@pytest.mark.parametrize(("name", "called"), [("plays", True), ("minutes", False)])
def test_counts_of_what_people_do_are_clicks_if_they_are_called_so(name: str, called: bool) -> None:
    rng = np.random.default_rng(4)
    rows = [(home, item, item + 1, int(rng.binomial(3, 0.1))) for home in range(300) for item in range(4)]
    columns = ("home", "sku", "rank", name)
    found = offrank.inspect([dict(zip(columns, row, strict=True)) for row in rows])
    assert isinstance(found, UnreadTable) != called


def test_how_long_it_took_is_no_count_of_what_people_do() -> None:
    form = Form(names={"click": "streamed"})
    table = written(wide_log(np.random.default_rng(1)), form, np.random.default_rng(2))
    played = np.random.default_rng(3).integers(1, 200_000, len(table)) * (np.arange(len(table)) % 3 == 0)
    assert _read_as(table.append_column("ms_played", pa.array(played)))["click"] == "streamed"


def test_of_two_such_flags_one_is_asked_for() -> None:
    form = Form(pool=False, names={"click": "tapped"})
    table = written(wide_log(np.random.default_rng(1)), form, np.random.default_rng(2))
    saved = pa.array(np.random.default_rng(3).integers(0, 2, table.num_rows))
    found = offrank.inspect(table.append_column("installed", saved))
    assert isinstance(found, UnreadTable)
    assert {said["click"] for said in found.unsettled[0].columns} == {"tapped", "installed"}


def test_two_kinds_of_clicks_are_asked_for() -> None:
    form = Form(pool=False, names={"click": "click_valid"})
    table = written(wide_log(np.random.default_rng(1)), form, np.random.default_rng(2))
    raw = pa.array(np.random.default_rng(3).integers(0, 2, table.num_rows))
    assert isinstance(offrank.inspect(table.append_column("click_raw", raw)), UnreadTable)


def test_a_position_may_be_called_as_an_item_if_another_column_is_the_item() -> None:
    form = Form(pool=False, names={"position": "card", "item": "track_uri"})
    found = _read_as(written(wide_log(np.random.default_rng(1)), form, np.random.default_rng(2)))
    assert (found["position"], found["item"]) == ("card", "track_uri")


@pytest.mark.parametrize("order", ["by list", "shuffled", "by position"])
def test_the_order_of_rows_does_not_change_the_use_of_a_column(order: str) -> None:
    form = Form(order=order, decoys=("price", "device"))
    found = offrank.inspect(written(wide_log(np.random.default_rng(1)), form, np.random.default_rng(2)))
    assert not isinstance(found, UnreadTable)
    uses = {one.name: one.use for one in found.columns}
    assert (uses["score"], uses["price"], uses["device"]) == ("score", "score", "group")
    assert not found.skipped


def test_what_is_read_by_a_guess_and_breaks_a_rule_is_described() -> None:
    rows = [
        {"offer_id": f"o{n}", "sku": s, "display_pos": 2 * s + 1, "clicked": s % 2} for n in range(60) for s in range(4)
    ]
    found = offrank.inspect(pa.Table.from_pylist(rows))
    assert isinstance(found, UnreadTable)
    assert "bad-position" in found.why
    assert {one.name for one in found.columns} == set(rows[0])


def test_a_chance_to_be_looked_at_is_no_propensity() -> None:
    form = Form(pool=False)
    table = written(wide_log(np.random.default_rng(1)), form, np.random.default_rng(2))
    places = np.array(table[form.name("position")].to_pylist())
    assert "slot_propensity" not in _read_as(table.append_column("prob", pa.array(1 / (1 + places))))
    assert _read_as(table.append_column("prob", pa.array(1 / (8 - places))))["slot_propensity"] == "prob"


@pytest.mark.parametrize(("role", "name"), [("click", "clickout"), ("click", "geklikt"), ("position", "displayrank")])
def test_words_for_clicks_and_words_written_together_are_known(role: str, name: str) -> None:
    assert closeness(role, name) >= 2


@pytest.mark.parametrize("name", ["isclickable", "click_valid", "clickthroughrate"])
def test_what_only_begins_like_a_click_is_none(name: str) -> None:
    assert closeness("click", name) < 2


def test_a_choice_has_a_probability_and_a_deed_a_prediction() -> None:
    assert closeness("propensity", "p_offer") >= 2 > closeness("propensity", "click_probability")


def flagged(what: str) -> list[bool]:
    """Whether each name is taken for a click whose values are those of clicks, or of what comes near to them."""
    drawn = np.random.default_rng(1)
    lists, places = np.repeat(np.arange(300), 5), np.tile(np.arange(5.0), 300)
    items = drawn.integers(20, size=1500)
    flags = {
        "clicks": drawn.random(1500) < 0.5 / (1 + places),
        "by item": items % 4 == 0,
        "level": drawn.random(1500) < 0.2,
        "seen": places <= np.repeat(drawn.integers(-1, 3, 300), 5),
    }[what]
    return [like_clicks(name, flags.astype(float), lists, places, items) for name in ("flag", "booked")]


@pytest.mark.parametrize("what", ["clicks", "by item", "level", "seen"])
def test_the_only_flag_is_a_click_if_it_behaves_as_one(what: str) -> None:
    assert flagged(what) == [what == "clicks", False]


@pytest.mark.parametrize(("top", "use"), [(0, ""), (1, ""), (2, "score")])
def test_a_list_that_counts_the_places_of_the_slate_is_no_score(top: int, use: str) -> None:
    """So it does not tell contexts apart, and rows of one query that show the same items can be compared."""
    rng, rows = np.random.default_rng(5), []
    for number in range(400):
        shown = (number % 20 * 4 + rng.permutation(4)).tolist()
        cards = [{"sku": sku, "at": top + at, "clicked": int(rng.random() < 0.3)} for at, sku in enumerate(shown)]
        rows.append({"query": f"q{number % 20}", "cards": cards})
    found = offrank.inspect(rows)
    assert not isinstance(found, UnreadTable)
    assert {one.name: one.use for one in found.columns}["cards.at"] == use
    assert found.logging.status == ("unknown" if use else "agrees")
