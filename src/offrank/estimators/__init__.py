"""Estimators turn log batches into a value and a weight per impression; a named method registers itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language.registry import later as _later
from .cuts import Clip, Shrink, Switch, clip, shrink, switch
from .registry import ESTIMATORS

if TYPE_CHECKING:
    from ..findings.row import EstimatorKind
    from .base import Estimator, Reference, Terms, Weighted, Weights
    from .bounded import Bounded
    from .click_weights import ClickWeights
    from .direct import Direct
    from .doubly_robust import DoublyRobust
    from .family import InterpolWindows
    from .ips import IPS
    from .items import IPM, Interpol, PositionBased
    from .logged import LoggedMean
    from .named import estimator
    from .predicted import ModelBased
    from .pseudoinverse.estimator import PI
    from .rips import RIPS
    from .wrappers import SelfNormalised, self_normalised

__all__ = [
    "ESTIMATORS",
    "IPM",
    "IPS",
    "PI",
    "RIPS",
    "Bounded",
    "ClickWeights",
    "Clip",
    "Direct",
    "DoublyRobust",
    "Estimator",
    "EstimatorKind",
    "Interpol",
    "InterpolWindows",
    "LoggedMean",
    "ModelBased",
    "PositionBased",
    "Reference",
    "SelfNormalised",
    "Shrink",
    "Switch",
    "Terms",
    "Weighted",
    "Weights",
    "clip",
    "estimator",
    "self_normalised",
    "shrink",
    "switch",
]

_WRITTEN = """
    Bounded=bounded ClickWeights=click_weights Direct=direct DoublyRobust=doubly_robust Estimator=base IPM=items
    IPS=ips Interpol=items InterpolWindows=family EstimatorKind=base LoggedMean=logged ModelBased=predicted
    PI=pseudoinverse.estimator PositionBased=items RIPS=rips Reference=base SelfNormalised=wrappers Terms=base
    Weighted=base Weights=base estimator=named self_normalised=wrappers
"""
_HOMES = dict(one.split("=") for one in _WRITTEN.split())

if not TYPE_CHECKING:  # otherwise a type checker would accept any name
    __getattr__ = _later(__name__, _HOMES)
