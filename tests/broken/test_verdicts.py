"""What is said of healthy and broken logs: decisions that must not change unseen."""

from __future__ import annotations

from functools import cache

import pytest

from benchmarks.trust_worlds.world import ASSUMPTIONS, BROKEN, HEALTHY, NONE, SOUND, WORLDS, Outcome, outcome

# One worker: the worlds of these tests are the same.
pytestmark = pytest.mark.xdist_group("broken")

ROWS = 5000
SEEDS = (0, 1)
SERIOUS = [world.name for world in BROKEN if world.serious and world.known_from <= ROWS]
KNOWN = [world.name for world in BROKEN if world.causes and world.known_from <= ROWS]


@cache
def said(name: str) -> tuple[Outcome, ...]:
    return tuple(outcome(WORLDS[name], ROWS, seed) for seed in SEEDS)


@pytest.mark.turns(3)
@pytest.mark.parametrize("name", [world.name for world in HEALTHY])
def test_a_healthy_log_is_never_refused(name: str) -> None:
    assert all(one.trust != NONE for one in said(name))


@pytest.mark.parametrize("name", [world.name for world in HEALTHY])
def test_what_is_used_of_a_healthy_log_is_near_the_truth(name: str) -> None:
    assert not any(one.off for one in said(name) if one.trust == SOUND)


@pytest.mark.turns(3)
@pytest.mark.parametrize("name", SERIOUS)
def test_a_log_that_is_seriously_wrong_is_never_used(name: str) -> None:
    assert all(one.trust != SOUND for one in said(name))


@pytest.mark.parametrize("name", KNOWN)
def test_the_right_cause_is_named_first(name: str) -> None:
    named = [one for one in said(name) if not one.spared]
    assert all(one.right for one in named), [one.first for one in named]


@pytest.mark.parametrize("name", [world.name for world in ASSUMPTIONS])
def test_a_wrong_assumption_does_not_carry_the_answer_away(name: str) -> None:
    assert not any(one.off for one in said(name) if one.trust == SOUND), said(name)
