"""Table 2: overlap and Kendall's tau of the base rankers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau

from offrank.errors import UsageError
from offrank.log.graded_queries import Judged
from offrank_papers.slates.overlap import PAIRS, agreement, overlap
from offrank_papers.slates.rankers import RANKERS, RankedSets


def ranked(*sizes: int, seed: int = 0) -> RankedSets:
    """Queries of these sizes, ranked at random by all four."""
    rng, rows = np.random.default_rng(seed), sum(sizes)
    first = np.concatenate([[0], np.cumsum(sizes)])
    judged = Judged(np.arange(len(sizes)), first, np.zeros(rows), np.zeros((rows, 2)), np.arange(rows))
    return RankedSets(judged, {name: rng.normal(size=rows) for name in RANKERS})


def test_by_hand() -> None:
    judged = Judged(np.zeros(1, np.int64), np.array([0, 12]), np.zeros(12), np.zeros((12, 2)), np.arange(12))
    scores = -np.arange(12.0)
    swapped = scores.copy()
    swapped[[9, 10]] = swapped[[10, 9]]  # the tenth leaves the top 10 for the eleventh
    one, other, *_ = RANKERS
    found = agreement(RankedSets(judged, {one: scores, other: swapped}), one, other)
    # 11 documents are in either top 10: 55 pairs, all in the same order but that of the two that were exchanged.
    assert found.shared.tolist() == [9 / 10]
    assert found.tau == pytest.approx([(54 - 1) / 55])


def test_tau_is_that_of_scipy_with_missing_documents_below_the_top() -> None:
    sets = ranked(30, 12, 8, 4, 3)
    one, other = PAIRS[0]
    found = agreement(sets, one, other)
    assert len(found.tau) == 4
    for query, size in enumerate((30, 12, 8, 4)):
        rows = slice(sets.judged.first[query], sets.judged.first[query + 1])
        a, b = sets.ranks[one][rows], sets.ranks[other][rows]
        either = np.flatnonzero((a <= 10) | (b <= 10))
        cut = [np.where(ranks > 10, 11, ranks)[either] for ranks in (a, b)]
        assert found.tau[query] == pytest.approx(kendalltau(*cut).statistic)
        assert found.shared[query] == len(set(np.flatnonzero(a <= 10)) & set(np.flatnonzero(b <= 10))) / min(size, 10)


def test_random_rankers_share_by_chance() -> None:
    found = agreement(ranked(*[100] * 400), *PAIRS[2])
    assert abs(found.shared.mean() - 0.1) < 4 * np.sqrt(0.1 * 0.9 * 90 / 99 / 10 / 400)  # hypergeometric


def test_three_candidates_are_too_few() -> None:
    with pytest.raises(UsageError, match="no query has 4 candidates"):
        agreement(ranked(3, 2), *PAIRS[0])


def test_the_section_compares_only_the_published_queries() -> None:
    sets = ranked(*[20] * 30, 3)
    section = overlap(sets, compared=True)
    (table,) = section.tables
    assert table.header[-1] == "verdict"
    assert [row[0] for row in table.rows] == [", ".join(pair) for pair in PAIRS]
    assert table.rows[0][2] == 0.523
    assert "30 queries (1 with fewer" in section.prose[0]
    other = overlap(sets, compared=False)
    assert "verdict" not in other.tables[0].header
    assert "these are other queries" in other.prose[0]
    # by chance 5 of 10 are in common, whatever the features
    assert [claim.status for claim in section.claims] == ["not confirmed"]
