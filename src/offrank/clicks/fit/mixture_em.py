"""Divides sessions among the components of a mixture: accelerated rounds of EM in the shares and the weights.

Sessions move in step with those that tell of the same documents, and all together with the weights, which a log may
hardly tell. So shares go ahead by SQUAREM (Varadhan and Roland 2008), each by its own speed; and weights, for which
steps of EM are a tenth of what is needed or less, by the method of Barzilai and Borwein (1988), always uphill.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ...log.batch import Floats
from .em import squarem

Step = Callable[[Floats, Floats], tuple[Floats, float]]
"""Shares [n, c] and weights [c] -> (shares by what the components learn from these, log-likelihood)."""

LEAST_SHARE = 1e-12
"""Share of a session's weight that every component keeps at least."""
_LONGEST = 1.0
"""The largest step of a log-weight."""
_BEGIN, _GROWTH, _MOST = 4.0, 3.0, 50.0
"""Steps of the weights, in units of those of EM: the first, how much longer one is than the last, and the longest."""


@dataclass(frozen=True)
class SharesFit:
    """Shares [n, c] of the sessions, weights [c], and how they were found. trace: log-likelihoods, one a cycle."""

    share: Floats
    weight: Floats
    trace: tuple[float, ...]
    rounds: int
    converged: bool


def fit_shares(
    step: Step,
    share: Floats,
    weight: Floats,
    sessions: Floats,
    *,
    still: bool = False,
    tolerance: float,
    rounds: int,
    say: Callable[[float], object],
) -> SharesFit:
    """Repeat `step` until no share, and no weight, moves by more than `tolerance`.

    sessions: [n] weight of each. still: the weights are kept. rounds: the most steps.
    """
    pace, trace, taken = _Pace(), [], 0
    while taken < rounds:
        one, likelihood = step(share, weight)
        trace.append(likelihood)
        say(likelihood)
        after = weight if still else weights(one, sessions)
        if max(np.abs(one - share).max(), pace.factor * np.abs(after - weight).max()) < tolerance:
            return SharesFit(one, after, tuple(trace), taken + 1, converged=True)
        two, _ = step(one, weight)
        far = _far(share, one, two, sessions)
        beyond, reached = step(far, weight)
        nearer = _apart(far, beyond, sessions) < _apart(share, one, sessions)
        share, taken = beyond if nearer or reached >= likelihood else two, taken + 3
        if not still:
            moved = pace.step(weight, weights(share, sessions))
            weight, share = _shares(np.log(weight) + moved), _shares(_logs(share) + moved)
    return SharesFit(share, weight, tuple(trace), taken, converged=False)


def weights(share: Floats, sessions: Floats) -> Floats:
    """[c] posterior mean of the weights, given the shares."""
    found = sessions @ share + 1.0
    return np.asarray(found / found.sum())


@dataclass
class _Pace:
    """The steps of the weights: those of EM times a factor, by how these changed with the steps before."""

    factor: float = _BEGIN
    before: tuple[Floats, Floats] | None = field(default=None)

    def step(self, weight: Floats, after: Floats) -> Floats:
        """[c] the step of the logarithms of the weights, which EM would change to `after`."""
        at = np.log(weight) - np.log(weight).mean()
        wanted = np.log(after) - np.log(after).mean() - at
        if self.before is not None:
            moved, change = at - self.before[0], wanted - self.before[1]
            bend = float(moved @ change)
            steep = -float(moved @ moved) / bend if bend < 0 else np.inf
            self.factor = min(max(steep, 1.0), _GROWTH * self.factor, _MOST)
        self.before = at, wanted
        moved = self.factor * wanted
        return np.asarray(moved * min(1.0, _LONGEST / max(float(np.abs(moved).max()), 1e-300)))


def _far(share: Floats, one: Floats, two: Floats, sessions: Floats) -> Floats:
    """The extrapolated shares; sessions count by what they tell of the components."""
    path = [{"share": _logs(each)} for each in (share, one, two)]
    far = squarem(path, lambda moved: _size(moved["share"], one, sessions))
    return _shares(far.get("share", _logs(share)))


def _apart(share: Floats, other: Floats, sessions: Floats) -> float:
    return _size(_logs(other) - _logs(share), other, sessions)


def _size(logs: Floats, share: Floats, sessions: Floats) -> float:
    """The size of a step of the logarithms of shares."""
    return float(np.sqrt(sessions @ (share * logs**2).sum(axis=1)))


def _logs(share: Floats) -> Floats:
    return np.asarray(np.log(np.maximum(share, LEAST_SHARE)))


def _shares(logs: Floats) -> Floats:
    """Shares in proportion to their exponentials."""
    found = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(found / found.sum(axis=-1, keepdims=True))
