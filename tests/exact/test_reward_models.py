"""Estimators with regressions of whole slates and with columns of predictions, against the truth by enumeration."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from offrank.estimators import Direct, DoublyRobust, estimator
from offrank.policies import policy
from offrank.reward_models import OwnRegression
from offrank.verbs.estimate import estimate
from offrank_testing.exact import MemorySource, World
from offrank_testing.laws import Slate
from tests.exact.worlds import NEW, OLD, RELEVANCE, USERS, Situation, situation

TARGETS = ("top(new)", "ranking(listed)", "plackett_luce(new)", "epsilon(top(new), 0.25)")
LOGGING = ("uniform", "epsilon(top(old), 0.4)", "plackett_luce(old)")
SIZES = ((4, 2), (5, 2), (4, 1), (5, 2))
BY_SLOT = ((0.3, -0.1), (0.2, 0.4))
"""What a unit of the old and the new score earns in each slot."""
ROUNDING = 1e-6
"""Of features, which are held as 32-bit numbers."""


def linear(index: int, slate: Slate) -> float:
    return 0.5 + sum(a * OLD[index][item] + b * NEW[index][item] for item, (a, b) in zip(slate, BY_SLOT, strict=False))


def joint(index: int, slate: Slate) -> float:
    """Not a sum over slots."""
    return linear(index, slate) + NEW[index][slate[0]] * OLD[index][slate[-1]]


def with_relevance(index: int) -> Situation:
    made = situation(index, *SIZES[index])
    return Situation(made.size, made.slots, {**made.scores, "truth": RELEVANCE[index][: made.size]}, made.rankings)


SITUATIONS = tuple(with_relevance(index) for index in range(len(SIZES)))
BY_REWARD = {f.__name__: World(SITUATIONS, USERS["slate"], f) for f in (linear, joint)}
BY_ITEM = World(SITUATIONS, lambda index, slate: [RELEVANCE[index][item] for item in slate])


class LeastSquares:
    """The linear regression of scikit-learn, without it."""

    def fit(self, x: Any, y: Any, sample_weight: Any) -> None:
        scale = np.sqrt(sample_weight)[:, None]
        self.weights = np.linalg.lstsq(scale * self._with_one(x), scale[:, 0] * y)[0]

    def predict(self, x: Any) -> Any:
        return self._with_one(x) @ self.weights

    def _with_one(self, x: Any) -> Any:
        return np.hstack([x, np.ones((len(x), 1))])


class Products:
    """Known beforehand: a wrong model that is no sum over slots."""

    def predict(self, x: Any) -> Any:
        return 1 + x[:, 0] * x[:, -1] - x[:, 1] ** 2


class Sums:
    """Known beforehand: a wrong model that is a sum over slots."""

    def predict(self, x: Any) -> Any:
        return x @ [0.7, -0.2, 0.1, 0.3] - 1


BOTH = {"by": ("old", "new")}
RIGHT = OwnRegression(LeastSquares(), **BOTH)
PRODUCTS, SUMS = OwnRegression(Products(), **BOTH), OwnRegression(Sums(), **BOTH)
PI = estimator("pi")


def errors(here: World, log: MemorySource, logging: str, estimators: list[Any]) -> dict[str, float]:
    """The largest error of each estimator over the targets."""
    found = estimate(log, {target: target for target in TARGETS}, logging, estimators)
    truth = {target: here.value(policy(target)) for target in TARGETS}
    return {repr(e): max(abs(found[target, repr(e)].value - truth[target]) for target in TARGETS) for e in estimators}


@cache
def of_rewards(name: str, drawn: str, logging: str) -> dict[str, float]:
    here = BY_REWARD[name]
    return errors(here, here.source(policy(drawn)), logging, [Direct(RIGHT), *ROBUST])


ROBUST = [
    *(DoublyRobust(one) for one in (RIGHT, PRODUCTS, SUMS)),
    *(DoublyRobust(one, residual=PI) for one in (RIGHT, PRODUCTS, SUMS)),
    DoublyRobust(PRODUCTS, residual=estimator("clip(ips, 1e9)")),
]
DIRECT, IPS_RIGHT, IPS_PRODUCTS, IPS_SUMS, PI_RIGHT, PI_PRODUCTS, PI_SUMS, CLIPPED = map(repr, [Direct(RIGHT), *ROBUST])


@pytest.mark.parametrize("logging", LOGGING)
def test_a_right_regression_is_right_and_what_it_corrects_whatever_the_propensities(logging: str) -> None:
    for claimed in {logging, "uniform"}:
        found = of_rewards("linear", logging, claimed)
        assert max(found[name] for name in (DIRECT, IPS_RIGHT, PI_RIGHT)) < ROUNDING


@pytest.mark.parametrize("logging", LOGGING)
def test_a_wrong_regression_is_corrected_by_whole_slates_whatever_it_and_rewards_are(logging: str) -> None:
    for name in BY_REWARD:
        found = of_rewards(name, logging, logging)
        assert max(found[robust] for robust in (IPS_RIGHT, IPS_PRODUCTS, IPS_SUMS, CLIPPED)) < 1e-9, name
    assert found[DIRECT] > 0.01  # of `joint` the linear one is wrong


@pytest.mark.parametrize("logging", LOGGING)
def test_the_pseudoinverse_corrects_sums_of_rewards_that_are_sums(logging: str) -> None:
    found = of_rewards("linear", logging, logging)
    assert found[PI_SUMS] < 1e-7
    assert found[PI_PRODUCTS] > 0.01
    assert of_rewards("joint", logging, logging)[PI_SUMS] > 0.01


def test_what_the_pseudoinverse_assumes_of_a_model() -> None:
    additive, other = (estimator(f"dr({model}, residual=pi)").kind.assumes for model in ("lasso", "tree"))
    assert additive == PI.kind.assumes < other < estimator("direct(tree)").kind.assumes
    assert estimator("dr(tree)").kind.assumes == frozenset()


@pytest.mark.parametrize("logging", LOGGING)
def test_columns_of_predictions(logging: str) -> None:
    """One is right, and one is corrected by any weighting that is right."""
    corrected = [f"dr(column=old, residual={one})" for one in ("ips", "pi", "rips", "ipm")]
    names = ["direct(column=truth)", "direct(column=old)", *corrected]
    found = errors(BY_ITEM, BY_ITEM.source(policy(logging)), logging, [estimator(name) for name in names])
    assert found.pop("direct(column=old)") > 0.1
    assert max(found.values()) < 1e-7
