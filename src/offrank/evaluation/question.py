"""What is asked of a log: every argument of the verbs that evaluate target policies, once.

The signature of a verb, its options and their help, its rows in the docs, what a state file says was asked, the call
that repeats the job and the comparison of two states are all made from these fields. The class that a verb takes has
no docstring: editors would show it in place of the verb's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import UsageError
from ..inference.arguments import Intervals
from ..language import from_text
from ..language.argument import Arguments, Unwritten, argument, arguments, interval_level
from ..language.registry import Later
from ..language.spelling import listed
from ..wording import Option, Wording

if TYPE_CHECKING:
    from ..clicks.fitted import Fitted
    from ..policies import balanced, ties
    from ..policies.base import Policy
    from ..policies.propensities import AnyPolicy
    from . import arguments as checked
    from . import result
    from .arguments import Estimators, Examination, Plan, Target
    from .provenance import Provenance
else:  # everything that evaluates: not needed to read a command line
    checked, result = Later(".arguments", __package__), Later(".result", __package__)
    balanced, ties = Later("..policies.balanced", __package__), Later("..policies.ties", __package__)


@arguments
class WithTarget(Arguments):
    """Arguments of the verbs that need a target policy and the logging policy."""

    target: Any = argument("A new policy: top(new_score).", kw_only=False, ready="wanted", spells="policy")
    logging: str | AnyPolicy = argument(
        "The policy that drew the log.",
        default="logged",
        kw_only=False,
        more="`logged` uses the propensities written in it.",
        ready="drawn_by",
        spells="policy",
    )

    @cached_property
    def wanted(self) -> AnyPolicy | None:
        """The only target policy; None where a verb needs none."""
        return None if self.target is None else checked.policy(self.target)

    @cached_property
    def drawn_by(self) -> AnyPolicy:
        """The logging policy."""
        return checked.policy(self.logging)


@arguments
class WithExamination(Arguments):
    """The examination curve that some estimators need."""

    examination: Examination | None = argument(
        "Probability that each rank is examined, or a click model's file.",
        default=None,
        more="For pbm and interpol. In Python numbers, a fitted click model, the file that it was saved to, or what "
        "`offrank.harvest_clicks` found.",
        ready="_curve",
        metavar="P,P,...|MODEL",
        read=from_text.examination,
    )

    @cached_property
    def trained(self) -> Provenance:
        """The examination curve, and what it was learnt from."""
        return checked.examination(self.examination)

    @property
    def _curve(self) -> list[float] | None:
        return None if self.trained.curve is None else list(self.trained.curve)


@arguments
class WithTotals(Arguments):
    """True numbers of impressions, by which the rows that were kept are tested."""

    totals: Mapping[str, float] | None = argument(
        "How many impressions there were: tests the rates in `inclusion`.",
        default=None,
        more='In Python `{"clicked": 1200, "all": 50000}`.',
        ready="true_totals",
        metavar="clicked=N,all=N",
        use="log",
        read=from_text.totals,
    )

    @cached_property
    def true_totals(self) -> dict[str, float] | None:
        """The true numbers, checked."""
        return None if self.totals is None else from_text.impression_totals(self.totals)


@arguments
class NumbersAsked(Intervals, WithExamination, WithTarget):
    """What targets would have earned, by which estimators, with which intervals: the arguments of `estimate`."""

    target: Target = argument(
        "A new policy: top(new_score), or NAME=POLICY.",
        kw_only=False,
        more="In Python a policy, its spelling, or several by name in a dict.",
        ready="plan.targets",
        spells="policy",
        many=True,
        read=from_text.named_policies,
    )
    estimators: Estimators = argument(
        "ips, snips, interpol(window=2), clip(ips, 10) ...",
        default=("ips", "snips"),
        more='One or several; for "auto" the one of least estimated error is chosen for each target, see '
        "`offrank.select_estimators`.",
        ready="plan.estimators",
        spells="estimator",
        kw_only=False,
        flags=("-e", "--estimator"),
        many=True,
        read=listed,
    )
    control: str | None = argument(
        "A column with a number per impression that was known before it: regression adjustment (CUPED).",
        default=None,
        more="Such as the user's past rate. Takes from each estimate, and from the difference of means, what the "
        "column tells of the reward; not from estimators whose weights are cut off or come from a model.",
        spells="column",
        use="uncertainty",
    )

    def __post_init__(self) -> None:
        _ = self.spec, self.plan
        if self.control is not None:
            checked.refuse_outcome(self.control, self.columns)

    @cached_property
    def plan(self) -> Plan:
        """What is asked, as objects."""
        return checked.planned(checked.policy(self.logging), self.target, self.estimators, self.examination)

    @cached_property
    def drawn_by(self) -> AnyPolicy:
        """The logging policy."""
        return self.plan.logging

    @cached_property
    def trained(self) -> Provenance:
        """The examination curve, and what it was learnt from."""
        return self.plan.trained


@arguments
class Question(WithTotals, NumbersAsked):
    """What is asked of targets, and how hard the log is looked at: the arguments of `evaluate`."""

    held_out: str | PathLike[str] | None = argument(
        "Read only the third of LOG that `learn` kept apart.",
        default=None,
        more="The file of a policy that was learnt from this very log.",
        part="call",
        metavar="POLICY.NPZ",
        use="log",
    )
    state: str | PathLike[str] | None = argument(
        "Write what was counted, for `offrank merge`.",
        default=None,
        more="Rows are then numbered within files (random draws depend on that), and nothing may be learnt from this "
        "log.",
        part="call",
        output=True,
        use="output",
    )
    overwrite: bool = argument(
        "Replace a file at `state` that offrank did not write.",
        default=False,
        part="run",
    )

    compares: ClassVar[bool] = False
    """Whether targets are compared with each other."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.totals is not None:
            _ = self.true_totals

    @classmethod
    def from_dict(cls, asked: Mapping[str, Any]) -> Question:
        """Make it again from what `to_dict` returns, without a log: with a baseline, as a comparison."""
        return (TargetComparison if "baseline" in asked else Question)(None, **asked)

    def to_dict(self) -> dict[str, Any]:
        """Return what is asked, as plain values by the names of arguments."""
        return self.said("question")


