"""Arithmetic and harmonic tests of logged propensities, if every impression has the same candidates.

Li, Chen, Kleban and Gupta, Counterfactual estimation and optimization of click metrics in search
engines (2015), applied to slates: an action is an item at a rank.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ..log.batch import Floats, Integers, LogBatch
from ..log.source import Needs
from ..policies.base import Policy
from ..policies.propensities import propensities
from ..sums.base import Fold, total

MOST_ITEMS = 2_000
MOST_PAIRS = 1_000_000
"""Pairs of an item and a rank that are tested: eight sums of each are kept."""
_FEWEST_EXPECTED = 10.0
_FEWEST_EFFECTIVE = 50.0
_EVEN = 0.5  # effective share of the rows that showed an item, if only those are known
_SUMS = 8
_HEAVIEST = 1e70
"""Inverse probabilities beyond this count as this: their products are squared and summed."""


@dataclass(frozen=True)
class ActionsTest:
    """The worst of `actions` tests: of item (its code, with what the log calls it as name) at rank (1 at the top).

    observed, expected: weighted counts for the arithmetic test; mean of 1 / P and 1 for the harmonic
    one. deviation: in standard errors. alarming: beyond the chance level of the worst of all tests.
    """

    item: int
    rank: int
    observed: float
    expected: float
    deviation: float
    actions: int
    name: str = ""

    @property
    def alarming(self) -> bool:
        """Whether chance alone would deviate this far in fewer than one log in a thousand."""
        tail = math.erfc(abs(self.deviation) / math.sqrt(2))
        return tail * self.actions < 1e-3


@dataclass(frozen=True)
class Actions:
    """State: item codes [m] of the single candidate set (None before any row), and sums [m, k, 8] over rows.

    With h = 1 / inclusion, y whether the item stood there, P its probability: h y, h P,
    h^2 P (1 - P), h^2 (y - P)^2, h y / P, (h y / P)^2, h^2 (1 - P) / P,
    and h where it could have stood there. varies: whether another candidate set occurred; sampled:
    whether any row has an inclusion probability below 1.
    """

    codes: Integers | None = None
    sums: Floats = field(default_factory=lambda: np.zeros((0, 0, _SUMS)))
    varies: bool = False
    sampled: bool = False

    def __add__(self, other: Actions) -> Actions:
        if self.varies or other.varies:
            return Actions(varies=True)
        if self.codes is None or other.codes is None:
            return other if self.codes is None else self
        if not np.array_equal(self.codes, other.codes):
            return Actions(varies=True)
        return Actions(self.codes, total(self.sums, other.sums), sampled=self.sampled or other.sampled)


@dataclass(frozen=True)
class ActionsFold(Fold):
    """Compares how often each item was shown at each rank with the probabilities of the logging policy.

    The arithmetic test needs the probabilities of all candidates, which only a law over any slate has.
    """

    logging: Policy

    def needs(self) -> Needs:
        """Return the columns that the logging policy reads."""
        return self.logging.reads("rank_law") | Needs(frozenset(["candidates"]))

    @property
    def whole(self) -> bool:
        """Whether the probabilities of all candidates are known."""
        return self.logging.any_slate

    def of(self, batch: LogBatch) -> Actions:
        if not len(batch):
            return Actions()
        items = batch.contexts.candidates
        ragged = (batch.contexts.size < items.shape[1]).any()
        many = items.shape[1] > MOST_ITEMS or items.shape[1] * batch.contexts.slots > MOST_PAIRS
        if many or ragged or not _alike(items[[0, -1]]) or not _alike(items):
            return Actions(varies=True)  # if candidates vary, the first and the last row usually show it
        codes = np.sort(items[0])
        return Actions(codes, self._sums(batch, codes), sampled=bool((batch.inclusion < 1).any()))

    def result(self, found: Actions) -> dict[str, ActionsTest] | None:
        """Return the arithmetic and the harmonic test, or None if the candidates vary."""
        if found.codes is None:
            return None
        shown, wanted, binomial, empirical, inverse, squared, expected, rows = np.moveaxis(found.sums, 2, 0)
        tests = {}
        if self.whole:
            # The binomial variance is exact if no row was left out; omission may depend on the clicks.
            variance = np.maximum(binomial, empirical) if found.sampled else binomial
            enough = wanted**2 >= _FEWEST_EXPECTED * binomial
            tests["arithmetic"] = _worst(found, _in_errors(shown - wanted, variance, enough), shown, wanted)
        # h y / P has expectation 1. Its variance is known with P; otherwise it is estimated from the rows, which
        # is too small if 1 / P varies much: the rows that make it large are rare.
        rows = np.where(rows > 0, rows, 1)
        mean = inverse / rows
        variance = np.maximum(np.maximum(squared - inverse**2 / rows, 0), expected) / rows**2
        even = _FEWEST_EFFECTIVE if self.whole else np.maximum(_FEWEST_EFFECTIVE, _EVEN * shown)
        enough = inverse**2 >= even * squared
        tests["harmonic"] = _worst(found, _in_errors(mean - 1, variance, enough), mean, np.ones_like(mean))
        return tests

    def _sums(self, batch: LogBatch, codes: Integers) -> Floats:
        contexts, h = batch.contexts, 1 / batch.inclusion
        slates = batch.slates[:, : contexts.slots]
        sums = np.zeros((len(codes), contexts.slots, _SUMS))
        row, rank = np.nonzero(slates >= 0)
        item = np.searchsorted(codes, contexts.candidates[row, slates[row, rank]])
        asked = propensities(self.logging, batch)
        every = asked.candidate_ranks if self.whole else None  # before the law of the shown slate, which is part of it
        shown = asked.rank_law.written_out(contexts.length)
        own = np.einsum("nii->ni", shown)[row, rank]
        inverse = np.divide(h[row], np.maximum(own, 1 / _HEAVIEST), out=np.zeros(len(row)), where=own > 0)
        for column, term in ((0, h[row]), (4, inverse), (5, inverse * inverse)):
            np.add.at(sums[:, :, column], (item, rank), term)
        if every is not None:
            place, each, square = np.searchsorted(codes, contexts.candidates), h[:, None, None], (h * h)[:, None, None]
            np.add.at(sums[:, :, 1], place, every * each)
            np.add.at(sums[:, :, 2], place, every * (1 - every) * square)
            rare = np.divide(1 - every, np.maximum(every, 1 / _HEAVIEST), out=np.zeros_like(every), where=every > 0)
            np.add.at(sums[:, :, 6], place, rare * square)
            np.add.at(sums[:, :, 7], place, (every > 0) * each)
            np.add.at(sums[:, :, 3], place, every * every * square)
            np.add.at(sums[:, :, 3], (item, rank), (h * h)[row] * (1 - 2 * own))
        else:
            sums[:, :, 7] = (h[:, None] * (np.arange(contexts.slots) < contexts.length[:, None])).sum(axis=0)
        return sums


def _alike(items: Integers) -> bool:
    """Whether all rows have the same items, in any order."""
    ordered = np.sort(items, axis=1)
    return bool((ordered == ordered[0]).all())


def _in_errors(away: Floats, variance: Floats, enough: np.ndarray) -> Floats:
    """Return the deviation in standard errors, 0 if the sample is too small."""
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
