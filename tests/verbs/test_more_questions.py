"""More estimators never lower the trust in an answer; the order in which they are asked changes nothing."""

from __future__ import annotations

from functools import cache
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest

import offrank

ROWS, QUERIES, ITEMS, SLOTS = 2000, 40, 5, 2
CURVE = np.array([1.0, 0.6])
SETS = [
    ("ips",),
    ("snips",),
    ("ipm",),
    ("ips", "snips"),
    ("ips", "ipm"),
    ("snips", "clip(ips, 10)"),
    ("snips", "ipm", "snipm"),
    ("ips", "snips", "clip(ips, 10)"),
    ("ips", "snips", "rips", "snrips", "ipm", "snipm"),
    ("ips", "snips", "rips", "snrips", "ipm", "snipm", "clip(ips, 10)", "controlled(ips)"),
]
TRUST = ["none", "with care", "sound"]


def log(seed: int) -> pa.Table:
    """Position-based users, of whom the new scores know something: the log is by Plackett-Luce of the old ones."""
    rng = np.random.default_rng(seed)
    relevance = rng.beta(1, 2, size=(QUERIES, ITEMS))
    old, noise = np.exp(0.7 * rng.normal(size=(2, QUERIES, ITEMS)))
    query = rng.integers(QUERIES, size=ROWS)
    slate = (rng.exponential(size=(ROWS, ITEMS)) / old[query]).argsort(axis=1, kind="stable")[:, :SLOTS]
    clicks = rng.random((ROWS, SLOTS)) < CURVE * np.take_along_axis(relevance[query], slate, axis=1)
    columns = {
        "slate": slate,
        "candidates": np.broadcast_to(np.arange(ITEMS), (ROWS, ITEMS)),
        "clicks": clicks.astype(float),
        "old_score": old[query],
        "new_score": (noise * relevance)[query],
    }
    return pa.table({name: list(values) for name, values in columns.items()})


@cache
def answers(seed: int) -> dict[tuple[str, ...], offrank.Verdict]:
    made, question = log(seed), ("plackett_luce(new_score)", "plackett_luce(old_score)")
    return {asked: offrank.evaluate(made, *question, list(asked)).verdict for asked in SETS}


def said(found: offrank.Verdict) -> dict[str, str | float | None]:
    """What a verdict says, its numbers up to their last digits."""
    assert found.difference is not None
    ends = {"low": found.difference.low, "high": found.difference.high}
    return {"decision": found.decision, "trust": found.trust, "by": found.estimator, "held": found.anchor_name, **ends}


@pytest.mark.turns(3)
@pytest.mark.parametrize("seed", range(3))
def test_more_estimators_never_lower_the_trust(seed: int) -> None:
    found = answers(seed)
    pairs = [(few, more) for few, more in permutations(SETS, 2) if set(few) < set(more)]
    assert len(pairs) > 20
    for few, more in pairs:
        assert TRUST.index(found[more].trust) >= TRUST.index(found[few].trust), (few, more)


@pytest.mark.parametrize("seed", range(3))
def test_a_bounded_estimate_beside_the_default_changes_nothing(seed: int) -> None:
    found = answers(seed)
    assert said(found["snips", "clip(ips, 10)"]) == pytest.approx(said(found["snips",]))


@pytest.mark.parametrize("seed", range(3))
def test_the_self_normalised_form_is_what_others_are_held_to(seed: int) -> None:
    found = answers(seed)
    assert said(found["ips", "snips"]) == pytest.approx(said(found["snips",]))
    alone, both = found["ips",], found["ips", "snips"]
    assert (alone.estimator, alone.anchor_name, both.estimator) == ("ips", "snips", "snips")
    assert alone.difference is not None
    assert both.difference is not None
    assert alone.difference.low <= both.difference.low < both.difference.high <= alone.difference.high
    assert found["ips", "ipm"].anchor_name == "snips"


def test_the_order_of_estimators_changes_nothing() -> None:
    question = (log(0), "plackett_luce(new_score)", "plackett_luce(old_score)")
    assert said(offrank.evaluate(*question, list(SETS[-1][::-1])).verdict) == pytest.approx(said(answers(0)[SETS[-1]]))


def test_a_narrower_estimate_is_widened_by_its_distance_to_the_anchor() -> None:
    result = offrank.evaluate(log(0), "plackett_luce(new_score)", "plackett_luce(old_score)", ["snips", "ipm"])
    verdict, anchor, own = result.verdict, result["snips"], result["ipm"]
    shift = anchor.value - own.value
    assert (verdict.estimator, verdict.anchor_name) == ("ipm", "snips")
    assert verdict.value is not None
    assert verdict.value.value == own.value
    assert verdict.value.low == pytest.approx(own.low + min(shift, 0))
    assert verdict.value.high == pytest.approx(own.high + max(shift, 0))
