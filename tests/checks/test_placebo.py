"""The placebo of an experiment, held against sums over all lists of a small world."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.checks.drift import along_folds
from offrank.checks.placebo import PlaceboFold, overlap_weights
from offrank.findings.arms import PlaceboEvidence
from offrank.log.batch import LogBatch
from offrank.policies import policy
from offrank.policies.by import By
from offrank_testing import MemorySource

QUERIES, ITEMS, SLOTS = 3, 4, 2
LISTS = np.array(list(permutations(range(ITEMS), SLOTS)))
ROWS = 1e6  # that the lists of an arm stand for

rng = np.random.default_rng(1)
SCORES = np.exp(rng.normal(size=(3, QUERIES, ITEMS)))
SCORES[1, 0] = SCORES[0, 0]
CLICKS = rng.uniform(0.1, 0.9, size=(QUERIES, len(LISTS), SLOTS))  # of any list what it may earn
FIRST = rng.uniform(0.1, 0.9, size=(QUERIES, ITEMS))  # of a first item, whatever stands below
PAIRS = [
    ("plackett_luce(a)", "plackett_luce(b)"),
    ("plackett_luce(a)", "epsilon(top(b), 0.3)"),
    ("top(a)", "plackett_luce(b)"),
    ("epsilon(top(a), 0.2)", "uniform"),
    ("top(a)", "top(b)"),
    ("swaps(top(a), 0.7)", "plackett_luce(b, temperature=0.5)"),
]
UNEQUAL = 3
"""Times the rows of the first arm that the second has."""


def every_list(laws: tuple[str, ...], clicks: Any, lost: float = 1.0) -> tuple[By, LogBatch]:
    """All lists of all queries in each arm, each standing for as many rows as its law gives it.

    lost: what is left of the clicks of the second arm.
    """
    names = "ABC"[: len(laws)]
    arms = policy("by(arm, {" + ", ".join(f"{name}: {law}" for name, law in zip(names, laws, strict=True)) + "})")
    arm, query, place = (one.ravel() for one in np.indices((len(laws), QUERIES, len(LISTS))))
    made: dict[str, Any] = {name: list(scores[query]) for name, scores in zip("abc", SCORES, strict=True)}
    left = np.where(arm == 1, lost, 1.0)[:, None]
    made |= {
        "slate": list(LISTS[place]),
        "clicks": list(clicks[query, place] * left),
        "arm": np.array(list(names))[arm],
    }
    made["candidates"] = list(np.broadcast_to(np.arange(ITEMS), (len(arm), ITEMS)))
    assert isinstance(arms, By)
    source = offrank.read_log(pa.table(made))
    needs = arms.reads("slot_probs") | offrank.log.Needs(frozenset(["clicks"]))
    [batch] = source.select(needs).batches(0)
    known = np.exp(arms.log_prob(batch.contexts, batch.slates)) * np.where(arm == 1, UNEQUAL, 1)
    shown = batch.take(np.flatnonzero(known))
    return arms, replace(shown, inclusion=1 / (ROWS * known[known > 0]))


def of_lists(law: str, batch: LogBatch) -> np.ndarray:
    """[q, lists] the probability of each list, by rows of which each list and query is one."""
    whole, found = policy(law).law("log_prob"), np.zeros((QUERIES, len(LISTS)))
    for query in range(QUERIES):
        contexts = batch.contexts.take(np.full(len(LISTS), query))
        found[query] = np.exp(whole.log_prob(contexts, LISTS))
    return found


def contexts_of(laws: tuple[str, ...]) -> LogBatch:
    """A row of each query."""
    made: dict[str, Any] = {name: list(scores) for name, scores in zip("abc", SCORES, strict=True)}
    made |= {"slate": list(LISTS[:QUERIES]), "clicks": list(np.zeros((QUERIES, SLOTS))), "arm": ["A"] * QUERIES}
    made["candidates"] = list(np.broadcast_to(np.arange(ITEMS), (QUERIES, ITEMS)))
    arms = policy(f"by(arm, {{A: {laws[0]}, B: {laws[1]}}})")
    assert isinstance(arms, By)
    [batch] = offrank.read_log(pa.table(made)).select(arms.reads("slot_probs")).batches(0)
    return batch


def judged(fold: PlaceboFold, batch: LogBatch) -> tuple[PlaceboEvidence, ...]:
    return fold.result(fold.of(batch))


@pytest.mark.parametrize("laws", PAIRS)
def test_lists_of_both_arms_earn_the_same_in_expectation(laws: tuple[str, str]) -> None:
    arms, batch = every_list(laws, CLICKS)
    [found] = judged(PlaceboFold(arms), batch)
    p, q = (of_lists(law, contexts_of(laws)) for law in laws)
    both = np.divide(2 * p * q, p + q, out=np.zeros_like(p), where=p + q > 0)
    mean = (both * CLICKS.sum(axis=2)).sum() / both.sum()
    assert found.means == pytest.approx((mean, mean), rel=1e-6)
    assert found.rows == pytest.approx((ROWS * both.sum(), UNEQUAL * ROWS * both.sum()), rel=1e-6)
    assert found.deviates < 0.1
    assert found.drawn == (laws != ("top(a)", "top(b)"))


@pytest.mark.parametrize("laws", PAIRS)
def test_first_items_of_both_arms_earn_the_same_in_expectation(laws: tuple[str, str]) -> None:
    clicks = CLICKS.copy()
    clicks[:, :, 0] = FIRST[:, LISTS[:, 0]]
    arms, batch = every_list(laws, clicks)
    [found] = judged(PlaceboFold(arms, first=True), batch)
    lists = [of_lists(law, contexts_of(laws)) for law in laws]
    p, q = (np.stack([one[:, LISTS[:, 0] == item].sum(axis=1) for item in range(ITEMS)], axis=1) for one in lists)
    both = np.divide(2 * p * q, p + q, out=np.zeros_like(p), where=p + q > 0)
    mean = (both * FIRST).sum() / both.sum()
    assert found.means == pytest.approx((mean, mean), rel=1e-6)
    assert found.rows == pytest.approx((ROWS * both.sum(), UNEQUAL * ROWS * both.sum()), rel=1e-6)


def test_what_an_arm_loses_is_the_difference() -> None:
    arms, batch = every_list(PAIRS[0], CLICKS, lost=0.9)
    [found] = judged(PlaceboFold(arms), batch)
    assert found.means[1] == pytest.approx(0.9 * found.means[0], rel=1e-6)


def test_every_pair_of_three_arms_is_compared() -> None:
    laws = ("plackett_luce(a)", "top(b)", "plackett_luce(c)")
    arms, batch = every_list(laws, CLICKS, lost=0.5)
    found = judged(PlaceboFold(arms), batch)
    assert [one.arms for one in found] == [("A", "B"), ("A", "C"), ("B", "C")]
    assert [one.means[1] / one.means[0] for one in found] == pytest.approx([0.5, 1.0, 2.0], rel=1e-6)
    assert {one.pairs for one in found} == {3}


def test_weights_are_those_of_the_overlap() -> None:
    mine, other = np.log([0.5, 0.5, 0.1, 1.0]), np.log([0.5, 0.25, 0.3, 1.0])
    assert overlap_weights(mine, other) == pytest.approx([1, 2 / 3, 1.5, 1], abs=1e-7)
    never = np.array([-np.inf, 0.0, -np.inf, -800.0, 0.0])
    assert overlap_weights(never, np.array([0.0, -np.inf, -np.inf, 0.0, -800.0])).tolist() == [0.0, 0.0, 0.0, 2.0, 0.0]
    assert (overlap_weights(mine, other) * 2**24 % 1 == 0).all()  # so sums do not depend on the order of rows


@pytest.mark.parametrize(("rows", "looked_at"), [(29.9, 0), (30.1, 1)])
def test_arms_that_hardly_show_the_same_lists_are_not_compared(rows: float, looked_at: int) -> None:
    arms, batch = every_list(PAIRS[0], CLICKS)
    [found] = judged(PlaceboFold(arms), batch)
    scaled = replace(batch, inclusion=batch.inclusion * min(found.rows) / rows)
    assert len(judged(PlaceboFold(arms), scaled)) == looked_at


def test_of_rankers_that_sort_any_row_with_the_same_list_counts() -> None:
    arms, batch = every_list(("top(a)", "top(b)"), CLICKS)
    [found] = judged(PlaceboFold(arms), replace(batch, inclusion=np.ones(len(batch))))
    tops = [np.argsort(-scores, axis=1)[:, :SLOTS] for scores in SCORES[:2]]
    same = (tops[0] == tops[1]).all(axis=1)
    assert 0 < same.sum() < QUERIES
    assert (found.rows, found.drawn) == ((same.sum(), same.sum()), False)


def test_arms_that_draw_are_looked_at_where_they_are_compared() -> None:
    arms, batch = every_list(PAIRS[0], CLICKS)
    source = MemorySource((batch,))
    for compared in (True, False):
        names = [name for name, _ in along_folds(source, arms, (), compared=compared)]
        assert ("placebo" in names) == compared
