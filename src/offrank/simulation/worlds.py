"""A world of judged queries, rankers of varying quality, and a user who clicks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..errors import ColumnError, UsageError
from ..log.batch import Contexts, Floats, Integers
from ..log.graded_queries import Judged
from ..log.source import Needs
from ..policies.base import Policy, all_items
from ..policies.plackett_luce import PlackettLuce
from ..policies.top import Top
from .rankers import EqualScores, NoisyOracle, Ranker
from .truth import Truth, truth
from .users import GRADE, PBMUser, User


@dataclass(frozen=True)
class JudgedWorld:
    """Queries with equally many documents each, judged and scored, and the user who examines them.

    Paper cmip-debiasedness, section 5.1: a session picks a query uniformly, a policy draws a ranking of its
    documents, the user clicks.

    Parameters:
        query: [q] ids.
        document: [q, m] ids.
        grade: [q, m] as judged.
        scores: name -> [q, m], of each ranker.
        user: who examines and clicks.
        slots: how many documents are shown, by default all.
        temperature: of the Plackett-Luce policies that draw rankings from the scores.

    Raises:
        UsageError: slots, a temperature, grades or names of rankers that cannot be.

    Examples:
        >>> import numpy as np
        >>> grade = np.array([[0.0, 4.0], [1.0, 2.0]])
        >>> world = offrank.simulation.JudgedWorld(np.arange(2), np.arange(4).reshape(2, 2), grade, {"score": grade})
        >>> world.slots
        2
    """

    query: Integers
    document: Integers
    grade: Floats
    scores: Mapping[str, Floats]
    user: User = field(default_factory=PBMUser)
    slots: int = 0
    temperature: float = 0.1

    def __post_init__(self) -> None:
        most = self.document.shape[1]
        if not 0 <= self.slots <= most:
            raise UsageError(f"slots is {self.slots} for {most} documents", f"give a whole number, from 1 to {most}")
        if not self.temperature >= 0:
            raise UsageError(f"the temperature is {self.temperature!r}", "give 0 (sorted by score) or more")
        if wrong := [name for name in self.scores if name in {GRADE, "query", "slate", "clicks", "candidates"}]:
            raise UsageError(f"a ranker cannot have the name {wrong[0]!r}", "a column of the log already has this name")
        if not 0 <= self.grade.min() <= self.grade.max() <= getattr(self.user, "highest", np.inf):
            raise UsageError(
                f"grades run from {self.grade.min():g} to {self.grade.max():g}, but {self.user!r} expects others",
                f"grades begin at 0; give the user model the largest: highest={self.grade.max():g}",
            )
        object.__setattr__(self, "slots", self.slots or most)

    @classmethod
    def of(
        cls,
        judged: Judged,
        user: User | None = None,
        rankers: Mapping[str, Ranker] | None = None,
        *,
        seed: int = 0,
        slots: int = 0,
        temperature: float = 0.1,
    ) -> JudgedWorld:
        """Build a world from judged queries.

        judged: with equally many documents per query, see `stratified`.
        rankers: by default `noisy_oracle` and `uniform`; each scores all documents once, with this seed.

        Raises:
            UsageError: the queries do not have equally many documents.
        """
        usual: dict[str, Ranker] = {"noisy_oracle": NoisyOracle(), "uniform": EqualScores()}
        by_name = usual if rankers is None else rankers
        scores = {name: judged.table(ranker.scores(judged, seed)) for name, ranker in by_name.items()}
        tables = judged.query, judged.table(judged.document), judged.table(judged.grade).astype(np.float64)
        return cls(*tables, scores, PBMUser() if user is None else user, slots, temperature)

    def __len__(self) -> int:
        return len(self.query)

    @property
    def documents(self) -> int:
        """Return m: documents per query."""
        return self.document.shape[1]

    def contexts(self, rows: Integers | None = None, needed: Needs | None = None) -> Contexts:
        """Return the contexts of the queries with these indices, by default all; with the needed scores and keys.

        needed: by default all.
        """
        pick = np.arange(len(self)) if rows is None else rows
        names, keys = (self.names, {"query"}) if needed is None else (needed.scores, needed.keys)
        if unknown := sorted(keys - {"query"}):
            raise ColumnError(f"the world has no column {unknown[0]!r}", "its rows are grouped by query only")
        return Contexts(
            self.document.take(pick, axis=0),
            np.full(len(pick), self.documents),
            np.full(len(pick), self.slots),
            {name: self.score(name).take(pick, axis=0) for name in names},
            keys=dict.fromkeys(keys, self.query[pick]),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Return the score columns: the grade, and each ranker."""
        return (GRADE, *self.scores)

    def score(self, name: str) -> Floats:
        """Return a score column [q, m].

        Raises:
            ColumnError: there is none of this name.
        """
        if name not in self.names:
            raise ColumnError(f"the world has no score {name!r}", "it has " + ", ".join(self.names))
        return self.grade if name == GRADE else self.scores[name]

    def policy(self, ranker: str) -> Policy:
        """Return a ranker's stochastic policy: Plackett-Luce with weights exp(score / temperature); sorted at 0."""
        self.score(ranker)
        return PlackettLuce(ranker, temperature=self.temperature, log=True) if self.temperature else Top(ranker)

    def truth(self, policy: Policy, *, draws: int | None = None, seed: int = 0) -> Truth:
        """Return a policy's expected clicks per session, exact if the user's clicks allow it."""
        return truth(self.user, self._all, policy, draws, seed)

    def relevance(self) -> Floats:
        """Return the relevance of each document to the user [q, m]."""
        return self.user.relevance(self._all)

    def expected_ranks(self, policy: Policy) -> Floats:
        """Return the expected rank of each document under a policy, counted from 1, if all are ranked [q, m].

        It is r_l of paper cmip-debiasedness, exactly.
        """
        whole = self.contexts()
        whole = Contexts(whole.candidates, whole.size, whole.size, whole.scores, keys=whole.keys)
        law = policy.rank_probs(whole, all_items(whole))
        return np.asarray(law @ np.arange(1.0, self.documents + 1))

    def logging_relevance(self, ranker: str) -> Floats:
        """Return the logging policy's relevance: the expected rank [q, m]."""
        return self.expected_ranks(self.policy(ranker))

    @cached_property
    def _all(self) -> Contexts:
        return self.contexts()
