"""Each row against all rankers that served: exact expectations with counted shares, and what is refused."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import offrank
from offrank.errors import AbilityError, RowError, UsageError
from offrank.log.batch import LogBatch
from offrank.policies import Balanced, policy
from offrank.policies.fit import counts, fitted
from offrank_testing.exact import MemorySource
from tests.exact.worlds import EXAMINATION, world

SERVED = {0: ("plackett_luce(old)", 0.7), 1: ("epsilon(top(new), 0.3)", 0.3)}
ARMS = "by(served, {" + ", ".join(f"{value}: {one}" for value, (one, _) in SERVED.items()) + "})"
TARGETS = ("top(new)", "plackett_luce(logit, log=True)", "uniform")


def log(first: int = 0) -> MemorySource:
    """Every slate of every arm once, each row kept with a probability that makes it stand for its share."""
    return MemorySource(tuple(_of_arm(value + first, *SERVED[value]) for value in SERVED))


def _of_arm(value: int, spelling: str, share: float) -> LogBatch:
    found: LogBatch = world("full", "position").batch(policy(spelling))
    keys = {**found.contexts.keys, "served": np.full(len(found), value)}
    row = found.row + np.uint64(1000 * value)
    return replace(found, contexts=replace(found.contexts, keys=keys), inclusion=found.inclusion / share, row=row)


@pytest.mark.parametrize("logging", [ARMS, f"balanced({ARMS})", f"balanced({ARMS}, shares={{0: 0.7, 1: 0.3}})"])
def test_every_estimator_has_the_truth_as_its_expectation(logging: str) -> None:
    asked = ["ips", "snips", "rips", "ipm", "snipm", "interpol(window=1)", "pbm", "pi", "clip(ips, 1e9)"]
    found = offrank.estimate(log(), {one: one for one in TARGETS}, logging, asked, examination=EXAMINATION)
    truth = [world("full", "position").value(policy(one)) for one in TARGETS for _ in asked]
    values = [estimate.value for estimate in found.estimates.values()]
    assert values == pytest.approx(truth, rel=1e-7)


def test_shares_are_counted_in_the_log_with_its_inclusion() -> None:
    bare = policy(f"balanced({ARMS})")
    ready: Any = fitted(bare, log())
    assert ready.counted.values == pytest.approx((0.7, 0.3), rel=1e-12)
    assert ready == bare
    assert repr(ready) == f"balanced({ARMS})"
    assert fitted(ready, log()) is ready
    assert not counts(bare)
    batch = log().pieces[0]
    with pytest.raises(AbilityError, match=r"^balanced\(") as error:
        bare.log_prob(batch.contexts, batch.slates)  # type: ignore[union-attr]
    assert "shares={...}" in error.value.remedy


@pytest.mark.parametrize("shares", ["", ", shares={0: 0.7, 1: 0.3}"])
def test_a_row_that_none_of_them_served_is_named(shares: str) -> None:
    with pytest.raises(RowError, match=re.escape("log, row 1000 (the first is 0), column 'served'")):
        offrank.evaluate(log(first=1), "uniform", f"balanced({ARMS}{shares})".replace("1:", "2:"), "ips")


@pytest.mark.parametrize(
    ("shares", "why"),
    [
        ({0: 0.7, 1: 0.2}, "the shares add up to 0.9, not 1"),
        ({0: 0.7, 2: 0.3}, "shares and the policies have different values"),
        ({0: 1.0}, "shares and the policies have different values"),
        ({0: 1.2, 1: -0.2}, "the share 1.2 is not a probability"),
        (0.7, "0.7 is not a mapping"),
    ],
)
def test_shares_are_of_the_rankers_and_add_up_to_one(shares: Any, why: str) -> None:
    with pytest.raises(UsageError, match=re.escape(why)):
        Balanced(policy(ARMS), shares=shares)  # type: ignore[arg-type]


def test_only_rankers_that_a_column_tells_are_balanced() -> None:
    with pytest.raises(UsageError, match=re.escape("not top(a)")):
        policy("balanced(top(a))")


def test_a_target_that_reads_the_arm_is_refused() -> None:
    """Given the arm, a slate was drawn by its own ranker: weighed by all of them the value would be biased."""
    target = ARMS.replace("plackett_luce(old)", "uniform")
    with pytest.raises(UsageError, match=r"depends on 'served'.*\n.*logging=\"by\(served"):
        offrank.evaluate(log(), [target, "uniform"], f"balanced({ARMS})", "ips")
    assert offrank.evaluate(log(), target, ARMS, "ips")["ips"].value > 0
