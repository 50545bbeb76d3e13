"""How the published code of cmip-debiasedness samples documents, against plain loops over queries and grades."""

from __future__ import annotations

from collections import Counter
from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from offrank_papers.simulated_users.preset import sampled_by_grade
from tests.simulation.test_judged import QUERIES, check_grades, judged

published = partial(sampled_by_grade, preset="published-code")


def by_rounding(grades: list[float], documents: int) -> Counter[float]:
    """The highest `documents` of round(documents / n * size) of each grade, in ascending order."""
    drawn = [g for g, n in sorted(Counter(grades).items()) for _ in range(round(documents / len(grades) * n))]
    return Counter(drawn[-documents:])


@given(queries=QUERIES, documents=st.integers(1, 12), seed=st.integers(0, 9))
def test_the_grades_that_stay(queries, documents, seed) -> None:
    check_grades(published, by_rounding, queries, documents, seed)


def test_a_query_whose_shares_round_to_too_few_is_dropped() -> None:
    # Shares of 10: 4.55, 1.82, 1.82 and 1.82 round to 11; 3.33 each to 9.
    few, many = [0.0] * 4 + [1.0] * 4 + [2.0] * 4, [0.0] * 5 + [1.0] * 2 + [2.0] * 2 + [3.0] * 2
    kept, dropped = published(judged(few, many, [1.0] * 9), 10, 0)
    assert (kept.query.tolist(), dropped) == ([101], 2)
    assert sorted(kept.table(kept.grade)[0]) == [0] * 4 + [1] * 2 + [2] * 2 + [3] * 2
