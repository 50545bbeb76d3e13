"""Candidates that tie share their ranks equally: the order in which a log lists them decides nothing."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.log.batch import Contexts
from offrank.log.source import Needs
from offrank.policies import Sorting, Top, policy
from offrank_testing.exact import World
from offrank_testing.laws import Law, Situation, law

TIED = {"new": (2.0, 1.0, 1.0, 1.0, 0.5), "all": (1.0, 1.0, 1.0, 1.0, 1.0), "pairs": (3.0, 3.0, 2.0, 1.0, 1.0)}
WORLD = World(tuple(Situation(5, slots, TIED) for slots in (2, 3, 5)), lambda _, slate: [1.0] * len(slate))


def by_hand(scores: tuple[float, ...], slots: int) -> Law:
    """Every order of the candidates that no score forbids is equally likely."""
    orders = [o for o in permutations(range(len(scores))) if list(np.take(scores, o)) == sorted(scores, reverse=True)]
    found: dict[tuple[int, ...], float] = {}
    for order in orders:
        found[order[:slots]] = found.get(order[:slots], 0.0) + 1 / len(orders)
    return found


@pytest.mark.parametrize("column", TIED)
@pytest.mark.parametrize("which", range(3))
@pytest.mark.parametrize("lowest", ["", ", ascending=True"])
def test_each_order_of_those_that_tie_counts_the_same(column: str, which: int, lowest: str) -> None:
    situation, top = WORLD.situations[which], policy(f"top({column}{lowest})")
    sign = -1.0 if lowest else 1.0
    expected = by_hand(tuple(sign * score for score in TIED[column]), situation.slots)
    assert law(top, situation) == pytest.approx(expected)
    every = np.array(list(situation.slates()))
    contexts = WORLD.contexts(np.full(len(every), which))
    assert np.exp(top.log_prob(contexts, every)) == pytest.approx([expected.get(tuple(s), 0.0) for s in every.tolist()])


@pytest.mark.parametrize("column", TIED)
@pytest.mark.parametrize("name", ["top({})", "epsilon(top({}), 0.3)"])
def test_pairs_of_those_that_tie(column: str, name: str) -> None:
    sorting = policy(name.format(column))
    for which, situation in enumerate(WORLD.situations):
        k = situation.slots
        expected = np.zeros((5, k, 5, k))
        for slate, chance in law(sorting, situation).items():
            shown = np.zeros((5, k))
            shown[slate, range(k)] = 1
            expected += chance * shown[:, :, None, None] * shown
        assert sorting.pair_probs(WORLD.contexts(np.array([which])))[0] == pytest.approx(expected, abs=1e-14)


def log(rows: int = 4_000, seed: int = 5) -> pa.Table:
    """Uniform slates of two of four; the shown items are listed first, as loggers do. Half of the rows have ties."""
    rng, data = np.random.default_rng(seed), []
    for _ in range(rows):
        order = rng.permutation(4)
        scores = rng.choice([0.0, 1.0], 4) + np.where(rng.random() < 0.5, rng.random(4) * 0.1, 0.0)
        clicks = rng.random(2) < np.array([0.1, 0.3, 0.5, 0.9])[order[:2]] * [1.0, 0.5]
        data.append(
            {
                "candidates": order.tolist(),
                "new": scores[order].tolist(),
                "slate": order[:2].tolist(),
                "clicks": clicks.astype(float).tolist(),
                "tied": bool(len(set(np.sort(scores)[-3:].tolist())) < 3),
            }
        )
    return pa.Table.from_pylist(data)


LOG = log()
GIVEN: dict[str, Any] = {
    "estimators": ["ips", "snips", "rips", "ipm", "interpol(window=1)", "pi"],
    "examination": [1, 0.5],
}


def relisted(table: pa.Table, seed: int = 0) -> pa.Table:
    """The same log, its candidates listed in another order."""
    rng, rows = np.random.default_rng(seed), table.to_pylist()
    for row in rows:
        order = rng.permutation(4)
        row |= {name: np.take(row[name], order).tolist() for name in ("candidates", "new")}
    return pa.Table.from_pylist(rows)


def test_the_order_of_candidates_changes_nothing() -> None:
    one = offrank.evaluate(LOG, "top(new)", "uniform", **GIVEN)
    two = offrank.evaluate(relisted(LOG), "top(new)", "uniform", **GIVEN)
    for name in GIVEN["estimators"]:
        assert (one[name].value, one[name].low) == pytest.approx((two[name].value, two[name].low), rel=1e-9)


def test_ties_are_unbiased() -> None:
    """Sharing ties is drawing their order at random: each item then earns what it earns on average."""
    found = offrank.evaluate(LOG, "top(new)", "uniform", **GIVEN)
    truth = 0.0
    for scores in LOG.to_pylist():
        relevance = dict(enumerate([0.1, 0.3, 0.5, 0.9]))
        for slate, chance in by_hand(tuple(scores["new"]), 2).items():
            items = [scores["candidates"][i] for i in slate]
            truth += chance * sum(relevance[item] * p for item, p in zip(items, (1.0, 0.5), strict=True))
    truth /= len(LOG)
    for name in GIVEN["estimators"]:
        assert abs(found[name].value - truth) < 4 * found[name].standard_error, name


def test_the_share_of_ties_is_told() -> None:
    noted = {caution.code: caution for caution in offrank.evaluate(LOG, "top(new)", "uniform")["ips"].warnings}
    assert f"In {100 * np.mean(LOG['tied'].to_pylist()):.0f} % of the impressions" in noted["ties"].message
    assert noted["ties"].severity == "warning"  # in more than one of twenty impressions


@pytest.mark.parametrize(("scores", "told"), [([3.0, 2.0, 1.0, 1.0], False), ([3.0, 2.0, 2.0, 1.0], True)])
def test_only_ties_among_what_is_shown_are_told(scores: list[float], told: bool) -> None:
    rows = [
        {"candidates": [0, 1, 2, 3], "slate": [i % 4, (i + 1) % 4], "clicks": [1.0, 0.0], "new": scores}
        for i in range(80)
    ]
    found = offrank.evaluate(rows, "epsilon(top(new), 0.2)", "uniform", "ipm")["ipm"]
    assert ("ties" in {caution.code for caution in found.warnings}) is told


def test_a_mixed_log_counts_rows_by_their_inclusion() -> None:
    same, apart = [1.0, 1.0], [1.0, 0.0]
    rows = [
        {"slate": [i % 2], "candidates": [0, 1], "clicks": [1.0], "new": same if i < 50 else apart, "inclusion": p}
        for i, p in enumerate([0.25] * 50 + [1.0] * 50)
    ]
    (note,) = (c for c in offrank.evaluate(rows, "top(new)", "uniform")["ips"].warnings if c.code == "ties")
    assert "In 80 % of the impressions" in note.message  # 200 of 250


@pytest.mark.parametrize("seed", range(5))
def test_ties_at_the_top_against_sorting(seed: int) -> None:
    rng, n = np.random.default_rng(seed), 300
    size = rng.integers(1, 7, n)
    length = np.minimum(rng.integers(1, 5, n), size)
    scores = rng.integers(0, 9, (n, 6)).astype(float)
    found = Top("new").ties(Contexts(np.zeros((n, 6), np.int64), size, length, {"new": scores}))
    for row in range(n):
        best = sorted(scores[row, : size[row]], reverse=True)[: length[row] + 1]
        assert found[row] == (len(set(best)) < len(best))


@pytest.mark.parametrize("seed", range(5))
def test_of_many_candidates_those_shown_stand_where_they_stand_alone(seed: int) -> None:
    rng, n, m = np.random.default_rng(seed), 100, 40
    size, length = rng.integers(0, m + 1, n), rng.integers(0, 12, n)
    scores = rng.choice([*range(rng.integers(1, 30)), np.inf, -np.inf], (n, m))
    contexts, top = Contexts(np.zeros((n, m), np.int64), size, np.minimum(length, size), {"new": scores}), Top("new")
    every = np.where(np.arange(m) < size[:, None], np.arange(m), -1)
    one_by_one = zip(*(top.blocks(contexts, np.ascontiguousarray(every[:, [item]])) for item in range(m)), strict=True)
    for found, alone in zip(top.blocks(contexts, every), one_by_one, strict=True):
        assert (found[length > 0] == np.hstack(alone)[length > 0]).all()


class Backwards(Sorting):
    """A sorting policy of one's own: the last candidate first."""

    def reads(self, ability: Any) -> Needs:
        return Needs()

    def blocks(self, contexts: Contexts, items: Any) -> tuple[Any, Any]:
        rank = contexts.size[:, None] - 1 - items
        return np.where((items >= 0) & (rank < contexts.length[:, None]), rank, -1), np.ones_like(items)

    def ties(self, contexts: Contexts) -> Any:
        return np.zeros(len(contexts), np.bool_)

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Any:
        return self.in_order(contexts)


def test_a_sorting_policy_of_ones_own_says_where_items_stand() -> None:
    contexts = World((Situation(4, 2, {}),), lambda _, slate: [1.0] * len(slate)).contexts(np.zeros(2, np.int64))
    sure, slates = Backwards().sure_slates(contexts)
    assert (sure.tolist(), slates.tolist()) == ([True] * 2, [[3, 2]] * 2)
    assert np.exp(Backwards().log_prob(contexts, np.array([[3, 2], [2, 3]]))).tolist() == [1.0, 0.0]
