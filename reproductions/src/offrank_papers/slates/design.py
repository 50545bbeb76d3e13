"""Design of the simulation: its sizes, and the forty conditions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from .rankers import LASSO_BODY, LASSO_TITLE, TREE_BODY, TREE_TITLE

TARGETS = (LASSO_BODY, TREE_BODY)
METRICS = ("NDCG", "ERR")
FLAT = "NDCG, published code"
"""NDCG with the discounts of the published code, which treats ranks 1 and 2 alike."""

MSLR_FEATURES = 136
REWARDS = ("NDCG", FLAT, "ERR")
"""What is computed of each slate, in the order of the compiled loop."""

WPI, WIPS, LASSO, TREE, ON_POLICY = PUBLISHED = ("wPI", "wIPS", "DM lasso", "DM tree", "on-policy")
PI, IPS, CONTROLLED, DR_LASSO, DR_TREE = BEYOND = ("PI", "IPS", "controlled PI", "DR lasso", "DR tree")
ESTIMATORS = (*PUBLISHED, *BEYOND)
DIRECT = {LASSO: DR_LASSO, TREE: DR_TREE}
"""The direct methods, and the doubly robust estimator with the same model."""

FULL_LOGS, FULL_RUNS, FULL_MODEL = 10_000_000, 25, 30_000
_GENERATED = 3_000  # queries; more would not fit in 1.5 GiB


class Space(NamedTuple):
    """At most m candidates per query, l slots, and the alphas of logging policies that are not uniform."""

    m: int
    l: int  # noqa: E741  the paper's letter
    alphas: tuple[float, float]

    def __str__(self) -> str:
        return f"({self.m}, {self.l})"


SPACES = (Space(10, 5, (1.0, 2.0)), Space(100, 10, (0.5, 1.0)))


class Logging(NamedTuple):
    """A logging policy: weights 2 ** (-alpha floor(log2 rank)) by the ranks of a ranker; uniform for alpha 0."""

    ranker: str
    alpha: float

    def __str__(self) -> str:
        return f"{self.ranker}, alpha {self.alpha:g}" if self.alpha else "uniform"


UNIFORM = Logging(TREE_TITLE, 0.0)


def loggings(space: Space) -> tuple[Logging, ...]:
    """Return the five logging policies of a space, in the order of the paper's figures."""
    peaked = (Logging(ranker, alpha) for alpha in space.alphas for ranker in (LASSO_TITLE, TREE_TITLE))
    return (UNIFORM, *peaked)


class SlateStudy(NamedTuple):
    """One simulated log, which serves two targets and all rewards."""

    space: Space
    logging: Logging
    run: int

    @property
    def name(self) -> str:
        """Return the name of its file."""
        return f"{self.space.m}-{self.space.l}-{str(self.logging).replace(', alpha ', '-')}-{self.run}"

    def __str__(self) -> str:
        return f"{self.space}, {self.logging}, run {self.run + 1}"


class Condition(NamedTuple):
    """A panel of Figures 3 to 12."""

    space: Space
    logging: Logging
    target: str
    metric: str

    def __str__(self) -> str:
        return f"{self.space} {self.logging} to {self.target}, {self.metric}"


@dataclass(frozen=True)
class SlatesDesign:
    """The experiment of section 4.1 at some size.

    queries: to generate where none are given. logs: of each
    run; models: logs from which the direct methods learn, each half of a size at which they are judged; beyond the
    last, its model predicts the remaining logs.
    """

    queries: int
    logs: int
    runs: int
    models: tuple[int, ...]
    seed: int = 4
    spaces: tuple[Space, ...] = SPACES

    @classmethod
    def of(cls, scale: float, seed: int) -> SlatesDesign:
        """Return the published number of logs times `scale`, and fewer runs, queries and logs to learn from."""
        logs = max(int(FULL_LOGS * scale), 2_000)
        most = min(FULL_MODEL if scale >= 0.5 else 10_000, logs // 2)
        return cls(
            queries=_GENERATED if scale >= 0.5 else 400,
            logs=logs,
            runs=FULL_RUNS if scale >= 0.5 else 10 if scale >= 0.02 else 4,
            models=tuple(n for n in (1_000, 3_000, 10_000, 30_000) if n <= most) or (most,),
            seed=seed,
        )

    @cached_property
    def grid(self) -> tuple[int, ...]:
        """Return the sizes at which estimates are recorded: 1, 2, 3 and 6 times powers of ten, and those needed."""
        steps = {factor * 10**power for power in range(3, 9) for factor in (1, 2, 3, 6)}
        sizes = {*steps, *self.models, *(2 * model for model in self.models), self.logs}
        return tuple(sorted(n for n in sizes if n <= self.logs))

    def studies(self) -> list[SlateStudy]:
        """List all studies, run after run, so that an unfinished experiment is a whole one with fewer runs."""
        return [
            SlateStudy(space, which, run)
            for run in range(self.runs)
            for space in self.spaces
            for which in loggings(space)
        ]

    def conditions(self) -> Iterator[Condition]:
        """Yield the conditions, in the order of the paper's figures."""
        for space in self.spaces:
            for which in loggings(space):
                yield from (Condition(space, which, target, metric) for target in TARGETS for metric in METRICS)


def seed_of(*parts: object) -> int:
    """Return a 64-bit seed that depends on all arguments."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:8], "big")
