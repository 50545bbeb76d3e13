"""A search engine whose truth is a sum over slates, and a log of it while it is being written: arrays by column."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Columns = dict[str, NDArray[np.generic]]
Given = ParamSpec("Given")
Log = TypeVar("Log")

CURVE = (1.0, 0.5, 0.33, 0.25, 0.2)
"""How likely users of the position-based model look at each rank."""


def stream(name: str, *more: int) -> np.random.Generator:
    """Random numbers of this name's own."""
    return np.random.default_rng([zlib.crc32(name.encode()), *more])


@dataclass(frozen=True)
class Users:
    """What users click: by default the position-based model.

    - curve: examination by rank; stop: chance that a click ends the search (1: the cascade model).
    - distraction: how much the result below takes from the chance of a click, if it is relevant.
    - satisfied: what is clicked ends the search as far as it is relevant. best: only the best of the list is clicked.
    """

    curve: tuple[float, ...] = CURVE
    stop: float = 0.0
    distraction: float = 0.0
    satisfied: bool = False
    best: bool = False

    def _attraction(self, relevance: Floats) -> Floats:
        """[..., k] chance of a click on what is looked for."""
        below = np.concatenate([relevance[..., 1:], np.zeros_like(relevance[..., :1])], axis=-1)
        curve = np.asarray(self.curve[: relevance.shape[-1]])
        chosen = (relevance == relevance.max(axis=-1, keepdims=True)) | (not self.best)
        return np.asarray(chosen * curve * relevance * (1 - self.distraction * below))

    def _ends(self, relevance: Floats) -> Floats | float:
        """[..., k] chance that a click ends the search."""
        return self.stop * relevance if self.satisfied else self.stop

    def expected(self, relevance: Floats) -> Floats:
        """[..., k] expected clicks on results of [..., k] relevance."""
        chance = self._attraction(relevance)
        looking = np.cumprod(1 - self._ends(relevance) * chance, axis=-1)
        chance[..., 1:] *= looking[..., :-1]
        return chance

    def click(self, relevance: Floats, rng: np.random.Generator) -> Floats:
        """[n, k] clicks, 0 or 1."""
        clicks = (rng.random(relevance.shape) < self._attraction(relevance)).astype(float)
        ended = np.cumsum(clicks * (rng.random(relevance.shape) < self._ends(relevance)), axis=-1) > 0
        clicks[:, 1:][ended[:, :-1]] = 0
        return clicks


@dataclass(frozen=True)
class Engine:
    """Queries with their candidates; everything about them is drawn once, from the name.

    - hidden: every query comes in two kinds of equal scores and candidates, which no log tells apart.
    - lengths: the chance of each number of slots, from 1 on; by default all slots are filled.
    - rate, ceiling: by what relevance is multiplied, and the most that it may be. priced: clicks earn a price.
    - preferred: two scores, and by what the relevance of items is multiplied of which the second thinks more.
    """

    name: str
    candidates: int = 8
    slots: int = 4
    queries: int = 100
    hidden: bool = False
    lengths: tuple[float, ...] = ()
    rate: float = 1.0
    ceiling: float = 0.95
    priced: bool = False
    preferred: tuple[str, str, float] | None = None

    @cached_property
    def columns(self) -> dict[str, Floats]:
        """[queries, candidates] by name: relevance and the scores of several rankers."""
        rng = stream(self.name)
        merit, *noise = rng.normal(size=(7, self.queries, self.candidates))
        merits = {
            "old_score": 0.6 * merit + 0.5 * noise[0],
            "new_score": 0.9 * merit + 0.5 * noise[1],
            "other_score": 0.3 * merit + 0.8 * noise[2],
        }
        merits["near_score"] = merits["old_score"] + 0.3 * merit
        merits["far_score"] = 0.6 * merit - 2 * merits["old_score"]
        merits["stale_score"] = 0.8 * merits["old_score"] + 0.5 * noise[3]
        merits["rounded_score"] = np.round(merits["old_score"])
        merits["tied_score"] = np.round(merits["new_score"] * 1.5) / 1.5
        found = {name: np.exp(merit) for name, merit in merits.items()}
        found["flat"] = np.ones_like(merit)
        best = np.argsort(np.argsort(-merits["new_score"], axis=1), axis=1)
        found["holes_score"] = np.where((best == 1) | (best == 4), 0.0, found["old_score"])
        order = np.argsort(-found["old_score"], axis=1)[:, : self.slots]
        found["reordered_score"] = found["old_score"] / found["old_score"].max() / 10
        np.put_along_axis(found["reordered_score"], order, 1 + np.exp(noise[5][:, : self.slots]), axis=1)
        found["relevance"] = np.minimum(
            self._liked(found) * self.rate * (0.05 + 0.6 / (1 + np.exp(1 - 1.3 * merit))), self.ceiling
        )
        if self.priced:
            found["worth"] = np.exp(0.7 * stream(self.name, 2).normal(size=merit.shape))
        return self._in_two_kinds(found, np.sign(noise[4])) if self.hidden else found

    def _liked(self, found: dict[str, Floats]) -> Floats | float:
        """[queries, candidates] by what relevance is multiplied, for the target to earn what it should."""
        if self.preferred is None:
            return 1.0
        of_log, of_target = (found[name] / found[name].sum(axis=1, keepdims=True) for name in self.preferred[:2])
        return np.where(of_target > of_log, self.preferred[2], 1.0)

    def _in_two_kinds(self, found: dict[str, Floats], liked: Floats) -> dict[str, Floats]:
        """Users of two kinds: each likes half of the candidates, and the engine knew."""
        found = {name: np.concatenate([each, each]) for name, each in found.items()}
        kind = np.concatenate([liked, -liked])
        found["relevance"] = np.clip(found["relevance"] * np.where(kind > 0, 1.5, 0.5), 0, 0.95)
        found["insider_score"] = found["old_score"] * np.exp(0.7 * kind)
        return found

    @cached_property
    def items(self) -> Integers:
        """[queries, candidates] ids, of 50 (or twice the candidates): queries share items."""
        pool = max(50, 2 * self.candidates)
        drawn = stream(self.name, 1).random((self.queries, pool)).argsort(axis=1)[:, : self.candidates]
        return np.concatenate([drawn, drawn]) if self.hidden else drawn

    @cached_property
    def orders(self) -> Integers:
        """[slates, slots] every slate, as places among the candidates."""
        return np.array(list(permutations(range(self.candidates), self.slots)))

    def shown(self) -> Floats:
        """[slots] chance that the slate has so many slots."""
        chances = np.array(self.lengths) if self.lengths else np.eye(self.slots)[-1]
        return np.asarray(chances[::-1].cumsum()[::-1])


