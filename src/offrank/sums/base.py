"""The interface of folds: an associative merge with an identity, so that chunks and machines need no special case."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, TypeVar, cast, final

import numpy as np
from numpy.typing import NDArray

from ..errors import AbilityError
from ..log.batch import Floats, Integers, Labels

S = TypeVar("S")
B = TypeVar("B", contravariant=True)
R = TypeVar("R", covariant=True)


class Fold(Protocol[S, B, R]):
    """Reduces batches B to a state S and a result R. `merge` is associative, `empty` its identity.

    The result is the state, unless a class that derives from this one says otherwise.
    """

    def empty(self) -> S: ...

    def add(self, state: S, batch: B) -> S: ...

    def merge(self, left: S, right: S) -> S: ...

    def finish(self, state: S) -> R:
        return cast(R, state)


class Summable(Protocol):
    """Columns that can be summed without being written out."""

    def take(self, rows: Integers) -> Summable:
        """The values of some rows."""

    def sum(self) -> Floats:
        """[columns] the sums over the rows; later batches may have more columns."""


@dataclass(frozen=True)
class Sample:
    """Rows to be reduced: values [n, d], and key [n], which identifies rows.

    The key determines all that must not depend on the partition of the log. Later samples may have more columns, of
    which earlier rows have zeros. clusters: column -> [n] codes, equal for rows that depend on each other.
    summed: further columns, of which only the sums are needed. groups: the group of each row.
    """

    values: Floats
    key: NDArray[np.uint64]
    clusters: Mapping[str, NDArray[np.uint64]] = field(default_factory=dict)
    summed: Summable | None = None
    groups: Labels | None = None

    def __len__(self) -> int:
        return len(self.key)

    def take(self, rows: Integers) -> Sample:
        """Some of the rows."""
        clusters = {name: codes[rows] for name, codes in self.clusters.items()}
        summed = None if self.summed is None else self.summed.take(rows)
        groups = None if self.groups is None else self.groups.take(rows)
        return Sample(self.columns[:, rows].T, self.key[rows], clusters, summed, groups)

    @cached_property
    def columns(self) -> Floats:
        """The values [d, n], each column together in memory; no copy where they already stand so."""
        return np.ascontiguousarray(self.values.T)


class MappedFold(ABC):
    """A fold that maps each batch and passes the result to another fold, the `reducer`."""

    @property
    @abstractmethod
    def reducer(self) -> Fold[Any, Any, Any]:
        """The fold that keeps the state."""

    def mapped(self, batch: Any) -> Any:
        """The input of the reducer for a batch; by default the batch itself."""
        return batch

    def result(self, found: Any) -> Any:
        """The result, made from that of the reducer; by default the same."""
        return found

    @final
    def empty(self) -> Any:
        return self.reducer.empty()

    @final
    def add(self, state: Any, batch: Any) -> Any:
        return self.reducer.add(state, self.mapped(batch))

    @final
    def merge(self, left: Any, right: Any) -> Any:
        return self.reducer.merge(left, right)

    @final
    def finish(self, state: Any) -> Any:
        return self.result(self.reducer.finish(state))


def total(left: Floats, right: Floats) -> Floats:
    """The sum of two arrays of equal dimension, the shorter one padded with zeros along each axis."""
    both = np.zeros(np.maximum(left.shape, right.shape))
    for one in (left, right):
        both[tuple(map(slice, one.shape))] += one
    return both


@dataclass(frozen=True, eq=False)
class PlusFold(Fold[Any, Any, Any]):
    """Adds up values by their `+`, arrays as `total` does; `zero` is the sum of none."""

    zero: Any

    def empty(self) -> Any:
        return self.zero.copy() if isinstance(self.zero, np.ndarray) else self.zero  # who is given it may add to it

    def merge(self, left: Any, right: Any) -> Any:
        return total(left, right) if isinstance(left, np.ndarray) else left + right

    add = merge  # type: ignore[assignment]  # a batch is a value


@dataclass(frozen=True)
class Tee:
    """Several named folds over the same batches."""

    folds: Mapping[str, Fold[Any, Any, Any]]

    def empty(self) -> dict[str, Any]:
        return {name: fold.empty() for name, fold in self.folds.items()}

    def add(self, state: dict[str, Any], batch: Any) -> dict[str, Any]:
        return {name: fold.add(state[name], batch) for name, fold in self.folds.items()}

    def merge(self, left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
        return {name: fold.merge(left[name], right[name]) for name, fold in self.folds.items()}

    def finish(self, state: dict[str, Any]) -> dict[str, Any]:
        return {name: fold.finish(state[name]) for name, fold in self.folds.items()}


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
