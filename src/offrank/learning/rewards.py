"""The frames that rewards are learnt in: the same whatever number is added to the log's rewards or multiplies them.

Importance weights have an expectation of 1, but not a mean of 1: a policy that is learnt from reward + b by plain IPS
also learns to make the mean weight large (b > 0) or small (b < 0), which is propensity overfitting (Swaminathan and
Joachims 2015, The self-normalized estimator for counterfactual learning). So a baseline is taken off first, and it
moves with the rewards.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..log.batch import Floats
from .examples import Store


def centred(store: Store) -> Store:
    """Rewards less their median, over their mean absolute deviation from it; a row counts 1 / inclusion times.

    Where fewer than half of the impressions are clicked, these are the clicks over the click rate, as POEM was
    published; 0 and 1, -1 and 0, 5 and 9 are all the same.
    """
    return _moved(store, baseline(store), deviation(store))


def from_zero_to_one(store: Store) -> Store:
    """Rewards with the smallest as 0 and the largest as 1, as logistic regression takes them.

    A fraction counts as that share of a one (Papke and Wooldridge 1996): the mean reward is what is predicted.
    """
    reward, _ = _given(store)
    return _moved(store, float(reward.min()), float(reward.max() - reward.min()))


def baseline(store: Store) -> float:
    """The median of the rewards."""
    return median(*_given(store))


def deviation(store: Store) -> float:
    """Mean absolute deviation of the rewards from their median."""
    reward, weight = _given(store)
    return float(weight @ np.abs(reward - median(reward, weight))) / float(weight.sum())


def median(values: Floats, weights: Floats) -> float:
    """The smallest value that at least half of the weight does not exceed."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    return float(values[order[np.searchsorted(total, total[-1] / 2)]])


def _given(store: Store) -> tuple[Floats, Floats]:
    """(reward, 1 / inclusion) of every row."""
    pairs = [(examples.reward, 1 / examples.inclusion) for examples in store]
    reward, weight = (np.concatenate(part) for part in zip(*pairs, strict=True))
    return reward, weight


def _moved(store: Store, shift: float, scale: float) -> Store:
    """The store with (reward - shift) / scale; on top of what it does already. A scale of 0 stays."""
    return replace(store, shift=store.shift + store.scale * shift, scale=store.scale * (scale or 1.0))
