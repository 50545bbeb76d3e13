"""How much was learnt of each probability: observed information, as the number of observations that would give it.

The information of hidden data is what complete data would give, less the posterior variance of their score (Louis
1982). On the logit scale n observations of a probability p have information n p (1 - p).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ...log.batch import Floats
from ..em import Step, climb, expit, logit
from ..parameters import Parameters
from . import _kernels
from .outcomes import Outcomes
from .priors import FLAT


def of_many(value: Floats, outcomes: Outcomes) -> Floats:
    """[documents + 1] from these trials, by the diagonal of the information matrix: each document for itself."""
    information = np.zeros(len(value))
    _kernels.add_information(outcomes.document, outcomes.success, outcomes.failure, outcomes.weight, value, information)
    return information


def of_few(
    names: Sequence[str],
    here: Parameters,
    step: Step,
    counts: Callable[[Parameters], Mapping[str, tuple[Floats, Floats]]],
) -> dict[str, Floats]:
    """The same of the few probabilities that all sessions share, with all documents maximised beside them.

    The profile's information: each is moved a little, the documents climb again, and the scores of all are read.
    """
    tried = counts(here)
    places = [(name, int(i)) for name in names for i in np.flatnonzero(tried[name][1] > 0)]
    strength = {name: np.full(len(here[name]), FLAT.strength) for name in names}
    if not places:
        return strength
    rest = _scores(places, here, tried)
    information = np.empty((len(places), len(places)))
    for row, (name, i) in enumerate(places):
        value = here[name][i]
        shift = 2.0 / np.sqrt(max((tried[name][1][i] + FLAT.strength) * value * (1 - value), 1.0))
        moved = _moved(here, name, i, shift)
        at = climb(without(step, moved, names), moved, tolerance=1e-5, rounds=30).parameters
        information[row] = (rest - _scores(places, at, counts(at))) / shift
    variance = np.diag(np.linalg.pinv((information + information.T) / 2))
    for (name, i), spread in zip(places, variance, strict=True):
        value, most = here[name][i], tried[name][1][i] + FLAT.strength
        known = 1.0 / (spread * value * (1 - value)) if spread > 0 else most
        strength[name][i] = min(known, most)
    return strength


def _scores(places: Sequence[tuple[str, int]], at: Parameters, counts: Mapping[str, tuple[Floats, Floats]]) -> Floats:
    """Slopes of the log-posterior on the logit scale."""
    slopes = {name: won + FLAT.a - at[name] * (tried + FLAT.strength) for name, (won, tried) in counts.items()}
    return np.array([slopes[name][i] for name, i in places])


def _moved(here: Parameters, name: str, place: int, shift: float) -> Parameters:
    table = here[name].copy()
    table[place] = expit(logit(table[place]) + shift)
    return {**here, name: table}


def without(step: Step, fixed: Parameters, names: Sequence[str]) -> Step:
    """A round of EM that leaves these tables as they are in `fixed`."""

    def stepped(at: Parameters) -> tuple[Parameters, float]:
        after, height = step(at)
        return {**after, **{name: fixed[name] for name in names}}, height

    return stepped
