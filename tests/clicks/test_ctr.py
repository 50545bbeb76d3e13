"""Click rates: a log of two documents at two ranks, by arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

import offrank
from offrank.clicks import COEC, DCTR, GCTR, RCTR, RDCTR, ClickModel, Fitted
from offrank.clicks.click_counts import ClickCounts
from offrank.clicks.documents import SlateDocuments
from tests.clicks.click_patterns import independent
from tests.clicks.readers import log
from tests.clicks.same_law import assert_same_law

#                 document, rank: (shown, clicked)
TABLE = {(0, 0): (6, 3), (0, 1): (4, 1), (1, 1): (5, 2), (2, 0): (3, 0)}
COUNTS = ClickCounts(
    np.array([d for d, _ in TABLE]),
    np.array([k for _, k in TABLE]),
    np.array([float(n) for n, _ in TABLE.values()]),
    np.array([float(y) for _, y in TABLE.values()]),
    3,
    2,
)
SLOTS = SlateDocuments(np.array([[0, 2, -1, 1]]), np.array([[True, True, True, False]]))
"""Two documents, one that was never seen, and none; two ranks lower than the log goes."""


def chances(model: ClickModel) -> list[float]:
    return model.law(model.learn(COUNTS).parameters, SLOTS).marginal()[0].tolist()


def test_gctr() -> None:
    assert chances(GCTR()) == pytest.approx([(6 + 1) / (18 + 2)] * 3 + [0])


def test_rctr() -> None:
    first, second = (3 + 1) / (9 + 2), (3 + 1) / (9 + 2)
    assert chances(RCTR()) == pytest.approx([first, second, second, 0])


def test_dctr() -> None:
    assert chances(DCTR((1.0, 3.0))) == pytest.approx([(4 + 1) / (10 + 4), (0 + 1) / (3 + 4), 1 / 4, 0])


def test_rdctr() -> None:
    model = RDCTR((1.0, 3.0))
    # Document 2 was never shown at rank 2: the prior.
    assert chances(model) == pytest.approx([(3 + 1) / (6 + 4), 1 / 4, 1 / 4, 0])
    learnt = model.learn(COUNTS)
    first, second = 3 / 9, 3 / 9
    expected = [
        (3 + 1) / (6 + 4) / first + (1 + 1) / (4 + 4) / second,
        (1 / 4) / first + (2 + 1) / (5 + 4) / second,
        (0 + 1) / (3 + 4) / first + (1 / 4) / second,
        (1 / 4) / first + (1 / 4) / second,
    ]
    assert model.relevance(learnt.parameters, np.array([0, 1, 2, -1])).tolist() == pytest.approx(expected)


def test_coec() -> None:
    cells = {(0, 0): (6, 4), (0, 1): (2, 1), (1, 0): (2, 1), (1, 1): (6, 1), (2, 1): (4, 0)}
    document, cell = zip(*cells, strict=True)
    shown, clicked = zip(*cells.values(), strict=True)
    counts = ClickCounts(*map(np.array, (document, cell, shown, clicked)), documents=3, ranks=2)
    high, low = (5 + 1) / (8 + 2), (2 + 1) / (12 + 2)
    ratios = [5 / (6 * high + 2 * low), 2 / (2 * high + 6 * low), 0.0, 1.0]
    model = COEC()
    learnt = model.learn(counts).parameters
    assert model.relevance(learnt, np.array([0, 1, 2, -1])).tolist() == pytest.approx(ratios)
    slots = SlateDocuments(np.array([[0, -1], [1, 0], [2, 2]]), np.array([[True, True], [True, False], [True, True]]))
    expected = [[high * ratios[0], low], [high * ratios[1], 0], [0.001, 0.001]]
    assert model.law(learnt, slots).marginal().tolist() == [pytest.approx(row) for row in expected]


def test_a_ratio_of_clicks_may_be_above_one_and_has_no_interval() -> None:
    often = [{"query": "q", "slate": ["a", "b"], "clicks": [1, 0]}] * 9
    fitted = COEC().fit([*often, *[{"query": "q", "slate": ["b", "a"], "clicks": [0, 1]}] * 3])
    first, second = (9 + 1) / (12 + 2), (3 + 1) / (12 + 2)
    found = fitted.judgements()
    assert isinstance(fitted, Fitted)
    assert found.relevance.tolist() == pytest.approx([12 / (9 * first + 3 * second), 0])
    assert found.relevance[0] > 1
    assert np.isnan([found.low, found.high, found.certainty]).all()
    assert "doubtful-judgements" in [caution.code for caution in found.cautions]


def test_relevance() -> None:
    documents = np.array([[0, 1], [2, -1]])
    rates = [[5 / 14, 3 / 9], [1 / 7, 1 / 4]]
    model = DCTR((1.0, 3.0))
    assert model.relevance(model.learn(COUNTS).parameters, documents).tolist() == [pytest.approx(row) for row in rates]
    for flat in (GCTR(), RCTR()):
        found = flat.relevance(flat.learn(COUNTS).parameters, documents)
        assert found.shape == (2, 2)
        assert len(np.unique(found)) == 1


EVERY = [GCTR(), RCTR(), DCTR(), RDCTR(), COEC()]


@pytest.mark.parametrize("model", EVERY, ids=repr)
def test_the_law_is_its_story(model: ClickModel) -> None:
    law = model.law(model.learn(COUNTS).parameters, SLOTS)
    assert_same_law(law, independent(law.marginal()[0].tolist()))


@pytest.mark.parametrize("model", EVERY, ids=repr)
@pytest.mark.parametrize(
    ("slates", "clicks"),
    [([[5]], [[1]]), ([[5]], [[0]]), ([[5, 6], [6]], [[1, 1], [1]]), ([[5, 6, 7], [7]], [[0, 0, 0], [0]])],
    ids=["one click", "no click", "all clicked", "never clicked"],
)
def test_tiny_logs(model: ClickModel, slates: list[list[int]], clicks: list[list[int]]) -> None:
    fitted = model.fit(log(slates, clicks))
    batch = next(offrank.read_log(log(slates, clicks)).batches(0))
    found = fitted.click_probs(batch.contexts, batch.slates)[batch.slates >= 0]
    assert ((found > 0) & (found < 1)).all()
    assert np.isfinite(fitted.relevance(batch.contexts)[:, 0]).all()


def test_documents_with_little_data_are_near_the_prior() -> None:
    rng = np.random.default_rng(0)
    shown = np.append(rng.integers(1, 50, 3000), [1.0, 1000.0]).astype(float)
    clicked = np.append(rng.binomial(shown[:-2].astype(int), rng.beta(2, 8, 3000)), [1.0, 900.0]).astype(float)
    every = np.arange(len(shown))
    learnt = DCTR().learn(ClickCounts(every, 0 * every, shown, clicked, len(shown), 1))
    rate = learnt.parameters["rate"]
    assert rate[-1] == pytest.approx(0.2, abs=0.01)
    assert 0.2 < rate[-3] < 0.35
    assert rate[-2] == pytest.approx(0.9, abs=0.02)