@dataclass(frozen=True)
class Law:
    """How slates are drawn: Plackett-Luce from a column or its top, with a share of uniform ones."""

    column: str = "old_score"
    temperature: float = 1.0
    top: bool = False
    epsilon: float = 0.0
    noise: float = field(default=0.0, kw_only=True)

    @property
    def spelling(self) -> str:
        """As offrank reads it."""
        if self.column == "flat":
            return "uniform"
        heat = f", temperature={self.temperature:g}" if self.temperature != 1 else ""
        base = f"top({self.column})" if self.top else f"plackett_luce({self.column}{heat})"
        return f"epsilon({base}, {self.epsilon:g})" if self.epsilon else base

    def weights(self, engine: Engine) -> Floats:
        """[queries, candidates] of Plackett-Luce."""
        return np.asarray(engine.columns[self.column] ** (1 / self.temperature))

    def draw(self, engine: Engine, query: Integers, rng: np.random.Generator) -> Integers:
        """[n, slots] places among the candidates."""
        weights = self.weights(engine)[query]
        if self.noise:
            weights *= np.exp(self.noise * rng.normal(size=weights.shape))
        times = rng.exponential(size=weights.shape)
        with np.errstate(divide="ignore"):
            keys = -weights if self.top else times / weights
        mixed = rng.random(len(query)) < self.epsilon
        keys[mixed] = times[mixed]
        return keys.argsort(axis=1)[:, : engine.slots]

    def prefixes(self, engine: Engine, query: Integers, slates: Integers) -> Floats:
        """[n, ..., slots] chance of the first so many of [n, ..., slots] slates."""
        rows = query.reshape(-1, *[1] * (slates.ndim - 1))
        slots, size = slates.shape[-1], engine.candidates
        if self.top:
            match = slates == self.weights(engine).__neg__().argsort(axis=1)[rows, np.arange(slots)]
            found = np.cumprod(match, axis=-1).astype(float)
        else:
            weights = self.weights(engine)
            shown = weights[rows, slates]
            above = np.cumsum(shown, axis=-1) - shown
            left = weights.sum(axis=1)[rows] - above
            found = np.cumprod(shown / np.maximum(left, 1e-12), axis=-1)
        uniform = np.cumprod(1 / (size - np.arange(slots)))
        return np.asarray((1 - self.epsilon) * found + self.epsilon * uniform)

    def value(self, engine: Engine, users: Users) -> float:
        """The truth: expected clicks per impression, all queries being alike."""
        query = np.arange(len(engine.columns["relevance"]))
        if self.top and not self.epsilon:
            slates = np.argsort(-self.weights(engine), axis=1)[:, None, : engine.slots]
            chance: Any = 1.0
        else:
            slates = np.broadcast_to(engine.orders, (len(query), *engine.orders.shape))
            chance = self.prefixes(engine, query, slates)[..., -1]
        clicks = users.expected(engine.columns["relevance"][query[:, None, None], slates])
        if engine.priced:
            clicks = clicks * engine.columns["worth"][query[:, None, None], slates]
        clicks = clicks @ engine.shown()
        return float((chance * clicks).sum(axis=1).mean())


