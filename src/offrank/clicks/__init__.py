"""Click models: how users click on slates, learnt from a log; and what a model of one's own is made of."""

from .base import FitResult, Parameters, Role, Roles
from .chain_models import CCM, CM, DBN, DCM, SDBN
from .counts import ClickCounts, browsing_cell
from .documents import SlateDocuments
from .evaluation import Evaluated, Evaluations
from .fitted import Fitted
from .harvesting import Harvested
from .judgements import Judgements
from .laws import Browsing, Cascading, ClickLaw, Independent, Mixed, Upward
from .mixture import Mixture
from .model import ClickModel, CountModel, SessionModel, click_model, load, of_documents, of_ranks
from .neural import CACM, NCM
from .pbm import PBM
from .rates import DCTR, GCTR, RCTR, RDCTR
from .sessions import Sessions
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
    "Browsing",
    "Cascading",
    "ClickCounts",
    "ClickLaw",
    "ClickModel",
    "CountModel",
    "Evaluated",
    "Evaluations",
    "FitResult",
    "Fitted",
    "Harvested",
    "Independent",
    "Judgements",
    "Mixed",
    "Mixture",
    "Parameters",
    "Role",
    "Roles",
    "SessionModel",
    "Sessions",
    "SlateDocuments",
    "TrustBias",
    "Upward",
    "browsing_cell",
    "click_model",
    "load",
    "of_documents",
    "of_ranks",
]


def __dir__() -> list[str]:
    return sorted(__all__)
