"""Grades of a table of judgements as ordered levels, looked up by the ids of queries and candidates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..log.batch import Floats, Integers, LogBatch
from ..log.source import Needs
from ..readers.flat import id_codes
from ..readers.judgement_tables import judgement_table

JUDGED_BY = "query"
"""The column of the log whose ids a table of judgements has."""
MOST_LEVELS = 20
"""More different grades are put into so many levels, of about as many judgements each."""
_WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"


@dataclass(frozen=True, eq=False, repr=False)
class Grades:
    """How good each document is for a query: the mean grade of those who judged it, as one of a few ordered levels.

    where: the table in words. values: [l] the mean grade of each level, ascending. level: [t] of each pair of a query
    and an item. several: pairs that were judged by more than one; unlike: those of them whose grades differ.
    """

    where: str
    values: Floats
    level: Integers
    query: Integers
    queries: Ids
    items: Ids
    pairs: Integers
    several: int
    unlike: int

    def __repr__(self) -> str:
        return f"<{len(self.pairs)} judgements>"

    @classmethod
    def of(cls, source: Any) -> Grades:
        """From a path or a table, as `judgement_table` reads it.

        Raises:
            OffrankError: it has no queries, items or grades, or somebody judged a pair twice.
        """
        read = judgement_table(source)
        (queries, query), (items, item) = (Ids.of(read[role].combine_chunks()) for role in (JUDGED_BY, "item"))
        pairs, place, times = np.unique(query * len(items) + item, return_inverse=True, return_counts=True)
        grade = read["grade"].to_numpy()
        mean = np.bincount(place, grade) / times
        values, level = np.unique(np.round(mean, 9), return_inverse=True)
        if len(values) > MOST_LEVELS:  # as many pairs in each, equal grades in one
            ends = np.quantile(mean, np.arange(1, MOST_LEVELS) / MOST_LEVELS, method="lower")
            _, level = np.unique(np.searchsorted(np.unique(ends), mean), return_inverse=True)
            values = np.bincount(level, mean) / np.bincount(level)
        unlike = np.bincount(place, np.abs(grade - mean[place]) > 1e-9) > 0
        where = source if isinstance(source, str) else "the table of judgements"
        known = level, pairs // len(items), queries, items, pairs
        return cls(where, values, *known, int((times > 1).sum()), int(unlike.sum()))

    def needs(self) -> Needs:
        """The columns by which pairs are looked up."""
        return Needs(frozenset(["candidates"]), keys=frozenset([JUDGED_BY]))

    def pair_of(self, batch: LogBatch) -> Integers:
        """[n, m] the number of the pair of each candidate, -1 if it was not judged."""
        contexts = batch.contexts
        query, item = self.queries.places(contexts.keys[JUDGED_BY])[:, None], self.items.places(contexts.candidates)
        key = query * len(self.items) + item
        place = np.minimum(np.searchsorted(self.pairs, key), len(self.pairs) - 1)
        inside = np.arange(contexts.candidates.shape[1]) < contexts.size[:, None]
        return np.where(inside & (query >= 0) & (item >= 0) & (self.pairs[place] == key), place, -1)

    def level_of(self, batch: LogBatch) -> Integers:
        """[n, m] the level of each candidate; the number of levels if it was not judged."""
        pair = batch.once(("pairs", self), lambda: self.pair_of(batch))
        return np.where(pair >= 0, self.level[pair], len(self.values))


@dataclass(frozen=True, eq=False)
class Ids:
    """Different ids by the codes that a log may have for them: as text, and as a number if that is what the text says.

    codes: ascending. place: the number of the id of each. size: how many ids there are.
    """

    codes: Integers
    place: Integers
    size: int

    def __len__(self) -> int:
        return self.size

    @classmethod
    def of(cls, column: pa.Array) -> tuple[Ids, Integers]:
        """From a column of texts; and the number of the id of each row."""
        found = column.dictionary_encode()
        texts = found.dictionary
        whole = np.flatnonzero(pc.match_substring_regex(texts, _WHOLE).to_numpy(zero_copy_only=False))
        own = id_codes(texts.take(pa.array(whole)).cast(pa.int64()), JUDGED_BY)
        codes = np.concatenate([id_codes(texts, JUDGED_BY), own])
        codes, first = np.unique(codes, return_index=True)
        place = np.concatenate([np.arange(len(texts)), whole])[first]
        return cls(codes, place, len(texts)), found.indices.to_numpy().astype(np.int64)

    def places(self, codes: Integers) -> Integers:
        """The number of the id of each code, -1 if there is none."""
        at = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        return np.where(self.codes[at] == codes, self.place[at], -1)


def grades_of(source: Any) -> Grades:
    """The grades of a table, or of a path, which is read once."""
    try:
        return _read(source, Path(source).stat().st_mtime_ns)
    except (OSError, TypeError):
        return Grades.of(source)


_read = lru_cache(maxsize=4)(lambda source, _: Grades.of(source))
