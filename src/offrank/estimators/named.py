"""Estimators by their spelling: `snips`, `interpol(window=2)`, `clip(ips, 10)`."""

from __future__ import annotations

from ..reward_models.registry import REWARD_MODELS
from ..spelling import parse
from .base import Estimator, Reference
from .ips import IPS
from .items import IPM
from .registry import ESTIMATORS
from .rips import RIPS
from .wrappers import SelfNormalised

REFERENCES: tuple[Reference, ...] = (IPS(), RIPS(), IPM())
"""Reference estimators with few assumptions, computed in the same pass to compare the requested ones with."""


def estimator(spelling: str | Estimator | SelfNormalised) -> Estimator | SelfNormalised:
    """The estimator with this spelling; an estimator is returned as it is.

    Raises:
        SpellingError: not an estimator's spelling.
    """
    if not isinstance(spelling, str):
        return spelling
    names = {**ESTIMATORS, **REWARD_MODELS, "dm": ESTIMATORS["direct"]}  # the direct method, by its other usual name
    made: Estimator | SelfNormalised = parse(spelling, names, "estimator")
    return made
