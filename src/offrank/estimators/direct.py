"""The direct method: what a click model expects of the target's slates."""

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
    """Mean over the logged contexts of the clicks that a model expects of the target's slate; no click is looked at.

    Right if the model is. The interval tells how contexts differ, not how wrong the model may be.

    - model: a fitted click model, or the file that it was saved to.
    - draws: slates per row of a target that draws, where the model is of clicks that depend on more than their own
      item and rank, and the slates are too many to be written out (over 120).
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
