"""Accelerated expectation maximisation: SQUAREM (Varadhan and Roland 2008), which never decreases the objective."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...log.batch import Floats
from ..base import Parameters

Step = Callable[[Parameters], tuple[Parameters, float]]
"""One round of EM: (new parameters, log-posterior of the given parameters)."""

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
        if max((float(np.abs(one[name] - here[name]).max(initial=0.0)) for name in here), default=0.0) < tolerance:
            return Climb(one, tuple(trace), taken + 1, converged=True)
        two, _ = step(one)
        here, one = two, _extrapolated(here, one, two)
        beyond, reached = step(one)
        taken += 3
        here = beyond if np.isfinite(reached) and reached >= log_posterior else two
    return Climb(here, tuple(trace), taken, converged=False)


def _extrapolated(here: Parameters, one: Parameters, two: Parameters) -> dict[str, Floats]:
    """Where two steps lead by step length S3 of SQUAREM, -|r| / |v|, never less than the steps, on the logit scale.

    Each array of all documents counts in memory: they are changed where they are.
    """
    at, first, bend = {name: logit(table) for name, table in here.items()}, dict[str, Floats](), dict[str, Floats]()
    for name in here:
        first[name], bend[name] = logit(one[name]), logit(two[name])
        bend[name] -= first[name]
        first[name] -= at[name]
        bend[name] -= first[name]
    r, v = _norm(first), _norm(bend)
    length = min(-r / v, -1.0) if v > 0 else -1.0
    for name in here:
        step, turn = first.pop(name), bend.pop(name)
        # What does not move stays exactly as it is, and need not be a probability, such as the priors of a component.
        if step.any() or turn.any():
            step *= 2 * length
            turn *= length**2
            at[name] -= step
            at[name] += turn
            at[name] = expit(at[name])
        else:
            at[name] = here[name]
    return at


def _norm(parts: Parameters) -> float:
    return float(np.sqrt(sum(float((part**2).sum()) for part in parts.values())))


def logit(probability: Floats) -> Floats:
    """log(p / (1 - p)) of probabilities, kept away from 0 and 1."""
    p = np.clip(probability, _EDGE, 1 - _EDGE)
    return np.asarray(np.log(p) - np.log1p(-p))


def expit(logits: Floats) -> Floats:
    """Probabilities from logits, kept away from 0 and 1."""
    return np.clip(1 / (1 + np.exp(-np.clip(logits, -40, 40))), _EDGE, 1 - _EDGE)
