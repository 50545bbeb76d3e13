"""The distinct contexts of a log, with the sums over the impressions of each: what learning by context reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ..errors import AbilityError, LogError, UsageError
from ..estimators.pseudoinverse.inverses import cases
from ..log.batch import Contexts, Floats, Integers, LogBatch, RunCache
from ..log.contexts import content, distinct, joined_contexts, reordered
from ..log.hashing import hashed
from ..log.source import Needs, Source, has
from ..policies.base import Policy
from ..policies.propensities import propensities
from ..policies.splits import By, Part, rows_of_part
from ..policies.uniform import Uniform
from ..sums.base import Fold
from ..wording import Option, Wording
from .action_rewards import ActionSums

MEMORY = 1 << 30
"""Largest size of the distinct contexts of a third, in bytes."""

_QUERY = Needs(keys=frozenset(["query"]))
_SAME, _NEAR = 1e-6, 0.2
"""Differences of log-probabilities: of the same law, and of one that was rounded."""


@dataclass(frozen=True)
class ContextSums:
    """Distinct contexts, q of them, with the sums of their impressions.

    Contexts are the same where everything that was read is: the query, the candidates with their features, and what
    the logging policy asks for; in whatever order the candidates are listed.

    - contexts: [q], in an order, also of the candidates, that follows from what they hold; sums: over the impressions.
    - logging: the policy that drew the log; it is no part of a saved state, see `ContextsFold.result`.
    - unlike_uniform: largest difference between a logged log-probability and that of a uniform slate.
    - labels: the score that holds the grades, or None.
    """

    contexts: Contexts
    sums: ActionSums
    logging: Policy = field(default=Uniform(), compare=False)
    unlike_uniform: float = 0.0
    labels: str | None = None
    memory: float = MEMORY

    def __len__(self) -> int:
        return len(self.contexts)

    def __add__(self, other: ContextSums) -> ContextSums:
        """Build from both.

        Raises:
            LogError: the contexts need more than `memory`.
        """
        found = ContextSums.combined((self, other))
        if found.nbytes > self.memory:
            raise LogError(
                f"{len(found):,} different contexts in a third of the log need {found.nbytes / 2**20:,.0f} MiB",
                "use a part of the log, or remove features that differ between impressions of a query",
            )
        return found

    @classmethod
    def of(cls, batch: LogBatch, logging: Policy, labels: str | None = None, memory: float = MEMORY) -> ContextSums:
        """Build from the impressions of a batch."""
        contexts = batch.contexts
        first, row = distinct(content(contexts))
        some = contexts.take(first)
        order = _order(some)
        some, place = reordered(some, order), np.argsort(order, axis=1, kind="stable")
        last, group = distinct(content(some))
        made = joined_contexts([some.take(last)])
        slates = np.take_along_axis(place[row], np.maximum(batch.slates, 0), axis=1)
        sums = ActionSums.zeros(made.size, made.length)
        sums.add(group[row], np.where(batch.slates >= 0, slates, -1), batch.reward, 1 / batch.inclusion)
        unlike = 0.0
        if not logging.any_slate:
            found = propensities(logging, batch).log_prob - Uniform().log_prob(contexts, batch.slates)
            unlike = float(np.abs(found).max(initial=0.0))
        return cls.combined([cls(made, sums, logging, unlike, labels, memory)])

    @classmethod
    def combined(cls, parts: Sequence[ContextSums]) -> ContextSums:
        """Build from several; the same contexts are one, and their order follows from what they hold."""
        every = joined_contexts([part.contexts for part in parts])
        first, which = distinct(content(every))
        key = np.zeros(len(first), np.uint64)
        for column in content(replace(every, candidates=np.zeros_like(every.candidates)))[first].T:
            key = hashed(key ^ column.view(np.uint64))
        order = np.argsort(key, kind="stable")
        which = np.argsort(order, kind="stable")[which]
        contexts = joined_contexts([every.take(first[order])])
        sums, start = ActionSums.zeros(contexts.size, contexts.length), 0
        for part in parts:
            sums.merge(part.sums, which[start : start + len(part)])
            start += len(part)
        unlike = max(part.unlike_uniform for part in parts)
        return replace(parts[0], contexts=contexts, sums=sums, unlike_uniform=unlike)

    @cached_property
    def nbytes(self) -> int:
        """Return the memory of the sums and the features, in bytes."""
        found = self.contexts.features
        return (
            self.sums.sums.nbytes + self.contexts.candidates.nbytes + (0 if found is None else 16 * len(found.indices))
        )

    @property
    def share(self) -> Floats:
        """Return how often each context counts [q]: 1 per query, or without queries once per impression."""
        if "query" not in self.contexts.keys:
            return self.sums.n / self.sums.n.mean()
        _, query = np.unique(self.contexts.keys["query"], return_inverse=True)
        return np.asarray(self.sums.n / np.bincount(query, weights=self.sums.n)[query])

    @property
    def grades(self) -> Floats:
        """Return the grade of each candidate [rows].

        Raises:
            UsageError: no column of grades was named.
        """
        if self.labels is None:
            raise UsageError("there are no grades to learn from", Wording("name their column: {}", Option("labels")))
        column = self.contexts.scores[self.labels]
        return column[np.arange(column.shape[1]) < self.contexts.size[:, None]]

    @property
    def law(self) -> Policy:
        """Return the logging policy; `uniform`, if that is what the logged propensities are of."""
        return Uniform() if not self.logging.any_slate and self.unlike_uniform < _SAME else self.logging

    def phi(self, baseline: float = 0.0) -> Floats:
        """Return the mean over each context's impressions of Gamma^+ ((r - baseline) 1_slate) [rows, k].

        An item that the logging policy never shows in a slot has 0 there.

        Raises:
            AbilityError: the logging policy has no pair probabilities; logged propensities tell of one slate alone,
                unless they are those of uniform slates.
            SupportError: the logging policy is nearly deterministic.
        """
        return self._solved(self.sums.rewards(baseline))

    def phi_of_one(self) -> Floats:
        """Return phi of a reward of 1 for every slate [rows, k]: mean weights are its sums over slates."""
        return self._solved(replace(self.sums, sums=self.sums.sums[:, :, [0, 0]]).rewards())

    def _solved(self, theta: Floats) -> Floats:
        if self.law.shuffles:
            return self.sums.solved_uniform(theta)
        if not self.logging.any_slate and self.unlike_uniform < _NEAR:
            raise AbilityError(
                "the logged propensities equal those of uniform slates only up to rounding",
                Wording("if slates were drawn uniformly, confirm it: {}", Option("logging", "uniform")),
            )
        phi = np.zeros_like(theta)
        for case in cases(self.logging.law("pair_probs"), self.contexts, RunCache()):
            m, k = int(self.contexts.size[case.rows[0]]), int(self.contexts.length[case.rows[0]])
            for places, inverse in case.each(np.arange(len(case.rows))):
                rows = case.rows[places]
                lines = self.sums.first[rows][:, None] + np.arange(m)
                solved = inverse.solve(case.same.reordered(rows, theta[lines][:, :, :k])).reshape(-1, m, k)
                place = case.same.place[case.same.row[rows], :m]
                phi[lines, :k] = np.take_along_axis(solved, place[:, :, None], axis=1)
        return phi


def _order(contexts: Contexts) -> Integers:
    """Return the candidates [n, m] in an order that follows from their features and scores, and then from their ids."""
    m = contexts.candidates.shape[1]
    alone = Contexts(np.zeros_like(contexts.candidates), contexts.size, contexts.length, features=contexts.features)
    code = content(alone)[:, -m:].view(np.uint64)  # a hash of the features of each candidate
    for name in sorted(contexts.scores):
        code = hashed(code ^ (contexts.scores[name] + 0.0).view(np.uint64))
    outside = np.arange(m) >= contexts.size[:, None]
    return np.lexsort((contexts.candidates, code, outside), axis=1)


@dataclass(frozen=True)
class ContextsFold(Fold):
    """Reduces one third of a log to its distinct contexts. labels: the column of the candidates' grades, or None."""

    logging: Policy
    part: Part
    by: By = "turn"
    labels: str | None = None
    memory: float = field(default=MEMORY, repr=False)

    def reads(self, source: Source) -> Needs:
        """Return the columns to read from this log: the query too, if it has one."""
        needed = self.logging.reads("log_prob") | Needs(frozenset(["candidates", "features", "reward"]))
        if self.logging.any_slate:
            needed |= self.logging.reads("pair_probs")
        if self.labels is not None:
            needed |= Needs(scores=frozenset([self.labels]))
        return needed | _QUERY if has(source, _QUERY) else needed

    def of(self, batch: LogBatch) -> ContextSums | None:
        rows = rows_of_part(batch, self.part, self.by)
        return ContextSums.of(batch.take(rows), self.logging, self.labels, self.memory) if len(rows) else None

    def result(self, part: ContextSums | None) -> ContextSums | None:
        return None if part is None else replace(part, logging=self.logging)
