"""Laws of independent keys, one per candidate, and the keys of the arguments that policies are spelled with.

Shapes: n rows, m candidates, c points or N nodes of a row.
Beta keys are compared by their log-odds, in which their densities are smooth, without a boundary and log-concave.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError

Floats = NDArray[np.float64]

_NEGLIGIBLE = 38.0
"""A key is looked for where its density is above exp(-38) of the largest, a part of 3e-17."""
_PER_SLOPE = 3.0
"""How many times a density may grow or fall by e where its curvature would allow one step."""
_GAUSSIAN_PLACES = np.sqrt(2 * _NEGLIGIBLE) * np.linspace(-1, 1, 9)
_GUMBEL_PLACES = np.array([-3.75, -3, -2, -1, 0, 1, 2, 4, 8, 16, _NEGLIGIBLE])
_SHARES = np.array([0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1.0])
_BENDS = np.array([-_NEGLIGIBLE, -16, -8, -4, -2, 0, 2, 4, 8, 16, _NEGLIGIBLE])
_SERIES = (1 / 156, -691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)
"""Coefficients of the Stirling series of log Gamma, that of the highest power first."""
_FAR = 30.0
"""Log-odds beyond which an exponential is taken from its other side."""
_NEWTON = 4
"""Steps after which the end of a key is known to all digits, but for counts far from one another."""
_SHIFT = np.arange(10.0)
"""Below as many, log Gamma comes by its recurrence from as much above."""


class Keys(ABC):
    """The laws of the keys of n rows of m candidates."""

    @property
    @abstractmethod
    def candidates(self) -> int:
        """The candidates of the widest row, m."""

    @abstractmethod
    def places(self) -> Floats:
        """[n, m, c] ascending places between which `roughness` changes little.

        From the first to the last lies each key, but for a negligible part.
        """

    @abstractmethod
    def roughness(self, points: Floats) -> Floats:
        """[n, c, m] how fast each log-density bends and falls at points [n, c]: squares of inverse widths."""

    @abstractmethod
    def density(self, points: Floats) -> Floats:
        """[n, m, N] density of each key at points [n, N]."""

    def numbers(self) -> tuple[str, Floats] | None:
        """The kind and [n, m, 6] numbers that compiled loops read, if they know the kind.

        They are the two arguments, the mode and the log-density there, and where the key first and last may lie.
        """
        return None

    @abstractmethod
    def sample(self, rng: np.random.Generator) -> Floats:
        """[n, m] keys, or an increasing function of them."""

    @abstractmethod
    def take(self, rows: Any) -> Keys:
        """The laws of some rows."""


@final
@dataclass(frozen=True)
class GaussianKeys(Keys):
    """Normal keys; mean, sd: [n, m]."""

    mean: Floats
    sd: Floats

    @property
    def candidates(self) -> int:
        return self.mean.shape[1]

    def places(self) -> Floats:
        return np.asarray(self.mean[:, :, None] + self.sd[:, :, None] * _GAUSSIAN_PLACES)

    def roughness(self, points: Floats) -> Floats:
        inverse = 1 / self.sd[:, None, :]
        slope = (points[:, :, None] - self.mean[:, None, :]) * (inverse / _PER_SLOPE)
        return np.asarray((1 + slope * slope) * (inverse * inverse))

    def density(self, points: Floats) -> Floats:
        inverse = 1 / self.sd[:, :, None]
        z = (points[:, None, :] - self.mean[:, :, None]) * inverse
        z *= z
        z *= -0.5
        np.exp(z, out=z)
        z *= inverse / np.sqrt(2 * np.pi)
        return z

    def numbers(self) -> tuple[str, Floats]:
        reach = self.sd * _GAUSSIAN_PLACES[-1]
        peak = -np.log(self.sd * np.sqrt(2 * np.pi))
        return "normal", np.stack([self.mean, self.sd, self.mean, peak, self.mean - reach, self.mean + reach], axis=2)

    def sample(self, rng: np.random.Generator) -> Floats:
        return rng.normal(self.mean, self.sd)

    def take(self, rows: Any) -> GaussianKeys:
        return GaussianKeys(self.mean[rows], self.sd[rows])


@final
@dataclass(frozen=True)
class GumbelKeys(Keys):
    """Gumbel keys, of which the largest comes first: with equal scales the race is Plackett-Luce.

    location, scale: [n, m].
    """

    location: Floats
    scale: Floats

    @property
    def candidates(self) -> int:
        return self.location.shape[1]

    def places(self) -> Floats:
        return np.asarray(self.location[:, :, None] + self.scale[:, :, None] * _GUMBEL_PLACES)

    def roughness(self, points: Floats) -> Floats:
        inverse = 1 / self.scale[:, None, :]
        bend = np.exp(np.clip((self.location[:, None, :] - points[:, :, None]) * inverse, -300, 300))
        slope = (bend - 1) / _PER_SLOPE
        return np.asarray((bend + slope * slope) * (inverse * inverse))

    def density(self, points: Floats) -> Floats:
        inverse = 1 / self.scale[:, :, None]
        down = np.minimum((self.location[:, :, None] - points[:, None, :]) * inverse, 700.0)
        return np.asarray(np.exp(down - np.exp(down)) * inverse)

    def sample(self, rng: np.random.Generator) -> Floats:
        return rng.gumbel(self.location, self.scale)

    def take(self, rows: Any) -> GumbelKeys:
        return GumbelKeys(self.location[rows], self.scale[rows])


@final
@dataclass(frozen=True)
class BetaKeys(Keys):
    """Keys from Beta laws, compared by their log-odds y, of density proportional to exp(a y) / (1 + exp(y))^(a + b).

    alpha, beta: [n, m].
    """

    alpha: Floats
    beta: Floats

    @property
    def candidates(self) -> int:
        return self.alpha.shape[1]

    @cached_property
    def total(self) -> Floats:
        """[n, m] alpha + beta."""
        return self.alpha + self.beta

    @cached_property
    def mode(self) -> Floats:
        """[n, m] log-odds of the means, where log-odds are most likely."""
        return np.asarray(np.log(self.alpha) - np.log(self.beta))

    @cached_property
    def reach(self) -> Floats:
        """[2, n, m] how far below and above its mode a key lies at most."""
        both = np.array([self.alpha, self.beta])
        return _reach(both, both[::-1], np.array([self.mode, -self.mode]))

    def places(self) -> Floats:
        down, up = self.reach[..., None]
        # A key of few counts reaches far, and bends near log-odds of 0.
        mode = self.mode[:, :, None]
        lower, upper = mode - down * _SHARES, mode + up * _SHARES
        bends = np.minimum(np.maximum(_BENDS, lower[:, :, -1:]), upper[:, :, -1:])
        found = np.concatenate([lower, bends, upper], axis=2)
        found.sort(axis=2)
        return np.asarray(found)

    def roughness(self, points: Floats) -> Floats:
        p = _expit(points)[:, :, None]
        total = self.total[:, None, :]
        slope = (self.alpha[:, None, :] - total * p) / _PER_SLOPE
        # log(1 + exp(y)) branches at y = pi i, so that a panel is about as long as it is far from there.
        branch = np.where(np.abs(points) < _NEGLIGIBLE, 22 / (points * points + np.pi**2), 0.0)[:, :, None]
        return np.asarray(total * (p * (1 - p)) + slope * slope + branch)

    def density(self, points: Floats) -> Floats:
        # From the mode of the sharpest key on, so that numbers of its size do not cancel; from its smaller side.
        row, sharpest = np.arange(len(self.mode)), self.total.argmax(axis=1)
        start = self.mode[row, sharpest][:, None]
        low = start <= 0
        away = points - start
        bend = _log_bend(_expit(-np.abs(start)), np.where(low, away, -away))
        logs = np.where(low, self.alpha, -self.beta)[:, :, None] * away[:, None, :]
        logs -= self.total[:, :, None] * bend[:, None, :]
        logs += (_from_mode(self.alpha, self.beta, start - self.mode) + _log_peak(self))[:, :, None]
        np.exp(logs, out=logs)
        return logs

    def numbers(self) -> tuple[str, Floats]:
        low, high = self.mode - self.reach[0], self.mode + self.reach[1]
        return "log-odds", np.stack([self.alpha, self.beta, self.mode, _log_peak(self), low, high], axis=2)

    def sample(self, rng: np.random.Generator) -> Floats:
        """[n, m] log-odds of the draws: with small counts the draws themselves would tie at 0 and 1."""
        above, below = _log_gamma_draws(self.alpha, rng), _log_gamma_draws(self.beta, rng)
        return above - below

    def take(self, rows: Any) -> BetaKeys:
        return BetaKeys(self.alpha[rows], self.beta[rows])


def _log_gamma_draws(shape: Floats, rng: np.random.Generator) -> Floats:
    """Logarithms of Gamma draws: one of shape + 1, times U^(1 / shape)."""
    return np.asarray(np.log(rng.standard_gamma(shape + 1)) - rng.standard_exponential(shape.shape) / shape)


def _expit(y: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.maximum(y, -700.0))))


def _log_bend(p: Floats, away: Floats) -> Floats:
    """log of (1 + exp(y)) / (1 + exp(y0)), where p is the probability of log-odds y0 <= 0, and away = y - y0."""
    near = np.minimum(away, _FAR)
    return np.asarray(np.log1p(p * np.expm1(near)) if (away <= _FAR).all() else _log_far_bend(p, near, away))


def _log_far_bend(p: Floats, near: Floats, away: Floats) -> Floats:
    """As `_log_bend`, also where the exponential overflows."""
    far = away + np.log(p + (1 - p) * np.exp(-np.maximum(away, 0.0)))
    return np.where(away > _FAR, far, np.log1p(p * np.expm1(near)))


def _from_mode(alpha: Floats, beta: Floats, away: Floats) -> Floats:
    """Log-density at a distance from the mode, in log-odds, less that at the mode: from the smaller side."""
    total, low = alpha + beta, alpha <= beta
    side = np.where(low, away, -away)
    smaller = np.minimum(alpha, beta)
    return np.asarray(smaller * side - total * _log_bend(smaller / total, side))


def _reach(alpha: Floats, beta: Floats, mode: Floats) -> Floats:
    """How far below its mode a key lies at most: where the log-density has fallen by `_NEGLIGIBLE`.

    Newton's method, from where the key of a Gamma law ends. The log-density is concave, so that every step ends beyond.
    """
    part = _NEGLIGIBLE / beta
    reach = np.log1p(part + np.sqrt(2 * part))
    for _ in range(_NEWTON):
        slope = alpha - (alpha + beta) * _expit(mode - reach)
        reach = reach + (_from_mode(alpha, beta, -reach) + _NEGLIGIBLE) / np.maximum(slope, 1e-300)
    return reach


def _log_peak(keys: BetaKeys) -> Floats:
    """[n, m] log-density of the log-odds at their mode: of a normal law, and what Stirling's formula leaves out."""
    normal = 0.5 * np.log(keys.alpha * (keys.beta / keys.total) / (2 * np.pi))
    total, alpha, beta = _beyond_stirling(np.array([keys.total, keys.alpha, keys.beta]))
    return np.asarray(normal + total - alpha - beta)


