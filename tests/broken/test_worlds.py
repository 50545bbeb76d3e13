"""The worlds themselves: their truths and probabilities against what is drawn."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.trust_worlds.engine import Engine, Law, Shuffled, Users, stream
from benchmarks.trust_worlds.world import BROKEN, HEALTHY, WORLDS

ROWS = 20_000
LAWS = (
    Law(),
    Law("flat"),
    Law(temperature=0.5),
    Law(top=True),
    Law(top=True, epsilon=0.4),
    Law("near_score", temperature=0.8, epsilon=0.2),
    Law("holes_score"),
    Shuffled(),
)
USERS = (Users(), Users((1.0,) * 5, stop=1.0), Users(stop=0.5, distraction=0.3), Users(distraction=0.9))
USERS += (Users((1.0,) * 5, stop=0.9, satisfied=True), Users((1.0,) * 5, best=True))


def test_there_are_enough_worlds_of_either_kind() -> None:
    assert len(HEALTHY) >= 10
    assert len(BROKEN) >= 40
    assert len(WORLDS) == len(HEALTHY) + len(BROKEN)  # no two of one name
    assert all(world.healthy for world in HEALTHY)
    assert not any(world.healthy for world in BROKEN)


def simulated(engine: Engine, law: Law, users: Users) -> tuple[float, float]:
    """Clicks per impression of slates that are drawn, and the standard error."""
    rng = stream("simulated", LAWS.index(law), USERS.index(users))
    query = rng.integers(len(engine.columns["relevance"]), size=ROWS)
    relevance = engine.columns["relevance"][query[:, None], law.draw(engine, query, rng)]
    shown = rng.random((ROWS, 1)) < engine.shown()  # one draw a row: slots are cut from below
    clicks = (users.click(relevance, rng) * shown).sum(axis=1)
    return float(clicks.mean()), float(clicks.std() / ROWS**0.5)


@pytest.mark.parametrize("users", USERS, ids=repr)
@pytest.mark.parametrize("law", LAWS, ids=lambda law: f"{law.spelling} {law.column}")
def test_the_truth_is_what_a_simulation_earns(law: Law, users: Users) -> None:
    engine = Engine("truth", candidates=5, slots=3, lengths=(0.2, 0.3, 0.5))
    mean, error = simulated(engine, law, users)
    assert law.value(engine, users) == pytest.approx(mean, abs=4 * error)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: f"{law.spelling} {law.column}")
def test_slates_are_drawn_with_the_probabilities_that_are_written(law: Law) -> None:
    engine = Engine("law", candidates=4, slots=2, queries=1)
    query = np.zeros(ROWS, np.int64)
    drawn = law.draw(engine, query, stream("drawn", LAWS.index(law)))
    chance = law.prefixes(engine, query[:1], engine.orders[None])[0, :, -1]
    assert chance.sum() == pytest.approx(1)
    for slate, expected in zip(engine.orders, chance, strict=True):
        share = (drawn == slate).all(axis=1).mean()
        assert share == pytest.approx(expected, abs=4 * (expected * (1 - expected) / ROWS) ** 0.5 + 1e-12)


def test_the_probability_of_a_plackett_luce_slate_is_a_product() -> None:
    engine = Engine("product", candidates=3, slots=2, queries=1)
    first, second, third = engine.columns["old_score"][0]
    found = Law().prefixes(engine, np.zeros(1, np.int64), np.array([[1, 2]]))
    total = first + second + third
    assert found[0] == pytest.approx([second / total, second / total * third / (first + third)])


def test_a_user_who_stops_clicks_once_at_most() -> None:
    clicks = Users((1.0,) * 3, stop=1.0).click(np.full((1000, 3), 0.5), stream("once"))
    assert clicks.sum(axis=1).max() == 1
    assert Users((1.0,) * 3, stop=1.0).expected(np.full(3, 0.5)) == pytest.approx([0.5, 0.25, 0.125])


def test_distraction_takes_from_the_result_above() -> None:
    found = Users((1.0, 0.5), distraction=0.5).expected(np.array([0.4, 0.6]))
    assert found == pytest.approx([0.4 * (1 - 0.5 * 0.6), 0.5 * 0.6])
