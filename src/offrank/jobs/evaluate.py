"""`evaluate`: what would new rankings have earned?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from typing import Any

from ..checks.impressions import Impressions, ImpressionsFold
from ..checks.log import LogFold, about_log
from ..checks.ties import TiesFold, sorts
from ..errors import AbilityError, ColumnError, EmptyLogError, NoOverlapError
from ..estimators.base import Estimator
from ..estimators.design import design_fold
from ..estimators.family import Family, family
from ..estimators.fold import Layout, TermsFold, needs
from ..estimators.logged import LoggedMean
from ..estimators.reference import REFERENCES, Reference
from ..estimators.wrappers import SelfNormalised, bare, weighing
from ..findings import about
from ..findings.evidence import OfCurve
from ..folds.base import Products, Together
from ..folds.group_by import by_column
from ..inference.control_variate import Controlled
from ..inference.registry import Method
from ..inference.spec import AUTO, IntervalSpec
from ..learning.held_out import kept_apart
from ..log.cache import RunCache
from ..log.source import Needs, Source
from ..policies.prepared import counts, prepared
from ..policies.propensities import AnyPolicy
from ..running.executors import Executor, Progress, run
from . import arguments, document
from .choice import Chosen, chosen
from .contradiction import compared
from .judgement import Judgement, named
from .result import Estimates, Result, refuse_empty
from .summary import Summary, inner_fold
from .trained import NOTHING, Trained


def evaluate(
    log: Any,
    target: arguments.Target,
    logging: str | AnyPolicy = "logged",
    estimators: arguments.Estimators = ("ips", "snips"),
    *,
    examination: arguments.Examination | None = None,
    confidence: float = 0.95,
    interval: Method = "studentised",
    cluster: str | None = AUTO,
    by: str | None = None,
    held_out: str | PathLike[str] | None = None,
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
    - interval: `studentised` (delta method, longer towards a tail: Hall 1992), `normal` (delta method),
      `bootstrap` (Poisson, `replicates` of them, `seed`) or `bernstein` (empirical Bernstein), at level `confidence`.
    - cluster: a column whose equal values mark dependent rows, such as `query`; None for independent rows. By default
      that of the columns `query`, `user` and `session` whose rows depend on each other most, where the log has one
      with at least five values; a warning says where there are fewer.
    - by: a column to group by.
    - held_out: a policy's file, which `learn` wrote, of this very log: only the third is read that it kept apart.
    - executor: any `concurrent.futures.Executor`; threads by default.

    Raises:
        UsageError: arguments that cannot work, or a policy that cannot know what an estimator asks.
        LogError: the log breaks a rule.
        NoOverlapError: no estimate at all can be given.
    """
    source, drawn = arguments.source(log), arguments.policy(logging)
    doubt = IntervalSpec(interval, confidence, cluster, replicates, seed).finding(source)
    wanted, named = arguments.targets(target), arguments.estimators(estimators)
    examined = arguments.examination(examination)
    curve = examined.curve
    left_out = None
    if held_out is not None:
        source, left_out = kept_apart(source, held_out, executor, progress)
    plan = Plan(
        {name: prepared(policy, source, executor) for name, policy in wanted.items()},
        prepared(drawn, source, executor),
        {repr(e): family(e, curve) for e in named},
        doubt,
        by,
        examined,
    ).referenced(source)
    command = _command(arguments.spelled_log(log), plan, curve, isinstance(target, Mapping), held_out)
    found = plan.run(source, executor, progress).with_facts(command=command)
    if left_out is not None:
        found = found.with_facts(log={**found.facts["log"], "learnt_from": left_out})
    return refuse_empty(found)


