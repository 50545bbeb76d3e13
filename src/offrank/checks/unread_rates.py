"""Is a column that nobody reads the rate with which rows were kept, by what was clicked?"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import islice

import numpy as np
import pyarrow as pa

from ..errors import OffrankError
from ..findings.evidence import LogEvidence
from ..findings.evidence_rows import UnreadRate
from ..log.batch import Floats
from ..log.schema import LONG_ROLES, ROLES
from ..log.source import Needs, Source, has, is_read_once
from ..readers.beginning import first_rows
from ..readers.long import LongLog
from ..readers.tables import schema_of
from ..readers.wide import WideLog
from ..running.engines import engine_of

_FEWEST = 10
"""Rows of each outcome, from which a rate that is constant in them follows it."""
_OUTCOMES = 20
"""Different outcomes, beyond which only those of 0 are told from others."""


def with_unread(log: LogEvidence, source: Source) -> LogEvidence:
    """Return the evidence with a column of rates that follow the outcome and are not read, if there is one.

    Only plain fractions are looked at, and of these the first rows: no other column is read for it.
    """
    if not isinstance(source, WideLog | LongLog) or is_read_once(source) or engine_of(source.table) is not None:
        return log
    schema = schema_of(source.table)
    if schema is None or has(source, Needs(frozenset(["inclusion"]))):
        return log
    known = {source.renamed.get(role, role) for role in (*ROLES, *LONG_ROLES)}
    names = [one.name for one in schema if pa.types.is_floating(one.type) and one.name not in known]
    with suppress(OffrankError, pa.ArrowException, OSError):
        for name in names:
            if _few_rates(first_rows(source.table, (name,))[name]) and (found := _rate(source, name)) is not None:
                return replace(log, kept=replace(log.kept, unread=found))
    return log


def _few_rates(column: pa.ChunkedArray) -> bool:
    """Whether a column has few different values, more than one, and all of them are in (0, 1]."""
    values = np.unique(column.to_numpy())
    return bool(1 < len(values) <= _OUTCOMES and values[0] > 0 and values[-1] <= 1)


def _rate(source: Source, name: str) -> UnreadRate | None:
    """Return what a column holds where nothing was clicked or earned, and where most was, if it follows the outcome."""
    selected = source.select(Needs(frozenset(["reward"]), numbers=frozenset([name])))
    batch = next(islice(selected.batches(0), 1), None)
    if batch is None:
        return None
    outcome: Floats = batch.reward
    if len(np.unique(outcome)) > _OUTCOMES:
        outcome = np.where(outcome == 0, 0.0, 1.0)
    which, rows = np.unique(outcome, return_inverse=True)
    rates = [np.unique(batch.numbers[name][rows == one]) for one in range(len(which))]
    enough = np.count_nonzero(np.bincount(rows) >= _FEWEST) > 1
    if not enough or any(len(one) > 1 for one in rates) or rates[0][0] == rates[-1][0]:
        return None
    return UnreadRate(column=name, low=float(rates[0][0]), high=float(rates[-1][0]))
