"""Every registered estimator and policy is in the table of exact expectations: one without an example fails."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from offrank.clicks import Fitted
from offrank.errors import AbilityError
from offrank.estimators import ESTIMATORS, ClickWeights, Direct, DoublyRobust, JudgedClicks
from offrank.log.batch import LogBatch, SparseFeatures
from offrank.policies import Policy, policy
from offrank.policies.boosted import Boosted
from offrank.policies.linear import Encoding, Linear, Model
from offrank.policies.registry import POLICIES
from offrank.verbs.estimate import estimate
from offrank_testing.exact import MemorySource
from tests.estimators.models import Positions, fitted
from tests.exact.test_estimators import ESTIMATORS as BY_EVERY_LAW
from tests.exact.test_estimators import LOGGING, TARGETS
from tests.exact.worlds import EXAMINATION, NEW, RELEVANCE, world
from tests.policies.stumps import saved

EXACT = 1e-7
RIGHT: Fitted = fitted(Positions(EXAMINATION), RELEVANCE)
WRONG: Fitted = fitted(Positions((0.9, 0.8, 0.2, 0.7)), RELEVANCE)
#: name -> an estimator whose assumption holds where clicks are relevance times examination, and all items are shown
ESTIMATOR_EXAMPLES: dict[str, Any] = {
    "clip": "clip(ips, 1e9)",
    "controlled": "controlled(rips)",
    "direct": Direct(RIGHT),
    "dr": DoublyRobust(WRONG),
    "interpol": "interpol(window=2)",
    "ipm": "ipm",
    "judged": JudgedClicks(
        [{"query": q, "item": 100 * q + i, "grade": (q + i) % 3} for q in range(4) for i in range(5)]
    ),
    "ips": "ips",
    "logged": "logged",
    "pbm": "pbm",
    "pi": "pi",
    "rips": "rips",
    "sninterpol": "sninterpol(window=1)",
    "shrink": "shrink(ips, 1e30)",
    "snipm": "snipm",
    "snips": "snips",
    "snrips": "snrips",
    "switch": "switch(ips, 1e9)",
    "weights": ClickWeights(RIGHT),
    "wpi": "wpi",
}
DRAWN = "plackett_luce(old)"
ARMS = "by(arm, {0: epsilon(top(new), 0.25), 1: plackett_luce(logit, log=True), 2: uniform})"
BRANDS = "mixture({distinct(plackett_luce(new), brand): 0.8, uniform: 0.2})"
PINNED = "mixture({pinned(plackett_luce(old), ad): 0.5, uniform: 0.5})"
STOCKED = "mixture({filtered(plackett_luce(logit, log=True), stock): 0.4, plackett_luce(old): 0.6})"
DRAFT = "epsilon(interleaved(top(new), ranking(listed)), 0.3)"
#: name -> spelling, and what it is in a log that DRAWN drew
POLICY_EXAMPLES: dict[str, tuple[str, str]] = {
    "balanced": (
        f"balanced({ARMS}, shares={{1: 0.5, 0: 0.3, 2: 0.2}})",
        "mixture({epsilon(top(new), 0.25): 0.3, plackett_luce(logit, log=True): 0.5, uniform: 0.2})",
    ),
    "boosted": ("boosted({file})", "plackett_luce(new)"),
    "by": (ARMS, ARMS),
    "counted": ("counted", DRAWN),
    "distinct": (BRANDS, BRANDS),
    "epsilon": ("epsilon(top(new), 0.25)", "epsilon(top(new), 0.25)"),
    "filtered": (STOCKED, STOCKED),
    "interleaved": (DRAFT, DRAFT),
    "linear": ("linear({file})", "plackett_luce(new)"),
    "logged": ("logged", DRAWN),
    "mixture": (
        "mixture({top(new): 0.5, plackett_luce(old): 0.3, top(logit): 0.2})",
        "mixture({top(new): 0.5, plackett_luce(old): 0.3, top(logit): 0.2})",
    ),
    "pinned": (PINNED, PINNED),
    "noisy": ("noisy(logit, sd=0.7)", "noisy(logit, sd=0.7)"),
    "plackett_luce": ("plackett_luce(logit, log=True)", "plackett_luce(logit, log=True)"),
    "ranking": ("ranking(listed)", "ranking(listed)"),
    "shuffled": (
        "epsilon(shuffled(top(logit), 3, method=top), 0.4)",
        "epsilon(shuffled(top(logit), 3, method=top), 0.4)",
    ),
    "swaps": ("swaps(ranking(listed), 0.7)", "swaps(ranking(listed), 0.7)"),
    "thompson": ("thompson(mean=logit, sd=new)", "thompson(mean=logit, sd=new)"),
    "top": ("top(logit)", "top(logit)"),
    "unconfirmed": ("unconfirmed(plackett_luce(logit, log=True), departure=0.1)", "plackett_luce(logit, log=True)"),
    "uniform": ("uniform", "uniform"),
    "written": ("written(slate=propensity, slots=slot_propensity, ranks=rank_propensity)", DRAWN),
}
ANY_ABILITY = ("ips", "rips", "ipm")


#: estimators that have their truth by each logging policy in test_estimators.py are asked about one of them here
CASES = [
    (name, logging)
    for name in sorted(ESTIMATORS)
    for logging in (LOGGING[:1] if ESTIMATOR_EXAMPLES.get(name) in tuple(BY_EVERY_LAW) else LOGGING)
]


@cache
def truth(shape: str, spelling: str) -> float:
    return world(shape, "position").value(policy(spelling))


@cache
def drawn_in_full(logging: str) -> MemorySource:
    return world("full", "position").source(policy(logging))


@pytest.mark.parametrize(("name", "logging"), CASES)
def test_every_estimator_has_the_truth_as_its_expectation(name: str, logging: str) -> None:
    assert name in ESTIMATOR_EXAMPLES, f"give an example of {name}, so that it is tested like the others"
    example = ESTIMATOR_EXAMPLES[name]
    targets = (logging,) if name == "logged" else TARGETS
    result = estimate(drawn_in_full(logging), {one: one for one in targets}, logging, example, examination=EXAMINATION)
    found = [estimate.value for estimate in result.values()]
    assert found == pytest.approx([truth("full", one) for one in targets], rel=EXACT)


@pytest.mark.parametrize("shape", ["full", "top"])
@pytest.mark.parametrize("name", sorted(POLICIES))
def test_every_policy_is_judged_right(name: str, shape: str, tmp_path: Path) -> None:
    example, what = example_of(name, tmp_path)
    found = answered(logged(shape, DRAWN), example, DRAWN)
    assert found == pytest.approx([truth(shape, what)] * len(found), rel=EXACT)


@pytest.mark.parametrize("shape", ["full", "top"])
@pytest.mark.parametrize("name", sorted(POLICIES))
def test_every_policy_is_judged_by_right(name: str, shape: str, tmp_path: Path) -> None:
    example, what = example_of(name, tmp_path)
    target = what if name in {"ranking", "top"} else "epsilon(plackett_luce(logit, log=True), 0.5)"
    found = answered(logged(shape, what), target, example)
    assert found == pytest.approx([truth(shape, target)] * len(found), rel=EXACT)


def example_of(name: str, folder: Path) -> tuple[Policy, str]:
    assert name in POLICY_EXAMPLES, f"give an example of {name}, so that it is tested like the others"
    spelling, what = POLICY_EXAMPLES[name]
    learnt = {"linear": Linear, "boosted": Boosted}
    return learnt[name](scorer(folder, name)) if name in learnt else policy(spelling), what


def answered(source: MemorySource, target: Policy | str, logging: Policy | str) -> list[float]:
    """Every estimate that both policies know enough for: one at least."""
    found = []
    for name in ANY_ABILITY:
        try:
            found.append(estimate(source, target, logging, name)[name].value)
        except AbilityError:
            continue
    assert found
    return found


@cache
def logged(shape: str, drawn: str) -> MemorySource:
    """A log of every slate, with a feature of its own for each candidate of each situation."""
    batch: LogBatch = world(shape, "position").batch(policy(drawn))
    n, m = batch.contexts.candidates.shape
    own = batch.contexts.keys["query"][:, None] * 8 + np.arange(m)
    lines = np.arange(n * m + 1)
    features = SparseFeatures(lines[:-1:m], lines, own.reshape(-1), np.ones(n * m))
    others = {f"{role}:{role}": values for role, values in batch.shown.written.items()}  # as columns of a new policy
    shown = replace(batch.shown, written={**batch.shown.written, **others})
    return MemorySource((replace(batch, contexts=replace(batch.contexts, features=features), shown=shown),))


def scorer(folder: Path, name: str) -> str:
    """The file of a linear or boosted scorer of those features whose scores are the logarithms of the column `new`."""
    encoding = Encoding.plain(6)
    weights = np.zeros(encoding.size)
    for situation, row in enumerate(NEW):
        weights[8 * situation : 8 * situation + len(row)] = np.log(row)
    if name == "boosted":
        return saved(folder / "boosted.npz", weights, encoding.bits)
    Model(encoding, weights).save(folder / "linear.npz")
    return str(folder / "linear.npz")
