"""Queries with judged documents: grades and features, no clicks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from .batch import Floats, Integers


@dataclass(frozen=True)
class Judged:
    """Judged documents grouped by query; q queries, d features. A row is a document of one query.

    Parameters:
        query: [q] ids, each once.
        first: [q + 1] offsets; the rows first[i] up to first[i + 1] belong to query i.
        grade: [rows] as judged, usually 0 to 4.
        features: [rows, d], 0.0 where none was given.
        document: [rows] ids that stay with a row through `take`; a running number where a file has none.

    Examples:
        >>> judged = offrank.simulation.mslr_like(10, (5, 5))
        >>> judged.take([0]).grade.size
        5
    """

    query: Integers
    first: Integers
    grade: Floats
    features: Floats
    document: Integers

    def __len__(self) -> int:
        return len(self.query)

    @property
    def rows(self) -> int:
        """The number of documents of all queries."""
        return len(self.grade)

    @property
    def sizes(self) -> Integers:
        """[q] documents per query."""
        return np.diff(self.first)

    @property
    def owner(self) -> Integers:
        """[rows] index of each document's query into `query`."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def take(self, queries: Integers) -> Judged:
        """The queries with these indices, in this order."""
        sizes = self.sizes[queries]
        first = np.concatenate(([0], np.cumsum(sizes)))
        rows = np.repeat(self.first[queries] - first[:-1], sizes) + np.arange(first[-1])
        return self.pick(queries, sizes, rows)

    def pick(self, queries: Integers, sizes: Integers, rows: Integers) -> Judged:
        """The queries with these indices, with `sizes` rows each, listed query by query in `rows`."""
        first = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        return Judged(self.query[queries], first, self.grade[rows], self.features[rows], self.document[rows])

    def table(self, values: NDArray[Any]) -> NDArray[Any]:
        """The values [rows] as an array [q, documents].

        Raises:
            UsageError: the queries do not have equally many documents.
        """
        sizes = np.unique(self.sizes)
        if len(sizes) > 1:
            message = f"queries have {sizes[0]} to {sizes[-1]} documents, which does not make a table"
            raise UsageError(message, "reduce them to the same number first, with stratified(judged, documents=10)")
        return values.reshape(len(self), int(sizes.sum()), *values.shape[1:])
