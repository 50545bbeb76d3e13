"""Logs of simulated users, whose click models and all tables of these are known.

Queries of 10 documents with grades in the proportions of MSLR; attraction R = .1 + .9 (2^g - 1) / 15, satisfaction
R / 2; a policy that draws rankings by Plackett-Luce with weights exp((g + N(0, 1/4)) / T). Users follow the law of the
model that is fitted: every model of `MODELS` on its own users, but click rates in the world `cascading`, whose users
are those of `dbn`, so that the clicks of a session depend on each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offrank.clicks.laws import Browsing, Cascading, ClickLaw, Independent

RANKS = 10
SHARES = [0.52, 0.32, 0.13, 0.02, 0.01]

Floats = NDArray[np.float64]
Tables = Mapping[str, Floats]


@dataclass(frozen=True)
class Log:
    """Sessions of one world.

    document: [n, 10] int32 by rank, of those that occur. query: [n]. click: [n, 10] uint8. truth: the tables of the
    model, without the entry of an unseen document; NaN for entries that convention fixes or that the log never uses.
    grade, score: [d] of each document, and what the policy sorts by, on the scale of temperature 1.
    """

    document: NDArray[np.int32]
    query: NDArray[np.int64]
    click: NDArray[np.uint8]
    truth: Tables
    grade: NDArray[np.int64]
    score: Floats


@dataclass(frozen=True)
class World:
    """sessions, queries; temperature of the policy: infinite for random orders, 0 for one ranking of each query."""

    sessions: int
    queries: int
    temperature: float
    rates: str = ""
    """The users whose click rates are learnt; each model's own where empty."""

    def log(self, model: str, seed: int, scale: float = 1.0) -> Log:
        """A log of users of this model."""
        rng = np.random.default_rng([seed, self.sessions, self.queries])
        sessions, shape = max(int(self.sessions * scale), 50), (self.queries, RANKS)
        grade = rng.choice(5, shape, p=SHARES)
        score = grade + 0.5 * rng.standard_normal(shape)
        query = rng.integers(0, self.queries, sessions)
        noise = rng.gumbel(size=(sessions, RANKS)) * min(self.temperature, 1e9)
        order = np.argsort(-(score[query] + noise), axis=1)
        seen, query = np.unique(query, return_inverse=True)
        document = query[:, None] * RANKS + order
        relevance = 0.1 + 0.9 * (2.0 ** grade[seen].ravel() - 1) / 15
        users = MODELS[self.rates if self.rates and model.endswith("ctr") else model]
        law, truth = users(relevance, document)
        click = law.sample(rng).astype(np.uint8)
        if model.endswith("ctr"):
            truth = rates(model, law.marginal(), document)
        return Log(document.astype(np.int32), query, click, truth, grade[seen].ravel(), score[seen].ravel())


WORLDS = {
    "near-oracle": World(20_000, 100, 0.1),
    "sparse": World(6_000, 300, 0.1),
    "noisy": World(10_000, 100, 1.0),
    "uniform": World(10_000, 100, np.inf),
    "fixed": World(10_000, 100, 0.0),
    "cascading": World(10_000, 100, 0.3, rates="dbn"),
}

Users = Callable[[Floats, NDArray[np.int64]], tuple[ClickLaw, Tables]]
"""From the relevance [d] of documents and sessions [n, 10] to the law of the clicks, and the tables of its model."""

_RANK = np.arange(RANKS)
_CURVE = 1.0 / (_RANK + 1)
_AFTER_CLICK = 0.9 - 0.06 * _RANK
"""Of users of `dcm`."""


def alike(relevance: Floats, document: NDArray[np.int64]) -> tuple[ClickLaw, Tables]:
    return Independent(np.full(document.shape, relevance.mean())), {}


def by_rank(relevance: Floats, document: NDArray[np.int64]) -> tuple[ClickLaw, Tables]:
    return Independent(np.broadcast_to(relevance.mean() * _CURVE, document.shape)), {}


def by_document(relevance: Floats, document: NDArray[np.int64]) -> tuple[ClickLaw, Tables]:
    return Independent(relevance[document]), {}


