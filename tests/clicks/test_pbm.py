"""PBM: its law, its curve without bias, its posteriors exact, its intervals honest."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

import offrank
from offrank.clicks import PBM, UBM, TrustBias
from offrank.clicks.base import FitResult
from offrank.clicks.click_counts import ClickCounts
from offrank.clicks.documents import SlateDocuments
from offrank.clicks.fit.curve import fit_curve
from offrank.clicks.fit.posterior import Chances, Fixed, fit_attractions
from offrank.clicks.fit.priors import Beta
from offrank.clicks.pbm import pooled_rank_rates
from tests.clicks.click_patterns import position_based
from tests.clicks.examined import RANKS, World, covered
from tests.clicks.readers import log
from tests.clicks.same_law import assert_same_law

CURVE = 1 / np.arange(1, RANKS + 1)
WORLD = World(PBM(), {"examination": CURVE})
TABLES = {"attraction": np.array([0.3, 0.8, 0.25]), "examination": np.array([1.0, 0.6, 0.3])}


@pytest.fixture(scope="module")
def learnt() -> FitResult:
    return WORLD.learnt(30_000)


def test_the_law_is_its_story() -> None:
    """Documents 0 and 1, a hole, one that was never seen a rank below the lowest known, a pad."""
    slots = SlateDocuments(np.array([[1, 0, 0, -1, -1]]), np.array([[True, True, False, True, False]]))
    story = position_based([0.8, 0.3, 0.0, 0.25, 0.0], [1.0, 0.6, 0.3, 0.3, 0.3])
    assert_same_law(PBM().law(TABLES, slots), story)


def test_parameters_are_recovered(learnt: FitResult) -> None:
    assert learnt.converged
    assert learnt.parameters["examination"] == pytest.approx(CURVE, rel=0.1)
    assert learnt.parameters["attraction"][-1] == pytest.approx(0.2, abs=0.02)
    assert learnt.parameters["attraction_prior"] == pytest.approx([1, 4], rel=0.25)
    assert np.corrcoef(learnt.parameters["attraction"][:-1], WORLD.attraction)[0, 1] > 0.9
    assert WORLD.error(learnt, order=0) < 0.03


def test_the_curve_is_not_bent_by_rankers_that_know() -> None:
    """Mean of several logs; click rates fall to a third of the examination of the last rank."""
    data = [PBM().from_sessions(WORLD.sessions(12_000, seed)) for seed in range(12)]
    curves = [fit_curve(counts, pooled_rank_rates(counts)).value for counts in data]
    ratio = np.mean(curves, axis=0) / CURVE
    noise = np.std(curves, axis=0) / CURVE / np.sqrt(12)
    assert np.exp(pooled_rank_rates(data[0]).log[-1]) / CURVE[-1] < 0.4
    # The last rank is .06 too low (.05 when the bias of click rates did not depend on how far documents keep ranks).
    assert (np.abs(ratio - 1) < 3.5 * noise + 0.02).all()
    assert noise.max() < 0.03


@pytest.mark.turns(3)
def test_intervals_cover_the_truth(learnt: FitResult) -> None:
    assert 0.85 < covered(WORLD, learnt, "attraction", WORLD.attraction) < 0.95
    curves = [covered(WORLD, WORLD.learnt(4000, seed), "examination", CURVE) for seed in range(16)]
    # The first rank's is known; of the others, nine in ten.
    assert 0.8 < (np.mean(curves) * RANKS - 1) / (RANKS - 1) < 0.97


def test_a_curve_that_is_largest_below_the_first_rank() -> None:
    """Where the second rank is looked at most, its examination is 1, and the first rank's is known as others are."""
    curve = np.array([0.6, 1.0, 0.7, 0.5, 0.4, 0.3])
    world = World(PBM(), {"examination": curve})
    several = [world.learnt(4000, seed) for seed in range(12)]
    ratio = np.mean([learnt.parameters["examination"] for learnt in several], axis=0) / curve
    assert ratio == pytest.approx(np.ones(RANKS), abs=0.105)  # the last rank is .1002 too low, of few clicks
    ends = [world.fitted(learnt).interval("examination", 0.9) for learnt in several]
    held = [(low <= curve) & (curve <= high) for low, high in ends]
    assert 0.8 < np.mean(held, axis=0)[[0, 2, 3, 4, 5]].mean() < 0.97


