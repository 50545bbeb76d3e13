"""From a question to the query of its sums: which columns of a table its policies are, and which products are summed.

Columns of a sample are products of what a warehouse knows of a row: the reward, weights of targets, and the arm. Sums
of products of columns are sums of such products too, of which many are the same one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import combinations_with_replacement
from typing import Any

from ..errors import AbilityError, UsageError
from ..estimators.layout import CLICKS, REWARD, ROWS, Layout, of_arm
from ..evaluation.question import Question
from ..evaluation.state_file import pass_of_state
from ..policies.base import Policy
from ..readers.by_file import without_rows
from ..sums.mean import Name
from ..wording import Option, Wording
from .query import KIND, SumsQuery

INTERVALS_OF_SUMS = ("studentised", "normal", "anytime")
_WRITTEN = "propensity:"
"""Prefix of the names of columns that `written(slate=...)` names."""


def sums_query(asked: Question, renamed: Mapping[str, str]) -> SumsQuery:
    """The query of the sums of a question. renamed: role -> name of its column in the table.

    Raises:
        UsageError: a policy whose probabilities are in no column, an estimator that weighs otherwise, or an interval
            that needs more than sums.
    """
    plan, spec, arms = asked.plan, asked.spec, asked.plan.logging.rankers
    refuse_other_intervals(spec.method)
    reward = renamed.get("reward", "reward")
    columns = {"slate": "slate", "reward": reward}
    if arms is None:
        columns |= {"propensity": column_of_law(plan.logging, renamed)}
    else:
        columns |= {name: name for one in arms.policies.values() for name in one.reads("rank_probs").scores}
        columns |= {"candidates": "candidates", "arm": arms.column}
    targets = [] if arms is not None else [column_of_law(one, renamed) for one in plan.targets.values()]
    names = sorted({*columns.values(), *targets, *spec.columns})
    layout = {"kind": "wide", "columns": names, "renamed": {**renamed}, "top_k": None}
    question = {**asked.to_dict(), "layout": layout}
    job = pass_of_state(Question.from_dict(question, without_rows(layout, "the table", None)), None)
    known = columns_as_products(job.layout, None if arms is None else (1.0,) * len(arms.policies))
    sums = {one.name: one.sql for one in sums_needed(job.layout, known)}
    served: dict[str, Any] = {} if arms is None else {"arm": arms.column, "arms": tuple(map(str, arms.policies))}
    cluster = next(iter(spec.columns), None)
    drawn = columns.get("propensity")
    return SumsQuery({KIND: question}, sums, reward, drawn, tuple(targets), **served, cluster=cluster)


def refuse_other_intervals(method: str) -> None:
    """Raise for a kind of interval that needs more than sums.

    Raises:
        UsageError: it does, or there is no such kind.
    """
    if method not in INTERVALS_OF_SUMS:
        needs = "draws rows" if method == "bootstrap" else "needs more than sums, such as the range of each product"
        said = f"a {method} interval {needs}, which a table of sums does not have"
        raise UsageError(said, f"use {', '.join(INTERVALS_OF_SUMS)}")


def column_of_law(policy: Policy, renamed: Mapping[str, str]) -> str:
    """The column of a policy's probability of the shown slate.

    Raises:
        UsageError: there is none.
    """
    try:
        needed = policy.reads("log_prob")
    except AbilityError:
        needed = None
    if needed is not None and needed.roles == {"propensity"}:
        return renamed.get("propensity", "propensity")
    if needed is not None and len(needed.written) == 1 and (name := min(needed.written)).startswith(_WRITTEN):
        return name.removeprefix(_WRITTEN)
    raise UsageError(
        f"a table has no column for {policy!r}",
        Wording("write its probability of what was shown, and name that: {}", Option("target", "written(slate=new_p)")),
    )


@dataclass(frozen=True)
class Product:
    """reward^power, times the weights of the targets with these numbers, in the rows of an arm; times a factor.

    arm: None for all rows. factor: 0 where two arms are multiplied.
    """

    power: int = 0
    weights: tuple[int, ...] = ()
    arm: int | None = None
    factor: float = 1.0

    def __mul__(self, other: Product) -> Product:
        arms = {self.arm, other.arm} - {None}
        return Product(
            self.power + other.power,
            tuple(sorted(self.weights + other.weights)),
            next(iter(arms), None),
            self.factor * other.factor if len(arms) < 2 else 0.0,
        )

    @property
    def name(self) -> str:
        """What its sum is called in a table: `r2w0w0` is the square of the reward times that of the first weight."""
        found = f"r{self.power}" if self.power else ""
        found += "".join(f"w{number}" for number in self.weights)
        return found + ("" if self.arm is None else f"a{self.arm}")

    @property
    def sql(self) -> str:
        """It as an expression, without the factor."""
        named = ["r"] * self.power + [f"w{number}" for number in self.weights]
        return " * ".join(named + ([] if self.arm is None else [f"a{self.arm}"])) or "1"


def columns_as_products(layout: Layout, shares: tuple[float, ...] | None = None) -> dict[Name, Product]:
    """The columns of a layout, by name. shares: of the arms of an experiment, whose rows alone are weighted.

    Raises:
        UsageError: an estimator that weighs otherwise.
    """
    found: dict[Name, Product] = {ROWS: Product(), REWARD: Product(1), CLICKS: Product(factor=0.0)}
    for number, _ in enumerate(layout.arms.policies) if layout.arms else ():
        for column in (ROWS, REWARD, CLICKS):
            found[of_arm(number, column)] = found[column] * Product(arm=number)
    for at in layout.pairs:
        if repr(at.estimator) != "ips":
            said = f"sums of a table do not give `{at.estimator!r}`"
            raise UsageError(said, "ask for ips and snips, which weight whole rows")
        weight = Product(weights=(layout.targets.index(at.target),))
        if shares is not None:
            arm = arm_of(layout, at.target)
            weight = Product(arm=arm, factor=1 / shares[arm] if shares[arm] else 0.0)
        found |= {at.weight: weight, at.value: weight * Product(1)}
    return found


def arm_of(layout: Layout, target: Policy) -> int:
    """The number of the arm that a target is.

    Raises:
        AbilityError: it is none of them.
    """
    assert layout.arms is not None
    arms = list(layout.arms.policies.values())
    if target not in arms:
        raise AbilityError(f"{target!r} is no arm of {layout.arms!r}", "the means of arms judge these alone")
    return arms.index(target)


def sums_needed(layout: Layout, known: dict[Name, Product]) -> Iterator[Product]:
    """The products whose sums are needed: of each two columns, and of each three that one number depends on."""
    every = [known[name] for name in layout.columns.once]
    of_three = (combinations_with_replacement([known[name] for name in some], 3) for some in layout.blocks)
    groups = *combinations_with_replacement(every, 2), *(some for each in of_three for some in each)
    for found in [*every, *(reduce(Product.__mul__, some) for some in groups)]:
        if found.factor and found.name:
            yield found
