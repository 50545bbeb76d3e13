"""`plan`: what to log so that a new ranking can be judged, before anything is logged."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from offrank.errors import UsageError
from offrank.language.argument import plain_argument
from offrank.language.registry import Later
from offrank.verbs.deferred import arguments, metadata, policies, reproducibility

if TYPE_CHECKING:
    from offrank.evaluation.arguments import Estimators, Examination
    from offrank.policies.base import Policy
    from offrank.running.executors import Executor, Progress

    from .planned import LoggingPlan

forecasts, plans = Later(".forecast", __package__), Later(".planned", __package__)


def plan(
    log: Any,
    target: str | Policy,
    production: str | Policy,
    estimators: Estimators = ("snips", "snipm"),
    *,
    designs: Sequence[str | Policy] = (),
    examination: Examination | None = None,
    clicks: float | None = None,
    relevance: str | None = None,
    slots: int | None = None,
    effect: float = 0.02,
    impressions_a_day: float | None = None,
    days: float | None = None,
    columns: Mapping[str, str] | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> LoggingPlan:
    """Forecast what a log would tell of a new ranking, and what it would cost, for several ways to draw its slates.

    For each design and estimator the exact second moments of the weights, under the laws of the policies, give the
    standard error of the difference between target and production, and so the impressions until a relative difference
    is seen with power .8 (two-sided, at 5 %): n = (1.96 + .84)^2 Var / (difference)^2. A design that does not show what
    an estimator needs gets no number. The table has a row for each query: `candidates`, and scores beside them.

    Parameters:
        log: A table of candidates and scores, an old log, or that of an A/B test, as `read_log` takes them.
        target: A new policy: top(new_score).
        production: The policy that shows slates today: top(old_score).
        estimators: ips, snips, ipm, snipm or pbm. For A/B tests also the means of their arms.
        designs: Policies that would draw the log; by default the usual ones around production. A mixture of production
            and target is an A/B test: mixture({top(old_score): 0.9, top(new_score): 0.1}).
        examination: Probability that each rank is examined, or a click model's file. By default the click rates of the
            log by rank, else 1 / rank.
        clicks: Clicks per impression of production. By default those of the log, else 0.3.
        relevance: A column that an examined item's clicks are proportional to; by default all items are equal. With it
            costs are expected clicks, else what is at stake.
        slots: How many are shown; by default as in the log, else 10.
        effect: Relative difference to be seen by the cheapest design.
        impressions_a_day: Tells the days that each design takes.
        days: The most that a design may take; needs impressions a day.
        columns: Role -> the log's own name of that column, as `read_log` takes them.
        executor: Where the log is read: any `concurrent.futures.Executor`; threads by default.
        progress: Called with (parts done, all parts) of the log, as they are read.

    Returns:
        The designs, the cheapest of them, and a line of the log to write.

    Raises:
        UsageError: arguments that cannot work. ColumnError: there are no candidates, or no such scores.
        LogError: a row breaks a rule.

    Examples:
        >>> found = plan("offrank-demo/log.parquet", "top(new_score)", "top(old_score)")
        >>> found.cheapest.design
        'mixture({top(old_score): 0.9, top(new_score): 0.1})'
    """
    wanted, now = arguments.only_policy(target), policies.policy(production)
    curve, tried = arguments.examination(examination).curve, [policies.policy(one) for one in designs]
    assumes = {repr(one): one.with_examination(curve).kind.assumes for one in arguments.estimators(estimators)}
    if wanted == now:
        raise UsageError(f"target and production are both {now!r}", "name two rankings that differ")
    if unknown := [name for name in assumes if name not in forecasts.ESTIMATORS]:
        raise UsageError(f"the error of {unknown[0]!r} is not forecast", f"use {', '.join(forecasts.ESTIMATORS)}")
    asked: dict[str, Any] = {"clicks": clicks, "slots": slots, "effect": effect, "days": days}
    for name, number in (asked := {**asked, "impressions_a_day": impressions_a_day}).items():
        if (number is not None and not 0 < number < math.inf) or (days and not impressions_a_day):
            raise UsageError(f"{name} is {number!r}", "give numbers above 0, and impressions a day beside days")
    source, how = forecasts.scored_table(log, columns), (curve, clicks, slots, relevance, executor, progress)
    forecast, assumed = forecasts.forecast_for(source, [wanted, now, *tried], *how)
    tried = [now, *(tried or plans.usual_designs(forecast))]
    asked |= {"target": wanted, "production": now, "estimators": [*assumes], "designs": tuple(designs)}
    asked |= {"examination": curve, "relevance": relevance}
    call = reproducibility.call(plan, log, {"columns": columns or None, **asked})
    facts = metadata.facts("plan", "What should be logged?", source, **plain_argument(asked), command=call)
    rows = tuple(plans.planned_rows(forecast, tried, assumes, relevance is not None))
    most = (days or math.inf) * (impressions_a_day or 1)
    return plans.with_log(
        plans.LoggingPlan(rows, effect, most, forecast.value(now), assumed, facts=facts), forecast, tried
    )
