"""Hypothesis strategies for inputs of the library: rows for folds, situations, policies.

Requires hypothesis, which is installed with `offrank[dev]`.
"""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from offrank.policies.base import Policy
from offrank.policies.epsilon import EpsilonUniform
from offrank.policies.plackett_luce import PlackettLuce
from offrank.policies.ranking import Ranking
from offrank.policies.swaps import Swaps
from offrank.policies.top import Top
from offrank.policies.uniform import Uniform
from offrank.sums.base import Sample
from offrank_testing.laws import Situation


@st.composite
def weighted_samples(draw: st.DrawFn, columns: int, *, most: int = 60) -> Sample:
    """Draw up to `most` rows of non-negative numbers of all sizes, many of them zero or equal; few distinct keys."""
    rows = draw(st.integers(0, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = rng.choice([0.0, 1.0, 1.5, 1e-6, 1e9], (rows, columns)) * rng.lognormal(0, 1, (rows, columns))
    values = np.where(rng.random((rows, columns)) < 0.3, np.round(values), values)
    return Sample.of(values, rng.integers(0, max(rows // 2, 1), rows).astype(np.uint64))


@st.composite
def situations(draw: st.DrawFn, *, most: int = 4) -> Situation:
    """Draw up to `most` candidates with positive scores `score`, logits `logit` and a ranking `written`."""
    size = draw(st.integers(1, most))
    slots = draw(st.integers(1, size))
    scores = draw(st.lists(st.floats(0.01, 100), min_size=size, max_size=size))
    logits = draw(st.lists(st.floats(-8, 8), min_size=size, max_size=size))
    written = draw(st.permutations(range(size)))
    return Situation(size, slots, {"score": tuple(scores), "logit": tuple(logits)}, {"written": tuple(written)})


def logging_policies() -> st.SearchStrategy[Policy]:
    """Policies that can show every slate, suitable for logging."""
    temperature = st.floats(0.5, 2)
    return st.one_of(
        st.just(Uniform()),
        st.builds(lambda t: PlackettLuce("score", temperature=t), temperature),
        st.builds(lambda t: PlackettLuce("logit", temperature=t, log=True), temperature),
        st.builds(lambda e: EpsilonUniform(Top("score"), e), st.floats(0.1, 1)),
        st.builds(lambda s: Swaps(Ranking("written"), s), st.floats(0.5, 0.9)),
    )


def all_policies() -> st.SearchStrategy[Policy]:
    """All policies for a situation from `situations`, deterministic ones too."""
    return st.one_of(
        logging_policies(), st.sampled_from([Top("score"), Top("logit", ascending=True), Ranking("written")])
    )
