"""INTERPOL where 10 of 200 candidates are shown by Plackett-Luce: exact propensities, windows that may miss an item."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import offrank
from offrank.estimators import Interpol
from offrank.log.batch import Contexts, LogBatch, Shown
from offrank.policies import PlackettLuce, Top, propensities
from offrank.policies.base import Policy, all_items
from offrank_testing import MemorySource

CONTEXTS, CANDIDATES, SLOTS, ROWS = 40, 200, 10, 30_000
EXAMINATION = 1 / np.arange(1, SLOTS + 1)
LOGGING = PlackettLuce("old")
TARGETS: dict[str, Policy] = {"top": Top("new"), "random": PlackettLuce("new", temperature=0.5)}
ESTIMATORS = (
    "ipm",
    "snipm",
    "interpol(window=1)",
    "interpol(window=3)",
    "interpol(window=3, form=windowed)",
    "sninterpol(window=3)",
    "interpol(window=9)",
    "interpol(window=9, form=windowed)",
    "interpol(window=slope, form=windowed)",
)


@cache
def relevance() -> np.ndarray:
    """[contexts, candidates] probability of a click once looked at."""
    return np.random.default_rng(1).beta(1, 4, size=(CONTEXTS, CANDIDATES))


def contexts(which: np.ndarray) -> Contexts:
    rng, shape = np.random.default_rng(2), (CONTEXTS, CANDIDATES)
    old = np.exp(3 * relevance() + 0.5 * rng.normal(size=shape))
    new = np.exp(4 * relevance() + 0.3 * rng.normal(size=shape))
    n = len(which)
    items = np.tile(np.arange(CANDIDATES), (n, 1))
    return Contexts(items, np.full(n, CANDIDATES), np.full(n, SLOTS), {"old": old[which], "new": new[which]})


@cache
def log() -> MemorySource:
    """Position-based clicks."""
    rng, parts = np.random.default_rng(3), []
    for part in np.array_split(np.arange(ROWS), 4):
        which = rng.integers(CONTEXTS, size=len(part))
        found = contexts(which)
        slates = LOGGING.sample(found, rng)
        chance = EXAMINATION * np.take_along_axis(relevance()[which], slates, axis=1)
        clicks = (rng.random(chance.shape) < chance).astype(np.float64)
        parts.append(LogBatch(found, Shown(slates), clicks, None, np.ones(len(part)), part.astype(np.uint64)))
    return MemorySource(tuple(parts))


def truth(policy: Policy) -> float:
    every = contexts(np.arange(CONTEXTS))
    law = policy.rank_probs(every, all_items(every))
    return float(np.einsum("qmk,k,qm->q", law, EXAMINATION, relevance()).mean())


@pytest.mark.turns(3)
@pytest.mark.slow
def test_no_bias_with_exact_propensities() -> None:
    found = offrank.estimate(log(), TARGETS, LOGGING, ESTIMATORS, examination=EXAMINATION)
    truths = {name: truth(policy) for name, policy in TARGETS.items()}
    for (target, name), estimate in found.estimates.given.items():
        away = (estimate.value - truths[target]) / estimate.standard_error
        assert abs(away) < 4, (target, name, away)
    assert len(found.estimates.given) == len(TARGETS) * len(ESTIMATORS)
    ipm, wide = found["top", "ipm"], found["top", "interpol(window=9)"]
    assert wide.standard_error < ipm.standard_error / 1.5
    assert found["top", "interpol(window=slope, form=windowed)"].chosen != "interpol(window=0, form=windowed)"


@pytest.mark.turns(3)
@pytest.mark.slow
def test_the_position_based_model_misses_what_was_not_shown() -> None:
    found = offrank.evaluate(log(), "top(new)", LOGGING, "pbm", examination=EXAMINATION)["pbm"]
    assert found.value < 0.5 * truth(TARGETS["top"])
    assert "unseen-items" in [caution.code for caution in found.warnings]


@pytest.mark.parametrize("form", ["paper", "windowed"])
def test_a_window_is_no_likelier_than_being_shown(form: str) -> None:
    # With a flat curve the widest window corrects for being shown at all: 1 / P(shown), in both forms.
    few = next(log().batches(0))
    estimator = Interpol(window=SLOTS, form=form, examination=(1.0,) * SLOTS)  # type: ignore[arg-type]
    weight = estimator.weigh(few, propensities(LOGGING, few), propensities(TARGETS["top"], few)).weight
    shown = LOGGING.rank_probs(few.contexts, few.slates).sum(axis=2)
    wanted = TARGETS["top"].rank_probs(few.contexts, few.slates).sum(axis=2)
    assert (shown < 1).all()
    np.testing.assert_allclose(weight, wanted / shown, rtol=1e-9)