def position_based(relevance: Floats, document: NDArray[np.int64]) -> tuple[ClickLaw, Tables]:
    tables = {"attraction": relevance, "examination": np.append(np.nan, _CURVE[1:])}
    return Independent(relevance[document] * _CURVE), tables


def trusting(relevance: Floats, document: NDArray[np.int64]) -> tuple[ClickLaw, Tables]:
    hit, false = _CURVE**0.7, 0.25 * _CURVE**0.7 * (1 - _RANK / _RANK[-1])
    law = Independent(false + (hit - false) * relevance[document])
    return law, {"attraction": relevance, "hit": np.append(np.nan, hit[1:]), "false": np.append(false[:-1], np.nan)}


def browsing(relevance: Floats, document: NDArray[np.int64]) -> tuple[ClickLaw, Tables]:
    rank, last = np.arange(1, RANKS + 1)[:, None], np.arange(RANKS + 1)
    curve = np.where(last < rank, np.where(last > 0, 0.9, 1.0) * np.maximum(rank - last, 1) ** -0.7, 0.0)
    cells = np.concatenate([curve[k, : k + 1] for k in range(RANKS)])
    cells[0] = np.nan
    return Browsing(relevance[document], curve), {"attraction": relevance, "examination": cells}


def cascade(relevance: Floats, document: NDArray[np.int64]) -> tuple[ClickLaw, Tables]:
    a = relevance[document]
    return Cascading(a, np.zeros(a.shape), np.ones(a.shape)), {"attraction": relevance}


def dependent(relevance: Floats, document: NDArray[np.int64]) -> tuple[ClickLaw, Tables]:
    a = relevance[document]
    law = Cascading(a, np.broadcast_to(_AFTER_CLICK, a.shape).copy(), np.ones(a.shape))
    return law, {"attraction": relevance, "continuation": np.append(_AFTER_CLICK[:-1], np.nan)}


def click_chain(relevance: Floats, document: NDArray[np.int64]) -> tuple[ClickLaw, Tables]:
    a, (skip, irrelevant, relevant) = relevance[document], (0.9, 0.8, 0.3)
    law = Cascading(a, irrelevant * (1 - a) + relevant * a, np.full(a.shape, skip))
    return law, {"attraction": relevance, "continuation": np.array([skip, irrelevant, relevant])}


def dynamic(relevance: Floats, document: NDArray[np.int64], gamma: float = 0.8) -> tuple[ClickLaw, Tables]:
    a = relevance[document]
    law = Cascading(a, gamma * (1 - a / 2), np.full(a.shape, gamma))
    return law, {"attraction": relevance, "satisfaction": relevance / 2, "continuation": np.array([gamma])}


def simplified(relevance: Floats, document: NDArray[np.int64]) -> tuple[ClickLaw, Tables]:
    law, tables = dynamic(relevance, document, 1.0)
    return law, {name: table for name, table in tables.items() if name != "continuation"}


MODELS: dict[str, Users] = {
    "gctr": alike,
    "rctr": by_rank,
    "dctr": by_document,
    "rdctr": position_based,
    "pbm": position_based,
    "trust": trusting,
    "ubm": browsing,
    "cascade": cascade,
    "dcm": dependent,
    "ccm": click_chain,
    "dbn": dynamic,
    "sdbn": simplified,
    "harvest": position_based,
}


def rates(model: str, chance: Floats, document: NDArray[np.int64]) -> Tables:
    """The expected click rates of the sessions of a log, given what they show; NaN where they show nothing."""
    ranks = np.broadcast_to(_RANK, document.shape)
    documents = int(document.max()) + 1
    if model == "gctr":
        return {"rate": np.array([chance.mean()])}
    if model == "rctr":
        return {"rate": chance.mean(axis=0)}
    cell, size = (document, documents) if model == "dctr" else (document * RANKS + ranks, documents * RANKS)
    shown, clicked = np.bincount(cell.ravel(), minlength=size), np.bincount(cell.ravel(), chance.ravel(), size)
    found = np.divide(clicked, shown, out=np.full(size, np.nan), where=shown > 0)
    return {"rate": found if model == "dctr" else found.reshape(documents, RANKS)}
