"""A world: how its logs come about, what is asked of them, and what ought to be said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

import offrank
from offrank.clicks import Fitted
from offrank.estimators import Direct, DoublyRobust

from .engine import Engine, Integers, Law, Users, stream
from .log import Draft, Step

FEW = ("ips", "snips", "rips", "ipm")


@dataclass(frozen=True)
class World:
    """One kind of log, and one question.

    - drawn: how slates are drawn; said: what `logging=` says, by default the truth; asked: what `target=` says.
    - shown, written: what happens before users see a slate, and to what is written afterwards.
    - causes: codes that name what is wrong; None where nothing in the log can tell; empty in a healthy world.
    - known_from: rows from which on a test of the right question would see it, or a healthy log can answer.
    - spared: estimators that what is wrong does not harm: where one of them answers, no cause has to be named.
    - serious: every estimate asked for is wrong, or rests on next to nothing: *use* would be a fault.
    - learnt: a click model whose `direct` and `dr` estimates are asked for too; copied: learnt from this very log.
    - sampled: the log holds so many of the queries, of sizes rank^-power, and the question is about all of them.
    """

    name: str
    drawn: Law = field(default_factory=Law)
    said: str = ""
    asked: str = ""
    target: Law = field(default_factory=lambda: Law("new_score", top=True))
    users: Users = field(default_factory=Users)
    shape: Mapping[str, Any] = field(default_factory=dict)
    shown: tuple[Step, ...] = ()
    written: tuple[Step, ...] = ()
    estimators: tuple[str, ...] = FEW
    options: Mapping[str, Any] = field(default_factory=dict)
    causes: frozenset[str] | None = frozenset()
    known_from: int = 0
    spared: frozenset[str] = frozenset()
    serious: bool = False
    learnt: str = ""
    copied: bool = False
    sampled: tuple[int, float] | None = None
    unit: float = 1.0

    @property
    def healthy(self) -> bool:
        """Nothing is wrong with the log, and it can answer."""
        return self.causes == frozenset()

    @cached_property
    def engine(self) -> Engine:
        return Engine(self.name, **self.shape)

    @cached_property
    def truth(self) -> float:
        """What the target would earn per impression."""
        return self.unit * self.target.value(self.engine, self.users)

    def table(self, rows: int, seed: int) -> pa.Table:
        """A log of about so many rows."""
        rng = stream(self.name, rows, seed + 1)
        engine = self.engine
        query = self._queries(rows, rng)
        draft = Draft(engine, self.users, query, self.drawn.draw(engine, query, rng), {}, rng)
        for step in self.shown:
            step(draft)
        query, slate = draft.query, draft.slate
        draft.columns = {
            "candidates": engine.items[query],
            "slate": engine.items[query[:, None], slate],
            "clicks": self.users.click(engine.columns["relevance"][query[:, None], slate], rng),
        }
        scores = {name for name in engine.columns if f"{name})" in self._asked or f"{name}," in self._asked}
        draft.columns |= {name: engine.columns[name][query] for name in sorted(scores)}
        for step in self.written:
            step(draft)
        return draft.table()

    def question(self) -> dict[str, Any]:
        """Arguments of `offrank.evaluate`, besides the log."""
        asked = {"target": self.asked or self.target.spelling, "logging": self.said or self.drawn.spelling}
        return asked | {"estimators": list(self.estimators), **self.options}

    def answer(self, log: pa.Table) -> offrank.Result:
        """What offrank says of a log.

        Raises:
            OffrankError: it refuses.
        """
        asked = self.question()
        if self.learnt:
            fitted = self._learn(log) if self.copied else self._fitted
            asked["estimators"] += [Direct(fitted), DoublyRobust(fitted)]
        return offrank.evaluate(log, **asked)

    @cached_property
    def _fitted(self) -> Fitted:
        return self._learn(self.table(10_000, -1))

    def _learn(self, log: pa.Table) -> Fitted:
        with TemporaryDirectory() as folder:
            return offrank.fit_clicks(log, self.learnt, Path(folder) / "model.json", by=None).fitted

    @property
    def _asked(self) -> str:
        return f"{self.question()['target']} {self.question()['logging']}"

    def _queries(self, rows: int, rng: np.random.Generator) -> Integers:
        known = len(self.engine.columns["relevance"])
        if self.sampled is None:
            return rng.integers(known, size=rows)
        count, power = self.sampled
        sizes = np.arange(1, count + 1) ** -power
        return rng.choice(rng.permutation(known)[:count], size=rows, p=sizes / sizes.sum())
