"""The batch, a piece of a log: arrays padded to the widest row.

Shapes, here and everywhere: n impressions, m candidates, k slots. Slots and ranks count from 0
at the top. `-1` pads slates and rankings; for jobs that ask for `holes` it also stands inside slates, at ranks where
nothing was shown. Other arrays are padded with zeros, and `size` and `length` say where a row ends.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _kernels
from .hashing import distinct_codes
from .texts import Texts

T = TypeVar("T")

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Naturals = NDArray[np.uint64]
Booleans = NDArray[np.bool_]

NO_LIMIT = np.uint64(2**64 - 1)
PRICED = 2
"""The kind of a row with a click that is neither 0 nor 1, such as a price."""


@dataclass(frozen=True)
class SparseFeatures:
    """Sparse features of the candidates; line first[i] + j describes candidate j of row i.

    first: [n]. offsets: [lines + 1]; line l has the features indices[offsets[l] : offsets[l + 1]], with
    `values` beside them. An index may come several times in a line; its values add up.
    """

    first: Integers
    offsets: Integers
    indices: Integers
    values: Floats

    def take(self, rows: Integers) -> SparseFeatures:
        """Select rows, possibly repeated."""
        return SparseFeatures(self.first[rows], self.offsets, self.indices, self.values)


@dataclass(frozen=True, eq=False)
class CutColumns(Mapping[str, NDArray[Any]]):
    """Columns by name, each cut when it is first asked for: a policy reads a few of those that all policies need."""

    whole: Mapping[str, NDArray[Any]]
    cut: Callable[[NDArray[Any]], NDArray[Any]]
    _found: dict[str, NDArray[Any]] = field(default_factory=dict, init=False)

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._found:
            self._found[name] = self.cut(self.whole[name])
        return self._found[name]

    def __contains__(self, name: object) -> bool:
        return name in self.whole

    def __iter__(self) -> Iterator[str]:
        return iter(self.whole)

    def __len__(self) -> int:
        return len(self.whole)


@dataclass(frozen=True)
class Contexts:
    """The contexts, known before any click: everything that a policy may see.

    candidates: [n, m] item codes (integer ids as they are, strings hashed to 64 bits).
    size: [n] candidates per row; length: [n] slots to fill per row.
    scores: name -> [n, m]; rankings: name -> [n, w] candidate indices (-1 pads, -2 not a candidate).
    keys: name -> [n] codes of columns that group rows (`query` and others).
    features: of the candidates, or None where the log has none or no policy reads them.
    """

    candidates: Integers
    size: Integers
    length: Integers
    scores: Mapping[str, Floats] = field(default_factory=dict)
    rankings: Mapping[str, Integers] = field(default_factory=dict)
    keys: Mapping[str, Integers] = field(default_factory=dict)
    features: SparseFeatures | None = None

    def __len__(self) -> int:
        return len(self.size)

    def take(self, rows: Integers) -> Contexts:
        """Select rows, possibly repeated."""
        cut = itemgetter(rows)
        scores, rankings, keys = (CutColumns(one, cut) for one in (self.scores, self.rankings, self.keys))
        features = None if self.features is None else self.features.take(rows)
        return Contexts(self.candidates[rows], self.size[rows], self.length[rows], scores, rankings, keys, features)

    @property
    def slots(self) -> int:
        """The widest row's number of slots."""
        return int(self.length.max(initial=0))


@dataclass(frozen=True)
class Shown:
    """The shown slates, and the probabilities that were logged for them.

    slates: [n, k] index into candidates per slot, -1 pads.
    written: by role, those of the logging policy; by `role:column`, those of another policy.
    propensity: [n] of the whole slate; slot_propensity: [n, k] of each slot's item given the slots above it;
    rank_propensity: [n, k, k] of displayed item i at rank j. They are of the shown slate only.
    """

    slates: Integers
    written: Mapping[str, Floats] = field(default_factory=dict)

    def take(self, rows: Integers, slots: int) -> Shown:
        """Select rows, possibly repeated, and cut them to the widest."""
        cut = {name: _cut(values[rows], slots) for name, values in self.written.items()}
        return Shown(self.slates[rows, :slots], cut)


def _cut(values: Floats, slots: int) -> Floats:
    """[n], [n, k] or [n, k, k] numbers cut to slates of so many slots."""
    return np.ascontiguousarray(values[(slice(None),) + (slice(slots),) * (values.ndim - 1)])


@dataclass(frozen=True)
class Labels:
    """A column to group by; `codes` [n] index into `names`."""

    codes: Integers
    names: tuple[str, ...]

    def take(self, rows: Integers) -> Labels:
        """The labels of some rows."""
        return Labels(self.codes[rows], self.names)


@dataclass(frozen=True, eq=False)
class RunCache:
    """A cache for the reading of one log: values by name, computed on first use, shared by the threads of a run."""

    _found: dict[str, Any] = field(default_factory=dict, init=False)
    _lock: Any = field(default_factory=Lock, init=False)

    def get(self, name: str, make: Callable[[], T]) -> T:
        """The value of this name, computed on first use."""
        with self._lock:
            if name not in self._found:
                self._found[name] = make()
            found: T = self._found[name]
        return found

    def __reduce__(self) -> tuple[type[RunCache], tuple[()]]:
        """Pickled empty: another process keeps its own."""
        return RunCache, ()


_FEW = 0.1
"""Share of the keys that are kept, below which those of a batch are no matter."""


