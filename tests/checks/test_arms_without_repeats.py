"""Arms of an experiment are told by the rankers that explain their rows, though no context comes twice."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import offrank


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
