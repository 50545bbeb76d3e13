"""The toy world of paper interpol, appendix B: bias and variance of INTERPOL, exactly.

Ten items, four of them relevant, all shown. The base ranking stays with probability 1 - b, else
the order is uniform, so only the 10 * 9 * 8 * 7 placements of the relevant items matter. Given the
placement clicks are independent, each with the probability that its rank is looked at.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations

import numpy as np
import pytest

from offrank.estimators import Interpol
from offrank.log.batch import Contexts, Floats, Integers, LogBatch, Shown
from offrank.policies import policy, propensities

BASE = (6, 0, 3, 1, 4, 8, 9, 7, 5, 2)
TARGET = (7, 0, 3, 1, 5, 6, 8, 9, 2, 4)
RELEVANT = (1, 2, 4, 7)
LOOKED_AT = np.arange(10, 0, -1) / 10
STAY = 0.95
N = 5000
TRUTH = 2.0

#: window: (bias, 10^4 variance) with the examination curve to the powers .2, 1 and 1.8
TABLE = {
    0: ((0, 487.5), (0, 487.5), (0, 487.5)),
    1: ((-0.0871, 203.7), (0, 207.7), (0.1690, 222.4)),
    2: ((-0.0922, 139.7), (0, 146.6), (0.2063, 172.1)),
    3: ((-0.0995, 108.5), (0, 117.9), (0.2567, 155.0)),
    4: ((-0.1102, 89.89), (0, 102.1), (0.3232, 154.8)),
    5: ((0.0243, 48.93), (0, 83.11), (0.3874, 163.7)),
    6: ((-0.0200, 40.37), (0, 79.46), (0.5105, 202.1)),
    7: ((-0.3670, 1.600), (0, 5.817), (1.662, 35.39)),
    8: ((-0.3635, 1.593), (0, 5.789), (1.666, 35.56)),
    9: ((-0.3636, 1.587), (0, 5.827), (1.687, 39.27)),
    10: ((-0.3636, 1.587), (0, 5.827), (1.687, 39.27)),
}
#: 10^4 mean squared error of the windowed form for power 1.8 and windows 1 to 4, cut to whole numbers
WINDOWED = (420, 402, 423, 467)
CASES = [(w, x, *found) for w, row in TABLE.items() for x, found in zip((0.2, 1.0, 1.8), row, strict=True)]


def placements() -> Integers:
    """[1 + 5040, 10] slates: the base ranking, then every placement of the relevant items."""
    others = [item for item in range(10) if item not in RELEVANT]
    slates = [BASE]
    for ranks in permutations(range(10), 4):
        slate, rest = dict(zip(ranks, RELEVANT, strict=True)), iter(others)
        slates.append(tuple(slate[rank] if rank in slate else next(rest) for rank in range(10)))
    return np.array(slates)


@cache
def world() -> tuple[LogBatch, Shown, Shown, Floats, Floats]:
    """The log, both policies, the probability of each row and of a click in each slot."""
    slates = placements()
    n = len(slates)
    rankings = {"base": np.tile(BASE, (n, 1)), "target": np.tile(TARGET, (n, 1))}
    contexts = Contexts(np.tile(np.arange(10), (n, 1)), np.full(n, 10), np.full(n, 10), rankings=rankings)
    clicks = np.where(np.isin(slates, RELEVANT), LOOKED_AT, 0.0)
    log = LogBatch(contexts, Shown(slates), clicks, None, np.ones(n), np.arange(n, dtype=np.uint64))
    shuffled = (1 - STAY) * 10 / 9
    law = np.full(n, shuffled / (n - 1))
    law[0] = 1 - shuffled
    logging, target = policy(f"swaps(ranking(base), {STAY})"), policy("ranking(target)")
    return log, propensities(logging, log), propensities(target, log), law, clicks


def bias_and_variance(estimator: Interpol) -> tuple[float, float]:
    """Of the mean of N impressions."""
    log, logging, target, law, clicks = world()
    weight = estimator.weigh(log, logging, target).weight
    given = np.einsum("nk,nk->n", weight, clicks)
    within = np.einsum("nk,nk->n", weight**2, clicks * (1 - clicks))
    mean = law @ given
    return mean - TRUTH, (law @ (within + given**2) - mean**2) / N


@pytest.mark.parametrize(("window", "power", "bias", "variance"), CASES)
def test_bias_and_variance(window: int, power: float, bias: float, variance: float) -> None:
    found = bias_and_variance(Interpol(window=window, examination=tuple(LOOKED_AT**power)))
    assert found[0] == pytest.approx(bias, abs=0.00051 if abs(bias) > 1 else 0.000051)
    assert 1e4 * found[1] == pytest.approx(variance, rel=5.1e-4)


@pytest.mark.parametrize("window", [1, 2, 3, 4])
def test_the_windowed_form_errs_less_with_a_steep_curve(window: int) -> None:
    curve = tuple(LOOKED_AT**1.8)
    bias, variance = bias_and_variance(Interpol(window=window, form="windowed", examination=curve))
    assert 1e4 * (bias**2 + variance) == pytest.approx(WINDOWED[window - 1], abs=1)


@pytest.mark.parametrize("form", ["paper", "windowed"])
@pytest.mark.parametrize("window", range(11))
def test_no_bias_with_the_right_curve(window: int, form: str) -> None:
    curve = tuple(LOOKED_AT)
    bias, _ = bias_and_variance(Interpol(window=window, form=form, examination=curve))  # type: ignore[arg-type]
    assert bias == pytest.approx(0, abs=1e-12)
