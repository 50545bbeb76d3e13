"""Judgements: what a click model makes of each document, with its interval and a grade."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import UsageError
from ..findings import cautions_for
from ..findings.clicks import JudgementsEvidence
from ..frames import Tabular, plain
from ..language.argument import interval_level
from ..log.batch import Floats, Integers
from ..sums.estimate import Caution
from . import draws
from .base import FitResult, Parameters, Role, Roles
from .documents import Documents
from .spec import ModelSpec

TOP = 0.99
"""The quantile of the relevances that earns the full gain; above it are those that are best by luck."""
_NUMBERS = ("relevance", "low", "high", "sessions", "grade", "certainty")
_BLOCK = 1 << 13
"""Documents that are drawn at once: so many times the draws in numbers are kept in memory."""
_WIDE = 2
"""An interval this many grades or more from end to end spans more than two grades."""


@dataclass(frozen=True, eq=False)
class Judgements(Tabular):
    """A row per document [d], sorted by query and then by relevance, the highest first.

    Parameters:
        query: ids as in the log; query is null where documents are items alone.
        item: [d] ids as in the log.
        relevance: with the credible interval; the ends are NaN where the model has no posterior of it.
        low: [d] lower end of the credible interval.
        high: [d] upper end.
        sessions: how often the log showed the document, each time divided by its inclusion probability; NaN if
            unknown.
        grade: from 0, by `cuts` [grades - 1]: the number of cuts that the relevance reaches.
        certainty: the posterior probability of this grade, with the cuts held fixed.
        cuts: [grades - 1] the relevances from which on grades 1, 2 ... are given.
        confidence: level of the credible intervals.

    Examples:
        >>> model = offrank.clicks.DCTR(prior=(1, 1)).fit([{"slate": ["a", "b"], "clicks": [1, 0]}])
        >>> [(row["item"], round(row["relevance"], 2), row["grade"]) for row in model.judgements().records()]
        [('a', 0.67, 4), ('b', 0.33, 3)]
    """

    query: pa.Array
    item: pa.Array
    relevance: Floats
    low: Floats
    high: Floats
    sessions: Floats
    grade: Integers
    certainty: Floats
    cuts: Floats
    confidence: float = 0.95

    headings: ClassVar[tuple[str, ...]] = ("query", "item", "relevance", "low", "high", "sessions", "grade")

    def __len__(self) -> int:
        return len(self.relevance)

    def to_arrow(self) -> pa.Table:
        """Return the table, with ids of the log's own type; what is unknown is null."""
        numbers = {name: pa.array(getattr(self, name), from_pandas=True) for name in _NUMBERS}
        return pa.table({"query": self.query, "item": self.item, **numbers})

    def records(self) -> list[dict[str, Any]]:
        """Return a row per document; what is unknown is None."""
        found: list[dict[str, Any]] = self.to_arrow().to_pylist()
        return found

    def to_dict(self) -> dict[str, Any]:
        return {"confidence": self.confidence, "cuts": plain(self.cuts), "judgements": self.records()}

    def take(self, rows: Integers) -> Judgements:
        """Some of the rows, in this order.

        Parameters:
            rows: their numbers.

        Returns:
            Judgements of these rows.

        Examples:
            >>> rows = [{"query": "q", "slate": ["a", "b"], "clicks": [1, 0]}]
            >>> found = offrank.clicks.DCTR(prior=(1, 1)).fit(rows).judgements()
            >>> [row["item"] for row in found.take([1]).records()]
            ['b']
        """
        some = {name: getattr(self, name)[rows] for name in _NUMBERS}
        return replace(self, query=self.query.take(pa.array(rows)), item=self.item.take(pa.array(rows)), **some)

    @property
    def wide(self) -> int:
        """The number of documents whose interval spans more than two grades."""
        low, high = np.searchsorted(self.cuts, [self.low, self.high], side="right")
        return int(((high - low >= _WIDE) & np.isfinite(self.low)).sum())

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """The cautions about the judgements."""
        alike, intervals = len(self) > 1 and np.ptp(self.relevance) == 0, bool(np.isfinite(self.low).all())
        return cautions_for(
            JudgementsEvidence(documents=len(self), wide=self.wide, intervals=intervals, alike=bool(alike))
        )


