"""Click models whose documents are judged by clicks where these are many, and by features where they are few.

The priors of a table of documents follow a regression on features: linear, boosted trees, or a small network. Its
prediction for each document stands beside its mean logged rank in the design of its prior. A document that the log
lacks has what its features predict.

In a regression each document has expected clicks y and trials n (neither whole, and y may lie a little outside 0 to n):
the loss is sum n log(1 + e^g) - y g for a logit g(x). A path of regressions yields ever less regularised ones as
arrays; the step is chosen, and documents are predicted, by cross-fitting: no document's prior has seen its own clicks
(Ignatiadis and Wager 2019, Covariate-powered empirical Bayes estimation).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError, optional
from ..log.batch import Contexts, Floats, Integers
from ..policies.boosted import TreeEnsemble
from .base import FitResult, Parameters, Role
from .covariates import Covariates, Regression, single
from .fit.em import expit, logit
from .spec import ModelSpec

FOLDS = 5
"""Parts of the queries in cross-fitting."""
_PENALTIES = (1000.0, 100.0, 10.0, 1.0, 0.1)
"""Precisions of the normal prior of the weights of standardised features."""
_BELOW_TREES = 10.0
"""That of the linear regression below boosted trees."""
_ROUNDS = (10, 20, 40, 80, 160)
_LEAVES, _RATE = 15, 0.1
_HIDDEN, _STEPS, _PACE, _DECAY = 16, (50, 100, 200, 400), 0.02, 1e-4
SCALE = "columns"
"""The name of the mean and deviation [2, f] of the columns among what was learnt of features."""
LEVEL = "_level"
"""Ending of the name of the logit of an average document, to which predictions are relative."""


# Learning -----------------------------------------------------------------------------------------------------------


def learn_with_features(
    model: ModelSpec, learn: Callable[[Any], FitResult], data: Any, found: Covariates, say: Callable[[str], object]
) -> FitResult:
    """Learn a model, regress what clicks tell of each document on its features, learn it again with these priors."""
    first = learn(data)
    scale = np.stack([found.mean.mean(axis=0), found.mean.std(axis=0)])
    scale[1, scale[1] <= 1e-9 * np.abs(scale[0])] = np.inf  # a column that does not differ says nothing
    query = np.arange(data.documents) if data.query is None else data.query
    features, covariates = {SCALE: scale}, dict[str, Floats]()
    for name, kind in model.regressions.items():
        say(f"{name}: {kind} regression on {scale.shape[1]:,} features")
        examples = ExpectedClicks(_standardised(found.mean, scale), *_expected(first, name))
        logits, features[name] = cross_fitted(kind, examples, query)
        covariates[name] = ((logits - logits.mean()) / max(float(logits.std()), 1e-9))[:, None]
    learnt = learn(replace(data, covariates=covariates))
    levels = {name + LEVEL: logit(learnt.parameters[name][-1:]) for name in model.regressions}
    return replace(learnt, features={**features, **levels})


def _expected(learnt: FitResult, name: str) -> tuple[Floats, Floats]:
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
    model: ModelSpec, learnt: FitResult, contexts: Contexts, candidates: Integers, document: Integers
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


# Regressions --------------------------------------------------------------------------------------------------------


class ExpectedClicks(NamedTuple):
    """x [d, f] standardised features, y and n [d] expected clicks and trials."""

    x: Floats
    y: Floats
    n: Floats

    def without(self, held: Any) -> ExpectedClicks:
        """The same without what clicks tell of some documents."""
        return ExpectedClicks(self.x, np.where(held, 0.0, self.y), np.where(held, 0.0, self.n))

    @property
    def level(self) -> float:
        """The logit of the mean."""
        share = (self.y.sum() + 1.0) / (self.n.sum() + 2.0)
        return float(logit(np.clip(share, 1e-6, 1 - 1e-6)))

    def loss(self, logits: Floats) -> float:
        return float((self.n * np.logaddexp(0.0, logits) - self.y * logits).sum())


def checked(name: str, value: object) -> None:
    """Check a setting.

    Raises:
        UsageError: it is not a `Regression`.
    """
    if value not in get_args(Regression):
        raise UsageError(
            f"{name}={value!r} is not a kind of regression", f"use one of {', '.join(get_args(Regression))}"
        )


def _linear(data: ExpectedClicks) -> Iterator[Floats]:
    """Ridge logistic regressions: [1 + f] level and weights."""
    from scipy.optimize import minimize  # slow to import

    rows, here = np.column_stack([np.ones(len(data.x)), data.x]), np.append(data.level, np.zeros(data.x.shape[1]))
    for penalty in _PENALTIES:

        def loss(weights: Floats, penalty: float = penalty) -> tuple[float, Floats]:
            logits, own = rows @ weights, np.append(0.0, weights[1:])
            slope = rows.T @ (data.n * expit(logits) - data.y) + penalty * own
            return data.loss(logits) + 0.5 * penalty * float(own @ own), slope

        here = minimize(loss, here, jac=True, method="L-BFGS-B", options={"maxiter": 500}).x
        yield here


def _boosted(data: ExpectedClicks) -> Iterator[Floats]:
    """Boosted trees on top of a linear regression: the bytes of its [1 + f] weights, and LightGBM's text."""
    library = optional("lightgbm", "boosted trees need LightGBM", "models")
    *_, linear = islice(_linear(data), _PENALTIES.index(_BELOW_TREES) + 1)
    start = scores("linear", linear, data.x)
    settings = {
        "objective": "custom",
        "num_leaves": _LEAVES,
        "learning_rate": _RATE,
        "min_data_in_leaf": max(5, len(data.x) // 200),
        "lambda_l2": 1.0,
        "num_threads": 1,
        "seed": 0,
        "deterministic": True,
        "force_row_wise": True,
        "verbosity": -1,
    }

    def slopes(logits: Floats, _: object) -> tuple[Floats, Floats]:
        chance = expit(start + logits)
        return data.n * chance - data.y, data.n * chance * (1.0 - chance)

    booster = library.Booster(settings, library.Dataset(data.x, np.zeros(len(data.x)), params=settings))
    for number in range(1, _ROUNDS[-1] + 1):
        booster.update(fobj=slopes)
        if number in _ROUNDS:
            text = np.frombuffer(booster.model_to_string(num_iteration=number).encode(), np.uint8)
            yield np.concatenate([linear.view(np.uint8), text])


def _network(data: ExpectedClicks) -> Iterator[Floats]:
    """Networks with one hidden layer: [1 + h (f + 2)] level, weights of each hidden unit, its bias and its output."""
    train, begin = _trainer()
    width, scale = data.x.shape[1], float(data.n.sum())
    inner = np.random.default_rng(0).standard_normal((_HIDDEN, width + 2)) / np.sqrt(width)
    inner[:, -2:] = 0.0
    given = [part.astype(np.float32) for part in (data.x, data.y / scale, data.n / scale)]
    flat = np.append(data.level, inner.ravel()).astype(np.float32)
    state = begin(flat)
    for number in range(1, _STEPS[-1] // _STEPS[0] + 1):
        flat, state = train(flat, state, *given)
        if number * _STEPS[0] in _STEPS:
            yield np.asarray(flat, np.float64)


@cache
def _trainer() -> tuple[Callable[..., Any], Callable[[Any], Any]]:
    """(the first of `_STEPS` steps of Adam, compiled; its initial state)."""
    jax, optax = (optional(name, "networks need JAX and optax", "neural") for name in ("jax", "optax"))
    adam = optax.adam(_PACE)

    def loss(flat: Any, x: Any, y: Any, n: Any) -> Any:
        logits = _forward(flat, x, jax.numpy)
        return (n * jax.numpy.logaddexp(0.0, logits) - y * logits).sum() + _DECAY * (flat[1:] ** 2).sum()

    def train(flat: Any, state: Any, *given: Any) -> Any:
        def step(carry: Any, _: object) -> Any:
            change, state = adam.update(jax.grad(loss)(carry[0], *given), carry[1])
            return (optax.apply_updates(carry[0], change), state), None

        return jax.lax.scan(step, (flat, state), length=_STEPS[0])[0]

    return jax.jit(train), adam.init


def _forward(flat: Any, x: Any, xp: Any) -> Any:
    hidden = flat[1:].reshape(_HIDDEN, -1)
    return flat[0] + xp.tanh(x @ hidden[:, :-2].T + hidden[:, -2]) @ hidden[:, -1]


def _scores_of_trees(found: Floats, x: Floats) -> Floats:
    size = 8 * (1 + x.shape[1])
    linear, text = np.frombuffer(found[:size].tobytes()), found[size:].tobytes().decode()
    return scores("linear", linear, x) + TreeEnsemble(text, x.shape[1]).scores(x)


_PATHS: dict[str, Callable[[ExpectedClicks], Iterator[Floats]]] = {
    "linear": _linear,
    "boosted": _boosted,
    "network": _network,
}
_SCORES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "linear": lambda found, x: np.asarray(found[0] + x @ found[1:]),
    "boosted": _scores_of_trees,
    "network": lambda found, x: np.asarray(_forward(found, x, np)),
}


def scores(kind: str, found: Floats, x: Floats) -> Floats:
    """[rows] the logits that a regression predicts at standardised features x [rows, f]."""
    return _SCORES[kind](found, x) if len(x) else np.zeros(0)


def cross_fitted(kind: str, data: ExpectedClicks, query: Integers) -> tuple[Floats, Floats]:
    """([d] logits of each document by what the queries of other folds tell, the regression of all documents)."""
    fold = query % FOLDS  # queries are numbered by the hashes of their documents: as good as at random
    steps: list[Floats] = []
    for one in range(FOLDS):
        held = fold == one
        if not held.any() or held.all():
            continue
        for step, found in enumerate(_PATHS[kind](data.without(held))):
            if step == len(steps):
                steps.append(np.full(len(fold), data.level))
            steps[step][held] = scores(kind, found, data.x[held])
    if not steps:
        raise UsageError(
            "there is only one query: effects of features cannot be separated from that query", "give more"
        )
    step = int(np.argmin([data.loss(logits) for logits in steps]))
    return steps[step], next(islice(_PATHS[kind](data), step, None))
