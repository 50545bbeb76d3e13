"""Batches as plain Python rows, to compare what different readers make of the same log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from offrank.log.batch import LogBatch
from offrank.log.source import Needs, Source
from offrank.readers import flat

EVERYTHING = Needs(frozenset(["clicks", "candidates", "reward"]))


def code(item: int | str) -> int:
    """The code of an item id."""
    return int(flat.id_codes(pa.array([item]), "item")[0])


def codes(items: Sequence[int | str]) -> list[int]:
    """The codes of a list of item ids."""
    return [code(item) for item in items]


def batches(source: Source, needed: Needs = EVERYTHING) -> list[LogBatch]:
    """All batches, in order."""
    chosen = source.select(needed)
    return [batch for part in range(chosen.parts()) for batch in chosen.batches(part)]


def rows(source: Source, needed: Needs = EVERYTHING) -> list[dict[str, Any]]:
    """Every impression as a dict, in order of the log."""
    found = [row for batch in batches(source, needed) for row in plain_rows(batch)]
    return sorted(found, key=lambda row: row["row"])


def contents(source: Source, needed: Needs = EVERYTHING) -> list[dict[str, Any]]:
    """As `rows`, without the row ids, which the long layout counts by item."""
    return [{name: value for name, value in row.items() if name != "row"} for row in rows(source, needed)]


def skipped(source: Source, needed: Needs = EVERYTHING) -> dict[str, int]:
    """What was left out while reading, by rule."""
    return dict(sum((Counter(batch.skipped) for batch in batches(source, needed)), Counter()))


def plain_rows(batch: LogBatch) -> Iterator[dict[str, Any]]:
    """The impressions of a batch. Pads must hold what padding holds."""
    for i in range(len(batch)):
        yield _plain_row(batch, i)


def _plain_row(batch: LogBatch, i: int) -> dict[str, Any]:
    contexts = batch.contexts
    size, length = int(contexts.size[i]), int(contexts.length[i])
    assert (batch.slates[i, length:] == -1).all()
    assert (contexts.candidates[i, size:] == 0).all()
    candidates = contexts.candidates[i, :size].tolist()
    row: dict[str, Any] = {
        "row": int(batch.row[i]),
        "candidates": candidates,
        "slate": [candidates[j] for j in batch.slates[i, :length]],
        "inclusion": float(batch.inclusion[i]),
    }
    if batch.clicks is not None:
        assert (batch.clicks[i, length:] == 0).all()
        row["clicks"] = batch.clicks[i, :length].tolist()
    if batch.outcome is not None:
        row["reward"] = float(batch.outcome[i])
    for name, values in batch.shown.written.items():
        row[name] = values[i].tolist() if values.ndim == 1 else values[i][(slice(length),) * (values.ndim - 1)].tolist()
    row |= {name: scores[i, :size].tolist() for name, scores in contexts.scores.items()}
    row |= {name: _ranking(ranking[i], candidates) for name, ranking in contexts.rankings.items()}
    row |= {f"key:{name}": int(keys[i]) for name, keys in contexts.keys.items()}
    row |= {f"label:{name}": labels.names[labels.codes[i]] for name, labels in batch.labels.items()}
    return row


def _ranking(places: Any, candidates: list[int]) -> list[int | None]:
    return [candidates[place] if place >= 0 else None for place in places if place != -1]
