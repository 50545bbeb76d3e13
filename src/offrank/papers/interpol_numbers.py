"""The numbers behind the reproduction of paper interpol: exact ones, and those of simulated logs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from ..estimators.family import InterpolWindows
from ..estimators.items import Form, Interpol
from ..folds.estimate import Estimate
from ..jobs.evaluate import evaluate
from ..jobs.result import Result
from ..log.batch import Floats
from ..simulation import toy

POWERS = (0.2, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)
STAYS = (0.5, 0.55, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
WINDOWS = tuple(range(toy.ITEMS + 1))
IMPRESSIONS = 5_000
SIZES = (250, 500, 1_000, 2_500, 5_000, 10_000, 25_000)

Point = tuple[float, float, float, float]
"""Where, and the value with its interval."""


def curve(power: float) -> tuple[float, ...]:
    """The position bias curve to a power, top first."""
    return tuple((toy.EXAMINATION**power).tolist())


@dataclass(frozen=True)
class Exact:
    """Bias, variance and mean squared error [windows] of a form of INTERPOL, for a log of 5,000 impressions."""

    form: Form

    def bias(self, stay: float, power: float) -> Floats:
        """Expected estimate less the truth."""
        return _moments(self.form, stay, power)[0] - toy.TRUTH

    def variance(self, stay: float, power: float) -> Floats:
        """Of the estimate."""
        return _moments(self.form, stay, power)[1] / IMPRESSIONS

    def squared_error(self, stay: float, power: float) -> Floats:
        """Mean squared error."""
        return np.asarray(self.bias(stay, power) ** 2 + self.variance(stay, power))

    def best(self, stay: float, power: float) -> int:
        """The window of least mean squared error."""
        return int(self.squared_error(stay, power).argmin())


@lru_cache(maxsize=256)
def _moments(form: Form, stay: float, power: float) -> tuple[Floats, Floats]:
    estimators = [Interpol(window=w, form=form, examination=curve(power)) for w in WINDOWS]
    return toy.moments(toy.ToyWorld(stay=stay), estimators)


@dataclass(frozen=True)
class Simulated:
    """Logs of the toy world, each evaluated with all windows and some powers of the curve."""

    logs: int
    seed: int
    stay: float = 0.95
    powers: tuple[float, ...] = (0.2, 1.0, 1.8)

    @cached_property
    def results(self) -> list[Result]:
        """Of each log."""
        return [self._evaluated(IMPRESSIONS, log) for log in range(self.logs)]

    @cached_property
    def sizes(self) -> dict[int, Result]:
        """Of one log of each size."""
        return {size: self._evaluated(size, self.logs + place) for place, size in enumerate(SIZES)}

    def mean(self, window: int, power: float) -> float:
        """Mean estimate over the logs."""
        return float(np.mean([found.value for found in self._found(window, power)]))

    def deviation(self, window: int, power: float) -> float:
        """Standard deviation of the estimate over the logs."""
        return float(np.std([found.value for found in self._found(window, power)], ddof=1))

    def coverage(self, window: int, power: float) -> float:
        """Share of the logs whose 95 % interval holds the truth."""
        return float(np.mean([found.low <= toy.TRUTH <= found.high for found in self._found(window, power)]))

    def slope_error(self, power: float) -> float:
        """Mean squared error over the logs of the window that is chosen from each."""
        values = [result[InterpolWindows(window="slope", examination=curve(power))].value for result in self.results]
        return float(np.mean((np.array(values) - toy.TRUTH) ** 2))

    def by_size(self, window: int, power: float) -> list[Point]:
        """Estimates by the size of the log."""
        return [_point(size, result[_interpol(window, power)]) for size, result in self.sizes.items()]

    def by_window(self, power: float) -> list[Point]:
        """Estimates of the first log by window."""
        return [_point(window, self.results[0][_interpol(window, power)]) for window in WINDOWS]

    def _found(self, window: int, power: float) -> list[Estimate]:
        return [result[_interpol(window, power)] for result in self.results]

    def _evaluated(self, size: int, log: int) -> Result:
        world = toy.ToyWorld(size, self.stay, self.seed * 100_000 + log)
        fixed = [_interpol(window, power) for power in self.powers for window in WINDOWS]
        slopes = [InterpolWindows(window="slope", examination=curve(power)) for power in self.powers]
        return evaluate(world, world.target, world.logging, [*fixed, *slopes])


def _interpol(window: int, power: float) -> Interpol:
    return Interpol(window=window, examination=curve(power))


def _point(where: float, found: Estimate) -> Point:
    return float(where), found.value, found.low, found.high
