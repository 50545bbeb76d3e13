"""`evaluate`: what would new rankings have earned?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..checks.impressions import Impressions, ImpressionsFold
from ..checks.ties import TiesFold, sorts
from ..estimators.base import Estimator
from ..estimators.family import Family, family
from ..estimators.fold import ByColumn, GroupedTermsFold, Layout, TermsFold, needs
from ..estimators.wrappers import SelfNormalised, bare, weighing
from ..folds.base import Together
from ..folds.doubt import Doubt
from ..folds.estimate import Estimate
from ..folds.intervals import Method
from ..log.errors import EmptyLogError, NoOverlapError
from ..log.source import Needs, Source
from ..policies.prepared import counts, prepared
from ..policies.propensities import AnyPolicy
from ..running.executors import Executor, Progress, run
from . import arguments, document
from .choice import Chosen, chosen
from .contradiction import contradicted
from .result import Estimates, Key, Result, refuse_empty
from .summary import Summary, group_folds, whole_folds


def evaluate(
    log: Any,
    target: arguments.Target,
    logging: str | AnyPolicy = "logged",
    estimators: arguments.Estimators = ("ips", "snips"),
    *,
    examination: arguments.Examination | None = None,
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
    - estimators: one or several, spelled such as `"snips"`, `"interpol(window=2)"`, `"clip(ips, 100)"`.
    - examination: probability that each rank is looked at, top first, for pbm and interpol; or what knows it: a
      fitted click model, the file that it was saved to, or what `offrank.clicks.harvest` found.
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
    doubt = Doubt(interval, confidence, cluster, replicates, seed)
    source, drawn = arguments.source(log), arguments.policy(logging)
    wanted, named = arguments.targets(target), arguments.estimators(estimators)
    curve = arguments.examination(examination)
    plan = Plan(
        {name: prepared(policy, source, executor) for name, policy in wanted.items()},
        prepared(drawn, source, executor),
        {repr(e): family(e, curve) for e in named},
        doubt,
        by,
    )
    command = _command(arguments.spelled_log(log), plan, curve, isinstance(target, Mapping))
    return refuse_empty(plan.run(source, executor, progress).with_facts(command=command))


@dataclass(frozen=True)
class Plan:
    """An evaluation, ready to run on any source. estimators: what each spelling stands for."""

    targets: Mapping[str, AnyPolicy]
    logging: AnyPolicy
    estimators: Mapping[str, Family]
    doubt: Doubt
    by: str | None = None

    @property
    def only_target(self) -> AnyPolicy:
        """The first target."""
        return next(iter(self.targets.values()))

    @property
    def layout(self) -> Layout:
        """Every different weighting once: ips and snips share theirs."""
        named = [e for members in self.estimators.values() for e in members.values()]
        weighed, targets = dict.fromkeys(map(bare, named)), dict.fromkeys(self.targets.values())
        per_slot = dict.fromkeys(bare(e) for e in named if isinstance(e, SelfNormalised) and e.by_slot)
        return Layout(tuple(targets), tuple(weighed), tuple(per_slot))

    @property
    def ties(self) -> TiesFold:
        """Counts the ties of the targets that sort."""
        return TiesFold(tuple(filter(sorts, self.layout.targets)))

    def needs(self) -> Needs:
        """The columns that are read."""
        wanted = needs(self.layout, self.logging) | self.ties.needs()
        if self.doubt.cluster is not None:
            wanted |= Needs(keys=frozenset([self.doubt.cluster]))
        return wanted | Needs(labels=frozenset([self.by] if self.by else []))

    def run(self, source: Source, executor: Executor | None, progress: Progress | None) -> Result:
        """Read the source once, and summarise."""
        layout = self.layout
        terms: Any = TermsFold(layout, self.logging, whole_folds(self.doubt, layout), self.doubt.cluster)
        if self.by is not None:
            terms = GroupedTermsFold(terms, ByColumn(self.by), group_folds(self.doubt, layout))
        folds = Together({"terms": terms, "impressions": ImpressionsFold(), "ties": self.ties})
        found = run(source.select(self.needs()), folds, executor, progress)
        impressions: Impressions = found["impressions"]
        if not impressions.n:
            skipped = f"; {sum(impressions.skipped.values())} were skipped" if impressions.skipped else ""
            raise EmptyLogError(f"{source.describe()} has no impressions{skipped}", "give a log with some")
        whole, groups = (found["terms"], {}) if self.by is None else found["terms"]
        where, ties = source.describe(), dict(zip(self.ties.policies, found["ties"].tolist(), strict=True))
        summary = self.summary(whole, where, ties)
        by_group = {name: self.estimates(self.summary(part, where, ties)) for name, part in groups.items()}
        return Result(self.estimates(summary), by_group, self._facts(summary, impressions, source))

    def summary(self, folded: Any, log: str = "", ties: Mapping[AnyPolicy, float] | None = None) -> Summary:
        """What the folds found, ready to be asked. log: where it is, in words; ties: share of rows by target."""
        return Summary(self.layout, self.doubt, folded, counts(self.logging), log, ties or {})

    def estimates(self, summary: Summary) -> Estimates:
        """Every estimator for every target."""
        found: dict[Key, Estimate | NoOverlapError] = {}
        for name, target in self.targets.items():
            made = self._chosen(summary, target)
            judged = contradicted(summary, target, made)
            found |= {(name, key): judged.get(key, one.estimate) for key, one in made.items()}
        return Estimates(found)

    def _chosen(self, summary: Summary, target: AnyPolicy) -> dict[str, Chosen]:
        """What answers for each spelling."""
        return {key: chosen(summary, target, members) for key, members in self.estimators.items()}

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
        curves = (getattr(one, "examination", None) for one in _with_bases(self.estimators))
        return next((list(curve) for curve in curves if curve), None)

    def histograms(self, summary: Summary) -> Iterator[dict[str, Any]]:
        """How the weights of each target and weighting are spread; ips and snips share theirs, under the first name."""
        for name, target in self.targets.items():
            named: dict[Estimator, str] = {}
            for key, one in self._chosen(summary, target).items():
                named.setdefault(bare(one.estimator), key)
            for estimator, key in named.items():
                if weighing(estimator) is None:
                    continue
                yield document.histogram_row(name, key, summary.histogram(target, estimator))


def _command(log: str, plan: Plan, examination: Sequence[float] | None, several: bool) -> str:
    """The call that repeats an evaluation."""
    doubt = plan.doubt
    said = {
        "target": document.spelled(plan.targets) if several else repr(plan.only_target),
        "logging": repr(plan.logging),
        "estimators": list(plan.estimators),
        "examination": None if examination is None else list(examination),
        "confidence": doubt.confidence,
        "interval": doubt.method,
        "cluster": doubt.cluster,
        "by": plan.by,
        "replicates": doubt.replicates,
        "seed": doubt.seed,
    }
    return document.call("evaluate", log, said, evaluate.__kwdefaults__)


def _with_bases(estimators: Mapping[str, Family]) -> Iterator[Any]:
    """Every estimator and what it wraps."""
    for estimator in (one for members in estimators.values() for one in members.values()):
        inner: Any = estimator
        while inner is not None:
            yield inner
            inner = getattr(inner, "base", None) or getattr(inner, "residual", None)
