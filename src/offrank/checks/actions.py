"""Arithmetic and harmonic tests of logged propensities, where every impression has the same candidates.

Li, Chen, Kleban and Gupta, Counterfactual estimation and optimization of click metrics in search
engines (2015), taken to slates: an action is an item at a rank.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..folds.base import total
from ..log.batch import Floats, Integers, LogBatch
from ..log.source import Needs
from ..policies.propensities import AnyPolicy, is_law, propensities, shown_needs

MOST_ITEMS = 2_000
_FEWEST_EXPECTED = 10.0
_FEWEST_EFFECTIVE = 50.0
_EVEN = 0.5  # effective share of the rows that showed an item, where only those are known
_SUMS = 8


@dataclass(frozen=True)
class ActionsTest:
    """The worst of `actions` tests: of item (its code) at rank (1 at the top).

    observed, expected: weighted counts for the arithmetic test; mean of 1 / P and 1 for the harmonic
    one. deviation: in standard errors. alarming: beyond what chance gives the worst of so many.
    """

    item: int
    rank: int
    observed: float
    expected: float
    deviation: float
    actions: int

    @property
    def alarming(self) -> bool:
        """Whether chance alone would be this far off in fewer than one log in a thousand."""
        tail = math.erfc(abs(self.deviation) / math.sqrt(2))
        return tail * self.actions < 1e-3


@dataclass(frozen=True)
class Actions:
    """State: item codes [m] of the one candidate set (None before any row), and sums [m, k, 8] over rows.

    With h = 1 / inclusion, y whether the item stood there, P its probability to: h y, h P,
    h^2 P (1 - P), h^2 (y - P)^2, h y / P, (h y / P)^2, h^2 (1 - P) / P,
    and h where it could have stood there. varies: whether another candidate set was met; sampled:
    whether any row stands for others too.
    """

    codes: Integers | None
    sums: Floats
    varies: bool = False
    sampled: bool = False


@dataclass(frozen=True)
class ActionsFold:
    """Counts how often each item stood at each rank, and how often the logging policy says it should.

    The arithmetic test needs the probabilities of all candidates, which only a law over any slate knows.
    """

    logging: AnyPolicy

    def needs(self) -> Needs:
        """The columns that the logging policy reads."""
        return shown_needs(self.logging, "rank_law") | Needs(frozenset(["candidates"]))

    @property
    def whole(self) -> bool:
        """Whether the probabilities of all candidates are known."""
        return is_law(self.logging)

    def empty(self) -> Actions:
        return Actions(None, np.zeros((0, 0, _SUMS)))

    def add(self, state: Actions, batch: LogBatch) -> Actions:
        if state.varies or not len(batch):
            return state
        codes = np.sort(batch.contexts.candidates, axis=1)
        same = (batch.contexts.size == codes.shape[1]).all() and (codes == codes[0]).all()
        if not same or codes.shape[1] > MOST_ITEMS:
            return Actions(None, state.sums, varies=True)
        return self.merge(
            state, Actions(codes[0], self._sums(batch, codes[0]), sampled=bool((batch.inclusion < 1).any()))
        )

    def merge(self, left: Actions, right: Actions) -> Actions:
        if left.codes is None or right.codes is None:
            if left.varies or right.varies:
                return Actions(None, left.sums, varies=True)
            return right if left.codes is None else left
        if not np.array_equal(left.codes, right.codes):
            return Actions(None, left.sums, varies=True)
        return Actions(left.codes, total(left.sums, right.sums), sampled=left.sampled or right.sampled)

    def finish(self, state: Actions) -> dict[str, ActionsTest] | None:
        """The arithmetic and the harmonic test, or None where the candidates vary."""
        if state.codes is None:
            return None
        shown, wanted, binomial, empirical, inverse, squared, expected, rows = np.moveaxis(state.sums, 2, 0)
        found = {}
        if self.whole:
            # The binomial variance is exact where no row was left out; what was left out may depend on the clicks.
            variance = np.maximum(binomial, empirical) if state.sampled else binomial
            enough = wanted**2 >= _FEWEST_EXPECTED * binomial
            found["arithmetic"] = _worst(state, _in_errors(shown - wanted, variance, enough), shown, wanted)
        # h y / P has expectation 1. Its variance is known with P; else it is that of the rows that were seen, which
        # is too small where 1 / P varies much: the rows that make it large are those that are seldom seen.
        rows = np.where(rows > 0, rows, 1)
        mean = inverse / rows
        variance = np.maximum(np.maximum(squared - inverse**2 / rows, 0), expected) / rows**2
        even = _FEWEST_EFFECTIVE if self.whole else np.maximum(_FEWEST_EFFECTIVE, _EVEN * shown)
        enough = inverse**2 >= even * squared
        found["harmonic"] = _worst(state, _in_errors(mean - 1, variance, enough), mean, np.ones_like(mean))
        return found

    def _sums(self, batch: LogBatch, codes: Integers) -> Floats:
        contexts, h = batch.contexts, 1 / batch.inclusion
        slates = batch.slates[:, : contexts.slots]
        sums = np.zeros((len(codes), contexts.slots, _SUMS))
        row, rank = np.nonzero(slates >= 0)
        item = np.searchsorted(codes, contexts.candidates[row, slates[row, rank]])
        asked = propensities(self.logging, batch)
        every = asked.candidate_ranks if self.whole else None  # before the law of what was shown, which is part of it
        shown = asked.rank_law.written_out(contexts.length)
        own = np.einsum("nii->ni", shown)[row, rank]
        inverse = np.divide(h[row], own, out=np.zeros(len(row)), where=own > 0)
        for column, term in ((0, h[row]), (4, inverse), (5, inverse * inverse)):
            np.add.at(sums[:, :, column], (item, rank), term)
        if every is not None:
            place, each, square = np.searchsorted(codes, contexts.candidates), h[:, None, None], (h * h)[:, None, None]
            np.add.at(sums[:, :, 1], place, every * each)
            np.add.at(sums[:, :, 2], place, every * (1 - every) * square)
            rare = np.divide(1 - every, every, out=np.zeros_like(every), where=every > 0)
            np.add.at(sums[:, :, 6], place, rare * square)
            np.add.at(sums[:, :, 7], place, (every > 0) * each)
            np.add.at(sums[:, :, 3], place, every * every * square)
            np.add.at(sums[:, :, 3], (item, rank), (h * h)[row] * (1 - 2 * own))
        else:
            sums[:, :, 7] = h @ (np.arange(contexts.slots) < contexts.length[:, None])
        return sums


def _in_errors(away: Floats, variance: Floats, enough: np.ndarray) -> Floats:
    """How many standard errors, 0 where there is not enough to say."""
    return np.where(enough & (variance > 0), away / np.sqrt(np.where(variance > 0, variance, 1)), 0)


def _worst(state: Actions, deviation: Floats, observed: Floats, expected: Floats) -> ActionsTest:
    item, rank = np.unravel_index(np.abs(deviation).argmax(), deviation.shape)
    assert state.codes is not None
    return ActionsTest(
        int(state.codes[item]),
        int(rank) + 1,
        float(observed[item, rank]),
        float(expected[item, rank]),
        float(deviation[item, rank]),
        deviation.size,
    )
