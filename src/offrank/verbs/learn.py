"""`learn`: learn a policy from a log, ready to be evaluated and used."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .. import formatting
from ..errors import UsageError, optional
from ..evaluation import arguments
from ..evaluation.pages.document import eyebrow
from ..evaluation.result import Result
from ..files import scratch
from ..findings.release import Release
from ..findings.verdict import Verdict
from ..folds.estimate import Interval
from ..frames import Plain
from ..inference.spec import IntervalSpec
from ..learning import splits
from ..learning.boosting import Boosting
from ..learning.examples import Checkpoint, Data, ItemRanks
from ..learning.named import learner
from ..learning.pi_opt import PiOpt
from ..learning.preparation import Preparation
from ..learning.search import Criterion, Search, Trial
from ..policies.boosted import Boosted
from ..policies.fit import fitted
from ..policies.learnt import Learnt, policies_of
from ..policies.linear import Encoding
from ..policies.propensities import AnyPolicy
from ..report.document import Answer, Cell, Document, Figures, Section
from ..report.printable import Printed
from ..running.executors import Executor, Progress
from ..steps import Say, silent
from ..wording import Option, Wording
from .evaluate import evaluate

_ESTIMATED = ("pi", "ipm", "ips", "snips")
"""The estimates of a trial, in the order of the table; the first two may be missing."""


@dataclass(frozen=True)
class LearntPolicy(Printed, Plain):
    """A learnt policy with its training results.

    - policy: read from the file that was written; `greedy` says how its method means it to be used.
    - tried: every setting with its estimates on the validation third, best first.
    - tested: on the test third, the policy drawn from (`drawn`) and sorted by (`sorted`), or of scores by slot the
      greedy slate (`sorted`) and the best one (`exact`); None if not requested.
    - ignored: number of features that are equal for all candidates of every impression, so that a linear scorer
      without interactions cannot use them; `features` is the number of features that occur.
    - largest: the largest reward of the whole log, over inclusion.
    """

    policy: Learnt
    method: str
    criterion: Criterion
    tried: tuple[Trial, ...]
    tested: Result | None
    features: int
    ignored: int
    crossed: bool
    largest: float = -math.inf

    @property
    def greedy(self) -> bool:
        """Whether the method's policy is meant to be sorted by rather than drawn from."""
        return self.policy.sorts

    @property
    def _used(self) -> str:
        return "sorted" if self.greedy else "drawn"

    @property
    def release(self) -> Release | None:
        """Whether the policy, used as its method means it, may replace the logged one; None if not requested."""
        if self.tested is None:
            return None
        return self.tested.release(self._used, self.tested.facts["confidence"], self.largest)

    @property
    def verdict(self) -> Verdict | None:
        """The verdict on the policy on the test third, used as its method means it; None if not requested."""
        return None if self.tested is None else self.tested.verdicts[self._used]

    @property
    def better(self) -> bool | None:
        """Whether the policy may replace the logging policy, see `release`; None if not requested."""
        return None if self.release is None else self.release.released

    @property
    def usable(self) -> bool:
        """Whether the policy is released, or was not judged."""
        return self.better is not False

    @property
    def headline(self) -> str:
        """Whether to ship the policy, in one sentence."""
        return "Not judged: the last third was not looked at." if self.release is None else self.release.headline

    def to_dict(self) -> dict[str, Any]:
        """Return the decision, the settings tried and the test as plain values."""
        tried = [
            {
                "settings": dict(one.candidate.settings),
                **{name: getattr(one, name).to_dict() for name in _ESTIMATED if getattr(one, name) is not None},
                "mean_weight": one.mean_weight,
            }
            for one in self.tried
        ]
        return {
            "kind": "learn",
            "policy": repr(self.policy),
            "method": self.method,
            "release": None if self.release is None else self.release.to_dict(),
            "criterion": self.criterion,
            "tried": tried,
            "tested": None if self.tested is None else self.tested.to_dict(),
        }

    def to_document(self) -> Document:
        """Return the page: whether the policy is better, how it was tested, and which settings were tried."""
        found = Document("", "", ()) if self.tested is None else self.tested.to_document()
        severity = next((one.severity for one in found.answers if one.about == formatting.quote(self._used)), "note")
        names = tuple(name for name in _ESTIMATED if getattr(self.tried[0], name) is not None)
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (_spelled(one), *_intervals(one, names), one.mean_weight) for one in self.tried
        )
        table = Figures("", ("settings", *names, "mean weight"), rows)
        use = "crossed with the candidates'" if self.crossed else "without effect: --interactions crosses them"
        same = f"{self.ignored:,} of {self.features:,} features are the same for all candidates of every impression"
        prose = (
            f"The best of {len(self.tried)} by {self.criterion} stands first: its number is too high for that.",
            same + (f", {use}." if self.ignored else "."),
        )
        tried = Section("What was tried, on the validation third", prose, tables=(table,))
        lead = f"{formatting.quote(repr(self.policy))}, learnt by {self.method}."
        answer, made = Answer(self.headline, severity=severity), eyebrow({"kind": "learn"})
        return Document("A learnt policy", lead, (tried, *found.sections), (answer,), found.forests, made)


