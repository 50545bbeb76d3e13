"""Sessions divided among components whose likelihoods are given: the end is that of plain EM, in fewer rounds."""

from __future__ import annotations

import numpy as np
import pytest

from offrank.clicks.fit.mixture_em import fit_shares, weights

RNG = np.random.default_rng(3)
SESSIONS = RNG.integers(1, 4, 300).astype(float)
LIKELIHOOD = np.where(RNG.random((300, 1)) < 0.3, [0.5, 0.4, 0.1], [0.3, 0.4, 0.45]) * RNG.uniform(0.8, 1.2, (300, 3))


def step(share: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, float]:
    joint = LIKELIHOOD * weight
    total = joint.sum(axis=1, keepdims=True)
    return joint / total, float(SESSIONS @ np.log(total[:, 0]) + np.log(weight).sum())


def plain(tolerance: float) -> tuple[np.ndarray, int]:
    before, weight, rounds = np.zeros(3), np.full(3, 1 / 3), 0
    while np.abs(weight - before).max() >= tolerance:
        before, weight = weight, weights(step(LIKELIHOOD, weight)[0], SESSIONS)
        rounds += 1
    return weight, rounds


def test_the_end_is_that_of_plain_em_in_fewer_rounds() -> None:
    even = np.full((300, 3), 1 / 3)
    told: list[float] = []
    found = fit_shares(step, even, even[0], SESSIONS, tolerance=1e-9, rounds=2_000, say=told.append)
    wanted, rounds = plain(1e-12)
    assert found.converged
    assert found.weight == pytest.approx(wanted, abs=1e-6)
    assert found.share == pytest.approx(step(even, wanted)[0], abs=1e-5)
    assert found.rounds < rounds / 2
    assert found.trace == tuple(told)
    assert told[-1] == pytest.approx(max(told), rel=1e-9)


def test_weights_that_are_given_stay() -> None:
    even, given = np.full((300, 3), 1 / 3), np.array([0.2, 0.5, 0.3])
    found = fit_shares(step, even, given, SESSIONS, still=True, tolerance=1e-9, rounds=50, say=lambda _: None)
    assert found.converged
    assert found.weight.tolist() == given.tolist()
    assert found.share == pytest.approx(step(even, given)[0], abs=1e-9)


def test_too_few_rounds_are_said() -> None:
    even = np.full((300, 3), 1 / 3)
    assert not fit_shares(step, even, even[0], SESSIONS, tolerance=1e-9, rounds=3, say=lambda _: None).converged
