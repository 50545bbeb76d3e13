"""Click models by their spelling: `dbn`, `ubm(tolerance=1e-6)`, `mixture(pbm, dbn)`."""

from __future__ import annotations

from ..errors import UsageError
from ..spelling import parse
from .model import CLICK_MODELS, ClickModel


def click_model(spelling: str | ClickModel) -> ClickModel:
    """The click model with this spelling; a click model is returned as it is.

    Raises:
        SpellingError: not a click model's spelling. UsageError: not a click model.
    """
    found = parse(spelling, CLICK_MODELS, "click model") if isinstance(spelling, str) else spelling
    if not isinstance(found, ClickModel):
        raise UsageError(f"{spelling!r} is not a click model", "give one such as 'dbn' or offrank.clicks.DBN()")
    return found
