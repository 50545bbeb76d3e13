"""Credit of merged rankings: against the enumeration of all team drafts, and by hand."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

import offrank
from offrank.checks.credit import CreditFold
from offrank.log import Needs
from offrank.policies import policy
from offrank_testing.exact import World, padded
from offrank_testing.laws import Situation

DRAFT = "interleaved(ranking(a), ranking(b))"


def drafts(
    a: tuple[int, ...], b: tuple[int, ...], slots: int
) -> Iterator[tuple[float, tuple[int, ...], tuple[int, ...]]]:
    """The probability of each way to draft, the list, and 1 where `a` placed an item and -1 where `b` did."""
    for teams in product((1, -1), repeat=slots):
        chance, shown = 1.0, list[int]()
        for slot, team in enumerate(teams):
            ahead = sum(teams[:slot])  # a coin where both picked as often, else the one that is behind
            chance *= 0.5 if ahead == 0 else float(team == -ahead)
            shown.append(next(item for item in (a if team > 0 else b) if item not in shown))
        if chance:
            yield chance, tuple(shown), teams


@pytest.mark.parametrize("slots", [3, 4])
def test_the_law_of_credit_is_that_of_all_drafts(slots: int) -> None:
    rng = np.random.default_rng(4)
    orders = list(permutations(range(5)))
    for one, other in rng.integers(0, len(orders), (12, 2)):
        a, b = orders[one], orders[other]
        ways: dict[tuple[int, ...], list[tuple[float, tuple[int, ...]]]] = {}
        for chance, shown, teams in drafts(a, b, slots):
            ways.setdefault(shown, []).append((chance, teams))
        here = World((Situation(5, slots, {}, {"a": a, "b": b}),), lambda *_: [])
        lists = [*ways]
        clicks = rng.integers(0, 2, (len(lists), slots)).astype(float)
        contexts = here.contexts(np.zeros(len(lists), np.int64))
        found = policy(DRAFT).credit(contexts, padded(lists, slots, -1).astype(np.int64), clicks)
        assert found is not None
        for row, shown in enumerate(lists):
            expected, total = np.zeros(2 * slots + 1), sum(chance for chance, _ in ways[shown])
            for chance, teams in ways[shown]:
                expected[slots + int(clicks[row] @ teams)] += chance / total
            np.testing.assert_allclose(found[row], expected, atol=1e-12)


def rows(*clicked: tuple[str, list[int], list[int]]) -> Any:
    """Lists of A = 0, 1 and B = 2, 3, whose items tell their teams: user, list and clicks."""
    return [
        {"user": user, "slate": shown, "clicks": clicks, "candidates": [0, 1, 2, 3], "a": [0, 1], "b": [2, 3]}
        for user, shown, clicks in clicked
    ]


LOG = rows(
    ("x", [0, 2], [1, 0]),
    ("x", [2, 0], [1, 0]),
    ("x", [0, 2], [1, 0]),  # x: 2 for A, 1 for B
    ("y", [2, 0], [0, 1]),  # y: 1 for A
    ("z", [2, 0], [1, 0]),  # z: 1 for B
    ("u", [2, 0], [1, 1]),  # u: as many
    ("v", [0, 2], [1, 0]),  # v: 1 for A
)


@pytest.mark.parametrize(
    ("unit", "counted", "deviates"),
    [("user", (3, 1, 1), (3 - 1) / math.sqrt(4)), (None, (4, 1, 2), (4 - 2) / math.sqrt(6))],
)
def test_wins_are_added_up_by_users(unit: str | None, counted: tuple[int, ...], deviates: float) -> None:
    fold = CreditFold(policy(DRAFT), unit)
    source = offrank.read_log(LOG).select(fold.needs() | Needs(clusters=frozenset(["user"])))
    batches = [batch for part in range(source.parts()) for batch in source.batches(part)]
    parts = [fold.of(batch.take(np.array([row]))) for batch in batches for row in range(len(batch))]
    for order in (parts, parts[::-1]):
        whole = order[0]
        for one in order[1:]:
            whole = whole + one
        found = fold.result(whole)
        assert found is not None
        assert (found.first, found.second, found.unit) == ("ranking(a)", "ranking(b)", unit or "list")
        assert (found.wins, found.ties, found.losses) == pytest.approx((4, 1, 2))
        assert (found.more, found.even, found.fewer) == pytest.approx(counted)
        assert found.deviates == pytest.approx(deviates)


@pytest.mark.parametrize("method", ["balanced", "probabilistic"])
def test_other_merges_have_no_teams(method: str) -> None:
    fold = CreditFold(policy(f"interleaved(ranking(a), ranking(b), method={method})"))
    [batch] = offrank.read_log(LOG).select(fold.needs()).batches(0)
    assert fold.of(batch) is None
    assert fold.result(None) is None
