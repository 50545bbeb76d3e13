"""Documents with several grades: refused, the lower median or the majority of the rows; counted and told."""

from __future__ import annotations

from typing import Any

import pytest

import offrank
from offrank.clicks import DCTR
from offrank.errors import LogError, UsageError
from offrank.log.source import Source
from offrank.metrics.graded import Graded, GradedFold

GIVEN = {"a": [0, 3, 1], "b": [2, 2, 4], "c": [1, 1, 1], "d": [4, 0, 0]}
"""The grade of each item in the first, second and third row of a query."""


def rows(weights: tuple[float, ...] = (1, 1, 1)) -> list[dict[str, Any]]:
    """Three rows per query, each of another judge; a row of weight 2 was kept with probability 1/2."""
    items = list(GIVEN)
    return [
        {"query": q, "slate": items, "clicks": [1, 0, 0, 0], "g": [GIVEN[i][at] for i in items], "inclusion": 1 / w}
        for q in ("q", "r")
        for at, w in enumerate(weights)
    ]


def graded(log: Any, grades_by: Any) -> Graded:
    model = DCTR(prior=(1, 1)).fit(rows())
    source: Source = offrank.read_log(log)
    return GradedFold({"m": model}, "g", "query", grades_by=grades_by).read(source, None, None)


@pytest.mark.parametrize(
    ("grades_by", "weights", "expected"),
    [
        ("median", (1, 1, 1), {"a": 1, "b": 2, "c": 1, "d": 0}),
        ("majority", (1, 1, 1), {"a": 0, "b": 2, "c": 1, "d": 0}),
        ("median", (1, 3, 1), {"a": 3, "b": 2, "c": 1, "d": 0}),
        ("majority", (1, 2, 4), {"a": 1, "b": 4, "c": 1, "d": 0}),
        ("median", (3, 1, 2), {"a": 0, "b": 2, "c": 1, "d": 0}),  # half of the weight is enough
    ],
)
def test_one_grade_counts(grades_by: str, weights: tuple[float, ...], expected: dict[str, int]) -> None:
    found = graded(rows(weights), grades_by)
    assert found.disputed == 6
    item = found.rank.astype(int) - 1  # all rows show the items in their order
    assert dict(zip([list(GIVEN)[at] for at in item], found.grade.tolist(), strict=True)) == expected


def test_by_default_several_grades_are_an_error() -> None:
    with pytest.raises(LogError, match=r"6 documents have more than one grade(?s:.*)median"):
        graded(rows(), "error")
    with pytest.raises(UsageError, match="grades_by is 'mean'"):
        graded(rows(), "mean")


def test_ranks_and_impressions_are_of_all_rows() -> None:
    found, once = graded(rows(), "median"), graded(rows()[::3] * 3, "error")
    assert found.rank.tolist() == once.rank.tolist()
    assert found.sums.tolist() == once.sums.tolist()
    assert once.disputed == 0


def test_results_tell_how_many_documents_had_several() -> None:
    model = DCTR(prior=(1, 1)).fit(rows())
    made = offrank.evaluate_clicks(rows(), {"m": model}, labels="g", grades_by="majority")
    assert "6 of 8 documents have several grades; their majority is used" in " ".join(str(made).split())
    assert made.to_dict()["grades"].startswith("6 of 8")
    with pytest.raises(LogError, match="more than one grade"):
        offrank.evaluate_clicks(rows(), {"m": model}, labels="g")
