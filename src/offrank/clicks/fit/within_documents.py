"""What a log tells of chances by the clicks of each document at several ranks, whatever documents are worth.

The likelihood of documents that have a prior also compares documents of different ranks with each other, as far as the
prior says how their worth is spread there. Where good documents are shown high, that comparison is no better than the
prior. What is left where each attraction is free, at its likeliest value, needs no prior: of a document that was seen
at one rank alone, nothing.
"""

from __future__ import annotations

import numpy as np

from ...log.batch import Floats
from ..click_counts import ClickCounts
from .posterior import Chances

_EDGE = 1e-9
_TOGETHER = 2_000
"""Documents that are worked on at once, which bounds the memory."""


def information(counts: ClickCounts, attraction: Floats, chances: Chances, along: Floats) -> Floats:
    """[r, r] the expected information of r numbers by the profile likelihood; attraction: [documents].

    along: [2, cells, r] the derivatives of the chances hit and false by the numbers.
    """
    first = np.flatnonzero(np.append(True, np.diff(counts.document) != 0))
    bounds = np.append(first[::_TOGETHER], len(counts.document))
    found = np.zeros((along.shape[2], along.shape[2]))
    for part in map(slice, bounds[:-1], bounds[1:]):
        document, cell = counts.document[part], counts.cell[part]
        u, (hit, false) = attraction[document], (one[cell] for one in chances)
        chance, slope = false + (hit - false) * u, hit - false
        weight = counts.shown[part] / np.maximum(chance * (1 - chance), _EDGE)
        moved = u[:, None] * along[0, cell] + (1 - u)[:, None] * along[1, cell]
        # The attraction moves to where the likelihood is largest: what it can make up for is no information.
        starts = np.flatnonzero(np.append(True, np.diff(document) != 0))
        own = np.add.reduceat(weight * slope**2, starts)
        follows = np.add.reduceat((weight * slope)[:, None] * moved, starts) / np.maximum(own, _EDGE)[:, None]
        rest = moved - slope[:, None] * np.repeat(follows, np.diff(np.append(starts, len(document))), axis=0)
        found += rest.T @ (weight[:, None] * rest)
    return found


def wider(covariance: Floats, known: Floats) -> Floats:
    """[r, k] half of what to add to a covariance [r, r] so that it is nowhere narrower than information allows.

    known: [r, r] that information.
    """
    values, axes = np.linalg.eigh(covariance)
    half = axes * np.sqrt(np.maximum(values, 0.0))
    # In units of the covariance, along the axes of the other one.
    values, axes = np.linalg.eigh(half.T @ known @ half)
    extra = np.maximum(1 / np.maximum(values, _EDGE) - 1, 0.0)
    return np.asarray((half @ axes) * np.sqrt(extra))
