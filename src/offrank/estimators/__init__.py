"""Estimators turn log batches into a value and a weight per impression; each named method has its own file."""

from .base import Estimator, Reference, Terms, Weighted, Weights
from .bounded import Bounded
from .click_weights import ClickWeights
from .clip import Clip, clip
from .direct import Direct
from .doubly_robust import DoublyRobust
from .family import InterpolWindows
from .ips import IPS
from .items import IPM, Interpol, PositionBased
from .logged import LoggedMean
from .named import estimator
from .predicted import ModelBased
from .pseudoinverse.estimator import PI
from .registry import ESTIMATORS
from .rips import RIPS
from .shrink import Shrink, shrink
from .switch import Switch, switch
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
