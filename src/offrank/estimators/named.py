"""Estimators by their spelling: `snips`, `interpol(window=2)`, `clip(ips, 10)`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from ..reward_models.regression import REWARD_MODELS
from ..spelling import parse
from .base import Estimator, Reference
from .clip import clip
from .direct import Direct
from .doubly_robust import DoublyRobust
from .family import interpol
from .ips import IPS
from .items import IPM, PositionBased
from .logged import LoggedMean
from .pseudoinverse.estimator import PI
from .rips import RIPS
from .shrink import shrink
from .switch import switch
from .wrappers import Normaliser, SelfNormalised, controlled

REFERENCES: tuple[Reference, ...] = (IPS(), RIPS(), IPM())
"""Reference estimators with few assumptions, computed in the same pass to compare the requested ones with."""


def _self_normalised(base: Callable[..., Estimator]) -> Callable[..., SelfNormalised]:
    @wraps(base, updated=())
    def make(*arguments: Any, normaliser: Normaliser = "slot", **keywords: Any) -> SelfNormalised:
        return SelfNormalised(base(*arguments, **keywords), normaliser=normaliser)

    return make


ESTIMATORS: dict[str, Callable[..., Any]] = {
    "clip": clip,
    "controlled": controlled,
    "direct": Direct,
    "dr": DoublyRobust,
    "interpol": interpol,
    "ipm": IPM,
    "ips": IPS,
    "logged": LoggedMean,
    "pbm": PositionBased,
    "pi": PI,
    "rips": RIPS,
    "shrink": shrink,
    "sninterpol": _self_normalised(interpol),
    "snipm": _self_normalised(IPM),
    "snips": _self_normalised(IPS),
    "snrips": _self_normalised(RIPS),
    "switch": switch,
    "wpi": _self_normalised(PI),
}


def estimator(spelling: str | Estimator | SelfNormalised) -> Estimator | SelfNormalised:
    """The estimator with this spelling; an estimator is returned as it is.

    Raises:
        SpellingError: not an estimator's spelling.
    """
    if not isinstance(spelling, str):
        return spelling
    made: Estimator | SelfNormalised = parse(spelling, {**ESTIMATORS, **REWARD_MODELS, "dm": Direct}, "estimator")
    return made
