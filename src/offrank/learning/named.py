"""Learning methods by name."""

from __future__ import annotations

import difflib

from ..errors import UsageError
from .dr_poem import DoublyRobustPoem
from .dro import DoublyRobustReduction
from .examples import Learner
from .ips import InversePropensity
from .plackett_luce import SlateGradient
from .poem import Poem
from .random import Random
from .regression import Regression
from .snpoem import SelfNormalisedPoem

METHODS: dict[str, type] = {
    "random": Random,
    "regression": Regression,
    "ips": InversePropensity,
    "dro": DoublyRobustReduction,
    "poem": Poem,
    "snpoem": SelfNormalisedPoem,
    "dr-poem": DoublyRobustPoem,
    "plackett-luce": SlateGradient,
}


def learner(name: str, epochs: int | None = None) -> Learner:
    """Return the method of this name; epochs: the most passes or rounds, by default its own.

    Raises:
        UsageError: there is no such method, or epochs is invalid.
    """
    if name not in METHODS:
        near = difflib.get_close_matches(name, METHODS, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise UsageError(f"there is no way to learn {name!r}", hint + "say one of " + ", ".join(METHODS))
    if epochs is not None and epochs < 1:
        raise UsageError(f"epochs is {epochs}", "give at least 1")
    made: Learner = METHODS[name]() if epochs is None else METHODS[name](epochs=epochs)
    return made
