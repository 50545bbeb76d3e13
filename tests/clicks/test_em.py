"""SQUAREM goes where EM goes, sooner, and never down."""

from __future__ import annotations

import numpy as np
import pytest

from offrank.clicks.fit.em import Parameters, climb, expit, logit

HEADS = np.array([9, 8, 4, 7, 3, 6, 5, 9, 2, 6])
TOSSES = 10


def two_coins(here: Parameters) -> tuple[Parameters, float]:
    """EM for which of two coins was tossed ten times, from the number of heads alone."""
    share, p, q = here["share"][0], *here["coin"]
    first = share * p**HEADS * (1 - p) ** (TOSSES - HEADS)
    second = (1 - share) * q**HEADS * (1 - q) ** (TOSSES - HEADS)
    mine = first / (first + second)
    coins = [(part * HEADS).sum() / (part.sum() * TOSSES) for part in (mine, 1 - mine)]
    after = {"share": np.array([mine.mean()]), "coin": np.array(coins)}
    return after, float(np.log(first + second).sum())


START = {"share": np.array([0.4]), "coin": np.array([0.6, 0.5])}


def plain(rounds: int) -> Parameters:
    here: Parameters = START
    for _ in range(rounds):
        here, _ = two_coins(here)
    return here


def test_it_ends_where_plain_em_ends_in_fewer_rounds() -> None:
    found = climb(two_coins, START, tolerance=1e-12)
    far = plain(5000)
    assert found.converged
    assert found.rounds < 60
    for name in far:
        assert found.parameters[name] == pytest.approx(far[name], abs=1e-9)
        assert plain(found.rounds)[name] != pytest.approx(far[name], abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_it_never_goes_down(seed: int) -> None:
    rng = np.random.default_rng(seed)
    start = {"share": rng.random(1), "coin": rng.random(2)}
    trace = climb(two_coins, start).trace
    assert np.diff(trace).min(initial=0) >= -1e-12
    assert trace[0] == two_coins(start)[1]


def test_rounds_are_the_most_steps() -> None:
    taken = []
    found = climb(two_coins, START, tolerance=0.0, rounds=6, say=taken.append)
    assert not found.converged
    assert found.rounds == 6
    assert tuple(taken) == found.trace


def test_what_does_not_move_stays_whatever_it_is() -> None:
    def step(here: Parameters) -> tuple[Parameters, float]:
        after, height = two_coins(here)
        return {**after, "prior": here["prior"]}, height

    found = climb(step, {**START, "prior": np.array([3.7, 0.25])}, tolerance=1e-12)
    assert found.parameters["prior"].tolist() == [3.7, 0.25]
    assert found.parameters["coin"] == pytest.approx(climb(two_coins, START, tolerance=1e-12).parameters["coin"])


def test_plain_steps_stand_where_the_extrapolation_is_worse() -> None:
    tried = []

    def step(here: Parameters) -> tuple[Parameters, float]:
        """Towards 0.4: evenly until close, then halving the rest; there is no height above it."""
        x = float(here["x"][0])
        tried.append(x)
        after = x + min(0.05, (0.4 - x) / 2)
        return {"x": np.array([after])}, -((x - 0.4) ** 2) if x <= 0.4 else float("nan")

    found = climb(step, {"x": np.array([0.1])}, tolerance=1e-6)
    assert max(tried) > 0.4, "some extrapolation went too far"
    assert found.parameters["x"] == pytest.approx([0.4], abs=3e-6)
    assert np.isfinite(found.trace).all()


def test_logits() -> None:
    assert logit(np.array([0.25])) == pytest.approx(np.log(1 / 3))
    assert expit(logit(np.array([0.1, 0.9]))) == pytest.approx(np.array([0.1, 0.9]))
    assert np.isfinite(logit(np.array([0.0, 1.0]))).all()
    assert (expit(np.array([-1e9, 1e9])) > 0).all()
    assert (expit(np.array([-1e9, 1e9])) < 1).all()
