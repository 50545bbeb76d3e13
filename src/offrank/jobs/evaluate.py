"""`evaluate`: what would new rankings have earned?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..checks.impressions import Impressions, ImpressionsFold
from ..estimators.base import Estimator
from ..estimators.fold import ByColumn, GroupedTermsFold, Layout, TermsFold, needs
from ..estimators.named import estimator as named_estimator
from ..estimators.wrappers import SelfNormalised
from ..folds.base import Together
from ..folds.estimate import Estimate
from ..folds.intervals import METHODS, Method
from ..log.errors import EmptyLogError, NoOverlapError, UsageError
from ..log.source import Needs, Source
from ..policies.base import Policy
from ..policies.named import policy as named_policy
from ..policies.prepared import counts, prepared
from ..readers.log import read_log
from ..running.executors import Executor, Progress, run
from . import document
from .result import Estimates, Key, Result, refuse_empty
from .summary import Doubt, Summary

Target = str | Policy | Mapping[str, str | Policy]


def evaluate(
    log: Any,
    target: Target,
    logging: str | Policy = "logged",
    estimators: Sequence[str | Estimator | SelfNormalised] = ("ips", "snips"),
    *,
    examination: Sequence[float] | None = None,
    confidence: float = 0.95,
    interval: Method = "normal",
    cluster: str | None = None,
    by: str | None = None,
    replicates: int = 200,
    seed: int = 0,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Result:
    """Estimate what target policies would have earned per impression, in one pass over the log.

    - log: from `read_log`, or anything that it takes.
    - target: a policy or its spelling, or a dict of several by name.
    - logging: the policy that drew the log; `logged` uses the propensities written in it.
    - estimators: spellings such as `"snips"`, `"interpol(window=2)"`, `"clip(ips, 100)"`.
    - examination: probability that each rank is looked at, top first, for pbm and interpol.
    - interval: `normal` (delta method), `bootstrap` (Poisson, `replicates` of them, `seed`) or
      `bernstein` (empirical Bernstein), at level `confidence`.
    - cluster: a column whose equal values mark dependent rows, such as `query`.
    - by: a column to group by.
    - executor: any `concurrent.futures.Executor`; threads by default.

    Raises:
        UsageError: arguments that cannot work, or a policy that cannot know what an estimator asks.
        LogError: the log breaks a rule.
        NoOverlapError: no estimate at all can be given.
    """
    _check(confidence, interval, cluster, replicates)
    source = log if hasattr(log, "batches") else read_log(log)
    chosen = [named_estimator(e) for e in estimators]
    plan = Plan(
        _targets(target),
        prepared(named_policy(logging), source, executor),
        {repr(e): e.examined(examination) for e in chosen},
        Doubt(interval, confidence, cluster, replicates, seed, counts(named_policy(logging))),
        by,
    )
    arguments = {
        "target": document.spelled(plan.targets) if isinstance(target, Mapping) else repr(plan.only_target),
        "logging": repr(plan.logging),
        "estimators": [repr(e) for e in chosen],
        "examination": None if examination is None else [float(p) for p in examination],
        "confidence": confidence,
        "interval": interval,
        "cluster": cluster,
        "by": by,
        "seed": seed,
    }
    command = document.call("evaluate", "log", arguments, evaluate.__kwdefaults__)
    result = plan.run(source, executor, progress)
    return refuse_empty(result.with_facts(command=command))


@dataclass(frozen=True)
class Plan:
    """An evaluation, ready to run on any source."""

    targets: Mapping[str, Policy]
    logging: Policy
    estimators: Mapping[str, Estimator | SelfNormalised]
    doubt: Doubt
    by: str | None = None

    @property
    def only_target(self) -> Policy:
        """The first target."""
        return next(iter(self.targets.values()))

    @property
    def layout(self) -> Layout:
        """Every different weighting once: ips and snips share theirs."""
        bare = (e.base if isinstance(e, SelfNormalised) else e for e in self.estimators.values())
        return Layout(tuple(dict.fromkeys(self.targets.values())), tuple(dict.fromkeys(bare)))

    def needs(self) -> Needs:
        """The columns that are read."""
        wanted = needs(self.layout, self.logging)
        if self.doubt.cluster is not None:
            wanted |= Needs(keys=frozenset([self.doubt.cluster]))
        return wanted | Needs(labels=frozenset([self.by] if self.by else []))

    def run(self, source: Source, executor: Executor | None, progress: Progress | None) -> Result:
        """Read the source once, and summarise."""
        layout = self.layout
        terms: Any = TermsFold(layout, self.logging, self.doubt.folds(layout), self.doubt.cluster)
        terms = terms if self.by is None else GroupedTermsFold(terms, ByColumn(self.by), self.doubt.group_folds(layout))
        folds = Together({"terms": terms, "impressions": ImpressionsFold()})
        found = run(source.select(self.needs()), folds, executor, progress)
        impressions: Impressions = found["impressions"]
        if not impressions.n:
            skipped = f"; {sum(impressions.skipped.values())} were skipped" if impressions.skipped else ""
            raise EmptyLogError(f"{source.describe()} has no impressions{skipped}", "give a log with some")
        whole, groups = (found["terms"], {}) if self.by is None else found["terms"]
        summary = Summary(layout, self.doubt, whole)
        by_group = {name: self.estimates(Summary(layout, self.doubt, part)) for name, part in groups.items()}
        return Result(self.estimates(summary), by_group, self._facts(summary, impressions, source))

    def estimates(self, summary: Summary) -> Estimates:
        """Every estimator for every target."""
        found: dict[Key, Estimate | NoOverlapError] = {}
        for name, target in self.targets.items():
            for key, estimator in self.estimators.items():
                found[name, key] = summary.estimate(target, estimator)
        return Estimates(found)

    def _facts(self, summary: Summary, impressions: Impressions, source: Source) -> dict[str, Any]:
        doubt = self.doubt
        earned = {estimator.earns for estimator in summary.layout.estimators}
        one_unit = len(earned) == 1 or summary.rewards_are_clicks
        clicked = summary.moments.sums[1] == summary.moments.sums[2] or earned == {"clicks"}
        return {
            "schema": 1,
            "kind": "evaluate",
            "title": "What the new ranking would have earned",
            "log": document.log_facts(impressions, source.describe()),
            "logging": repr(self.logging),
            "targets": document.spelled(self.targets),
            "confidence": doubt.confidence,
            "interval": doubt.method,
            "cluster": doubt.cluster,
            "by": self.by,
            "examination": self._examination(),
            "logged": document.interval(summary.logged(summary.layout.estimators[0])) if one_unit else None,
            "unit": "clicks per impression" if one_unit and clicked else "per impression",
            "weights": list(self.histograms(summary)),
            "ranks": document.rank_rows(impressions, doubt.confidence),
            "checks": [],
            "slots": [],
            "versions": document.versions(),
            "created": document.now(),
        }

    def _examination(self) -> list[float] | None:
        for estimator in _with_bases(self.estimators):
            if getattr(estimator, "examination", None):
                return list(estimator.examination)
        return None

    def histograms(self, summary: Summary) -> Iterator[dict[str, Any]]:
        """How the weights of each target and weighting are spread."""
        for name, target in self.targets.items():
            for estimator in summary.layout.estimators:
                yield document.histogram_row(name, repr(estimator), summary.histogram(target, estimator))


def _with_bases(estimators: Mapping[str, Any]) -> Iterator[Any]:
    """Every estimator and what it wraps."""
    for estimator in estimators.values():
        inner = estimator
        while inner is not None:
            yield inner
            inner = getattr(inner, "base", None)


def _targets(target: Target) -> dict[str, Policy]:
    if isinstance(target, Mapping):
        if not target:
            raise UsageError("there is no target", "give a policy, or a dict of policies by name")
        return {str(name): named_policy(value) for name, value in target.items()}
    found = named_policy(target)
    return {repr(found): found}


def _check(confidence: float, interval: str, cluster: str | None, replicates: int) -> None:
    if not 0 < confidence < 1:
        raise UsageError(f"confidence is {confidence}", "give a level between 0 and 1, such as 0.95")
    if interval not in METHODS:
        raise UsageError(f"interval is {interval!r}", "say " + ", ".join(METHODS))
    if interval == "bernstein" and cluster is not None:
        raise UsageError("bernstein intervals take rows as independent", "use normal or bootstrap with cluster")
    if replicates < 20:
        raise UsageError(f"replicates is {replicates}", "give at least 20, better 200")
