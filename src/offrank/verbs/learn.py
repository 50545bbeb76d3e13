"""`learn`: learn a policy from a log, ready to be evaluated and used."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import formatting
from ..errors import NoOverlapError, UsageError
from ..files import scratch
from ..findings.verdict import Verdict
from ..folds.estimate import Estimate, Interval
from ..inference.spec import IntervalSpec
from ..learning import splits
from ..learning.examples import Checkpoint, Data
from ..learning.named import learner
from ..learning.preparation import Preparation
from ..learning.search import Criterion, Search, Trial
from ..options import Say, silent
from ..policies.fit import fitted
from ..policies.linear import Encoding, Linear, Model
from ..policies.propensities import AnyPolicy
from ..report.document import Answer, Document, Figures, Section
from ..running.executors import Executor, Progress
from . import arguments
from .evaluate import evaluate
from .pages.document import eyebrow
from .printed import Printed
from .result import Result


@dataclass(frozen=True)
class LearntPolicy(Printed):
    """A learnt policy with its training results.

    - policy: read from the file that was written; `greedy` says how its method means it to be used.
    - tried: every setting with its estimates on the validation third, best first.
    - tested: on the test third, the policy drawn from (`drawn`) and sorted by (`sorted`); None if not requested.
    - ignored: number of features that are equal for all candidates of every impression, so that a linear scorer
      without interactions cannot use them; `features` is the number of features that occur.
    """

    policy: Linear
    method: str
    criterion: Criterion
    tried: tuple[Trial, ...]
    tested: Result | None
    features: int
    ignored: int
    crossed: bool

    @property
    def greedy(self) -> bool:
        """Whether the method's policy is meant to be sorted by rather than drawn from."""
        return self.policy.greedy

    @property
    def judged(self) -> Estimate | NoOverlapError | None:
        """SNIPS of the policy on the test third, used as its method means it; None if not requested."""
        if self.tested is None:
            return None
        return self.tested.estimates.found[self._used, "snips"]

    @property
    def _used(self) -> str:
        return "sorted" if self.greedy else "drawn"

    @property
    def verdict(self) -> Verdict | None:
        """The verdict on the policy on the test third, used as its method means it; None if not requested."""
        return None if self.tested is None else self.tested.verdicts[self._used]

    @property
    def better(self) -> bool | None:
        """Whether the policy earns more than the logging policy on the test third; None if not requested.

        True if the verdict is not `do not use` and the interval of the paired difference lies above zero.
        """
        found = self.verdict
        return None if found is None else found.difference is not None and found.difference.low > 0

    @property
    def headline(self) -> str:
        """Compare the policy with the logging policy on the test third, in one sentence."""
        found = self.judged
        if found is None:
            return "Not judged: the last third was not looked at."
        if isinstance(found, NoOverlapError):
            return f"Not better than the logging policy, as far as the last third can tell: {found.message}."
        verdict = self.verdict
        assert verdict is not None
        away = verdict.difference or found.difference
        assert away is not None  # linear policies have weights
        level = f"{100 * (self.tested.facts['confidence'] if self.tested else 0.95):g} %"
        least, most = (f"{end:+.4g}" for end in (away.low, away.high))
        said = f"{away.value:+.4g} per impression, {level} interval {least} to {most}"
        codes = ", ".join(one.code for one in verdict.reasons)
        if self.better:
            care = f" (use with care: {codes})" if codes else ""
            return f"Better than the logging policy on the last third: {said}{care}."
        why = "" if verdict.usable else f", and the estimate cannot be trusted ({codes})"
        how = "Worse" if away.high < 0 and verdict.usable else "Not better"
        return f"{how} than the logging policy, as far as the last third can tell: {said}{why}."

    def sheet(self) -> Document:
        """Return the page: whether the policy is better, how it was tested, and which settings were tried."""
        found = Document("", "", ()) if self.tested is None else self.tested.sheet()
        severity = next((one.severity for one in found.answers if one.about == formatting.quote(self._used)), "note")
        rows = tuple((_spelled(one), _interval(one.ips), _interval(one.snips), one.mean_weight) for one in self.tried)
        table = Figures("", ("settings", "ips", "snips", "mean weight"), rows)
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
    criterion: Criterion = "ips",
    split: splits.By = "turn",
    interactions: bool = False,
    epochs: int | None = None,
    bits: int = 20,
    confidence: float = 0.95,
    seed: int = 0,
    test: bool = True,
    executor: Executor | None = None,
    progress: Progress | None = None,
    say: Say = silent,
) -> LearntPolicy:
    """Learn a linear policy from one third of a log, choose its settings by another, and test it on the last.

    - log: from `read_log`, or anything that it takes, with `features` beside the candidates.
    - method: random, regression, ips, dro, poem, snpoem, dr-poem or plackett-luce.
    - path: the `.npz` file to write. logging: the policy that drew the log; `logged` uses its written propensities.
    - criterion: what the settings are chosen by: `ips` (as in paper criteo-test-bed), `snips`, or `lower`, the
      lower end of the interval of IPS at level `confidence`.
    - split: `turn` (rows in turn) or `hash` (of the row number).
    - interactions: multiply each feature of a candidate by each feature of the context.
    - epochs: the most passes over the log, by default the method's own. bits: weights are a table of 2^bits.
    - seed: the same seed gives bit-identical results. say: called with a description of each step.

    Raises:
        UsageError: arguments that cannot work, or a method that cannot learn from this log.
        LogError: the log breaks a rule, or has no information.

    Examples:
        >>> offrank.learn(offrank.simulation.AdvertWorld(2000, slots=1).source(), "ips", "policy.npz", epochs=1).policy
        linear('policy.npz', greedy=True)
    """
    splits.check(split)
    IntervalSpec("normal", confidence)  # raises for an invalid level
    target = _target(path)
    search = Search(learner(method, epochs), method, criterion, confidence, seed)
    Encoding.plain(bits)  # raises before anything is read
    source = arguments.source(log)
    drawn = fitted(arguments.policy(logging), source, executor)
    with scratch(target.parent, ".learning-") as folder:
        preparation = Preparation(drawn, folder, split, bits, interactions)
        say("1. Reading the log, and encoding its features")
        data, survey = preparation.data(source, executor, progress)
        say(f"2. Learning from {data.train.rows:,} impressions, choosing by {data.validate.rows:,}")
        tried = search.run(data, tried=lambda one: say(f"   {_spelled(one)}: ips {_interval(one.ips)}"))
    _model(search, data, tried[0].candidate, split).save(target)
    policy, tested = Linear(str(target), greedy=search.learner.greedy), None
    if test:
        say("3. Judging by the test third")
        targets = both(policy.path)
        third = splits.Split(source, "test", split)
        tested = evaluate(third, targets, drawn, confidence=confidence, executor=executor, progress=progress)
    occurring, ignored = int(survey.seen.sum()), int(survey.context.sum())
    return LearntPolicy(policy, method, criterion, tried, tested, occurring, ignored, interactions)


def both(path: str) -> dict[str, AnyPolicy]:
    """Return a learnt scorer as the two policies that it defines: drawn and sorted."""
    return {"drawn": Linear(path), "sorted": Linear(path, greedy=True)}


def _model(search: Search, data: Data, best: Checkpoint, split: splits.By) -> Model:
    """Return the scorer to save, with its training settings and the fingerprint of its rows."""
    said = {"method": search.name, "criterion": search.criterion, "settings": dict(best.settings)}
    return Model(data.encoding, best.weights, {**said, "seed": search.seed, "split": split}, data.training)


def _target(path: str | os.PathLike[str]) -> Path:
    target = Path(path)
    if target.suffix != ".npz":
        raise UsageError(f"the policy's file is {str(target)!r}", "give a name that ends in .npz")
    if not os.access(target.parent, os.W_OK):
        raise UsageError(f"there is no folder {str(target.parent)!r} to write to", "make it first")
    return target


def _spelled(judged: Trial) -> str:
    """Format the settings."""
    return ", ".join(f"{name} {value:g}" for name, value in judged.candidate.settings.items()) or "nothing to set"


def _interval(found: Interval) -> str:
    return formatting.Span(found.value, found.low, found.high, found.standard_error).text()
