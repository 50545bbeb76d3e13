"""Learning the weights of a recurrent click model: Adam on padded batches, stopped where held-out sessions say so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import UsageError, optional
from ...log.batch import Floats
from .batches import Batch, Batches
from .cells import Array, Weights
from .gradients import Network, loss_of, placed, slopes_of

Tables = Mapping[str, Array]
"""Tables of embeddings by name: a row for each document or query, and one more for those never seen."""


@dataclass(frozen=True)
class Pace:
    """How training goes on. rate: of Adam. prior: standard deviation of embeddings. epochs, patience: when it ends."""

    rate: float
    prior: float
    epochs: int
    patience: int


@dataclass(frozen=True)
class Trained:
    """The best state that was met. losses: held-out, and learnt: training, log-loss per session of each epoch."""

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
    """Interrupted, waits for the steps that have begun: a process that ends while they still run would crash."""
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
    pace: Pace,
    rng: np.random.Generator,
    say: Callable[[str], object],
) -> Trained:
    """Adam until `pace.patience` epochs in a row were no better on held-out sessions; the best epoch's state, always.

    batches: (to learn from, held out). The start counts as epoch 0: learning never ends worse than it began.

    Raises:
        UsageError: not even the start has a finite loss.
    """
    learning, held = batches
    advance, loss, begin = _compiled(network)
    state = begin(*({name: np.asarray(a, np.float32) for name, a in part.items()} for part in (weights, tables)))
    best, losses, learnt = _copy(state), [_mean(loss, state, held)], list[float]()
    if not np.isfinite(losses[0]):
        raise UsageError("the parameters to start from give no finite likelihood", "start without them")
    while len(losses) <= pace.epochs and len(losses) - 1 - _least(losses) < pace.patience:
        sums = []
        for batch in learning.passed(rng):
            state, total = advance(state, batch, pace.rate, pace.prior)
            sums.append(total)
        learnt.append(_per_session(sums, learning))
        losses.append(_mean(loss, state, held))
        say(f"epoch {len(losses) - 1}: held-out log-loss {losses[-1]:.5f}, best {losses[_least(losses)]:.5f}")
        if _least(losses) == len(losses) - 1:
            best = _copy(state)
    stopped = len(losses) - 1 - _least(losses) >= pace.patience
    return Trained(*best, tuple(losses), tuple(learnt), _least(losses), stopped)


def _least(losses: list[float]) -> int:
    return int(np.argmin(np.nan_to_num(losses, nan=np.inf)))


def _copy(state: Any) -> tuple[dict[str, Floats], dict[str, Floats]]:
    # To the host: the next step writes over what is on the device.
    weights, tables = ({name: np.array(array, np.float64) for name, array in part.items()} for part in state[:2])
    return weights, tables


def _mean(loss: Any, state: Any, batches: Batches) -> float:
    return _per_session([loss(state[0], state[1], batch) for batch in batches.passed()], batches)


def _per_session(sums: list[Any], batches: Batches) -> float:
    return float(np.sum([float(total) for total in sums])) / max(float(batches.weight.sum()), 1e-300)


@lru_cache(maxsize=16)
def _compiled(network: Network) -> tuple[Any, Any, Any]:
    """(one step of Adam, the loss of a batch, the state to begin with), compiled at first use."""
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
        tables, row_moments = _updated(tables, row_moments, row_slopes, batch, partial(_slowed, adam, rate), jax)
        weights = {name: array - rate * change[name] for name, array in weights.items()}
        return (weights, tables, moments, row_moments), total

    return jax.jit(advance, donate_argnums=0), jax.jit(loss), jax.jit(begin)


def _rows(tables: Tables, batch: Batch) -> dict[str, Array]:
    return {name: table.at[batch.rows[name]].get(mode="fill", fill_value=0.0) for name, table in tables.items()}


def _updated(tables: Tables, moments: Any, slopes: Any, batch: Batch, update: Any, jax: Any) -> tuple[Any, Any]:
    """Adam for the rows of this batch only, each with a clock of its own: a pass costs what it reads, not all rows."""
    tables, moments = dict(tables), dict(moments)
    for name, rows in batch.rows.items():
        held = jax.tree.map(lambda table, rows=rows: table.at[rows].get(mode="fill", fill_value=0), moments[name])
        change, after = jax.vmap(update)(slopes[name], held)
        put = partial(_put, rows)
        tables[name] = tables[name].at[rows].add(change, mode="drop", unique_indices=True)
        moments[name] = jax.tree.map(put, moments[name], after)
    return tables, moments


def _slowed(adam: Any, rate: float, slope: Array, moments: Any) -> tuple[Array, Any]:
    change, moments = adam.update(slope, moments)
    return -rate * change, moments


def _put(rows: Array, table: Array, values: Array) -> Array:
    return table.at[rows].set(values, mode="drop", unique_indices=True)
