"""What a log says of its documents besides clicks: the mean of columns beside the candidates, by document."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import pyarrow as pa

from ..errors import LogError, UsageError
from ..log.batch import Contexts, Floats, Integers, LogBatch
from ..log.source import Needs
from ..sums.base import Fold
from ._kernels_counting import add_features
from .documents import shown_keys

FEATURE_VECTORS = "features"
"""The name of the vectors of features among the columns; others have a number per candidate."""
Regression = Literal["table", "linear", "boosted", "network"]
"""How a table of documents depends on features: not at all, or by one of the regressions."""
MOST_FEATURES = 20_000
"""Largest number of features."""
DOCUMENT_BYTES = 1 << 30
"""Largest size of the numbers of all documents, in bytes."""


@dataclass(frozen=True)
class FeatureColumns:
    """Names of columns beside the candidates: `features`, the log's vectors or lists of indices, or names of scores.

    Raises:
        UsageError: no names, or one twice.
    """

    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.names or not all(type(name) is str for name in self.names) or len({*self.names}) < len(self.names):
            raise UsageError(
                f"features={list(self.names)!r} names no columns",
                "name columns of numbers for the candidates, each once: features=[features, old_score]",
            )

    @property
    def scores(self) -> tuple[str, ...]:
        """The columns with a number per candidate."""
        return tuple(name for name in self.names if name != FEATURE_VECTORS)

    def needs(self) -> Needs:
        """The columns to read."""
        vectors = frozenset([FEATURE_VECTORS]) & frozenset(self.names)
        return Needs(frozenset(["candidates"]) | vectors, scores=frozenset(self.scores))

    def width(self, contexts: Contexts) -> int:
        """The number of columns of a batch, each feature counted; a later batch may have more.

        Raises:
            UsageError: too many for a table with a row per document.
        """
        found = contexts.features
        largest = -1 if found is None or FEATURE_VECTORS not in self.names else int(found.indices.max(initial=-1))
        if largest >= MOST_FEATURES:
            raise UsageError(
                f"the log has features numbered up to {largest:,}: a click model takes at most {MOST_FEATURES:,}",
                "number the features from 0 without gaps, or name columns of scores: features=[old_score]",
            )
        return len(self.scores) + largest + 1

    def add(self, contexts: Contexts, row: Integers, candidate: Integers, place: Integers, out: Floats) -> None:
        """Add the numbers of candidate[i] of row[i] to the row place[i] of `out`; columns beyond it are left out.

        Raises:
            UsageError: a column was not read.
        """
        found, known = contexts.features, {*contexts.scores, *([] if contexts.features is None else [FEATURE_VECTORS])}
        if missing := [name for name in self.names if name not in known]:
            raise UsageError(
                f"a click model with features needs {missing[0]!r} of the candidates",
                "give contexts with that column, for example from a log that was read with the model's needs()",
            )
        for column, name in enumerate(self.scores):
            out[:, column] += np.bincount(place, contexts.scores[name][row, candidate], len(out))
        if FEATURE_VECTORS in self.names and found is not None:
            line, given = found.first[row] + candidate, (found.offsets, found.indices, found.values)
            add_features(line, place, *given, out[:, len(self.scores) :])


def needs_of(columns: FeatureColumns | None) -> Needs:
    """The columns to read; none where a model has none."""
    return Needs() if columns is None else columns.needs()


@dataclass(frozen=True)
class Covariates:
    """keys: [d] of the documents, ascending.

    mean: [d, columns] the mean of each column over all impressions of a document, in single precision: the order of
    the log does not change it.
    """

    keys: Integers
    mean: Floats


class DocumentSums:
    """Sums by document: keys [d], sums [d, 1 + columns], of which the first counts impressions.

    Parts are joined once they are larger than what was joined before. Two are equal if they have the same sums.
    """

    def __init__(self, parts: tuple[tuple[Integers, Floats], ...] = ()) -> None:
        self.parts = parts

    def __add__(self, other: DocumentSums) -> DocumentSums:
        found = DocumentSums(self.parts + other.parts)
        sizes = [len(keys) for keys, _ in found.parts]
        return DocumentSums((found.joined,)) if sum(sizes) > 2 * max(sizes, default=0) else found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DocumentSums):
            return False
        if not self.parts or not other.parts:
            return not self.parts and not other.parts
        both = zip(self.joined, other.joined, strict=True)
        return all(a.shape == b.shape and np.allclose(a, b, rtol=1e-12, atol=0) for a, b in both)

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def joined(self) -> tuple[Integers, Floats]:
        """Each document once, keys ascending.

        Raises:
            LogError: they take too much memory.
        """
        keys, place = np.unique(np.concatenate([keys for keys, _ in self.parts]), return_inverse=True)
        width = max(sums.shape[1] for _, sums in self.parts)
        if 8 * len(keys) * width > DOCUMENT_BYTES:
            raise LogError(
                f"{width - 1:,} columns of {len(keys):,} documents need {8 * len(keys) * width / 2**30:,.1f} GiB "
                "of memory",
                "name fewer columns, or use a part of the log",
            )
        total, begin = np.zeros((len(keys), width)), 0
        for own, sums in self.parts:
            # A document comes once in each part.
            total[place[begin : begin + len(own)], : sums.shape[1]] += sums
            begin += len(own)
        return keys, total


@dataclass(frozen=True)
class CovariatesFold(Fold):
    """Reduces a log to `Covariates`; by: the column of the queries. Memory grows with the distinct documents."""

    columns: FeatureColumns
    by: str | None = None

    def of(self, batch: LogBatch) -> DocumentSums:
        contexts, shown = batch.contexts, batch.slates >= 0
        if not shown.any():
            return DocumentSums()
        row, _ = np.nonzero(shown)
        found = pa.array(shown_keys(contexts, batch.slates, self.by)[shown]).dictionary_encode()
        keys, place = found.dictionary.to_numpy(), found.indices.to_numpy().astype(np.int64)
        sums = np.zeros((len(keys), 1 + self.columns.width(contexts)))
        sums[:, 0] = np.bincount(place, minlength=len(keys))
        self.columns.add(contexts, row, batch.slates[shown], place, sums[:, 1:])
        return DocumentSums(((keys, sums),))

    def result(self, found: DocumentSums) -> Covariates:
        keys, sums = found.joined
        return Covariates(keys, single(sums[:, 1:] / sums[:, :1]))


def single(values: Floats) -> Floats:
    """The values in single precision."""
    return values.astype(np.float32).astype(np.float64)
