"""The climb to a maximum, where that is known."""

from __future__ import annotations

import numpy as np
import pytest

from offrank.clicks.fit.maximise import maximise
from offrank.log.batch import Floats

WON, TRIED = np.array([3.0, 40.0, 999.0]), np.array([10.0, 1000.0, 1000.0])


def binomial(logits: Floats) -> tuple[float, Floats]:
    """The log-likelihood of wins among trials, whose maximum is at the logits of their shares."""
    p = 1 / (1 + np.exp(-logits))
    return float((WON * logits - TRIED * np.logaddexp(0, logits)).sum()), WON - TRIED * p


def information(logits: Floats) -> Floats:
    p = 1 / (1 + np.exp(-logits))
    return np.diag(TRIED * p * (1 - p))


BEST = np.log(WON / (TRIED - WON))


def test_the_maximum_is_found_from_afar() -> None:
    found = maximise(binomial, information, np.zeros(3), tolerance=1e-6)
    assert found.converged
    assert found.at == pytest.approx(BEST, abs=1e-5)
    assert list(found.trace) == sorted(found.trace)
    assert found.trace[0] == pytest.approx(-TRIED.sum() * np.log(2))


def test_slopes_end_in_units_of_standard_errors() -> None:
    found = maximise(binomial, information, np.zeros(3), tolerance=0.1)
    errors = np.sqrt(np.diag(np.linalg.inv(information(found.at))))
    assert (np.abs(binomial(found.at)[1] * errors) < 0.1 * 1.05).all()  # in those of the latest information


def test_numbers_that_are_hard_to_tell_apart_take_few_rounds() -> None:
    """A ridge 10,000 times as long as it is wide, in no direction of a number."""
    axes = np.array([[0.8, 0.6], [-0.6, 0.8]])
    precision, best = axes @ np.diag([1e4, 1e-4]) @ axes.T, np.array([3.0, -5.0])

    def ridge(x: Floats) -> tuple[float, Floats]:
        slope = -precision @ (x - best)
        return float(0.5 * slope @ (x - best)), slope

    found = maximise(ridge, lambda _: precision, np.zeros(2), tolerance=1e-6)
    assert found.at == pytest.approx(best, abs=1e-3)
    assert found.rounds <= 5


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_a_wrong_information_leads_nowhere_but_up(scale: float) -> None:
    found = maximise(binomial, lambda x: scale * information(x), np.zeros(3), tolerance=1e-9)
    assert binomial(found.at)[0] >= binomial(np.zeros(3))[0]
    assert list(found.trace) == sorted(found.trace)


def test_at_the_maximum_it_stays() -> None:
    found = maximise(binomial, information, BEST, tolerance=1e-6, known=information(BEST))
    assert found.converged
    assert found.at == pytest.approx(BEST, abs=1e-9)


def weak(logits: Floats) -> tuple[float, Floats]:
    """One earlier observation, a fifth of it a win, and no other."""
    p = 1 / (1 + np.exp(-logits))
    return float((0.2 * logits - np.logaddexp(0, logits)).sum()), 0.2 - p


def test_what_is_far_out_where_nothing_is_known_comes_back() -> None:
    """At a logit of -20 the information is 2e-9: a step of one standard error would be of 20,000."""
    found = maximise(weak, lambda x: np.diag(np.exp(x) / (1 + np.exp(x)) ** 2), np.array([-20.0]), tolerance=1e-4)
    assert found.converged
    assert found.at == pytest.approx([np.log(0.25)], abs=1e-3)


def test_where_no_step_leads_up_it_says_that_it_has_not_converged() -> None:
    """Slopes of the wrong sign."""
    found = maximise(lambda x: (weak(x)[0], -weak(x)[1]), lambda x: np.eye(1), np.array([3.0]), tolerance=1e-4)
    assert not found.converged
    assert found.at == pytest.approx([3.0])


def test_a_step_to_where_there_is_no_value_is_shortened() -> None:
    """The value is 0 / 0 from 3.5 on, and the information says that the maximum is much further away."""

    def bordered(x: Floats) -> tuple[float, Floats]:
        beyond = np.where(x < 3.5, 1.0, np.nan)
        return float((-((x - 3) ** 2) * beyond).sum()), -2 * (x - 3) * beyond

    found = maximise(bordered, lambda x: np.eye(1) * 1e-3, np.array([-9.0]), tolerance=1e-3)
    assert found.at == pytest.approx([3.0], abs=0.01)
    assert found.converged


def test_a_value_that_is_never_the_same_again_ends_the_climb() -> None:
    """Each look at it finds less than the look before; the bound is on looks, not on time."""
    looks = []

    def fading(x: Floats) -> tuple[float, Floats]:
        looks.append(x)
        value, slopes = weak(x)
        return value - 0.24 * len(looks), slopes

    found = maximise(fading, lambda x: np.eye(1), np.array([3.0]), tolerance=1e-9)
    assert not found.converged
    assert len(looks) < 200
    assert np.isfinite(found.at).all()
