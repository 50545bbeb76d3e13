"""One test of one rule: everything that breaks it is told at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


def offenders(among: Iterable[T], check: Callable[[T], Any], called: Callable[[T], str] = str) -> dict[str, str]:
    """What breaks a rule, by its name, and how: `check` fails on it. called: its name."""
    every, found = list(among), {}
    assert every, "nothing is looked at"
    for one in every:
        try:
            check(one)
        except (AssertionError, AttributeError, KeyError) as error:
            found[called(one)] = str(error)
    return found
