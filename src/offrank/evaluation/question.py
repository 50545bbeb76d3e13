"""What is asked of a log, as objects: what verbs make of their arguments, and a state file of its words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..estimators.base import Estimator
from ..inference.clusters_and_level import IntervalSpec
from ..language.argument import Unwritten, plain_argument
from ..language.from_text import USUAL_ESTIMATORS, USUAL_OF_ARMS, impression_totals, reward_range
from ..language.registry import Later
from ..policies.balanced import in_balance
from ..policies.base import Policy
from ..policies.registry import policy
from ..running.executors import Executor, Progress
from ..running.reproducibility import call
from ..wording import Option, Wording
from .arguments import Estimators, Examination, Target, estimators, examination, fitted_model, refuse_outcome
from .provenance import NOTHING, Provenance
from .result import compared_with

if TYPE_CHECKING:
    from ..clicks.fitted import Fitted
    from ..estimators import outcomes
    from ..estimators.family import Family
    from ..estimators.outcomes import Scorecard
    from .candidates import Pick
else:  # needed where something is asked beside the reward
    outcomes = Later("..estimators.outcomes", __package__)

PER_ITEM = "columns with a number per item"
"""What the log told of the columns of outcomes, beside what was asked."""


@dataclass(frozen=True)
class Plan:
    """What is asked of a log, as objects: targets by name, what drew the log, the estimators and the examination.

    - several: whether the targets were given by name or as a list, even if it is one.
    - usual: whether nobody named estimators. inputs: what was given, whose texts may name files.
    - baseline: the target, or `logged`, that all others are compared with; None if they are not.
    """

    targets: dict[str, Policy]
    logging: Policy
    estimators: list[Estimator]
    trained: Provenance
    several: bool = False
    usual: bool = False
    inputs: tuple[Any, ...] = ()
    baseline: str | None = None


def planned(
    target: Target | None,
    logging: str | Policy,
    named: Estimators,
    examined: Examination | None = None,
    *,
    bounds: bool = False,
    usual: tuple[str, ...] = USUAL_ESTIMATORS,
) -> Plan:
    """Return what is asked as objects; targets without given names are named by their spellings.

    bounds: whether they are asked for too. Then the `usual` estimators give way to the logged mean: no propensities.

    Raises:
        UsageError: no target, or not policies, estimators or examination probabilities.
    """
    drawn = policy(logging)
    if target is None or (isinstance(target, Mapping | list) and not target):
        raise UsageError("there is no target", "give a policy, or a dict of policies by name")
    if isinstance(target, Mapping):
        targets = {str(name): policy(one) for name, one in target.items()}
    else:
        targets = {repr(one): one for one in map(policy, target if isinstance(target, list) else [target])}
    made = estimators("logged" if bounds and isinstance(named, list | tuple) and (*named,) == usual else named)
    return Plan(
        targets,
        drawn,
        made,
        NOTHING if examined is None else examination(examined),
        several=isinstance(target, Mapping | list),
        inputs=(target, logging, examined, named),
    )


def planned_comparison(
    target: Target | None,
    logging: str | Policy,
    named: Estimators | None,
    examined: Examination | None = None,
    baseline: str | Policy | None = None,
    *,
    bounds: bool = False,
) -> Plan:
    """Return what is compared as objects: of an A/B test of rankers that sort, by the mixture of all, whoever served.

    Raises:
        UsageError: see `planned` and `compared_with`, or no target where `logging` names no rankers.
    """
    drawn = in_balance(policy(logging))
    arms = drawn.rankers
    if target is None:
        if arms is None:
            raise UsageError("there is no target", "name at least one ranking, such as top(new_score)")
        target = {str(value): ranker for value, ranker in arms.policies.items()}
    usual = USUAL_OF_ARMS if drawn.confirmed.merges or (arms is not None and arms.sorts) else USUAL_ESTIMATORS
    plan = planned(target, drawn, usual if named is None else named, examined, bounds=bounds, usual=usual)
    against = compared_with(list(plan.targets), baseline)
    return replace(plan, usual=named is None, baseline=against)


@dataclass(frozen=True)
class BoundsAsked:
    """What bounds may know: the smallest and the largest reward, and how users click. written: the model in a call."""

    limits: tuple[float, float] | None
    users: Fitted | None
    written: Any

    @classmethod
    def of(cls, bounds: bool, limits: Sequence[float] | None, click_model: Any) -> BoundsAsked | None:
        """Return what bounds may know; None where they are not asked for.

        Raises:
            UsageError: the range or the model cannot be read, or is given without bounds.
        """
        if not bounds:
            for name, given in (("reward_range", limits), ("click_model", click_model)):
                if given is not None:
                    raise UsageError(f"{name} is for bounds only", Wording("use {} too", Option("bounds", True)))
            return None
        users = fitted_model(click_model)
        named = isinstance(click_model, str | PathLike | None)
        return cls(reward_range(limits), users, click_model if named else Unwritten(f"<fitted {users!r}>"))


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked of a log, and by what it is read.

    - plan: targets, logging policy, estimators and examination. spec: how intervals are made.
    - bounded_by: what bounds may know; None where they are not asked for.
    - choose: what chooses the estimator of each target where `auto` is asked for.
    - scorecard: other outcomes than the reward, and guardrails.
    - The others are arguments of `offrank.evaluate`; totals are checked.
    """

    log: Any
    plan: Plan
    spec: IntervalSpec
    columns: Mapping[str, str] | None = None
    format: Any = None
    executor: Executor | None = None
    progress: Progress | None = None
    by: str | None = None
    control: str | None = None
    totals: Mapping[str, float] | None = None
    held_out: str | PathLike[str] | None = None
    state: str | PathLike[str] | None = None
    overwrite: bool = False
    bounded_by: BoundsAsked | None = None
    choose: Callable[..., tuple[Family, dict[str, Pick]]] | None = None
    scorecard: Scorecard | None = None

    def __post_init__(self) -> None:
        for name, column in (("by", self.by), ("cluster", self.spec.cluster), ("control", self.control)):
            if not isinstance(column, str | None):
                raise UsageError(f"{name} is {column!r}, not the name of a column", f'give one name: {name}="device"')
        if self.control is not None:
            refuse_outcome(self.control, self.columns)
        if self.totals is not None:
            object.__setattr__(self, "totals", impression_totals(self.totals))
        lost = [name for name in ("state", "held_out", "control") if getattr(self, name) is not None]
        if self.bounded_by is not None and lost:
            raise UsageError(f"bounds need a whole log that is read here, without {lost[0]}", f"omit {lost[0]}")

    @classmethod
    def from_dict(cls, asked: Mapping[str, Any], log: Any = None) -> Question:
        """Make it again from what `to_dict` returns, of another log."""
        plan = planned(*(asked[name] for name in ("target", "logging", "estimators", "examination")))
        levels = (asked[name] for name in ("interval", "confidence", "cluster", "replicates", "seed"))
        card = outcomes.Scorecard.of(asked["outcomes"], asked.get("guardrails")) if "outcomes" in asked else None
        return cls(
            log=log,
            plan=replace(plan, baseline=asked.get("baseline")),
            spec=IntervalSpec(*levels),
            by=asked["by"],
            control=asked["control"],
            totals=asked["totals"],
            scorecard=card and card.of_log(asked.get(PER_ITEM, ()).__contains__),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what is asked, as plain values by the names of arguments and in their order."""
        plan, spec = self.plan, self.spec
        asked = {
            "target": plan.targets,
            "logging": plan.logging,
            "estimators": list(map(repr, plan.estimators)),
            "examination": plan.trained.curve,
            "cluster": spec.cluster,
            "confidence": spec.confidence,
            "interval": spec.method,
            "replicates": spec.replicates,
            "seed": spec.seed,
            "by": self.by,
            "control": self.control,
            "totals": self.totals,
        }
        asked |= self.scorecard.to_dict() if self.scorecard else {}
        return dict(plain_argument(asked | ({} if plan.baseline is None else {"baseline": plan.baseline})))

    def command(self, verb: Callable[..., Any], **more: Any) -> str:
        """Return the call of a verb that asks this again. more: arguments of this verb alone."""
        asked = {**self.to_dict(), "held_out": self.held_out, "state": self.state}
        asked.pop("baseline", None)  # said where it was given
        if not self.plan.several:
            asked["target"] = next(iter(asked["target"].values()))
        if (known := self.bounded_by) is not None:
            asked |= {"bounds": True, "reward_range": known.limits, "click_model": known.written}
        return call(verb, self.log, {"columns": self.columns or None, "format": self.format, **asked, **more})
