"""Learning methods by name."""

from __future__ import annotations

from dataclasses import fields, replace

from ..errors import UsageError
from ..language.spelling import parse
from ..wording import nearest
from .examples import Learner, grid
from .one_against_all import DoublyRobustReduction, InversePropensity
from .pi_opt import PiOpt
from .pl_rank import PLRank
from .plackett_luce import SlateGradient
from .poem import DoublyRobustPoem, Poem, SelfNormalisedPoem
from .random import Random
from .regression import Regression
from .sup import LambdaMart, Supervised

METHODS: dict[str, type] = {
    "random": Random,
    "regression": Regression,
    "ips": InversePropensity,
    "dro": DoublyRobustReduction,
    "poem": Poem,
    "snpoem": SelfNormalisedPoem,
    "dr-poem": DoublyRobustPoem,
    "plackett-luce": SlateGradient,
    "pl-rank": PLRank,
    "pi-opt": PiOpt,
    "sup": Supervised,
    "lambdamart": LambdaMart,
}


def learner(name: str, epochs: int | None = None) -> Learner:
    """Return the method of this name or spelling, `poem` or `poem(clips=[1])`.

    epochs: the most passes or rounds, by default its own.

    Raises:
        UsageError: there is no such method, it has no such settings, or epochs is invalid.
    """
    word = name.split("(", maxsplit=1)[0].strip()
    if word not in METHODS:
        near = nearest(word, METHODS)
        hint = f"did you mean {near}? " if near else ""
        raise UsageError(f"there is no learning method {name!r}", hint + "use one of " + ", ".join(METHODS))
    if epochs is not None and epochs < 1:
        raise UsageError(f"epochs is {epochs}", "give at least 1")
    plain = word.replace("-", "_")  # a spelling has no hyphen
    made: Learner = parse(name.replace(word, plain, 1), {plain: METHODS[word]}, "method")
    for field in fields(made):  # type: ignore[arg-type]
        if isinstance(value := getattr(made, field.name), tuple | list):
            grid(field.name, value)  # raises for an empty one
    if epochs is not None and getattr(made, "grid", None) == "published":
        raise UsageError("the published grid has its own numbers of trees", "omit epochs, or use grid=published")
    return made if epochs is None else replace(made, epochs=epochs)  # type: ignore[type-var]
