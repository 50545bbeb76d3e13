"""The page on INTERPOL: golden numbers, the verdict on each claim, and the same again for the same seed."""

from __future__ import annotations

import json

import numpy as np
import pytest

from offrank import evaluate
from offrank.estimators.items import Interpol
from offrank_papers import interpol
from offrank_papers.expectations import Run
from offrank_papers.interpol_numbers import POWERS, STAYS, Exact, SimulatedLogs, curve
from offrank_papers.registry import Reproduced, reproduce
from offrank_papers.toy import ToyWorld

#: 10^4 variance and 10^4 mean squared error by window, at stay .95 with the curve to the powers .2, 1 and 1.8
GOLDEN = {
    0: ((487.5, 487.5), (487.5, 487.5), (487.5, 487.5)),
    1: ((203.7, 279.6), (207.7, 207.7), (222.4, 508.0)),
    2: ((139.7, 224.8), (146.6, 146.6), (172.1, 597.5)),
    3: ((108.5, 207.4), (117.9, 117.9), (155.0, 814.0)),
    4: ((89.89, 211.4), (102.1, 102.1), (154.8, 1199)),
    5: ((48.93, 54.86), (83.11, 83.11), (163.7, 1664)),
    6: ((40.37, 44.38), (79.46, 79.46), (202.1, 2808)),
    7: ((1.600, 1349), (5.817, 5.817), (35.39, 27646)),
    8: ((1.593, 1323), (5.789, 5.789), (35.56, 27788)),
    9: ((1.587, 1323), (5.827, 5.827), (39.27, 28485)),
    10: ((1.587, 1323), (5.827, 5.827), (39.27, 28485)),
}
BEST_BY_POWER = {0.2: 6, 0.6: 5, 0.8: 5, 1.0: 8, 1.2: 5, 1.4: 2, 1.6: 1, 1.8: 0, 2.0: 0}
#: 10^4 mean squared error of the windowed form at windows 1 to 4, power 1.8
WINDOWED = (420, 402, 423, 467)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Reproduced:
    return reproduce("interpol", tmp_path_factory.mktemp("interpol"), scale="small", seed=4)


@pytest.mark.parametrize(("place", "power"), [(0, 0.2), (1, 1.0), (2, 1.8)])
def test_golden_values(place: int, power: float) -> None:
    exact, golden = Exact("paper"), np.array([GOLDEN[window][place] for window in GOLDEN])
    assert 1e4 * exact.variance(0.95, power) == pytest.approx(golden[:, 0], rel=6e-4)
    assert 1e4 * exact.squared_error(0.95, power) == pytest.approx(golden[:, 1], rel=6e-4)


def test_best_windows() -> None:
    assert {power: Exact("paper").best(0.95, power) for power in POWERS} == BEST_BY_POWER
    by_stay = {stay: Exact("paper").best(stay, 1.8) for stay in STAYS}
    assert by_stay == dict.fromkeys(STAYS, 0) | {0.99: 2}
    windowed = 1e4 * Exact("windowed").squared_error(0.95, 1.8)
    assert windowed[1:5] == pytest.approx(WINDOWED, abs=1)
    assert windowed.argmin() == 2


def test_the_cliff_between_windows_6_and_7() -> None:
    bias, variance = Exact("paper").bias(0.95, 1.8), Exact("paper").variance(0.95, 1.0)
    steps = np.diff(bias)
    assert steps.argmax() == 6
    assert steps[6] == pytest.approx(1.662 - 0.5105, abs=1e-3)
    assert variance[7] < variance[6] / 10


@pytest.mark.turns(3)
def test_each_claim_has_its_verdict(made: Reproduced) -> None:
    claims = [claim for section in made.document.sections for claim in section.claims]
    assert len(claims) == 26
    assert [claim.text for claim in claims if claim.status != claim.recorded] == []
    assert sum(claim.text.startswith("Windowed: ") for claim in claims) == 10
    assert {claim.status for claim in claims} == {"confirmed", "in part", "not confirmed", "new"}


def test_every_figure_of_the_paper_is_drawn(made: Reproduced) -> None:
    titles = " ".join(chart.title for section in made.document.sections for chart in section.charts)
    for figure in ("Figure 1a", "Figure 1b", "Figure 1c", "Figure 2", "Figure 3", "Figure 4"):
        assert figure in titles


@pytest.mark.turns(3)
def test_it_is_written_and_seeded(made: Reproduced) -> None:
    assert interpol.document(Run(scale=0.1, seed=4)) == made.document
    assert SimulatedLogs(1, 4).of(1, 1.0) != SimulatedLogs(1, 5).of(1, 1.0)
    names = {path.name for path in made.folder.iterdir()}
    assert {"index.html", "result.json", "figure-2-1.svg", "table-9-1.csv"} <= names
    text = (made.folder / "result.json").read_text(encoding="utf-8")
    assert "NaN" not in text
    assert "<script" not in made.page.read_text(encoding="utf-8")
    first = json.loads(text)["sections"][0]["claims"][0]
    assert first["confirmed"] == ["expected reward = 2 ± 1e-12"]
    assert "Confirmed if expected reward = 2" in first["evidence"]


def test_simulated_estimates_are_those_of_evaluate() -> None:
    simulated, world = SimulatedLogs(2, 7), ToyWorld(5_000, 0.95, 7 * 100_000 + 1)
    asked = [Interpol(window=window, examination=curve(power)) for window, power in ((0, 1.0), (3, 0.2), (10, 1.8))]
    found = evaluate(world, world.target, world.logging, asked)
    for estimator, (window, power) in zip(asked, ((0, 1.0), (3, 0.2), (10, 1.8)), strict=True):
        value, error = simulated.of(window, power)
        assert value[1] == pytest.approx(found[estimator].value, rel=1e-12)
        # Of what the log shows; rewards too rare for their weights add a quarter of the variance at least.
        whole = found[estimator].standard_error
        assert error[1] == pytest.approx(whole, rel=1e-3) or whole**2 > 1.25 * error[1] ** 2
