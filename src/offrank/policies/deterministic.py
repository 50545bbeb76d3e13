"""What follows from the ranks of a policy that always shows the same slate."""

from __future__ import annotations

import numpy as np

from ..log.batch import Floats, Integers
from . import _kernels


def slot_probs(ranks: Integers, slates: Integers) -> Floats:
    """[n, k] one where the slot holds the item that the policy puts there, else zero."""
    return ((ranks == np.arange(slates.shape[1])) | (slates < 0)).astype(np.float64)


def log_prob(ranks: Integers, slates: Integers) -> Floats:
    """[n] zero where the whole slate is the policy's own, else minus infinity."""
    agrees = ((ranks == np.arange(slates.shape[1])) | (slates < 0)).all(axis=1)
    return np.where(agrees, 0.0, -np.inf)


def rank_probs(ranks: Integers, slots: int) -> Floats:
    """[n, q, k] one at each item's rank."""
    return np.asarray(_kernels.one_hot(ranks, slots))
