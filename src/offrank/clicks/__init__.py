"""Click models: how slates are clicked, learnt from a log."""

from .evaluate import evaluate
from .evaluated import Evaluated, Evaluations
from .fitted import Fitted
from .loading import load
from .model import ClickModel
from .named import click_model

__all__ = ["ClickModel", "Evaluated", "Evaluations", "Fitted", "click_model", "evaluate", "load"]
