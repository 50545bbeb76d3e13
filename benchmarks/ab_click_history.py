"""What a model of the history of clicks would save in an A/B test, beside what `compare` combines today.

The chance of a click given the clicks above it, P = e (a + t): a is the attraction of the item in its query, e falls
with the rank and the distance to the last click, with the attraction of what was passed over since (readers who leave
as they are not served), and with that of what was clicked last (readers who are satisfied); t is the trust in a rank.
The position-based, user browsing and trust-biased models are cases of it; the cascade, dynamic Bayesian and dependent
click models come close. The same worlds as in `ab_tests.py`, and two kinds of users that are no case of it.

    python benchmarks/ab_click_history.py [--logs 200] [--sessions 2000] [--seed 1] [--write PAGE]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from ab_tests import (
    CURVE,
    ITEMS,
    LIKENESS,
    QUERIES,
    SLOTS,
    USERS,
    Clicks,
    Floats,
    Shown,
    World,
    tabulate,
    truth,
)
from scipy.optimize import minimize

PATTERNS = (np.arange(2**SLOTS)[:, None] >> np.arange(SLOTS)) & 1
"""[p, k] all clicks that a list can get."""
FIRST = QUERIES * ITEMS
"""Attractions come first, then these numbers of the behaviour: the logarithm of e by rank and distance to the last
click (0: none), trust by rank, what passing over costs by rank, and what satisfaction costs."""
TRUST = FIRST + SLOTS * (SLOTS + 1)
PASSED, SATISFIED = TRUST + SLOTS, TRUST + 2 * SLOTS
ALL = SATISFIED + 1
USED = [FIRST + rank * (SLOTS + 1) + away for rank in range(1, SLOTS) for away in range(rank + 1)]
USED += [*range(TRUST + 1, PASSED), *range(PASSED + 1, SATISFIED), SATISFIED]
"""Numbers of the behaviour that are learnt; those of the first rank are 0, which makes the others relative to it."""
KNOWN = 0.02
"""Sessions that the prior of an attraction counts for."""
STRENGTH = np.where((np.array(USED) >= TRUST) & (np.array(USED) < PASSED), 1.0, 0.25)
"""Precision of the normal prior of each of these, about no examination lost but by rank."""
CONTRADICTS = 3.0
"""Deviates of the paired difference from which a step is left out, as in `compare`."""


@numba.njit(cache=True)
def log_chance(numbers: Floats, items: Shown, clicks: Shown, weight: float, gradient: Floats) -> float:
    """The log-probability of a session; adds `weight` times its gradient to `gradient` [ALL]."""
    found, passed, last, since = 0.0, 0.0, -1, 0
    attraction = 1 / (1 + np.exp(-numbers[items]))
    slope = attraction * (1 - attraction)
    for rank in range(SLOTS):
        at = FIRST + rank * (SLOTS + 1) + (rank - last if last >= 0 else 0)
        trust, lost, satisfied = numbers[TRUST + rank], numbers[PASSED + rank], numbers[SATISFIED]
        looks = np.exp(numbers[at] - lost * passed - (satisfied * attraction[last] if last >= 0 else 0.0))
        raw = looks * (attraction[rank] + trust)
        chance = min(max(raw, 1e-6), 0.995)
        found += np.log(chance if clicks[rank] else 1 - chance)
        if raw == chance:
            step = weight * (1 / chance if clicks[rank] else -1 / (1 - chance))
            gradient[items[rank]] += step * looks * slope[rank]
            gradient[TRUST + rank] += step * looks
            gradient[at] += step * chance
            gradient[PASSED + rank] -= step * chance * passed
            for above in range(since, rank):
                gradient[items[above]] -= step * chance * lost * slope[above]
            if last >= 0:
                gradient[SATISFIED] -= step * chance * attraction[last]
                gradient[items[last]] -= step * chance * satisfied * slope[last]
        if clicks[rank]:
            last, passed, since = rank, 0.0, rank + 1
        else:
            passed += attraction[rank]
    return found


@numba.njit(cache=True)
def likelihood(numbers: Floats, lists: Shown, clicks: Shown, count: Floats, gradient: Floats) -> float:
    """The log-likelihood of sessions, each of which counts as several."""
    found = 0.0
    for row in range(len(lists)):
        found += count[row] * log_chance(numbers, lists[row], clicks[row], count[row], gradient)
    return found


@numba.njit(cache=True)
def expected(numbers: Floats, lists: Shown, sessions: Floats, patterns: Shown, information: Floats) -> Any:
    """[l] expected clicks of each list, and their gradient [l, ALL]; adds what all sessions tell of the numbers."""
    earned, slopes = np.zeros(len(lists)), np.zeros((len(lists), ALL))
    gradient = np.zeros(ALL)
    for number in range(len(lists)):
        for pattern in patterns:
            gradient[:] = 0
            chance = np.exp(log_chance(numbers, lists[number], pattern, 1.0, gradient))
            earned[number] += chance * pattern.sum()
            slopes[number] += chance * pattern.sum() * gradient
            used = np.flatnonzero(gradient)
            for one in used:
                for other in used:
                    information[one, other] += sessions[number] * chance * gradient[one] * gradient[other]
    return earned, slopes


@numba.njit(cache=True)
def scores(numbers: Floats, lists: Shown, clicks: Shown, direction: Floats) -> Floats:
    """[n] the derivative of the log-probability of each session in a direction."""
    found = np.empty(len(lists))
    for row in range(len(lists)):
        gradient = np.zeros(ALL)
        log_chance(numbers, lists[row], clicks[row], 1.0, gradient)
        found[row] = gradient @ direction
    return found


@dataclass(frozen=True)
class Log:
    """An A/B test: the query, the arm and the clicks of each session, and the lists [2, q, k] of the rankers."""

    query: Shown
    arm: Shown
    clicks: Shown
    lists: Shown

    @property
    def shown(self) -> Shown:
        """[2 q, k] the items of each list, numbered by query and item."""
        return (self.lists + ITEMS * np.arange(QUERIES)[:, None]).reshape(2 * QUERIES, SLOTS)


@dataclass(frozen=True)
class Answer:
    """A difference of the arms, and the influence [n] of each session on it."""

    value: float
    influence: Floats

    @property
    def error(self) -> float:
        """The standard error."""
        return float(np.sqrt(self.influence @ self.influence)) / len(self.influence)

    def less(self, other: Answer) -> Answer:
        """The paired difference to another answer."""
        return Answer(self.value - other.value, self.influence - other.influence)

    def held(self, true: float) -> bool:
        """Whether the interval at 95 % holds the truth."""
        return abs(self.value - true) < 1.96 * self.error


def of_means(log: Log, first: Shown) -> Answer:
    """The difference of mean clicks from some rank on: `first` [q]."""
    earned = (log.clicks * (np.arange(SLOTS) >= first[log.query, None])).sum(axis=1)
    served = [log.arm == 0, log.arm == 1]
    mean = [float(earned[some].mean()) for some in served]
    signed = (earned - np.array(mean)[log.arm]) * (2 * log.arm - 1)
    return Answer(mean[1] - mean[0], signed / np.array([some.mean() for some in served])[log.arm])


def learnt(shown: Shown, clicks: Shown, count: Floats) -> tuple[Floats, Shown]:
    """The numbers of greatest likelihood with weak priors, and which of them are free."""
    items = np.unique(shown)
    free = np.concatenate([items, USED])
    rate = float(np.clip(1.5 * (count[:, None] * clicks).sum() / count.sum() / SLOTS, 0.05, 0.6))
    before = np.array([-0.25 * ((at - FIRST) // (SLOTS + 1)) if at < TRUST else 0.0 for at in USED])
    numbers = np.full(ALL, -30.0)
    numbers[FIRST:] = 0.0

    def cost(asked: Floats) -> tuple[float, Floats]:
        numbers[free], gradient = asked, np.zeros(ALL)
        found = likelihood(numbers, shown, clicks, count, gradient)
        attraction = 1 / (1 + np.exp(-asked[: len(items)]))
        away = asked[len(items) :] - before
        found += KNOWN * (rate * np.log(attraction) + (1 - rate) * np.log1p(-attraction)).sum()
        found -= (STRENGTH * away**2).sum() / 2
        gradient[items] += KNOWN * (rate - attraction)
        gradient[USED] -= STRENGTH * away
        return -found, -gradient[free]

    limits = [(-7.0, 6.0)] * len(items)
    limits += [(-6.0, 1.5) if at < TRUST else (0.0, 1.0) if at < PASSED else (-1.0, 4.0) for at in USED]
    start = np.concatenate([np.full(len(items), np.log(rate / (1 - rate))), before])
    options = {"maxiter": 400, "maxcor": 20, "ftol": 1e-10}
    numbers[free] = minimize(cost, start, jac=True, method="L-BFGS-B", bounds=limits, options=options).x
    return numbers, free


def of_history(log: Log) -> Answer:
    """The difference that the model expects, over the queries of the log; its error from Fisher's information."""
    which = log.arm * QUERIES + log.query
    code = which * len(PATTERNS) + (log.clicks << np.arange(SLOTS)).sum(axis=1)
    kinds, of, count = np.unique(code, return_inverse=True, return_counts=True)
    shown, clicks = log.shown[kinds // len(PATTERNS)], PATTERNS[kinds % len(PATTERNS)]
    numbers, free = learnt(shown, clicks, count.astype(float))
    information = np.zeros((ALL, ALL))
    sessions = np.bincount(which, minlength=2 * QUERIES).astype(float)
    earned, slopes = expected(numbers, log.shown, sessions, PATTERNS, information)
    away, share = earned[QUERIES:] - earned[:QUERIES], np.bincount(log.query, minlength=QUERIES) / len(log.query)
    slope = (share @ (slopes[QUERIES:] - slopes[:QUERIES]))[free]
    known = information[np.ix_(free, free)]
    known[np.diag_indices(len(free))] += np.concatenate([np.full(len(free) - len(USED), 1e-3), STRENGTH])
    direction = np.zeros(ALL)
    direction[free] = np.linalg.solve(known, slope)
    value = float(share @ away)
    by_query = away[log.query] - value
    found = Answer(value, scores(numbers, shown, clicks, direction)[of] * len(of) + by_query)
    error = np.sqrt(slope @ direction[free] + by_query @ by_query / len(of) ** 2)
    return Answer(value, found.influence * error / found.error)


def combined(steps: list[Answer]) -> Answer:
    """Each step with the share of least variance, unless it contradicts those before: the rule of `compare`."""
    found = steps[0]
    for step in steps[1:]:
        between = step.less(found)
        if abs(between.value) > CONTRADICTS * between.error or not between.error > 0:
            continue
        share = float(np.clip(-(between.influence @ found.influence) / (between.influence @ between.influence), 0, 1))
        found = Answer(found.value + share * between.value, found.influence + share * between.influence)
    return found


def comparing(shown: Floats, rng: np.random.Generator) -> Clicks:
    """Users who look at the next item before they click: they do not read from the top."""
    below = np.concatenate([shown[:, 1:], np.zeros((len(shown), 1))], axis=1)
    return rng.random(shown.shape) < CURVE * shown * (1 - 0.7 * below)


def bored(shown: Floats, rng: np.random.Generator) -> Clicks:
    """Users who leave at a poor item."""
    clicked, reads = np.zeros(shown.shape, np.bool_), np.ones(len(shown), np.bool_)
    for rank in range(SLOTS):
        clicked[:, rank] = reads & (rng.random(len(shown)) < shown[:, rank])
        reads &= rng.random(len(shown)) < np.where(clicked[:, rank], 0.95, 0.45 + 0.5 * shown[:, rank])
    return clicked


def drawn(world: World, users: str, sessions: int, seed: int) -> Log:
    """The log of one A/B test."""
    rng = np.random.default_rng([seed, list(USERS).index(users)])
    query, arm = rng.integers(0, QUERIES, sessions), rng.integers(0, 2, sessions)
    shown = world.relevance[query[:, None], world.lists[arm, query]]
    return Log(query, arm, USERS[users](shown, rng).astype(np.int64), world.lists)


def rows(logs: int, sessions: int, seed: int) -> Iterator[str]:
    """The table, a line at a time."""
    yield f"{logs} logs of {sessions:,} sessions of each kind. Held: by the interval at 95 %."
    yield ""
    each = " | held | error / means | saved"
    yield f"| rankers | users | truth | means held | history{each} | combined{each} |"
    yield "|---|---" + "|--:" * 10 + "|"
    for likeness in LIKENESS:
        world = World.of(likeness)
        first = np.cumprod(world.lists[0] == world.lists[1], axis=1).sum(axis=1)
        for users in USERS:
            true, every = truth(world, users), []
            for number in range(logs):
                log = drawn(world, users, sessions, 1000 * seed + number)
                steps = [of_means(log, np.zeros_like(first)), of_means(log, first), of_history(log)]
                every.append((steps[0], steps[2], combined(steps)))
            yield f"| {likeness} | {users} | {true:+.4f} | {_line(every, true)} |"


def _line(every: list[tuple[Answer, Answer, Answer]], true: float) -> str:
    error, held, width = (
        np.array([[measure(one) for one in some] for some in every], float)
        for measure in (lambda one: (one.value - true) ** 2, lambda one: one.held(true), lambda one: one.error)
    )
    rms, kept, wide = np.sqrt(error.mean(axis=0)), held.mean(axis=0), np.median(width, axis=0)
    said = [f"{kept[0]:.1%}"]
    for one in (1, 2):
        said += [f"{rms[one]:.4f}", f"{kept[one]:.1%}", f"{rms[one] / rms[0]:.2f}", f"{(wide[0] / wide[one]) ** 2:.1f}"]
    return " | ".join(said)


def main() -> None:
    """Print the table, or write it into a page."""
    USERS.update({"comparing": comparing, "bored": bored})
    tabulate(rows, "click history", "benchmarks/ab_click_history.py", __doc__)


if __name__ == "__main__":
    main()
