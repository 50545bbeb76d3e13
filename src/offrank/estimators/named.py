"""Estimators by their spelling: `snips`, `interpol(window=2)`, `clip(ips, 10)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import UsageError
from ..language.registry import Together
from ..language.spelling import parse
from ..reward_models.registry import REWARD_MODELS
from .base import Estimator, Reference
from .ips import IPS
from .items import IPM
from .registry import ESTIMATORS
from .rips import RIPS

REFERENCES: tuple[Reference, ...] = (IPS(), RIPS(), IPM())
"""Reference estimators with few assumptions, computed in the same pass to compare the requested ones with."""


_NAMES: Together[Callable[..., Any]] = Together(ESTIMATORS, REWARD_MODELS, also={"dm": "direct"})
"""What makes estimators and the models within them; the direct method has another usual name."""


def estimator(spelling: str | Estimator) -> Estimator:
    """The estimator with this spelling; an estimator is returned as it is.

    Raises:
        SpellingError: not an estimator's spelling.
        UsageError: it is that of a model within estimators, or no spelling and no estimator.
    """
    made: object = parse(spelling, _NAMES, "estimator") if isinstance(spelling, str) else spelling
    if not isinstance(made, Estimator):
        raise UsageError(f"{made!r} is not an estimator", "give one such as 'snips' or 'interpol(window=2)'")
    return made
