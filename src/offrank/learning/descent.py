"""Counterfactual risk minimisation: the estimate's mean and its spread, descended together by majorisation."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..log.batch import Floats
from .examples import Store


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation of the terms u of n rows."""

    n: int
    mean: float
    deviation: float

    @classmethod
    def of(cls, n: int, total: float, squares: float) -> Spread:
        """From sums of u and of u^2."""
        mean = total / n
        return cls(n, mean, math.sqrt(max(squares - n * mean**2, 0.0) / max(n - 1, 1)))

    def bound(self, variance: float) -> tuple[float, float]:
        """(A, B) of the bound mean(A u + B u^2) + constant on mean(u) + variance deviation / sqrt(n).

        It holds everywhere and is exact here: the square root lies below its tangent, minus the squared mean too.
        """
        if not (variance and self.deviation):
            return 1.0, 0.0
        curve = variance * math.sqrt(self.n) / ((self.n - 1) * self.deviation)
        return 1.0 - curve * self.mean, curve / 2


class Terms(Protocol):
    """The terms u [n] of every row: what the log says was lost, so that less is better."""

    def sums(self, weights: Floats, linear: float, square: float, gradient: Floats) -> tuple[float, float]:
        """Sums of u and u^2; gradient += that of the sum of linear u + square u^2."""

    def refreshed(self, weights: Floats) -> Terms:
        """The terms for another round, where they depend on the weights so far."""


@dataclass(frozen=True)
class Descent:
    """Minimises mean(u) + variance deviation(u) / sqrt(n) + l2 / 2 |weights|^2, from weights of zero.

    Each of `rounds` bounds the deviation from above (Swaminathan and Joachims 2015, section 5) and makes `steps`
    iterations of L-BFGS on the bound, so that the objective never rises.
    """

    store: Store
    size: int
    variance: float
    l2: float
    rounds: int
    steps: int = 8

    def objective(self, terms: Terms, weights: Floats) -> float:
        """What is minimised."""
        found = self._spread(terms, weights)
        penalty = self.variance * found.deviation / math.sqrt(found.n)
        return found.mean + penalty + self.l2 / 2 * float(weights @ weights)

    def run(self, terms: Terms) -> Iterator[Floats]:
        """The weights after each round."""
        weights, active = np.zeros(self.size), self._active()
        for _ in range(self.rounds):
            terms = terms.refreshed(weights)
            linear, square = self._spread(terms, weights).bound(self.variance)
            weights = self._minimised(terms, weights, active, linear, square)
            yield weights.copy()

    def _spread(self, terms: Terms, weights: Floats) -> Spread:
        return Spread.of(self.store.rows, *terms.sums(weights, 1.0, 0.0, np.zeros(self.size)))

    def _active(self) -> np.ndarray:
        """Coordinates that occur."""
        seen = np.zeros(self.size, dtype=np.bool_)
        for examples in self.store:
            seen[examples.indices] = True
        return np.flatnonzero(seen)

    def _minimised(self, terms: Terms, weights: Floats, active: np.ndarray, linear: float, square: float) -> Floats:
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
