"""The page on INTERPOL: golden numbers, the verdict on each claim, and the same again for the same seed."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from offrank.papers import interpol, reproduce
from offrank.papers.interpol_numbers import POWERS, STAYS, Exact, Simulated
from offrank.report.sheet import Sheet

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

STATUSES = {
    "The expected reward of the target policy": "reproduced",
    "Proposition 4.1": "reproduced",
    "As the window grows": "in part",
    "For all levels of misspecification": "reproduced",
    "Powers below 1 act as weight clipping": "in part",
    "There is a region around windows 1 to 6": "in part",
    "Even with the right curve": "reproduced",
    "A window between 2 and 6 is favourable": "in part",
    "For stronger randomisation": "reproduced",
    "For a window larger than 2": "in part",
    "With a misspecified curve": "reproduced",
    "The IPM has a higher variance": "reproduced",
    "The PBM with the right curve": "reproduced",
    "The simulated estimates": "reproduced",
    "Windowed: As the window grows": "in part",
    "Windowed: There is a region": "in part",
    "Windowed: Even with the right curve": "not reproduced",
    "Windowed: A window between 2 and 6": "reproduced",
    "Windowed: For stronger randomisation": "in part",
    "Windowed: For a window larger than 2": "reproduced",
}


@cache
def page() -> Sheet:
    return interpol.sheet(scale=0.15, seed=4, say=len)


@pytest.mark.parametrize("window", GOLDEN)
@pytest.mark.parametrize(("place", "power"), [(0, 0.2), (1, 1.0), (2, 1.8)])
def test_golden_values(window: int, place: int, power: float) -> None:
    exact, (variance, squared_error) = Exact("paper"), GOLDEN[window][place]
    assert 1e4 * exact.variance(0.95, power)[window] == pytest.approx(variance, rel=6e-4)
    assert 1e4 * exact.squared_error(0.95, power)[window] == pytest.approx(squared_error, rel=6e-4)


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


def test_each_claim_has_its_verdict() -> None:
    found = {claim.text: claim.status for section in page().sections for claim in section.claims}
    for begins, status in STATUSES.items():
        assert [s for text, s in found.items() if text.startswith(begins)] == [status], begins
    assert set(found.values()) <= {"reproduced", "in part", "not reproduced", "new"}


def test_every_figure_of_the_paper_is_drawn() -> None:
    titles = " ".join(chart.title for section in page().sections for chart in section.charts)
    for figure in ("Figure 1a", "Figure 1b", "Figure 1c", "Figure 2", "Figure 3", "Figure 4"):
        assert figure in titles


def test_it_is_written_and_seeded(tmp_path: Path) -> None:
    made = reproduce("interpol", tmp_path, scale=0.15, seed=4)
    assert made.sheet == page()
    assert Simulated(1, 4).mean(1, 1.0) != Simulated(1, 5).mean(1, 1.0)
    names = {path.name for path in tmp_path.iterdir()}
    assert {"index.html", "result.json", "figure-2-1.svg", "table-9-1.csv"} <= names
    assert "NaN" not in (tmp_path / "result.json").read_text(encoding="utf-8")
    assert "<script" not in made.page.read_text(encoding="utf-8")
    json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))


def test_simulated_variances_are_the_exact_ones() -> None:
    simulated, exact = Simulated(40, 7), Exact("paper")
    for window, power in ((0, 1.0), (3, 0.2), (10, 1.8)):
        expected = float(np.sqrt(exact.variance(0.95, power)[window]))
        assert simulated.deviation(window, power) == pytest.approx(expected, rel=4 / np.sqrt(2 * 40))
