"""Paper criteo-test-bed: how often its interval of SNIPS, and the delta method's, cover the truth."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..folds.base import Sample
from ..folds.moments import Moments, MomentsFold
from ..inference.ratio import Ratio
from ..inference.spread import Spread
from ..log.batch import Floats
from ..log.source import needs
from ..policies.propensities import propensities
from ..policies.uniform import Uniform
from ..report.sheet import Claim, Figures, Section
from ..simulation.adverts import AdvertWorld

LOGS = 100


def section(world: AdvertWorld, confidence: float, say: Callable[[str], object]) -> Section:
    """Coverage over parts of one simulated log, each taken for a log of its own; the target draws uniformly."""
    say(f"4. Coverage of the intervals over {LOGS} logs")
    target, terms = Uniform(), _terms(world)
    truth, rows = world.truth(target), len(terms) // LOGS
    delta = published = 0
    for number in range(LOGS):
        found = Spread(_moments(terms[number * rows : (number + 1) * rows]), "normal", confidence).ratio(Ratio(0, 1))
        delta += found.low <= truth <= found.high
        published += abs(found.value - truth) <= (found.high - found.value) / math.sqrt(rows)
    claim = Claim(
        "The 99 % interval of SNIPS is constructed by the delta method.",
        "not reproduced" if published < 0.9 * LOGS else "reproduced",
        f"Over {LOGS} logs of {rows:,} rows the delta method's interval holds the truth {delta / LOGS:.0%} of the "
        f"time, the published one, with its further 1 / sqrt(n), {published / LOGS:.0%}.",
    )
    table = Figures(
        "Share of intervals that hold the truth",
        ("interval", "coverage", "nominal"),
        (("delta method", delta / LOGS, confidence), ("as published", published / LOGS, confidence)),
    )
    return Section("The intervals", claims=(claim,), tables=(table,))


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
