"""How well a log can evaluate a target with the pseudoinverse estimator, before any reward is used."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...errors import EmptyLogError, UsageError
from ...language.argument import interval_level
from ...log.batch import Booleans, Contexts, Floats, Integers, LogBatch, RunCache
from ...log.contexts import distinct
from ...policies.base import Policy
from ...policies.registry import policy as named_policy
from ...readers.log import opened
from ...running.executors import Executor, run
from ...sums.base import Fold, Sample
from ...sums.estimate import Interval
from ...sums.moments import Moments, MomentsFold
from ...wording import Option, Wording
from .estimator import PI, drawn_slates
from .gamma import Inverse, UniformInverse
from .grouping import Grouped, grouped, relevant
from .inverses import cases

_Each = Callable[[Integers], Iterable[tuple[Integers, Inverse | UniformInverse]]]
"""As `inverses.Case.each`."""


@dataclass(frozen=True)
class Overlap:
    """The overlap of target and logging policy over a log of n impressions (paper slate-pseudoinverse, Eq. 8).

    sigma2: mean over contexts of q' Gamma^+ q, the mean squared weight: this times the largest
    squared reward bounds the variance of one impression. rho: the largest absolute weight that any
    slate could have. Both are 1 where target and logging are the same. supported: share of the
    contexts whose target value additive rewards identify; the others have weight 0. sampling_error:
    with a target expected over samples, the root mean squared error of a weight from that.
    inclusion: the smallest probability that a row was kept.
    """

    n: int
    sigma2: float
    rho: float
    supported: float
    sampling_error: float
    inclusion: float

    def half_width(self, confidence: float = 0.95, largest_reward: float = 1.0, n: int | None = None) -> float:
        """The error bound of Theorem 1: pi is off by more than this with a probability of at most 1 - confidence.

        largest_reward: rewards lie between minus and plus this. n: of another log of the same kind. With
        r in [-1, 1]: sqrt(2 sigma^2 ln(2 / delta) / n) + 2 (rho + 1) ln(2 / delta) / (3 n).

        Raises:
            UsageError: a level outside (0, 1), or a log that was sub-sampled, which the theorem does not cover.
        """
        if self.inclusion < 1:
            raise UsageError(
                f"Theorem 1 needs every logged impression, but some rows were kept with probability {self.inclusion:g}",
                Wording("use {}", Option("interval", "bernstein")),
            )
        doubt = math.log(2 / (1 - interval_level(confidence)))
        n = self.n if n is None else n
        width = math.sqrt(2 * self.sigma2 * doubt / n) + 2 * (self.rho + 1) * doubt / (3 * n)
        return largest_reward * width

    def interval(self, value: float, confidence: float = 0.95, largest_reward: float = 1.0) -> Interval:
        """The interval of Theorem 1 around an estimate of `pi`; its standard error is the theorem's bound."""
        half = self.half_width(confidence, largest_reward)
        return Interval(value, value - half, value + half, largest_reward * math.sqrt(self.sigma2 / self.n))


@dataclass(frozen=True)
class ContextOverlap:
    """As `Overlap`, per context: all [n]. sampling: variance of a weight from sampling the target."""

    sigma2: Floats
    rho: Floats
    supported: Booleans
    sampling: Floats


def diagnostics(
    log: Any, target: str | Policy, logging: str | Policy, *, samples: int = 0, executor: Executor | None = None
) -> Overlap:
    """The overlap of a target with a log, which bounds the errors of `pi` and `wpi`; no rewards are used.

    log: from `read_log`, or anything that it accepts. samples: as in `pi(samples=...)`.

    Raises:
        AbilityError: the logging policy cannot give pair probabilities.
    """
    source = opened(log)
    wanted = named_policy(target).law("sample" if samples else "rank_probs")
    fold = OverlapFold(wanted, named_policy(logging).law("pair_probs"), samples)
    needed = fold.logging.reads("pair_probs") | fold.target.reads("sample" if samples else "rank_probs")
    return run(source.select(needed), fold, executor)


