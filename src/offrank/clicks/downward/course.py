"""How learning goes: together under common priors; then what all share on its own; then the documents, given that.

Where good documents are shown high, a common prior of all documents takes their attraction for examination. So what
all sessions share is learnt with a weak prior that lets each document speak for itself.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...findings import about
from ...findings.evidence_clicks import OfFit
from ...findings.examination_unknown import ERROR, RESTLESS
from ...folds.estimate import Caution
from ...log.batch import Floats
from ..em import climb, logit
from ..learnt import Learnt
from ..parameters import Parameters
from ..priors import Beta
from ..sessions import Sessions
from .learning import Problem, Solution
from .priors import near
from .strength import of_few, without

_WEAK = Beta(0.2, 0.8)
"""What is believed of a document while what all share is learnt: one showing in all."""
_LOOSE = 1e-3
_REFITS = 20
_ROUNDS = 2000


def learnt(problem: Problem, sessions: Sessions, cautions: tuple[Caution, ...]) -> Learnt:
    """The whole course."""
    flat = dict.fromkeys(problem.model.tables, Beta(1.0, 1.0))
    pooled, priors = _together(problem, problem.start(), flat)
    names = [name for name in pooled if name not in problem.model.tables]
    if not names:
        found = problem.climbed(pooled, priors)
        return found.learnt(cautions, found.known())
    alone = _alone(problem, pooled)
    error = _errors(problem, alone, names)
    moved = restlessness(sessions)
    found = _given(problem, pooled, alone, priors)
    strength = {name: _strength(alone[name], pooled[name], error[name] + ERROR * (moved < RESTLESS)) for name in names}
    tried = problem.counts(alone)
    largest = max(float(error[name][tried[name][1] > 0].max(initial=0.0)) for name in names)
    unknown = about(OfFit(error=largest, restlessness=moved))
    return found.learnt((*cautions, *unknown), found.known() | strength)


def learnt_from(problem: Problem, start: Parameters, priors: Mapping[str, Beta]) -> Solution:
    """The same from where learning ended on nearly the same sessions."""
    return _given(problem, start, _alone(problem, start), priors)


def restlessness(sessions: Sessions) -> float:
    """Variance of the rank of a document, on average over showings."""
    document, shown = sessions.document, sessions.document >= 0
    weight = np.broadcast_to(sessions.weight[:, None], document.shape)[shown]
    rank = np.broadcast_to(np.arange(document.shape[1], dtype=np.float64), document.shape)[shown]
    total, first, second = (np.bincount(document[shown], weight * rank**power) for power in range(3))
    return float((second - first**2 / np.maximum(total, 1e-300)).sum() / max(weight.sum(), 1e-300))


def _together(
    problem: Problem, here: Parameters, priors: Mapping[str, Beta], fixed: tuple[str, ...] = ()
) -> tuple[Parameters, Mapping[str, Beta]]:
    """Priors and parameters in turns, loosely."""
    for _ in range(_REFITS):
        step = without(problem.step(priors), here, fixed)
        here = climb(step, here, tolerance=_LOOSE, rounds=60, say=problem.tell).parameters
        before, priors = priors, problem.refitted(here, priors)
        problem.say(f"{problem.model.name}: prior of " + ", ".join(f"{name} {priors[name]}" for name in priors))
        if all(near(priors[name], before[name]) for name in priors):
            break
    return here, priors


def _alone(problem: Problem, start: Parameters) -> Parameters:
    """Under the weak prior: where nothing is shared there is nothing to find."""
    if set(start) <= set(problem.model.tables):
        return start
    problem.say(f"{problem.model.name}: how far users read, each document by itself")
    return problem.climbed(start, dict.fromkeys(problem.model.tables, _WEAK)).found.parameters


def _given(problem: Problem, here: Parameters, alone: Parameters, priors: Mapping[str, Beta]) -> Solution:
    """The documents' maximum, with what all share as it is when documents are alone."""
    names = tuple(name for name in here if name not in problem.model.tables)
    here = {**here, **{name: alone[name] for name in names}}
    here, priors = _together(problem, here, priors, names)
    step = without(problem.step(priors), here, names)
    return Solution(problem, climb(step, here, tolerance=problem.tolerance, rounds=_ROUNDS, say=problem.tell), priors)


def _errors(problem: Problem, alone: Parameters, names: list[str]) -> dict[str, Floats]:
    """Standard errors, in logits, of what all share."""
    weak = problem.step(dict.fromkeys(problem.model.tables, _WEAK))
    known = of_few(names, alone, weak, problem.counts)
    return {name: 1.0 / np.sqrt(known[name] * alone[name] * (1.0 - alone[name])) for name in names}


def _strength(alone: Floats, pooled: Floats, error: Floats) -> Floats:
    """Of an interval that has room for the sampling error and for what unlike beliefs about documents make of the log.

    Neither a weak prior nor a common one is right; how far apart they lie is what is known of their bias.
    """
    variance = error**2 + (logit(alone) - logit(pooled)) ** 2
    return np.asarray(np.maximum(1.0 / (variance * alone * (1.0 - alone)) - 1.0, 1.0))
