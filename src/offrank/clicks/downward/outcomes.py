"""What single sessions say about the probability of one document, with everything else as it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...log.batch import Floats, Integers
from . import _kernels
from .tails import Tails

_BLOCK = 1 << 18


@dataclass(frozen=True)
class Outcomes:
    """Trials with document's probability that may have been made: all [i].

    document: -1 for none. success, failure: what happened with which probability, given the whole session and all
    present parameters; no trial with the rest of 1. weight: how many sessions were like this.

    A session's likelihood is linear in the one probability p: at p' it is larger by the factor
    success p' / p + failure (1 - p') / (1 - p) + 1 - success - failure.
    """

    document: Integers | NDArray[np.int32]
    success: Floats
    failure: Floats
    weight: Floats

    @classmethod
    def of_all(cls, success: Floats, weight: Floats) -> Outcomes:
        """Trials that were made: a place per document [documents + 1]."""
        return cls(np.arange(len(weight)), success, 1.0 - success, weight)


@dataclass(frozen=True)
class Seen:
    """A block of tails, and what is believed of them.

    document, examined, weight: [places] and P(examined | session). cell, went, cell_weight: [tails] the last click's
    cell (-1: no click), P(went on after it | session).
    """

    document: Integers | NDArray[np.int32]
    examined: Floats
    weight: Floats
    cell: NDArray[np.int32]
    went: Floats
    cell_weight: Floats


def blocks(tails: Tails, attraction: Floats, after_click: Floats, after_skip: float) -> Iterator[Seen]:
    """Beliefs about all tails, block by block."""
    for begin in range(0, len(tails.weight), _BLOCK):
        end = min(begin + _BLOCK, len(tails.weight))
        first, cell, weight = tails.first[begin : end + 1], tails.cell[begin:end], tails.weight[begin:end]
        examined = _kernels.beliefs(first, tails.document, cell, attraction, after_click, after_skip, tails.ranks)
        yield Seen(
            document=tails.document[first[0] : first[-1]],
            examined=examined,
            weight=np.repeat(weight, np.diff(first)),
            cell=cell,
            went=examined[first[:-1] - first[0]],
            cell_weight=weight,
        )