def _beyond_stirling(x: Floats) -> Floats:
    """log Gamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2)."""
    small = x < len(_SHIFT)
    z = np.where(small, x + len(_SHIFT), x)
    inverse = 1 / z
    square, found = inverse * inverse, np.zeros_like(z)
    for coefficient in _SERIES:
        found *= square
        found += coefficient
    found *= inverse
    if small.any():
        product = np.prod(np.where(small, x, 1.0)[..., None] + _SHIFT, axis=-1)
        moved = (z - 0.5) * np.log(z) - (x - 0.5) * np.log(x) - (z - x) - np.log(product)
        found = found + np.where(small, moved, 0.0)
    return np.asarray(found)


NOISES = ("gaussian", "gumbel")
GUMBEL_SCALE = math.sqrt(6) / math.pi
"""The scale of a Gumbel law whose standard deviation is 1."""


def noise_keys(score: Floats, sd: Floats, noise: str) -> Keys:
    """Return the keys of scores [n, m] with noise of such a standard deviation [n, m]."""
    return GaussianKeys(score, sd) if noise == "gaussian" else GumbelKeys(score, sd * GUMBEL_SCALE)


def refuse_other_posteriors(alpha: str | None, beta: str | None, mean: str | None, sd: str | None) -> None:
    """Refuse columns that are not those of Beta arms, nor those of Gaussian arms.

    Raises:
        UsageError: they are neither alpha and beta alone, nor mean and sd alone.
    """
    columns = {"alpha": alpha, "beta": beta, "mean": mean, "sd": sd}
    given = [name for name, column in columns.items() if column is not None]
    if given not in (["alpha", "beta"], ["mean", "sd"]):
        what = " and ".join(given) or "no column"
        raise UsageError(f"thompson is given {what}", "write thompson(alpha, beta), or thompson(mean=..., sd=...)")