def overlap(
    logging: Policy, target: Policy, contexts: Contexts, samples: int = 0, cache: RunCache | None = None
) -> ContextOverlap:
    """sigma^2 = q' Gamma^+ q and rho = max |q' Gamma^+ 1_s| of each context.

    rho is exact where all orders can be shown: the best of all slates is an assignment of items to
    slots. Elsewhere it is an upper bound.
    """
    n = len(contexts)
    found = ContextOverlap(np.zeros(n), np.zeros(n), np.zeros(n, np.bool_), np.zeros(n))
    estimator = PI(samples=samples)
    for rows, same, each in _cases(logging, contexts, RunCache() if cache is None else cache):
        slots, width = int(contexts.length[rows[0]]), int(contexts.size[rows[0]] * contexts.length[rows[0]])
        for some, wanted in estimator.wanted(target, contexts, rows, same):
            law = _dense(wanted, width)
            for places, inverse in each(some):
                first, which = distinct(np.ascontiguousarray(law[places] + 0.0).view(np.int64))
                sigma2, rho, supported = _per_target(inverse, law[places[first]], slots)
                here = rows[some[places]]
                found.sigma2[here], found.rho[here], found.supported[here] = sigma2[which], rho[which], supported[which]
        if samples and not target.always_sorts:
            for places, inverse in each(np.arange(len(rows))):
                here = rows[places]
                found.sampling[here] = _sampling(inverse, target, contexts, here, same, samples) - found.sigma2[here]
    return replace(found, sampling=np.maximum(found.sampling, 0.0) / max(samples, 1))


@dataclass(frozen=True)
class OverlapFold(Fold):
    """Reduces batches to an `Overlap`."""

    target: Policy
    logging: Policy
    samples: int = 0

    def of(self, batch: LogBatch) -> Moments:
        here = overlap(self.logging, self.target, batch.contexts, self.samples, batch.run)
        means = np.column_stack([np.ones(len(batch)), here.sigma2, here.supported, here.sampling])
        values = np.column_stack([means / batch.inclusion[:, None], here.rho, batch.inclusion])
        return MomentsFold().of(Sample.of(values, batch.row))

    def result(self, found: Moments) -> Overlap:
        if not found.n:
            raise EmptyLogError("the log has no impressions", "give a log with some")
        rows, sigma2, supported, sampling = map(float, found.sums[:4])
        rho, inclusion = float(found.largest[4]), float(found.least[5])
        return Overlap(found.n, sigma2 / rows, rho, supported / rows, math.sqrt(sampling / rows), inclusion)


def _cases(logging: Policy, contexts: Contexts, cache: RunCache) -> Iterator[tuple[Integers, Grouped, _Each]]:
    """The rows of each number of candidates and slots, and what gives the inverses of some of them."""
    if not logging.shuffles:
        yield from ((case.rows, case.same, case.each) for case in cases(logging, contexts, cache))
        return
    same = grouped(relevant(contexts, logging.reads("pair_probs")))
    for _, rows in same.kinds():
        inverse = UniformInverse(int(contexts.size[rows[0]]), int(contexts.length[rows[0]]))
        yield rows, same, inverse.each


def _dense(wanted: Floats | Integers, width: int) -> Floats:
    """[n, m k] expected indicators, with ones at a slate's coordinates."""
    if wanted.dtype == np.float64:
        return np.asarray(wanted, np.float64)
    law = np.zeros((len(wanted), width))
    law[np.arange(len(law))[:, None], wanted] = 1.0
    return law


def _per_target(inverse: Inverse | UniformInverse, law: Floats, slots: int) -> tuple[Floats, Floats, Booleans]:
    """sigma^2, rho and support of expected indicators law [t, m k]."""
    supported = inverse.supports(law)
    weights = inverse.solve(law)
    sigma2 = np.where(supported, (weights * law).sum(axis=1), 0.0)
    rho = np.array([_largest(table) for table in weights.reshape(len(law), law.shape[1] // slots, slots)])
    return sigma2, np.where(supported, rho, 0.0), supported


def _largest(table: Floats) -> float:
    """The largest |sum over slots| of a table [m, k] that a slate without repetition can pick."""
    from scipy.optimize import linear_sum_assignment  # slow to import

    return max(abs(float(table[linear_sum_assignment(table, maximize=up)].sum())) for up in (True, False))


def _sampling(
    inverse: Inverse | UniformInverse, target: Policy, contexts: Contexts, rows: Integers, same: Grouped, samples: int
) -> Floats:
    """[r] mean of 1_w' Gamma^+ 1_w over the slates w drawn from the target.

    Over the logged slate, (1_w' Gamma^+ 1_s)^2 has this mean; minus sigma^2 it is the variance over w.
    """
    slates, which = drawn_slates(target, contexts.take(rows), samples, seed=0)
    slots = int(contexts.length[rows[0]])
    # Rows that are equal to the target may list their candidates in different orders for the logging policy.
    kinds = np.stack([which, same.row[rows]], axis=1)
    _, first, kind = np.unique(kinds, axis=0, return_index=True, return_inverse=True)
    means = np.zeros(len(first))
    for number, row in enumerate(first):
        drawn = slates[which[row], :, :slots]
        drawn = drawn[(drawn >= 0).all(axis=1)]  # where slots stay empty, the context is not supported anyway
        if len(drawn):
            means[number] = inverse.norms(same.coordinates(np.full(len(drawn), rows[row]), drawn)).sum() / samples
    return means[kind.reshape(-1)]
