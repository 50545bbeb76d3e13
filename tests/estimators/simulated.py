"""Small random logs, sub-sampled or not, and their terms computed once more with plain NumPy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from offrank.log.batch import Floats, LogBatch, Shown
from offrank.policies import policy
from offrank_testing import MemorySource, law, take
from tests.exact.worlds import world

LOGGING, TARGET = "epsilon(plackett_luce(old), 0.3)", "plackett_luce(new)"


@cache
def log(n: int = 3000, seed: int = 0, kept: float = 0.2) -> LogBatch:
    """n impressions, of which those without a click are kept with probability `kept`.

    Keys: `query` (4 values), `user` (12), `visit` (distinct for every row). Labels: `situation`.
    """
    here, rng = world("top", "cascade"), np.random.default_rng(seed)
    which = rng.integers(0, len(here.situations), n)
    contexts = here.contexts(which)
    slates = policy(LOGGING).sample(contexts, rng)
    chance = np.zeros(slates.shape)
    for row, slate in enumerate(slates.tolist()):
        shown = tuple(item for item in slate if item >= 0)
        chance[row, : len(shown)] = here.clicks(int(which[row]), shown)
    clicks = (rng.random(slates.shape) < 0.5 * chance).astype(np.float64)
    inclusion = np.where(clicks.any(axis=1), 1.0, kept)
    rows = np.arange(n)
    keys = {**contexts.keys, "user": rng.integers(0, 12, n), "visit": rows}
    labels = {"situation": here.batch(policy("uniform")).labels["situation"]}
    labels["situation"] = replace(labels["situation"], codes=which)
    contexts = replace(contexts, keys=keys)
    batch = LogBatch(contexts, Shown(slates), clicks, None, inclusion, rows.astype(np.uint64), labels)
    return take(batch, np.flatnonzero(rng.random(n) < inclusion))  # type: ignore[no-any-return]


def source(batch: LogBatch, parts: int = 3) -> MemorySource:
    """The rows in several parts."""
    return MemorySource(tuple(take(batch, rows) for rows in np.array_split(np.arange(len(batch)), parts)))


@dataclass(frozen=True)
class Rows:
    """Per row: h = 1 / inclusion, reward r, IPS weight w. [n] each."""

    h: Floats
    r: Floats
    w: Floats


def rows(batch: LogBatch, target: str = TARGET) -> Rows:
    """The rows of a log, with weights from the enumerated laws."""
    here = world("top", "cascade")
    drawn = [law(policy(LOGGING), situation) for situation in here.situations]
    wanted = [law(policy(target), situation) for situation in here.situations]
    weights = []
    for query, slate in zip(batch.contexts.keys["query"].tolist(), batch.slates.tolist(), strict=True):
        shown = tuple(item for item in slate if item >= 0)
        weights.append(wanted[query].get(shown, 0.0) / drawn[query][shown])
    assert batch.clicks is not None
    return Rows(1 / batch.inclusion, batch.clicks.sum(axis=1), np.array(weights))
