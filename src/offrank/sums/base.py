"""The interface of folds: what each batch adds is a part, and parts add up, on one machine or many.

`total` adds two parts; None is the sum of none. So no fold says what nothing is, and no backend is a special case.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..errors import AbilityError
from ..log.batch import Floats, Integers, Labels, Naturals
from ..log.source import Needs


class Fold(ABC):  # noqa: B024  each has one of `of` and `add`
    """What is counted of a log, batch by batch. Parts add up by `total`, in any order and from any machine."""

    def of(self, batch: Any) -> Any:
        """The part of a batch; one of no rows changes nothing."""
        return self.add(None, batch)

    def add(self, part: Any, batch: Any) -> Any:
        """The sum of a part, which may be changed, and a batch's. For folds to which what is there tells what to skip.

        part: None at first.
        """
        return total(part, self.of(batch))

    def merged(self, part: Any, other: Any) -> Any:
        """The sum of two parts, neither of which is None, and of which the first may be changed."""
        return total(part, other)

    def result(self, part: Any) -> Any:
        """The result, by default the part itself."""
        return part

    def needs(self) -> Needs:
        """The columns that it reads; none beside those that are read anyway where a fold says nothing."""
        return Needs()


def total(left: Any, right: Any) -> Any:
    """The sum of two parts, neither of which is changed: of none if both are None.

    Arrays of equal dimension are padded with zeros along each axis; of dicts the values of each name are added; others
    have `+`. What cannot be had of one part cannot be had of the sum.
    """
    if left is None or right is None:
        return right if left is None else left
    if isinstance(left, Unavailable) or isinstance(right, Unavailable):
        return left if isinstance(left, Unavailable) else right
    if type(left) is dict:
        return left | {name: total(left.get(name), one) for name, one in right.items()}
    if not isinstance(left, np.ndarray):
        return left + right
    both = np.zeros(np.maximum(left.shape, right.shape))
    for one in (left, right):
        both[tuple(map(slice, one.shape))] += one
    return both


class Takeable(Protocol):
    """What further sums are made from."""

    def take(self, rows: Integers) -> Takeable:
        """Some of the rows."""


@dataclass(frozen=True)
class Sample:
    """Rows to be reduced: columns [d, n], each together in memory, and key [n], which identifies rows.

    The key determines all that must not depend on the partition of the log. Later samples may have more columns, of
    which earlier rows have zeros. clusters: column -> [n] codes, equal for rows that depend on each other.
    summed: what further sums are made from. groups: the group of each row.
    """

    columns: Floats
    key: Naturals
    clusters: Mapping[str, Naturals] = field(default_factory=dict)
    summed: Takeable | None = None
    groups: Labels | None = None

    @classmethod
    def of(cls, values: Floats, key: Naturals, *more: Any, **named: Any) -> Sample:
        """Of the values [n, d] of rows; the rest is as in the class."""
        return cls(np.ascontiguousarray(values.T), key, *more, **named)

    def __len__(self) -> int:
        return len(self.key)

    @property
    def values(self) -> Floats:
        """[n, d] the columns beside each other."""
        return self.columns.T

    def take(self, rows: Integers) -> Sample:
        """Some of the rows."""
        clusters = {name: codes[rows] for name, codes in self.clusters.items()}
        summed = None if self.summed is None else self.summed.take(rows)
        groups = None if self.groups is None else self.groups.take(rows)
        return Sample(np.take(self.columns, rows, axis=1), self.key[rows], clusters, summed, groups)


@dataclass(frozen=True)
class Tee(Fold):
    """Several named folds over the same batches."""

    folds: Mapping[str, Fold]

    def add(self, part: dict[str, Any] | None, batch: Any) -> dict[str, Any]:
        known = part or {}
        return {name: fold.add(known.get(name), batch) for name, fold in self.folds.items()}

    def merged(self, part: Any, other: Any) -> Any:
        return {name: fold.merged(part[name], other[name]) for name, fold in self.folds.items()}

    def result(self, part: dict[str, Any]) -> dict[str, Any]:
        return {name: fold.result(part[name]) for name, fold in self.folds.items()}


@dataclass(frozen=True)
class Unavailable:
    """The reason why a fold could not run."""

    reason: str


@dataclass(frozen=True)
class OptionalFold(Fold):
    """A fold whose result is an Unavailable if a policy lacks an ability that it needs."""

    fold: Fold

    def add(self, part: Any, batch: Any) -> Any:
        return part if isinstance(part, Unavailable) else _if_able(self.fold.add, part, batch)

    def result(self, part: Any) -> Any:
        return part if isinstance(part, Unavailable) else _if_able(self.fold.result, part)


def _if_able(step: Callable[..., Any], *given: Any) -> Any:
    try:
        return step(*given)
    except AbilityError as error:
        return Unavailable(error.message)
