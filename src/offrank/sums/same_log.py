"""The share of an evaluated log that was in the training log.

Rows with few possible values coincide by chance. So the overlap of both logs is compared with that which two
independent logs would have, in two ways: rare rows by their number, and frequent rows by how little their counts
differ. The counts of two independent logs differ by chance; those of a log and its copy do not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..log.batch import Integers
from ..log.hashing import distinct_codes
from .counts import looked_up
from .fingerprint import OUTCOME, QUERY, Fingerprint

CLEAR = 5.0
"""Standard errors by which the overlap must exceed chance."""
UNLIKELY = 1e-6
"""Largest probability that the counts of independent logs are as similar as those found."""
OFTEN = 5.0
"""Expected rows of a kind in each log, for the chi-square test."""
ALIKE, FEW_PAIRS = 0.99, 50
"""If fewer pairs of rows share a place within a log, the share of pairs across both logs that must be equal."""
USUAL, FEW_PLACES = 3.5, 20
"""Standard errors by which rows in both logs must agree beyond the usual, and the places needed to know the usual."""


def share_learnt(learnt: Fingerprint, judged: Fingerprint) -> float:
    """The share of the evaluated rows that were in the training log, from the overlap; 0 where chance may explain it.

    Known limits: a part of a log is not detected if its rows are of few kinds (some eight to forty; then little
    can be memorised); and two logs that show the same slates to the same queries equally often, by design and
    not by chance, look like copies where almost nothing is clicked.
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
    """Counts of rows by kind in a sample; a kind is a context with a slate and its outcome.

    keys: [e] of the kinds. learnt, judged: [e] rows of each in either log. ratio: rows of the training log
    over those of the other.
    """

    keys: NDArray[np.uint64]
    learnt: Integers
    judged: Integers
    ratio: float

    @classmethod
    def of(cls, learnt: Fingerprint, judged: Fingerprint) -> Common:
        keys = distinct_codes(np.append(learnt.keys, judged.keys))
        keys = keys[keys <= np.uint64(min(learnt.limit, judged.limit))]
        first, second = (looked_up(one.keys, one.counts, keys) for one in (learnt, judged))
        return cls(keys, first, second, learnt.rows / judged.rows)

    @property
    def both(self) -> Integers:
        """[e] rows of each kind in both logs."""
        return self.learnt + self.judged

    def where(self, chosen: NDArray[np.bool_]) -> Common:
        """The counts of some kinds."""
        return Common(self.keys[chosen], self.learnt[chosen], self.judged[chosen], self.ratio)

    def places(self, bits: int) -> Integers:
        """[e] number of each kind's place: its key without the last bits, which several kinds may share."""
        return np.unique(self.keys >> np.uint64(bits), return_inverse=True)[1]


def _of_rare(found: Common) -> float:
    """The number of rows of rare kinds in both logs, beyond that expected in independent logs.

    For c and d rows of a kind, c d - c (c - 1) / 2 ratio - d (d - 1) ratio / 2 has expectation 0 if the logs are
    independent, whatever the kind's probability, and else the number of rows in both; its variance is
    (c + d)(c + d - 1) / 2. (The unbiased estimate of a maximum mean discrepancy, Gretton et al. 2012.)
    """
    rare = found.where(found.both < 4 * OFTEN)
    c, d, both = (values.astype(np.float64) for values in (rare.learnt, rare.judged, rare.both))
    common = float(c @ d - (c @ (c - 1) / found.ratio + d @ (d - 1) * found.ratio) / 2)
    if common <= 0 or common < CLEAR * math.sqrt(both @ (both - 1) / 2):
        return 0.0
    return common if all(_agrees(rare, bits, common) for bits in (QUERY, OUTCOME)) else 0.0


def _agrees(rare: Common, bits: int, common: float) -> bool:
    """Whether rows of the same place (a query, or its slate) agree more between the logs than usually within one.

    A design with each query or slate equally often makes two logs similar too, but not their outcomes.
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
    """The number of rows of frequent kinds in both logs, from how much less their counts differ than by chance.

    Pearson's chi-square of the outcomes of the same slate, in either log, is about its degrees of freedom if they are
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

    # Counts move in steps of 1 + ratio: values between two steps count as different.
    apart = float(((away + (1 + ratio) / 2) ** 2 / (ratio * often.both)).sum())
    if gammainc(degrees / 2, apart / 2) >= UNLIKELY:
        return 0.0
    left = float((away**2 / (ratio * often.both)).sum())
    return float((1 - left / degrees) * often.both.sum() / 2)


def _equal_by_chance(found: Common) -> float:
    """The probability that slates have outcomes as equal as these in independent logs; 1 if they are not equal.

    Given how often a slate was shown in either log, its outcomes are hypergeometric.
    """
    if not np.array_equal(found.learnt, found.judged):
        return 1.0
    from scipy.special import gammaln

    def ways(rows: NDArray[np.generic]) -> float:
        each = rows.astype(np.float64)
        return float((gammaln(2 * each + 1) - 2 * gammaln(each + 1)).sum())

    return math.exp(min(0.0, ways(found.learnt) - ways(np.bincount(found.places(OUTCOME), weights=found.learnt))))
