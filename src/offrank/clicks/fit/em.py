"""Expectation maximisation, accelerated: SQUAREM (Varadhan and Roland 2008), which never goes down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...log.batch import Floats
from ..parameters import Parameters

Step = Callable[[Parameters], tuple[Parameters, float]]
"""One round of EM: (parameters after it, log-posterior of the parameters that it was given)."""

_EDGE = 1e-9
"""Probabilities are kept this far from 0 and 1, where a logit ends."""


@dataclass(frozen=True)
class Climb:
    """Where EM ended. trace: the log-posterior along the way, never decreasing; rounds: steps taken in all."""

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
    """Repeat `step` until it moves no parameter by more than `tolerance`.

    Each cycle takes two steps, extrapolates along them on the logit scale, and takes a third from there; where the
    extrapolated point is worse than where the cycle began, the two plain steps stand. rounds: the most steps.
    say: called with the log-posterior of each cycle.
    """
    here, trace, taken = start, [], 0
    while taken < rounds:
        one, log_posterior = step(here)
        trace.append(log_posterior)
        say(log_posterior)
        if _moved(here, one) < tolerance:
            return Climb(one, tuple(trace), taken + 1, converged=True)
        two, _ = step(one)
        far = _extrapolated(here, one, two)
        beyond, reached = step(far)
        taken += 3
        here = beyond if np.isfinite(reached) and reached >= log_posterior else two
    return Climb(here, tuple(trace), taken, converged=False)


def _moved(before: Parameters, after: Parameters) -> float:
    return max((float(np.abs(after[name] - before[name]).max(initial=0.0)) for name in before), default=0.0)


def _extrapolated(here: Parameters, one: Parameters, two: Parameters) -> Parameters:
    """Steplength S3 of SQUAREM: -|r| / |v|, and never less than the two steps themselves."""
    first = {name: logit(one[name]) - logit(here[name]) for name in here}
    bend = {name: logit(two[name]) - logit(one[name]) - first[name] for name in here}
    r, v = _norm(first), _norm(bend)
    length = min(-r / v, -1.0) if v > 0 else -1.0
    far = {name: expit(logit(here[name]) - 2 * length * first[name] + length**2 * bend[name]) for name in here}
    # What does not move stays to the last bit, and need be no probability: the priors beside a component's tables.
    return {name: far[name] if first[name].any() or bend[name].any() else here[name] for name in here}


def _norm(parts: Parameters) -> float:
    return float(np.sqrt(sum(float((part**2).sum()) for part in parts.values())))


def logit(probability: Floats) -> Floats:
    """log(p / (1 - p)), of probabilities kept off 0 and 1."""
    p = np.clip(probability, _EDGE, 1 - _EDGE)
    return np.asarray(np.log(p) - np.log1p(-p))


def expit(logits: Floats) -> Floats:
    """Back from logits, kept off 0 and 1."""
    return np.clip(1 / (1 + np.exp(-np.clip(logits, -40, 40))), _EDGE, 1 - _EDGE)