def test_what_is_one_by_chance_has_an_interval() -> None:
    """Two ranks that are looked at alike: in half of the logs the second seems to be looked at more."""
    curve = np.array([1.0, 1.0, 0.7, 0.5, 0.4, 0.3])
    world = World(PBM(), {"examination": curve})
    several = [world.learnt(1000, seed) for seed in range(20)]
    at_one = [learnt for learnt in several if (learnt.parameters["examination"][:2] == 1).all()]
    assert 5 <= len(at_one) <= 15
    ends = np.array([world.fitted(learnt).interval("examination", 0.9) for learnt in at_one])[:, :, 1]
    assert (ends[:, 1] == 1).all()
    assert ((ends[:, 0] > 0.5) & (ends[:, 0] < 0.98)).all()


DOCUMENTS = [[(0, 4, 2), (1, 3, 0)], [(1, 7, 0)], [(0, 1, 1)], [(0, 3, 3), (1, 2, 2)], [(0, 400, 93), (1, 250, 20)]]
"""Of each document, (cell, shown, clicked)."""


def of_documents() -> ClickCounts:
    rows = [(d, *entry) for d, entries in enumerate(DOCUMENTS) for entry in entries]
    document, cell, shown, clicked = np.array(rows).T
    return ClickCounts(document, cell, shown.astype(float), clicked.astype(float), len(DOCUMENTS), 2)


@pytest.mark.turns(3)
@pytest.mark.parametrize("prior", [Beta(1.0, 4.0), Beta(0.5, 0.7), Beta(8.0, 20.0)])
@pytest.mark.parametrize("false", [0.0, 0.1])
def test_posteriors_are_those_of_numerical_integration(prior: Beta, false: float) -> None:
    hit = np.array([1.0, 0.6])
    found = fit_attractions(of_documents(), Fixed(Chances(hit, np.array([false, 0.0]))), prior, say=print)
    height = 0.0
    for d, entries in enumerate(DOCUMENTS):

        def density(x: float, power: int, entries: list[tuple[int, int, int]] = entries) -> float:
            u = 1 / (1 + np.exp(-x))
            value = u ** (prior.a + power) * (1 - u) ** prior.b
            for cell, shown, clicked in entries:
                p = (false if cell == 0 else 0.0) * (1 - u) + hit[cell] * u
                value *= p**clicked * (1 - p) ** (shown - clicked) * (1e120 if shown > 300 else 1)
            return float(value)

        total, mean, square = (quad(density, -16, 16, args=(k,), epsabs=0, limit=500)[0] for k in range(3))
        assert found.mean[d] == pytest.approx(mean / total, rel=1e-5)
        variance = found.mean[d] * (1 - found.mean[d]) / (found.strength[d] + 1)
        assert variance == pytest.approx(square / total - (mean / total) ** 2, rel=1e-4)
        normal = quad(lambda x: (1 + np.exp(-x)) ** -prior.a * (1 + np.exp(x)) ** -prior.b, -16, 16, epsabs=0)[0]
        height += np.log(total / normal) - (np.log(1e120) if entries[0][1] > 300 else 0)
    assert found.log_likelihood == pytest.approx(height, abs=1e-4)


@pytest.mark.parametrize("seed", range(6))
def test_no_step_goes_down(seed: int) -> None:
    rng = np.random.default_rng(seed)
    world = World(PBM(), {"examination": rng.uniform(0.1, 1, RANKS)}, queries=int(rng.integers(1, 60)))
    counts = PBM().from_sessions(world.sessions(int(rng.integers(5, 3000)), seed))
    trace = PBM().learn(counts).trace
    assert all(step >= -1e-7 * abs(trace[0]) for step in np.diff(trace))


