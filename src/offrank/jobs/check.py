"""`check`: is the log fit to judge other policies by?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from ..checks.actions import ActionsFold
from ..checks.impressions import ImpressionsFold
from ..checks.slots import SlotsFold
from ..checks.support import SupportFold
from ..estimators.base import Estimator
from ..estimators.fold import BySlots, GroupedTermsFold, TermsFold
from ..estimators.ips import IPS
from ..estimators.items import IPM
from ..estimators.wrappers import SelfNormalised
from ..folds.base import Attempt, Refusal, Together
from ..log.errors import AbilityError, ColumnError, EmptyLogError
from ..log.source import Needs, Source
from ..policies.base import Ability, Policy
from ..policies.epsilon import EpsilonUniform
from ..policies.logged import Logged
from ..policies.prepared import counts, prepared
from ..policies.uniform import Uniform
from ..running.executors import Executor, Progress, run
from . import arguments, document, findings
from .evaluate import Plan
from .result import Estimates, Result
from .summary import Doubt, Summary

_ABILITIES: tuple[Ability, ...] = ("log_prob", "rank_probs")

EPSILONS = (0.1, 0.5)
"""How far from the logging policy towards uniform the mean weight is looked at, besides uniform itself."""


def check(
    log: Any,
    logging: str | Policy = "logged",
    target: str | Policy | None = None,
    *,
    confidence: float = 0.99,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Result:
    """Look for what would make estimates from this log wrong.

    For policies between the logging one and uniform (and `target`, if given) the mean importance
    weight must be 1 (paper criteo-test-bed, section 3). Where all impressions have the same candidates,
    how often each item stood at each rank is compared with what the logging policy says. Further: the
    effective sample size, the weights' tail, inverse propensities per slot count, and the share of the
    target (or of uniform) that the logging policy never shows, per rank.

    `result.facts["checks"]` holds the findings; what could not be checked is named, with the reason.

    Raises:
        LogError: the log breaks a rule.
        UsageError: arguments that cannot work.
    """
    arguments.check_doubt(confidence)
    source, drawn = arguments.source(log), arguments.policy(logging)
    wanted = None if target is None else prepared(arguments.policy(target), source, executor)
    for policy in (drawn, wanted or drawn):
        _refuse_unknown(source, policy)
    doubt = Doubt("normal", confidence, counted=counts(drawn))
    checking = _Checking(source, prepared(drawn, source, executor), wanted, doubt)
    said = {"logging": repr(drawn), "target": None if wanted is None else repr(wanted), "confidence": confidence}
    defaults = {**(check.__kwdefaults__ or {}), "target": None}
    command = document.call("check", arguments.spelled_log(log), said, defaults)
    return checking.run(executor, progress).with_facts(command=command)


def _refuse_unknown(source: Source, policy: Policy) -> None:
    """A misspelt column is an error, not a reason to skip every check that reads it."""
    errors: list[AbilityError | ColumnError] = []
    for ability in _ABILITIES:
        try:
            source.select(policy.needs(ability))
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

    def __init__(self, source: Source, logging: Policy, target: Policy | None, doubt: Doubt) -> None:
        self.source, self.logging, self.target, self.doubt = source, logging, target, doubt
        self.reasons: dict[str, str] = {}
        self.plan = self._weights()
        self.folds: dict[str, Any] = {"impressions": ImpressionsFold()}
        self.needed = Needs()
        if self.plan is not None:
            layout = self.plan.layout
            terms: Any = TermsFold(layout, logging, doubt.folds(layout))
            self._take("terms", GroupedTermsFold(terms, BySlots(), doubt.group_folds(layout)), self.plan.needs())
        slots = SlotsFold(logging)
        self._try("slots", slots)
        self._try("actions", ActionsFold(logging, whole=not isinstance(logging, Logged)))
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
        whole, groups = Estimates({}), {}
        if self.plan is not None and found.get("terms") is not None:
            total, parts = found["terms"]
            whole = self._estimates(total)
            groups = {name: self._estimates(part) for name, part in parts.items()} if len(parts) > 1 else {}
        return Result(whole, groups, self._facts(found, whole))

    def _weights(self) -> Plan | None:
        """Uniform, half-way policies and the target, weighted by slate or else by item; None if neither can be."""
        targets: dict[str, Policy] = {}
        for policy in (Uniform(), *(EpsilonUniform(self.logging, e) for e in EPSILONS), self.target):
            if policy is not None:
                targets[repr(policy)] = policy
        for bare in (IPS(), IPM()):
            estimators: dict[str, Estimator | SelfNormalised] = {repr(e): e for e in (bare, SelfNormalised(bare))}
            plan = Plan(targets, self.logging, estimators, self.doubt)
            try:
                self.source.select(plan.needs())
            except (AbilityError, ColumnError) as error:
                self.reasons.setdefault("weights", error.message)
            else:
                self.reasons.pop("weights", None)
                return plan
        return None

    def _try(self, name: str, fold: Any) -> None:
        try:
            needed = fold.needs()
            self.source.select(needed)
        except (AbilityError, ColumnError) as error:
            self.reasons[name] = error.message
        else:
            self._take(name, fold, needed)

    def _take(self, name: str, fold: Any, needed: Needs) -> None:
        self.folds[name] = Attempt(fold)
        self.needed |= needed

    def _estimates(self, folded: Any) -> Estimates:
        assert self.plan is not None
        summary = Summary(self.plan.layout, self.doubt, folded)
        return self.plan.estimates(summary)

    def _facts(self, found: dict[str, Any], whole: Estimates) -> dict[str, Any]:
        impressions = found["impressions"]
        slots = found.get("slots") or []
        summary = Summary(self.plan.layout, self.doubt, found["terms"][0]) if self.plan and found.get("terms") else None
        return {
            "schema": 1,
            "kind": "check",
            "title": "Is this log fit to judge other rankings by?",
            "log": document.log_facts(impressions, self.source.describe()),
            "logging": repr(self.logging),
            "targets": {} if self.plan is None else document.spelled(self.plan.targets),
            "confidence": self.doubt.confidence,
            "interval": self.doubt.method,
            "cluster": None,
            "by": "slots",
            "examination": None,
            "logged": None if summary is None else document.interval(summary.logged(IPS())),
            "weights": [] if summary is None or self.plan is None else list(self.plan.histograms(summary)),
            "ranks": document.rank_rows(impressions, self.doubt.confidence),
            "checks": list(self._findings(found, whole)),
            "slots": [asdict(row) for row in slots],
            "versions": document.versions(),
            "created": document.now(),
        }

    def _findings(self, found: dict[str, Any], whole: Estimates) -> Iterator[dict[str, Any]]:
        yield from findings.of_weights(whole, self.target, self.reasons.get("weights") or self.reasons.get("terms"))
        yield from findings.of_slots(found.get("slots"), self.reasons.get("slots"))
        yield from findings.of_actions(found.get("actions"), self.reasons.get("actions"))
        wanted, asked = repr(self.target or Uniform()), self.target is not None
        yield from findings.of_support(found.get("support"), wanted, asked, self.reasons.get("support"))
        yield from findings.of_reading(found["impressions"])
