"""Counterfactual risk minimisation: minimises the mean and the deviation of the estimate by majorisation."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from ..log.batch import Floats
from . import _kernels
from .examples import Checkpoint, Data, Examples, Learner, Store, is_checkpoint
from .reductions import Scorer

_ROUNDING = 1e-12
"""Share of a sum of squares below which what is left about the mean is rounding error, on any processor."""


@dataclass(frozen=True)
class EmpiricalRisk:
    """Mean and standard deviation of the terms u of n rows."""

    n: int
    mean: float
    deviation: float

    @classmethod
    def of(cls, n: int, total: float, squares: float) -> EmpiricalRisk:
        """Build from sums of u and of u^2."""
        mean = total / n
        spread = squares - n * mean**2
        return cls(n, mean, math.sqrt(spread / max(n - 1, 1)) if spread > _ROUNDING * squares else 0.0)

    def bound(self, variance: float) -> tuple[float, float]:
        """Return (A, B) of the bound mean(A u + B u^2) + constant on mean(u) + variance deviation / sqrt(n).

        It holds everywhere and is exact here: the square root and minus the squared mean both lie below their tangents.
        """
        if not (variance and self.deviation):
            return 1.0, 0.0
        curve = variance * math.sqrt(self.n) / ((self.n - 1) * self.deviation)
        return 1.0 - curve * self.mean, curve / 2


@dataclass(frozen=True)
class WeightedObjective:
    """The loss u of every row according to the log; smaller is better.

    u = -(reward - baseline) min(w, clip) / inclusion, times `unit`; w is the importance weight. Sub-sampling is
    corrected here, once per row.

    - unit: scales the mean of the terms over rows to units of the mean absolute deviation of the logged rewards.
    - normalised: whether each round of a descent uses the current self-normalised estimate as the baseline.
    - model: predicts rewards; the terms are then doubly robust, for slates of one slot:
      u = -(sum_a p(a) r(a) + (reward - baseline - r(y)) min(w, clip)) / inclusion, times `unit`.
    """

    store: Store
    clip: float
    unit: float
    baseline: float = 0.0
    normalised: bool = False
    model: Scorer | None = None

    @classmethod
    def of(
        cls, store: Store, clip: float = math.inf, *, normalised: bool = False, model: Scorer | None = None
    ) -> WeightedObjective:
        """Build from rewards that are centred already, or that a model predicts."""
        unit = store.rows / store.impressions / store.deviation()
        return cls(store, clip, unit, normalised=normalised, model=model)

    def sums(self, weights: Floats, linear: float, square: float, gradient: Floats) -> tuple[float, float]:
        """Return sums of u and u^2; gradient += that of the sum of linear u + square u^2."""
        total = squares = 0.0
        for examples in self.store:
            terms = self._terms(examples, examples.reward - self.baseline, weights, linear, square, gradient)
            total += float(terms.sum())
            squares += float(terms @ terms)
        return total, squares

    def refreshed(self, weights: Floats) -> WeightedObjective:
        """Return the terms for another round, if they depend on the current weights."""
        if not self.normalised:
            return self
        earned = shown = 0.0
        unused = np.zeros_like(weights)
        for examples in self.store:
            earned += float(self._terms(examples, examples.reward, weights, 0, 0, unused).sum())
            shown += float(self._terms(examples, np.ones(len(examples)), weights, 0, 0, unused).sum())
        return replace(self, baseline=earned / shown)

    def _terms(
        self, examples: Examples, reward: Floats, weights: Floats, linear: float, square: float, gradient: Floats
    ) -> Floats:
        """Return the terms of these rewards [n]; gradient as in `sums`."""
        share, terms = self.unit / examples.inclusion, np.empty(len(examples))
        chances = np.empty(0) if self.model is None else self.model.chances(examples)
        gain = (reward if self.model is None else reward - chances[examples.shown]) * share
        lines = (examples.starts, examples.offsets, examples.indices, examples.values)
        given = (examples.slates, examples.log_q, gain, share, chances, self.clip)
        _kernels.weighted_slates(*lines, *given, linear, square, weights, gradient, terms)
        return terms


@dataclass(frozen=True)
class Descent:
    """Minimises mean(u) + variance deviation(u) / sqrt(n) + l2 / 2 |weights|^2, starting from zero weights.

    Each of `rounds` bounds the deviation from above (Swaminathan and Joachims 2015, section 5) and makes `steps`
    iterations of L-BFGS on the bound, so that the objective never rises.
    """

    store: Store
    size: int
    variance: float
    l2: float
    rounds: int
    steps: int = 8

    def objective(self, terms: WeightedObjective, weights: Floats) -> float:
        """Return the objective that is minimised."""
        found = self._risk(terms, weights)
        penalty = self.variance * found.deviation / math.sqrt(found.n)
        return found.mean + penalty + self.l2 / 2 * float(weights @ weights)

    def run(self, terms: WeightedObjective) -> Iterator[Floats]:
        """Yield the weights after each round."""
        weights, seen = np.zeros(self.size), np.zeros(self.size, dtype=np.bool_)
        for examples in self.store:
            seen[examples.indices] = True
        active = np.flatnonzero(seen)
        for _ in range(self.rounds):
            terms = terms.refreshed(weights)
            linear, square = self._risk(terms, weights).bound(self.variance)
            weights = self._minimised(terms, weights, active, linear, square)
            yield weights.copy()

    def _risk(self, terms: WeightedObjective, weights: Floats) -> EmpiricalRisk:
        return EmpiricalRisk.of(self.store.rows, *terms.sums(weights, 1.0, 0.0, np.zeros(self.size)))

    def _minimised(
        self, terms: WeightedObjective, weights: Floats, active: np.ndarray, linear: float, square: float
    ) -> Floats:
        from scipy.optimize import minimize

        n, full = self.store.rows, weights.copy()

        def bound(point: Floats) -> tuple[float, Floats]:
            full[active], gradient = point, np.zeros(self.size)
            total, squares = terms.sums(full, linear, square, gradient)
            value = (linear * total + square * squares) / n + self.l2 / 2 * float(point @ point)
            return value, gradient[active] / n + self.l2 * point

        options = {"maxiter": self.steps, "ftol": 1e-12, "gtol": 1e-9}
        found = minimize(bound, weights[active], jac=True, method="L-BFGS-B", options=options)
        out = np.zeros(self.size)
        out[active] = found.x
        return out


@dataclass(frozen=True)
class Penalised(Learner, ABC):
    """The search of the POEM family: stochastic policies, over clips and penalties.

    - variances: multiples of the standard error; l2: penalties of the weights; both in units of the mean absolute
      deviation of the logged rewards from their median, which is the baseline: for rare clicks, the click rate and 0.
    - clips: importance weights are clipped at this quantile of the inverse propensities (.97 as published).
    - epochs: passes of majorisation, each with several passes over the log.
    """

    variances: tuple[float, ...] = (0.0, 1.0)
    l2: tuple[float, ...] = (1e-4, 1e-3, 1e-2)
    clips: tuple[float, ...] = (0.97,)
    epochs: int = 8

    @abstractmethod
    def terms(self, data: Data, seed: int) -> WeightedObjective:
        """Return the terms of the objective, without a clip."""

    @final
    def candidates(self, data: Data, seed: int) -> Iterator[Checkpoint]:
        """Yield candidates of every setting, after 1, 2, 4 ... rounds and after the last."""
        terms = self.terms(data, seed)
        for variance, l2, clip in itertools.product(self.variances, self.l2, self.clips):
            descent = Descent(terms.store, data.encoding.size, variance, l2, self.epochs)
            settings = {"variance": variance, "l2": l2, "clip": clip}
            for number, weights in enumerate(descent.run(replace(terms, clip=quantile(terms.store, clip))), 1):
                if is_checkpoint(number, self.epochs):
                    yield Checkpoint.linear({**settings, "epochs": number}, weights, data)


def quantile(store: Store, level: float) -> float:
    """Return a quantile of the rows' inverse propensities; level 1 clips nothing."""
    if level >= 1:
        return math.inf
    return float(np.quantile(np.concatenate([np.exp(-examples.log_q) for examples in store]), level))
