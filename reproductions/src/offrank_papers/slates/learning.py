"""Rankers learnt from whole-page rewards, and from grades: the experiment behind Table 1 (section 4.2, appendix G).

Five parts of the queries by a hash: each is the test part once, the next one chooses the number of trees, and three are
learnt from. One log of uniformly random slates of all queries serves all folds, and each learns from its own queries'.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from offrank.learning.trees import TreeSettings, ranking_rounds, rounds
from offrank.log.batch import Floats, Integers
from offrank.policies.boosted import Assignment, TreeEnsemble, best_slates

from ..resume import Found, Heed, spoken, workers
from .design import FLAT, REWARDS
from .rankers import finite, parts, ranks
from .uniform_log import Pages, UniformLog

SLOTS = 3
PARTS = 5
NDCG, NDCG_FLAT, ERR = (REWARDS.index(name) for name in ("NDCG", FLAT, "ERR"))
LAMBDAMART, SUP, SUP_RAW, PI_OPT = ("LambdaMART", "SUP", "SUP, raw relevance", "PI-OPT")
EXACT = "PI-OPT, exact assignment"
_TOGETHER = 256  # queries whose slates are found at once
_TIMED = (1, 6)  # trees
WORKERS = 2
"""Folds at once."""


class Setting(NamedTuple):
    """What is learnt by whom. ndcg: an index into `REWARDS`. depth: of trees, 0 for any."""

    name: str
    ndcg: int
    depth: int
    methods: tuple[str, ...]

    @property
    def kinds(self) -> tuple[int, int]:
        """Return the rewards, NDCG and ERR."""
        return self.ndcg, ERR


TEXT = Setting("text", NDCG, 0, (LAMBDAMART, SUP, SUP_RAW, PI_OPT))
CODE = Setting("published code", NDCG_FLAT, 3, (SUP, PI_OPT))
"""As the published code has it: ranks 1 and 2 count alike, and trees have 3 levels, 8 of the 70 leaves."""

SETTINGS = (TEXT, CODE)


@dataclass(frozen=True)
class LearningDesign:
    """The experiment at some size.

    queries: the most of those given. generated: how many are made where none are given, with `documents` each (None:
    MSLR's sizes). slates: logged for each query, on average (published: 10,000,000 for the 6,000 to learn from of
    MSLR-WEB10K). rounds: the number of trees is chosen among a tenth, three tenths and all of them.
    smallest: documents in a leaf.
    """

    queries: int
    generated: int
    documents: tuple[int, int] | None
    rounds: int
    leaves: int = 70
    rate: float = 0.1
    smallest: int = 20
    slates: int = 1_667
    seed: int = 4

    @classmethod
    def of(cls, scale: float, seed: int) -> LearningDesign:
        """Return the published size at scale .5 or more, but for generated queries; otherwise a small one."""
        if scale >= 0.5:
            return cls(10_000, 1_500, None, 1_000, seed=seed)
        return cls(1_000, 1_000, (10, 60), 50, 31, seed=seed)

    @property
    def after(self) -> tuple[int, ...]:
        """Return the numbers of trees to choose from."""
        return tuple(sorted({max(self.rounds * tenths // 10, 1) for tenths in (1, 3, 10)}))

    def trees(self, setting: Setting, slots: int = 1) -> TreeSettings:
        """Return the settings of trees whose examples are documents in so many slots."""
        return TreeSettings(self.rounds, self.leaves, self.rate, depth=setting.depth, smallest=self.smallest * slots)


class LearningFold(NamedTuple):
    """One of the five folds, from 0."""

    number: int

    @property
    def name(self) -> str:
        """Return the name of its file."""
        return f"learning-{self.number}"

    def __str__(self) -> str:
        return f"rankers of fold {self.number + 1}"


FOLDS = tuple(map(LearningFold, range(PARTS)))


@dataclass(frozen=True)
class Experiment:
    """Learns rankers of a fold from a log of these pages, and from their grades."""

    pages: Pages
    log: UniformLog
    design: LearningDesign

    @cached_property
    def part(self) -> Integers:
        """Return the part of each query [q]."""
        return parts(self.pages.judged, PARTS, "parts", self.design.seed)

    def tested(self, fold: LearningFold) -> Integers:
        """Return the queries that a fold is tested on."""
        return np.flatnonzero(self.part == fold.number)

    def validating(self, fold: LearningFold) -> Integers:
        """Return the queries that choose the number of trees of a fold."""
        return np.flatnonzero(self.part == (fold.number + 1) % PARTS)

    def trained(self, fold: LearningFold) -> Integers:
        """Return the queries that a fold is learnt from."""
        return np.flatnonzero((self.part != fold.number) & (self.part != (fold.number + 1) % PARTS))

    def run(self, fold: LearningFold, heed: Heed) -> Found:
        """Return setting -> method -> reward -> values of the slates of each tested query."""
        found: Found = {}
        for setting in SETTINGS:
            found[setting.name] = {}
            for method in setting.methods:
                for name, kind, values in self._results(fold, setting, method, heed):
                    found[setting.name].setdefault(name, {})[REWARDS[kind]] = values.tolist()
        return found

    def price(self, missing: Sequence[LearningFold]) -> str:
        """Return in words what some folds will cost, from the speed of a few trees."""
        part, spent = self.pages.judged.take(self.trained(FOLDS[0])), list[float]()
        for count in _TIMED:
            began, few = time.perf_counter(), replace(self.design.trees(TEXT), rounds=count)
            list(rounds(finite(part.features), part.grade, np.ones(part.rows), few))
            spent.append(time.perf_counter() - began)
        tree = max((spent[1] - spent[0]) / (_TIMED[1] - _TIMED[0]), 1e-4)
        methods = [method for setting in SETTINGS for method in setting.methods]
        models = len(methods) + methods.count(PI_OPT)
        passes = models + 2 * methods.count(PI_OPT) * (SLOTS - 1)  # an example for each slot
        each = spent[0] + tree * (self.design.rounds - 1)
        seconds = each * passes * len(missing) / workers(WORKERS)
        return f"{len(missing)} folds, {models} rankers of {self.design.rounds:,} trees each: about {spoken(seconds)}"

    def _results(
        self, fold: LearningFold, setting: Setting, method: str, heed: Heed
    ) -> Iterator[tuple[str, int, Floats]]:
        """Yield (name, reward, [tested]) of a method, learnt once for each reward if it learns from rewards."""
        if method == PI_OPT:
            learnt = {kind: (kind,) for kind in setting.kinds}
        else:
            learnt = {setting.ndcg: (*setting.kinds, *((NDCG_FLAT,) if method == LAMBDAMART else ()))}
        for target, kinds in learnt.items():
            forests = list(self._forests(fold, setting, method, target))
            heed()
            validated = np.stack([self.rewards(self.validating(fold), one).mean(axis=0) for one in forests])
            for kind in kinds:
                forest = forests[int(validated[:, kind].argmax())]
                yield method, kind, self.rewards(self.tested(fold), forest)[:, kind]
                if method == PI_OPT:
                    yield EXACT, kind, self.rewards(self.tested(fold), forest, "exact")[:, kind]
                heed()

    def _forests(self, fold: LearningFold, setting: Setting, method: str, target: int) -> Iterator[TreeEnsemble]:
        """Yield the rankers with the different numbers of trees."""
        queries = self.trained(fold)
        part, rows = self.pages.judged.take(queries), self._rows(queries)
        trees = self.design.trees(setting, SLOTS if method == PI_OPT else 1)
        seed, after = self.design.seed, self.design.after
        features = finite(part.features)
        if method == LAMBDAMART:
            made = ranking_rounds(features, part.grade, part.sizes, trees, seed, after)
        elif method == PI_OPT:
            weights = self.log.actions[target].weights[rows]
            made = rounds(features, self.action_rewards[target][rows], weights, trees, seed, after)
        else:
            grades = np.exp2(part.grade) - 1 if method == SUP else part.grade
            made = rounds(features, grades, 1.0 / part.sizes[part.owner], trees, seed, after)
        yield from (forest for _, forest in made)

    def rewards(self, queries: Integers, forest: TreeEnsemble, assignment: Assignment = "greedy") -> Floats:
        """Return the rewards [n, 3] of the slates of a ranker."""
        some = np.array_split(queries, -(-len(queries) // _TOGETHER))
        return np.concatenate([self.pages.rewards(one, self._slates(one, forest, assignment)) for one in some])

    def _slates(self, queries: Integers, forest: TreeEnsemble, assignment: Assignment) -> Integers:
        """Return the slates [n, 3] of a ranker; among documents with equal scores a hash decides."""
        part, rows = self.pages.judged.take(queries), self._rows(queries)
        scores = forest.scores(finite(part.features))
        shuffled = np.zeros((len(queries), int(part.sizes.max()), SLOTS))
        shuffled[part.owner, self._places[rows]] = scores if forest.slots else scores[:, None]
        document = np.zeros(shuffled.shape[:2], np.int64)
        document[part.owner, self._places[rows]] = np.arange(part.rows) - part.first[part.owner]
        slates = best_slates(shuffled, part.sizes, self.pages.lengths[queries], assignment)
        return np.where(slates >= 0, np.take_along_axis(document, np.maximum(slates, 0), axis=1), -1)

    def _rows(self, queries: Integers) -> Integers:
        """Return the rows of these queries, in the order of `Judged.take`."""
        first = self.pages.judged.first
        return np.concatenate([np.arange(first[one], first[one + 1]) for one in queries.tolist()])

    @cached_property
    def _places(self) -> Integers:
        """Return a place for each document among its query's, by a hash [rows]."""
        judged = self.pages.judged
        return ranks(judged, np.zeros(judged.rows), "ties", self.design.seed) - 1

    @cached_property
    def action_rewards(self) -> tuple[Floats, ...]:
        """Return what pi-opt regresses on, for each of `REWARDS` [rows, 3]."""
        return tuple(one.uniform() for one in self.log.actions)
