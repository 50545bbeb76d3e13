"""How much of a log that is judged is what something was learnt from.

Rows of a small world coincide by chance. So the rows of both logs are compared with what two independent logs would
have in common, twice: rows that come seldom by their number, and rows that come often by how little their numbers
differ. Two independent logs differ by chance; a log and its copy do not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..log.batch import Integers
from .counts import looked_up
from .fingerprint import OUTCOME, QUERY, Fingerprint

CLEAR = 5.0
"""Standard errors by which rows have to coincide beyond chance."""
UNLIKELY = 1e-6
"""Probability with which the numbers of independent logs may be as alike as these."""
OFTEN = 5.0
"""Rows of a kind that are expected in each log, for the chi-square test."""
ALIKE, FEW_PAIRS = 0.99, 50
"""Where hardly anything comes twice within a log, this share of what comes in both has to come to the same."""
USUAL, FEW_PLACES = 3.5, 20
"""Standard errors by which what comes in both logs has to agree beyond the usual; known from so many places."""


def share_learnt(learnt: Fingerprint, judged: Fingerprint) -> float:
    """The share of the judged rows that were learnt from, by what both logs have in common; 0 where chance may do it.

    Known limits: a part of a log is not found again where its rows are of few kinds (some eight to forty; then little
    can be learnt by heart); and two logs that show the same slates to the same queries equally often, as a plan and
    not by chance, look like copies where next to nothing is clicked.
    """
    if not (learnt.rows and judged.rows):
        return 0.0
    found = Common.of(learnt, judged)
    seen = int(found.judged.sum())
    if not seen:
        return 0.0
    if learnt.rows == judged.rows and _equal_by_chance(found) < UNLIKELY:
        return 1.0
    return min(1.0, (_of_rare(found) + _of_frequent(found)) / seen)


@dataclass(frozen=True)
class Common:
    """Rows of the kinds in a sample, a kind being to whom what was shown and what came of it.

    keys: [e] of the kinds. learnt, judged: [e] rows of each in either log. ratio: rows of the log that was learnt from
    over those of the other.
    """

    keys: NDArray[np.uint64]
    learnt: Integers
    judged: Integers
    ratio: float

    @classmethod
    def of(cls, learnt: Fingerprint, judged: Fingerprint) -> Common:
        keys = np.union1d(learnt.keys, judged.keys)
        keys = keys[keys <= np.uint64(min(learnt.limit, judged.limit))]
        first, second = (looked_up(one.keys, one.counts, keys) for one in (learnt, judged))
        return cls(keys, first, second, learnt.rows / judged.rows)

    @property
    def both(self) -> Integers:
        """[e] rows of each kind in both logs."""
        return self.learnt + self.judged

    def where(self, chosen: NDArray[np.bool_]) -> Common:
        """Some kinds."""
        return Common(self.keys[chosen], self.learnt[chosen], self.judged[chosen], self.ratio)

    def places(self, bits: int) -> Integers:
        """[e] number of each kind's place, which is what it shares with others but for its last bits."""
        return np.unique(self.keys >> np.uint64(bits), return_inverse=True)[1]


def _of_rare(found: Common) -> float:
    """Rows in both logs of kinds that come seldom, beyond those that independent logs would have by chance.

    For c and d rows of a kind, c d - c (c - 1) / 2 ratio - d (d - 1) ratio / 2 has the expectation 0 where the logs are
    independent, whatever the kind's probability, and else that of the rows that are in both; its variance is
    (c + d)(c + d - 1) / 2. (The estimate of a maximum mean discrepancy without bias, Gretton et al. 2012.)
    """
    rare = found.where(found.both < 4 * OFTEN)
    c, d, both = (values.astype(np.float64) for values in (rare.learnt, rare.judged, rare.both))
    common = float(c @ d - (c @ (c - 1) / found.ratio + d @ (d - 1) * found.ratio) / 2)
    if common <= 0 or common < CLEAR * math.sqrt(both @ (both - 1) / 2):
        return 0.0
    return common if all(_agrees(rare, bits, common) for bits in (QUERY, OUTCOME)) else 0.0


def _agrees(rare: Common, bits: int, common: float) -> bool:
    """Whether rows of the same place (a query; a slate of it) in both logs are alike, beyond what is usual within one.

    A plan that asks each query or shows each slate equally often makes two logs alike too, but not what comes of it.
    """
    place = rare.places(bits)
    learnt, judged, alike, usual = (
        np.bincount(place, weights=values.astype(np.float64))
        for values in (
            rare.learnt,
            rare.judged,
            rare.learnt * rare.judged,
            rare.learnt * (rare.learnt - 1) + rare.judged * (rare.judged - 1),
        )
    )
    across, within = learnt * judged, float(learnt @ (learnt - 1) + judged @ (judged - 1))
    if np.count_nonzero(across) < FEW_PLACES:
        return True
    if within < FEW_PAIRS:
        return bool(alike.sum() >= ALIKE * across.sum())
    chance = (usual.sum() + 1) / (within + 2)
    beyond = alike - across * chance
    rows, error = float(beyond.sum() / (1 - chance)), math.sqrt(beyond @ beyond) / (1 - chance)
    return rows >= common / 2 and rows >= USUAL * error


def _of_frequent(found: Common) -> float:
    """Rows in both logs of kinds that come often, by how much less their numbers differ than those of independent logs.

    Pearson's chi-square of what came of the same slate, in either log, is about its degrees of freedom where they are
    independent; o rows in both of n and m leave 1 - 2 o / (n + m) of it.
    """
    share = found.ratio / (1 + found.ratio)
    often = found.where(found.both * min(share, 1 - share) >= OFTEN)
    place = often.places(OUTCOME)
    degrees = len(place) - len(np.unique(place))
    if not degrees:
        return 0.0
    learnt, judged = (np.bincount(place, weights=values) for values in (often.learnt, often.judged))
    ratio = (learnt / np.maximum(judged, 1))[place]
    away = np.abs(often.learnt - ratio * often.judged)
    from scipy.special import gammainc  # scipy is slow to import, and few need it

    # A step of the counts is 1 + ratio wide: what is between two steps counts as different.
    apart = float(((away + (1 + ratio) / 2) ** 2 / (ratio * often.both)).sum())
    if gammainc(degrees / 2, apart / 2) >= UNLIKELY:
        return 0.0
    left = float((away**2 / (ratio * often.both)).sum())
    return float((1 - left / degrees) * often.both.sum() / 2)


def _equal_by_chance(found: Common) -> float:
    """The probability that what came of the slates is so often the same, if they were drawn apart; 1 if it is not.

    Given how often a slate was shown in either log, its outcomes are hypergeometric.
    """
    if not np.array_equal(found.learnt, found.judged):
        return 1.0
    from scipy.special import gammaln

    def ways(rows: NDArray[np.generic]) -> float:
        each = rows.astype(np.float64)
        return float((gammaln(2 * each + 1) - 2 * gammaln(each + 1)).sum())

    return math.exp(min(0.0, ways(found.learnt) - ways(np.bincount(found.places(OUTCOME), weights=found.learnt))))
