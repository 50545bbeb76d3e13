"""Training of a recurrent click model: Adam on padded batches, with early stopping on held-out sessions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...errors import UsageError, optional
from ...log.batch import Floats
from . import cells
from .batches import Batch, Batches
from .cells import Array, NetworkInput, Weights

PIECE = 512
"""Sessions whose gradient is computed at once on a CPU; an accelerator takes a whole batch."""

_PLAIN = ("previous", "shown", "click", "weight")
"""The fields of a batch for each session, without embeddings."""
Tables = Mapping[str, Array]
"""Tables of embeddings by name: a row for each document or query, and one more for unseen ones."""


class Network(Hashable, Protocol):
    """The methods of a model that training uses; equal, hashable models share compiled code."""

    def inputs(self, rows: Mapping[str, Array], ranks: int, weights: Weights, xp: Any) -> NetworkInput: ...


@dataclass(frozen=True)
class Schedule:
    """Settings of training. rate: of Adam. prior: standard deviation of embeddings. epochs, patience: when it ends."""

    rate: float
    prior: float
    epochs: int
    patience: int


@dataclass(frozen=True)
class TrainedNetwork:
    """The best state found. losses: held-out, and learnt: training log-loss per session, of each epoch."""

    weights: dict[str, Floats]
    tables: dict[str, Floats]
    losses: tuple[float, ...]
    learnt: tuple[float, ...]
    best: int
    stopped: bool


def libraries() -> tuple[Any, Any]:
    """(jax, optax).

    Raises:
        MissingExtraError: they are not installed.
    """
    needing = "neural click models learn with JAX and optax"
    return optional("jax", needing, "neural"), optional("optax", needing, "neural")


@contextmanager
def _settled() -> Iterator[None]:
    """On interruption, wait for the steps that have begun, since a process that ends while they run would crash."""
    try:
        yield
    except BaseException:
        libraries()[0].block_until_ready(libraries()[0].live_arrays())
        raise


@_settled()
def train(
    network: Network,
    weights: Mapping[str, NDArray[Any]],
    tables: Mapping[str, NDArray[Any]],
    batches: tuple[Batches, Batches],
    *,
    schedule: Schedule,
    rng: np.random.Generator,
    say: Callable[[str], object],
) -> TrainedNetwork:
    """Run Adam until `patience` epochs in a row were no better on held-out sessions; returns the best epoch's state.

    batches: (training, held out). The start counts as epoch 0, so the result is never worse than the start.

    Raises:
        UsageError: not even the start has a finite loss.
    """
    learning, held = batches
    advance, loss, begin = _compiled(network)
    state = begin(*({name: np.asarray(a, np.float32) for name, a in part.items()} for part in (weights, tables)))
    best, losses, learnt = _copy(state), [_mean(loss, state, held)], list[float]()
    if not np.isfinite(losses[0]):
        raise UsageError("the parameters to start from give no finite likelihood", "start without them")
    while len(losses) <= schedule.epochs and len(losses) - 1 - _least(losses) < schedule.patience:
        sums = []
        for batch in learning.passed(rng):
            state, total = advance(state, batch, schedule.rate, schedule.prior)
            sums.append(total)
        learnt.append(_per_session(sums, learning))
        losses.append(_mean(loss, state, held))
        say(f"epoch {len(losses) - 1}: held-out log-loss {losses[-1]:.5f}, best {losses[_least(losses)]:.5f}")
        if _least(losses) == len(losses) - 1:
            best = _copy(state)
    stopped = len(losses) - 1 - _least(losses) >= schedule.patience
    return TrainedNetwork(*best, tuple(losses), tuple(learnt), _least(losses), stopped)


def _least(losses: list[float]) -> int:
    return int(np.argmin(np.nan_to_num(losses, nan=np.inf)))


def _copy(state: Any) -> tuple[dict[str, Floats], dict[str, Floats]]:
    # Copied to the host, because the next step overwrites the arrays on the device.
    weights, tables = ({name: np.array(array, np.float64) for name, array in part.items()} for part in state[:2])
    return weights, tables


def _mean(loss: Any, state: Any, batches: Batches) -> float:
    return _per_session([loss(state[0], state[1], batch) for batch in batches.passed()], batches)


def _per_session(sums: list[Any], batches: Batches) -> float:
    return float(np.sum([float(total) for total in sums])) / max(float(batches.weight.sum()), 1e-300)


@lru_cache(maxsize=16)
def _compiled(network: Network) -> tuple[Any, Any, Any]:
    """(one step of Adam, the loss of a batch, the initial state), compiled at first use."""
    jax, optax = libraries()
    adam = optax.scale_by_adam()
    clipped = optax.chain(optax.clip_by_global_norm(1.0), adam)

    def begin(weights: Weights, tables: Tables) -> tuple[Any, ...]:
        return weights, tables, clipped.init(weights), {name: jax.vmap(adam.init)(t) for name, t in tables.items()}

    def loss(weights: Weights, tables: Tables, batch: Batch) -> Array:
        return loss_of(network, weights, placed(_rows(tables, batch), batch), batch, jax)

    def advance(state: tuple[Any, ...], batch: Batch, rate: float, prior: float) -> tuple[tuple[Any, ...], Array]:
        weights, tables, moments, row_moments = state
        rows, scale = _rows(tables, batch), 1 / jax.numpy.maximum(batch.weight.sum(), 1e-30)
        total, slopes, row_slopes = slopes_of(network, weights, rows, batch, jax)
        change, moments = clipped.update(jax.tree.map(lambda slope: scale * slope, slopes), moments)
        for name, row in rows.items():
            row_slopes[name] = scale * (row_slopes[name] + batch.share[name][:, None] * row / prior**2)
        tables, row_moments = _updated(tables, row_moments, row_slopes, batch, adam, rate, jax)
        weights = {name: array - rate * change[name] for name, array in weights.items()}
        return (weights, tables, moments, row_moments), total

    return jax.jit(advance, donate_argnums=0), jax.jit(loss), jax.jit(begin)


def _rows(tables: Tables, batch: Batch) -> dict[str, Array]:
    return {name: table.at[batch.rows[name]].get(mode="fill", fill_value=0.0) for name, table in tables.items()}


def _updated(tables: Tables, moments: Any, slopes: Any, batch: Batch, adam: Any, rate: Any, jax: Any) -> Any:
    """Adam for the rows of this batch only, each with its own step count: a pass costs what it reads, not all rows."""
    tables, moments = dict(tables), dict(moments)
    for name, rows in batch.rows.items():
        held = jax.tree.map(lambda table, rows=rows: table.at[rows].get(mode="fill", fill_value=0), moments[name])
        change, after = jax.vmap(adam.update)(slopes[name], held)
        tables[name] = tables[name].at[rows].add(-rate * change, mode="drop", unique_indices=True)
        moments[name] = jax.tree.map(partial(_put, rows), moments[name], after)
    return tables, moments


def _put(rows: Array, table: Array, values: Array) -> Array:
    return table.at[rows].set(values, mode="drop", unique_indices=True)


def loss_of(network: Network, weights: Weights, placed: Mapping[str, Array], batch: Batch, jax: Any) -> Array:
    """Weighted negative log-likelihood of sessions: of each click given those above, summed over ranks."""
    xp = jax.numpy
    seen = network.inputs(placed, len(batch.click), weights, xp)
    above = cells.click_vectors(batch.previous, weights)
    shown = xp.broadcast_to(seen.shown, (*above.shape[:2], seen.shown.shape[-1]))
    given = xp.concatenate([shown, above], axis=-1) @ weights["input"] + weights["bias"]

    def down(hidden: Array, at: tuple[Array, Array]) -> tuple[Array, Array]:
        after = xp.where(at[1][:, None], cells.step(hidden, at[0], weights, xp), hidden)
        return after, cells.out(after, weights)

    _, logit = jax.lax.scan(down, seen.start, (given, batch.shown), unroll=min(len(batch.click), 10))
    log_click, log_skip = jax.nn.log_sigmoid(logit), jax.nn.log_sigmoid(-logit)
    if seen.attraction is not None:
        attracted = jax.nn.log_sigmoid(seen.attraction)
        # 1 - e a = (1 - e) + e (1 - a) avoids cancellation.
        log_skip = xp.logaddexp(log_skip, log_click + jax.nn.log_sigmoid(-seen.attraction))
        log_click = log_click + attracted
    found = xp.where(batch.click > 0, log_click, log_skip)
    return -(xp.where(batch.shown, found, 0.0).sum(axis=0) * batch.weight).sum()


def placed(rows: Mapping[str, Array], batch: Batch) -> dict[str, Array]:
    """Embeddings at their places: [k, b, .] of documents, [b, .] of queries."""
    return {name: row[batch.place[name]] for name, row in rows.items()}


def slopes_of(
    network: Network, weights: Weights, rows: Mapping[str, Array], batch: Batch, jax: Any
) -> tuple[Array, dict[str, Array], dict[str, Array]]:
    """(loss of a batch, its gradients by weights and by rows), from as many sessions at a time as fit a cache."""
    given = placed(rows, batch)
    # Sessions are the last axis of arrays without embeddings, and the last but one of embeddings.
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
    """[parts, ...] the array cut along an axis into pieces of equal length, the last one padded with zeros."""
    missing = -array.shape[axis] % parts
    padded = xp.pad(array, [(0, missing if i == axis else 0) for i in range(array.ndim)])
    shape = (*array.shape[:axis], parts, padded.shape[axis] // parts, *array.shape[axis + 1 :])
    return xp.moveaxis(padded.reshape(shape), axis, 0)


def _joined(pieces: Array, like: Array, xp: Any) -> Array:
    """The pieces from `_cut` joined to the shape of `like`, whose sessions are the last axis but one."""
    axis = like.ndim - 2
    moved = xp.moveaxis(pieces, 0, axis)
    whole = moved.reshape((*like.shape[:axis], -1, like.shape[-1]))
    return whole[..., : like.shape[axis], :]
