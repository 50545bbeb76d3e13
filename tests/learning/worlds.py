"""Small logs to learn from, with features."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import numpy as np

from offrank.learning import METHODS
from offrank.learning.boosting import Boosting
from offrank.learning.examples import Data, Examples, Store
from offrank.learning.preparation import Preparation, Survey
from offrank.log.source import Source
from offrank.policies.logged_probabilities import Logged
from offrank_papers.adverts import AdvertWorld

#: methods that learn a linear scorer from impressions one by one
LINEAR = [name for name, method in METHODS.items() if not issubclass(method, Boosting)]
WORLD = AdvertWorld(9_000, seed=3, slots=1, contexts=400)


@cache
def source() -> Source:
    return WORLD.source()


@cache
def prepared() -> tuple[Data, Survey]:
    """Thirds of the world's log, in memory."""
    return Preparation(Logged(), Path(), bits=12, memory=math.inf).data(source(), None, None)


def examples(seed: int, slots: int = 1, n: int = 12, features: int = 8) -> Examples:
    """Random impressions of 2 to 5 candidates more than slots."""
    rng = np.random.default_rng(seed)
    size = slots + rng.integers(2, 6, n)
    starts = np.concatenate([[0], np.cumsum(size)])
    count = rng.integers(0, 4, starts[-1])
    offsets = np.concatenate([[0], np.cumsum(count)])
    slates = np.full((n, slots), -1)
    for row in range(n):
        length = rng.integers(1, slots + 1)
        slates[row, :length] = rng.permutation(size[row])[:length]
    return Examples(
        starts,
        offsets,
        rng.integers(0, features, offsets[-1]).astype(np.int32),
        rng.normal(size=offsets[-1]),
        slates,
        np.zeros(slates.shape),
        np.log(rng.uniform(0.1, 0.9, n)),
        rng.integers(0, 2, n).astype(float),
        rng.uniform(0.1, 1, n),
        rng.integers(0, 2**63, starts[-1]).astype(np.uint64),
        np.where(slates >= 0, rng.uniform(0.1, 0.9, slates.shape), np.nan),
    )


def store(*pieces: Examples) -> Store:
    impressions = sum(float((1 / piece.inclusion).sum()) for piece in pieces)
    return Store(pieces, sum(map(len, pieces)), impressions, max(piece.slates.shape[1] for piece in pieces))
