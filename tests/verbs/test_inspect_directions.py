"""Which way a score sorts: `inspect` takes the highest for the best, unless the log was drawn by the lowest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import offrank
from offrank.errors import NoOverlapError
from offrank.verbs.inspect import inspect

ITEMS, SLOTS, ROWS = 6, 3, 1500
SHIFTS = {"negative": -9.0, "of both signs": 0.0, "positive": 9.0}


def drawn(seed: int, shift: float, sorted_share: float = 0.0) -> list[dict[str, Any]]:
    """Rows of one query in which the best item is clicked most. sorted_share: of slates, lowest scores first."""
    rng = np.random.default_rng(seed)
    worth = rng.permutation(ITEMS) / ITEMS
    pool, found = [f"i{one}" for one in range(ITEMS)], []
    for _ in range(ROWS):
        order = np.argsort(worth if rng.random() < sorted_share else rng.random(ITEMS))[:SLOTS]
        clicks = (rng.random(SLOTS) < 0.6 * worth[order]).astype(int).tolist()
        slate, scores = [pool[one] for one in order], (worth + shift).tolist()
        found.append({"slate": slate, "clicks": clicks, "candidates": pool, "score": scores})
    return found


@pytest.mark.turns(3)
@pytest.mark.parametrize("shift", SHIFTS.values(), ids=SHIFTS)
@pytest.mark.parametrize("seed", range(5))
def test_the_highest_score_is_the_best_in_a_random_log(seed: int, shift: float) -> None:
    found = inspect(drawn(seed, shift))
    assert isinstance(found, offrank.Inspection)
    assert found.logging.policy == "uniform"
    assert found.next is not None
    assert found.next.target == "top(score)"
    assert found.next.turned == "top(score, ascending=True)"
    assert "does not show whether high scores are good" in str(found)


@pytest.mark.parametrize("shift", SHIFTS.values(), ids=SHIFTS)
def test_a_score_that_drew_the_log_sorts_as_it_did(shift: float) -> None:
    found = inspect(drawn(0, shift, sorted_share=0.6))
    assert isinstance(found, offrank.Inspection)
    assert str(found.logging.policy).startswith("epsilon(top(score, ascending=True), 0.")
    assert found.next is not None
    assert (found.next.target, found.next.turned) == ("top(score, ascending=True)", "")
    assert "does not show whether" not in str(found)


@pytest.mark.parametrize(("first", "sorts"), [(1, "top(score, ascending=True)"), (0, "top(score)")])
def test_ranks_from_1_put_the_lowest_first(first: int, sorts: str) -> None:
    rows = drawn(0, 0.0)
    for row in rows:
        places = np.argsort(np.argsort(row["score"]))
        row["score"] = (first + (places[::-1] if first == 0 else ITEMS - 1 - places)).tolist()
    found = inspect(rows)
    assert isinstance(found, offrank.Inspection)
    assert found.next is not None
    assert found.next.target == sorts
    assert ("does not show whether" in str(found)) == (first == 0)


def test_a_softmax_of_minus_a_distance_is_found_with_its_temperature() -> None:
    rng, rows = np.random.default_rng(4), []
    for number in range(2000):
        far = np.random.default_rng(number % 30).normal(3, 1.5, ITEMS).round(2)
        order = np.argsort(far / 0.5 - rng.gumbel(size=ITEMS))[:SLOTS].tolist()
        clicks = (rng.random(SLOTS) < 0.3).astype(int).tolist()
        shown = {"query": f"q{number % 30}", "slate": order, "candidates": [*range(ITEMS)], "clicks": clicks}
        rows.append(shown | {"distance": far.tolist()})
    found = inspect(rows)
    assert isinstance(found, offrank.Inspection)
    assert str(found.logging.policy).startswith("plackett_luce(distance, temperature=-0.")
    assert found.next is not None
    assert (found.next.target, found.next.turned) == ("top(distance, ascending=True)", "")


def test_a_number_of_rows_draws_no_list() -> None:
    """It grows down every list, as a softmax of its negative would have it."""
    rows = drawn(0, 0.0)
    for number, row in enumerate(rows):
        counted = dict(zip(row["slate"], range(9 * number, 9 * number + 9), strict=False))
        others = [item for item in row["candidates"] if item not in counted]
        counted |= dict(zip(others, range(9 * number + SLOTS, 9 * number + 9), strict=False))
        row["row"] = [float(counted[item]) for item in row["candidates"]]
    assert "row" not in str(offrank.inspect(rows).logging.policy)


@pytest.mark.parametrize("law", ["shuffled", "interleaved"])
def test_what_is_made_of_sorted_scores_is_judged_in_their_direction(law: str) -> None:
    """The other way round they show nothing that was logged."""
    rng, rows = np.random.default_rng(4), []
    for number in range(1200):
        scores = np.random.default_rng(number % 30).gamma(2, 400, (2, 8)).round(1)
        far, price = np.argsort(scores, axis=1).tolist()
        order = [*rng.permutation(far[:2]).tolist(), *far[2:]]
        if law == "interleaved":
            order = []
            while len(order) < SLOTS:
                for team in (far, price) if rng.random() < 0.5 else (price, far):
                    order.append(next(item for item in team if item not in order))
        clicks = (rng.random(SLOTS) < 0.3).astype(int).tolist()
        shown = {"query": f"q{number % 30}", "slate": order[:SLOTS], "candidates": [*range(8)], "clicks": clicks}
        named = zip(("far", "price")[: 1 + (law == "interleaved")], scores.tolist(), strict=False)
        rows.append(shown | dict(named))
    found = inspect(rows)
    assert isinstance(found, offrank.Inspection)
    assert str(found.logging.policy).startswith(f"{law}(top(far, ascending=True)")
    assert "no-overlap" not in (found.declined or "")
    assert law == "interleaved" or (found.next is not None and found.next.target == "top(far, ascending=True)")


def test_a_target_without_overlap_ends_no_inspection(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_overlap(_question: Any) -> None:
        raise NoOverlapError("top(score) never shows what was logged", "log more randomly")

    monkeypatch.setattr("offrank.inspection.suggestion.answered", without_overlap)
    found = inspect(drawn(0, 0.0))
    assert isinstance(found, offrank.Inspection)
    assert (found.next, found.declined) == (None, "top(score) never shows what was logged.")
