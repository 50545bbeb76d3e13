"""Recurrent click models: their settings, training, and the distribution of clicks; NCM and CACM."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, final

import numpy as np

from offrank.clicks.base import FitResult, Parameters, Role, Roles
from offrank.clicks.documents import SlateDocuments
from offrank.clicks.fit.em import logit
from offrank.clicks.laws import ClickLaw, log_probs
from offrank.clicks.model import SessionModel
from offrank.clicks.sessions import Sessions
from offrank.clicks.ubm import UBM
from offrank.errors import UsageError
from offrank.language import Say, silent
from offrank.language.formatting import with_error
from offrank.log.batch import Floats, Integers
from offrank.sums.estimate import Caution

from .law import Array, Arrays, Network, NetworkInput, Recurrent, sigmoid, step
from .training import Batches, first_known, hold_out, libraries, queries_of, train

QUERY = "query"
"""The parameter [documents + 1] that maps each document to its query, a row of the table of queries."""
_TABLE = "_embedding"
"""Suffix of the parameter of a table of embeddings."""
_TESTED = 4096
"""Held-out sessions in a batch."""
CLEAR = 1.96
"""Standard errors from which on the difference is no chance."""
_LEAST = 1e-12
"""Share of a held-out session that `ubm` learns from all the same, so that its tables are complete."""


@dataclass(frozen=True, repr=False, kw_only=True)
class RecurrentModel(SessionModel, Network, ABC):
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
    def learn(self, data: Sessions, *, start: Parameters | None = None, say: Say = silent) -> FitResult:
        libraries()
        rng, query_of = np.random.default_rng(self.seed), queries_of(data)
        queries = int(query_of[-1])
        shapes = self.tables(data.documents, queries)
        known, held = hold_out(data.weight, self.validation, rng)
        batches = Batches(data, known, self.batch, self.dropped), Batches(data, held, _TESTED)
        begin = self._drawn(data, shapes, rng) if start is None else self._parted(start)
        settings = {name: getattr(self, name) for name in ("rate", "prior", "epochs", "patience")}
        # Models with the same computation share compiled code.
        bare = replace(self, batch=1, rate=1.0, epochs=1, patience=1, validation=0.0, prior=1.0, dropped=0.0, seed=0)
        weights, tables, losses, learnt = train(bare, *begin, batches, **settings, rng=rng, say=say)
        named = {name + _TABLE: table for name, table in tables.items()}
        parameters = {**weights, **named, QUERY: query_of.astype(np.float64)}
        info, cautions = _beside_ubm(self.name, partial(self.law, parameters), data, known, held)
        epochs, best = len(learnt), int(np.nanargmin(losses))
        info = {
            "queries": queries or "skipped: the sessions have no queries",
            "epochs": epochs,
            "best epoch": best,
            "held-out log-loss by epoch": losses,
            "training log-loss by epoch": learnt,
            "held-out sessions": float(held.sum()),
            "seed": self.seed,
            **info,
        }
        return FitResult(
            parameters, rounds=epochs, converged=epochs - best >= self.patience, info=info, cautions=cautions
        )

    def _drawn(self, data: Sessions, shapes: Mapping[str, tuple[int, int]], rng: Any) -> tuple[Arrays, Arrays]:
        """Initial (weights, tables): small random numbers that keep the scale of inputs, and the log's click rate."""
        cell = {"recurrent": (self.hidden, 3 * self.hidden), "output": (self.hidden,)}
        dense = {
            name: rng.standard_normal(shape) / np.sqrt(shape[0])
            for name, shape in {**cell, **self.dense(data.ranks)}.items()
        }
        zeros = {"bias": np.zeros(3 * self.hidden), "recurrent_bias": np.zeros(self.hidden)}
        tables = {name: 0.1 * rng.standard_normal(shape) for name, shape in shapes.items()}
        for table in tables.values():
            table[-1] = 0.0
        weight = data.weight[:, None]
        # Smoothed by half a click and half a skip.
        click_rate = ((weight * data.click).sum() + 0.5) / ((weight * (data.document >= 0)).sum() + 1.0)
        return {**dense, **zeros, **self.levels(float(click_rate))}, tables

    @final
    def law(self, parameters: Parameters, slots: SlateDocuments) -> Recurrent:
        if slots.query is None:
            known = first_known(np.where(slots.shown, slots.document, -1))
            slots = replace(slots, query=parameters[QUERY].astype(np.int64)[known])
        return Recurrent(self, *self._parted(parameters), slots)

    def _parted(self, parameters: Parameters) -> tuple[Arrays, Arrays]:
        """(dense weights, tables of embeddings)."""
        roles = self.roles()
        weights = {name: array for name, array in parameters.items() if roles.get(name) is Role.WEIGHTS}
        return weights, {name: parameters[name + _TABLE] for name in self.tables(1, 1)}