def learn(
    log: Any,
    method: str,
    path: str | os.PathLike[str],
    *,
    logging: str | AnyPolicy = "logged",
    criterion: Criterion | None = None,
    split: splits.By = "turn",
    interactions: bool = False,
    epochs: int | None = None,
    bits: int = 20,
    confidence: float = 0.95,
    seed: int = 0,
    test: bool = True,
    labels: str | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    say: Say = silent,
) -> LearntPolicy:
    """Learn a policy from one third of a log, choose its settings by another, and test it on the last.

    - log: anything that `read_log` takes, with `features` beside the candidates.
    - method: random, regression, ips, dro, poem, snpoem, dr-poem, plackett-luce or pl-rank, which are linear; pi-opt,
      sup or lambdamart, which boost trees; or a spelling such as `sup(target=relevance)`.
    - path: the `.npz` file to write. logging: the policy that drew the log, by default known by its propensities.
    - criterion: what settings are chosen by: `ips` (the default), `snips`, `lower`, the lower end of the interval of
      IPS, `pi`, the pseudoinverse (default of pi-opt), or `ipm`, by items at their ranks (of pl-rank).
    - labels: the column of the candidates' grades, for sup and lambdamart. bits: weights are a table of 2^bits.
    - split: by `turn` or `hash` of the rows. interactions: cross the features of the context with the candidates'.
    - epochs: the most passes, or trees. confidence: of intervals, and that a policy which is released is better.
    - seed: the same one gives the same bits. say: called with a description of each step.

    Raises:
        UsageError: arguments that cannot work, or a method that cannot learn from this log.
        LogError: the log breaks a rule, or has no information.

    Examples:
        >>> offrank.learn(offrank.simulation.AdvertWorld(2000, slots=1).source(), "ips", "policy.npz", epochs=1).policy
        linear('policy.npz', greedy=True)
    """
    target = _target(path, split, confidence, bits, test)
    search = _search(method, epochs, criterion, confidence, seed, labels)
    source = arguments.source(log)
    drawn = fitted(arguments.policy(logging), source, executor)
    with scratch(target.parent, ".learning-") as folder:
        say("1. Reading the log, and encoding its features")
        needed: dict[str, Any] = {"contexts": search.contexts, "labels": labels, "ranks": search.ranks}
        prepared = Preparation(drawn, folder, split, bits, interactions, **needed)
        data, survey = prepared.data(source, executor, progress)
        say(f"2. Learning from {data.train.rows:,} impressions, choosing by {data.validate.rows:,}")
        tried = search.run(data, tried=lambda one: say(f"   {_spelled(one)}: {_estimated(one)}"))
    _save(search := _used(search, tried[0]), data, tried[0].candidate, split, target)
    targets, tested = both(str(target)), None
    policy = targets["sorted" if search.learner.greedy else "drawn"]
    if test:
        say("3. Judging by the test third")
        how: dict[str, Any] = {"confidence": confidence, "executor": executor, "progress": progress}
        tested = evaluate(splits.Split(source, "test", split), targets, *_judges(drawn, data, tried[0]), **how)
    features = (int(survey.seen.sum()), int(survey.context.sum()), interactions or isinstance(policy, Boosted))
    return LearntPolicy(policy, method, search.criterion, tried, tested, *features, survey.most)


