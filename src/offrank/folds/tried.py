"""Folds that a log may not allow: whose columns are missing, or that ask a policy what it cannot know."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import AbilityError, ColumnError
from ..log.source import Needs, Source
from .base import Attempt, Refusal


class Tried:
    """Those folds over a source that can be done. reasons: why others cannot, by name; needs: the columns of all."""

    def __init__(self, source: Source) -> None:
        self.source, self.needs = source, Needs()
        self.folds: dict[str, Any] = {}
        self.reasons: dict[str, str] = {}

    def sure(self, needs: Needs, **folds: Any) -> None:
        """Take on folds that any log allows."""
        self.folds |= folds
        self.needs |= needs

    def add(self, name: str, fold: Any, needs: Callable[[], Needs] | None = None) -> bool:
        """Take a fold on, and say whether it can be done. needs: the columns that it reads, by default `fold.needs`."""
        try:
            needed = (needs or fold.needs)()
            self.source.select(needed)
        except (AbilityError, ColumnError) as error:
            self.reasons[name] = error.message
            return False
        self.folds[name] = Attempt(fold)
        self.needs |= needed
        return True


def refused(found: Mapping[str, Any]) -> dict[str, str]:
    """Of results by name, why some could not be had."""
    return {name: value.reason for name, value in found.items() if isinstance(value, Refusal)}


def given(found: Mapping[str, Any]) -> dict[str, Any]:
    """The other results."""
    return {name: value for name, value in found.items() if not isinstance(value, Refusal)}
