"""Click models: how users click on slates, learnt from a log."""

from .cascade import CM
from .ccm import CCM
from .dbn import DBN, SDBN
from .dcm import DCM
from .evaluation import Evaluated, Evaluations
from .fitted import Fitted
from .harvesting import Harvested
from .judgements import Judgements
from .loading import load
from .mixture import Mixture
from .model import ClickModel, click_model
from .neural import CACM, NCM
from .pbm import PBM
from .rates import DCTR, GCTR, RCTR, RDCTR
from .trust import TrustBias
from .ubm import UBM

__all__ = [
    "CACM",
    "CCM",
    "CM",
    "DBN",
    "DCM",
    "DCTR",
    "GCTR",
    "NCM",
    "PBM",
    "RCTR",
    "RDCTR",
    "SDBN",
    "UBM",
    "ClickModel",
    "Evaluated",
    "Evaluations",
    "Fitted",
    "Harvested",
    "Judgements",
    "Mixture",
    "TrustBias",
    "click_model",
    "load",
]
