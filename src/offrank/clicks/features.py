"""Click models whose documents are judged by clicks where these are many, and by features where they are few.

The priors of a table of documents follow a regression on features (`regressors`), whose prediction for each document
stands beside its mean logged rank in the design of its prior. A document that the log lacks has what its features
predict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..log.batch import Contexts, Floats, Integers
from .covariates import Covariates, FeatureColumns, single
from .fit.em import expit, logit
from .learnt import Learnt
from .parameters import Parameters, Role, Roles
from .regressors import ExpectedClicks, Regression, cross_fitted, scores

SCALE = "columns"
"""The name of the mean and deviation [2, f] of the columns among what was learnt of features."""
LEVEL = "_level"
"""Ending of the name of the logit of an average document, to which predictions are relative."""


class WithColumns(Protocol):
    """The methods of a click model that predictions from features use; see `ClickModel`."""

    @property
    def columns(self) -> FeatureColumns | None: ...

    @property
    def regressions(self) -> Mapping[str, Regression]: ...

    def roles(self) -> Roles: ...


class FeatureModel(WithColumns, Protocol):
    """The methods of a click model that learning from features uses."""

    def learn(self, data: Any, *, start: Parameters | None = None, say: Callable[[str], object]) -> Learnt: ...


def learn(model: FeatureModel, data: Any, found: Covariates, say: Callable[[str], object]) -> Learnt:
    """Learn a model, regress what clicks tell of each document on its features, learn it again with these priors."""
    first = model.learn(data, say=say)
    scale = np.stack([found.mean.mean(axis=0), found.mean.std(axis=0)])
    scale[1, scale[1] <= 1e-9 * np.abs(scale[0])] = np.inf  # a column that does not differ says nothing
    scale[1, scale[1] == 0] = np.inf
    query = np.arange(data.documents) if data.query is None else data.query
    features, covariates = {SCALE: scale}, dict[str, Floats]()
    for name, kind in model.regressions.items():
        say(f"{name}: {kind} regression on {scale.shape[1]:,} features")
        examples = ExpectedClicks(_standardised(found.mean, scale), *_expected(first, name))
        logits, features[name] = cross_fitted(kind, examples, query)
        covariates[name] = ((logits - logits.mean()) / max(float(logits.std()), 1e-9))[:, None]
    learnt = model.learn(replace(data, covariates=covariates), say=say)
    levels = {name + LEVEL: logit(learnt.parameters[name][-1:]) for name in model.regressions}
    return replace(learnt, features={**features, **levels})


def _expected(learnt: Learnt, name: str) -> tuple[Floats, Floats]:
    """([d], [d]) clicks and trials that tell of a table what its posterior says beyond the prior.

    Near the posterior mean v of strength S, a log-likelihood has slope v S - m s and curvature (S - s) v (1 - v) by the
    logit, for a prior of mean m and strength s. Documents differ from what features predict as their prior says: n
    trials of one tell of the prediction what n (s + 1) / (n + s) independent ones would.
    """
    value, strength, (a, b) = learnt.parameters[name][:-1], learnt.strength[name][:-1], learnt.priors[name]
    s = a + b
    n = np.maximum(strength - s, 0.0)
    worth = np.where(n > 0, (s + 1.0) / (n + s), 0.0)
    return worth * (value * strength - a), worth * n


def _standardised(values: Floats, scale: Floats) -> Floats:
    return np.asarray((values - scale[0]) / scale[1])


def with_unseen(
    model: WithColumns,
    learnt: Learnt,
    contexts: Contexts,
    candidates: Integers,
    document: Integers,
) -> tuple[Parameters, Integers]:
    """Tables with an entry for each unseen document of some slates, and the index [n, k] of each document there.

    candidates: [n, k] index of each document's candidate, below 0 where there is none. document: [n, k] its index,
    below 0 for unseen ones. A regression's prediction stands for the expectation of an average document.
    """
    unseen: NDArray[np.bool_] = (document < 0) & (candidates >= 0)
    tables = learnt.parameters
    if model.columns is None or not unseen.any():
        return tables, document
    row, _ = np.nonzero(unseen)
    values = np.zeros((len(row), learnt.features[SCALE].shape[1]))
    model.columns.add(contexts, row, candidates[unseen], np.arange(len(row)), values)
    x = _standardised(single(values), learnt.features[SCALE])
    document, found = document.copy(), dict(tables)
    for name, role in model.roles().items():
        if role is Role.DOCUMENT:
            table, own = tables[name], np.broadcast_to(tables[name][-1], len(row))
            if name in model.regressions:
                level = logit(table[-1:]) - learnt.features[name + LEVEL]
                own = expit(level + scores(model.regressions[name], learnt.features[name], x))
            document[unseen] = len(table) - 1 + np.arange(len(row))
            found[name] = np.concatenate([table[:-1], own, table[-1:]])
    return found, document
