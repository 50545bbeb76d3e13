"""Numbers for the reproduction of paper interpol: exact ones, and those of simulated logs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from offrank.estimators.items import Form, Interpol
from offrank.log.batch import Floats
from offrank.policies.propensities import propensities
from offrank.selection import slope

from . import toy

POWERS = (0.2, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)
STAYS = (0.5, 0.55, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
WINDOWS = tuple(range(toy.ITEMS + 1))
IMPRESSIONS = 5_000
SIZES = (250, 500, 1_000, 2_500, 5_000, 10_000, 25_000)


def curve(power: float) -> tuple[float, ...]:
    """Return the position bias curve raised to a power, top first."""
    return tuple((toy.EXAMINATION**power).tolist())


@dataclass(frozen=True)
class Exact:
    """Bias, variance and mean squared error [windows] of a form of INTERPOL, for a log of 5,000 impressions."""

    form: Form

    def bias(self, stay: float, power: float) -> Floats:
        """Return the expected estimate minus the truth."""
        return _moments(self.form, stay, power)[0] - toy.TRUTH

    def variance(self, stay: float, power: float) -> Floats:
        """Return the variance of the estimate."""
        return _moments(self.form, stay, power)[1] / IMPRESSIONS

    def squared_error(self, stay: float, power: float) -> Floats:
        """Return the mean squared error."""
        return np.asarray(self.bias(stay, power) ** 2 + self.variance(stay, power))

    def best(self, stay: float, power: float) -> int:
        """Return the window of least mean squared error."""
        return int(self.squared_error(stay, power).argmin())


@lru_cache(maxsize=256)
def _moments(form: Form, stay: float, power: float) -> tuple[Floats, Floats]:
    estimators = [Interpol(window=w, form=form, examination=curve(power)) for w in WINDOWS]
    return toy.term_moments(toy.ToyWorld(stay=stay), estimators)


@dataclass(frozen=True)
class SimulatedLogs:
    """Logs of the toy world, each estimated with all windows and some powers of the curve."""

    logs: int
    seed: int
    stay: float = 0.95
    powers: tuple[float, ...] = (0.2, 1.0, 1.8)

    @cached_property
    def estimates(self) -> tuple[Floats, Floats]:
        """Return estimates and standard errors [logs, powers, windows]."""
        return _stacked(self._estimated(IMPRESSIONS, log) for log in range(self.logs))

    @cached_property
    def by_size(self) -> tuple[Floats, Floats]:
        """Return estimates and standard errors [sizes, powers, windows], for one log of each size."""
        return _stacked(self._estimated(size, self.logs + place) for place, size in enumerate(SIZES))

    def of(self, window: int, power: float) -> tuple[Floats, Floats]:
        """Return estimates and standard errors [logs]."""
        value, error = self.estimates
        return value[:, self.powers.index(power), window], error[:, self.powers.index(power), window]

    def slope_error(self, power: float) -> float:
        """Return the mean squared error over the logs of the window chosen from each."""
        place = self.powers.index(power)
        value, error = (each[:, place, : toy.ITEMS] for each in self.estimates)
        chosen = [slope(*log).index for log in zip(value, error, strict=True)]
        return float(np.mean((value[np.arange(self.logs), chosen] - toy.TRUTH) ** 2))

    def _estimated(self, size: int, log: int) -> tuple[Floats, Floats]:
        world = toy.ToyWorld(size, self.stay, self.seed * 100_000 + log)
        (batch,) = world.batches(0)
        assert batch.clicks is not None
        logging, target = propensities(world.logging, batch), propensities(world.target, batch)
        earned = np.empty((len(self.powers), len(WINDOWS), size))
        for place, power in enumerate(self.powers):
            for window in WINDOWS:
                weighting = Interpol(window=window, examination=curve(power))
                weight = weighting.weigh(batch, logging, target).weight
                earned[place, window] = (weight * batch.clicks).sum(axis=1)
        return earned.mean(axis=-1), earned.std(axis=-1, ddof=1) / np.sqrt(size)


def _stacked(each: Iterable[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    values, errors = zip(*each, strict=True)
    return np.array(values), np.array(errors)
