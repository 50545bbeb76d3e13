"""Graded documents of a log: expected ranks and nDCG as arithmetic, whatever the partition."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

from offrank import PlackettLuce, Top
from offrank.clicks import GCTR, load
from offrank.clicks.given_models import models, query_column
from offrank.errors import LogError, UsageError
from offrank.metrics.graded import Graded, GradedFold, ndcg_by_query
from offrank.policies.base import Policy
from offrank.readers.log import read_log
from offrank.sums.base import total
from offrank.sums.counts import join

# Two queries; of three candidates two are shown.
LOG = pa.table(
    {
        "query": [1, 1, 1, 2, 2],
        "candidates": [[7, 8, 9], [7, 8, 9], [9, 8, 7], [7, 8, 9], [7, 8, 9]],
        "slate": [[7, 8], [9, 7], [8, 9], [9, 8], [9, 7]],
        "clicks": [[1, 0], [0, 0], [0, 1], [0, 0], [1, 1]],
        "grade": [[2.0, 0.0, 1.0], [2.0, 0.0, 1.0], [1.0, 0.0, 2.0], [0.0, 3.0, 4.0], [0.0, 3.0, 4.0]],
        "weight": [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [1.0, 1.0, 2.0], [1.0, 1.0, 2.0]],
        "inclusion": [0.5, 1.0, 1.0, 1.0, 0.25],
    }
)
MODELS = {"rate": GCTR().fit(LOG)}


def graded(policy: Policy | None = None, log: pa.Table = LOG) -> Graded:
    fold = GradedFold(MODELS, "grade", "query", policy)
    return fold.read(read_log(log), None, None)


def by_document(found: Graded, values: np.ndarray) -> dict[tuple[int, int], float]:
    named = {int(join(query, item)): (query, item) for query in (1, 2) for item in (7, 8, 9)}
    return {named[int(key)]: float(value) for key, value in zip(found.key, values, strict=True)}


def test_grades_and_queries_are_those_of_the_log() -> None:
    found = graded()
    expected = {(1, 7): 2, (1, 8): 0, (1, 9): 1, (2, 7): 0, (2, 8): 3, (2, 9): 4}
    assert by_document(found, found.grade) == expected
    assert by_document(found, found.query) == {key: key[0] for key in expected}


def test_ranks_that_the_log_shows_are_averaged() -> None:
    # Impressions of query 1 count 2, 1, 1, those of query 2 count 1, 4; what is not shown stands at 3.
    expected = {
        (1, 7): (2 * 1 + 2 + 3) / 4,
        (1, 8): (2 * 2 + 3 + 1) / 4,
        (1, 9): (2 * 3 + 1 + 2) / 4,
        (2, 7): (3 + 4 * 2) / 5,
        (2, 8): (2 + 4 * 3) / 5,
        (2, 9): 1.0,
    }
    found = graded()
    assert by_document(found, found.rank) == pytest.approx(expected, abs=1e-9)


def test_expected_ranks_of_plackett_luce() -> None:
    # Weights 1, 2, 3: first with w / 6, second with the sum over who was first.
    first = {7: 1 / 6, 8: 2 / 6, 9: 3 / 6}
    weight = {7: 1, 8: 2, 9: 3}
    second = {
        item: sum(first[other] * weight[item] / (6 - weight[other]) for other in weight if other != item)
        for item in weight
    }
    found = graded(PlackettLuce("weight"))
    ranks = by_document(found, found.rank)
    for item in weight:
        below = 1 - first[item] - second[item]
        assert ranks[1, item] == pytest.approx(first[item] + 2 * second[item] + 3 * below, abs=1e-8)
    assert ranks[2, 7] == ranks[2, 8]


def test_ranks_of_a_fixed_order_are_whole() -> None:
    found = graded(Top("weight"))
    ranks = by_document(found, found.rank)
    assert [ranks[1, item] for item in (9, 8, 7)] == [1, 2, 3]


def test_any_partition_gives_the_same() -> None:
    fold = GradedFold(MODELS, "grade", "query")
    state = None
    for row in (3, 0, 4, 2, 1):
        for batch in read_log(LOG.slice(row, 1)).select(fold.needs()).batches(0):
            state = total(fold.of(batch), state)
    whole = graded()
    for name in ("key", "query"):
        assert np.array_equal(getattr(state, name), getattr(whole, name))
    state = state.settled("error")
    for name in ("grade", "relevance", "rank"):
        assert getattr(state, name) == pytest.approx(getattr(whole, name), nan_ok=True)


def test_ties_share_their_gain_and_queries_without_grades_count_nothing() -> None:
    query = np.array([1, 1, 1, 5, 5])
    grade = np.array([2.0, 0.0, 1.0, 0.0, 0.0])
    found = ndcg_by_query(query, grade, [np.array([0.3, 0.3, 0.1, 0.2, 0.1])], 0.95)
    best = 3 + 1 / math.log2(3)
    expected = (1.5 + 1.5 / math.log2(3) + 1 / 2) / best
    assert found.values[0] == pytest.approx([expected, 0.0])
    assert found.of(0).value == pytest.approx(expected / 2)


def test_relevances_that_differ_by_rounding_only_are_tied() -> None:
    query, grade = np.array([1, 1]), np.array([2.0, 0.0])
    expected = (1.5 + 1.5 / math.log2(3)) / 3
    for other in (0.3, 0.1 + 0.2, 0.3 * (1 - 1e-12)):
        found = ndcg_by_query(query, grade, [np.array([0.3, other])], 0.95)
        assert found.values[0] == pytest.approx([expected])
    assert ndcg_by_query(query, grade, [np.array([0.3, 0.3 * (1 - 1e-7)])], 0.95).values[0] == pytest.approx([1.0])


def test_a_document_of_two_grades_is_told() -> None:
    odd = LOG.set_column(LOG.schema.get_field_index("grade"), "grade", pa.array([[float(i), 0, 1] for i in range(5)]))
    with pytest.raises(LogError, match="3 documents have more than one grade"):
        graded(log=odd).grade  # noqa: B018


def test_models_are_named(tmp_path: object) -> None:
    fitted = MODELS["rate"]
    assert list(models([fitted])) == ["gctr"]
    assert list(models({"mine": fitted})) == ["mine"]
    assert query_column({"a": fitted}) == "query"
    fitted.save(f"{tmp_path}/a.json")
    assert list(models(f"{tmp_path}/a.json")) == ["a"]
    assert load(f"{tmp_path}/a.json").tally == fitted.tally
    with pytest.raises(UsageError, match="not a fitted click model"):
        models({"a": GCTR()})
    with pytest.raises(UsageError, match="there is no model"):
        models([])
    items = GCTR().fit(LOG, by=None)
    with pytest.raises(UsageError, match="identify documents by item alone"):
        query_column({"items": items})
