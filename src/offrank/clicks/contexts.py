"""Examination that depends on a column of the context, such as the device: cells are pairs of a value and a rank.

Documents are the same in all contexts, so that those shown in several link their curves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..errors import UsageError
from ..log.batch import Contexts, Floats, Integers, LogBatch
from ..log.hashing import hashed
from ..log.source import Needs
from .base import FitResult, Parameters

CODES = "contexts"
"""The name of the table of the values' codes."""
_ROOM = 1 << 12
"""Cells set aside for the ranks of a value while counting."""
_MOST = 1000
"""Largest number of cells."""


class Values(NamedTuple):
    """The values of a column in a log: codes [v], ascending, and names [v]."""

    codes: Integers
    names: tuple[str, ...]


def context_needs(column: str | None) -> Needs:
    """The columns to read for training; predictions need no names."""
    chosen = frozenset() if column is None else frozenset([column])
    return Needs(keys=chosen, labels=chosen)


def value_codes(contexts: Contexts, column: str) -> Integers:
    """[n] 39 bits of a hash of each row's value, which floats hold exactly."""
    return (hashed(contexts.keys[column].view(np.uint64)) >> np.uint64(25)).view(np.int64)


def value_cells(batch: LogBatch, column: str) -> tuple[Integers, dict[int, str]]:
    """([n] first cell of each row while counting, names of the values by code)."""
    found, label = value_codes(batch.contexts, column), batch.labels[column]
    _, first = np.unique(found, return_index=True)
    return found * _ROOM, {int(found[row]): label.names[label.codes[row]] for row in first}


def dense(cell: Integers, ranks: int, names: Mapping[int, str]) -> tuple[Integers, Values]:
    """Cells of values and ranks without gaps, value by value.

    Raises:
        UsageError: too many.
    """
    value, rank = np.divmod(cell, _ROOM)
    found, place = np.unique(value, return_inverse=True)
    if len(found) * ranks > _MOST:
        raise UsageError(
            f"{len(found):,} values and {ranks} ranks are too many for a separate examination of each pair",
            "name a column with few values in examination_by=, such as the device",
        )
    return place * ranks + rank, Values(found, tuple(names[int(one)] for one in found))


def by_value(learnt: FitResult, values: Values, shown: Floats) -> FitResult:
    """Examination as a table [v + 1, k], from that of the cells; the last row is the mean over values by impressions.

    shown: [cells] impressions.
    """
    rows = (len(values.codes), -1)
    weight = shown.reshape(rows) + 1e-9
    weight = weight / weight.sum(axis=0)
    value = learnt.parameters["examination"].reshape(rows)
    mean = (weight * value).sum(axis=0)
    spread = value * (1 - value)

    def with_mean(table: Any, of_mean: Floats) -> Floats:
        return np.concatenate([table, of_mean[None]])

    strength, loadings = dict(learnt.strength), dict(learnt.loadings)
    if "examination" in strength:
        own = strength["examination"].reshape(rows)
        variance = np.maximum((weight**2 * spread / (own + 1)).sum(axis=0), 1e-300)
        of_mean = np.where(mean < 1, np.maximum(mean * (1 - mean) / variance - 1, 1e-3), own.min(axis=0))
        strength["examination"] = with_mean(own, of_mean)
    if "examination" in loadings:
        shared = loadings["examination"].reshape(*rows, loadings["examination"].shape[-1])
        moved = ((weight * spread)[..., None] * shared).sum(axis=0)
        loadings["examination"] = with_mean(shared, moved / np.maximum(mean * (1 - mean), 1e-300)[:, None])
    tables = {**learnt.parameters, "examination": with_mean(value, mean), CODES: values.codes.astype(np.float64)}
    info = {**learnt.info, CODES: list(values.names)}
    return replace(learnt, parameters=tables, strength=strength, loadings=loadings, info=info)


def rows(parameters: Parameters, contexts: Contexts, column: str | None) -> Integers | None:
    """[n] the row of the table of examination for each context; the last for a value that the training log lacked."""
    if column is None:
        return None
    known, asked = parameters[CODES].astype(np.int64), value_codes(contexts, column)
    place = np.minimum(np.searchsorted(known, asked), len(known) - 1)
    return np.where(known[place] == asked, place, len(known))


def unlinked(document: Integers, cell: Integers, clicked: Floats, ranks: int, values: Values) -> tuple[str, ...]:
    """The names of the values none of whose ranks is linked to the most common component of cells.

    Documents that were clicked link the cells in which they were shown. All [c], an entry per document and cell.
    """
    from scipy.sparse import coo_array, csgraph  # slow to import

    cells, documents = ranks * len(values.names), int(document.max()) + 1
    known = np.bincount(document, clicked, documents)[document] > 0
    edges = coo_array((np.ones(known.sum()), (cell[known], cells + document[known])), shape=(cells + documents,) * 2)
    _, component = csgraph.connected_components(edges, directed=False)
    linked = component[:cells] == np.bincount(component[cell]).argmax()
    return tuple(name for name, one in zip(values.names, linked.reshape(-1, ranks), strict=True) if not one.any())
