"""Learning-to-rank sets as they were published."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from offrank.log.graded_queries import Judged
from offrank.metrics.ranking import ndcg
from offrank.readers.svmlight import read_svmlight
from offrank.simulation.judged_queries import stratified
from offrank_papers.rankers import LambdaMART

SETS = [
    ("mq2008/S1.txt", 157, 2_933, 46, 2, (6, 118)),
    ("clueweb09-ltr/fold1.txt", 12, 5_309, 42, 4, (273, 687)),
    ("trec-news-2018/trec_news_2018.t*", 50, 823, 5, 4, (3, 52)),
    ("lightgbm-lambdarank/rank.train", 201, 3_005, 300, 4, (1, 27)),
    ("lightgbm-lambdarank/rank.t*", 251, 3_773, 300, 4, (1, 27)),
]


@pytest.mark.parametrize(("name", "queries", "rows", "features", "best", "sizes"), SETS, ids=[s[0] for s in SETS])
def test_counts(shared_data: Path, name, queries, rows, features, best, sizes) -> None:
    judged = read_svmlight(str(shared_data / name))
    assert (len(judged), judged.rows, judged.features.shape[1]) == (queries, rows, features)
    assert (judged.grade.min(), judged.grade.max()) == (0, best)
    assert (judged.sizes.min(), judged.sizes.max()) == sizes


@pytest.mark.parametrize("name", ["mq2008/S1.txt", "clueweb09-ltr/fold2.txt", "trec-news-2018/trec_news_2018.test"])
def test_the_same_as_scikit_learn(shared_data: Path, name: str) -> None:
    judged = read_svmlight(shared_data / name)
    features, grade, query = load_svmlight_file(str(shared_data / name), query_id=True)
    assert judged.features.view(np.int64).tolist() == features.toarray().view(np.int64).tolist()
    assert judged.grade.tolist() == grade.tolist()
    assert judged.query[judged.owner].tolist() == query.tolist()


def quality(judged: Judged, scores: np.ndarray) -> float:
    """Mean nDCG@10; queries without a relevant document are left out."""
    found = []
    for begin, end in zip(judged.first[:-1], judged.first[1:], strict=True):
        grades = judged.grade[begin:end][np.argsort(-scores[begin:end], kind="stable")]
        if grades.any():
            found.append(float(ndcg(grades, cutoff=10)))
    return float(np.mean(found))


@pytest.fixture(scope="module")
def mq2008(shared_data: Path) -> Judged:
    return read_svmlight([shared_data / "mq2008" / f"S{part}.txt" for part in (1, 2, 3)])


def test_lambdamart_learns_mq2008(mq2008: Judged) -> None:
    pytest.importorskip("lightgbm")
    assert (len(mq2008), mq2008.rows) == (471, 9_630)
    learned = quality(mq2008, LambdaMART(leaves=15, folds=3).scores(mq2008))
    random = quality(mq2008, np.random.default_rng(0).random(mq2008.rows))
    assert learned == pytest.approx(0.70, abs=0.03)
    assert random == pytest.approx(0.45, abs=0.03)


def test_queries_of_ten_documents(mq2008: Judged) -> None:
    kept, dropped = stratified(mq2008)
    assert (len(kept), dropped) == (228, 243)
    assert dropped == int((mq2008.sizes < 10).sum())
    assert kept.table(kept.grade).shape == (228, 10)
