"""Sessions cut at their last click: above it all was examined, and counts suffice; below it examination is hidden."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...log.batch import Floats, Integers
from ..sessions import Sessions
from . import _kernels


@dataclass(frozen=True)
class Tails:
    """What readers from the top learn from.

    A cell is what the probability to go on after a click is known by: the document, or the rank.

    - clicked, skipped: [documents + 1] weight of the clicks on a document, and of its skips above a last click.
    - on: [cells] weight of the clicks that another one follows: the user went on. passed: of such skips, of any item.
    - first: [tails + 1], document: [places] int32: tail t has the documents document[first[t] : first[t + 1]], -1 for
      holes: what stands below the last click of a session, or all of a session without clicks.
    - cell: [tails] int32 cell of that last click, -1 where there is no click. weight: [tails].
    """

    clicked: Floats
    skipped: Floats
    on: Floats
    passed: float
    first: Integers
    document: NDArray[np.int32]
    cell: NDArray[np.int32]
    weight: Floats
    ranks: int


@dataclass(frozen=True)
class Expected:
    """Expected counts of what is hidden, given the clicks; weights are added up.

    - height: log-likelihood.
    - clicked, missed: [documents + 1] examinations with and without a click.
    - on, off: [cells] clicks after which the user went on, or stopped with items left.
    - passed, left: the same after a skip.
    """

    height: float
    clicked: Floats
    missed: Floats
    on: Floats
    off: Floats
    passed: float
    left: float


def cut(sessions: Sessions, *, by_rank: bool) -> Tails:
    """Cut sessions at their last clicks. by_rank: cells are ranks, not documents."""
    last, length = _kernels.ends(sessions.document, sessions.click)
    clicked, skipped = np.zeros(sessions.documents + 1), np.zeros(sessions.documents + 1)
    on = np.zeros(sessions.ranks if by_rank else sessions.documents + 1)
    passed, first, document, cell, weight = _kernels.cut(
        sessions.document, sessions.click, sessions.weight, last, length, by_rank, (clicked, skipped, on)
    )
    return Tails(clicked, skipped, on, passed, first, document, cell, weight, sessions.ranks)


def expect(tails: Tails, attraction: Floats, after_click: Floats, after_skip: float) -> Expected:
    """The E-step: exact, by forward-backward. after_click: [cells]."""
    height, examined, on, off, passed, left = _kernels.expect(
        tails.first, tails.document, tails.cell, tails.weight, attraction, after_click, after_skip, tails.ranks
    )
    known = _logs(tails.clicked, attraction) + _logs(tails.skipped, 1 - attraction)
    known += _logs(tails.on, after_click) + _logs(np.asarray(tails.passed), np.asarray(after_skip))
    return Expected(
        height=height + known,
        clicked=tails.clicked,
        missed=tails.skipped + examined,
        on=tails.on + on,
        off=off,
        passed=tails.passed + passed,
        left=left,
    )


def _logs(weight: Floats, probability: Floats) -> float:
    """Sum of weighted logarithms, where what never happened counts nothing."""
    happened = weight > 0
    with np.errstate(divide="ignore"):
        return float((weight[happened] * np.log(probability[happened])).sum())
