"""From a question to the query of its sums: which columns of a table its policies are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import AbilityError, UsageError
from ..evaluation.question import Question
from ..evaluation.state_file import pass_of_state
from ..policies.base import Policy
from ..readers.by_file import without_rows
from ..wording import Option, Wording
from .products import products, sums_needed
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
    if spec.method not in INTERVALS_OF_SUMS:
        needs = "draws rows" if spec.method == "bootstrap" else "needs the range of each product"
        said = f"a {spec.method} interval {needs}, which a table of sums does not have"
        raise UsageError(said, "use studentised, normal or anytime")
    reward = renamed.get("reward", "reward")
    columns = {"slate": "slate", "reward": reward}
    if arms is None:
        columns |= {"propensity": column_of(plan.logging, renamed)}
    else:
        columns |= {name: name for one in arms.policies.values() for name in one.reads("rank_probs").scores}
        columns |= {"candidates": "candidates", "arm": arms.column}
    targets = [] if arms is not None else [column_of(one, renamed) for one in plan.targets.values()]
    names = sorted({*columns.values(), *targets, *spec.columns})
    layout = {"kind": "wide", "columns": names, "renamed": {**renamed}, "top_k": None}
    question = {**asked.to_dict(), "layout": layout}
    job = pass_of_state(Question.from_dict(question, without_rows(layout, "the table", None)), None)
    known = products(job.layout, None if arms is None else (1.0,) * len(arms.policies))
    sums = {one.name: one.sql for one in sums_needed(job.layout, known)}
    served: dict[str, Any] = {} if arms is None else {"arm": arms.column, "arms": tuple(map(str, arms.policies))}
    cluster = next(iter(spec.columns), None)
    drawn = columns.get("propensity")
    return SumsQuery({KIND: question}, sums, reward, drawn, tuple(targets), **served, cluster=cluster)


def column_of(policy: Policy, renamed: Mapping[str, str]) -> str:
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
