"""The loss of a batch and its gradient, in JAX."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any, Protocol

from . import cells
from .batches import Batch
from .cells import Array, Sight, Weights

PIECE = 512
"""Sessions whose gradient is taken at once on a CPU; an accelerator takes a batch whole."""

_PLAIN = ("previous", "shown", "click", "weight")
"""What a batch holds for each session, embeddings left out."""


class Network(Hashable, Protocol):
    """What training asks a model: hashable, equal to another where it computes the same."""

    def sight(self, rows: Mapping[str, Array], ranks: int, weights: Weights, xp: Any) -> Sight: ...


def loss_of(network: Network, weights: Weights, placed: Mapping[str, Array], batch: Batch, jax: Any) -> Array:
    """Minus the log-likelihood of sessions, by their weights: of each click given those above, summed over ranks."""
    xp = jax.numpy
    sight = network.sight(placed, len(batch.click), weights, xp)
    above = cells.click_vectors(batch.previous, weights)
    seen = xp.broadcast_to(sight.shown, (*above.shape[:2], sight.shown.shape[-1]))
    given = xp.concatenate([seen, above], axis=-1) @ weights["input"] + weights["bias"]

    def down(hidden: Array, at: tuple[Array, Array]) -> tuple[Array, Array]:
        after = xp.where(at[1][:, None], cells.step(hidden, at[0], weights, xp), hidden)
        return after, cells.out(after, weights)

    _, logit = jax.lax.scan(down, sight.start, (given, batch.shown), unroll=min(len(batch.click), 10))
    log_click, log_skip = jax.nn.log_sigmoid(logit), jax.nn.log_sigmoid(-logit)
    if sight.attraction is not None:
        attracted = jax.nn.log_sigmoid(sight.attraction)
        # 1 - e a = (1 - e) + e (1 - a), and so without loss of digits.
        log_skip = xp.logaddexp(log_skip, log_click + jax.nn.log_sigmoid(-sight.attraction))
        log_click = log_click + attracted
    found = xp.where(batch.click > 0, log_click, log_skip)
    return -(xp.where(batch.shown, found, 0.0).sum(axis=0) * batch.weight).sum()


def placed(rows: Mapping[str, Array], batch: Batch) -> dict[str, Array]:
    """Embeddings where they stand: [k, b, .] of documents, [b, .] of queries."""
    return {name: row[batch.place[name]] for name, row in rows.items()}


def slopes_of(
    network: Network, weights: Weights, rows: Mapping[str, Array], batch: Batch, jax: Any
) -> tuple[Array, dict[str, Array], dict[str, Array]]:
    """(loss of a batch, its gradients by weights, and by rows), a few sessions at a time: as many as a cache holds."""
    given = placed(rows, batch)
    # Sessions are the last axis of what has no embedding, the last but one of what has.
    parts = -(-len(batch.weight) // PIECE) if jax.default_backend() == "cpu" else 1
    cut = partial(_cut, parts, jax.numpy)
    pieces = {name: cut(row, row.ndim - 2) for name, row in given.items()}
    rest = {name: cut(getattr(batch, name), getattr(batch, name).ndim - 1) for name in _PLAIN}

    def piece(part: tuple[dict[str, Array], dict[str, Array]]) -> tuple[Array, Any]:
        found = Batch({}, {}, {}, **part[1])
        return jax.value_and_grad(lambda w, rows: loss_of(network, w, rows, found, jax), (0, 1))(weights, part[0])

    totals, (slopes, placed_slopes) = jax.lax.map(piece, (pieces, rest))
    row_slopes = {}
    for name, slope in placed_slopes.items():
        joined = _joined(slope, given[name], jax.numpy)
        row_slopes[name] = jax.numpy.zeros_like(rows[name]).at[batch.place[name]].add(joined)
    return totals.sum(), jax.tree.map(lambda slope: slope.sum(axis=0), slopes), row_slopes


def _cut(parts: int, xp: Any, array: Array, axis: int) -> Array:
    """[parts, ...]: an axis in as many pieces of one length, the last one filled up with zeros."""
    missing = -array.shape[axis] % parts
    padded = xp.pad(array, [(0, missing if i == axis else 0) for i in range(array.ndim)])
    shape = (*array.shape[:axis], parts, padded.shape[axis] // parts, *array.shape[axis + 1 :])
    return xp.moveaxis(padded.reshape(shape), axis, 0)


def _joined(pieces: Array, like: Array, xp: Any) -> Array:
    """What `_cut` has cut, whole again: of the shape of `like`, whose sessions are the last axis but one."""
    axis = like.ndim - 2
    moved = xp.moveaxis(pieces, 0, axis)
    whole = moved.reshape((*like.shape[:axis], -1, like.shape[-1]))
    return whole[..., : like.shape[axis], :]
