"""What nobody asked for weighs like what is asked for, and refuses no row."""

from __future__ import annotations

import numpy as np
import pytest

import offrank
from offrank.errors import ImpossibleSlateError
from offrank.estimators.base import Reference
from offrank.estimators.fold import TermsFold
from offrank.estimators.layout import Layout
from offrank.estimators.named import REFERENCES
from offrank.log.batch import LogBatch
from offrank.policies.propensities import propensities
from offrank.policies.registry import policy
from offrank.sums.moments import MomentsFold
from tests.verbs.logs import LOGGING, TARGET, coins, search


def batch(log: object, estimator: Reference, logging: str, target: str) -> LogBatch:
    wanted = Layout((policy(target),), (estimator,)).needs(policy(logging))
    [found] = list(offrank.read_log(log).select(wanted).batches(0))
    return found


@pytest.mark.parametrize("estimator", REFERENCES, ids=repr)
@pytest.mark.parametrize("target", [repr(TARGET), "epsilon(top(new_score), 0.5)"])
def test_it_weighs_like_the_estimator(estimator: Reference, target: str) -> None:
    rows = batch(search(), estimator, repr(LOGGING), target)
    laws = propensities(LOGGING, rows), propensities(policy(target), rows)
    quiet, usual = estimator.lenient_terms(rows, *laws), estimator.terms(rows, *laws)
    for name in ("value", "weight"):
        np.testing.assert_allclose(getattr(quiet, name), getattr(usual, name), rtol=1e-12)


@pytest.mark.parametrize("estimator", REFERENCES, ids=repr)
def test_a_row_that_cannot_be_gets_a_weight_that_nobody_trusts(estimator: Reference) -> None:
    log = coins(40)
    logging, target = "ranking(best)", "uniform"  # half of the rows do not show the best
    rows = batch(log, estimator, logging, target)
    laws = propensities(policy(logging), rows), propensities(policy(target), rows)
    with pytest.raises(ImpossibleSlateError):
        estimator.terms(rows, *laws)
    found = estimator.lenient_terms(rows, *laws)
    best = rows.slates[:, 0] == 1
    np.testing.assert_allclose(found.weight[best], 0.5)
    assert (found.weight[~best] > 1e50).all()
    assert np.isfinite(found.value).all()
    layout = Layout((policy(target),), (estimator,), references=(estimator,))
    fold = TermsFold(layout, policy(logging), MomentsFold())
    assert np.isfinite(fold.result(fold.of(rows)).comoment).all()
