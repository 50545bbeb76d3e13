"""`sql`: the query by which a warehouse makes the sums of a question, so that no row has to leave it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .deferred import clusters_and_level, question, question_sums

if TYPE_CHECKING:
    from ..evaluation.arguments import Estimators, Target
    from ..policies.base import Policy


def sql(
    table: str,
    target: Target | None = None,
    logging: str | Policy = "logged",
    estimators: Estimators = "snips",
    *,
    baseline: str | Policy | None = None,
    columns: Mapping[str, str] | None = None,
    cluster: str | None = None,
    confidence: float = 0.95,
    interval: str = "studentised",
    dialect: str = "duckdb",
) -> str:
    """Write the query of the sums that a question needs, for a table that stays in its warehouse.

    Its result, some thousand rows saved as CSV or Parquet, is what `merge` reads: the same numbers, intervals and
    decision as `evaluate` or `compare` gives of the rows, without what only rows can tell, which is said. The weight of
    a row is the ratio of two columns, the probabilities of what was shown; or the arms of an A/B test are compared.

    Parameters:
        table: The table as a query names it, with a row per impression. Or a query of it in brackets.
        target: The new policy, by the column of its probability of what was shown: written(slate=new_p), or
            NAME=POLICY. None for the arms of `logging`.
        logging: The policy that drew the rows. `logged` reads the column `propensity`; an A/B test is
            by(arm, {A: top(is_A), B: top(is_B)}).
        estimators: ips, snips, or both.
        baseline: What TARGETs are compared with: one of them; logged. By default they are not, but for arms.
        columns: Role -> the table's own name of that column: of `reward` and `propensity`.
        cluster: Rows with the same value depend on each other.
        confidence: Level of the intervals.
        interval: studentised, normal or anytime.
        dialect: duckdb, bigquery, snowflake, postgres or spark; any that sqlglot writes.

    Returns:
        The query.

    Raises:
        UsageError: arguments that cannot work, or a policy whose probabilities are in no column.
        MissingExtraError: sqlglot is not installed.

    Examples:
        >>> query = offrank.sql("logs", "written(slate=new_p)", cluster="user", dialect="postgres")
        >>> query.startswith("WITH")
        True
    """
    if baseline is None and target is not None:
        plan = question.planned(target, logging, estimators)
    else:
        plan = question.planned_comparison(target, logging, estimators, baseline=baseline)
    spec = clusters_and_level.IntervalSpec(interval, confidence, cluster)
    asked = question.Question(log=table, spec=spec, plan=plan, columns=columns)
    return str(question_sums.sums_query(asked, columns or {}).text(table, dialect))
