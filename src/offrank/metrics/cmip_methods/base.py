"""The input and output of every estimator of conditional mutual information."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

import numpy as np

from ...log.batch import Floats, Integers

Progress = Callable[[int, int], None]
"""Called with (steps done, steps in all)."""


def no_progress(done: int, total: int) -> None:
    """Ignore progress."""


def permutation(size: int, blocks: Integers | None, rng: np.random.Generator) -> Integers:
    """[size] a random permutation within blocks."""
    if blocks is None:
        return rng.permutation(size)
    found = np.empty(size, np.int64)
    found[np.argsort(blocks, kind="stable")] = np.argsort(blocks + rng.random(size), kind="stable")
    return found


@dataclass(frozen=True)
class GradedDocuments:
    """Documents with logging and grade [d], relevance [d, draws], and the cluster [d] of each, from 0, or None.

    A relevance that is known to a posterior is given by several draws; otherwise there is one.
    grades [g] are the distinct ones, sorted; members [g] holds the indices of the documents of each.
    """

    relevance: Floats
    logging: Floats
    grade: Floats
    cluster: Integers | None
    grades: Floats
    members: tuple[Integers, ...]

    def __len__(self) -> int:
        return len(self.relevance)

    @classmethod
    def of(cls, relevance: Floats, logging: Floats, grade: Floats, cluster: Integers | None = None) -> GradedDocuments:
        """The documents, with the indices of each grade."""
        grades, inverse = np.unique(grade, return_inverse=True)
        order = np.argsort(inverse, kind="stable")
        members = np.split(order, np.cumsum(np.bincount(inverse))[:-1])
        return cls(relevance.reshape(len(grade), -1), logging, grade, cluster, grades, tuple(members))

    def each(self) -> Iterator[GradedDocuments]:
        """The documents with each of the draws alone."""
        for draw in range(self.relevance.shape[1]):
            yield replace(self, relevance=self.relevance[:, [draw]])

    @property
    def sizes(self) -> dict[float, int]:
        """The number of documents of each grade."""
        return {grade: len(own) for grade, own in zip(self.grades.tolist(), self.members, strict=True)}

    def permuted(self, rng: np.random.Generator) -> Floats:
        """[d] logging relevance under independence: permuted within each grade, and cluster if given.

        Documents of a query resemble each other under any model; permutations among queries would destroy that.
        """
        found = self.logging.copy()
        for own, blocks in zip(self.members, self.blocks(), strict=True):
            found[own] = self.logging[own[permutation(len(own), blocks, rng)]]
        return found

    def blocks(self) -> tuple[Integers | None, ...]:
        """[g][members] the cluster of each member of a grade; None: the documents of a grade are one block."""
        return tuple(None if self.cluster is None else self.cluster[own] for own in self.members)

    @property
    def permutable(self) -> float:
        """Share of the documents with another one in their block."""
        if self.cluster is None:
            return sum(len(own) for own in self.members if len(own) > 1) / len(self)
        sizes = (np.bincount(self.cluster[own]) for own in self.members)
        return sum(int(size[size > 1].sum()) for size in sizes) / len(self)

    def exchanged(self, rng: np.random.Generator) -> Floats:
        """[d] logging relevance permuted among the documents of each grade, across clusters."""
        found = self.logging.copy()
        for own in self.members:
            found[own] = self.logging[rng.permutation(own)]
        return found

    def kept(self, rows: Integers) -> GradedDocuments:
        """The documents with these indices."""
        cluster = None if self.cluster is None else self.cluster[rows]
        return GradedDocuments.of(self.relevance[rows], self.logging[rows], self.grade[rows], cluster)

    def halves(self, rng: np.random.Generator, count: int) -> Iterator[GradedDocuments]:
        """Random halves of the documents of each grade, or of the clusters."""
        for _ in range(count):
            if self.cluster is None:
                picked = [rng.permutation(own)[: (len(own) + 1) // 2] for own in self.members]
                yield self.kept(np.concatenate(picked))
            else:
                coin = rng.permutation(int(self.cluster.max()) + 1) % 2 == 0
                yield self.kept(np.flatnonzero(coin[self.cluster]))


@dataclass(frozen=True)
class Information:
    """The result of an estimator.

    - value, standard_error: nats.
    - per_grade: [g] nats within each grade, None if the method does not separate grades.
    - null: [permutations] the statistic with logging permuted; may be empty. observed: the value they are
      compared with.
    - unpaired: documents without a partner of their grade for the exchange.
    """

    value: float
    standard_error: float
    per_grade: Floats | None
    null: Floats
    observed: float
    unpaired: int = 0


class CmiMethod(Protocol):
    """An estimator of I(relevance; logging | grade): the mean over the draws of relevance.

    - worlds: the default number of worlds of the floor.
    - least: documents below which its benchmark calls it unreliable.
    - smallest: documents that a grade needs to take part.
    - permutations: the default number of permutations.
    - bias: what is known of its bias, in a sentence; empty if nothing is to be said.
    """

    name: ClassVar[str]
    least: ClassVar[int]
    smallest: ClassVar[int]
    permutations: ClassVar[int]
    worlds: ClassVar[int]
    bias: ClassVar[str]

    def value(self, documents: GradedDocuments, rng: np.random.Generator) -> float: ...

    def measure(
        self, documents: GradedDocuments, rng: np.random.Generator, permutations: int, progress: Progress | None
    ) -> Information: ...
