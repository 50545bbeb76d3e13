"""The same for random situations, and for policies of the library against their written laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from offrank.policies import Policy
from offrank.verbs.estimate import estimate
from offrank_testing import Situation, World, law
from tests.exact.users import position_based_clicks, whole_slate_clicks
from tests.strategies import all_policies, logging_policies, situations

RELEVANCE = ((0.9, 0.1, 0.5, 0.3),)
CURVE = (1.0, 0.7, 0.4, 0.2)


@given(here=situations(), made=all_policies())
def test_policies_keep_their_law(here: Situation, made: Policy) -> None:
    world = World((here,), whole_slate_clicks(RELEVANCE))
    slates = np.array(list(here.slates()))
    contexts = world.contexts(np.zeros(len(slates), dtype=np.int64))
    written = law(made, here)
    expected = np.array([written.get(tuple(slate), 0.0) for slate in slates.tolist()])
    found = np.exp(made.log_prob(contexts, slates))
    assert math.fsum(found) == pytest.approx(1, rel=1e-9)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-300)
    assert made.slot_probs(contexts, slates).prod(axis=1) == pytest.approx(expected, rel=1e-9, abs=1e-300)


@settings(max_examples=30)
@given(here=situations(), logging=logging_policies(), target=all_policies())
def test_estimates_are_exact(here: Situation, logging: Policy, target: Policy) -> None:
    for users, names in (
        (whole_slate_clicks(RELEVANCE), ["ips", "snips"]),
        (
            position_based_clicks(RELEVANCE, CURVE),
            ["ips", "ipm", "snrips", "interpol(window=1)", "sninterpol(window=2)"],
        ),
    ):
        world = World((here,), users)
        found = estimate(world.source(logging), target, logging, names, examination=CURVE)
        for name in names:
            assert found[name].value == pytest.approx(world.value(target), rel=1e-7)
