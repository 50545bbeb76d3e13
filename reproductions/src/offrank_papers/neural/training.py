"""Training of a recurrent click model: Adam on padded batches, with early stopping on held-out sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from offrank.clicks.sessions import Sessions
from offrank.errors import UsageError, optional
from offrank.log.batch import Floats, Integers

from .law import Array, Arrays, Network, click_vectors, out, step

PIECE = 512
"""Sessions whose gradient is computed at once on a CPU; an accelerator takes a whole batch."""


def libraries() -> tuple[Any, Any]:
    """(jax, optax).

    Raises:
        MissingExtraError: they are not installed.
    """
    needing = "neural click models need JAX and optax"
    return optional("jax", needing, "neural"), optional("optax", needing, "neural")


# Batches ------------------------------------------------------------------------------------------------------------


class Batch(NamedTuple):
    """b sessions of k ranks, ranks first; of each table, at most r rows.

    rows: table -> [r] the rows in use, each once; beyond them, the table's length. place: table -> [k, b] or [b] which
    of `rows`. share: table -> [r] the part of each row's prior that counts in this batch. previous: [k, b] the click
    above. shown, click: [k, b]. weight: [b], 0 for padding.
    """

    rows: dict[str, Any]
    place: dict[str, Any]
    share: dict[str, Any]
    previous: Any
    shown: Any
    click: Any
    weight: Any


def queries_of(sessions: Sessions) -> Integers:
    """[documents + 1] the query of each document; the last is the number of queries, which stands for an unseen one.

    Where the log has no column of queries, that number is 0 and all queries are unseen.
    """
    query = np.zeros(sessions.documents, np.int64) if sessions.query is None else sessions.query
    return np.append(query, 0 if sessions.query is None else int(query.max(initial=-1)) + 1)


def first_known(document: NDArray[np.integer[Any]]) -> Integers:
    """[n] the first document of each slate that was in the training log, -1 where none was."""
    known = document >= 0
    first = document[np.arange(len(document)), known.argmax(axis=1)]
    return np.where(known.any(axis=1), first, -1).astype(np.int64)


def previous_clicks(shown: NDArray[np.bool_], click: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """[n, k] the click on the nearest document above each rank: 0 or 1, and 2 where there is none above."""
    previous = np.full(click.shape, 2, np.uint8)
    for rank in range(1, click.shape[1]):
        previous[:, rank] = np.where(shown[:, rank - 1], click[:, rank - 1], previous[:, rank - 1])
    return previous


def hold_out(weight: Floats, share: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """(training weights, held-out weights): a session of weight w is held out a binomial number of times.

    Holding out all of its copies at once would remove the commonest sessions. Sums are kept. Where either
    side would be empty, all sessions are on both.
    """
    copies = np.maximum(np.rint(weight), 1).astype(np.int64)
    held = weight * (rng.binomial(copies, share) / copies)
    if held.any() and (held < weight).any():
        return weight - held, held
    return weight, weight


class Batches:
    """Passes over the sessions of positive weight, in batches of one shape.

    size: sessions in a batch. dropped: the share of documents, and of sessions' queries, that are treated as unseen, so
    that the last row of each table learns what to expect of those.
    """

    def __init__(self, data: Sessions, weight: Floats, size: int, dropped: float = 0.0) -> None:
        self.data, self.weight, self.dropped = data, weight, dropped
        self.kept = np.flatnonzero(weight > 0)
        self.size = max(min(size, len(self.kept)), 1)
        query_of = queries_of(data)
        query = query_of[first_known(data.document)].astype(np.int32)
        self.codes = {"document": data.document, "query": query[:, None]}
        # The total weight of each row in a whole pass; that of an unseen one, the last, has no prior.
        self.totals = {"document": np.zeros(data.documents + 1), "query": np.zeros(query_of[-1] + 1)}
        for name, total in self.totals.items():
            np.add.at(total, *_met(self.codes[name], weight))
            total[-1] = np.inf

    def passed(self, rng: np.random.Generator | None = None) -> Iterator[Batch]:
        """Batches with every session once; with an `rng`, in a random order and with documents dropped."""
        order = self.kept if rng is None else rng.permutation(self.kept)
        for first in range(0, len(order), self.size):
            yield self._batch(order[first : first + self.size], rng)

    def _batch(self, chosen: Integers, rng: np.random.Generator | None) -> Batch:
        # The last batch of a pass is filled with sessions of no weight in which nothing is shown.
        real = np.arange(self.size) < len(chosen)
        chosen = np.resize(chosen, self.size)
        weight = np.where(real, self.weight[chosen], 0.0)
        shown, click = (self.data.document[chosen] >= 0) & real[:, None], self.data.click[chosen]
        rows, place, share = {}, {}, {}
        for name, codes in self.codes.items():
            used = np.where(real[:, None], codes[chosen], -1)
            rows[name], found, share[name] = self._renumbered(name, used, weight, rng)
            place[name] = found if name == "document" else found[0]
        return Batch(rows, place, share, previous_clicks(shown, click).T, shown.T, click.T, weight.astype(np.float32))

    def _renumbered(
        self, name: str, codes: NDArray[np.int32], weight: Floats, rng: np.random.Generator | None
    ) -> tuple[Any, Any, Any]:
        """(rows, place [k, b], share) of one table for codes [b, k], as in `Batch`; with an `rng`, some are dropped."""
        total, known = self.totals[name], codes >= 0
        if rng is not None and self.dropped:
            hit = (rng.random(codes.shape, dtype=np.float32) < self.dropped) & known
            codes = np.where(hit, np.int32(len(total) - 1), codes)
        size = min(codes.size, len(total))
        rows, share, place = np.full(size, len(total), np.int32), np.zeros(size, np.float32), np.zeros_like(codes)
        found, each = _met(codes, weight)
        used, place[known] = np.unique(found, return_inverse=True)
        rows[: len(used)], share[: len(used)] = used, np.bincount(place[known], each) / total[used]
        return rows, place.T, share


def _met(codes: NDArray[np.int32], weight: Floats) -> tuple[NDArray[np.int32], Floats]:
    """The codes [b, k] that there are, each with the weight of its session [b]."""
    known = codes >= 0
    return codes[known], np.broadcast_to(weight[:, None], codes.shape)[known]


# Steps --------------------------------------------------------------------------------------------------------------


def train(
    network: Network,
    weights: Arrays,
    tables: Arrays,
    batches: tuple[Batches, Batches],
    *,
    rate: float,
    prior: float,
    epochs: int,
    patience: int,
    rng: np.random.Generator,
    say: Callable[[str], object],
) -> tuple[dict[str, Floats], dict[str, Floats], list[float], list[float]]:
    """Run Adam until `patience` epochs in a row were no better on held-out sessions.

    batches: (training, held out). rate: of Adam. prior: standard deviation of embeddings. The start counts as epoch 0,
    so the result is never worse than the start.

    Returns:
        (weights, tables) of the best epoch, and the log-loss per session of each epoch: held-out, with that of the
        start, and in training.

    Raises:
        UsageError: not even the start has a finite loss.
    """
    learning, held = batches
    begin, advance, loss = _compiled(network)
    state = begin(*({name: np.asarray(a, np.float32) for name, a in part.items()} for part in (weights, tables)))

    def held_out() -> float:
        return _per_session([loss(state, batch) for batch in held.passed()], held)

    best, losses, learnt = _copy(state), [held_out()], list[float]()
    if not np.isfinite(losses[0]):
        raise UsageError("the initial parameters give no finite likelihood", "start without them")
    try:
        for epoch in range(1, epochs + 1):
            sums = []
            for batch in learning.passed(rng):
                state, total = advance(state, batch, rate, prior)
                sums.append(total)
            learnt.append(_per_session(sums, learning))
            losses.append(held_out())
            least = int(np.nanargmin(losses))
            say(f"epoch {epoch}: held-out log-loss {losses[-1]:.5f}, best {losses[least]:.5f}")
            if least == epoch:
                best = _copy(state)
            elif epoch - least >= patience:
                break
    except BaseException:
        # A process that ends while steps run, as one that is interrupted, would crash.
        libraries()[0].block_until_ready(libraries()[0].live_arrays())
        raise
    return *best, losses, learnt


def _copy(state: Any) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """(weights, tables), on the host, because the next step overwrites the arrays on the device."""
    weights, _, tables = state
    parts = weights, {name: table for name, (table, _) in tables.items()}
    first, second = ({name: np.array(array, np.float64) for name, array in part.items()} for part in parts)
    return first, second


def _per_session(sums: list[Any], batches: Batches) -> float:
    return float(np.sum([float(total) for total in sums])) / max(float(batches.weight.sum()), 1e-300)


@lru_cache(maxsize=16)
def _compiled(network: Network) -> tuple[Any, Any, Any]:
    """(the initial state, one step of Adam, the loss of a batch), compiled at first use.

    A state is (weights, their moments, tables): each table with the moments of its rows.
    """
    jax, optax = libraries()
    adam = optax.scale_by_adam()
    clipped = optax.chain(optax.clip_by_global_norm(1.0), adam)

    def begin(weights: Arrays, tables: Arrays) -> tuple[Any, ...]:
        return weights, clipped.init(weights), {name: (t, jax.vmap(adam.init)(t)) for name, t in tables.items()}

    def rows_of(tables: Any, batch: Batch) -> dict[str, Any]:
        return {name: jax.tree.map(partial(_taken, batch.rows[name]), table) for name, table in tables.items()}

    def loss(state: tuple[Any, ...], batch: Batch) -> Array:
        weights, _, tables = state
        rows = {name: row for name, (row, _) in rows_of(tables, batch).items()}
        return loss_of(network, weights, _placed(rows, batch), batch, jax)

    def advance(state: tuple[Any, ...], batch: Batch, rate: float, prior: float) -> tuple[tuple[Any, ...], Array]:
        weights, moments, tables = state
        # Of the rows of this batch only, each with its own step count: a pass costs what it reads, not all rows.
        used, scale = rows_of(tables, batch), 1 / jax.numpy.maximum(batch.weight.sum(), 1e-30)
        rows = {name: row for name, (row, _) in used.items()}
        total, slopes, row_slopes = slopes_of(network, weights, rows, batch, jax)
        change, moments = clipped.update(jax.tree.map(lambda slope: scale * slope, slopes), moments)
        weights = {name: array - rate * change[name] for name, array in weights.items()}
        after = {}
        for name, (row, own) in used.items():
            slope = scale * (row_slopes[name] + batch.share[name][:, None] * row / prior**2)
            turn, own_after = jax.vmap(adam.update)(slope, own)
            (table, all_own), at = tables[name], batch.rows[name]
            table = table.at[at].add(-rate * turn, mode="drop", unique_indices=True)
            after[name] = table, jax.tree.map(partial(_put, at), all_own, own_after)
        return (weights, moments, after), total

    return jax.jit(begin), jax.jit(advance, donate_argnums=0), jax.jit(loss)


def _taken(rows: Array, table: Array) -> Array:
    return table.at[rows].get(mode="fill", fill_value=0)


def _put(rows: Array, table: Array, values: Array) -> Array:
    return table.at[rows].set(values, mode="drop", unique_indices=True)


def _placed(rows: Arrays, batch: Batch) -> dict[str, Array]:
    """Embeddings at their places: [k, b, .] of documents, [b, .] of queries."""
    return {name: row[batch.place[name]] for name, row in rows.items()}


def slopes_of(
    network: Network, weights: Arrays, rows: Arrays, batch: Batch, jax: Any
) -> tuple[Array, dict[str, Array], dict[str, Array]]:
    """(loss of a batch, its gradients by weights and by rows), from as many sessions at a time as fit a cache."""
    parts = -(-len(batch.weight) // PIECE) if jax.default_backend() == "cpu" else 1

    def cut(array: Array) -> Array:
        """[parts, ...] pieces of equal length along the last axis, that of the sessions; zeros fill the last one."""
        filled = jax.numpy.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, -array.shape[-1] % parts)])
        return jax.numpy.moveaxis(filled.reshape(*array.shape[:-1], parts, -1), -2, 0)

    def slopes_of_piece(piece: Batch) -> tuple[Array, Any]:
        of_embeddings = partial(loss_of, network, batch=piece, jax=jax)
        return jax.value_and_grad(of_embeddings, (0, 1))(weights, _placed(rows, piece))

    pieces = jax.tree.map(cut, batch._replace(rows={}, share={}))
    totals, (slopes, placed) = jax.lax.map(slopes_of_piece, pieces)
    row_slopes = {n: jax.numpy.zeros_like(row).at[pieces.place[n]].add(placed[n]) for n, row in rows.items()}
    return totals.sum(), jax.tree.map(lambda slope: slope.sum(axis=0), slopes), row_slopes


def loss_of(network: Network, weights: Arrays, placed: Arrays, batch: Batch, jax: Any) -> Array:
    """Weighted negative log-likelihood of sessions: of each click given those above, summed over ranks."""
    xp = jax.numpy
    seen = network.inputs(placed, len(batch.click), weights, xp)
    above = click_vectors(batch.previous, weights)
    shown = xp.broadcast_to(seen.shown, (*above.shape[:2], seen.shown.shape[-1]))
    given = xp.concatenate([shown, above], axis=-1) @ weights["input"] + weights["bias"]

    def down(hidden: Array, at: tuple[Array, Array]) -> tuple[Array, Array]:
        after = xp.where(at[1][:, None], step(hidden, at[0], weights, xp), hidden)
        return after, out(after, weights)

    _, logit = jax.lax.scan(down, seen.start, (given, batch.shown), unroll=min(len(batch.click), 10))
    log_click, log_skip = jax.nn.log_sigmoid(logit), jax.nn.log_sigmoid(-logit)
    if seen.attraction is not None:
        attracted = jax.nn.log_sigmoid(seen.attraction)
        # 1 - e a = (1 - e) + e (1 - a) avoids cancellation.
        log_skip = xp.logaddexp(log_skip, log_click + jax.nn.log_sigmoid(-seen.attraction))
        log_click = log_click + attracted
    found = xp.where(batch.click > 0, log_click, log_skip)
    return -(xp.where(batch.shown, found, 0.0).sum(axis=0) * batch.weight).sum()
