"""The published estimator of CMIP and the cross-fitted one, on laws whose information is arithmetic."""

from __future__ import annotations

import math

import numpy as np
import pytest

from offrank.errors import MissingExtraError
from offrank.metrics import cmip
from offrank.metrics.cmip_methods import CmiMethod
from offrank_papers.cmip_methods import Classifier, Paper
from offrank_papers.cmip_methods.boosted import donsker_varadhan
from tests.metrics.test_cmip import codes, copula
from tests.metrics.test_cmip_draws import draws


@pytest.mark.turns(3)
def test_the_published_estimator_is_biased_as_published() -> None:
    pytest.importorskip("lightgbm")
    found = cmip(*copula(5_000, 0.0, seed=0), method=Paper())
    assert -0.33 < found.value < -0.19  # -.2755 on average of three seeds with the published code
    assert {"negative", "few-documents", "biased-method"} <= codes(found)
    assert found.p_value is None


def test_the_published_estimator_says_which_grades_had_no_partner() -> None:
    pytest.importorskip("lightgbm")
    relevance, logging, _ = copula(402, 0.5, seed=0)
    method = Paper(repetitions=(12, 1))
    found = cmip(relevance, logging, [0] * 400 + [1] * 2, method=method, permutations=1)
    assert "unpaired-grade" in codes(found)
    assert found.p_value in {1 / 2, 1}


@pytest.mark.turns(3)
@pytest.mark.parametrize("rho", [0.0, 0.6])
def test_the_cross_fitted_classifier(rho: float) -> None:
    pytest.importorskip("lightgbm")
    true = -math.log(1 - rho**2) / 2
    found = cmip(*copula(5_000, rho, seed=1), method=Classifier())
    assert true - 0.06 < found.value < true + 0.02
    assert found.dependent() is bool(rho)


@pytest.mark.turns(3)
def test_the_classifier_keeps_clusters_together() -> None:
    pytest.importorskip("lightgbm")
    # Ten copies of each document: trees that have seen a copy would know their exchanged partners for strangers.
    relevance, logging, grade = (np.tile(column, 10) for column in copula(300, 0.0, seed=3))
    found = cmip(relevance, logging, grade, method=Classifier(folds=3), cluster=np.tile(np.arange(300), 10))
    assert found.value < 0.02


@pytest.mark.parametrize("method", [Paper(), Classifier()], ids=["paper", "classifier"])
def test_without_the_extra_it_says_what_to_install(method: CmiMethod, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "lightgbm", None)
    with pytest.raises(MissingExtraError, match=r"\[models\]"):
        cmip(*copula(500, 0.5, seed=0), method=method)


def test_draws_are_averaged() -> None:
    pytest.importorskip("lightgbm")
    relevance, logging, grade = draws(1_000, 3, seed=4)
    method = Paper(repetitions=(1, 1))
    together = cmip(relevance, logging, grade, method, permutations=0)
    alone = [cmip(one, logging, grade, method, permutations=0) for one in relevance.T]
    assert together.value == pytest.approx(np.mean([one.value for one in alone]), abs=0.2)  # the method is random
    assert (together.draws, alone[0].draws) == (3, 1)
    assert cmip(relevance[:, :1], logging, grade, method, permutations=0) == alone[0]


def test_donsker_varadhan_by_hand() -> None:
    own, exchanged = np.array([2.0, 0.0]), np.array([1.0, -1.0])
    assert donsker_varadhan(own, exchanged) == pytest.approx(1 - math.log((math.e + 1 / math.e) / 2))
    assert donsker_varadhan(own + 800, exchanged + 800) == pytest.approx(donsker_varadhan(own, exchanged))