@dataclass(frozen=True, repr=False, kw_only=True)
class NCM(RecurrentModel):
    """The neural click model (Borisov et al. 2016): a recurrent network whose state gives the click.

    It reads the query, then each document with the last click above it.

    Parameters:
        hidden: size of the recurrent state.
        batch: sessions per step.
        rate: learning rate.
        epochs: most passes over the log.
        patience: learning stops after so many passes in a row that were no better on held-out sessions.
        validation: share of the sessions that is held out.
        prior: the Beta prior of the tables of documents: "fit" (depends on the mean logged rank of a document),
            "common" (fitted, the same for all), or (a, b).
        dropped: share of the inputs that is dropped while learning.
        seed: seed of what is random: the same seed gives the same result.
        embedding: numbers per query and per document.
        click_embedding: per click above. The first step reads the query alone, all others see zeros for the query;
            above the first document there is no click, for which zeros stand, in training as in `relevance`: the
            click probability of a document at the top of the list (Borisov et al.).

    Examples:
        >>> offrank.clicks.click_model("ncm") == offrank.clicks.NCM()
        True
    """

    name: ClassVar[str] = "ncm"
    embedding: int = 64
    click_embedding: int = 4

    def tables(self, documents: int, queries: int) -> dict[str, tuple[int, int]]:
        return {"document": (documents + 1, self.embedding), "query": (queries + 1, self.embedding)}

    def dense(self, ranks: int) -> dict[str, tuple[int, ...]]:
        return {
            "query_input": (self.embedding, 3 * self.hidden),
            "input": (self.embedding + self.click_embedding, 3 * self.hidden),
            "click": (2, self.click_embedding),
        }

    def levels(self, click_rate: float) -> dict[str, Floats]:
        return {"output_bias": logit(np.array([click_rate]))}

    def inputs(self, rows: Mapping[str, Array], ranks: int, weights: Arrays, xp: Any) -> NetworkInput:
        read = rows["query"] @ weights["query_input"] + weights["bias"]
        nothing = xp.zeros((len(rows["query"]), self.hidden), dtype=read.dtype)
        return NetworkInput(step(nothing, read, weights, xp), rows["document"], None)

    def relevance_in(self, parameters: Parameters, document: Integers, query: Integers) -> Floats:
        pairs = np.stack([document.ravel(), query.ravel()], axis=1)
        distinct, place = np.unique(pairs, axis=0, return_inverse=True)
        alone = SlateDocuments(distinct[:, :1], np.ones((len(distinct), 1), np.bool_), distinct[:, 1])
        chance = self.law(parameters, alone).conditional(np.zeros((len(distinct), 1)))[:, 0]
        return np.asarray(chance[place].reshape(document.shape))


