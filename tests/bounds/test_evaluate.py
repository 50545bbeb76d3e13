"""`evaluate(bounds=True)`: the truth lies between both ends, which are as near as the log allows."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import offrank
from offrank.bounds.ends import Bounds
from offrank.errors import AbilityError, LogError, UsageError
from tests.cli.commands import call

ITEMS, RANKS, QUERIES = 4, 3, 12
CURVE = [1.0, 0.6, 0.3]


def rows(shown: np.ndarray, clicks: np.ndarray, old: np.ndarray, new: np.ndarray, query: np.ndarray) -> pa.Table:
    """A log of slates [n, RANKS] of numbered items."""
    return pa.table(
        {
            "query": [f"q{one}" for one in query],
            "slate": shown.tolist(),
            "clicks": clicks.astype(int).tolist(),
            "candidates": [list(range(ITEMS))] * len(query),
            "old": old[query].tolist(),
            "new": new[query].tolist(),
        }
    )


class World:
    """Queries with a sorted list each, and users who click an item at a rank with the probability `chance`."""

    def __init__(self, seed: int, *, position_based: bool) -> None:
        rng = np.random.default_rng(seed)
        self.rng, self.old, self.new = rng, rng.random((QUERIES, ITEMS)), rng.random((QUERIES, ITEMS))
        relevance = rng.random((QUERIES, ITEMS, 1))
        self.chance = relevance * CURVE if position_based else rng.random((QUERIES, ITEMS, RANKS))

    def table(self, repeats: int) -> pa.Table:
        """Each query as often, with its clicks drawn."""
        query = np.repeat(np.arange(QUERIES), repeats)
        shown = np.argsort(-self.old, axis=1)[query][:, :RANKS]
        chance = self.chance[query[:, None], shown, np.arange(RANKS)]
        return rows(shown, self.rng.random(chance.shape) < chance, self.old, self.new, query)

    def value(self, score: np.ndarray) -> float:
        ranked = np.argsort(-score, axis=1)[:, :RANKS]
        chance = self.chance[np.arange(QUERIES)[:, None], ranked, np.arange(RANKS)]
        return float(chance.sum(axis=1).mean())


def bounds(log: pa.Table, target: str = "top(new)", **how: Any) -> tuple[Bounds, ...]:
    return offrank.evaluate(log, target, bounds=True, **how).bounds[target]


@pytest.mark.turns(3)
@pytest.mark.parametrize("position_based", [False, True])
def test_the_truth_lies_between_both_ends(position_based: bool) -> None:
    for seed in range(30):
        world = World(seed, position_based=position_based)
        found = bounds(world.table(200), examination=CURVE, confidence=0.999)
        for one in found if position_based else found[:1]:
            truth = world.value(world.new)
            assert one.lower.low <= truth <= one.upper.high
            gain = truth - world.value(world.old)
            assert one.difference_lower.low <= gain <= one.difference_upper.high
            assert one.trust == "with care"
            assert one.decision in {"unknown", "better" if gain > 0 else "worse"}


def test_both_ends_are_reached_by_some_users() -> None:
    """Among all users who click yes or no by item and rank, those who click as the log shows reach both ends."""
    score = np.array([[3.0, 2.0, 1.0, 0.0]])
    new = np.array([[0.0, 2.0, 1.0, 3.0]])
    seen = np.array([1, 0, 1])
    log = rows(np.tile([0, 1, 2], (6, 1)), np.tile(seen, (6, 1)), score, new, np.zeros(6, int))
    (found,) = bounds(log)
    ranked, values = np.argsort(-new[0])[:RANKS], []
    for bits in itertools.product([0, 1], repeat=ITEMS * RANKS):
        users = np.array(bits).reshape(ITEMS, RANKS)
        if (users[np.arange(RANKS), np.arange(RANKS)] == seen).all():
            values.append(users[ranked, np.arange(RANKS)].sum())
    assert (found.lower.value, found.upper.value) == (min(values), max(values))
    assert found.shown == pytest.approx(2 / 3)  # items 1 and 2 keep their ranks


def test_with_a_curve_both_ends_are_reached() -> None:
    """The relevance of what was shown is known; that of the one item never shown is 0 at one end and 1 at the other."""
    new = np.array([[0.0, 2.0, 1.0, 3.0]])
    log = rows(
        np.tile([0, 1, 2], (4, 1)), np.array([[1, 1, 0]] * 2 + [[0, 0, 0]] * 2), new[:, ::-1], new, np.zeros(4, int)
    )
    _, found = bounds(log, examination=[1.0, 0.5, 0.25])
    known = 0.5 * (0.5 / 0.5) + 0.25 * 0.0
    assert found.lower.value == pytest.approx(known)
    assert found.upper.value == pytest.approx(known + 1)
    assert found.shown == pytest.approx(2 / 3)


def test_a_random_target_weighs_every_rank() -> None:
    world = World(3, position_based=False)
    (found,) = bounds(world.table(400), "uniform")
    shown = np.argsort(-world.old, axis=1)[:, :RANKS]
    known = np.take_along_axis(world.chance, shown[:, :, None], axis=1)[:, np.arange(RANKS), np.arange(RANKS)]
    assert found.lower.value == pytest.approx(known.sum(axis=1).mean() / ITEMS, abs=0.03)
    assert found.upper.value - found.lower.value == pytest.approx(RANKS * (1 - 1 / ITEMS))


def test_what_was_logged_is_one_number_without_a_difference() -> None:
    (found,) = bounds(World(1, position_based=False).table(20), "top(old)")
    assert found.lower.value == pytest.approx(found.upper.value)
    assert found.difference_lower.value == found.difference_upper.value == 0
    assert found.decision == "unknown"
    assert found.shown == 1


def test_ends_that_meet_are_one_number() -> None:
    said = str(offrank.evaluate(World(1, position_based=False).table(20), "top(old)", bounds=True))
    assert "top(old) minus the logged ranking is 0 clicks per impression" in " ".join(said.split())
    assert "between" not in said


def test_neither_parts_nor_order_matter() -> None:
    table = World(2, position_based=True).table(50)
    whole = bounds(table, examination=CURVE)
    order = np.random.default_rng(0).permutation(len(table))
    parts = pa.Table.from_batches(table.take(order).to_batches(max_chunksize=70))
    for one, other in zip(whole, bounds(parts, examination=CURVE), strict=True):
        assert one.lower.to_dict() == pytest.approx(other.lower.to_dict(), abs=1e-9)
        assert one.upper.to_dict() == pytest.approx(other.upper.to_dict(), abs=1e-9)


def test_printed_saved_and_at_another_level(tmp_path: Any) -> None:
    path = tmp_path / "log.parquet"
    pa.parquet.write_table(World(0, position_based=False).table(50), path)
    found = call("evaluate", str(path), "--target", "top(new)", "--bounds", "--json", str(tmp_path / "out.json"))
    said = " ".join(found.output.split())
    assert "Unknown. top(new) minus the logged ranking is between " in said
    assert "assuming that rows of one query are alike and a click depends on its own item and rank only." in said
    (saved,) = json.loads((tmp_path / "out.json").read_text())["bounds"]
    assert saved["trust"] == "with care"
    assert saved["lower"]["low"] < saved["lower"]["value"] < saved["upper"]["value"] < saved["upper"]["high"]
    result = offrank.evaluate(path, "top(new)", bounds=True)
    (far,), (near,) = result.bounds["top(new)"], result.at(0.5).bounds["top(new)"]
    assert far.lower.low < near.lower.low <= near.lower.value == far.lower.value
    assert not result.meets("not-worse", margin="99%")
    dear = offrank.evaluate(path, "top(new)", bounds=True).with_facts(worth=10.0)
    assert f"between {10 * far.lower.value:.1f} and" in str(dear).replace("\n", " ")


def test_refusals() -> None:
    table = World(0, position_based=False).table(3)
    with pytest.raises(UsageError, match="contexts that repeat"):
        bounds(table.drop(["query"]))
    with pytest.raises(UsageError, match="without control"):
        bounds(table, control="old")
    with pytest.raises(UsageError, match="has 2 ranks, but the slates have 3"):
        bounds(table, examination=[1, 0.5])
    with pytest.raises(LogError, match="0 or 1"):
        bounds(table.set_column(2, "clicks", pa.array([[0.5, 0, 0]] * len(table))))
    with pytest.raises(LogError, match="keeps only a sample"):
        bounds(table.append_column("inclusion", pa.array([0.5] * len(table))))


def test_a_log_without_randomness_is_told_of_both_ways() -> None:
    table = World(0, position_based=False).table(3)
    with pytest.raises(LogError) as no_column:
        offrank.evaluate(table, "top(new)")
    assert "bounds=True" in str(no_column.value)
    assert "weights(dbn)" in str(no_column.value)


def read_too_early(*_: object, **__: object) -> None:
    pytest.fail("the log is read before all is known to be possible")


def test_what_cannot_be_answered_is_told_before_the_log_is_read_for_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("offrank.bounds.job.run", read_too_early)
    table = World(0, position_based=False).table(3)
    for ask in (offrank.evaluate, offrank.compare):
        with pytest.raises(UsageError, match="needs an examination curve"):
            ask(table, ["top(new)", "top(old)"], "top(old)", "interpol(window=1)", bounds=True)


def test_what_cannot_be_bounded_is_told_before_the_log_is_read_for_estimates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("offrank.evaluation.answer.pass_of", read_too_early)
    table = World(0, position_based=False).table(3)
    rewards = table.drop(["clicks"]).append_column("reward", pa.array([1.0] * len(table)))
    for ask in (offrank.evaluate, offrank.compare):
        with pytest.raises(UsageError, match="contexts that repeat"):
            ask(table.drop(["query"]), ["top(new)", "top(old)"], bounds=True)
        with pytest.raises(UsageError, match="need the range of their rewards"):
            ask(rewards, ["top(new)", "top(old)"], bounds=True)
        for how, lacks in (({}, "of an item at a rank"), ({"reward_range": [0, 3]}, "of a slate")):
            with pytest.raises(AbilityError, match=f"logged cannot give the probability {lacks}"):
                ask(table, ["logged", "top(old)"], bounds=True, **how)
