"""A user who is in one arm by design repeats its lists; a list that is kept for the user is found all the same."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import offrank

USERS, VISITS, ITEMS = 40, 10, 4
N = USERS * VISITS
LAW = "balanced(by(arm, {A: plackett_luce(a), B: plackett_luce(b)}))"
LIKES = {"a": [12.0, 3.0, 1.0, 1.0], "b": [1.0, 1.0, 3.0, 12.0]}


@pytest.mark.parametrize(("kept", "found"), [(False, False), (True, True)])
def test_repeats_of_a_user_are_judged_by_the_arm_that_served(kept: bool, found: bool) -> None:
    rng = np.random.default_rng(4)
    user = np.repeat(np.arange(USERS), VISITS)
    arm = np.array(["A", "B"])[user % 2]
    draws = [
        rng.choice(ITEMS, 2, replace=False, p=np.array(LIKES["ab"[one % 2]]) / 17) for one in user
    ]  # Plackett and Luce's law, drawn item by item
    slate = [draws[row // VISITS * VISITS] for row in range(N)] if kept else draws
    table = pa.table(
        {
            "user": user,
            "arm": arm,
            "slate": [one.tolist() for one in slate],
            "candidates": [list(range(ITEMS))] * N,
            "clicks": (rng.random((N, 2)) < 0.3).astype(float).tolist(),
            **{name: [values] * N for name, values in LIKES.items()},
        }
    )
    result = offrank.evaluate(table, "uniform", LAW, "snips")
    assert ("not-random" in {one.code for one in result.about_log}) is found
