"""`check`: is the log fit to judge other policies by?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from ..checks.actions import ActionsFold
from ..checks.impressions import ImpressionsFold
from ..checks.log import LogFold, about_log
from ..checks.slots import SlotsFold
from ..checks.support import SupportFold
from ..errors import AbilityError, ColumnError, EmptyLogError, NoOverlapError
from ..estimators.base import Estimator
from ..estimators.family import family
from ..estimators.fold import BySlots, GroupedTermsFold, TermsFold
from ..estimators.ips import IPS
from ..estimators.items import IPM
from ..estimators.wrappers import SelfNormalised
from ..findings.verdict import on_log
from ..folds.base import Attempt, Refusal, Together
from ..folds.estimate import Estimate
from ..inference.spec import IntervalSpec
from ..log.source import Needs, Source
from ..policies.epsilon import EpsilonUniform
from ..policies.prepared import counts, prepared
from ..policies.propensities import AnyPolicy, ShownAbility, shown_needs
from ..policies.uniform import Uniform
from ..policies.written import Logged
from ..running.executors import Executor, Progress, run
from . import arguments, document, findings
from .estimates import Estimates, Key
from .plan import Plan
from .result import Result
from .summary import group_folds, whole_folds

_ABILITIES: tuple[ShownAbility, ...] = ("log_prob", "rank_law")

EPSILONS = (0.1, 0.5)
"""How far from the logging policy towards uniform the mean weight is looked at, besides uniform itself."""


def check(
    log: Any,
    logging: str | AnyPolicy = "logged",
    target: str | AnyPolicy | None = None,
    *,
    confidence: float = 0.99,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Result:
    """Look for what would make estimates from this log wrong.

    For policies between the logging one and uniform (and `target`, if given) the mean importance
    weight must be 1 (paper criteo-test-bed, section 3), of slates and of items. The log's propensities must be
    those of the policy that is said to have drawn it. Where all impressions have the same candidates,
    how often each item stood at each rank is compared with what the logging policy says. Further: the
    effective sample size, the weights' tail, inverse propensities per slot count, and the share of the
    target (or of uniform) that the logging policy never shows, per rank.

    `result.facts["checks"]` holds the findings; what could not be checked is named, with the reason.

    Raises:
        LogError: the log breaks a rule.
        UsageError: arguments that cannot work.
    """
    source, drawn = arguments.source(log), arguments.policy(logging)
    wanted = None if target is None else prepared(arguments.policy(target), source, executor)
    for policy in (drawn, wanted or drawn):
        _refuse_unknown(source, policy)
    doubt = IntervalSpec(confidence=confidence)
    checking = _Checking(source, prepared(drawn, source, executor), wanted, doubt)
    said = {"logging": repr(drawn), "target": None if wanted is None else repr(wanted), "confidence": confidence}
    defaults = {**(check.__kwdefaults__ or {}), "target": None}
    command = document.call("check", arguments.spelled_log(log), said, defaults)
    return checking.run(executor, progress).with_facts(command=command)


def _refuse_unknown(source: Source, policy: AnyPolicy) -> None:
    """A misspelt column is an error, not a reason to skip every check that reads it."""
    errors: list[AbilityError | ColumnError] = []
    for ability in _ABILITIES:
        try:
            source.select(shown_needs(policy, ability))
        except (AbilityError, ColumnError) as error:
            errors.append(error)
    if len(errors) < len(_ABILITIES):
        return
    if isinstance(policy, Logged):
        remedy = "log the propensity of each slate, or say which policy drew them: logging='plackett_luce(old_score)'"
        raise ColumnError(f"{source.describe()} has no propensities to check", remedy) from errors[0]
    raise errors[0]


class _Checking:
    """A check of one source, and what of it can be done."""

    def __init__(self, source: Source, logging: AnyPolicy, target: AnyPolicy | None, doubt: IntervalSpec) -> None:
        self.source, self.logging, self.target, self.doubt = source, logging, target, doubt
        self.counted = counts(logging)
        self.reasons: dict[str, str] = {}
        log = LogFold.of(source, logging)
        self.folds: dict[str, Any] = {"impressions": ImpressionsFold(), "log": log}
        self.needed = log.needs()
        self.plans: dict[str, Plan] = {}
        between = [EpsilonUniform(logging, epsilon) for epsilon in EPSILONS]
        self._weigh("slates", IPS(), [Uniform(), *between])
        if self.counted:
            self.reasons["items"] = "propensities that were counted in the log agree with it by construction"
        if target is not None or not self.counted:
            self._weigh("items", IPM(), [] if self.counted else [Uniform()])
        self._try("slots", SlotsFold(logging))
        self._try("actions", ActionsFold(logging))
        self._try("support", SupportFold(target or Uniform(), logging))

    def run(self, executor: Executor | None, progress: Progress | None) -> Result:
        """Read the source once, and say what was found."""
        found = run(self.source.select(self.needed), Together(self.folds), executor, progress)
        for name, value in found.items():
            if isinstance(value, Refusal):
                self.reasons[name] = value.reason
        found = {name: None if isinstance(value, Refusal) else value for name, value in found.items()}
        impressions = found["impressions"]
        if not impressions.n:
            raise EmptyLogError(f"{self.source.describe()} has no impressions", "give a log with some")
        facts, known = self._facts(found), about_log(found["log"])
        verdict = on_log(findings.cautions(facts["checks"]))
        return Result(*self._estimates(found), facts, about_log=known, verdicts={"the log": verdict})

    def _weigh(self, name: str, bare: Estimator, targets: list[AnyPolicy]) -> None:
        """Plan the weights of some policies, and of the target."""
        wanted = {repr(policy): policy for policy in (*targets, self.target) if policy is not None}
        both = {repr(e): family(e, None) for e in (bare, SelfNormalised(bare))}
        plan = Plan(wanted, self.logging, both, self.doubt)
        terms: Any = TermsFold(plan.layout, self.logging, whole_folds(self.doubt, plan.layout))
        if self._try(name, GroupedTermsFold(terms, BySlots(), group_folds(self.doubt, plan.layout)), plan.needs):
            self.plans[name] = plan

    def _try(self, name: str, fold: Any, needs: Callable[[], Needs] | None = None) -> bool:
        """Take a fold on, unless a column is missing or a policy cannot know what it asks."""
        try:
            needed = (needs or fold.needs)()
            self.source.select(needed)
        except (AbilityError, ColumnError) as error:
            self.reasons[name] = error.message
            return False
        self.folds[name] = Attempt(fold)
        self.needed |= needed
        return True

    def _estimates(self, found: dict[str, Any]) -> tuple[Estimates, dict[str, Estimates]]:
        """Of the whole log, and by the number of slots where that varies."""
        slots = found["impressions"].slots
        whole: dict[Key, Estimate | NoOverlapError] = {}
        groups: dict[str, dict[Key, Estimate | NoOverlapError]] = {}
        for name, plan in self.plans.items():
            if found[name] is None:
                continue
            total, parts = found[name]
            whole |= plan.estimates(plan.summary(total, slots=slots)).found
            for number, part in parts.items() if len(parts) > 1 else ():
                made = plan.estimates(plan.summary(part, slots=min(slots, int(number))))
                groups.setdefault(number, {}).update(made.found)
        return Estimates(whole), {number: Estimates(part) for number, part in groups.items()}

    def _facts(self, found: dict[str, Any]) -> dict[str, Any]:
        impressions = found["impressions"]
        summaries = [
            (plan, plan.summary(found[name][0])) for name, plan in self.plans.items() if found[name] is not None
        ]
        logged = next((summary.logged(plan.layout.estimators[0]) for plan, summary in summaries), None)
        return {
            "schema": 1,
            "kind": "check",
            "title": "Is this log fit to judge other rankings by?",
            "log": document.log_facts(impressions, self.source.describe()),
            "logging": repr(self.logging),
            "targets": {name: repr(one) for plan, _ in summaries for name, one in plan.targets.items()},
            "confidence": self.doubt.confidence,
            "interval": self.doubt.method,
            "cluster": None,
            "by": "slots",
            "examination": None,
            "logged": document.interval(logged),
            "weights": [row for plan, summary in summaries for row in plan.histograms(summary)],
            "ranks": document.rank_rows(impressions, self.doubt.confidence),
            "checks": list(self._findings(found)),
            "slots": [asdict(row) for row in found.get("slots") or []],
            "versions": document.versions(),
            "created": document.now(),
        }

    def _findings(self, found: dict[str, Any]) -> Iterator[dict[str, Any]]:
        reasons, log = self.reasons, found["log"]
        yield from findings.of_log(log)
        yield from findings.of_weights(self._estimates(found)[0], self.target, reasons, log)
        yield from findings.of_slots(found.get("slots"), reasons.get("slots"))
        yield from findings.of_actions(found.get("actions"), reasons.get("actions"), log)
        wanted, asked = repr(self.target or Uniform()), self.target is not None
        yield from findings.of_support(found.get("support"), wanted, asked, reasons.get("support"))
        yield from findings.of_reading(found["impressions"])
