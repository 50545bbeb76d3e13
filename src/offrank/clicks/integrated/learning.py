"""EM for the chances of the cells and the prior of the attractions, which are integrated out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...log.batch import Floats
from ..counts import Counts
from ..em import Climb, climb
from ..model import Say
from ..parameters import Parameters
from ..priors import Beta, best, hyper_slopes
from .integral import Chances, Expected, Integral

_ROUNDS = 1000
_SOME = 4_000
"""Documents, evenly chosen, from whose solution all begin."""


@dataclass(frozen=True)
class Cells:
    """What is to be learnt of the cells.

    start: where to begin. free: which of hit [cells], and which of false [cells], are learnt; the others stay at their
    start. Each free chance has a faint prior, which decides where nothing was seen: one observation at its start.
    """

    start: Chances
    free: tuple[NDArray[np.bool_], NDArray[np.bool_]]

    @classmethod
    def fixed(cls, hit: Floats) -> Cells:
        """Nothing is learnt, and only the attracted click."""
        none = np.zeros(len(hit), np.bool_)
        return cls(Chances(hit, np.zeros(len(hit))), (none, none))

    @property
    def any(self) -> bool:
        """Whether anything is to be learnt."""
        return any(free.any() for free in self.free)

    def packed(self, chances: Chances) -> Parameters:
        return {name: all_[free] for name, all_, free in zip(Chances._fields, chances, self.free, strict=True)}

    def unpacked(self, parameters: Parameters) -> Chances:
        """All chances, fixed ones included."""
        both = [part.copy() for part in self.start]
        for part, free, name in zip(both, self.free, Chances._fields, strict=True):
            part[free] = parameters[name]
        return Chances(*both)

    def log_hyper(self, parameters: Parameters) -> float:
        """Log-density of the faint priors."""
        m, p = (np.concatenate([found["hit"], found["false"]]) for found in (self.packed(self.start), parameters))
        return float((m * np.log(p) + (1 - m) * np.log1p(-p)).sum())


@dataclass(frozen=True)
class Solution:
    """chances and prior; what is expected at them; where EM came by."""

    chances: Chances
    prior: Beta
    expected: Expected
    climb: Climb

    def posterior(self) -> tuple[Floats, Floats]:
        """(mean, strength of a Beta with its variance) of attractions [documents + 1], the last for an unseen one."""
        mean = np.append(self.expected.mean, self.prior.mean)
        strength = mean[:-1] * (1 - mean[:-1]) / np.maximum(self.expected.variance, 1e-300) - 1
        return mean, np.append(np.maximum(strength, 1e-3), self.prior.strength)


@dataclass(frozen=True)
class _Problem:
    integral: Integral
    cells: Cells
    totals: Floats
    """[cells, 2] clicks and skips."""
    prior: Beta | None
    """None where it is fitted."""

    def step(self, parameters: Parameters) -> tuple[Parameters, float]:
        """A round of EM; the log-posterior where it began."""
        chances, prior = self.cells.unpacked(parameters), self.prior_at(parameters)
        expected = self.integral.expect(chances, prior, cells=self.cells.any)
        after = self.cells.packed(self._chances(expected.attracted)) if self.cells.any else parameters
        height = expected.height + self.cells.log_hyper(parameters)
        if self.prior is not None:
            return after, height
        return {**after, "prior": _table(self._prior(expected, prior))}, height + prior.log_hyper

    def solution(self, found: Climb) -> Solution:
        """What is known where EM ended."""
        chances, prior = self.cells.unpacked(found.parameters), self.prior_at(found.parameters)
        return Solution(chances, prior, self.integral.expect(chances, prior, cells=False), found)

    def prior_at(self, parameters: Parameters) -> Beta:
        return self.prior or Beta.of(*map(float, parameters["prior"]))

    def _chances(self, attracted: Floats) -> Chances:
        """Clicks among the attracted and among the others, each with the observation of the faint prior."""
        both = zip((attracted, self.totals - attracted), self.cells.start, strict=True)
        return Chances(*((found[:, 0] + start) / (np.maximum(found.sum(axis=1), 0.0) + 1) for found, start in both))

    def _prior(self, expected: Expected, prior: Beta) -> Beta:
        documents = len(expected.mean)

        def evidence(at: Beta) -> tuple[float, float, float]:
            known = np.array(self.integral.grid.slopes(at, expected.logs / documents))
            height, by_a, by_b = known + np.array(hyper_slopes(at)) / documents
            return float(height), float(by_a), float(by_b)

        return best(evidence, prior)


def learn(
    counts: Counts,
    cells: Cells,
    prior: Beta | None,
    begin: Beta,
    at: Chances | None = None,
    *,
    tolerance: float = 1e-5,
    say: Say = len,
) -> Solution:
    """The chances and, unless it is given, the prior with the largest likelihood of all documents together.

    begin, at: where a prior that is fitted begins, and the chances.
    """
    shown, clicked = counts.by_cell()
    problem = _Problem(Integral.of(counts), cells, np.stack([clicked, shown - clicked], axis=1), prior)
    here: Parameters = {**cells.packed(cells.start), **({} if prior else {"prior": _table(begin)})}
    if at is not None:
        here = {**here, **cells.packed(at)}
    elif counts.documents > 2 * _SOME:
        some = learn(counts.thinned(_SOME), cells, prior, begin, tolerance=10 * tolerance, say=say)
        here = {**cells.packed(some.chances), **({} if prior else {"prior": _table(some.prior)})}
    found = climb(
        problem.step,
        here,
        tolerance=tolerance,
        rounds=_ROUNDS,
        say=lambda height: say(f"log-likelihood {height:,.2f}"),
    )
    return problem.solution(found)


def _table(prior: Beta) -> Floats:
    return np.array([prior.mean, prior.share])