@dataclass(frozen=True)
class Plan:
    """An evaluation, ready to run on any source.

    estimators: what each spelling stands for. references: weightings that nobody asked for, which assume less.
    """

    targets: Mapping[str, AnyPolicy]
    logging: AnyPolicy
    estimators: Mapping[str, Family]
    doubt: IntervalSpec
    by: str | None = None
    trained: Trained = NOTHING
    references: tuple[Reference, ...] = ()

    def referenced(self, source: Source) -> Plan:
        """With what assumes less than an estimator that was asked for, where the log and the policies tell it.

        Nothing more is read for it than the columns that a policy names: what was written of the shown slates may be
        wrong, and nobody asked for it.
        """
        found, needed = self, self.needs()
        for one in REFERENCES:
            if one in self.layout.estimators or not any(one.assumes < bare(e).assumes for e in self._asked):
                continue
            more = replace(found, references=(*found.references, one))
            try:
                wanted = more.needs()
                source.select(wanted)
            except (AbilityError, ColumnError):
                continue
            if (wanted.roles, wanted.written) == (needed.roles, needed.written):
                found = more
        return found

    @property
    def _asked(self) -> list[Estimator | SelfNormalised]:
        """The estimators that somebody asked for and that speak of the target."""
        every = (e for members in self.estimators.values() for e in members.values())
        return [one for one in every if not isinstance(bare(one), LoggedMean)]

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
        return Layout(tuple(targets), (*weighed, *self.references), tuple(per_slot), self.references)

    @property
    def ties(self) -> TiesFold:
        """Counts the ties of the targets that sort."""
        return TiesFold(tuple(filter(sorts, self.layout.targets)))

    def log_fold(self, source: Source) -> LogFold:
        """What is looked at whatever the estimate; of the logging policy where any estimator asks for it."""
        asked = any(bare(estimator).asks_logging is not None for estimator in self._asked)
        return LogFold.of(source, self.logging if asked else None)

    @property
    def products(self) -> Products:
        """The products of columns that a bootstrap sums too: those from which it learns slopes anew."""
        if self.doubt.method != "bootstrap":
            return ()
        every = [e for members in self.estimators.values() for e in members.values()]
        controlled = {bare(e) for e in every if isinstance(e, SelfNormalised) and e.controlled}
        found = [
            pair
            for _, estimator, value, weight in self.layout.pairs()
            if estimator in controlled
            for pair in Controlled.products(value, weight, 0)
        ]
        return tuple(dict.fromkeys(found))

    def needs(self) -> Needs:
        """The columns that are read."""
        wanted = needs(self.layout, self.logging) | self.ties.needs() | self.doubt.needs()
        return wanted | Needs(labels=frozenset([self.by] if self.by else []))

    def _parts(self) -> list[Any]:
        """Everything that may have been learnt."""
        return [*self.targets.values(), *(one for members in self.estimators.values() for one in members.values())]

    def run(self, source: Source, executor: Executor | None, progress: Progress | None) -> Result:
        """Read the source once, and summarise."""
        layout, products = self.layout, self.products
        by, grouped = (None, False) if self.by is None else (by_column(self.by), True)
        inner = inner_fold(self.doubt, layout, products, grouped=grouped)
        terms = TermsFold(layout, self.logging, inner, self.doubt.columns, by)
        needed = self.needs() | self.trained.needs(self._parts())
        cache = RunCache()
        design, needed = design_fold(layout, self.logging, source, needed, cache)
        log = self.log_fold(source)
        needed |= log.needs()
        folds: dict[str, Any] = {"terms": terms, "impressions": ImpressionsFold(), "log": log, "design": design}
        folds |= {"ties": self.ties, "rows": self.trained.fold(self._parts())}
        found = run(source.select(needed), Together(folds), executor, progress, cache)
        impressions: Impressions = found["impressions"]
        if not impressions.n:
            skipped = f"; {sum(impressions.skipped.values())} were skipped" if impressions.skipped else ""
            raise EmptyLogError(f"{source.describe()} has no impressions{skipped}", "give a log with some")
        whole, groups = found["terms"]["whole"], found["terms"].get("groups", {})
        ties = dict(zip(self.ties.policies, found["ties"].tolist(), strict=True))
        trained = self.trained.judged(self._parts(), found["rows"])
        known = {"slots": impressions.slots, "ties": ties, "trained": trained, "about_log": about_log(found["log"])}
        summary = self.summary(whole, **known, designs=found["design"])
        parts = {name: self.summary(part, **known, group=True) for name, part in groups.items()}
        by_group = {name: self.estimates(part, len(parts)) for name, part in parts.items()}
        judged = self.judged(summary)
        estimates = _listed(judged)
        verdicts = {name: one.verdict(name, summary.about_log) for name, one in judged.items()}
        used = dict.fromkeys(one.cluster for one in estimates.given.values() if one.cluster is not None)
        facts = {**self._facts(summary, impressions, source), "cluster": ", ".join(used) or None}
        told = {name: one for name, one in verdicts.items() if one is not None}
        return Result(estimates, by_group, facts, about_log=summary.about_log, verdicts=told)

    def summary(self, folded: Any, **known: Any) -> Summary:
        """What the folds found, ready to be asked. known: as in `Summary`."""
        return Summary(self.layout, self.doubt, folded, counts(self.logging), self.products, **known)

    def estimates(self, summary: Summary, groups: int = 1) -> Estimates:
        """Every estimator for every target. groups: how many such summaries there are."""
        return _listed(self.judged(summary, groups))

    def judged(self, summary: Summary, groups: int = 1) -> dict[str, Judgement]:
        """The estimates of every target, held against each other."""
        every = [*self._asked, *map(named, self.references)]
        pairs = compared(every, summary.rewards_are_clicks) * len(self.targets) * groups
        return {
            name: Judgement.of(summary, target, self._chosen(summary, target), pairs)
            for name, target in self.targets.items()
        }

    def _chosen(self, summary: Summary, target: AnyPolicy) -> dict[str, Chosen]:
        """What answers for each spelling."""
        return {key: _examined(chosen(summary, target, members)) for key, members in self.estimators.items()}

    def _facts(self, summary: Summary, impressions: Impressions, source: Source) -> dict[str, Any]:
        doubt = self.doubt
        earned = {bare(e).earns for members in self.estimators.values() for e in members.values()}
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
        inner = (part for members in self.estimators.values() for one in members.values() for part in _parts(one))
        curves = (getattr(part, "examination", None) for part in inner)
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


def _command(
    log: str, plan: Plan, examination: Sequence[float] | None, several: bool, held_out: str | PathLike[str] | None
) -> str:
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
        "held_out": None if held_out is None else fspath(held_out),
        "replicates": doubt.replicates,
        "seed": doubt.seed,
    }
    return document.call("evaluate", log, said, evaluate.__kwdefaults__)


def _parts(estimator: Estimator | SelfNormalised) -> Iterator[Any]:
    """An estimator and what it wraps."""
    inner: Any = estimator
    while inner is not None:
        yield inner
        inner = getattr(inner, "base", None) or getattr(inner, "residual", None)


def _listed(judged: Mapping[str, Judgement]) -> Estimates:
    return Estimates({(name, key): found for name, one in judged.items() for key, found in one.estimates.items()})


def _examined(found: Chosen) -> Chosen:
    """The estimate, with what there is to say of the examination curve that it rests on."""
    estimate = found.estimate
    if isinstance(estimate, NoOverlapError):
        return found
    # A window of one rank moves no click to another.
    parts = _parts(found.estimator)
    curves = [getattr(part, "examination", None) for part in parts if getattr(part, "window", None) != 0]
    said = [caution for curve in curves if curve for caution in about(OfCurve(curve=tuple(curve)))]
    return replace(found, estimate=replace(estimate, warnings=(*said, *estimate.warnings)))
