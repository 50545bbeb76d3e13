"""Models learn from samples of their own what they were drawn with, and know how well."""

from __future__ import annotations

import numpy as np
import pytest

from offrank.clicks import CCM, CM, DBN, DCM, SDBN, ClickModel
from offrank.clicks.base import FitResult
from offrank.clicks.documents import Documents, SlateDocuments
from offrank.clicks.draws import total_strength
from offrank.clicks.fitted import Fitted
from offrank.clicks.laws import ClickLaw, log_probs
from offrank.clicks.sessions import Sessions, Tally

# One worker: what these tests share is made once.
pytestmark = pytest.mark.xdist_group("recovery")

QUERIES, RANKS = 60, 8
N = 40_000


def world(continuation: list[float]) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(11)
    documents = QUERIES * RANKS
    attraction = np.append(rng.beta(2, 5, documents), 2 / 7)
    satisfaction = np.append(rng.beta(3, 3, documents), 0.5)
    return {"attraction": attraction, "satisfaction": satisfaction, "continuation": np.array(continuation)}


MODELS: dict[str, tuple[ClickModel, list[float]]] = {
    "cascade": (CM(), [1.0]),
    "dcm": (DCM(), [0.8, 0.7, 0.65, 0.6, 0.55, 0.5, 0.5, 0.5]),
    "ccm": (CCM(), [0.9, 0.8, 0.3]),
    "dbn": (DBN(), [0.8]),
    "sdbn": (SDBN(), [1.0]),
}


def shown(n: int, seed: int) -> np.ndarray:
    """Slates that a logging policy prefers, in an order that it seldom changes."""
    rng = np.random.default_rng(seed)
    order = np.argsort(0.4 * np.arange(RANKS) + rng.gumbel(size=(n, RANKS)), axis=1)
    return rng.integers(0, QUERIES, n)[:, None] * RANKS + order


def law(name: str, parameters: dict[str, np.ndarray], document: np.ndarray) -> ClickLaw:
    return MODELS[name][0].law(parameters, SlateDocuments(document, document >= 0))


@pytest.fixture(scope="module", params=MODELS)
def fit(request: pytest.FixtureRequest) -> tuple[str, dict[str, np.ndarray], FitResult]:
    name = request.param
    true, document = world(MODELS[name][1]), shown(N, 1)
    click = law(name, true, document).sample(np.random.default_rng(2))
    sessions = Sessions(document.astype(np.int32), click.astype(np.uint8), np.ones(N), QUERIES * RANKS)
    return name, true, MODELS[name][0].learn(sessions)


Fit = tuple[str, dict[str, np.ndarray], FitResult]


@pytest.mark.turns(3)
def test_the_tables_are_found(fit: Fit) -> None:
    name, true, learnt = fit
    assert learnt.converged
    error = np.abs(learnt.parameters["attraction"] - true["attraction"])[:-1].mean()
    assert error < (0.04 if name == "cascade" else 0.03)
    if "satisfaction" in learnt.parameters:
        assert np.abs(learnt.parameters["satisfaction"] - true["satisfaction"])[:-1].mean() < 0.09
    if name in ("dbn", "ccm"):
        tolerance = np.array([0.01, 0.04, 0.08])[: len(true["continuation"])]
        assert (np.abs(learnt.parameters["continuation"] - true["continuation"]) < tolerance).all()
    if name == "dcm":
        assert learnt.parameters["continuation"][:5] == pytest.approx(true["continuation"][:5], abs=0.03)


def test_priors_are_found(fit: Fit) -> None:
    _, _, learnt = fit
    a, b = learnt.parameters["attraction_prior"]
    assert (a / (a + b), a + b) == (pytest.approx(2 / 7, abs=0.03), pytest.approx(7, rel=0.5))
    assert learnt.parameters["attraction"][-1] == pytest.approx(a / (a + b), abs=1e-3)


def test_unseen_sessions_are_predicted_as_well_as_can_be(fit: Fit) -> None:
    name, true, learnt = fit
    document = shown(20_000, 5)
    click = law(name, true, document).sample(np.random.default_rng(6))
    best, found = (log_probs(law(name, dict(tables), document), click).mean() for tables in (true, learnt.parameters))
    assert best - 0.02 < found < best


def covered(fit: Fit, table: str) -> float:
    """Share of the documents whose 90 % interval has the truth."""
    name, true, learnt = fit
    fitted = Fitted(MODELS[name][0], Documents(np.arange(QUERIES * RANKS)), learnt, Tally())
    low, high = fitted.interval(table, 0.9)
    return float(((low <= true[table]) & (true[table] <= high))[:-1].mean())


def test_intervals_of_documents_cover_the_truth(fit: Fit) -> None:
    assert 0.85 <= covered(fit, "attraction") <= 0.95
    if "satisfaction" in fit[2].parameters:
        assert 0.84 <= covered(fit, "satisfaction") <= 0.96


def test_intervals_of_what_all_share(fit: Fit) -> None:
    name, true, learnt = fit
    if name not in ("dbn", "ccm", "dcm"):
        pytest.skip("it shares nothing")
    p, strength = learnt.parameters["continuation"], total_strength(learnt, "continuation")
    error = (p - true["continuation"]) / np.sqrt(p * (1 - p) / strength)
    assert np.abs(error[:-1] if name == "dcm" else error).max() < 4
