"""Rows with a choice of one option each: read where that is clear, else the exact option is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.inspection.unread_table import UnreadTable

N = 1500
RNG = np.random.default_rng(6)
SHARES = np.array([0.4, 0.3, 0.2, 0.1])
CHOSEN = RNG.choice(4, N, p=SHARES)
PROB, NAME = SHARES[CHOSEN], np.array(list("abcd"))[CHOSEN]
BOUGHT, EARNED = RNG.integers(0, 2, N), RNG.normal(size=N)
CLEAR: dict[str, dict[str, Any]] = {
    "router(chosen=action, reward=reward, propensity=p)": {"action": CHOSEN, "p": PROB, "reward": BOUGHT},
    "router(chosen=arm, reward=revenue, propensity=prob)": {
        "age": EARNED,
        "arm": NAME,
        "prob": PROB,
        "revenue": EARNED,
    },
    "router(chosen=creative, reward=converted, propensity=pscore)": {
        "user": RNG.integers(0, 90, N),
        "creative": NAME,
        "pscore": PROB,
        "converted": BOUGHT,
    },
    "router(chosen=placement, reward=installed, propensity=probability)": {
        "placement": NAME,
        "probability": PROB,
        "installed": BOUGHT.astype(bool),
    },
}


@pytest.mark.parametrize("spelled", CLEAR)
def test_clear_choices_are_read_without_an_id(spelled: str) -> None:
    found = offrank.inspect(pa.table(CLEAR[spelled]))
    assert (found.format, found.logging.status) == (spelled, "written")


def test_rows_that_may_belong_together_are_asked_about() -> None:
    rows = pa.table({"session": np.arange(N) // 3, "variant": NAME, "pscore": PROB, "purchased": BOUGHT})
    found = offrank.inspect(rows)
    assert isinstance(found, UnreadTable)
    assert "use format='router(chosen=variant, reward=purchased, propensity=pscore)'" in found.why


def test_a_choice_without_its_probability_asks_for_it() -> None:
    found = offrank.inspect(pa.table({"variant": NAME, "purchased": BOUGHT}))
    assert "router(chosen=variant, reward=purchased, propensity=NAME)" in found.why


def routed(most: int) -> pa.Table:
    """A router that draws from some of four models, two at least; most: how many it has at most."""
    options = [RNG.permutation(4)[: RNG.integers(2, most + 1)] for _ in range(N)]
    shares = [RNG.dirichlet(np.full(len(one), 3.0)) for one in options]
    at = [RNG.choice(len(one), p=one) for one in shares]
    model = [f"m{one[place]}" for one, place in zip(options, at, strict=True)]
    prob = [one[place] for one, place in zip(shares, at, strict=True)]
    pool = [[f"m{code}" for code in one] for one in options]
    return pa.table({"id": np.arange(N), "model": model, "propensity": prob, "reward": EARNED, "pool": pool})


def test_options_that_differ_from_row_to_row_are_asked_for() -> None:
    rows = routed(most=3)
    found = offrank.inspect(rows.drop_columns("pool"))
    assert isinstance(found, UnreadTable)
    assert "router(chosen=model, reward=reward, propensity=propensity, candidates=NAME)" in found.why
    listed = offrank.inspect(rows, format="router(candidates=pool)")
    assert listed.logging.status in ("written", "written, not tested")


def test_propensities_that_are_too_small_are_refuted_whatever_the_options_are() -> None:
    rows = pa.table({"id": np.arange(N), "model": NAME, "propensity": PROB / 3, "reward": EARNED})
    assert offrank.inspect(rows).logging.status == "refuted"