def _used(search: Search, best: Trial) -> Search:
    """Return the search with what settings were chosen by: ips for ipm in slates of one slot, or without its input."""
    return replace(search, criterion="ips") if search.criterion == "ipm" and best.ipm is None else search


def _judges(drawn: AnyPolicy, data: Data, best: Trial) -> tuple[AnyPolicy, tuple[str, ...]]:
    """Return the logging policy and the estimators of the test: also what settings were chosen by, if assuming more."""
    if data.validate_contexts is not None:
        return data.validate_contexts.law, ("ips", "snips", "wpi")
    return drawn, ("ips", "snips") if best.ipm is None else ("ips", "snips", "ipm")


def both(path: str) -> dict[str, Learnt]:
    """Return a learnt scorer as the two policies that it defines: drawn and sorted; or, by slot, sorted and exact."""
    return policies_of(path)


def _target(path: str | os.PathLike[str], split: splits.By, confidence: float, bits: int, test: bool) -> Path:
    """Return the file to write; raise for arguments that cannot work, before anything is read."""
    splits.check(split)
    IntervalSpec("normal", confidence)
    if test and confidence <= 0.5:
        raise UsageError(f"confidence is {confidence!r}", "give more than 0.5, or do not judge the policy: test=False")
    Encoding.plain(bits)
    target = Path(path)
    if target.suffix != ".npz":
        raise UsageError(f"the policy's file is {str(target)!r}", "give a name that ends in .npz")
    if target.is_dir():
        raise UsageError(f"{str(target)!r} is a folder", "give the name of a file")
    if not os.access(target.parent, os.W_OK):
        raise UsageError(f"there is no folder {str(target.parent)!r} to write to", "make it first")
    return target


def _search(
    method: str, epochs: int | None, criterion: Criterion | None, confidence: float, seed: int, labels: str | None
) -> Search:
    """Return the search.

    Raises:
        UsageError: arguments that cannot work.
    """
    made = learner(method, epochs)
    usual: Criterion = "pi" if isinstance(made, PiOpt) else "ipm" if isinstance(made, ItemRanks) else "ips"
    if isinstance(made, Boosting):
        optional("lightgbm", f"{method} needs LightGBM", "models")
        if made.graded and labels is None:
            raise UsageError(
                f"{method} learns from grades beside the candidates", Wording("name their column: {}", Option("labels"))
            )
    return Search(made, method, criterion or usual, confidence, seed)


def _save(search: Search, data: Data, best: Checkpoint, split: splits.By, path: Path) -> None:
    """Write the model with its training settings and the fingerprint of its rows."""
    assert best.model is not None
    said = {"method": search.name, "criterion": search.criterion, "settings": dict(best.settings)}
    best.model.recorded({**said, "seed": search.seed, "split": split}, data.training).save(path)


def _spelled(judged: Trial) -> str:
    """Format the settings."""
    return ", ".join(f"{name} {value:g}" for name, value in judged.candidate.settings.items()) or "nothing to set"


def _estimated(judged: Trial) -> str:
    """Format the estimate of a candidate: by the criterion that is not of all methods, or by IPS."""
    name = next(name for name in _ESTIMATED if getattr(judged, name) is not None)
    return f"{name} {_interval(getattr(judged, name))}"


def _intervals(judged: Trial, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_interval(getattr(judged, name)) for name in names)


def _interval(found: Interval) -> str:
    return formatting.Span(found.value, found.low, found.high, found.standard_error).text()
