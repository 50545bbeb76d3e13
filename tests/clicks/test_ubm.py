"""UBM: its law, and learning by rank and last click."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import offrank
from offrank.clicks import PBM, UBM
from offrank.clicks.base import FitResult
from offrank.clicks.click_counts import browsing_cell, rank_of
from offrank.clicks.documents import SlateDocuments
from offrank.clicks.ubm import cells_table
from offrank.errors import UsageError
from tests.clicks.click_patterns import browsing
from tests.clicks.examined import RANKS, World, covered
from tests.clicks.same_law import assert_same_law

LINES = [[1.0], [0.5, 0.9], [0.3, 0.4, 0.8]]
KNOWN = np.array([e for line in LINES for e in line])
TABLES = {"attraction": np.array([0.3, 0.8, 0.25]), "examination": KNOWN}
CELLS = np.array(
    [0.9 ** (rank - last) if last else 1 / (1 + rank) for rank in range(RANKS) for last in range(rank + 1)]
)
WORLD = World(UBM(), {"examination": CELLS})


@pytest.fixture(scope="module")
def learnt() -> FitResult:
    return WORLD.learnt(40_000)


def test_the_law_is_its_story() -> None:
    """A hole, and one that was never seen two ranks below the lowest known: as that one, at the same distance."""
    slots = SlateDocuments(np.array([[1, 0, 0, 1, -1]]), np.array([[True, True, False, True, True]]))
    lines = [*LINES, [0.3, 0.4, 0.4, 0.8], [0.3, 0.4, 0.4, 0.4, 0.8]]
    assert_same_law(UBM().law(TABLES, slots), browsing([0.8, 0.3, 0.0, 0.8, 0.25], lines))


def test_cells_in_a_table() -> None:
    expected = [[1, 0, 0, 0], [0.5, 0.9, 0, 0], [0.3, 0.4, 0.8, 0]]
    assert cells_table(KNOWN, 3).tolist() == expected
    assert cells_table(KNOWN, 2).tolist() == [row[:3] for row in expected[:2]]


def test_cells_whose_covariances_would_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rows = [{"slate": list(range(length)), "clicks": [1] + [0] * (length - 1)} for length in (2, 200)]
    with pytest.raises(UsageError, match="20,100 values of examination") as caught:
        offrank.fit_clicks(rows, "ubm", tmp_path / "model.json")
    assert "top_k=50" in caught.value.remedy
    monkeypatch.setattr("offrank.clicks.examined.MOST_CELLS", 2)
    assert offrank.fit_clicks([{"slate": [1], "clicks": [1]}], "ubm", tmp_path / "one.json").fitted
    with pytest.raises(UsageError, match="3 values of examination"):  # of (0, none), (1, none) and (1, 0)
        offrank.fit_clicks(rows[:1], "ubm", tmp_path / "model.json")
    monkeypatch.setattr("offrank.clicks.examined.MOST_CELLS", 3)
    assert offrank.fit_clicks(rows[:1], "ubm", tmp_path / "two.json").fitted


def test_parameters_are_recovered(learnt: FitResult) -> None:
    assert learnt.converged
    error = np.log(learnt.parameters["examination"] / CELLS)
    assert np.abs(error).max() < 0.35
    assert np.abs(error).mean() < 0.06
    assert 0.85 < covered(WORLD, learnt, "attraction", WORLD.attraction) < 0.95
    assert WORLD.error(learnt, order=0) < 0.03


def test_deviations_of_cells_are_honest(learnt: FitResult) -> None:
    p, strength = learnt.parameters["examination"], learnt.strength["examination"]
    free = (p > 0) & (p < 1)
    z = (p - CELLS)[free] / np.sqrt(p * (1 - p) / (strength + 1))[free]
    assert 0.6 < np.sqrt((z**2).mean()) < 1.5


def test_where_clicks_do_not_matter_it_is_the_position_based_model() -> None:
    world = World(PBM(), {"examination": 1 / np.arange(1.0, RANKS + 1)})
    sessions, slots = world.sessions(30_000, 0), world.slates(2000, 5)
    both = [model.learn(model.from_sessions(sessions)) for model in (PBM(), UBM())]
    pbm, ubm = (
        model.law(learnt.parameters, slots).marginal() for model, learnt in zip((PBM(), UBM()), both, strict=True)
    )
    assert np.abs(pbm - ubm).max() < 0.03
    assert both[0].parameters["attraction"] == pytest.approx(both[1].parameters["attraction"], abs=0.02)


def test_a_short_log_draws_it_to_the_position_based_model() -> None:
    world, apart = World(PBM(), {"examination": 1 / np.arange(1.0, RANKS + 1)}), []
    for seed in range(6):
        sessions, slots = world.sessions(300, seed), world.slates(2000, 5)
        pbm, ubm = (
            model.law(model.learn(model.from_sessions(sessions)).parameters, slots).marginal()
            for model in (PBM(), UBM())
        )
        apart.append(float(np.abs(pbm - ubm).max()))
    assert np.mean(apart) < 0.01  # 0.02 where each cell is as free as its rank


def test_cells_that_never_came_up_are_examined_as_their_rank() -> None:
    sessions = WORLD.sessions(20_000, 0)
    click = sessions.click.copy()
    click[:, 1] = 0
    counts = UBM().from_sessions(type(sessions)(sessions.document, click, sessions.weight, sessions.documents))
    after_second = browsing_cell(np.arange(2, RANKS), np.full(RANKS - 2, 2))
    assert counts.by_cell()[0][after_second].sum() == 0
    found, shown, rank = (
        UBM().learn(counts).parameters["examination"],
        counts.by_cell()[0],
        rank_of(np.arange(len(CELLS))),
    )
    ranks = np.bincount(rank, shown * found) / np.bincount(rank, shown)
    # As their ranks' click rates, which are drawn to a power of the rank: .025 apart.
    assert found[after_second] == pytest.approx(ranks[2:], rel=0.02)


def test_it_has_no_curve_of_examination() -> None:
    assert UBM().examination(TABLES) is None


def test_one_rank() -> None:
    world = World(UBM(), {"examination": CELLS})
    sessions = world.sessions(500, 0)
    first = type(sessions)(sessions.document[:, :1], sessions.click[:, :1], sessions.weight, sessions.documents)
    learnt = UBM().learn(UBM().from_sessions(first))
    assert learnt.parameters["examination"].tolist() == [1]
    assert np.isfinite(learnt.parameters["attraction"]).all()
