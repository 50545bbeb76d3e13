"""Join the contexts of several batches, and reorder candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from .batch import Contexts, CutColumns, Floats, Integers, Naturals, SparseFeatures
from .hashing import feature_hashes, hashes
from .source import Needs

T = TypeVar("T", bound=np.generic)


def joined_contexts(parts: Sequence[Contexts]) -> Contexts:
    """The rows of several contexts one after another, padded to the widest of them and no wider.

    All have the same columns. Only the features of these rows are kept.
    """
    first = parts[0]
    widest = max((int(part.size.max(initial=0)) for part in parts), default=0)
    features = None if first.features is None else _own_lines([_lines(part) for part in parts])
    size = np.concatenate([part.size for part in parts])
    if features is not None:
        features = replace(features, first=np.cumsum(size) - size)
    return Contexts(
        candidates=stacked([part.candidates for part in parts], widest, 0),
        size=size,
        length=np.concatenate([part.length for part in parts]),
        scores={name: stacked([part.scores[name] for part in parts], widest, 0) for name in first.scores},
        rankings={name: _ranked([part.rankings[name] for part in parts]) for name in first.rankings},
        keys={name: np.concatenate([part.keys[name] for part in parts]) for name in first.keys},
        features=features,
    )


def contexts_of_rows(contexts: Contexts, rows: Integers, wanted: Needs | None = None) -> Contexts:
    """Some rows as wide as the widest of them, with the wanted columns (all if None) and no other features."""
    scores, rankings, keys = contexts.scores, contexts.rankings, contexts.keys
    size, features = contexts.size[rows], None
    width = int(size.max(initial=0))
    if wanted is not None:
        scores = {name: one for name, one in scores.items() if name in wanted.scores}
        rankings = {name: one for name, one in rankings.items() if name in wanted.rankings}
        keys = {name: one for name, one in keys.items() if name in wanted.keys}
    if contexts.features is not None and (wanted is None or "features" in wanted.roles):
        features = replace(_own_lines([_lines(contexts.take(rows))]), first=np.cumsum(size) - size)
    return Contexts(
        np.ascontiguousarray(contexts.candidates[rows, :width]),
        size,
        contexts.length[rows],
        {name: np.ascontiguousarray(one[rows, :width]) for name, one in scores.items()},
        {name: _ranked([one[rows]]) for name, one in rankings.items()},
        {name: one[rows] for name, one in keys.items()},
        features,
    )


def reordered(contexts: Contexts, order: Integers) -> Contexts:
    """The same contexts with their candidates in the order [n, m], which leaves pads where they are."""
    place = np.argsort(order, axis=1, kind="stable")

    def moved(ranking: Integers) -> Integers:
        return np.where(ranking >= 0, np.take_along_axis(place, np.maximum(ranking, 0), axis=1), ranking)

    features = contexts.features
    if features is not None:
        inside = np.arange(order.shape[1]) < contexts.size[:, None]
        lines = (features.first[:, None] + order)[inside]
        features = replace(_own_lines([(features, lines)]), first=np.cumsum(contexts.size) - contexts.size)
    return replace(
        contexts,
        candidates=np.take_along_axis(contexts.candidates, order, axis=1),
        scores=CutColumns(contexts.scores, lambda values: np.take_along_axis(values, order, axis=1)),
        rankings=CutColumns(contexts.rankings, moved),
        features=features,
    )


def stacked(blocks: Sequence[NDArray[T]], width: int, pad: float) -> NDArray[T]:
    """[., width] the rows of [n, any] blocks one after another, padded."""
    out = np.full((sum(map(len, blocks)), width), pad, blocks[0].dtype)
    start = 0
    for block in blocks:
        kept = min(width, block.shape[1])
        out[start : start + len(block), :kept] = block[:, :kept]
        start += len(block)
    return out


def feature_keys(contexts: Contexts) -> Naturals:
    """[n, m] hashes of the features of the candidates; 0 where there are none."""
    if (one := contexts.features) is None:
        return np.zeros(contexts.candidates.shape, np.uint64)
    given = one.first, contexts.size, one.offsets, one.indices, one.values
    return np.asarray(feature_hashes(*given, contexts.candidates.shape[1]))


def content(contexts: Contexts) -> Integers:
    """[n, c] the whole content as integers; the features of a candidate as a hash."""
    m = contexts.candidates.shape[1]
    inside = np.arange(m) < contexts.size[:, None]
    columns = [contexts.size, contexts.length, *contexts.keys.values(), np.where(inside, contexts.candidates, 0)]
    if contexts.features is not None:
        columns.append(feature_keys(contexts).view(np.int64))
    # Adding 0.0 turns -0.0 into 0.0.
    scores = [np.where(inside, values + 0.0, 0.0).view(np.int64) for values in contexts.scores.values()]
    return np.column_stack([*columns, *scores, *contexts.rankings.values()]).astype(np.int64, copy=False)


def distinct(rows: Integers) -> tuple[Integers, Integers]:
    """The first index of each distinct row of rows [n, c], and [n] the index of each row's distinct row."""
    _, first, which = np.unique(hashes(rows), return_index=True, return_inverse=True)
    if not np.array_equal(rows[first][which], rows):  # a hash collision
        _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, which.reshape(-1)


def _ranked(blocks: Sequence[Integers]) -> Integers:
    """Rankings one after another, as wide as the longest."""
    used = [int((block != -1).any(axis=0).sum()) for block in blocks]
    return stacked(blocks, max(used), -1)


def _lines(part: Contexts) -> tuple[SparseFeatures, Integers]:
    """The features of a batch, and the lines of its own rows."""
    assert part.features is not None
    within = np.arange(part.size.sum()) - np.repeat(np.cumsum(part.size) - part.size, part.size)
    return part.features, np.repeat(part.features.first, part.size) + within


def _own_lines(given: Sequence[tuple[SparseFeatures, Integers]]) -> SparseFeatures:
    """The given lines of each, one after another; the caller sets `first`."""
    counts, places = [], []
    for features, lines in given:
        start, count = features.offsets[lines], features.offsets[lines + 1] - features.offsets[lines]
        counts.append(count)
        places.append(np.repeat(start - (np.cumsum(count) - count), count) + np.arange(count.sum()))
    indices = np.concatenate([one.indices[place] for (one, _), place in zip(given, places, strict=True)])
    values: Floats = np.concatenate([one.values[place] for (one, _), place in zip(given, places, strict=True)])
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int64)
    return SparseFeatures(np.empty(0, np.int64), offsets, indices, values)
