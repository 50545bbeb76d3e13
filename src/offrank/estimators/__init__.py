"""Estimators turn log batches into a value and a weight per impression; a named method registers itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language import lazy as _lazy
from .cuts import Clip as Clip
from .cuts import Shrink as Shrink
from .cuts import Switch as Switch
from .cuts import clip as clip
from .cuts import shrink as shrink
from .cuts import switch as switch
from .registry import ESTIMATORS as ESTIMATORS

if TYPE_CHECKING:
    from ..findings.row import EstimatorKind as EstimatorKind
    from .base import Estimator as Estimator
    from .base import Reference as Reference
    from .base import Terms as Terms
    from .base import Weighted as Weighted
    from .base import Weights as Weights
    from .bounded import Bounded as Bounded
    from .click_weights import ClickWeights as ClickWeights
    from .direct import Direct as Direct
    from .doubly_robust import DoublyRobust as DoublyRobust
    from .family import InterpolWindows as InterpolWindows
    from .ips import IPS as IPS
    from .items import IPM as IPM
    from .items import Interpol as Interpol
    from .items import PositionBased as PositionBased
    from .judged import JudgedClicks as JudgedClicks
    from .logged import LoggedMean as LoggedMean
    from .named import estimator as estimator
    from .predicted import ModelBased as ModelBased
    from .pseudoinverse.estimator import PI as PI
    from .rips import RIPS as RIPS
    from .wrappers import SelfNormalised as SelfNormalised
    from .wrappers import self_normalised as self_normalised

_HOMES = _lazy.homes(__file__)
__all__ = ["ESTIMATORS", "Clip", "Shrink", "Switch", "clip", "shrink", "switch", *_HOMES]  # noqa: PLE0604

if not TYPE_CHECKING:  # otherwise a type checker would accept any name
    __getattr__ = _lazy.later(__name__, _HOMES)
