"""The errors that `plan` forecasts, against those of simulated logs: of their estimates, and as `evaluate` says them.

Lists of four of ten items for 500 queries; each item has a relevance of its own, click rates by rank
are .4, .25, .16 and .12.
Each design draws logs until there are some 300 effective impressions in each (at least 2,000 rows). The difference of
target and production is estimated in each log by the terms of the estimator; their spread is the error.

    python benchmarks/plan_forecast.py [--logs 500] [--write]
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from _page import markdown_row, run

import offrank
from offrank.estimators import estimator
from offrank.log.batch import Contexts
from offrank.policies import policy
from offrank.policies.propensities import propensities
from offrank_lab.forecast import MEANS, Forecast
from offrank_papers.like_log import LikeLog

QUERIES, ITEMS, SLOTS = 500, 10, 4
NEW, NOW = "top(new)", "top(old)"
DESIGNS = (
    "epsilon(top(old), 0.05)",
    "epsilon(top(old), 0.2)",
    "swaps(top(old), 0.8)",
    "plackett_luce(old, temperature=1, log=True)",
    "epsilon(shuffled(top(old), 3, method=top), 0.2)",
    "epsilon(interleaved(top(old), top(new)), 0.2)",
    "mixture({top(old): 0.9, top(new): 0.1})",
    "mixture({top(old): 0.5, top(new): 0.5})",
)
EFFECTIVE, LEAST, MOST = 300, 2000, 40_000
RATES = np.array([0.4, 0.25, 0.16, 0.12])


def world() -> tuple[Contexts, np.ndarray]:
    rng = np.random.default_rng(2)
    relevance = rng.beta(2, 3, (QUERIES, ITEMS))
    old = 3 * relevance + rng.normal(size=relevance.shape)
    scores = {"old": old, "new": old + 0.6 * rng.normal(size=old.shape)}
    each = np.full(QUERIES, ITEMS), np.full(QUERIES, SLOTS)
    return Contexts(np.tile(np.arange(ITEMS), (QUERIES, 1)), *each, scores), relevance


def estimates(users: LikeLog, name: str, rows: int, logs: int) -> np.ndarray:
    """[logs] the estimates of the difference by the terms of the estimator itself."""
    found = []
    for log in range(logs):
        sums = np.zeros((4, SLOTS))
        for batch in users.source(rows, log).batches(0):
            if name == MEANS:  # chance decides the arm; where both show one list, it is either
                of = [propensities(policy(one), batch).log_prob for one in (NEW, NOW)]
                share = users.logging.mixed_shares(batch.contexts)[1]
                chance = share * np.exp(of[0]) / (share * np.exp(of[0]) + (1 - share) * np.exp(of[1]))
                arm = np.random.default_rng([log, 4, int(batch.row[0])]).random(len(batch)) < chance
                sums[:, 0] += [batch.reward[arm].sum(), arm.sum(), batch.reward[~arm].sum(), (~arm).sum()]
                continue
            drawn = propensities(users.logging, batch)
            for at, one in ((0, NEW), (2, NOW)):
                terms = estimator(name).unnormalised.terms(batch, drawn, propensities(policy(one), batch))
                weights = terms.weights.weight
                each = weights.reshape(len(batch), -1)
                values = each * (batch.clicks if weights.ndim == 2 else batch.reward[:, None])
                sums[at, : each.shape[1]] += values.sum(axis=0)
                sums[at + 1, : each.shape[1]] += each.sum(axis=0)
            batch.known.clear()
        if name in ("ips", "ipm"):
            found.append((sums[0] - sums[2]).sum() / rows)
        else:  # each slot by its own mean weight; all lists have as many
            ratios = np.divide(sums[::2], sums[1::2], out=np.zeros((2, SLOTS)), where=sums[1::2] > 0).sum(axis=1)
            found.append(ratios[0] - ratios[1])
    return np.array(found)


def plan(*, logs: int = 500) -> Iterator[str]:
    """A line for each design and estimator that needs no more rows than are drawn."""
    contexts, relevance = world()
    yield "| design | estimator | rows | effective | forecast of the error | of estimates | said by `evaluate` |"
    yield "|---|---|--:|--:|--:|--:|--:|"
    worst = 0.0
    for spelled in DESIGNS:
        design = policy(spelled)
        users = LikeLog(contexts, relevance, design, np.ones_like, RATES)
        clicks = relevance[:, :, None] * users.examination
        share = np.full(QUERIES, 1 / QUERIES)
        forecast = Forecast(contexts, share, clicks, users.examination, policy(NEW), policy(NOW))
        reward, _ = forecast.variance(forecast.additive(policy(NEW), 1.0, 0.0))
        for name in ("ips", "snips", "ipm", "snipm", MEANS):
            if name == MEANS and not forecast.arm(design):
                continue
            (target, _), (both, _) = map(forecast.variance, forecast.found(design, name))
            rows = max(LEAST, math.ceil(EFFECTIVE * target / reward))
            if rows > MOST:
                continue
            error = math.sqrt(both / rows)
            spread = float(estimates(users, name, rows, logs).std(ddof=1))
            told = "" if name == MEANS else said(users, spelled, name, rows) / error
            worst = max(worst, abs(told - 1)) if told else worst
            effective = f"{rows * reward / target:,.0f}"
            ratios = f"{spread / error:.3f}", f"{told:.3f}" if told else ""
            yield markdown_row(f"`{spelled}`", name, f"{rows:,}", effective, f"{error:.4f}", *ratios)
    yield ""
    noise = 1 / math.sqrt(2 * logs)
    yield (
        f"The last two columns are errors over the forecast: the standard deviation of the estimates of {logs:,} logs "
        f"(whose own standard error is {noise:.1%} or more), and the mean standard error of 50 of them, at most "
        f"{worst:.1%} off. Left out: what needs more than {MOST:,} rows for {EFFECTIVE} effective impressions."
    )


def said(users: LikeLog, design: str, name: str, rows: int) -> float:
    """The mean standard error of the difference in 50 logs."""
    each = (
        offrank.evaluate(users.source(rows, seed), {"new": NEW, "now": NOW}, design, name, cluster=None)
        for seed in range(50)
    )
    return float(np.mean([one.difference("new", "now", estimator=name).standard_error for one in each]))


COMMANDS = {plan: "plan"}
if __name__ == "__main__":
    run(__file__, COMMANDS)
