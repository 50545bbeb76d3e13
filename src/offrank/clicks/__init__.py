"""Click models: how users click on slates, learnt from a log; and what a model of one's own is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language import lazy as _lazy

if TYPE_CHECKING:
    from .base import FitResult as FitResult
    from .base import Parameters as Parameters
    from .base import Role as Role
    from .base import Roles as Roles
    from .chain_models import CCM as CCM
    from .chain_models import CM as CM
    from .chain_models import DBN as DBN
    from .chain_models import DCM as DCM
    from .chain_models import SDBN as SDBN
    from .click_counts import ClickCounts as ClickCounts
    from .click_counts import browsing_cell as browsing_cell
    from .documents import SlateDocuments as SlateDocuments
    from .evaluation import Evaluated as Evaluated
    from .evaluation import Evaluations as Evaluations
    from .fitted import Fitted as Fitted
    from .harvesting import Harvested as Harvested
    from .judgements import Judgements as Judgements
    from .laws import Browsing as Browsing
    from .laws import Cascading as Cascading
    from .laws import ClickLaw as ClickLaw
    from .laws import Independent as Independent
    from .laws import Mixed as Mixed
    from .laws import Upward as Upward
    from .model import ClickModel as ClickModel
    from .model import CountModel as CountModel
    from .model import SessionModel as SessionModel
    from .model import click_model as click_model
    from .model import load as load
    from .model import of_documents as of_documents
    from .model import of_ranks as of_ranks
    from .pbm import PBM as PBM
    from .rates import COEC as COEC
    from .rates import DCTR as DCTR
    from .rates import GCTR as GCTR
    from .rates import RCTR as RCTR
    from .rates import RDCTR as RDCTR
    from .sessions import Sessions as Sessions
    from .trust import TrustBias as TrustBias
    from .ubm import UBM as UBM

_HOMES = _lazy.homes(__file__)
__all__ = [*_HOMES]  # noqa: PLE0604

if not TYPE_CHECKING:  # otherwise a type checker would accept any name
    __getattr__ = _lazy.later(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
