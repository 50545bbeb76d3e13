"""The direct method: the clicks that a click model predicts on the target's slates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from ..clicks.fitted import Fitted
from ..findings import assumptions
from ..log.batch import LogBatch
from ..policies.propensities import Propensities
from .base import Terms
from .predicted import ModelBased


@dataclass(frozen=True, repr=False)
class Direct(ModelBased):
    """The mean over logged contexts of the clicks predicted on the target's slate; logged clicks are not used.

    Unbiased if the model is right. The interval reflects how contexts differ, not the error of the model.

    - model: a fitted click model, or the file that it was saved to.
    - draws: slates per row of a stochastic target, where clicks in the model depend on more than their own
      item and rank, and the slates are too many to enumerate (over 120).
    """

    name: ClassVar[str] = "direct"
    normalised: ClassVar[bool] = False
    assumptions: ClassVar[frozenset[str]] = assumptions.POSITION_BASED | {assumptions.MODEL}
    weighting: ClassVar[None] = None
    model: str | Fitted
    draws: int = field(default=32, kw_only=True)

    def terms(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Terms:
        found = self.predicted(target)
        return Terms(found.clicks, found.known)
