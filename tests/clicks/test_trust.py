"""Trust bias: its law, what of it can be learnt, and what it comes to without trust."""

from __future__ import annotations

import numpy as np
import pytest

from offrank.clicks import PBM, TrustBias
from offrank.clicks.base import FitResult
from offrank.clicks.documents import SlateDocuments
from tests.clicks.click_patterns import trust_bias
from tests.clicks.examined import RANKS, World, covered
from tests.clicks.readers import log
from tests.clicks.same_law import assert_same_law

EXAMINATION = 1 / np.arange(1.0, RANKS + 1) ** 0.5
TRUSTED = np.append(1.0, np.full(RANKS - 1, 0.95))
FOOLED = 0.4 / np.arange(1.0, RANKS + 1) - 0.4 / RANKS
CHANCES = {"hit": EXAMINATION * TRUSTED, "false": EXAMINATION * FOOLED}
WORLD = World(TrustBias(), CHANCES, queries=100)


@pytest.fixture(scope="module")
def learnt() -> FitResult:
    sessions = WORLD.sessions(40_000, 0, order=0)
    return TrustBias().learn(TrustBias().from_sessions(sessions))


def test_the_law_is_its_story() -> None:
    tables = {"attraction": np.array([0.3, 0.8, 0.25]), "hit": np.array([0.9, 0.45]), "false": np.array([0.2, 0.05])}
    slots = SlateDocuments(np.array([[1, 0, -1, 0]]), np.array([[True, True, True, False]]))
    law = TrustBias().law(tables, slots)
    # At the third rank, as at the second, half the users look; a fourth has no document: nothing to be fooled by.
    first = trust_bias([0.8, 0.3, 0.25, 0.0], [1.0, 0.5, 0.5, 0.0], [0.9, 0.9, 0.9, 0.0], [0.2, 0.1, 0.1, 0.0])
    assert_same_law(law, first)


def test_trust_is_recovered(learnt: FitResult) -> None:
    assert learnt.converged
    assert np.diff(learnt.trace).min() >= -1e-7 * abs(learnt.trace[0])
    assert learnt.parameters["hit"] == pytest.approx(CHANCES["hit"], abs=0.06)
    assert learnt.parameters["false"] == pytest.approx(CHANCES["false"], abs=0.015)
    assert WORLD.error(learnt, order=4) < 0.03
    assert 0.85 < covered(WORLD, learnt, "attraction", WORLD.attraction) < 0.95


def test_it_predicts_what_the_position_based_model_cannot(learnt: FitResult) -> None:
    sessions = WORLD.sessions(40_000, 0, order=0)
    pbm = PBM().learn(PBM().from_sessions(sessions))
    slots = WORLD.slates(5000, 9, order=0)
    true = TrustBias().law(WORLD.parameters, slots).marginal()
    errors = [
        np.sqrt(((model.law(found.parameters, slots).marginal() - true) ** 2).mean())
        for model, found in ((TrustBias(), learnt), (PBM(), pbm))
    ]
    assert errors[0] < 0.8 * errors[1]


@pytest.mark.turns(3)
def test_without_trust_it_is_the_position_based_model() -> None:
    curve = 1 / np.arange(1.0, RANKS + 1)
    world = World(PBM(), {"examination": curve})
    learnt = TrustBias().learn(TrustBias().from_sessions(world.sessions(60_000, 0, order=0)))
    assert learnt.parameters["false"] == pytest.approx(np.zeros(RANKS), abs=0.01)
    assert learnt.parameters["hit"] == pytest.approx(curve, abs=0.04)


def test_conventions(learnt: FitResult) -> None:
    assert learnt.parameters["hit"][0] == 1
    assert learnt.parameters["false"][-1] == 0
    assert TrustBias().examination(learnt.parameters) is None


@pytest.mark.parametrize("clicked", [0, 1])
def test_one_rank_all_alike(clicked: int) -> None:
    sessions = WORLD.sessions(20, 0)
    click = np.full((20, 1), clicked, np.uint8)
    one = type(sessions)(sessions.document[:, :1], click, sessions.weight, sessions.documents)
    learnt = TrustBias().learn(TrustBias().from_sessions(one))
    rates = learnt.parameters["attraction"]
    assert ((rates > 0) & (rates < 1)).all()


def test_intervals_of_chances_have_the_truth(learnt: FitResult) -> None:
    fitted, held = WORLD.fitted(learnt), []
    for name, free in (("hit", slice(1, None)), ("false", slice(None, -1))):
        low, high = fitted.interval(name, 0.95)
        held += ((low < CHANCES[name]) & (CHANCES[name] < high))[free].tolist()
        assert (high - low)[free].max() < 0.1
        assert (high - low < 1e-6).sum() == 1  # by convention
    assert np.mean(held) >= 0.8
    assert "interval" in str(TrustBias().fit(log()))


@pytest.mark.parametrize(("order", "codes"), [(0, []), (1e6, ["trust-unknown"])])
def test_trust_that_is_not_told_from_worth_is_said_so(order: float, codes: list[str]) -> None:
    """One order for ever, the best first, tells nothing: then intervals of all ranks have the truth."""
    found = TrustBias().learn(TrustBias().from_sessions(WORLD.sessions(10_000, 1, order=order)))
    assert [caution.code for caution in found.cautions] == codes
    low, high = WORLD.fitted(found).interval("hit")
    assert ((low < CHANCES["hit"]) & (CHANCES["hit"] < high))[1:].all()
    assert (high - low)[1:].mean() > (0.5 if codes else 0.0)
