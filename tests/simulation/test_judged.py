"""Stratified samples of judged documents, against plain loops over queries and grades."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offrank.errors import EmptyLogError, UsageError
from offrank.log.graded_queries import Judged
from offrank.simulation.judged_queries import stratified


def judged(*grades: list[float]) -> Judged:
    """A query for each list; the one feature of a document is its number."""
    first = np.cumsum([0, *map(len, grades)])
    flat = np.array([grade for each in grades for grade in each], dtype=np.float64)
    number = np.arange(len(flat))
    return Judged(np.arange(len(grades)) + 100, first, flat, number[:, None] * 1.0, number + 1000)


def by_largest_remainder(grades: list[float], documents: int) -> Counter[float]:
    share = {grade: Fraction(documents * n, len(grades)) for grade, n in Counter(grades).items()}
    places = Counter({grade: int(each) for grade, each in share.items()})
    for grade in sorted(share, key=lambda g: (share[g] - int(share[g]), g), reverse=True)[: documents - places.total()]:
        places[grade] += 1
    return +places


QUERIES = st.lists(st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0, 4.0]), min_size=1, max_size=40), min_size=1)


@given(queries=QUERIES, documents=st.integers(1, 12), seed=st.integers(0, 9))
def test_the_grades_that_stay(queries, documents, seed) -> None:
    check_grades(stratified, by_largest_remainder, queries, documents, seed)


def check_grades(sample, reference, queries, documents, seed) -> None:
    wanted = {
        query: reference(grades, documents)
        for query, grades in enumerate(queries, start=100)
        if len(grades) >= documents and reference(grades, documents).total() == documents
    }
    data = judged(*queries)
    if not wanted:
        with pytest.raises(EmptyLogError, match=f"no query has {documents} documents"):
            sample(data, documents, seed)
        return
    found, dropped = sample(data, documents, seed)
    assert dropped == len(queries) - len(wanted)
    assert found.query.tolist() == list(wanted)
    assert found.sizes.tolist() == [documents] * len(wanted)
    grades = found.table(found.grade)
    assert [Counter(row) for row in grades.tolist()] == list(wanted.values())
    rows = found.document - 1000  # each row is a row of the set, whole, of the same query, and once
    assert len(set(rows.tolist())) == len(rows)
    assert found.grade.tolist() == data.grade[rows].tolist()
    assert found.features[:, 0].tolist() == rows.tolist()
    assert found.query[found.owner].tolist() == data.query[data.owner[rows]].tolist()


def test_paper_keeps_a_query_whose_shares_round_to_too_few() -> None:
    # Shares of 10: 4.55, 1.82, 1.82 and 1.82 round to 11; 3.33 each to 9.
    few, many = [0.0] * 4 + [1.0] * 4 + [2.0] * 4, [0.0] * 5 + [1.0] * 2 + [2.0] * 2 + [3.0] * 2
    kept, dropped = stratified(judged(few, many, [1.0] * 9))
    assert (kept.query.tolist(), dropped) == ([100, 101], 1)
    assert sorted(kept.table(kept.grade)[0]) == [0] * 3 + [1] * 3 + [2] * 4
    assert sorted(kept.table(kept.grade)[1]) == [0] * 4 + [1] * 2 + [2] * 2 + [3] * 2


def test_every_document_of_a_grade_has_the_same_chance_at_every_place() -> None:
    # 2 of the 3 documents of grade 0 and 2 of the 3 of grade 1 stay, in any of 24 orders.
    data, places, seeds = judged([0.0, 1.0, 0.0, 1.0, 0.0, 1.0]), np.zeros((6, 4)), 3000
    for seed in range(seeds):
        found, _ = stratified(data, 4, seed)
        places[found.document - 1000, np.arange(4)] += 1
    expected, spread = seeds / 6, np.sqrt(seeds * 1 / 6 * 5 / 6)
    assert np.abs(places - expected).max() < 4.5 * spread


def test_the_same_seed_gives_the_same_sample() -> None:
    data = judged(*np.random.default_rng(1).integers(0, 5, (20, 30)).astype(float).tolist())
    first, again, other = (stratified(data, 10, seed)[0].document.tolist() for seed in (3, 3, 4))
    assert first == again
    assert first != other


def test_arguments_that_cannot_work() -> None:
    with pytest.raises(UsageError, match="documents is 0"):
        stratified(judged([1.0]), 0)


def test_some_queries_and_tables() -> None:
    data = judged([0.0, 1.0], [2.0], [3.0, 4.0])
    some = data.take(np.array([2, 0]))
    assert some.query.tolist() == [102, 100]
    assert some.first.tolist() == [0, 2, 4]
    assert some.document.tolist() == [1003, 1004, 1000, 1001]
    assert (len(some), some.rows, some.owner.tolist()) == (2, 4, [0, 0, 1, 1])
    assert some.table(some.grade).tolist() == [[3.0, 4.0], [0.0, 1.0]]
    assert some.table(some.features).shape == (2, 2, 1)
    assert data.take(np.array([], dtype=np.int64)).rows == 0
    with pytest.raises(UsageError, match="queries have 1 to 2 documents, which does not make a table"):
        data.table(data.grade)
