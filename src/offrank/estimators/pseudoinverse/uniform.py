"""Uniform logging: the pseudoinverse in closed form, without any matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...log.batch import Floats, Integers
from .gamma import TOLERANCE


def solve(indicators: Floats) -> Floats:
    """[..., m, k] Gamma^+ q for q = indicators [..., m, k] (paper slate-pseudoinverse, Prop. 4).

    Constants per slot that add up to zero, and with k = m constants per item too, are no part of it.
    """
    m, k = indicators.shape[-2:]
    by_slot = indicators.sum(axis=-2, keepdims=True)
    by_item = indicators.sum(axis=-1, keepdims=True)
    total = by_slot.sum(axis=-1, keepdims=True)
    if k < m:
        everywhere, item = 1 / k**2 - (m - 1) / (m * (m - k)), (m - 1) / (m - k)
    else:
        everywhere, item = 1 / m, -(m - 1) / m
    return np.asarray(everywhere * total + (m - 1) * indicators - (m - 1) / m * by_slot + item * by_item)


def action_rewards(slates: Integers, reward: Floats, candidates: int) -> Floats:
    """[n, m, k] estimated reward of each candidate in each slot, Gamma^+ (reward 1_slate).

    slates: [n, k] without pads, drawn uniformly from `candidates` items; reward: [n]. The mean over the
    impressions of a context estimates phi, up to what no slate can tell (constants per slot that add
    up to zero): a regression target for learning (paper slate-pseudoinverse, App. G). For k < m,
    reward * (1 / k - (m - 1) / (m - k) + (m - 1) 1{s_j = a} + (m - 1) / (m - k) 1{a in s}).
    """
    n, k = slates.shape
    shown = np.zeros((n, candidates, k))
    shown[np.arange(n)[:, None], slates, np.arange(k)] = 1.0
    return solve(shown) * reward[:, None, None]


@dataclass(frozen=True)
class UniformInverse:
    """Gamma^+ of uniform logging of k among m candidates, as a `gamma.Inverse` in closed form."""

    candidates: int
    slots: int

    def solve(self, wanted: Floats) -> Floats:
        """[n, m k] Gamma^+ q."""
        return solve(wanted.reshape(-1, self.candidates, self.slots)).reshape(wanted.shape)

    def supports(self, wanted: Floats) -> NDArray[np.bool_]:
        """[n] whether q fills every slot alike, and every item where all are shown."""
        law = wanted.reshape(-1, self.candidates, self.slots)
        even = np.ptp(law.sum(axis=1), axis=1) < TOLERANCE
        return even & (np.ptp(law.sum(axis=2), axis=1) < TOLERANCE) if self.slots == self.candidates else even

    def norms(self, shown: Integers) -> Floats:
        """[n] 1_s' Gamma^+ 1_s, the same for every slate: m k - k + 1, or m^2 - 2 m + 2 where k = m."""
        m, k = self.candidates, self.slots
        return np.full(len(shown), 1.0 + (m - 1) * (k if k < m else m - 1))
