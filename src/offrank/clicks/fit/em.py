"""Accelerated expectation maximisation: SQUAREM (Varadhan and Roland 2008), which never decreases the objective."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...log.batch import Floats
from ..base import Parameters
from .design import blocks

Step = Callable[[Parameters], tuple[Parameters, float]]
"""One round of EM: (new parameters, in arrays that are used again, log-posterior of the given parameters)."""

_TOGETHER = 1 << 17
"""Entries that are extrapolated at once."""
_EDGE = 1e-9
"""Probabilities are kept this far from 0 and 1, where logits are infinite."""


@dataclass(frozen=True)
class Climb:
    """The result of EM. trace: the log-posterior at the start of each cycle, never decreasing; rounds: all steps."""

    parameters: Parameters
    trace: tuple[float, ...]
    rounds: int
    converged: bool


def climb(
    step: Step,
    start: Parameters,
    *,
    tolerance: float = 1e-5,
    rounds: int = 1000,
    say: Callable[[float], object] = lambda _: None,
) -> Climb:
    """Repeat `step` until it changes no parameter by more than `tolerance`.

    Each cycle takes two steps, extrapolates along them on the logit scale, and takes a third from there; where the
    extrapolated point is worse than where the cycle began, the two plain steps are kept. rounds: the most steps.
    say: called with the log-posterior of each cycle.
    """
    here, trace, taken = start, [], 0
    while taken < rounds:
        one, log_posterior = step(here)
        trace.append(log_posterior)
        say(log_posterior)
        if all((np.abs(one[name][rows] - here[name][rows]) < tolerance).all() for name, rows in table_parts(here)):
            return Climb(one, tuple(trace), taken + 1, converged=True)
        two, _ = step(one)
        here, one = two, _extrapolated(here, one, two)
        beyond, reached = step(one)
        taken += 3
        if np.isfinite(reached) and reached >= log_posterior:
            here = beyond
        del one, two, beyond
    return Climb(here, tuple(trace), taken, converged=False)


def table_parts(tables: Parameters) -> list[tuple[str, slice]]:
    """The tables, some entries after others: each array of all documents counts in memory."""
    return [(name, rows) for name, table in tables.items() for rows in blocks(len(table), _TOGETHER)]


def _extrapolated(here: Parameters, one: Parameters, two: Parameters) -> Parameters:
    """Where two steps lead by step length S3 of SQUAREM, -|r| / |v|, never less than the steps, on the logit scale.

    It is written to the arrays of the first step.
    """
    r = v = 0.0
    moving = set()
    for name, rows in table_parts(here):
        _, first, bend = _logits(here[name][rows], one[name][rows], two[name][rows])
        r, v = r + float((first**2).sum()), v + float((bend**2).sum())
        if first.any() or bend.any():
            moving.add(name)
    length = min(-np.sqrt(r) / np.sqrt(v), -1.0) if v > 0 else -1.0
    # What does not move stays exactly as it is, and need not be a probability, such as the priors of a component.
    for name, rows in table_parts({name: here[name] for name in moving}):
        at, first, bend = _logits(here[name][rows], one[name][rows], two[name][rows])
        one[name][rows] = expit(at - first * (2 * length) + bend * length**2)
    return {name: one[name] if name in moving else table for name, table in here.items()}


def _logits(here: Floats, one: Floats, two: Floats) -> tuple[Floats, Floats, Floats]:
    """The logits of the first, how far they are from there to the second, and how much further to the third."""
    at, first, bend = logit(here), logit(one), logit(two)
    bend -= first
    first -= at
    bend -= first
    return at, first, bend


def logit(probability: Floats) -> Floats:
    """log(p / (1 - p)) of probabilities, kept away from 0 and 1."""
    p = np.clip(probability, _EDGE, 1 - _EDGE)
    return np.asarray(np.log(p) - np.log1p(-p))


def expit(logits: Floats) -> Floats:
    """Probabilities from logits, kept away from 0 and 1."""
    return np.clip(1 / (1 + np.exp(-np.clip(logits, -40, 40))), _EDGE, 1 - _EDGE)
