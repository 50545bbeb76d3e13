"""Maximum of a log-likelihood in a few dozen numbers: BFGS with steps in units of standard errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...language import Say, silent
from ...log.batch import Floats

_ROUNDS = 500
_SCALED = 10
"""Rounds after which standard errors are taken anew."""
_LAPS = _ROUNDS // _SCALED
"""How often they are: a lap may get no round back, where no step leads up."""
_FAR = 2.0
"""The largest step of scoring in any number."""
_LEAST = 0.1
"""Information that is added, so that a step stays near where there is none."""
_NOTHING = 1e-9
"""A gain of log-likelihood that ten rounds are not worth."""


class Maximum(NamedTuple):
    """Where it is, the log-likelihood of each round, their number, and whether the slopes vanished."""

    at: Floats
    trace: tuple[float, ...]
    rounds: int
    converged: bool


def maximise(
    value: Callable[[Floats], tuple[float, Floats]],
    information: Callable[[Floats], Floats],
    start: Floats,
    *,
    tolerance: float,
    known: Floats | None = None,
    say: Say = silent,
) -> Maximum:
    """The numbers [x] of the largest value; never one below that of the start.

    value: of numbers, with its derivatives. information: [x, x] of numbers, such as the products of the scores of
    documents (Berndt et al. 1974); known: that of the start, where it is known. It ends where no number has a slope
    above tolerance, in units of standard errors: some dozen rounds even where they are hard to tell apart. It also
    ends, not converged, after 500 rounds, after 50 laps, and where a lap gains nothing.
    """
    from scipy.linalg import solve_triangular  # slow to import
    from scipy.optimize import minimize  # slow to import

    x, trace, taken, converged = start, [value(start)[0]], 0, False

    def tell(intermediate_result: object) -> None:
        trace.append(-float(intermediate_result.fun))  # type: ignore[attr-defined]
        say(f"log-likelihood {trace[-1]:,.2f}")

    for _ in range(_LAPS):
        products = (information(x) if known is None else known) + _LEAST * np.eye(len(x))
        root: Floats = np.asarray(np.linalg.cholesky(products), np.float64)
        (here, before), known = _scored(value, x, root), None

        def loss(z: Floats, here: Floats = here, root: Floats = root) -> tuple[float, Floats]:
            reached, slopes = value(here + solve_triangular(root, z, lower=True, trans=1))
            if not (np.isfinite(reached) and np.isfinite(slopes).all()):
                return np.inf, np.zeros(len(z))  # a step too far: the search for its length takes a shorter one
            return -reached, -solve_triangular(root, slopes, lower=True)

        # Not L-BFGS-B: its linear algebra wakes threads that wait for more by spinning.
        options = {"maxiter": _SCALED, "gtol": tolerance}
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # of steps too far
            found = minimize(loss, np.zeros(len(x)), jac=True, method="BFGS", callback=tell, options=options)
        gained, taken, converged = -found.fun - before, taken + int(found.nit), bool(found.success)
        # A lap without a round ends where it began, even where the value is not the same again.
        x = here + solve_triangular(root, found.x, lower=True, trans=1) if gained > 0 and found.nit else here
        if converged or not found.nit or gained < _NOTHING or taken >= _ROUNDS:
            break
    return Maximum(x, tuple(trace), taken, converged)


def _scored(value: Callable[[Floats], tuple[float, Floats]], x: Floats, root: Floats) -> tuple[Floats, float]:
    """A step of scoring from x, where it leads up, with the value there; root: of the information."""
    from scipy.linalg import cho_solve  # slow to import

    before, slopes = value(x)
    step = cho_solve((root, True), slopes)
    there = x + step * min(1.0, _FAR / max(float(np.abs(step).max()), 1e-300))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        reached = value(there)[0]
    return (there, reached) if reached > before else (x, before)
