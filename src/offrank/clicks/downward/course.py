"""How learning goes: together under common priors; then what all share on its own; then the documents, given that."""

from __future__ import annotations

from collections.abc import Mapping

from ...folds.estimate import Caution
from ..em import Parameters, climb
from ..learnt import Learnt
from ..priors import Beta
from ..sessions import Sessions
from .indirect import Shared, shared
from .learning import Problem, Solution
from .priors import near
from .strength import of_few, without

_LOOSE = 1e-3
_REFITS = 20
_FEW = 6
_ROUNDS = 2000


def learnt(problem: Problem, sessions: Sessions, cautions: tuple[Caution, ...], rounds: int | None) -> Learnt:
    """rounds: None for the whole course; otherwise only the first part, with so many steps at the end."""
    here = problem.start()
    names = [name for name in here if name not in problem.model.tables]
    apart_too = rounds is None and bool(names)
    flat = dict.fromkeys(problem.model.tables, Beta(1.0, 1.0))
    here, priors = _together(problem, here, flat, refits=_FEW if apart_too else _REFITS)
    if not apart_too:
        found = problem.climbed(here, priors, rounds)
        few = of_few(names, found.found.parameters, problem.step(priors), problem.counts)
        return found.learnt(cautions, found.known() | few)
    problem.say(f"{problem.model.name}: how far users read, whatever the order of the documents")
    apart = shared(problem, sessions, here, priors)
    found = _given(problem, {**here, **apart.value}, priors, names)
    return found.learnt((*cautions, *_cautions(apart)), found.known() | dict(apart.strength))


def _together(
    problem: Problem, here: Parameters, priors: Mapping[str, Beta], fixed: tuple[str, ...] = (), refits: int = _REFITS
) -> tuple[Parameters, Mapping[str, Beta]]:
    """Priors and parameters in turns, loosely."""
    for _ in range(refits):
        step = without(problem.step(priors), here, fixed)
        here = climb(step, here, tolerance=_LOOSE, rounds=60, say=problem.tell).parameters
        before, priors = priors, problem.refitted(here, priors)
        problem.say(f"{problem.model.name}: prior of " + ", ".join(f"{name} {priors[name]}" for name in priors))
        if all(near(priors[name], before[name]) for name in priors):
            break
    return here, priors


def _given(problem: Problem, here: Parameters, priors: Mapping[str, Beta], names: list[str]) -> Solution:
    """The documents' maximum, with these tables as they are."""
    here, priors = _together(problem, here, priors, tuple(names))
    step = without(problem.step(priors), here, names)
    return Solution(problem, climb(step, here, tolerance=problem.tolerance, rounds=_ROUNDS, say=problem.tell), priors)


def _cautions(apart: Shared) -> tuple[Caution, ...]:
    """Said where the log does not tell how far users read."""
    if apart.told >= 0.5:
        return ()
    caution = Caution(
        "examination-unknown",
        "warning",
        "The log hardly tells how far users read: too few documents were clicked at different ranks. It is taken to be "
        "as though documents were alike wherever they are shown.",
        "Predict clicks with this model only for rankings like those of the log; its continuation and its relevance "
        "need a log in which documents change places.",
    )
    return (caution,)
