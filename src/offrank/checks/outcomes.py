"""Which columns beside the candidates follow the slate, and so cannot have drawn it: bookings, revenue, time spent."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ..log.batch import Floats, LogBatch
from ..readers.names import words_of
from ..sums.base import Fold

Kind = Literal["outcome", "doubtful", ""]

_FEW = 20
"""Cells that are not 0, from which they tell something."""
_SPARSE = 0.5
"""Largest share of shown cells other than 0 of a column that follows what was clicked."""
_SURE = 0.98
"""Share of the cells other than 0 that are of clicked items, or of slates that earned a reward."""
_FORETELLS = 0.9
"""Share of the pairs of a clicked and an unclicked item of one slate with the higher number at the clicked one, which
no ranker's score reaches."""

_SHOWN, _FILLED, _CLICKED, _ELSEWHERE, _HIDDEN, _HIGHER, _PAIRS, _EARNED, _MISSED, _UNEVEN = range(10)


_ERRORS = 4
"""Standard errors below a half of the pairs, from which clicks speak against high numbers."""


class ColumnClicks(NamedTuple):
    """What a column is, and how it goes with clicks.

    higher: the share of the pairs of a clicked and an unclicked item of one slate with the higher number at the
    clicked one. against: whether that is less than chance makes it.
    """

    kind: Kind
    higher: float
    against: bool


@dataclass(frozen=True)
class OutcomesFold(Fold):
    """Counts [scores, 10] how the numbers of each column go with what was shown and clicked.

    Shown cells; of them, those other than 0; of these, clicked; cells other than 0 beyond the slate; and the cells
    beyond it; pairs of a clicked and an unclicked item, ties as half, with the higher number at the clicked one; such
    pairs; rewarded slates whose reward is the sum of the column; those where it is not; and the squares of what is
    above half of the pairs of each slate.
    """

    scores: tuple[str, ...]

    def of(self, batch: LogBatch) -> Floats:
        found = np.zeros((len(self.scores), 10))
        slates = batch.slates
        filled = slates >= 0
        inside = np.arange(batch.contexts.candidates.shape[1]) < batch.contexts.size[:, None]
        clicks = None if batch.clicks is None else np.where(filled, batch.clicks, 0.0)
        for place, name in enumerate(self.scores):
            scores = np.where(inside, batch.contexts.scores[name], 0.0)
            shown = np.where(filled, np.take_along_axis(scores, np.maximum(slates, 0), axis=1), 0.0)
            there = shown != 0
            total = float((scores != 0).sum())
            sums = found[place]
            sums[_SHOWN], sums[_FILLED], sums[_HIDDEN] = filled.sum(), there.sum(), inside.sum() - filled.sum()
            sums[_ELSEWHERE] = total - sums[_FILLED]
            if clicks is not None:
                sums[_CLICKED] = (there & (clicks > 0)).sum()
                sums[_HIGHER], sums[_PAIRS], sums[_UNEVEN] = _higher(shown, clicks > 0, filled)
            if batch.outcome is not None:
                equal = np.isclose(shown.sum(axis=1), batch.outcome, rtol=1e-6)
                told = (batch.outcome != 0) | (shown.sum(axis=1) != 0)
                sums[_EARNED], sums[_MISSED] = (told & equal).sum(), (told & ~equal).sum()
        return found

    def result(self, found: Floats) -> dict[str, ColumnClicks]:
        """Return what each column is: an outcome, doubtful, or a number that may have drawn the slates."""
        rows = found if len(found) else np.zeros((len(self.scores), 10))
        return {
            name: ColumnClicks(
                _kind(name, sums),
                float(sums[_HIGHER] / max(sums[_PAIRS], 1)),
                bool(sums[_PAIRS] / 2 - sums[_HIGHER] > _ERRORS * math.sqrt(sums[_UNEVEN])),
            )
            for name, sums in zip(self.scores, rows, strict=True)
        }


def _kind(name: str, sums: Floats) -> Kind:
    named, filled = says_outcome(name), sums[_FILLED]
    if sums[_ELSEWHERE] > 0 and sums[_HIDDEN] > 0 and not sums[_ELSEWHERE] <= (1 - _SURE) * filled:
        return ""  # an item that was not shown has no outcome
    told = filled >= _FEW
    sparse = told and filled <= _SPARSE * sums[_SHOWN]
    earned = sums[_EARNED] >= _FEW and sums[_EARNED] >= _SURE * (sums[_EARNED] + sums[_MISSED])
    if earned or (sparse and sums[_CLICKED] >= _SURE * filled):
        return "outcome"
    foretells = sums[_PAIRS] >= _FEW and sums[_HIGHER] >= _FORETELLS * sums[_PAIRS]
    if named:
        return "outcome" if (sparse or foretells) else "doubtful"
    return "doubtful" if foretells else ""


def says_outcome(name: str) -> bool:
    """Whether the name of a column says what users did, and not what was predicted."""
    words = set(re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()))
    return bool(words & words_of("DEED")) and not words & words_of("PREDICTION")


def _higher(shown: Floats, clicked: np.ndarray, filled: np.ndarray) -> tuple[float, float, float]:
    """Return how many pairs of a clicked and an unclicked item have the higher number at the clicked one, and all.

    And the sum over the slates of the squares of what they have above half of their pairs.
    """
    rows = clicked.any(axis=1) & (filled & ~clicked).any(axis=1)
    shown, clicked, other = shown[rows], clicked[rows], (filled & ~clicked)[rows]
    higher, pairs = np.zeros((2, len(shown)))
    for slot in range(shown.shape[1]):
        own, both = shown[:, slot, None], clicked[:, slot, None] & other
        higher += (both & (own > shown)).sum(axis=1) + (both & (own == shown)).sum(axis=1) / 2
        pairs += both.sum(axis=1)
    return float(higher.sum()), float(pairs.sum()), float(((higher - pairs / 2) ** 2).sum())
