"""Folds that may be unavailable: columns are missing, or a policy lacks an ability."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import AbilityError, ColumnError
from ..log.source import Needs, Source
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


class OptionalFolds:
    """The folds that can run over a source. reasons: why others cannot, by name; needs: the columns of all."""

    def __init__(self, source: Source) -> None:
        self.source, self.needs = source, Needs()
        self.folds: dict[str, Any] = {}
        self.reasons: dict[str, str] = {}

    def sure(self, needs: Needs, **folds: Any) -> None:
        """Add folds that any log allows."""
        self.folds |= folds
        self.needs |= needs

    def add(self, name: str, fold: Any, needs: Callable[[], Needs] | None = None) -> bool:
        """Add a fold if it can run, and return whether it can. needs: the columns it reads, by default `fold.needs`."""
        try:
            needed = (needs or fold.needs)()
            self.source.select(needed)
        except (AbilityError, ColumnError) as error:
            self.reasons[name] = error.message
            return False
        self.folds[name] = OptionalFold(fold)
        self.needs |= needed
        return True


def refused(found: Mapping[str, Any]) -> dict[str, str]:
    """The reasons for the unavailable results, by name."""
    return {name: value.reason for name, value in found.items() if isinstance(value, Unavailable)}


def given(found: Mapping[str, Any]) -> dict[str, Any]:
    """The available results, by name."""
    return {name: value for name, value in found.items() if not isinstance(value, Unavailable)}
