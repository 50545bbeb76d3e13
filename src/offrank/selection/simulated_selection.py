"""How often the choice of an estimator is right in worlds like the log, where the truth is known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import NoOverlapError, OffrankError
from ..estimators.base import Estimator
from ..estimators.layout import REWARD
from ..inference.clusters_and_level import IntervalSpec
from ..language.formatting import nine_digits
from ..log.batch import Floats
from ..log.source import Needs, Source
from ..policies.base import Policy
from ..policies.fit import fitted
from ..reward_models.fitting import fit_models
from ..running.executors import Executor, Progress
from ..simulation.like_log import BEHAVIOURS, LikeLog, attractions_by_orders
from .selector import EstimatorSelector, SelectedEstimator

ROWS = 5000
"""Largest number of impressions of a simulated log."""
CONTEXTS = 256
"""Number of contexts of the log in them."""
NEAR = 1.2
"""A choice is right if its error is at most so many times that of the best."""


@dataclass(frozen=True)
class Rehearsed:
    """Simulated logs of one kind of users.

    - users: position-based, cascade or neighbours. logs: how many were simulated; right: in how many the error of the
      chosen estimator was at most `NEAR` times that of the best one; a log without any estimate counts as not right.
      best: its spelling.
    - errors: root mean squared error of each candidate over that of the best; auto: root mean square of those of the
      choices, over the same.
    """

    users: str
    logs: int
    right: int
    best: str
    auto: float
    errors: Mapping[str, float]


@dataclass(frozen=True)
class SimulatedSelection:
    """Simulated choices. rows, contexts: of each log. missing: why nothing was simulated, otherwise empty.

    by_rank: whether the log tells click rates by rank, or only their mean number. off: the largest difference of a
    simulated click rate from that of the log.
    """

    kinds: tuple[Rehearsed, ...] = ()
    rows: int = 0
    contexts: int = 0
    missing: str = ""
    by_rank: bool = True
    off: float = 0.0

    @property
    def logs(self) -> int:
        """The number of simulated logs."""
        return sum(one.logs for one in self.kinds)

    @property
    def right(self) -> float:
        """The share of logs with a right choice."""
        return sum(one.right for one in self.kinds) / max(self.logs, 1)

    @property
    def error(self) -> float:
        """The standard error of that share, as of independent logs; never 0."""
        logs = self.logs + 4
        share = (self.right * self.logs + 2) / logs
        return math.sqrt(share * (1 - share) / logs)

    def fixed(self) -> dict[str, float]:
        """Return the share of logs in which each candidate would have been right, if it can be had in all worlds."""
        every = [set(one.errors) for one in self.kinds]
        names = sorted(set.intersection(*every)) if every else []
        good = {name: sum(one.logs for one in self.kinds if one.errors[name] <= NEAR) for name in names}
        return {name: count / max(self.logs, 1) for name, count in good.items()}


def select_and_simulate(
    source: Source,
    logging: Policy,
    target: Policy,
    candidates: Sequence[Estimator],
    curve: Sequence[float] | None,
    cluster: str | None,
    worlds: int,
    executor: Executor | None,
    progress: Progress | None,
) -> tuple[SelectedEstimator, SimulatedSelection]:
    """Choose an estimator, and see how often such a choice is right. worlds: simulated logs of each kind of users."""
    spec = IntervalSpec("normal", cluster=cluster).with_clusters_of(source)
    told = spec.with_rows_of(source, logging).told
    learnt = tuple(fit_models(candidates, source, executor, progress, spec.columns, told))
    drawn, wanted = (fitted(one, source, executor) for one in (logging, target))
    sample = CONTEXTS if worlds else 0
    selector = EstimatorSelector(source, drawn, curve, spec, learnt, executor, progress, sample=sample)
    choice = selector.select(wanted)
    return choice, simulate_selection(selector, wanted, choice, worlds, progress)


def simulate_selection(
    selector: EstimatorSelector, target: Policy, choice: SelectedEstimator, logs: int, progress: Progress | None = None
) -> SimulatedSelection:
    """Simulate logs of each kind of users, and choose in each as in the log itself.

    Contexts are a sample of the log's, slates are drawn by its logging policy, click rates by rank are those of the
    log. Attractions of items are drawn: half of their variance follows the orders of both policies. logs: of each
    kind.
    """
    sampled, rates = choice.reading.sampled, choice.reading.rates
    if sampled is None or not logs:
        return SimulatedSelection()
    clicked = bool(len(rates)) and choice.reading.summary.rewards_are_clicks
    sums, slots = choice.reading.summary.sums, sampled.contexts.slots
    reward = float(sums.total[REWARD]) / sums.n
    if not (rates.any() if clicked else reward):
        return SimulatedSelection(missing="the log has no clicks")
    if not clicked:
        rates = np.full(slots, reward / max(slots, 1))
        if not 0 < reward <= slots:
            return SimulatedSelection(
                missing=f"only numbers of clicks are simulated, not rewards with a mean of {reward:.3g}"
            )
        if choice.reading.summary.sums.least[REWARD] < 0 or not _whole(selector):
            return SimulatedSelection(missing="only whole rewards of 0 or more are simulated")
    try:
        drawn, wanted = selector.logging.law("sample"), target.law("sample")
        merit = attractions_by_orders(sampled.contexts, (drawn, wanted), 0)
        kinds = tuple(BEHAVIOURS.items()) if clicked else tuple(BEHAVIOURS.items())[::2]
        rows, made, off = min(choice.rows, ROWS), list[Rehearsed](), 0.0
        for name, behaviour in kinds:
            world = LikeLog(sampled.contexts, merit, drawn, behaviour, rates, not clicked)
            made.append(_simulated(name, world, selector, target, world.truth(wanted), rows, logs))
            off = max(off, world.off)
            if progress is not None:
                progress(len(made), len(kinds))
    except OffrankError as error:
        return SimulatedSelection(missing=error.message)
    return SimulatedSelection(tuple(made), rows, len(sampled), by_rank=clicked, off=off)


def _whole(selector: EstimatorSelector) -> bool:
    """Whether the rewards in the first rows of the log are whole numbers of 0 or more."""
    for batch in selector.source.select(Needs(roles=frozenset({"reward"}))).batches(0):
        if len(batch):
            return bool(((batch.reward >= 0) & (batch.reward == np.floor(batch.reward))).all())
    return True


def _simulated(
    users: str, world: LikeLog, selector: EstimatorSelector, target: Policy, truth: float, rows: int, logs: int
) -> Rehearsed:
    spec = IntervalSpec("normal", cluster=None)
    # What was learnt from the log itself says nothing about simulated rewards.
    weighing = tuple(one for one in selector.candidates if not one.kind.predicts)
    here = replace(selector, candidates=weighing, spec=spec, progress=None, sample=0)
    own = [replace(here, source=world.source(rows, log)) for log in range(logs)]
    found = [one for one in map(_attempted, own, [target] * logs) if one is not None]
    if not found:
        raise NoOverlapError("no simulated log has an estimate", "log more, or skip the simulation: worlds=0")
    shared = set.intersection(*(set(one.estimates) for one in found))
    names = [name for name in found[0].estimates if name in shared]
    if not names:
        raise NoOverlapError(
            "no candidate is available in all simulated logs", "log more, or skip the simulation: worlds=0"
        )
    values = np.array([[one.estimates[name].value - truth for name in names] for one in found])
    errors = np.array([[one.estimates[name].standard_error for name in names] for one in found])
    roots = dict(zip(names, _roots(values, errors).tolist(), strict=True))
    best = min(roots, key=lambda name: nine_digits(roots[name]))
    least = max(roots[best], 1e-300)
    # one that some logs lack has the error that it has in these logs
    chosen = np.array([roots.get(one.chosen, abs(one.estimates[one.chosen].value - truth)) for one in found])
    right = sum(roots.get(one.chosen, math.inf) <= NEAR * least for one in found)
    ratios = {name: root / least for name, root in roots.items()}
    return Rehearsed(users, logs, right, best, float(np.sqrt((chosen**2).mean())) / least, ratios)


def _attempted(selector: EstimatorSelector, target: Policy) -> SelectedEstimator | None:
    """Return the choice, or None where the simulated log has no estimate."""
    try:
        return selector.select(target)
    except NoOverlapError:
        return None


def _roots(away: Floats, errors: Floats) -> Floats:
    """Root mean squared errors from errors [logs, d] and standard errors [logs, d].

    Few logs tell a variance far better by their standard errors than by the squares of their errors.
    """
    variance = (errors**2).mean(axis=0)
    squared_bias = np.maximum(away.mean(axis=0) ** 2 - variance / len(away), 0.0)
    return np.asarray(np.sqrt(variance + squared_bias))
