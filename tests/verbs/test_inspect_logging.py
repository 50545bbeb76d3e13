"""What `inspect` says of who drew a log: nothing is certified that was not tested."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import ColumnError, SpellingError, UsageError
from tests.cli.commands import call
from tests.night import some
from tests.verbs import drawn
from tests.verbs.logs import replaced

pytestmark = pytest.mark.turns(3, "inspection", "checks/fitted_logging_policy.py")

SEEDS = some(range(3), 3)


def said(log: Any) -> tuple[str | None, str]:
    """The policy and its status, as programs read them."""
    found = json.loads(offrank.inspect(log).to_json())["logging"]
    return found["policy"], found["status"]


def answer(log: Any) -> str:
    return " ".join(str(offrank.inspect(log)).split())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("kind", "policy"), [("uniform", "uniform"), ("plackett_luce", "plackett_luce(old)")], ids=["uniform", "scores"]
)
def test_a_law_without_fitted_numbers_agrees(kind: str, policy: str, seed: int) -> None:
    found = offrank.inspect(drawn.log(kind, seed=seed))
    assert (found.logging.policy, found.logging.status) == (policy, "agrees")
    assert found.logging.departure is not None
    assert found.logging.departure < 0.2
    assert "Other rankings can be evaluated" in str(found)


def test_a_log_that_shows_little_certifies_nothing() -> None:
    found = offrank.inspect(drawn.log("uniform", rows=100))
    assert found.logging.status == "not contradicted"
    assert found.next is None  # evaluate would answer with trust none


@pytest.mark.parametrize(
    ("kind", "policy"), [("sharp", "plackett_luce(old, temperature="), ("greedy", "epsilon(top(old), ")]
)
def test_a_fitted_law_has_to_be_confirmed(kind: str, policy: str, tmp_path: Path) -> None:
    pq.write_table(drawn.log(kind, rows=4000), tmp_path / "log.parquet")
    found = offrank.inspect(tmp_path / "log.parquet")
    assert found.logging.status == "not contradicted"
    assert str(found.logging.policy).startswith(policy)
    text = answer(tmp_path / "log.parquet")
    assert "nobody has confirmed it" in text
    assert "Other rankings can be evaluated" not in text
    assert f"unconfirmed({policy}" in found.command
    done = call(*shlex.split(found.command)[1:], "--json", tmp_path / "out.json")
    assert done.exit_code == 0
    (verdict,) = json.loads((tmp_path / "out.json").read_text())["verdicts"].values()
    assert verdict["trust"] == "with care"
    assert verdict["reasons"][0]["code"] == "unconfirmed-logging"
    found.save(tmp_path / "mapping.toml")
    assert "unconfirmed(" in (tmp_path / "mapping.toml").read_text()


@pytest.mark.parametrize(("departure", "trust"), [(0.2, "with care"), (0.21, "none")])
def test_what_nobody_confirmed_caps_trust(departure: float, trust: str) -> None:
    log = drawn.log("plackett_luce", rows=6000)
    found = offrank.evaluate(log, "uniform", f"unconfirmed(plackett_luce(old), departure={departure})", "snips")
    assert found.verdict.trust == trust
    assert found.verdict.reasons[0].code == "unconfirmed-logging"
    assert "plackett_luce(old)" in found.verdict.reasons[0].remedy
    plain = offrank.evaluate(log, "uniform", "plackett_luce(old)", "snips")
    assert not any(one.code == "unconfirmed-logging" for one in plain.about_log)
    if trust != "none":
        assert found["snips"].value == plain["snips"].value


def test_unconfirmed_is_the_same_law(tmp_path: Path) -> None:
    log, both = drawn.log("plackett_luce"), ("plackett_luce(old)", "unconfirmed(plackett_luce(old), departure=0.1)")
    for names in (["rips", "ipm", "pi"], ["interpol(window=1)"]):
        one, two = (offrank.evaluate(log, "top(new)", law, names, examination=[1, 0.5, 0.3]) for law in both)
        assert [one[name].value for name in names] == [two[name].value for name in names]
    checked = offrank.check(log, None, both[1])
    assert [one.code for one in checked.about_log] == ["unconfirmed-logging"]
    for wrong in ("unconfirmed(uniform, departure=2)", "unconfirmed(7)", "unconfirmed"):
        with pytest.raises((UsageError, SpellingError)):
            offrank.evaluate(log, "uniform", wrong)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("tail", [False, True], ids=["few queries", "long tail"])
@pytest.mark.parametrize("rows", [200, 2000])
def test_fixed_lists_are_not_random(rows: int, tail: bool, seed: int) -> None:
    found = offrank.inspect(drawn.log("fixed", rows, seed, tail=tail))
    assert (found.logging.policy, found.logging.status) == (None, "not random")
    assert found.next is None
    assert "clicks fit" in found.command
    assert "show a random slate" in " ".join(str(found).split())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("correlation", [0.15, 0.3])
def test_a_hidden_score_refutes_what_resembles_it(correlation: float, seed: int) -> None:
    log = drawn.log("fixed", 200, seed, correlation=correlation)
    for law in ("plackett_luce(stars, temperature=3)", "uniform"):
        found = offrank.evaluate(log, "top(stars)", law, ["ips", "snips", "ipm"])
        assert found.verdict.trust == "none"
        assert found.about_log[0].code == "not-random"
        assert "not-random" in {one["code"] for one in offrank.check(log, None, law).facts["checks"]}


@pytest.mark.parametrize("kind", ["uniform", "plackett_luce", "sharp", "written"])
@pytest.mark.parametrize("seed", SEEDS)
def test_healthy_logs_do_not_repeat_themselves_too_often(kind: str, seed: int) -> None:
    law = {"uniform": "uniform", "plackett_luce": "plackett_luce(old)", "written": "logged"}
    named = law.get(kind, "plackett_luce(old, temperature=0.5)")
    for log in (drawn.log(kind, seed=seed), drawn.with_retries(drawn.log(kind, seed=seed, tail=True), 0.05)):
        assert not any(one.code == "not-random" for one in offrank.evaluate(log, "uniform", named, "snips").about_log)


def test_a_score_that_the_log_lacks_leaves_the_law_unknown() -> None:
    assert said(drawn.log("hidden")) == (None, "unknown")


def test_two_rankers_without_randomness_are_told_by_their_arm() -> None:
    found = json.loads(offrank.inspect(drawn.log("arms")).to_json())["logging"]
    assert (found["status"], found["column"]) == ("arms", "arm")
    assert found["arms"] == {"A": "top(old)", "B": "top(new)"}
    assert found["shares"] == {"A": pytest.approx(0.5, abs=0.05), "B": pytest.approx(0.5, abs=0.05)}
    assert "of the impressions): every slate is sorted by top(new)." in answer(drawn.log("arms"))
    unexplained = offrank.inspect(drawn.log("arms").drop_columns(["new", "old"]))
    assert (unexplained.logging.status, unexplained.logging.column) == ("not random", "arm")


def test_arms_are_told_also_where_only_what_was_shown_is_in_the_log() -> None:
    """No set of items comes in both arms, and each set always in one order: no column is needed to say so."""
    full = drawn.log("arms")
    slates, items = full["slate"].to_pylist(), full["candidates"].to_pylist()
    shown = {
        name: [[row[here.index(item)] for item in slate] for slate, here, row in zip(slates, items, rows, strict=True)]
        for name, rows in (("old", full["old"].to_pylist()), ("new", full["new"].to_pylist()))
    }
    apart = [[f"{arm}{item}" for item in row] for arm, row in zip(full["arm"].to_pylist(), slates, strict=True)]
    log = replaced(full.drop_columns(["candidates", "stars", "query"]), slate=apart, **shown)
    found = offrank.inspect(log).logging
    assert (found.status, found.column) == ("arms", "arm")
    assert dict(found.arms) == {"A": "top(old)", "B": "top(new)"}
    assert "**" not in found.why
    assert "within one" not in answer(log)


def by_day(column: bool, days: int = 10) -> pa.Table:
    """Lists that are made anew every day."""
    rng = np.random.default_rng(0)
    log, day = drawn.log("uniform"), np.arange(2000) * days // 2000
    scores = rng.normal(size=(days, drawn.QUERIES, drawn.ITEMS))[day, log["query"].to_numpy()]
    items = np.array(log["candidates"].to_pylist())
    slate = np.take_along_axis(items, np.argsort(-scores, axis=1)[:, : drawn.SLOTS], axis=1)
    return replaced(log, slate=slate.tolist(), **({"day": day} if column else {}))


def test_lists_that_are_made_anew_every_day() -> None:
    found = offrank.inspect(by_day(True))
    assert (found.logging.status, found.logging.randomness.beside) == ("not random", "day")
    assert said(by_day(False)) == (None, "unknown")


def test_every_user_has_a_list_of_their_own() -> None:
    rng, log = np.random.default_rng(0), drawn.log("uniform")
    user = rng.integers(0, 300, 2000)
    order = np.argsort(rng.normal(size=(300, drawn.ITEMS)), axis=1)[user, : drawn.SLOTS]
    home = replaced(log, user=user, query=None, candidates=[list(range(drawn.ITEMS))] * 2000, slate=order.tolist())
    found = offrank.inspect(home)
    assert (found.logging.status, found.logging.randomness.by) == ("not random", "user")
    refuted = offrank.evaluate(home, "top(stars)", "uniform", "snips")
    assert refuted.verdict.trust == "none"
    assert any("keep one row per user" in one.remedy for one in refuted.about_log)


def varying(drawn_at_random: bool) -> pa.Table:
    """Six of 20 candidates of the query are there, others in every row."""
    rng, log = np.random.default_rng(0), drawn.log("uniform")
    query = log["query"].to_numpy()
    there = np.argsort(rng.random((2000, 20)), axis=1)[:, : drawn.ITEMS]
    scores = np.take_along_axis(rng.normal(size=(drawn.QUERIES, 20))[query], there, axis=1)
    order = np.argsort(rng.random(scores.shape) if drawn_at_random else -scores, axis=1)[:, : drawn.SLOTS]
    items = 20 * query[:, None] + there
    return replaced(log, candidates=items.tolist(), slate=np.take_along_axis(items, order, axis=1).tolist(), stars=None)


def test_a_fixed_order_shows_through_candidates_that_vary() -> None:
    assert said(varying(False)) == (None, "not random")
    policy, status = said(varying(True))
    assert policy == "uniform"
    assert status in ("agrees", "unknown")


@pytest.mark.parametrize("kind", ["uniform", "plackett_luce", "fixed"])
def test_contexts_that_never_repeat_leave_it_unknown(kind: str) -> None:
    """Nothing tells a slate that was drawn from one that was sorted by a score that nobody logged."""
    rng = np.random.default_rng(4)
    old, hidden = rng.lognormal(0, 1, (2000, 6)), rng.gumbel(size=(2000, 6))
    heights = {"uniform": hidden, "plackett_luce": np.log(old) + hidden, "fixed": 0.2 * np.log(old) + hidden}[kind]
    items = rng.integers(0, 10**9, (2000, 6))
    slate = np.take_along_axis(items, np.argsort(-heights, axis=1)[:, :3], axis=1)
    log = pa.table(
        {
            "query": np.arange(2000),
            "slate": slate.tolist(),
            "candidates": items.tolist(),
            "clicks": rng.integers(0, 2, (2000, 3)).tolist(),
            "old": old.tolist(),
        }
    )
    for each in (log, drawn.with_retries(log, 0.1)):
        found = offrank.inspect(each)
        assert (found.logging.status, found.logging.randomness.state) == ("unknown", "unknown")
        assert found.next is None
        assert "Other rankings can be evaluated" not in str(found)


@pytest.mark.parametrize("kind", ["uniform", "fixed"])
def test_outcomes_are_never_tried_as_scores(kind: str) -> None:
    found = offrank.inspect(drawn.booked(drawn.log(kind)))
    assert {one.name: one.use for one in found.columns if one.name in ("booking_bool", "x17", "dwell", "stars")} == {
        "booking_bool": "outcome",
        "x17": "outcome",
        "dwell": "outcome",
        "stars": "score",
    }
    assert not any(name in repr(one.policy) for one in found.drawn for name in ("booking", "x17", "dwell"))
    assert said(drawn.booked(drawn.log(kind))) == said(drawn.log(kind))
    assert "follows the impression, so it is not tried as a score" in " ".join(str(found).split())


def test_a_prediction_is_no_outcome_and_what_is_in_doubt_is_asked() -> None:
    rng, log = np.random.default_rng(0), drawn.log("uniform")
    numbers = {name: rng.random((2000, 6)).round(2).tolist() for name in ("predicted_click", "purchases", "price")}
    shown_only = replaced(log, candidates=None, stars=None, likes=rng.random((2000, 3)).tolist())
    uses = {one.name: one.use for one in offrank.inspect(replaced(log, **numbers)).columns}
    # Items that were not shown have purchases too: they are from before.
    assert [uses[name] for name in numbers] == ["score", "score", "score"]
    assert {one.name: one.use for one in offrank.inspect(shown_only).columns}["likes"] == "doubtful"


@pytest.mark.turns(3)
@pytest.mark.parametrize("kind", ["uniform", "plackett_luce", "sharp", "fixed", "arms", "hidden"])
def test_the_order_of_rows_changes_nothing(kind: str) -> None:
    log = drawn.log(kind)
    ordered = log.sort_by("query")
    one, two, three = (offrank.inspect(each) for each in (log, ordered, drawn.shuffled(log)))
    assert said(log) == said(ordered) == said(drawn.shuffled(log))
    assert one.command == two.command == three.command
    assert [repr(each.policy) for each in one.drawn] == [repr(each.policy) for each in two.drawn]
    assert [each.against for each in one.drawn] == [each.against for each in three.drawn]
    assert one.columns == two.columns == three.columns


def test_items_are_named_as_the_log_names_them() -> None:
    found = offrank.inspect(drawn.named(drawn.log("hidden")))
    told = [one.against for one in found.drawn if "item " in one.against]
    assert told
    assert all("item doc " in one for one in told)
    assert said(drawn.named(drawn.log("plackett_luce"))) == ("plackett_luce(old)", "agrees")


def test_written_propensities() -> None:
    log = drawn.log("written")
    assert said(log) == ("logged", "written")
    fixed = drawn.log("fixed")
    assert said(replaced(fixed, propensity=np.full(2000, 1 / 120))) == (None, "not random")
    assert said(replaced(fixed, propensity=np.ones(2000))) == (None, "not random")
    arms = drawn.log("arms")
    assert said(replaced(arms, propensity=np.full(2000, 0.5), old=None, new=None)) == ("logged", "written")
    assert said(replaced(arms, propensity=np.full(2000, 0.01), old=None, new=None))[1] in ("refuted", "not random")
    assert said(replaced(log, propensity=np.array(log["propensity"].to_pylist()) ** 2)) == ("logged", "refuted")


def test_the_logged_mean_has_the_interval_of_evaluate() -> None:
    log = drawn.log("plackett_luce", rows=4000)
    judged = offrank.evaluate(log, "uniform", "plackett_luce(old)", "snips")
    assert judged.verdict.logged == offrank.inspect(log).overview.earned


def test_no_command_is_suggested_that_would_be_refused(tmp_path: Path) -> None:
    pq.write_table(drawn.log("plackett_luce", rows=2000, tail=True), tmp_path / "log.parquet")
    found = offrank.inspect(tmp_path / "log.parquet")
    assert found.logging.status == "agrees"
    assert found.next is None
    assert found.declined
    assert "none of the rankings in the log can be evaluated" in answer(tmp_path / "log.parquet")
    # Without clicks there is no click model either.
    rewards = replaced(drawn.log("fixed"), clicks=None, reward=np.random.default_rng(0).random(2000))
    assert offrank.inspect(rewards).command == ""


def test_ids_that_number_the_candidates_as_shown_tell_no_repeats() -> None:
    """As in Criteo's format: the product shown is always 0."""
    rng = np.random.default_rng(0)
    log = pa.table(
        {
            "slate": [[0]] * 2000,
            "candidates": [[0, 1, 2, 3]] * 2000,
            "clicks": rng.integers(0, 2, (2000, 1)).tolist(),
            "propensity": np.full(2000, 0.25),
        }
    )
    assert said(log) == ("logged", "written, not tested")
    assert not offrank.evaluate(log, "logged", "logged", "ips").about_log


