"""The base of recurrent click models: settings, training, and the distribution of clicks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, final

import numpy as np

from ...errors import UsageError
from ...log.batch import Floats, Integers
from ...options import Say
from ..documents import SlateDocuments
from ..learnt import Learnt
from ..model import ClickModel
from ..parameters import Parameters, Role, Roles
from ..sessions import Sessions
from .batches import Batches, TrainingSessions, first_known, split
from .beside import beside_ubm
from .cells import Array, NetworkInput, Weights
from .law import Recurrent
from .training import Schedule, TrainedNetwork, libraries, train

QUERY = "query"
"""The parameter [documents + 1] that maps each document to its query, a row of the table of queries."""

_TABLE = "_embedding"
"""Suffix of the parameter of a table of embeddings."""

Arrays = Mapping[str, Floats]
Shapes = Mapping[str, tuple[int, int]]


@dataclass(frozen=True, repr=False, kw_only=True)
class RecurrentModel(ClickModel, ABC):
    """A gated recurrent unit that reads a list from the top, together with the clicks above.

    hidden: size of the state. batch: sessions per step of Adam; rate: its learning rate. epochs: the most passes over
    the log; patience: stop after so many passes in a row that were no better on held-out sessions. validation: the
    share of sessions that is held out. prior: standard deviation of the entries of an embedding around 0, which keeps
    rarely seen documents near the average. dropped: the share of documents that are treated as unseen
    ones in training, so that the model learns what to expect of those. seed: of all randomness; on a CPU the
    same seed gives the same parameters.

    The query is that of the log's column of queries, and is known where all documents of a list are new. In a log
    without one there is one row of the table of queries, for all sessions.

    After training, `ubm` learns from the same sessions, and both predict the held-out ones: a model that loses has the
    caution `behind-ubm`.
    """

    mixable: ClassVar[bool] = False
    hidden: int = 64
    batch: int = 512
    rate: float = 0.01
    epochs: int = 50
    patience: int = 5
    validation: float = 0.1
    prior: float = 0.1
    dropped: float = 0.01
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("hidden", "batch", "epochs", "patience"):
            if not (isinstance(getattr(self, name), int) and getattr(self, name) >= 1):
                raise UsageError(f"{name} is {getattr(self, name)}", f"give a whole number for {name}, 1 or more")
        for name in ("rate", "prior"):
            if not 0 < getattr(self, name) < np.inf:
                raise UsageError(f"{name} is {getattr(self, name)}", f"give a {name} above zero")
        for name in ("validation", "dropped"):
            if not 0 <= getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}", f"give a share from 0 to below 1 for {name}")

    @abstractmethod
    def tables(self, documents: int, queries: int) -> dict[str, tuple[int, int]]:
        """Shapes of the tables of embeddings `document` and `query`; the last row is for unseen ones."""

    @abstractmethod
    def dense(self, ranks: int) -> dict[str, tuple[int, ...]]:
        """Shapes of the weights outside the recurrent cell, `input` and `click` among them."""

    @abstractmethod
    def levels(self, click_rate: float) -> dict[str, Floats]:
        """Initial values that follow from the click rate of the log: `output_bias` [1] and others."""

    @abstractmethod
    def inputs(self, rows: Mapping[str, Array], ranks: int, weights: Weights, xp: Any) -> NetworkInput:
        """The input of the network. rows: document [k, n, .] and query [n, .] embeddings."""

    @abstractmethod
    def relevance_in(self, parameters: Parameters, document: Integers, query: Integers) -> Floats:
        """The relevance of documents [any shape], each in a query: rows of the tables, -1 for unseen ones."""

    @final
    def relevance(self, parameters: Parameters, document: Integers) -> Floats:
        """The relevance of each document in its own query."""
        return self.relevance_in(parameters, document, parameters[QUERY].astype(np.int64)[document])

    @final
    def relevance_on(self, parameters: Parameters, slots: SlateDocuments) -> Floats:
        if slots.query is None:
            return self.relevance(parameters, slots.document)
        query = np.broadcast_to(slots.query[:, None], slots.document.shape)
        return self.relevance_in(parameters, slots.document, query)

    @final
    def roles(self) -> Roles:
        cell = ("recurrent", "output", "bias", "recurrent_bias")
        weights = dict.fromkeys([*cell, *self.dense(1), *self.levels(0.5)], Role.WEIGHTS)
        return {**weights, **{name + _TABLE: Role.EMBEDDING for name in self.tables(1, 1)}, QUERY: Role.QUERY}

    @final
    def learn(self, data: Sessions, *, start: Parameters | None = None, say: Say = len) -> Learnt:
        libraries()
        gathered, rng = TrainingSessions.of(data), np.random.default_rng(self.seed)
        shapes = self.tables(data.documents, gathered.queries)
        lengths = {name: shape[0] for name, shape in shapes.items()}
        known, held = split(data.weight, self.validation, rng)
        batches = Batches(gathered, known, self.batch, lengths, self.dropped), Batches(gathered, held, 4096, lengths)
        arrays = self._drawn(data, shapes, rng) if start is None else self._parted(start)
        schedule = Schedule(self.rate, self.prior, self.epochs, self.patience)
        # Models with the same computation share compiled code.
        bare = replace(self, batch=1, rate=1.0, epochs=1, patience=1, validation=0.0, prior=1.0, dropped=0.0, seed=0)
        trained = train(bare, *arrays, batches, schedule=schedule, rng=rng, say=say)
        tables = {name + _TABLE: table for name, table in trained.tables.items()}
        parameters = {**trained.weights, **tables, QUERY: gathered.query_of.astype(np.float64)}
        beside = beside_ubm(partial(self.law, parameters), data, known, held)
        return Learnt(
            parameters,
            rounds=len(trained.losses) - 1,
            converged=trained.stopped,
            facts={**self._facts(trained, gathered, float(held.sum())), **beside.facts()},
            cautions=beside.cautions(self.name),
        )

    def _drawn(self, data: Sessions, shapes: Shapes, rng: np.random.Generator) -> tuple[Arrays, Arrays]:
        """Initial (weights, tables): small random numbers, and the click rate of the log."""
        cell = {"recurrent": (self.hidden, 3 * self.hidden), "output": (self.hidden,)}
        dense = {name: _spread(shape, rng) for name, shape in {**cell, **self.dense(data.ranks)}.items()}
        zeros = {"bias": 3 * self.hidden, "recurrent_bias": self.hidden}
        flat = {name: np.zeros(size) for name, size in zeros.items()}
        tables = {name: 0.1 * rng.standard_normal(shape) for name, shape in shapes.items()}
        for table in tables.values():
            table[-1] = 0.0
        return {**dense, **flat, **self.levels(_click_rate(data))}, tables

    def _facts(self, trained: TrainedNetwork, gathered: TrainingSessions, held: float) -> dict[str, Any]:
        return {
            "queries": gathered.queries or "none: the sessions have no queries",
            "epochs": len(trained.losses) - 1,
            "best epoch": trained.best,
            "held-out log-loss by epoch": list(trained.losses),
            "training log-loss by epoch": list(trained.learnt),
            "held-out sessions": held,
            "seed": self.seed,
        }

    @final
    def law(self, parameters: Parameters, slots: SlateDocuments) -> Recurrent:
        weights, tables = self._parted(parameters)
        if slots.query is None:
            known = first_known(np.where(slots.shown, slots.document, -1))
            slots = replace(slots, query=parameters[QUERY].astype(np.int64)[known])
        return Recurrent(partial(self._seen, weights, tables), weights, slots)

    def _parted(self, parameters: Parameters) -> tuple[Arrays, Arrays]:
        """(dense weights, tables of embeddings)."""
        roles = self.roles()
        weights = {name: array for name, array in parameters.items() if roles.get(name) is Role.WEIGHTS}
        return weights, {name: parameters[name + _TABLE] for name in self.tables(1, 1)}

    def _seen(self, weights: Arrays, tables: Arrays, slots: SlateDocuments) -> NetworkInput:
        rows = {"document": tables["document"][slots.document.T], "query": tables["query"][slots.query]}
        return self.inputs(rows, slots.document.shape[1], weights, np)


def _spread(shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Random normal weights that preserve the scale of their inputs."""
    return np.asarray(rng.standard_normal(shape) / np.sqrt(shape[0]))


def _click_rate(data: Sessions) -> float:
    """Share of the shown documents that are clicked, smoothed by half a click and half a skip."""
    weight = data.weight[:, None]
    return float(((weight * data.click).sum() + 0.5) / ((weight * (data.document >= 0)).sum() + 1.0))
