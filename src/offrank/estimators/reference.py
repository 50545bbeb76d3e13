"""Estimators that assume less than those asked for, in the same pass: what these are held against."""

from __future__ import annotations

import numpy as np

from ..log.batch import Floats, LogBatch
from ..policies.propensities import Propensities
from . import _kernels
from .base import Terms, Weights
from .ips import IPS
from .items import IPM
from .rips import RIPS

Reference = IPS | RIPS | IPM
REFERENCES: tuple[Reference, ...] = (IPS(), RIPS(), IPM())
_FAR = 1e60
"""The weight of a row that the logging policy cannot have drawn: one such row makes the estimate unsound."""


def reference_terms(estimator: Reference, batch: LogBatch, logging: Propensities, target: Propensities) -> Terms:
    """Value and weight of each impression; where `terms` would refuse a row that nobody asked about, a far weight."""
    if isinstance(estimator, IPS):
        with np.errstate(over="ignore", invalid="ignore"):
            weight = _bounded(np.exp(target.log_prob - logging.log_prob), np.isneginf(logging.log_prob))
        return Terms(np.clip(weight * batch.reward, -_FAR, _FAR), weight, Weights(weight, weight))
    assert batch.clicks is not None
    length = batch.contexts.length
    if isinstance(estimator, IPM):
        weight = _kernels.item_position(target.rank_law.arrays, logging.rank_law.arrays, length, batch.slates.shape[1])
        weight = _bounded(weight, ~np.isfinite(weight))
    else:
        never = np.asarray((logging.slot_probs <= 0).any(axis=1, keepdims=True))
        law = np.where(never, 1.0, logging.slot_probs)
        weight = _bounded(_kernels.prefix_weights(target.slot_probs, law, length), never)
    weight = np.where(np.arange(weight.shape[1]) < length[:, None], weight, 0.0)
    value, mean = _kernels.slot_terms(weight, weight, batch.clicks, length)
    return Terms(value, mean, Weights(weight, weight))


def _bounded(weight: Floats, never: np.ndarray) -> Floats:
    return np.where(never, _FAR, np.minimum(weight, _FAR))
