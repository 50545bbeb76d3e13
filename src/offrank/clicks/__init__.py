"""Click models: how slates are clicked, learnt from a log."""

from .cascade import CM
from .ccm import CCM
from .dbn import DBN
from .dcm import DCM
from .evaluate import evaluate
from .evaluated import Evaluated, Evaluations
from .fitted import Fitted
from .loading import load
from .model import ClickModel
from .named import click_model
from .sdbn import SDBN

__all__ = [
    "CCM",
    "CM",
    "DBN",
    "DCM",
    "SDBN",
    "ClickModel",
    "Evaluated",
    "Evaluations",
    "Fitted",
    "click_model",
    "evaluate",
    "load",
]