@dataclass(frozen=True, eq=False)
class Limits:
    """Upper bounds of hashes, by the fold that keeps the rows with the smallest: shared by the parts of one pass.

    What one part leaves out, no other part need keep, so that the merged state is the same without it.
    """

    _found: dict[Hashable, np.uint64] = field(default_factory=dict, init=False)
    _keys: dict[Hashable, Naturals] = field(default_factory=dict, init=False)
    _lock: Any = field(default_factory=Lock, init=False)

    def of(self, fold: Hashable) -> np.uint64:
        """The smallest bound that is known, at first the largest number."""
        return self._found.get(fold, NO_LIMIT)

    def note(self, fold: Hashable, keys: Naturals, kept: int, limit: np.uint64 = NO_LIMIT) -> None:
        """Note keys of a part, and its own bound. Keys are one if all parts have noted as many different as are kept.

        Few keys lower it little, and are passed over.
        """
        with self._lock:
            if len(keys) >= kept * _FEW:
                known = distinct_codes(np.append(self._keys.get(fold, keys[:0]), keys))[:kept]
                self._keys[fold] = known
                limit = min(limit, known[-1]) if len(known) == kept else limit
            self._found[fold] = min(limit, self.of(fold))

    def __reduce__(self) -> tuple[type[Limits], tuple[()]]:
        """Pickled empty: another process keeps its own."""
        return Limits, ()


class ClickSums(NamedTuple):
    """Of each impression the sum of its clicks, and 0 if all are 0, 1 if the others are 1, else `PRICED`."""

    total: Floats
    kind: Integers


@dataclass(frozen=True)
class LogBatch:
    """Logged impressions: contexts, shown slates and outcomes.

    clicks: [n, k] beside the slates, or None.
    outcome: [n] the logged `reward` column, or None where the log has clicks only.
    inclusion: [n] probability that the row was kept in the log. row: [n] stable impression id.
    clusters: name -> [n] codes of columns whose equal values mark dependent rows; a null depends on no other row.
    numbers: name -> [n] columns with one number per impression, [n, k] with one per item shown.
    times: name -> [n] seconds since 1970, NaN for none.
    skipped: rule -> number of rows (or clicks) left out while reading.
    dropped: [5] of these rows, those whose outcome is known, its sum and squares, and how many have one above 0; then
    those left out for their outcome.
    listed: whether a column has the candidates; if not, they are the items shown, and in a long log those of all rows.
    file: where the rows stand; base: rows in the files before it, so that row - base is a file's own row.
    run: cache that is kept until the whole log is read. limits: shared with other
    parts; None if there is no other.
    texts: those of the items and keys, for jobs that ask for them; None if all are whole numbers.
    known: the values of `once`. They refer to the batch: who made it clears them, or both stay until Python looks for
    such cycles.
    """

    contexts: Contexts
    shown: Shown
    clicks: Floats | None
    outcome: Floats | None
    inclusion: Floats
    row: Naturals
    labels: Mapping[str, Labels] = field(default_factory=dict)
    skipped: Mapping[str, int] = field(default_factory=dict)
    dropped: Floats = field(default_factory=lambda: np.zeros(5))
    file: str = "log"
    base: int = 0
    clusters: Mapping[str, Integers] = field(default_factory=dict)
    numbers: Mapping[str, Floats] = field(default_factory=dict)
    times: Mapping[str, Floats] = field(default_factory=dict)
    run: RunCache = field(default_factory=RunCache, compare=False, repr=False)
    limits: Limits | None = field(default=None, compare=False, repr=False)
    texts: Texts | None = field(default=None, compare=False, repr=False)
    listed: bool = field(default=True, compare=False, repr=False)
    known: dict[Hashable, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.row)

    @property
    def slates(self) -> Integers:
        """[n, k] index into candidates per slot, -1 pads."""
        return self.shown.slates

    def take(self, rows: Integers) -> LogBatch:
        """Some of the impressions; `skipped` stays as it is."""
        contexts = self.contexts.take(rows)
        slots = contexts.slots
        return replace(
            self,
            contexts=contexts,
            shown=self.shown.take(rows, slots),
            clicks=None if self.clicks is None else self.clicks[rows, :slots],
            outcome=None if self.outcome is None else self.outcome[rows],
            inclusion=self.inclusion[rows],
            row=self.row[rows],
            labels={name: label.take(rows) for name, label in self.labels.items()},
            clusters={name: codes[rows] for name, codes in self.clusters.items()},
            numbers={name: _cut(values[rows], slots) for name, values in self.numbers.items()},
            times={name: values[rows] for name, values in self.times.items()},
        )

    def dependent(self, columns: Iterable[str]) -> dict[str, Naturals]:
        """[n] codes of each of these columns, equal for rows that depend on each other."""
        known = {**self.contexts.keys, **self.clusters}
        return {name: known[name].view(np.uint64) for name in columns}

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of `make`, which is called once per key of this batch."""
        if key not in self.known:
            self.known[key] = make()
        found: T = self.known[key]
        return found

    @property
    def complete(self) -> bool:
        """Whether every row shows all of its candidates, so that logged probabilities cover them all."""
        return bool(np.array_equal(self.contexts.size, self.contexts.length))

    @cached_property
    def reward(self) -> Floats:
        """[n] the logged reward, by default the sum of the clicks."""
        if self.outcome is not None:
            return self.outcome
        if self.clicks is None:
            raise ValueError("a batch with neither clicks nor reward has no outcome")
        return self.click_sums.total

    @cached_property
    def click_sums(self) -> ClickSums:
        """The sums and kinds of the clicks, whose log has clicks."""
        assert self.clicks is not None
        found = ClickSums(np.empty(len(self.row)), np.empty(len(self.row), np.int64))
        _kernels.click_sums(self.clicks, *found)
        return found
