"""Slates from scores of each candidate in each slot, and their law where candidates tie.

best_slates(scores [n, m, k], size [n], length [n], assignment) returns slates [n, k] from plain arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from ...errors import UsageError
from ...log.batch import Booleans, Floats, Integers
from . import _kernels

Assignment = Literal["greedy", "exact"]
ASSIGNMENTS: tuple[Assignment, ...] = get_args(Assignment)


def best_slates(scores: Floats, size: Integers, length: Integers, assignment: Assignment = "greedy") -> Integers:
    """[n, k] candidates by slot, -1 pads, for scores [n, m, k] of candidates in slots.

    `greedy` takes the pair of highest score first and continues with the free slots and candidates (paper
    slate-pseudoinverse, App. G); `exact` has the largest sum of scores. size: [n] candidates, length: [n] slots.
    The order of the candidates decides only between candidates whose scores are equal in all slots.

    Raises:
        UsageError: more slots than candidates, or than scores.

    Examples:
        >>> import numpy as np
        >>> scores = np.array([[[5.0, 4.0], [4.0, 1.0]]])  # greedy earns 5 + 1, exact 4 + 4
        >>> best_slates(scores, np.array([2]), np.array([2]), "exact")
        array([[1, 0]])
    """
    if (wrong := np.flatnonzero((length > size) | (length > scores.shape[2]))).size:
        row = int(wrong[0])
        raise UsageError(
            f"a slate of {length[row]} slots for {size[row]} candidates with scores for {scores.shape[2]} slots",
            "shorten the slate, or train on slates with as many slots",
        )
    if assignment == "greedy":
        return np.asarray(_kernels.greedy_slates(scores, size, length))
    return _exact(scores, size, length)


def _exact(scores: Floats, size: Integers, length: Integers) -> Integers:
    from scipy.optimize import linear_sum_assignment

    slates = np.full((len(scores), scores.shape[2]), -1)
    for row, (m, k) in enumerate(zip(size, length, strict=True)):
        table = scores[row, :m, :k]
        order = np.lexsort(table.T[::-1])  # of several best slates, the one chosen depends on the scores alone
        item, slot = linear_sum_assignment(table[order], maximize=True)
        slates[row, slot] = order[item]
    return slates


@dataclass(frozen=True)
class Assigned:
    """The law of the best slates of some contexts: fixed, but that tied candidates share their slots equally.

    scores: [n, m, k]; size, length: [n]; as in `best_slates`.
    """

    scores: Floats
    size: Integers
    length: Integers
    assignment: Assignment = "greedy"

    @cached_property
    def classes(self) -> tuple[Integers, Integers, Integers]:
        """Ties, as in `_kernels.tied_classes`."""
        slates = best_slates(self.scores, self.size, self.length, self.assignment)
        found: tuple[Integers, Integers, Integers] = _kernels.tied_classes(self.scores, self.size, self.length, slates)
        return found

    def sample(self, rng: np.random.Generator) -> Integers:
        """[n, k] slates, -1 pads."""
        member, named, _ = self.classes
        return np.asarray(_kernels.tied_slates(member, named, rng.random(member.shape)))

    def slot_probs(self, slates: Integers) -> Floats:
        """[n, k] probability of each slot's item given the slots above; 1 on pads."""
        return np.asarray(_kernels.tied_slot_probs(*self.classes, slates))

    def log_prob(self, slates: Integers) -> Floats:
        """[n] log-probability of each slate."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.slot_probs(slates).prod(axis=1)))

    def rank_probs(self, items: Integers) -> Floats:
        """[n, q, k] probability that candidate items[n, q] is at each rank; 0 on pads."""
        member, named, count = self.classes
        of_item = np.where(items >= 0, np.take_along_axis(member, np.maximum(items, 0), axis=1), -1)
        same = (of_item[:, :, None] == named[:, None, :]) & (named[:, None, :] >= 0)
        return np.where(same, 1 / np.maximum(count, 1)[:, None, :], 0.0)

    @property
    def tied(self) -> Booleans:
        """[n] whether ties leave open which slate is shown."""
        return np.asarray((self.classes[2] > 1).any(axis=1))