def cuts_of(relevance: Floats, grades: int | Sequence[float]) -> Floats:
    """[grades - 1] the relevance from which on each grade above 0 is given.

    nDCG gives grade g the gain 2^g - 1. A document has the grade whose share of the highest gain is nearest to its
    share of the relevance of the best documents, the `TOP` quantile: of five grades from .5 / 15, 2 / 15, 5 / 15 and
    11 / 15 of it on. So nDCG by the grades is close to nDCG by the relevance, on whichever scale the model puts it. A
    sequence gives the cuts themselves.

    Raises:
        UsageError: fewer than two grades, or cuts that do not ascend.
    """
    if isinstance(grades, int):
        if grades < 2:
            raise UsageError(f"grades is {grades!r}", "give 2 or more, usually 5")
        gain = 2.0 ** np.arange(grades) - 1
        return np.asarray((gain[1:] + gain[:-1]) / 2 / gain[-1] * np.quantile(relevance, TOP))
    cuts = np.asarray(grades, dtype=np.float64)
    if cuts.ndim != 1 or not len(cuts) or not (np.diff(cuts) > 0).all():
        raise UsageError(
            f"grades is {grades!r}", "give a number, or the ascending relevances where grades 1, 2 ... begin"
        )
    return cuts


def judge_documents(
    documents: Documents,
    learnt: FitResult,
    model: ModelSpec,
    confidence: float,
    grades: int | Sequence[float],
    samples: int,
    seed: int,
) -> Judgements:
    """The judgements of all documents; see `Fitted.judgements`."""
    interval_level(confidence)
    query, item, roles, table = documents.query_ids(), documents.item_ids(), model.roles(), model.relevance_table
    value = model.relevance(learnt.parameters, np.arange(len(documents)))
    cuts = cuts_of(value, grades)
    grade = np.searchsorted(cuts, value, side="right")
    ends = np.append(-np.inf, cuts)[grade], np.append(cuts, np.inf)[grade]
    if not _has_posterior(learnt, roles):
        low, high, certainty = np.full((3, len(documents)), np.nan)
    elif table is not None:
        low, high = (end[:-1] for end in draws.credible_interval(learnt, table, confidence))
        certainty = draws.probability(learnt, table, *ends)
    else:
        low, high, certainty = _by_draws(learnt, model, confidence, *ends, samples, seed)
        low, high = np.minimum(low, value), np.maximum(high, value)
    shown = np.full(len(documents), np.nan) if documents.shown is None else documents.shown
    found = Judgements(query, item, value, low, high, shown, grade, certainty, cuts, confidence)
    return found.take(_order(query, item, value))


def _order(query: pa.Array, item: pa.Array, value: Floats) -> Integers:
    """By query, then by relevance, the highest first, then by item."""
    table = pa.table({"query": query, "down": -value, "item": item})
    keys = [(name, "ascending") for name in table.column_names if table.column(name).type != pa.null()]
    return np.asarray(pc.sort_indices(table, sort_keys=keys)).astype(np.int64)


def _has_posterior(learnt: FitResult, roles: Roles) -> bool:
    """Whether every table of documents has a posterior."""
    known = {*learnt.strength, *learnt.loadings}
    per_document = {name for name, role in roles.items() if role.by_document}
    return Role.WEIGHTS not in roles.values() and per_document <= known and bool(known)


def _by_draws(
    learnt: FitResult, model: ModelSpec, confidence: float, begin: Floats, end: Floats, samples: int, seed: int
) -> Floats:
    """[3, d] the ends of each interval, and the probability to be from `begin` to `end` [d], by draws of all tables."""
    documents, tail, rng = len(begin), (1 - confidence) / 2, np.random.default_rng(seed)
    found = np.empty((3, documents))
    for first in range(0, documents, _BLOCK):
        rows = np.arange(first, min(first + _BLOCK, documents))
        some, every = _of_block(learnt, model.roles(), np.append(rows, documents)), np.arange(len(rows))
        drawn = np.stack([model.relevance(draws.draw_tables(some, rng), every) for _ in range(samples)])
        found[:2, rows] = np.quantile(drawn, [tail, 1 - tail], axis=0)
        found[2, rows] = ((drawn >= begin[rows]) & (drawn < end[rows])).mean(axis=0)
    return found


def _of_block(learnt: FitResult, roles: Roles, rows: Integers) -> FitResult:
    """The same model with the tables of some documents only."""

    def cut(tables: Parameters) -> Parameters:
        return {name: table[rows] if roles[name].by_document else table for name, table in tables.items()}

    return FitResult(cut(learnt.parameters), cut(learnt.strength), loadings=cut(learnt.loadings))
