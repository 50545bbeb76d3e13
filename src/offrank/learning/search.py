"""From a log to the best weights: survey the features, encode two thirds, learn, choose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..folds.base import Together
from ..log.source import Source
from ..policies.propensities import AnyPolicy, shown_needs
from ..running.executors import Executor, Progress, run
from . import base, splits, validation
from .base import Learner
from .examples import Data, Packing, Store
from .held_out import LearntRowsFold
from .rewards import baseline
from .survey import Survey, SurveyFold

MEMORY = 1 << 30
"""Bytes of encoded examples that are kept in memory; larger logs are kept in a temporary folder."""


@dataclass(frozen=True)
class Preparation:
    """How a log is made ready. folder: temporary, for pieces of large logs."""

    logging: AnyPolicy
    folder: Path
    by: splits.By = "turn"
    bits: int = 20
    interactions: bool = False
    memory: float = MEMORY

    def needs(self, source: Source) -> Source:
        """The source with the columns that learning reads."""
        wanted = shown_needs(self.logging, "log_prob")
        return source.select(wanted | type(wanted)(frozenset(["candidates", "features", "reward"])))

    def data(self, source: Source, executor: Executor | None, progress: Progress | None) -> tuple[Data, Survey]:
        """Both thirds that learning looks at, in three passes over the log."""
        chosen = self.needs(source)
        folds = Together({"survey": SurveyFold(self.bits), "training": LearntRowsFold(self.by)})
        found = run(chosen, folds, executor, progress)
        survey: Survey = found["survey"]
        encoding = survey.encoding(self.bits, self.interactions)
        folder = self.folder if survey.bytes(self.interactions) > self.memory else None

        def pack(part: splits.Part) -> Store:
            return run(chosen, Packing(encoding, self.logging, part, self.by, folder), executor, progress)

        return Data(pack("train"), pack("validate"), encoding, found["training"]), survey


@dataclass(frozen=True)
class Search:
    """Every candidate of a learner, judged on the validation third."""

    learner: Learner
    name: str
    criterion: validation.Criterion = "ips"
    confidence: float = 0.95
    seed: int = 0

    def run(self, data: Data, tried: Callable[[validation.Judged], object] = id) -> tuple[validation.Judged, ...]:
        """The candidates' estimates, best first; of the others no weights are kept.

        Raises:
            UsageError: a method that cannot learn from this log.
            LogError: nothing to learn from.
        """
        base.check(self.learner, self.name, data)
        found: list[validation.Judged] = []
        leader: validation.Judged | None = None
        middle = baseline(data.train)
        for candidate in self.learner.candidates(data, self.seed):
            judged = validation.judge(candidate, data.validate, self.learner.greedy, self.confidence, middle)
            tried(judged)
            if leader is None or judged.worth(self.criterion) > leader.worth(self.criterion):
                leader = judged
            found.append(judged.without_weights())
        assert leader is not None
        others = [one for one in found if one.candidate.settings != leader.candidate.settings]
        return (leader, *sorted(others, key=lambda one: one.worth(self.criterion), reverse=True))
