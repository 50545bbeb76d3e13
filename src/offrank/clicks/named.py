"""Click models by their spelling: `dbn`, `ubm(tolerance=1e-6)`, `mixture(pbm, dbn)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import UsageError
from ..spelling import parse
from .cascade import CM
from .ccm import CCM
from .dbn import DBN, SDBN
from .dcm import DCM
from .mixture import Mixture
from .model import ClickModel
from .neural import CACM, NCM
from .pbm import PBM
from .rates import DCTR, GCTR, RCTR, RDCTR
from .trust import TrustBias
from .ubm import UBM

CLICK_MODELS: dict[str, Callable[..., Any]] = {
    model.name: model
    for model in (CACM, CCM, CM, DBN, DCM, DCTR, GCTR, Mixture, NCM, PBM, RCTR, RDCTR, SDBN, TrustBias, UBM)
}
"""Makers of the click models by name."""


def click_model(spelling: str | ClickModel) -> ClickModel:
    """The click model that a spelling names; a click model is returned as it is.

    Raises:
        SpellingError: not a click model's spelling. UsageError: not a click model.
    """
    found = parse(spelling, CLICK_MODELS, "click model") if isinstance(spelling, str) else spelling
    if not isinstance(found, ClickModel):
        raise UsageError(f"{spelling!r} is not a click model", "give one such as 'dbn' or offrank.clicks.DBN()")
    return found
