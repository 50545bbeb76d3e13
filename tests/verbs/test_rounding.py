"""What is zero, or a tie, but for rounding: zero and a tie on every processor."""

from __future__ import annotations

import numpy as np
import pytest

import offrank
from tests.verbs.logs import replaced, search

LOGGED = "plackett_luce(old_score)"
NAMES = ["ips", "snips", "snrips", "snipm", "wpi"]


def test_the_logged_policy_earns_what_the_log_does_without_doubt() -> None:
    """Its weights are 1 up to rounding, of which a matrix product would leave a standard error of 1e-10."""
    found = offrank.evaluate(search(), LOGGED, LOGGED, NAMES, cluster=None)
    for name in NAMES:
        assert found[name].difference is not None
        assert (found[name].difference.value, found[name].difference.standard_error) == (0, 0), name
        assert found[name].standard_error > 0.001


@pytest.mark.parametrize("name", ["ips", "snips"])
def test_a_policy_that_hardly_differs_keeps_its_doubt(name: str) -> None:
    """The standard error of a difference is in proportion to the change, down to far below what is lost above."""
    errors = []
    for change in (1e-3, 1e-5):
        target = f"plackett_luce(old_score, temperature={1 + change})"
        difference = offrank.evaluate(search(), target, LOGGED, name, cluster=None)[name].difference
        assert difference is not None
        errors.append(difference.standard_error)
    assert errors[0] / errors[1] == pytest.approx(100, rel=0.02)


def test_weights_of_one_are_in_one_bin() -> None:
    found = offrank.evaluate(search(), LOGGED, LOGGED, NAMES).to_dict()
    for weights in found["weights"]:
        assert len([count for count in weights["counts"] if count]) == 1
        assert weights["edges"][0] <= 1 < weights["edges"][1]


@pytest.mark.parametrize("names", [("user", "session"), ("session", "user")])
def test_of_columns_that_mark_the_same_rows_one_is_named_whatever_their_values(names: tuple[str, str]) -> None:
    rng = np.random.default_rng(0)
    same = rng.integers(0, 300, search().num_rows)
    told = set()
    for factor in (1, 7, 12345):
        one, other = names
        log = replaced(search(), query=None, **{one: same * factor + 3, other: same})
        told.add(offrank.evaluate(log, "uniform", LOGGED, "ips")["ips"].cluster)
    assert len(told) == 1
