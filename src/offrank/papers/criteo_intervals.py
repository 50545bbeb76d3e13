"""Paper criteo-test-bed: how often its interval of SNIPS, and the delta method's, cover the truth."""

from __future__ import annotations

import math

import numpy as np

from ..folds.base import Sample
from ..folds.moments import Moments, MomentsFold
from ..inference.ratio import Ratio
from ..inference.spread import Spread
from ..log.batch import Floats
from ..log.source import needs
from ..policies.propensities import propensities
from ..policies.uniform import Uniform
from ..simulation.adverts import AdvertWorld

LOGS = 100


def coverage(world: AdvertWorld, confidence: float) -> dict[str, float]:
    """Over parts of one simulated log, each taken for a log of its own; the target draws uniformly."""
    target, terms = Uniform(), _terms(world)
    truth, rows = world.truth(target), len(terms) // LOGS
    delta = published = 0
    for number in range(LOGS):
        found = Spread(_moments(terms[number * rows : (number + 1) * rows]), "normal", confidence).ratio(Ratio(0, 1))
        delta += found.low <= truth <= found.high
        published += abs(found.value - truth) <= (found.high - found.value) / math.sqrt(rows)
    return {"coverage": delta / LOGS, "coverage as published": published / LOGS, "logs": LOGS, "rows": rows}


def _terms(world: AdvertWorld) -> Floats:
    """[rows, 2] weighted reward and weight of uniform drawing, over the inclusion probability."""
    source, found = world.source().select(needs("clicks", "candidates", "propensity")), []
    for part in range(source.parts()):
        for batch in source.batches(part):
            propensity = batch.shown.written["propensity"]
            assert propensity is not None
            weight = np.exp(propensities(Uniform(), batch).log_prob) / propensity
            found.append(np.stack([weight * batch.reward, weight], axis=1) / batch.inclusion[:, None])
    return np.concatenate(found)


def _moments(terms: Floats) -> Moments:
    fold = MomentsFold(2)
    return fold.add(fold.empty(), Sample(terms, np.zeros(len(terms), dtype=np.uint64)))
