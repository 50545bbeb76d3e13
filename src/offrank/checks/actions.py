"""Arithmetic and harmonic tests of logged propensities, where every impression has the same candidates.

Li, Chen, Kleban and Gupta, Counterfactual estimation and optimization of click metrics in search
engines (2015), taken to slates: an action is an item at a rank.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..log.batch import Floats, Integers, LogBatch
from ..log.source import Needs
from ..policies.base import Policy, all_items

MOST_ITEMS = 2_000
_FEWEST_EXPECTED = 10.0
# A mean of 1 / P that rests on fewer is likely too low, and so is its error, when P is sometimes tiny.
_FEWEST_EFFECTIVE = 50.0


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
    """State: item codes [m] of the one candidate set (None before any row), and sums [m, k, 5] over rows.

    varies: whether another candidate set was met; rows: sum of 1 / inclusion.
    """

    codes: Integers | None
    sums: Floats
    rows: float = 0.0
    varies: bool = False


@dataclass(frozen=True)
class ActionsFold:
    """Counts how often each item stood at each rank, and how often the logging policy says it should.

    whole: the policy knows the probabilities of all candidates, so that the arithmetic test can be made.
    """

    logging: Policy
    whole: bool

    def needs(self) -> Needs:
        """The columns that the logging policy reads."""
        return self.logging.needs("rank_probs") | Needs(frozenset(["candidates"]))

    def empty(self) -> Actions:
        return Actions(None, np.zeros((0, 0, 5)))

    def add(self, state: Actions, batch: LogBatch) -> Actions:
        if state.varies or not len(batch):
            return state
        codes = np.sort(batch.contexts.candidates, axis=1)
        same = (batch.contexts.size == codes.shape[1]).all() and (codes == codes[0]).all()
        if not same or codes.shape[1] > MOST_ITEMS:
            return Actions(None, state.sums, varies=True)
        return self.merge(state, Actions(codes[0], self._sums(batch, codes[0]), float((1 / batch.inclusion).sum())))

    def merge(self, left: Actions, right: Actions) -> Actions:
        if left.codes is None or right.codes is None:
            if left.varies or right.varies:
                return Actions(None, left.sums, varies=True)
            return right if left.codes is None else left
        if not np.array_equal(left.codes, right.codes):
            return Actions(None, left.sums, varies=True)
        slots = max(left.sums.shape[1], right.sums.shape[1])
        both = np.zeros((len(left.codes), slots, 5))
        for state in (left, right):
            both[:, : state.sums.shape[1]] += state.sums
        return Actions(left.codes, both, left.rows + right.rows)

    def finish(self, state: Actions) -> dict[str, ActionsTest] | None:
        """The arithmetic and the harmonic test, or None where the candidates vary."""
        if state.codes is None:
            return None
        shown, wanted, spread, inverse, inverse_squared = np.moveaxis(state.sums, 2, 0)
        found = {}
        if self.whole:
            enough = (wanted >= _FEWEST_EXPECTED) & (spread > 0)
            deviation = np.where(enough, (shown - wanted) / np.sqrt(np.where(spread > 0, spread, 1)), 0)
            found["arithmetic"] = _worst(state, deviation, shown, wanted)
        # The mean of 1{shown} / P has expectation 1; its variance is estimated from the same sums.
        mean = inverse / state.rows
        error = np.sqrt(np.maximum(inverse_squared - inverse**2 / state.rows, 0)) / state.rows
        deviation = np.where((shown >= _FEWEST_EXPECTED) & (error > 0), (mean - 1) / np.where(error > 0, error, 1), 0)
        found["harmonic"] = _worst(state, deviation, mean, np.ones_like(mean))
        return found

    def _sums(self, batch: LogBatch, codes: Integers) -> Floats:
        contexts, h = batch.contexts, 1 / batch.inclusion
        sums = np.zeros((len(codes), batch.slates.shape[1], 5))
        if self.whole:
            law = self.logging.rank_probs(contexts, all_items(contexts))
            place = np.searchsorted(codes, contexts.candidates)
            np.add.at(sums[:, :, 1], place, law * h[:, None, None])
            np.add.at(sums[:, :, 2], place, law * (1 - law) * (h * h)[:, None, None])
        row, rank = np.nonzero(batch.slates >= 0)
        own = np.einsum("nii->ni", self.logging.rank_probs(contexts, batch.slates))[row, rank]
        inverse = np.divide(h[row], own, out=np.zeros(len(row)), where=own > 0)
        item = np.searchsorted(codes, contexts.candidates[row, batch.slates[row, rank]])
        for column, term in ((0, h[row]), (3, inverse), (4, inverse * inverse)):
            np.add.at(sums[:, :, column], (item, rank), term)
        return sums


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
