"""Ranks where nothing was shown: slates with holes, for jobs that ask for them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..log.batch import Integers
from . import arrow
from .arrow import Lists


@dataclass(frozen=True)
class Ranks:
    """Where the items of slates stand.

    items: the slates without their holes. lengths: [n] ranks of each, holes included. empty: one flag per rank of all
    slates, one behind the other; row, rank: where each of those is.
    """

    items: Lists
    lengths: Integers
    empty: NDArray[np.bool_]
    row: Integers
    rank: Integers

    @classmethod
    def of(cls, column: Any, name: str) -> Ranks:
        """Of a column of lists, where a null id is a hole; a null list stays a fault."""
        found, null = arrow.gapped_id_lists(column, name)
        row = np.repeat(np.arange(len(found.starts)), found.lengths)
        rank = np.arange(len(row)) - np.repeat(np.cumsum(found.lengths) - found.lengths, found.lengths)
        empty = null[found.starts[row] + rank]
        shown = np.bincount(row[~empty], minlength=len(found.starts))
        kept = found.values[(found.starts[row] + rank)[~empty]]
        items = Lists(kept, np.cumsum(shown) - shown, shown, found.null)
        return cls(items, found.lengths, empty, row, rank)

    def holes(self) -> Integers:
        """[n] ranks of each slate where nothing was shown."""
        return np.bincount(self.row[self.empty], minlength=len(self.lengths))

    def spread(self, located: Integers) -> Integers:
        """[n, ranks] slates with their holes, from the items' candidate indices [n, items]."""
        out = np.full((len(self.lengths), int(self.lengths.max(initial=0))), -1)
        row, rank = self.row[~self.empty], self.rank[~self.empty]
        nth = np.arange(len(row)) - self.items.starts[row]
        out[row, rank] = located[row, nth]
        return out

    def beside(self, numbers: Lists) -> Lists:
        """Numbers beside the ranks: null (NaN) is 0 at a hole. Rows of another length are left as they are."""
        fits = self.empty & (numbers.lengths == self.lengths)[self.row]
        places = numbers.starts[self.row[fits]] + self.rank[fits]
        values = numbers.values.copy()
        values[places] = np.nan_to_num(values[places], nan=0.0)
        return replace(numbers, values=values)

    def struck(self, numbers: Lists) -> NDArray[np.bool_]:
        """[n] rows with a number other than 0 at a hole."""
        fits = self.empty & (numbers.lengths == self.lengths)[self.row]
        wrong = numbers.values[numbers.starts[self.row[fits]] + self.rank[fits]] != 0
        return np.bincount(self.row[fits], wrong, len(self.lengths)) > 0
