"""What drew a log, where propensities are written that cannot be true, and where arms are told without repeats."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.checks.drawn import Drawn
from offrank.checks.logged_by import logged_by
from offrank.checks.propensities import Claimed
from offrank.checks.randomness import Randomness
from offrank.findings.evidence import LogEvidence
from offrank.policies.top import Top

WRITTEN = ("propensity",)
SORTED = [Drawn(Top("score"), 0.0, 0.0)]
UNKNOWN, FIXED = Randomness("unknown"), Randomness("not random", "user", None, 100, 0)
LIMIT = math.log(1e-3)


@pytest.mark.parametrize(("certain", "status"), [(50, "not random"), (49, "written")])
def test_propensities_of_one_say_that_nothing_was_drawn(certain: int, status: str) -> None:
    assert logged_by(UNKNOWN, [], LogEvidence(), WRITTEN, None, Claimed(50, certain, 0.0)).status == status


@pytest.mark.parametrize(("likelihood", "status"), [(LIMIT - 0.01, "refuted"), (LIMIT + 0.01, "written")])
def test_a_sorting_policy_belies_them_where_they_make_the_log_unlikely(likelihood: float, status: str) -> None:
    found = logged_by(UNKNOWN, SORTED, LogEvidence(), WRITTEN, None, Claimed(50, 0, likelihood))
    assert found.status == status


@pytest.mark.parametrize(("each", "status"), [(LIMIT / 100 - 1e-4, "refuted"), (LIMIT / 100 + 1e-4, "written")])
def test_rows_that_never_differ_belie_them(each: float, status: str) -> None:
    found = logged_by(FIXED, [], LogEvidence(), WRITTEN, None, Claimed(50, 0, 50 * each))
    assert found.status == status


def test_rows_that_never_differ_within_an_arm_may_be_drawn_with_it() -> None:
    arms = Randomness("not random", "user", "variant", 100, 0)
    assert logged_by(arms, [], LogEvidence(), WRITTEN, None, Claimed(50, 0, 50 * math.log(0.5))).status == "written"


def test_copies_of_rows_are_no_pairs() -> None:
    claimed = Claimed(50, 0, 50 * LIMIT / 99)
    assert logged_by(FIXED, [], LogEvidence(), WRITTEN, None, claimed).status == "refuted"
    assert logged_by(FIXED, [], LogEvidence(copies=0.5), WRITTEN, None, claimed).status != "refuted"


def two_rankers(lists: int, *, exception: bool = False) -> pa.Table:
    """A log of two sorting rankers, of candidates that never come twice. exception: the first list is turned."""
    rng = np.random.default_rng(5)
    made = []
    for number in range(lists):
        one, other = rng.permutation(6), rng.permutation(6)
        order = np.argsort(-(other if number % 2 else one))
        order = order[::-1] if exception and not number else order
        made.append(
            {
                "slate": [int(item) for item in 6 * number + order],
                "clicks": [int(flag) for flag in rng.random(6) < 0.3],
                "variant": "AB"[number % 2],
                "one": one[order].tolist(),
                "other": other[order].tolist(),
            }
        )
    return pa.Table.from_pylist(made)


def test_arms_are_told_though_no_context_comes_twice() -> None:
    found = offrank.inspect(two_rankers(80)).logging
    assert (found.status, found.column, dict(found.arms)) == ("arms", "variant", {"A": "top(one)", "B": "top(other)"})
    assert "`variant`" in found.why


@pytest.mark.parametrize(("lists", "exception"), [(58, False), (80, True)])
def test_arms_need_rows_and_no_exception(lists: int, exception: bool) -> None:
    assert offrank.inspect(two_rankers(lists, exception=exception)).logging.status == "unknown"


def test_sixty_lists_are_enough() -> None:
    assert offrank.inspect(two_rankers(60)).logging.status == "arms"
