"""No number that is none, and none that cannot be squared, reaches an estimate: an error says which row, and why."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.errors import ImpossibleSlateError, NoOverlapError, OffrankError, RowError, UsageError
from offrank.metrics import Measured
from offrank.sums import Estimate

ROWS, ODD = 60, 7
LOGIT = "plackett_luce(logit, log=True)"


def table(usual: Any = None, **odd: Any) -> pa.Table:
    """Item 0 or 1 alone was shown, by the toss of a fair coin; row ODD has other values in the columns named.

    usual: what the other rows have in columns of which there are none otherwise.
    """
    item = np.arange(ROWS) % 2
    columns: dict[str, list[Any]] = {
        "slate": [[int(i)] for i in item],
        "candidates": [[0, 1]] * ROWS,
        "clicks": [[1.0]] * ROWS,
        "propensity": [0.5] * ROWS,
        "logit": [[0.0, 0.0]] * ROWS,
    }
    for name, value in odd.items():
        columns.setdefault(name, [usual] * ROWS)[ODD] = value
    return pa.table(columns)


def told(log: pa.Table, estimators: Any, logging: str = "logged", target: str = "uniform", **options: Any) -> str:
    with pytest.raises(OffrankError) as caught:
        offrank.evaluate(log, target, logging, estimators, **options)
    assert re.search(rf"row {ODD}\b", str(caught.value))
    assert caught.value.remedy
    return f"{type(caught.value).__name__} {caught.value}"


@pytest.mark.parametrize("column", ["propensity", "inclusion"])
@pytest.mark.parametrize("value", [5e-324, 2e-308, 9.99e-301])
def test_a_probability_too_small_to_divide_by_breaks_a_rule(column: str, value: float) -> None:
    log = table(1.0, **{column: value})
    with pytest.raises(RowError, match="tiny-probability") as caught:
        offrank.evaluate(log, "uniform")
    error = caught.value
    assert (error.file, error.row, error.column, error.rule) == ("table", ODD, column, "tiny-probability")
    kept = offrank.evaluate(offrank.read_log(log, invalid="skip"), "uniform")
    assert kept.facts["log"]["skipped"] == {"tiny-probability": 1}
    assert kept["ips"].n == ROWS - 1


@pytest.mark.parametrize("value", [0.0, -1e-320, 1.5, math.nan])
def test_what_is_no_probability_breaks_the_other_rule(value: float) -> None:
    assert "bad-propensity" in told(table(propensity=value), "ips")


def test_a_probability_that_can_be_divided_by_keeps_the_rule() -> None:
    found = offrank.evaluate(table(propensity=1e-300), "uniform", "logged", "clip(ips, 10)")["clip(ips, 10)"]
    assert found.value == pytest.approx((ROWS - 1 + 10) / ROWS)  # all weights are 1, but one is cut to 10


@pytest.mark.parametrize(("diagonal", "broken"), [(9.9e-301, True), (1e-300, False)])
def test_probabilities_of_ranks_keep_the_same_bound(diagonal: float, broken: bool) -> None:
    log = table().append_column(
        "rank_propensity", pa.array([[[0.5]]] * ODD + [[[diagonal]]] + [[[0.5]]] * (ROWS - ODD - 1))
    )
    if broken:
        assert "bad-rank-propensity" in told(log, "ipm")
    else:
        assert offrank.evaluate(log, "uniform", "logged", "clip(ipm, 10)")["clip(ipm, 10)"].value > 1


@pytest.mark.parametrize("estimators", ["ips", "snips", "rips", "ipm", "interpol(window=0)"])
def test_weights_that_cannot_be_squared_are_refused_with_their_row(estimators: str) -> None:
    logits = {"logit": [0.0, 0.0]}
    assert offrank.evaluate(table(**logits), "uniform", LOGIT, estimators)  # the usual row is fine
    # Item 1 was shown in row 7, with probability e^-400 or e^-800: the weight is 1e173, or more than there are numbers.
    for logit in (400.0, 800.0):
        error = told(table(logit=[logit, 0.0]), estimators, LOGIT)
        assert error.startswith("ImpossibleSlateError table, row 7")
        assert repr(offrank.policies.policy(LOGIT)) in error


@pytest.mark.parametrize(("inclusion", "fine"), [(1e-70, True), (0.99e-70, False)])
def test_the_smallest_inclusion(inclusion: float, fine: bool) -> None:
    log = table(1.0, inclusion=inclusion)
    if fine:
        assert np.isfinite(offrank.evaluate(log, "uniform")["ips"].value)
    else:
        assert "[tiny-probability]" in told(log, ["ips"])


@pytest.mark.parametrize(("propensity", "fine"), [(0.5e-149, True), (0.5e-151, False)])
def test_the_largest_weight(propensity: float, fine: bool) -> None:
    log = table(propensity=propensity)  # the weights are 1, but one is 1e149 or 1e151
    if not fine:
        assert "gives the logged slate the weight 1e+151 for uniform, because its" in told(log, ["ips"])
        return
    found = offrank.evaluate(log, "uniform")
    assert found["ips"].value == pytest.approx(1e149 / ROWS)
    assert found["ips"].ess == pytest.approx(1)
    assert np.isfinite([found["ips"].standard_error, found["snips"].value]).all()
    assert np.isposinf(found["snips"].standard_error), "one row has all the weight"
    assert not found["ips"].trustworthy
    assert not found["snips"].trustworthy


@pytest.mark.parametrize(
    ("odd", "column"),
    [
        ({"reward": 1e155, "usual": 1.0}, "reward"),
        ({"reward": -1e155, "usual": 1.0}, "reward"),
        ({"clicks": [1e160]}, "clicks"),
        ({"inclusion": 1e-60, "reward": 1e100, "usual": 1.0}, "reward"),
    ],
)
def test_outcomes_that_cannot_be_squared_are_refused_with_their_row(odd: dict[str, Any], column: str) -> None:
    with pytest.raises(RowError, match="too-large") as caught:
        offrank.evaluate(table(**odd), "uniform")
    assert (caught.value.row, caught.value.column) == (ODD, column)


def test_a_reward_times_its_weight_is_an_outcome() -> None:
    error = told(table(reward=1e100, propensity=0.5e-100, usual=1.0), "ips")
    assert "column 'reward': 1e+200 is beyond 1e150" in error


@pytest.mark.parametrize("estimator", ["ips", "clip(ips, 10)", "clip(snips, 10)", "rips", "ipm"])
def test_weights_whose_squares_vanish_are_no_overlap(estimator: str) -> None:
    # The target draws what was shown with probability e^-400 everywhere: 1e-174, whose square is 0.
    log = table()
    log = log.append_column("far", pa.array([[-400.0, 0.0] if row % 2 == 0 else [0.0, -400.0] for row in range(ROWS)]))
    with pytest.raises(NoOverlapError):
        offrank.evaluate(log, "plackett_luce(far, log=True)", LOGIT, estimator)


@pytest.mark.parametrize("curve", [(1, 1e-310), (1, 1e-51), (1e51, 1), (1, 0), (1, math.inf), (1, math.nan), (1, -1)])
def test_a_curve_of_numbers_that_none_can_be_is_refused(curve: tuple[float, ...]) -> None:
    for estimator in ("pbm", "interpol(window=1)", "interpol(window=slope)"):
        with pytest.raises(UsageError, match="examination is"):
            offrank.evaluate(table(), "uniform", LOGIT, estimator, examination=curve)


def test_what_is_no_number_is_not_trustworthy() -> None:
    for value, expected in ((1.0, True), (math.nan, False), (math.inf, False), (-math.inf, False)):
        assert Estimate(value, 0, 2, 0.1, 9, 9, 1.0, 0.1).trustworthy is expected
        assert Measured(value, 0, 2, 0.1, 9, 9, 0.1, 9).trustworthy is expected


def test_partitions_agree_on_what_is_refused() -> None:
    batches = table(propensity=0.5e-151).to_batches(max_chunksize=5)
    with pytest.raises(ImpossibleSlateError, match=f"row {ODD} "):
        offrank.evaluate(pa.Table.from_batches(batches), "uniform")


def test_an_infinite_weight_of_no_reward_is_refused_with_its_row_without_a_warning() -> None:
    """exp(log target - log logging) overflows: the logging policy put the 200 items in exactly the other order."""
    logits = [40.0 - 0.4 * at for at in range(200)]
    row = {"slate": list(range(200)), "reward": 0.0, "candidates": list(range(200)), "old": logits[::-1], "new": logits}
    with pytest.raises(ImpossibleSlateError, match=r"row 0 .*the weight inf"):
        offrank.evaluate(
            [row],
            target="plackett_luce(new, log=True)",
            logging="plackett_luce(old, log=True)",
            estimators=["ips"],
        )


@pytest.mark.parametrize("reward", [1e20, -1e20])
def test_a_reward_that_overflows_with_its_weight_is_refused_without_a_warning(reward: float) -> None:
    assert "gives the logged slate the weight 5e+299" in told(table(1.0, propensity=1e-300, reward=reward), ["ips"])
