"""Learning of a policy from two thirds of a log: encoding, search over settings, and the file that is written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import UsageError, optional
from ..language import Say, silent
from ..language.files import scratch
from ..language.formatting import Span
from ..log.source import Source
from ..policies import splits
from ..policies.base import Policy
from ..policies.learnt import Learnt, policies_of
from ..policies.linear import Encoding
from ..readers.log import period_of
from ..running.executors import Executor, Progress
from ..sums.estimate import Interval
from ..wording import Option, Wording
from .boosting import Boosting
from .examples import Data, ItemRanks
from .methods import learner
from .pi_opt import PiOpt
from .preparation import Preparation, Survey
from .search import Criterion, Search, Trial

ESTIMATED = ("pi", "ipm", "ips", "snips")
"""The estimates of a trial, in the order of tables; the first two may be missing."""


@dataclass(frozen=True)
class TrainedPolicy:
    """What was learnt, and from what.

    - policies: read from the file that was written, by how its scores are used, see `policies_of`.
    - tried: every setting with its estimates on the validation third, best first.
    - search: with the criterion by which settings were chosen. survey: of the features of the log. period: its days.
    """

    policies: Mapping[str, Learnt]
    tried: tuple[Trial, ...]
    search: Search
    data: Data
    survey: Survey
    crossed: bool
    period: Mapping[str, str] | None = None

    @property
    def policy(self) -> Learnt:
        """The policy, used as its method means it."""
        return self.policies["sorted" if self.search.learner.greedy else "drawn"]

    def tested_by(self, drawn: Policy) -> tuple[Policy, tuple[str, ...]]:
        """The logging policy and the estimators of a test: also what chose the settings, if it assumes more."""
        if self.data.validate_contexts is not None:
            return self.data.validate_contexts.law, ("ips", "snips", "wpi")
        return drawn, ("ips", "snips") if self.tried[0].ipm is None else ("ips", "snips", "ipm")


@dataclass(frozen=True)
class Training:
    """How a policy is learnt from one third of a log, with its settings chosen by another.

    split: by which the thirds are divided. bits: weights are a table of 2^bits. interactions: whether features of the
    context are crossed with the candidates'. labels: the column of the candidates' grades, or None.
    overwrite: whether the policy may replace a file that offrank did not write.
    """

    search: Search
    split: splits.By = "turn"
    bits: int = 20
    interactions: bool = False
    labels: str | None = None
    overwrite: bool = False

    def run(
        self,
        source: Source,
        drawn: Policy,
        path: Path,
        executor: Executor | None = None,
        progress: Progress | None = None,
        say: Say = silent,
    ) -> TrainedPolicy:
        """Learn, and write the file of the policy. drawn: the logging policy. say: called with each step.

        Raises:
            OffrankError: the method cannot learn from this log.
        """
        search = self.search
        with scratch(path.parent, ".learning-") as folder:
            say("1. Reading the log and encoding its features")
            needed: dict[str, Any] = {"contexts": search.contexts, "labels": self.labels, "ranks": search.ranks}
            prepared = Preparation(drawn, folder, self.split, self.bits, self.interactions, **needed)
            data, survey = prepared.data(source, executor, progress)
            say(f"2. Learning from {data.train.rows:,} impressions, selecting on {data.validate.rows:,}")
            tried = search.run(data, tried=lambda one: say(f"   {settings(one)}: {_estimated(one)}"))
        search = _used(search, tried[0])
        self._save(search, data, tried[0], path)
        policies = policies_of(path)
        crossed = self.interactions or any(one.interacts for one in policies.values())
        return TrainedPolicy(policies, tried, search, data, survey, crossed, period_of(source))

    def _save(self, search: Search, data: Data, best: Trial, path: Path) -> None:
        """Write the model with its training settings and the fingerprint of its rows."""
        model = best.candidate.model
        assert model is not None
        said = {"method": search.name, "criterion": search.criterion, "settings": dict(best.candidate.settings)}
        model.recorded({**said, "seed": search.seed, "split": self.split}, data.training).save(path, self.overwrite)


def policy_file(path: str | os.PathLike[str], bits: int) -> Path:
    """Return the file to write; raise for what cannot work, before anything is read.

    Raises:
        UsageError: it cannot be written, or the table of weights would be too large.
    """
    Encoding.plain(bits)
    target = Path(path)
    if target.suffix != ".npz":
        raise UsageError(f"the policy's file is {str(target)!r}", "give a name that ends in .npz")
    if target.is_dir():
        raise UsageError(f"{str(target)!r} is a folder", "give the name of a file")
    if not os.access(target.parent, os.W_OK):
        raise UsageError(f"there is no folder {str(target.parent)!r} to write to", "create it first")
    return target


def search_of(
    method: str, epochs: int | None, criterion: Criterion | None, confidence: float, seed: int, labels: str | None
) -> Search:
    """Return the search of a method by name.

    Raises:
        UsageError: arguments that cannot work.
    """
    made = learner(method, epochs)
    usual: Criterion = "pi" if isinstance(made, PiOpt) else "ipm" if isinstance(made, ItemRanks) else "ips"
    if isinstance(made, Boosting):
        optional("lightgbm", f"{method} needs LightGBM", "models")
        if made.graded and labels is None:
            raise UsageError(
                f"{method} learns from grades of the candidates", Wording("name their column: {}", Option("labels"))
            )
    return Search(made, method, criterion or usual, confidence, seed)


def _used(search: Search, best: Trial) -> Search:
    """Return the search with what settings were chosen by: ips for ipm in slates of one slot, or without its input."""
    return replace(search, criterion="ips") if search.criterion == "ipm" and best.ipm is None else search


def settings(judged: Trial) -> str:
    """Format the settings."""
    return ", ".join(f"{name} {value:g}" for name, value in judged.candidate.settings.items()) or "nothing to set"


def _estimated(judged: Trial) -> str:
    """Format the estimate of a candidate: by the criterion that is not of all methods, or by IPS."""
    name = next(name for name in ESTIMATED if getattr(judged, name) is not None)
    return f"{name} {interval_text(getattr(judged, name))}"


def interval_text(found: Interval) -> str:
    """Format an interval with the digits that its error allows."""
    return Span(found.value, found.low, found.high, found.standard_error).text()
