"""How often 95 and 99 % intervals hold the truth, in a log that keeps a tenth of the rows without click."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from offrank.inference import Inference
from offrank.policies import policy
from offrank.sums import Mean, MomentsFold, Sample, ratio
from offrank.sums.estimate import Interval
from offrank_testing import Situation, law
from tests.inference.numbered import numbered

REPEATS, IMPRESSIONS, KEPT = 800, 4000, 0.1
HERE = Situation(4, 2, {"old": (3.0, 2.0, 1.0, 1.0), "new": (1.0, 1.0, 2.0, 3.0)})
DRAWN, WANTED = law(policy("plackett_luce(old)"), HERE), law(policy("plackett_luce(new)"), HERE)
SLATES = list(DRAWN)
CHANCE = np.array([DRAWN[slate] for slate in SLATES])
WEIGHT = np.array([WANTED[slate] / DRAWN[slate] for slate in SLATES])
CLICK = np.array([0.02 + 0.02 * slate[0] + 0.01 * slate[1] for slate in SLATES])
TRUTH = float((CHANCE * WEIGHT * CLICK).sum())


def interval(rng: np.random.Generator, mean: Mean, confidence: float) -> tuple[Interval, int]:
    """SNIPS or IPS of one simulated log with its normal interval, and the rows that were kept."""
    drawn = rng.choice(len(SLATES), IMPRESSIONS, p=CHANCE)
    click = rng.random(IMPRESSIONS) < CLICK[drawn]
    kept = click | (rng.random(IMPRESSIONS) < KEPT)
    h = np.where(click, 1.0, 1 / KEPT)[kept]
    w = WEIGHT[drawn][kept]
    fold = MomentsFold()
    sample = Sample.of(np.column_stack([h, h * w * click[kept], h * w]), np.arange(len(h), dtype=np.uint64))
    return Inference(numbered(fold.of(sample)), "normal", confidence).interval(mean), len(h)


@cache
def intervals(bottom: int, confidence: float) -> list[tuple[Interval, int]]:
    rng = np.random.default_rng(20)
    return [interval(rng, ratio(1, bottom), confidence) for _ in range(REPEATS)]


@pytest.mark.parametrize("confidence", [0.95, 0.99])
@pytest.mark.parametrize("bottom", [0, 2], ids=["ips", "snips"])
def test_coverage_is_nominal(bottom: int, confidence: float) -> None:
    covered = [found.low <= TRUTH <= found.high for found, _ in intervals(bottom, confidence)]
    assert np.mean(covered) == pytest.approx(confidence, abs=0.02)


def test_the_error_is_that_of_the_repetitions() -> None:
    found = [interval for interval, _ in intervals(2, 0.95)]
    spread = np.std([interval.value for interval in found], ddof=1)
    assert np.mean([interval.standard_error for interval in found]) == pytest.approx(spread, rel=0.08)
    assert np.mean([interval.value for interval in found]) == pytest.approx(TRUTH, abs=4 * spread / math.sqrt(REPEATS))


def test_one_more_root_n_would_cover_next_to_nothing() -> None:
    covered = [abs(found.value - TRUTH) <= (found.high - found.value) / math.sqrt(n) for found, n in intervals(2, 0.99)]
    assert np.mean(covered) < 0.15