@pytest.mark.parametrize(
    ("slates", "clicks"),
    [
        ([[1]], [[1]]),
        ([[1]], [[0]]),
        ([[1]] * 9, [[1]] * 9),
        ([[1, 2, 3]], [[0, 1, 0]]),
        ([[1, 2], [2, 1]], [[1, 1], [1, 1]]),
        ([[1, 2], [2, 1]], [[0, 0], [0, 0]]),
        ([[1, 2, 3], [3], [2, 1]], [[1, 0, 0], [1], [0, 1]]),
        ([[1, 2, 3, 4, 5]] * 3, [[0] * 5] * 3),
    ],
    ids=[
        "a click",
        "no click",
        "one rank",
        "one session",
        "all clicked",
        "never clicked",
        "differing lengths",
        "one ranking",
    ],
)
def test_tiny_logs(slates: list[list[int]], clicks: list[list[int]]) -> None:
    """Of each model of examination and attraction; warnings are errors here."""
    for model in (PBM(), UBM(), TrustBias(), PBM("common"), UBM((1, 5))):
        fitted = model.fit(log(slates, clicks))
        batch = next(offrank.read_log(log(slates, clicks)).batches(0))
        found = fitted.click_probs(batch.contexts, batch.slates)
        shown = batch.slates >= 0
        assert ((found[shown] > 0) & (found[shown] < 1)).all()
        assert (found[~shown] == 0).all()
        low, high = fitted.interval("attraction")
        assert ((low >= 0) & (low < high) & (high <= 1)).all()
        for table in fitted.learnt.strength:
            low, high = fitted.interval(table)
            assert ((low >= 0) & (low <= high) & (high <= 1)).all()
        drawn = fitted.draw(np.random.default_rng(0)).click_probs(batch.contexts, batch.slates)
        assert ((drawn >= 0) & (drawn <= 1)).all()


def test_a_log_that_never_changes_its_rankings_does_not_tell() -> None:
    sessions = WORLD.sessions(3000, 0)
    still = ClickCounts(np.arange(3), np.arange(3), np.full(3, 1000.0), np.array([300.0, 200.0, 100.0]), 3, 3)
    learnt = PBM().learn(still)
    assert [caution.code for caution in learnt.cautions] == ["examination-unknown"]
    assert "67 %" in learnt.cautions[0].message
    # What was logged is predicted all the same.
    law = PBM().law(learnt.parameters, SlateDocuments(np.array([[0, 1, 2]]), np.ones((1, 3), bool)))
    assert law.marginal()[0] == pytest.approx([0.3, 0.2, 0.1], abs=0.02)
    assert not PBM().learn(PBM().from_sessions(sessions)).cautions


def test_a_later_rank_may_be_examined_most() -> None:
    curve = np.array([0.5, 1.0, 0.5, 0.25, 0.2, 0.1])
    world = World(PBM(), {"examination": curve})
    learnt = world.learnt(60_000)
    assert learnt.parameters["examination"] == pytest.approx(curve, rel=0.12)
    examination = world.fitted(learnt).examination()
    assert examination is not None
    assert examination[:3] == pytest.approx([1, 2, 1], rel=0.1)


def test_a_given_prior_is_kept() -> None:
    learnt = PBM((2, 7)).learn(PBM().from_sessions(WORLD.sessions(500, 0)))
    assert learnt.parameters["attraction_prior"].tolist() == [2, 7]
    assert learnt.parameters["attraction"][-1] == pytest.approx(2 / 9)
    assert learnt.info["attraction_prior"] == [2, 7]


def test_examination_is_the_curve() -> None:
    assert PBM().examination(TABLES).tolist() == [1.0, 0.6, 0.3]