TABLES = {
    "rankings": [{"ranking_id": 1, "item_id": "a", "rank": 1, "clicked": 0}],
    "queries": [{"query": "shoes", "item": "a", "position": 1, "click": 0}],
    "json": [{"query": "shoes", "response": '{"hits": [1, 2]}'}],
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_that_is_not_understood_is_described(name: str) -> None:
    found = offrank.inspect(pa.Table.from_pylist(TABLES[name]))
    told = " ".join(str(found).split())
    assert "cannot be read as a log yet" in told
    assert all(column in told for column in TABLES[name][0])
    assert "offrank.inspect" not in told
    assert found.command == ""
    assert found.to_dict()["logging"] == {"policy": None, "status": "unknown"}
    with pytest.raises(ColumnError, match="is not understood"):
        offrank.read_log(pa.Table.from_pylist(TABLES[name]))


def test_a_policy_that_is_said_counts_where_the_log_does_not_contradict_it() -> None:
    log = drawn.log("plackett_luce", rows=4000)
    assert not offrank.inspect(log, logging="uniform").logging.confirmed
    fixed = offrank.inspect(drawn.log("fixed"), logging="uniform")
    assert "This log is not random" in " ".join(str(fixed).split())
    short = offrank.inspect(drawn.log("plackett_luce", rows=4000), logging="plackett_luce(old, temperature=1.01)")
    assert short.logging.confirmed
    assert "if the slates were drawn with plackett_luce(old, temperature=1.01)" in " ".join(str(short).split())


def test_a_column_called_as_a_gap_of_a_text_is_named(tmp_path: Path) -> None:
    """Slates fit a policy that sorts, and a column of propensities says otherwise."""
    rows = {"impression": [1, 1, 2, 2, 2, 2], "item": [46, 13, 13, 24, 46, 11], "position": [1, None, 4, 2, 1, 3]}
    table = pa.table({**rows, "{}": [1.0, 1.0, 0.125, 0.125, 0.125, 0.125]})
    page = str(offrank.inspect(table, {"propensity": "{}"})).replace("\n", " ")
    assert "remove the column {} from the table, which says otherwise" in page
