"""What documents at several ranks tell of chances: the curvature of the likelihood with each attraction at its best."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from offrank.clicks.click_counts import ClickCounts
from offrank.clicks.fit.posterior import Chances
from offrank.clicks.fit.within_documents import information, wider

HIT, FALSE = np.array([0.9, 0.6, 0.3]), np.array([0.2, 0.1, 0.05])
ATTRACTION = np.array([0.2, 0.5, 0.8, 0.4])
SHOWN = np.array([[50.0, 30, 20], [10, 80, 10], [90, 0, 40], [0, 0, 70]])
ALONG = np.zeros((2, 3, 6))
ALONG[0, range(3), range(3)] = ALONG[1, range(3), range(3, 6)] = 1.0
"""The numbers are the chances themselves."""


def counts(shown: np.ndarray) -> ClickCounts:
    """Clicks as often as is expected, so that the attractions are the likeliest ones."""
    document, cell = np.nonzero(shown)
    chance = FALSE + (HIT - FALSE) * ATTRACTION[:, None]
    n = shown[document, cell]
    return ClickCounts(document, cell, n, n * chance[document, cell], len(shown), len(HIT))


def profile(numbers: np.ndarray) -> float:
    """The log-likelihood of these chances with each attraction at its best."""
    (hit, false), total = np.split(numbers, 2), 0.0
    clicked = SHOWN * (FALSE + (HIT - FALSE) * ATTRACTION[:, None])
    for n, y in zip(SHOWN, clicked, strict=True):

        def loss(a: float, n: np.ndarray = n, y: np.ndarray = y) -> float:
            p = false + (hit - false) * a
            return -float(y @ np.log(p) + (n - y) @ np.log(1 - p))

        total -= minimize_scalar(loss, bounds=(0.01, 0.99), method="bounded", options={"xatol": 1e-10}).fun
    return total


def test_it_is_the_curvature_of_the_profile_likelihood() -> None:
    at, step = np.append(HIT, FALSE), 1e-3
    found = information(counts(SHOWN), ATTRACTION, Chances(HIT, FALSE), ALONG)
    for way in np.random.default_rng(0).standard_normal((6, 6)):
        sides = [profile(at + sign * step * way) for sign in (-1, 0, 1)]
        assert way @ found @ way == pytest.approx(-np.diff(sides, 2)[0] / step**2, rel=1e-3)


def test_documents_at_one_rank_tell_nothing() -> None:
    one = np.eye(3, 3)[[0, 1, 2, 2]] * 1000
    assert np.abs(information(counts(one), ATTRACTION, Chances(HIT, FALSE), ALONG)).max() < 1e-8


def test_many_documents_are_worked_on_in_parts() -> None:
    few = counts(SHOWN)
    many = ClickCounts(
        (few.document + 4 * np.arange(1000)[:, None]).ravel(),
        *(np.tile(part, 1000) for part in (few.cell, few.shown, few.clicked)),
        4000,
        3,
    )
    chances = Chances(HIT, FALSE)
    found = information(many, np.tile(ATTRACTION, 1000), chances, ALONG)
    assert found == pytest.approx(1000 * information(few, ATTRACTION, chances, ALONG), rel=1e-9)


def test_a_covariance_is_widened_where_less_is_known_and_nowhere_else() -> None:
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0]
    covariance = turn @ np.diag([1.0, 2.0, 4.0]) @ turn.T
    known = turn @ np.diag([1 / 9.0, 1 / 2.0, 1.0]) @ turn.T  # variances 9, 2 and 1 along the same axes
    half = wider(covariance, known)
    assert covariance + half @ half.T == pytest.approx(turn @ np.diag([9.0, 2.0, 4.0]) @ turn.T)
