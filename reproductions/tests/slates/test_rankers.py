"""Feature sets, the four base rankers and the ranked sets."""

from __future__ import annotations

import numpy as np
import pytest

from offrank.errors import UsageError
from offrank.log.graded_queries import Judged
from offrank.simulation.judged_queries import mslr_like
from offrank_papers.slates.rankers import (
    LASSO_BODY,
    LASSO_TITLE,
    RANKERS,
    TREE_BODY,
    TREE_TITLE,
    FeatureSets,
    RankedSets,
    base_rankers,
    filtered,
    ranked_sets,
    ranks,
)

pytest.importorskip("sklearn")


@pytest.fixture(scope="module")
def judged() -> Judged:
    return mslr_like(40, (5, 30), seed=3)


@pytest.fixture(scope="module")
def sets(judged: Judged) -> RankedSets:
    return ranked_sets(judged, 12, seed=1)


@pytest.mark.parametrize(
    ("columns", "layout", "title", "body"),
    [(136, "MSLR", 25 * 2 + 6, 25 * 3 + 2), (46, "LETOR 4.0", 8 * 2 + 6, 8 * 3), (42, "halves", 21, 21)],
)
def test_every_layout_divides_its_columns(columns: int, layout: str, title: int, body: int) -> None:
    found = FeatureSets.of(columns)
    assert (found.layout, len(found.title), len(found.body)) == (layout, title, body)
    assert not set(found.title) & set(found.body)
    assert set(found.title) | set(found.body) <= set(range(columns))


def test_mslr_by_the_numbers_of_its_documentation() -> None:
    found = FeatureSets.of(136)
    named = {1: "body", 2: "anchor", 3: "title", 4: "url", 5: "whole", 107: "BM25 of anchor", 121: "LMIR.JM body"}
    title = {feature for feature in named if feature - 1 in found.title}
    assert title == {2, 4, 107}
    assert {126, 127, 128, 129, 130, 131} <= {column + 1 for column in found.title}
    assert {132, 133} <= {column + 1 for column in found.body}
    assert not {134, 135, 136} & {column + 1 for column in (*found.title, *found.body)}  # clicks


def test_the_designs_have_a_constant_column_and_only_numbers() -> None:
    features = np.array([[1.0, np.nan, 3.0, -np.inf], [1e300, 2.0, 3.0, 4.0]])
    found = FeatureSets.of(4)
    assert found.design(LASSO_TITLE, features)[:, 0].tolist() == [0.01, 0.01]
    assert found.design(TREE_TITLE, features)[0].tolist() == [0.01, 1.0, 0.0]
    assert np.isfinite(found.design(LASSO_BODY, features).astype(np.float32)).all()
    assert np.isfinite(found.design(TREE_TITLE, features).astype(np.float32)).all()


def test_a_ranker_reads_only_its_set(judged: Judged, sets: RankedSets) -> None:
    body = list(FeatureSets.of(136).body)
    blank = sets.judged.features.copy()
    blank[:, body] = 0.0
    changed = Judged(*(sets.judged.query, sets.judged.first, sets.judged.grade, blank, sets.judged.document))
    found = base_rankers(changed, 1, (LASSO_TITLE, TREE_TITLE, TREE_BODY))
    assert np.array_equal(found[LASSO_TITLE], sets.scores[LASSO_TITLE])
    assert np.array_equal(found[TREE_TITLE], sets.scores[TREE_TITLE])
    assert not np.array_equal(found[TREE_BODY], sets.scores[TREE_BODY])
    assert np.allclose(found[TREE_BODY], sets.judged.grade.mean())


def test_the_filter_keeps_at_most_m(judged: Judged, sets: RankedSets) -> None:
    assert sets.judged.sizes.tolist() == np.minimum(judged.sizes, 12).tolist()
    title = base_rankers(judged, 1, (TREE_TITLE,))[TREE_TITLE]
    rank = ranks(judged, title, TREE_TITLE, 1)
    kept = np.isin(judged.document, sets.judged.document)
    assert (rank[kept] <= 12).all()
    assert (rank[~kept] > 12).all()
    assert filtered(judged, 30) is judged


def test_rankers_order_their_training_set_better_than_chance(judged: Judged, sets: RankedSets) -> None:
    for name in RANKERS:
        assert np.corrcoef(sets.scores[name], sets.judged.grade)[0, 1] > 0.1, name


def test_all_is_deterministic_and_depends_on_no_order(judged: Judged, sets: RankedSets) -> None:
    rng = np.random.default_rng(0)
    queries = rng.permutation(len(judged))
    rows = np.concatenate([rng.permutation(np.arange(judged.first[i], judged.first[i + 1])) for i in queries])
    found = ranked_sets(judged.pick(queries, judged.sizes[queries], rows), 12, seed=1)
    place = np.argsort(found.judged.document)
    again = np.argsort(sets.judged.document)
    assert np.array_equal(found.judged.document[place], sets.judged.document[again])
    for name in (TREE_TITLE, TREE_BODY):
        assert np.allclose(found.scores[name][place], sets.scores[name][again])
        assert np.array_equal(found.ranks[name][place], sets.ranks[name][again])
    for name in (LASSO_TITLE, LASSO_BODY):
        assert np.allclose(found.scores[name][place], sets.scores[name][again], atol=1e-3)


def test_ties_are_broken_by_hash() -> None:
    tied = Judged(np.arange(400), np.arange(0, 1601, 4), np.zeros(1600), np.zeros((1600, 2)), np.arange(1600))
    found = ranks(tied, np.zeros(1600), LASSO_BODY).reshape(400, 4)
    assert np.array_equal(np.sort(found, axis=1), np.tile([1, 2, 3, 4], (400, 1)))
    counts = np.array([np.bincount(column, minlength=5)[1:] for column in found.T])
    assert (np.abs(counts - 100) < 4 * np.sqrt(400 * 0.25 * 0.75)).all()
    other = ranks(tied, np.zeros(1600), TREE_BODY).reshape(400, 4)
    assert 0.15 < (found == other).mean() < 0.35
    assert np.array_equal(ranks(tied, -np.arange(1600.0), LASSO_BODY).reshape(400, 4)[0], [1, 2, 3, 4])


def test_bad_input(judged: Judged) -> None:
    with pytest.raises(UsageError, match="documents is 0"):
        filtered(judged, 0)
    with pytest.raises(UsageError, match="1 queries to learn"):
        base_rankers(judged.take(np.arange(1)))
    with pytest.raises(UsageError, match="1 features cannot"):
        FeatureSets.of(1)
