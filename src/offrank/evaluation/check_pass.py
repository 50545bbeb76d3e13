"""The pass of a check over a log: mean weights of policies between the logging one and uniform, and the log itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ..checks.actions import ActionsFold
from ..checks.calibration import CalibrationFold
from ..checks.item_names import item_names
from ..checks.log_problems import log_evidence, log_quantities
from ..checks.propensities import SlotsFold, SupportFold
from ..checks.rows import ImpressionsFold
from ..errors import AbilityError, ColumnError, UsageError
from ..estimators.base import Estimator
from ..estimators.design import design_fold
from ..estimators.family import family
from ..estimators.ips import IPS
from ..estimators.items import IPM
from ..estimators.wrappers import SelfNormalised
from ..findings.log import unfit
from ..findings.verdict import on_log
from ..inference.clusters_and_level import IntervalSpec
from ..log.batch import RunCache
from ..log.source import Needs, ShownAbility, Source
from ..policies.base import Policy
from ..policies.epsilon import EpsilonUniform
from ..policies.fit import counts, fitted
from ..policies.uniform import Uniform
from ..readers.log import period_of
from ..running import reproducibility
from ..running.executors import Executor, Progress
from ..running.quantities import Quantities, Quantity
from ..sums.estimate import Caution
from ..sums.group_by import by_slots
from ..wording import Option, Wording
from . import log_checks
from .counts import Counts
from .estimates import Estimates
from .log_pass import Pass
from .metadata import Check, LogRead, ResultMetadata
from .refutation import judged_log
from .result import Result

_ABILITIES: tuple[ShownAbility, ...] = ("log_prob", "rank_law")

EPSILONS = (0.1, 0.5)
"""The mixtures of logging policy and uniform whose mean weight is checked, besides uniform itself."""


def check_log(
    source: Source,
    logging: Policy,
    target: Policy | None,
    spec: IntervalSpec,
    totals: Mapping[str, float] | None,
    executor: Executor | None,
    progress: Progress | None,
) -> Result:
    """Return what is found out about a log.

    Raises:
        OffrankError: see `offrank.check`.
    """
    wanted = None if target is None else fitted(target, source, executor)
    for policy in (logging, wanted or logging):
        _refuse_unknown(source, policy)
    return CheckPass(source, fitted(logging, source, executor), wanted, spec, totals).run(executor, progress)


def _refuse_unknown(source: Source, policy: Policy) -> None:
    """Raise an error for a misspelt column, rather than skip every check that reads it."""
    errors: list[AbilityError | ColumnError] = []
    for ability in _ABILITIES:
        try:
            source.select(policy.reads(ability))
        except (AbilityError, ColumnError) as error:
            errors.append(error)
    if len(errors) < len(_ABILITIES):
        return
    if policy.logged:
        drawn = Option("logging", "plackett_luce(old_score)")
        remedy = Wording("log the propensity of each slate, or name the logging policy: {}", drawn)
        raise ColumnError(f"{source.describe()} has no propensities to check", remedy) from errors[0]
    raise errors[0]


class CheckPass:
    """A check of one source, with the parts of it that are possible."""

    def __init__(
        self,
        source: Source,
        logging: Policy,
        target: Policy | None,
        spec: IntervalSpec,
        totals: Mapping[str, float] | None,
    ) -> None:
        self.source, self.target, self.spec, self.totals = source, target, spec, totals
        self.logging = logging = logging.remembering()  # its laws of the samples are asked for several times
        self.counted = counts(logging)
        self.tried = Quantities(source)
        self.tried.add(Quantity("impressions", ImpressionsFold()), *log_quantities(source, logging))
        self.plans: dict[str, Pass] = {}
        # The law over all candidates comes first: it includes the probabilities of the displayed ones.
        self._attempt("actions", ActionsFold(logging))
        self._attempt("support", SupportFold(target or Uniform(), logging))
        between = [EpsilonUniform(logging, epsilon) for epsilon in EPSILONS]
        if target is not None and target.any_slate and logging.any_slate:
            explains = CalibrationFold(target)
            self._attempt("explained", explains.sampled, explains.needs)
        self._weigh("slates", IPS(), [Uniform(), *between])
        if self.counted:
            self.tried.reasons["items"] = "propensities that are counted in the log always agree with it"
        if target is not None or not self.counted:
            self._weigh("items", IPM(), [] if self.counted else [Uniform()])
        self._attempt("slots", SlotsFold(logging))

    def run(self, executor: Executor | None, progress: Progress | None) -> Result:
        """Read the source once and report the findings."""
        found = self._named(self.tried.reduce(executor, progress))
        impressions = found["impressions"]
        impressions.refuse_none(self.source.describe())
        self._refuse_swapped(found)
        weights, slots = {name: found[name] for name in self.plans if name in found}, impressions.slots
        summaries = self._summaries({name: one["whole"] for name, one in weights.items()}, slots)
        summaries = {name: replace(one, designs=found[f"design of {name}"]) for name, one in summaries.items()}
        numbers: Mapping[str, Any] = next((one["groups"].by_name for one in weights.values()), {})
        groups = {}
        for number in numbers if len(numbers) > 1 else ():
            parts = {name: one["groups"].of[number] for name, one in weights.items()}
            groups[number] = self._estimates(self._summaries(parts, min(slots, int(number))))
        estimates = self._estimates(summaries)
        # Weights of other policies have rows of their own, as `evaluate` does not ask for them.
        tested = () if self.target is None else summaries.values()
        of_log = judged_log(found["log"], tested, self.totals, of=self.target)
        metadata = self._metadata(found, summaries, estimates, of_log)
        known = {one.code for one in of_log}
        others = (one.caution for one in metadata.checks if one.caution is not None and one.code not in known)
        verdict = on_log([*of_log, *others])
        return Result(estimates, metadata, groups, about_log=of_log, verdicts={"the log": verdict})

    def _attempt(self, name: str, fold: Any, needs: Callable[[], Needs] | None = None) -> None:
        self.tried.add(Quantity(name, fold, needs, optional=True))

    def _named(self, found: dict[str, Any]) -> dict[str, Any]:
        """Add the evidence about the log, and name the items that are told by their codes as the log does."""
        found["log"] = log_evidence(found, self.tried, self.logging)
        tests = found.get("actions") or {}
        odd = {name: test for name, test in tests.items() if test.alarming}
        names = item_names((test.item for test in odd.values()), self.source)
        called = {name: replace(test, name=names.get(test.item, "")) for name, test in odd.items()}
        return found | {"actions": {**tests, **called}} if called else found

    def _refuse_swapped(self, found: Mapping[str, Any]) -> None:
        """Raise if the log is the target's, and not the logging policy's.

        Raises:
            UsageError: it is, so that the arguments seem to be in each other's place.
        """
        if self.target is None or not unfit(found["log"]):
            return
        fit = None
        with suppress(AbilityError):
            if "explained" in found:
                fit = CalibrationFold(self.target).result(found["explained"])
        if self.target.logged or (fit is not None and not unfit(replace(found["log"], fit=fit))):
            raise UsageError(
                f"the slates do not fit {self.logging!r} but may fit {self.target!r}: target and logging policy "
                "seem to be swapped",
                Wording(
                    "the policy to be evaluated comes first: {}, {}",
                    Option("target", repr(self.logging)),
                    Option("logging", repr(self.target)),
                ),
            )

    def _weigh(self, name: str, bare: Estimator, targets: list[Policy]) -> None:
        """Plan the importance weights of some policies and of the target."""
        wanted = {repr(policy): policy for policy in (*targets, self.target) if policy is not None}
        both = {repr(e): family(e, None) for e in (bare, SelfNormalised(bare))}
        job = Pass(wanted, self.logging, both, self.spec)
        self._attempt(name, job.terms(by_slots), job.needs)
        if name in self.tried.folds:
            self.plans[name] = job
            design = design_fold(job.layout, self.logging, self.source, job.needs(), RunCache())
            self.tried.add(Quantity(f"design of {name}", design))

    def _summaries(self, found: Mapping[str, Any], slots: int) -> dict[str, Counts]:
        """Return a summary of the weights for each plan."""
        return {name: self.plans[name].counts(one, slots=slots) for name, one in found.items()}

    def _estimates(self, summaries: Mapping[str, Counts]) -> Estimates:
        """Return the estimates for the whole log, or for its rows with one number of slots."""
        every = [self.plans[name].estimates(summary).found for name, summary in summaries.items()]
        return Estimates({key: one for found in every for key, one in found.items()})

    def _metadata(
        self, found: Mapping[str, Any], summaries: Mapping[str, Counts], estimates: Estimates, of_log: Sequence[Caution]
    ) -> ResultMetadata:
        impressions, plans = found["impressions"], [self.plans[name] for name in summaries]
        both = list(zip(plans, summaries.values(), strict=True))
        return ResultMetadata(
            kind="check",
            title="Can this log be used to evaluate other rankings?",
            log=LogRead(
                self.source.describe(),
                impressions.n,
                impressions.estimated,
                impressions.skipped,
                period=period_of(self.source) or found.get("days"),
            ),
            logging=repr(self.logging),
            targets={name: repr(one) for plan in plans for name, one in plan.targets.items()},
            confidence=self.spec.confidence,
            interval=self.spec.method,
            cluster=None,
            by="slots",
            examination=None,
            logged=next((one.logged(one.layout.estimators[0]) for one in summaries.values()), None),
            weights=tuple(row for plan, one in both for row in plan.histograms(one, plan.rows(one))),
            ranks=tuple(impressions.by_rank(self.spec.confidence)),
            checks=tuple(self._checks(found, estimates, of_log)),
            slots=tuple(found.get("slots") or ()),
            versions=reproducibility.versions(),
            created=reproducibility.now(),
        )

    def _checks(self, found: Mapping[str, Any], estimates: Estimates, of_log: Sequence[Caution]) -> Iterator[Check]:
        reasons, log = self.tried.reasons, found["log"]
        yield from log_checks.of_log(log, of_log)
        yield from log_checks.of_weights(estimates, self.target, reasons, log, of_log)
        yield from log_checks.of_slots(found.get("slots"), reasons.get("slots"))
        yield from log_checks.of_actions(found.get("actions"), reasons.get("actions"), log)
        wanted, asked = repr(self.target or Uniform()), self.target is not None
        yield from log_checks.of_support(found.get("support"), wanted, asked, reasons.get("support"))
        yield from log_checks.of_reading(found["impressions"])
