"""What is simulated, and how much of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...clicks.model import ClickModel
from ...clicks.named import click_model
from ...simulation.judged import Preset

ORACLE, LAMBDAMART, UNIFORM = "noisy_oracle", "lambdamart", "uniform"
POLICIES = (ORACLE, LAMBDAMART, UNIFORM)
LOGGING = (ORACLE, LAMBDAMART)

PBM, DBN, MIXTURE, CAROUSEL = USERS = ("pbm", "dbn", "mixture_dbn", "carousel")

FIGURE = "figure_1"
"""In the place of a user: the two models of Figure 1 again, at the temperature of the published code."""

_NEURAL = ("ncm", "cacm")
_QUICK = ("ncm(batch=1024, rate=0.03, epochs=15)", "cacm(batch=1024, rate=0.1, epochs=12)")
_LARGE = 0.2
"""The scale from which on the recurrent models learn as in the paper; below, in fewer but longer steps."""


@dataclass(frozen=True)
class Design:
    """The paper's set-up at some size (section 5).

    queries: at most so many. documents: per query, for the carousel and for the others. sessions: to learn from; tests:
    slates to test on, per policy. trees: of LambdaMART. models: their spellings.
    runs: at least 2. repetitions: of the two-fold cross-validation of Table 1.
    """

    queries: int
    sessions: int
    tests: int
    runs: int
    repetitions: int
    models: tuple[str, ...]
    users: tuple[str, ...] = USERS
    logging: tuple[str, ...] = LOGGING
    documents: int = 10
    carousel_documents: int = 25
    trees: int = 100
    seed: int = 4
    preset: Preset = "paper"

    @classmethod
    def of(cls, scale: float, seed: int, preset: Preset = "paper") -> Design:
        """The published size times `scale`: sessions by as much, queries by its root, runs by less.

        So each query has 850 sessions at scale 1, and 85 at .01.
        """
        large = scale >= _LARGE
        return cls(
            queries=max(int(6_000 * math.sqrt(scale)), 30),
            sessions=max(int(5e6 * scale), 1_000),
            # Clicks are not drawn but expected, so that few slates say much.
            tests=max(int(40_000 * math.sqrt(scale)), 200),
            runs=min(max(round(10 * scale**0.2), 3), 10),
            repetitions=max(round(1_000 * math.sqrt(scale)), 10),
            models=("dctr", "rdctr", "pbm", "ubm", "dbn", *(_NEURAL if large else _QUICK)),
            trees=100 if large else 10,
            seed=seed,
            preset=preset,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The models' names, in order."""
        return tuple(self.made)

    @property
    def made(self) -> dict[str, ClickModel]:
        """The models by name."""
        return {model.name: model for model in map(click_model, self.models)}

    def documents_of(self, user: str) -> int:
        """Documents per query for a user."""
        return self.carousel_documents if user == CAROUSEL else self.documents

    def studies(self) -> list[Study]:
        """All that is to be simulated, run after run, so that what comes first is the whole at fewer runs."""
        every = [Study(user, which, run) for run in range(self.runs) for user in self.users for which in self.logging]
        return [*every, Study(FIGURE, ORACLE, 0)]


@dataclass(frozen=True)
class Study:
    """One run of the simulation: a user, a logging policy, and everything that is random."""

    user: str
    logging: str
    run: int

    @property
    def name(self) -> str:
        """What its file is called."""
        return f"{self.user}-{self.logging}-{self.run}"

    def __str__(self) -> str:
        return f"{self.user}, {self.logging}, run {self.run + 1}"
