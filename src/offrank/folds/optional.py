"""Folds that may be unavailable: columns are missing, or a policy lacks an ability."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import AbilityError
from .base import Fold


@dataclass(frozen=True)
class Unavailable:
    """The reason why a fold could not run."""

    reason: str


@dataclass(frozen=True)
class OptionalFold:
    """A fold whose result is an Unavailable if a policy lacks an ability that it needs."""

    fold: Fold[Any, Any, Any]

    def empty(self) -> Any:
        return self.fold.empty()

    def add(self, state: Any, batch: Any) -> Any:
        return _if_able(self.fold.add, state, batch)

    def merge(self, left: Any, right: Any) -> Any:
        return _if_able(self.fold.merge, left, right)

    def finish(self, state: Any) -> Any:
        return _if_able(self.fold.finish, state)


def _if_able(step: Callable[..., Any], *states: Any) -> Any:
    for state in states:
        if isinstance(state, Unavailable):
            return state
    try:
        return step(*states)
    except AbilityError as error:
        return Unavailable(error.message)


def refused(found: Mapping[str, Any]) -> dict[str, str]:
    """The reasons for the unavailable results, by name."""
    return {name: value.reason for name, value in found.items() if isinstance(value, Unavailable)}


def given(found: Mapping[str, Any]) -> dict[str, Any]:
    """The available results, by name."""
    return {name: value for name, value in found.items() if not isinstance(value, Unavailable)}
