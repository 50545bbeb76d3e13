"""What refutes the logging policy in one group of a log binds every estimate of that group that depends on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from tests.verbs.logs import coins, dice, replaced

ESTIMATORS = ["ips", "snips", "clip(snips, 1.5)", "logged"]


def shops(rows: int = 3_000, wrong: float = 1.0) -> pa.Table:
    """Ten shops; in the third one the propensities are `wrong` times the right ones."""
    log, shop = dice(rows), np.arange(rows) % 10
    right = np.array(log["propensity"].to_pylist())
    return replaced(log, shop=[f"shop {one}" for one in shop], propensity=np.where(shop == 3, wrong * right, right))


def said(log: Any, **how: Any) -> dict[tuple[str, str], str]:
    """(group, estimator) -> how severe what is said of the mean weight is."""
    found = offrank.evaluate(log, "uniform", "logged", ESTIMATORS, by="shop", cluster=None, **how)
    return {
        (placed.group, placed.estimator): placed.severity
        for placed in found.findings
        if placed.code == "mean-weight" and placed.group and placed.estimator
    }


def by_law(log: Any, target: str = "uniform") -> list[str]:
    """The groups of which the logging policy is refuted."""
    found = offrank.evaluate(log, target, "logged", ["snips"], by="shop", cluster=None)
    return [str(one.group) for one in found.findings if one.caution.message.startswith("In this group")]


def test_a_group_with_wrong_propensities_binds_its_estimates_alone() -> None:
    log = shops(wrong=0.6)
    assert said(log) == {("shop 3", name): "serious" for name in ESTIMATORS[:3]}
    found = offrank.evaluate(log, "uniform", "logged", ESTIMATORS, by="shop", cluster=None)
    part = found.groups["shop 3"]
    assert [one.trustworthy for one in part.given.values()] == [False, False, False, True]
    assert "In this group" in str(part["snips"].warnings[0])
    assert all(one.trustworthy for one in found.groups["shop 4"].given.values())


def test_healthy_groups_have_no_finding() -> None:
    assert said(shops()) == {}
    assert by_law(shops(wrong=0.6)) == ["shop 3"]


def test_groups_of_a_few_equal_weights_prove_nothing() -> None:
    """Ten rows of one weight each have no standard error; among 300 groups some are so by chance."""
    rows = 3_000
    log = coins(rows, shop=[f"{n % 300}" for n in range(rows)])
    log = replaced(log, best=[[1]] * rows, propensity=np.full(rows, 0.5))
    assert not by_law(log, "ranking(best)")


@pytest.mark.parametrize("copies", [1, 20])
def test_copies_of_rows_are_no_further_evidence(copies: int) -> None:
    log = shops(300, wrong=0.7)
    assert not by_law(pa.concat_tables([log] * copies))
