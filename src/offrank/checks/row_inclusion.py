"""Which rows were kept: their inclusion beside what was clicked, and a column that nobody reads but may be the rate."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import OffrankError
from ..findings.log import LogEvidence
from ..findings.rows import KeptEvidence, UnreadRate
from ..language.row_filter import RowFilter
from ..log import rules
from ..log._kernels import click_sums
from ..log.batch import Floats, LogBatch
from ..log.schema import LONG_ROLES, ROLES
from ..log.source import Needs, Source, engine_of, has, is_read_once
from ..readers.names import CALLED, closeness
from ..readers.tables import first_rows, schema_of
from ..sums.base import Fold

_ROUNDING = 1e-6


class KeptFold(Fold):
    """Reduces batches to `KeptEvidence`, by clicks or, where only rewards are logged, by rewards of 0 and 1."""

    def of(self, batch: LogBatch) -> Floats:
        """Return rows, 1 / p, its variance, p and p^2, of rows without and with a click, and of those of neither.

        Then rows, their outcome, its square, those with one, and those left out; of these `LogBatch.dropped`.
        """
        found = np.zeros((5, 5))
        found[4], found[3, 4] = batch.dropped, sum(rules.skipped_rows(batch.skipped).values()) if batch.skipped else 0
        outcome = batch.outcome if batch.clicks is None else batch.clicks
        if outcome is None or not len(batch):
            return found
        kind = np.empty(len(batch), np.int64) if batch.clicks is None else batch.click_sums.kind
        if batch.clicks is None:
            click_sums(outcome[:, None], np.empty(len(batch)), kind)
        p, reward = batch.inclusion, batch.reward
        with np.errstate(over="ignore"):
            found[3, :4] = len(p), reward.sum(), (reward**2).sum(), np.count_nonzero(reward > 0)
        if (batch.inclusion == 1).all():
            found[:3] += np.bincount(kind, minlength=3)[:, None] * np.array([1, 1, 0, 1, 1])
            return found
        for column, values in enumerate((np.ones(len(p)), 1 / p, (1 - p) / p**2, p, p**2)):
            found[:3, column] = np.bincount(kind, values, minlength=3)
        return found

    def result(self, found: Floats) -> KeptEvidence:
        rows, impressions, variance, kept, squares = found[:2].T
        return KeptEvidence(
            rows=(float(rows[0]), float(rows[1])),
            impressions=(float(impressions[0]), float(impressions[1])),
            variance=(float(variance[0]), float(variance[1])),
            apart=_apart(rows, kept, squares) if rows.all() and (kept < rows).any() else 0.0,
            clicks=not found[2, 0] and bool(rows.any()),
            **(_left_out(*found[3:]) if found[3, 4] else {}),
        )


def _left_out(read: Floats, dropped: Floats) -> dict[str, Any]:
    """Return the evidence about rows left out. read, dropped: as `KeptFold.of` has them."""
    tested = float(dropped[0])
    counts = {"read": int(read[0]), "left_out": int(read[4]), "by_outcome": int(dropped[4]), "tested": int(tested)}
    if not (read[0] and tested):
        return counts
    gap, gap_of_shares = (_gap(read[[0, *of]], dropped[[0, *of]]) for of in ([1, 2], [3, 3]))
    means, shares = ((float(read[of] / read[0]), float(dropped[of] / tested)) for of in (1, 3))
    return counts | {"earned": means, "gap": gap, "with_outcome": shares, "gap_of_shares": gap_of_shares}


def _gap(read: Floats, others: Floats) -> float:
    """Return the difference of two means in standard errors. read, others: [3] rows, and a number's sum and squares."""
    rows, total, squares = (read + others).tolist()
    variance = max(squares / rows - (total / rows) ** 2, 0.0)
    away, error = others[1] / others[0] - read[1] / read[0], math.sqrt(variance * (1 / read[0] + 1 / others[0]))
    return float(away / error) if error > _ROUNDING * abs(away) else 0.0


def _apart(rows: Floats, kept: Floats, squares: Floats) -> float:
    """Return the difference of two means in standard errors."""
    mean = kept / rows
    away, spread = abs(float(mean[1] - mean[0])), np.maximum(squares / rows - mean**2, 0.0)
    if away <= _ROUNDING * float(mean.max()):
        return 0.0
    error = math.sqrt(float((spread / rows).sum()))
    return away / error if error > _ROUNDING * away else math.inf


_FEWEST = 10
"""Rows of each outcome, from which a rate that is constant in them follows it."""
_OUTCOMES = 20
"""Different outcomes, beyond which only those of 0 are told from others."""


def with_unread(log: LogEvidence, source: Source) -> LogEvidence:
    """Return the evidence with a column of rates that follow the outcome and are not read, if there is one.

    Only plain fractions are looked at, and of these the first rows: no other column is read for it.
    """
    opened: Any = source
    if not hasattr(source, "renamed") or engine_of(opened.table) is not None:  # what `read_log` opens has columns
        return log
    if opened.where is not None and _asks_for_outcome(opened.where, opened.renamed):
        log = replace(log, kept=replace(log.kept, filtered=opened.where))
    schema = schema_of(opened.table)
    if schema is None or has(source, Needs(frozenset(["inclusion"]))):
        return log
    known = {opened.renamed.get(role, role) for role in (*ROLES, *LONG_ROLES)}
    names = [one.name for one in schema if pa.types.is_floating(one.type) and one.name not in known]
    if not names or is_read_once(source):
        return log
    with suppress(OffrankError, pa.ArrowException, OSError):
        for name in names:
            if _few_rates(first_rows(opened.table, (name,))[name]) and (found := _rate(source, name)) is not None:
                return replace(log, kept=replace(log.kept, unread=found))
    return log


def _asks_for_outcome(where: str, renamed: Mapping[str, str]) -> bool:
    """Whether a row filter compares a column of clicks or rewards, or one that is called as what is earned later."""
    roles = {role: renamed.get(role, role) for role in ("clicks", "click", "reward")}
    return any(
        name in roles.values() or any(closeness(role, name) >= CALLED for role in ("click", "outcome"))
        for name in RowFilter.of(where).columns
    )


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