@dataclass(frozen=True)
class Shuffled(Law):
    """The top of a column, in an order that is drawn uniformly."""

    @property
    def spelling(self) -> str:
        """As offrank reads it."""
        return f"shuffled(top({self.column}), 5, method=top)"

    def draw(self, engine: Engine, query: Integers, rng: np.random.Generator) -> Integers:
        """[n, slots] places among the candidates."""
        order = np.argsort(-self.weights(engine), axis=1)[:, : engine.slots]
        return rng.permuted(order[query], axis=1)

    def prefixes(self, engine: Engine, query: Integers, slates: Integers) -> Floats:
        """[n, ..., slots] chance of the first so many of [n, ..., slots] slates."""
        order = np.argsort(-self.weights(engine), axis=1)[:, : engine.slots]
        known = order[query.reshape(-1, *[1] * (slates.ndim - 1))]
        match = np.cumprod((slates[..., None] == known).any(axis=-1), axis=-1)
        return np.asarray(match * np.cumprod(1 / (engine.slots - np.arange(engine.slots))))


# A log ----------------------------------------------------------------------------------------------------------------


@dataclass
class Draft:
    """A log of one engine. slate: [n, slots] places among the candidates; columns: what is written, a row each."""

    engine: Engine
    users: Users
    query: Integers
    slate: Integers
    columns: Columns
    rng: np.random.Generator

    @property
    def clicks(self) -> Floats:
        """[n, slots] the column."""
        return np.asarray(self.columns["clicks"])

    @clicks.setter
    def clicks(self, clicks: Floats) -> None:
        self.columns["clicks"] = clicks

    @property
    def time(self) -> Floats:
        """[n] 0 in the first row, almost 1 in the last."""
        return np.arange(len(self.query)) / len(self.query)

    def some(self, share: float) -> NDArray[np.bool_]:
        """[n] rows that are drawn with this probability."""
        return self.rng.random(len(self.query)) < share

    def of_engine(self, column: str, engine: Engine | None = None) -> Floats:
        """[n, slots] a column of the engine, of what is shown."""
        return np.asarray((engine or self.engine).columns[column][self.query[:, None], self.slate])

    def click(self, factor: Floats | float = 1.0, *, relevance: Floats | None = None) -> None:
        """Users click anew, for whom what is shown is so much more relevant (or as relevant as is said)."""
        attracted = self.of_engine("relevance") * factor if relevance is None else relevance
        self.clicks = self.users.click(attracted, self.rng)

    def by_users(self, visits: float) -> Integers:
        """[n] numbers of users, who come so often on average; they are written."""
        n = len(self.query)
        user = np.asarray(self.rng.integers(max(int(n / visits), 2), size=n))
        self.columns["user"] = user
        return user

    def keep(self, rows: NDArray[np.generic]) -> None:
        """These rows only (a mask, or numbers of rows)."""
        self.query, self.slate = self.query[rows], self.slate[rows]
        self.columns = {name: column[rows] for name, column in self.columns.items()}

    def table(self) -> pa.Table:
        """What offrank reads."""
        length = self.columns.pop("length", None)
        ragged = ("slate", "clicks") if length is not None else ()
        made = {
            name: _lists(column, length if name in ragged else None) if column.ndim == 2 else pa.array(column)
            for name, column in self.columns.items()
        }
        return pa.table(made)


Step = Callable[[Draft], None]
"""What happens to a log, for better or worse."""


def _lists(values: NDArray[np.generic], length: NDArray[np.generic] | None) -> pa.Array:
    """[n, k] values as a list column, the first `length` of each row."""
    n, width = values.shape
    sizes = np.full(n, width) if length is None else length
    kept = values[np.arange(width) < np.asarray(sizes)[:, None]]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(kept))


def given(write: Callable[Concatenate[Log, Given], None]) -> Callable[Given, Callable[[Log], None]]:
    """A step that is made by saying all but the log."""
    return lambda *args, **more: lambda log: write(log, *args, **more)
