"""Reading and checking of arguments that are numbers; on the command line before what evaluates is imported."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Real

from .. import from_text
from ..errors import UsageError
from ..wording import Option, Wording

TOTALS = ("clicked", "all")
"""The true numbers of impressions that can be told: with a click, and in all. Both test which rows were kept."""


def read_totals(text: str | None) -> dict[str, float] | None:
    """Return true numbers of impressions from their text, checked."""
    return totals(from_text.totals(text))


def totals(given: Mapping[str, float] | None) -> dict[str, float] | None:
    """Return true numbers of impressions, as given.

    Raises:
        UsageError: others than `clicked` and `all`, or impossible numbers.
    """
    if given is None:
        return None
    numbers = list(given.values()) if hasattr(given, "values") else [None]
    real = all(isinstance(one, Real) and not isinstance(one, bool) and 0 <= one < math.inf for one in numbers)
    known = real and len(numbers) > 0 and set(given) <= set(TOTALS)
    if not known or given.get("clicked", 0) > given.get("all", math.inf):
        example = Option("totals", {"clicked": 1200, "all": 50000})
        raise UsageError(
            f"totals is {given!r}", Wording("give the numbers of impressions, clicked and in all: {}", example)
        )
    return {name: given[name] for name in TOTALS if name in given}


def read_range(text: str | None) -> tuple[float, float] | None:
    """Return the smallest and the largest possible reward from their text, checked."""
    return reward_range(from_text.two_numbers(text))


def reward_range(given: object) -> tuple[float, float] | None:
    """Return the smallest and the largest possible reward.

    Raises:
        UsageError: not two numbers, the smaller first.
    """
    if given is None:
        return None
    numbers = [*given] if isinstance(given, Iterable) else []
    real = all(isinstance(one, Real) and math.isfinite(one) for one in numbers)
    if len(numbers) != 2 or not real or not numbers[0] < numbers[1]:
        raise UsageError(f"reward_range is {given!r}", "give the smallest and the largest possible reward: [0, 1]")
    return float(numbers[0]), float(numbers[1])
