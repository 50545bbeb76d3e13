"""A log of any size, drawn from a world while it is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import ColumnError, UsageError
from ..log.batch import Contexts, Floats, Integers, Labels, LogBatch, Shown
from ..log.schema import Columns
from ..log.source import Needs
from ..policies.base import Policy, all_items
from ..readers.tables import Piece
from ..readers.wide import WideLog
from ..wording import Option, Wording
from .shared import list_column
from .worlds import JudgedWorld

PART_ROWS = 131_072
_BLOCK = 8_192
_BESIDE = frozenset(["query", "slate", "clicks", "candidates", "propensity"])


@dataclass(frozen=True)
class SimulatedSource:
    """`sessions` impressions of a world under a policy.

    Part p of the log depends only on the seed and on p, so that the log does not depend on how it is read. Columns:
    slate, clicks, candidates, propensity and rank_propensity (both exact, computed only if needed), query,
    and the scores beside the candidates: grade and each ranker's.

    Parameters:
        world: the queries and the user.
        sessions: number of impressions.
        logging: the policy that draws the slates; by default that of the world's first ranker.
        seed: seed of what is random: the same seed gives the same result.
        needed: the columns that are computed; set when it is read.

    Raises:
        UsageError: fewer than 1 session, or a seed below 0.

    Examples:
        >>> import numpy as np
        >>> grade = np.array([[0.0, 4.0], [1.0, 2.0]])
        >>> world = offrank.simulation.JudgedWorld(np.arange(2), np.arange(4).reshape(2, 2), grade, {"score": grade})
        >>> offrank.simulation.SimulatedSource(world, 100).parts()
        1
    """

    world: JudgedWorld
    sessions: int
    logging: Policy | None = None
    seed: int = 0
    needed: Needs = field(default_factory=Needs)

    def __post_init__(self) -> None:
        if self.sessions < 1 or self.seed < 0:
            raise UsageError(
                f"sessions is {self.sessions!r} and seed is {self.seed!r}", "give at least 1 session, and a seed from 0"
            )

    @property
    def policy(self) -> Policy:
        """The policy that draws the slates."""
        return self.world.policy(next(iter(self.world.scores))) if self.logging is None else self.logging

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return ("query", "slate", "clicks", "candidates", "propensity", "rank_propensity", *self.world.names)

    @property
    def wide(self) -> WideLog:
        """Return the same as a table, which can be written: `offrank.convert(source, "log.parquet")`."""
        return WideLog(_SimulatedTable(replace(self, needed=Needs())), {})

    def parts(self) -> int:
        return -(-self.sessions // PART_ROWS)

    def select(self, needed: Needs) -> SimulatedSource:
        known = Columns(self.names, {}, self.describe())
        for role in needed.roles - {"reward", "inclusion"}:
            known.of(role)
        grouped = needed.keys | needed.labels | needed.clusters
        others = needed.rankings | needed.numbers | needed.times | (grouped - {"query"})
        for name in needed.scores | grouped | others:
            known.named(name)
        for name in (needed.scores - set(self.world.names)) | others:
            raise ColumnError(
                f"column {name!r} cannot be read in this way",
                "rows are grouped by query, and scores have one number per candidate",
            )
        return replace(self, needed=needed)

    def describe(self) -> str:
        return f"{self.sessions:,} simulated sessions"

    def batches(self, part: int) -> Iterator[LogBatch]:
        first, last = part * PART_ROWS, min((part + 1) * PART_ROWS, self.sessions)
        # Clicks have separate draws: the user's behaviour changes no slate.
        shown, clicked = np.random.default_rng([self.seed, part]), np.random.default_rng([self.seed, part, 1])
        for start in range(first, last, _BLOCK):
            yield self._batch(np.arange(start, min(start + _BLOCK, last)), shown, clicked)

    def _batch(self, sessions: Integers, shown: np.random.Generator, clicked: np.random.Generator) -> LogBatch:
        policy, rows = self.policy, shown.integers(len(self.world), size=len(sessions))
        read = policy.reads("sample") | policy.reads("log_prob") | self.world.user.needs() | self.needed
        read |= Needs(keys=self.needed.clusters)
        contexts = self.world.contexts(rows, read)
        slates = policy.sample(contexts, shown)
        clicks = self.world.user.law(contexts, slates).sample(clicked)
        kept = Contexts(
            contexts.candidates,
            contexts.size,
            contexts.length,
            {name: contexts.scores[name] for name in self.needed.scores},
            keys={name: contexts.keys[name] for name in self.needed.keys},
        )
        return LogBatch(
            kept,
            Shown(slates, self._written(contexts, slates, rows)),
            clicks,
            None,
            np.ones(len(rows)),
            sessions.astype(np.uint64),
            {name: Labels(rows, self._query_names) for name in self.needed.labels},
            file="simulated",
            clusters={name: contexts.keys[name] for name in self.needed.clusters},
        )

    def _written(self, contexts: Contexts, slates: Integers, rows: Integers) -> dict[str, Floats]:
        """Return the probabilities that are needed."""
        roles, found = self.needed.roles, {}
        if "propensity" in roles:
            propensity = np.exp(self.policy.log_prob(contexts, slates))
            if not propensity.all():
                raise UsageError(
                    f"rankings of {slates.shape[1]} documents are too long for their propensity to be a number",
                    Wording("show fewer of them: {}", Option("slots", 20)),
                )
            found["propensity"] = propensity
        if "rank_propensity" in roles:
            found["rank_propensity"] = self._rank_law[rows[:, None], slates]
        return found

    @cached_property
    def _rank_law(self) -> Floats:
        """Return P(document at rank) [q, m, k], computed once per query."""
        contexts = self.world.contexts()
        return self.policy.rank_probs(contexts, all_items(contexts))

    @cached_property
    def _query_names(self) -> tuple[str, ...]:
        return tuple(map(str, self.world.query.tolist()))


@dataclass(frozen=True)
class _SimulatedTable:
    """The columns of a simulated log, without the matrices of rank propensities."""

    source: SimulatedSource

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name in self.source.names if name != "rank_propensity")

    def parts(self) -> int:
        return self.source.parts()

    def describe(self) -> str:
        return self.source.describe()

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        roles = frozenset(columns) & {"clicks", "candidates", "propensity"}
        needed = Needs(roles, frozenset(columns) - _BESIDE, keys=frozenset(columns) & {"query"})
        for batch in self.source.select(needed).batches(part):
            data = {name: _column(batch, name) for name in columns}
            yield Piece(pa.record_batch(data), self.describe(), batch.row.astype(np.int64))


def _column(batch: LogBatch, name: str) -> Any:
    contexts, clicks = batch.contexts, batch.clicks
    assert clicks is not None
    match name:
        case "query":
            return contexts.keys["query"]
        case "slate":
            return list_column(np.take_along_axis(contexts.candidates, batch.slates, axis=1))
        case "clicks":
            return list_column(clicks.astype(np.int8))
        case "candidates":
            return list_column(contexts.candidates)
        case "propensity":
            return batch.shown.written["propensity"]
        case _:
            return list_column(contexts.scores[name])
