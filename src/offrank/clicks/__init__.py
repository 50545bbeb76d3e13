"""Click models: how users click on slates, learnt from a log; and what a model of one's own is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language.registry import later as _later

if TYPE_CHECKING:
    from .base import FitResult, Parameters, Role, Roles
    from .chain_models import CCM, CM, DBN, DCM, SDBN
    from .click_counts import ClickCounts, browsing_cell
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

_WRITTEN = """
    Browsing=laws CACM=neural CCM=chain_models CM=chain_models Cascading=laws ClickCounts=click_counts ClickLaw=laws
    ClickModel=model CountModel=model DBN=chain_models DCM=chain_models DCTR=rates Evaluated=evaluation
    Evaluations=evaluation FitResult=base Fitted=fitted GCTR=rates Harvested=harvesting Independent=laws
    Judgements=judgements Mixed=laws Mixture=mixture NCM=neural PBM=pbm Parameters=base RCTR=rates RDCTR=rates
    Role=base Roles=base SDBN=chain_models SessionModel=model Sessions=sessions SlateDocuments=documents
    TrustBias=trust UBM=ubm Upward=laws browsing_cell=click_counts click_model=model load=model of_documents=model
    of_ranks=model
"""
_HOMES = dict(one.split("=") for one in _WRITTEN.split())

if not TYPE_CHECKING:  # otherwise a type checker would accept any name
    __getattr__ = _later(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