@arguments
class WithBounds(Question):  # noqa: D101
    # A question with bounds: the arguments of `evaluate`.

    bounds: bool = argument(
        "Say between what values each target lies, for logs without randomness.",
        default=False,
        more="Rows of one query (or of the `cluster` column) count as alike. Then `estimators` are `logged` unless "
        "named.",
        part="call",
    )
    reward_range: Sequence[float] | None = argument(
        "The smallest and the largest possible reward of a slate, for `bounds`.",
        default=None,
        more="Then bounds that assume nothing about users come first; a log of rewards without clicks needs it.",
        part="call",
        ready="limits",
        metavar="LEAST,MOST",
        read=from_text.reward_limits,
    )
    click_model: Any = argument(
        "A fitted click model, or its file, for `bounds`: what it has not seen may be anything.",
        default=None,
        more="pbm, trust, cascade, dcm, dbn or sdbn; one that was learnt from another log.",
        part="call",
        ready="_model_written",
        metavar="MODEL",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        lost = [name for name in ("state", "held_out", "control") if getattr(self, name) is not None]
        if self.bounds and lost:
            raise UsageError(f"bounds need a whole log that is read here, without {lost[0]}", f"omit {lost[0]}")
        idle = [name for name in ("reward_range", "click_model") if getattr(self, name) is not None]
        if idle and not self.bounds:
            raise UsageError(f"{idle[0]} is for bounds only", Wording("use {} too", Option("bounds", True)))
        if self.bounds:
            _ = self.limits, self.users

    @cached_property
    def limits(self) -> tuple[float, float] | None:
        """The range of rewards."""
        return None if self.reward_range is None else from_text.reward_range(self.reward_range)

    @cached_property
    def users(self) -> Fitted | None:
        """The fitted click model."""
        return checked.fitted_model(self.click_model)

    @property
    def _model_written(self) -> Any:
        return (
            self.click_model
            if isinstance(self.click_model, str | PathLike | None)
            else Unwritten(f"<fitted {self.users!r}>")
        )

    def planned(self, logging: AnyPolicy, target: Any, usual: Any) -> Plan:
        """Return what is asked; with bounds the usual estimators give way to the logged mean: no propensities."""
        given: Any = self.estimators
        estimators = usual if given is None else given
        if self.bounds and isinstance(estimators, list | tuple) and (*estimators,) == usual:
            estimators = result.LOGGED
        return checked.planned(logging, target, estimators, self.examination)

    @cached_property
    def plan(self) -> Plan:
        """What is asked, as objects."""
        usual = type(self).__dataclass_fields__["estimators"].default
        return self.planned(checked.policy(self.logging), self.target, usual)


@arguments
class TargetComparison(WithBounds):  # noqa: D101
    # A question with a baseline: the arguments of `compare`.

    target: Any = argument(
        "A new policy: top(new_score), or NAME=POLICY.",
        default=None,
        kw_only=False,
        more="In Python a policy, its spelling, or several by name in a dict. By default the rankers of an A/B test, "
        "which `logging` names: by(arm, {A: top(a_score), B: top(b_score)}).",
        ready="plan.targets",
        spells="policy",
        many=True,
        read=from_text.named_policies,
    )
    estimators: Any = argument(
        "ips, snips, interpol(window=2), clip(ips, 10) ...",
        default=None,
        more="By default ips and snips; for an A/B test of rankers that sort, snips, snrips and snipm.",
        ready="plan.estimators",
        spells="estimator",
        kw_only=False,
        flags=("-e", "--estimator"),
        many=True,
        read=from_text.some_estimators,
    )
    baseline: str | Policy | None = argument(
        "What TARGETs are compared with: one of them, by default the first; logged.",
        default=None,
        more='"logged" is the default if there is only one.',
        ready="against",
        metavar="NAME",
    )

    compares: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.against

    @cached_property
    def plan(self) -> Plan:
        """What is asked, as objects: of an A/B test of rankers that sort, by the mixture of all, whoever served."""
        logging = balanced.in_balance(checked.policy(self.logging))
        arms, target = balanced.arms_of(logging), self.target
        if target is None:
            if arms is None:
                raise UsageError("there is no target", "name at least one ranking, such as top(new_score)")
            target = {str(value): ranker for value, ranker in arms.policies.items()}
        sorted_by_arms = arms is not None and ties.sorts(arms)
        return self.planned(logging, target, ("snips", "snrips", "snipm") if sorted_by_arms else ("ips", "snips"))

    @property
    def against(self) -> str:
        """The name of the target, or `logged`, that all others are compared with.

        Raises:
            UsageError: the baseline is not a target, or is the only one.
        """
        return result.compared_with(list(self.plan.targets), self.baseline)


@arguments
class LogCheck(WithTotals, WithTarget):  # noqa: D101
    # Whether a log can be used to evaluate other policies: the arguments of `check`.

    target: str | AnyPolicy | None = argument(
        "A policy whose support in the log is of interest.",
        default=None,
        kw_only=False,
        ready="wanted",
        spells="policy",
    )
    confidence: float = argument("Level of the intervals.", default=0.99, read=interval_level, use="uncertainty")
