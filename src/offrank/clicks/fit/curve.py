"""The examination of ranks by a conditional likelihood from which the attractions of documents cancel.

E[clicks of d in c] = shown[d, c] examination[c] attraction[d]. Given how often a document is clicked in all, where it
is clicked does not depend on its attraction, whether clicks are rare or not:

    sum_d clicked[d, c] - clicked[d] shown[d, c] examination[c] / sum_c' shown[d, c'] examination[c'] = 0 for each c

has expectation zero at the true examination, however few views a document has and however attraction and rank
correlate in the log. (It is the score of Poisson counts with fixed effects: Hausman, Hall and Griliches 1984; for
consistency only the means need be right: Wooldridge 1999.) A common prior of the attractions, in contrast, makes the
curve too steep where good documents are shown high.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...log.batch import Floats, Integers
from ..counts import Counts
from ..parameters import Parameters
from . import _kernels
from .em import Climb, climb

_WEAK = 0.1
"""Pseudo-clicks that tie a cell to its initial guess, where the log says nothing."""
_MOST = 500
"""Largest number of cells with a joint covariance; with more, each is treated separately."""

_Entries = tuple[Integers, Integers, Floats, Floats]
"""first [d + 1], and for each document, from first[d] to first[d + 1]: cell, shown, clicked."""


@dataclass(frozen=True)
class ExaminationCurve:
    """A fitted examination curve.

    value: [cells], 1 in the first cell. covariance: [cells, cells] of its logarithm, robust to how clicks vary
    around their means. climb: its trace is the conditional log-likelihood.
    """

    value: Floats
    covariance: Floats
    climb: Climb

    @property
    def deviation(self) -> Floats:
        """[cells] standard errors of the logarithm of the examination."""
        return np.sqrt(np.diag(self.covariance))

    def over(self, cell: int) -> ExaminationCurve:
        """The same curve relative to another cell, with the standard errors to match."""
        shared = self.covariance[:, cell]
        covariance = self.covariance - shared[:, None] - shared + shared[cell]
        np.fill_diagonal(covariance, np.maximum(np.diag(covariance), 0.0))
        return ExaminationCurve(self.value / self.value[cell], covariance, self.climb)


def fit_curve(
    counts: Counts,
    guess: Floats,
    *,
    start: Floats | None = None,
    tolerance: float = 1e-6,
    rounds: int = 1000,
    say: Callable[[float], object] = lambda _: None,
) -> ExaminationCurve:
    """The examination of each cell relative to that of the first.

    guess: [cells] assumed where the log says nothing. start: initial values. tolerance: of e / (1 + e).
    """
    if len(guess) == 1:
        return ExaminationCurve(np.ones(1), np.zeros((1, 1)), Climb({}, (), 0, converged=True))
    entries = _entries(counts, guess)
    clicks = np.bincount(entries[1], weights=entries[3], minlength=len(guess))

    def step(parameters: Parameters) -> tuple[Parameters, float]:
        curve = _value(parameters)
        exposed, logs = _kernels.expect_clicks(*entries, curve)
        after = np.divide(clicks, exposed, out=np.zeros_like(clicks), where=exposed > 0)
        after = np.where(exposed > 0, after / after[0], curve)
        return {"odds": after / (1 + after)}, float(clicks @ np.log(curve)) - logs

    begin = guess if start is None else start
    found = climb(step, {"odds": begin / (1 + begin)}, tolerance=tolerance, rounds=rounds, say=say)
    value = _value(found.parameters)
    return ExaminationCurve(value, _covariance(entries, value, guess), found)


def _entries(counts: Counts, guess: Floats) -> _Entries:
    """The counts, and for each cell but the first a pseudo-document that is clicked as often there as in the first.

    Its likelihood is largest at the guess: it decides for cells that nothing else links to others.
    """
    others, ones = np.arange(1, len(guess)), np.ones(len(guess) - 1)
    weak = np.stack([np.zeros(len(others), np.int64), others], axis=1).ravel()
    shown = np.stack([ones, 1 / guess[1:]], axis=1).ravel()
    first = np.searchsorted(counts.document, np.arange(counts.documents + 1))
    return (
        np.concatenate([first, first[-1] + 2 + 2 * np.arange(len(others))]),
        np.concatenate([counts.cell, weak]),
        np.concatenate([counts.shown, shown]),
        np.concatenate([counts.clicked, np.full(len(weak), _WEAK)]),
    )


def _value(parameters: Parameters) -> Floats:
    """Odds, relative to those of the first cell."""
    odds = parameters["odds"] / (1 - parameters["odds"])
    return np.asarray(odds / odds[0])


def _covariance(entries: _Entries, value: Floats, guess: Floats) -> Floats:
    """The sandwich covariance of the logarithms; zero for the first cell, to which the others are relative."""
    information, products = _curvature(entries, value)
    # The score of the pseudo-documents is zero at the guess: their information stands for its variance.
    products = products + np.diag(2 * _WEAK * (value / guess) / (1 + value / guess) ** 2)
    if len(information) > _MOST:
        information, products = (np.diag(np.diag(part)) for part in (information, products))
    rest = slice(1, None)
    half = np.linalg.pinv(information[rest, rest], hermitian=True)
    found = np.zeros_like(information)
    found[rest, rest] = half @ products[rest, rest] @ half
    np.fill_diagonal(found, np.maximum(np.diag(found), 0.0))
    return found


def _curvature(entries: _Entries, value: Floats) -> tuple[Floats, Floats]:
    """(information, products of scores), both [cells, cells], for the logarithms of the curve."""
    from scipy.sparse import csr_array  # slow to import

    first, cell, shown, clicked = entries
    document, shape = np.repeat(np.arange(len(first) - 1), np.diff(first)), (len(first) - 1, len(value))
    exposure, clicks = (np.bincount(document, one) for one in (shown * value[cell], clicked))
    share = shown * value[cell] / exposure[document]
    shares, weighted, scores = (
        csr_array((one, cell, first), shape=shape)
        for one in (share, clicks[document] * share, clicked - clicks[document] * share)
    )
    total = np.diag(np.bincount(cell, clicks[document] * share, len(value)))
    return total - (shares.T @ weighted).toarray(), (scores.T @ scores).toarray()