@dataclass(frozen=True, repr=False, kw_only=True)
class CACM(RecurrentModel):
    """The context-aware click model (Chen et al. 2020), in the variant without its knowledge graph.

    Examination from a recurrent network over ranks and clicks above, times the relevance of each document.

    Parameters:
        hidden: size of the recurrent state.
        batch: sessions per step.
        rate: learning rate.
        epochs: most passes over the log.
        patience: learning stops after so many passes in a row that were no better on held-out sessions.
        validation: share of the sessions that is held out.
        prior: the Beta prior of the tables of documents: "fit" (depends on the mean logged rank of a document),
            "common" (fitted, the same for all), or (a, b).
        dropped: share of the inputs that is dropped while learning.
        seed: seed of what is random: the same seed gives the same result.
        embedding: numbers per rank.
        click_embedding: per click above. The click is the product of both, as in Eq. 14 of Deffayet et al. 2022,
            whom paper cmip-debiasedness follows. Ranks below the lowest one learnt from are treated like that one.
            relevance = sigmoid(common level + level of the query + the document's own level): single numbers, hence
            the wider prior. A new document has the level of its query.

    Examples:
        >>> offrank.clicks.click_model("cacm") == offrank.clicks.CACM()
        True
    """

    name: ClassVar[str] = "cacm"
    hidden: int = 32
    rate: float = 0.05
    patience: int = 3
    prior: float = 1.5
    embedding: int = 4
    click_embedding: int = 4

    def tables(self, documents: int, queries: int) -> dict[str, tuple[int, int]]:
        return {"document": (documents + 1, 1), "query": (queries + 1, 1)}

    def dense(self, ranks: int) -> dict[str, tuple[int, ...]]:
        return {
            "position": (ranks, self.embedding),
            "input": (self.embedding + self.click_embedding, 3 * self.hidden),
            "click": (2, self.click_embedding),
        }

    def levels(self, click_rate: float) -> dict[str, Floats]:
        # Initial examination of one half.
        return {"output_bias": np.zeros(1), "common": logit(np.array([min(2 * click_rate, 0.9)]))}

    def inputs(self, rows: Mapping[str, Array], ranks: int, weights: Arrays, xp: Any) -> NetworkInput:
        document, known = rows["document"], weights["position"]
        position = known[np.minimum(np.arange(ranks), len(known) - 1)][:, None]
        nothing = xp.zeros((document.shape[1], self.hidden), dtype=document.dtype)
        return NetworkInput(nothing, position, document[..., 0] + rows["query"][..., 0] + weights["common"][0])

    def relevance_in(self, parameters: Parameters, document: Integers, query: Integers) -> Floats:
        level = parameters["document_embedding"][document, 0] + parameters["query_embedding"][query, 0]
        return np.asarray(sigmoid(level + parameters["common"][0], np))


def _beside_ubm(
    name: str, law: Callable[[SlateDocuments], ClickLaw], data: Sessions, known: Floats, held: Floats
) -> tuple[dict[str, Any], tuple[Caution, ...]]:
    """(info, cautions): how well a network predicts held-out sessions, and `ubm`, which learns from the same ones.

    known, held: [n] the weights of the sessions in training and on testing.
    """
    if not (held < data.weight).any():
        return {}, ()  # nothing was held out: all sessions are on both sides
    ubm = UBM()
    tables = ubm.learn(ubm.from_sessions(replace(data, weight=known + _LEAST * held))).parameters
    tested, weight = data.where(held > 0), held[held > 0]
    slots, click = SlateDocuments(tested.document.astype(np.int64), tested.document >= 0), tested.click.astype(float)
    away = log_probs(law(slots), click) - log_probs(ubm.law(tables, slots), click)
    ahead = float(np.average(away, weights=weight))
    # A session of weight w stands for w like it.
    error = float(np.sqrt(weight @ (away - ahead) ** 2) / weight.sum())
    said = "{} (standard error {}) nats per session".format(*with_error(ahead, error, signed=True))
    info = {"held-out log-likelihood minus that of ubm": said}
    return info, (behind_ubm(name, ahead, error, float(weight.sum())),) if ahead < 0 else ()


def behind_ubm(model: str, ahead: float, error: float, sessions: float) -> Caution:
    """The caution about a network that predicts less well than `ubm`: `ahead` nats a session, below 0."""
    away, doubt = with_error(-ahead, error)
    clear = -ahead > CLEAR * error
    perhaps = "" if clear else ": chance alone could explain the difference, but the network is no better either"
    return Caution(
        "behind-ubm",
        "warning" if clear else "note",
        f"On {sessions:,.0f} held-out sessions, the log-likelihood of {model} is {away} nats per session (standard "
        f"error {doubt}) below that of ubm trained on the same sessions{perhaps}.",
        "Use ubm, which is faster and has intervals, or give the network more sessions or other settings.",
    )
