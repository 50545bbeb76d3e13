"""The documents that a click model has parameters for: pairs of a query and an item, or items alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..errors import UsageError
from ..log.batch import Contexts, Floats, Integers, LogBatch
from ..log.source import Needs, Source, has
from ..log.texts import Gathering, Texts
from ..sums.base import Fold
from ..sums.counts import join

UNSEEN = -1


@dataclass(frozen=True)
class SlateDocuments:
    """The documents of slates, as a model sees them.

    Parameters:
        document: [n, k] index into the tables of parameters; UNSEEN (-1) for documents that the training log
            lacked: the last entry of a table is the expectation for such a document.
        shown: [n, k] whether there is an item at all; pads and holes are False.
        query: [n] index of the query, UNSEEN likewise; None: that of the documents.
        context: [n] row of the tables by value of a context, the last one where None.

    Examples:
        >>> import numpy as np
        >>> slots = offrank.clicks.SlateDocuments(np.array([[0, 1]]), np.array([[True, True]]))
        >>> slots.take(np.array([0, 0])).document.tolist()
        [[0, 1], [0, 1]]
    """

    document: Integers
    shown: NDArray[np.bool_]
    query: Integers | None = None
    context: Integers | None = None

    @property
    def ranks(self) -> int:
        """The number of ranks of the longest slate."""
        return self.document.shape[1]

    def take(self, rows: slice) -> SlateDocuments:
        """Some of the slates."""
        query, context = (None if one is None else one[rows] for one in (self.query, self.context))
        return SlateDocuments(self.document[rows], self.shown[rows], query, context)


@dataclass(frozen=True)
class Documents:
    """keys: [d] 64-bit keys, ascending; by: the column of the queries, None where documents are items alone.

    item: [d] code of each document's item. query: [d] index of its query; None where documents are items alone.
    query_codes: [q] code of each query; queries are numbered by their first document. All three are None in models of
    earlier releases. texts: those of the codes. shown: [d] times that each was shown, each divided by its inclusion
    probability. Both are None if unknown.
    """

    keys: Integers
    by: str | None = None
    item: Integers | None = None
    query: Integers | None = None
    query_codes: Integers | None = None
    texts: Texts | None = None
    shown: Floats | None = None

    @classmethod
    def of(cls, keys: Integers, query: Integers, item: Integers, by: str | None) -> Documents:
        """From the codes of the query and the item of each document."""
        if by is None:
            return cls(keys, item=item)
        found = pa.array(query).dictionary_encode()  # numbered as they come
        return cls(keys, by, item, found.indices.to_numpy(), found.dictionary.to_numpy())

    def __len__(self) -> int:
        return len(self.keys)

    def named(self, texts: Texts) -> Documents:
        """The same documents, with the texts of their codes among these."""
        assert self.item is not None
        queries = np.empty(0, np.int64) if self.query_codes is None else self.query_codes
        return replace(self, texts=texts.only(np.concatenate([self.item, queries])))

    def item_ids(self) -> pa.Array:
        """[d] the id of each document's item as in the log.

        Raises:
            UsageError: the ids are unknown.
        """
        if self.item is None or self.texts is None:
            raise UsageError("this click model has no document ids", "fit it again: current models store the ids")
        return self.texts.ids(self.item)

    def query_ids(self) -> pa.Array:
        """[d] the id of each document's query as in the log; null where documents are items alone.

        Raises:
            UsageError: the ids are unknown.
        """
        items = self.item_ids()
        if self.texts is None or self.query is None or self.query_codes is None:
            return pa.nulls(len(items))
        return self.texts.ids(self.query_codes).take(pa.array(self.query))

    @property
    def queries(self) -> int:
        """The number of queries; 0 where documents are items alone."""
        return 0 if self.query_codes is None else len(self.query_codes)

    def query_of(self, contexts: Contexts) -> Integers:
        """[n] index of each row's query, UNSEEN where the training log lacked it, or where queries are unknown."""
        if self.by is None or self.query_codes is None:
            return np.full(len(contexts), UNSEEN)
        return _places(self.query_codes, contexts.keys[self.by])

    def codes(self, contexts: Contexts) -> Integers:
        """[n, m] index of each candidate, UNSEEN where the training log lacked it."""
        return _places(self.keys, keys(contexts, self.by))

    def slots(self, contexts: Contexts, slates: Integers) -> SlateDocuments:
        """The documents of slates [n, k] of indices into the candidates."""
        return self._slots(contexts, shown_keys(contexts, slates, self.by), slates >= 0)

    def candidates(self, contexts: Contexts) -> SlateDocuments:
        """The documents of all candidates [n, m], as one long slate of each row."""
        inside = np.arange(contexts.candidates.shape[1]) < contexts.size[:, None]
        return self._slots(contexts, keys(contexts, self.by), inside)

    def _slots(self, contexts: Contexts, wanted: Integers, shown: NDArray[np.bool_]) -> SlateDocuments:
        return SlateDocuments(_places(self.keys, wanted), shown, self.query_of(contexts) if self.queries else None)


def _places(known: Integers, wanted: Integers) -> Integers:
    """The index of each wanted code among the known ones, UNSEEN where it is not."""
    found = pc.index_in(pa.array(wanted.ravel()), value_set=pa.array(known)).fill_null(UNSEEN)
    return found.to_numpy().astype(np.int64).reshape(wanted.shape)


@dataclass(frozen=True)
class TextsFold(Fold):
    """Reduces a log to the texts of the codes of its items and queries."""

    def of(self, batch: LogBatch) -> Gathering:
        return Gathering() if batch.texts is None else Gathering((batch.texts,))

    def result(self, found: Gathering) -> Texts:
        return found.whole()


def keys(contexts: Contexts, by: str | None) -> Integers:
    """[n, m] 64-bit key of each candidate."""
    if by is None:
        return contexts.candidates
    return join(contexts.keys[by][:, None], contexts.candidates)


def shown_keys(contexts: Contexts, slates: Integers, by: str | None) -> Integers:
    """[n, k] key of each shown item; arbitrary where there is none."""
    items = np.take_along_axis(contexts.candidates, np.maximum(slates, 0), axis=1)
    return items if by is None else join(contexts.keys[by][:, None], items)


def grouping(source: Source, by: str | None) -> tuple[Source, str | None]:
    """The source with the columns that click models read, and the column of the queries.

    by: "auto" takes the column `query` where the log has one.

    Raises:
        ColumnError: no such column, or no clicks.
    """
    if by == "auto":
        by = "query" if has(source, session_needs("query")) else None
    return source.select(session_needs(by)), by


def session_needs(by: str | None) -> Needs:
    """The columns needed: slates, clicks and the column of the queries; ranks may be empty."""
    return Needs(frozenset(["clicks"]), keys=frozenset() if by is None else frozenset([by]), holes=True, texts=True)
