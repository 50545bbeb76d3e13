"""Real judged queries as ranked sets: base rankers, simulated whole-page rewards, and what is learnt from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.errors import UsageError
from offrank.learning.action_rewards import ActionSums
from offrank.learning.trees import TreeSettings, fit
from offrank.log.batch import Contexts
from offrank.policies.boosted import best_slates
from offrank.readers.svmlight import read_svmlight
from offrank_papers.slates.learning import LearningDesign
from offrank_papers.slates.overlap import PAIRS, agreement
from offrank_papers.slates.rankers import LASSO_TITLE, RANKERS, TREE_BODY, FeatureSets, RankedSets, ranked_sets
from offrank_papers.slates.table_1 import learning
from offrank_papers.slates.uniform_log import Pages, uniform_log

pytest.importorskip("sklearn")

SETS = {"mq2008": ("mq2008/S1.txt", 30, 2.0, "LETOR 4.0"), "clueweb09": ("clueweb09-ltr/fold1.txt", 12, 4.0, "halves")}
DOCUMENTS, SLOTS, ROWS = 8, 3, 6_000


@pytest.fixture(scope="module", params=SETS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def sets(shared_data: Path, name: str) -> RankedSets:
    path, queries, _, _ = SETS[name]
    judged = read_svmlight(shared_data / path)
    first = judged.take(np.argsort(judged.sizes, kind="stable")[:queries])
    assert FeatureSets.of(judged.features.shape[1]).layout == SETS[name][3]
    return ranked_sets(first, DOCUMENTS, seed=2)


def contexts(sets: RankedSets) -> Contexts:
    """The candidates of each query, with the ranks that the policies read."""
    judged = sets.judged
    place = np.arange(judged.rows) - judged.first[judged.owner]
    shape = len(judged), int(judged.sizes.max())
    items = np.full(shape, -1)
    items[judged.owner, place] = judged.document
    scores = {}
    for ranker, ranks in sets.ranks.items():
        scores[ranker] = np.zeros(shape)
        scores[ranker][judged.owner, place] = np.exp2(-np.floor(np.log2(ranks)))  # alpha = 1
        scores[f"{ranker}_best"] = np.zeros(shape)
        scores[f"{ranker}_best"][judged.owner, place] = -ranks
    return Contexts(items, judged.sizes, np.minimum(judged.sizes, SLOTS), scores)


def test_base_rankers_rank_the_candidates(sets: RankedSets, name: str) -> None:
    judged = sets.judged
    assert judged.sizes.max() == DOCUMENTS
    assert (judged.sizes.min() < DOCUMENTS) == (name == "mq2008")  # it has queries of fewer documents
    for ranker in RANKERS:
        assert np.corrcoef(sets.scores[ranker], judged.grade)[0, 1] > 0.1, ranker
    shared = [agreement(sets, *pair).shared.mean() for pair in PAIRS]
    assert min(shared) == 1.0  # at most 8 of at most 8 are in the top 10


@pytest.mark.parametrize("logging", ["uniform", f"plackett_luce({LASSO_TITLE})"])
def test_the_pseudoinverse_hits_the_truth(sets: RankedSets, name: str, logging: str) -> None:
    rng = np.random.default_rng(5)
    judged, every = sets.judged, contexts(sets)
    pages = Pages.of(judged, SLOTS, SETS[name][2])
    best = np.where(sets.ranks[TREE_BODY] <= SLOTS, sets.ranks[TREE_BODY], 0)
    slates = np.full((len(judged), SLOTS), -1)
    row = np.flatnonzero(best)
    slates[judged.owner[row], best[row] - 1] = row - judged.first[judged.owner[row]]
    truth = pages.rewards(np.arange(len(judged)), slates)[:, 0].mean()

    query = rng.integers(len(judged), size=ROWS)
    policy = offrank.Uniform() if logging == "uniform" else offrank.PlackettLuce(LASSO_TITLE)
    drawn = np.empty((ROWS, SLOTS), np.int64)
    for one in range(len(judged)):  # one context at a time
        rows = np.flatnonzero(query == one)
        drawn[rows] = policy.sample(every.take(np.full(len(rows), one)), rng)
    inside = [np.arange(size) for size in judged.sizes]
    columns = {
        "query": query,
        "slate": [every.candidates[q, s[s >= 0]].tolist() for q, s in zip(query, drawn, strict=True)],
        "candidates": [every.candidates[q, inside[q]].tolist() for q in query],
        "reward": pages.rewards(query, drawn)[:, 0],
    }
    for score in (LASSO_TITLE, f"{TREE_BODY}_best"):
        columns[score] = [every.scores[score][q, inside[q]].tolist() for q in query]
    found = offrank.evaluate(pa.table(columns), f"top({TREE_BODY}_best)", logging, ["pi", "wpi"])
    for estimator in ("pi", "wpi"):
        assert abs(found[estimator].value - truth) < 4 * found[estimator].standard_error, estimator
        assert 0 < found[estimator].standard_error < 0.2


def test_targets_of_pi_opt_teach_more_than_chance(sets: RankedSets, name: str) -> None:
    pytest.importorskip("lightgbm")
    pages = Pages.of(sets.judged, SLOTS, SETS[name][2])
    log = uniform_log(pages, 100_000, 1, lambda _: None)
    every = np.arange(len(sets.judged))
    for kind, sums in enumerate(log.actions):
        phi = sums.uniform()
        assert np.isfinite(phi).all()
        forest = fit(sets.judged.features, phi, sums.weights, TreeSettings(5, leaves=8, rate=0.3))
        padded = np.full((len(every), DOCUMENTS, SLOTS), -np.inf)
        place = np.arange(sets.judged.rows) - sets.judged.first[sets.judged.owner]
        padded[sets.judged.owner, place] = forest.scores(sets.judged.features)
        slates = best_slates(padded, sets.judged.sizes, pages.lengths)
        assert pages.rewards(every, slates)[:, kind].mean() > log.means[:, kind].mean() + 0.02


def test_table_1_of_real_queries(shared_data: Path, tmp_path: Path) -> None:
    pytest.importorskip("lightgbm")
    judged = read_svmlight(shared_data / "mq2008" / "S1.txt")
    design = LearningDesign(60, 60, None, rounds=3, leaves=4, rate=0.3, slates=100)
    section = learning(design, judged, tmp_path, lambda _: None)
    assert section.prose[0].startswith("60 queries")
    for table in section.tables:
        assert all(0 < row[table.header.index("NDCG@3")] < 1 for row in table.rows)


def test_short_queries_have_short_slates_and_no_longer_ones(shared_data: Path) -> None:
    judged = read_svmlight(shared_data / "mq2008" / "S1.txt")
    pages = Pages.of(judged, 7, 2.0)
    assert (pages.lengths < 7).sum() == (judged.sizes < 7).sum() > 0
    log = uniform_log(pages, 10_000, 1, lambda _: None)
    assert np.isfinite(log.actions[0].uniform()).all()
    with pytest.raises(UsageError, match="slates of 7 slots but only 6 candidates"):
        ActionSums.zeros(judged.sizes, np.full(len(judged), 7))
