"""The direct method: what a click model expects of the target's slates."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from ..clicks.fitted import Fitted
from ..findings import assumptions
from ..folds.fingerprint import Fingerprint
from ..log.batch import LogBatch
from ..log.source import Needs
from ..policies.propensities import AnyPolicy, Propensities
from .base import Predicting, Terms
from .predicted import model_of, needs, predicted_once, refuse_draws


@dataclass(frozen=True, repr=False)
class Direct(Predicting):
    """Mean over the logged contexts of the clicks that a model expects of the target's slate; no click is looked at.

    Right if the model is. The interval tells how contexts differ, not how wrong the model may be.

    - model: a fitted click model, or the file that it was saved to.
    - draws: slates per row of a target that draws, where the model is of clicks that depend on more than their own
      item and rank, and the slates are too many to be written out (over 120).
    """

    name: ClassVar[str] = "direct"
    normalised: ClassVar[bool] = False
    assumes: ClassVar[frozenset[str]] = assumptions.POSITION_BASED | {assumptions.MODEL}
    weighting: ClassVar[None] = None
    model: str | Fitted
    draws: int = field(default=32, kw_only=True)

    def __post_init__(self) -> None:
        refuse_draws(self.draws)

    @cached_property
    def fitted(self) -> Fitted:
        """The model, read on first use."""
        return model_of(self.model)

    def learnt_rows(self) -> Fingerprint | None:
        return self.fitted.training

    def needs(self, target: AnyPolicy) -> Needs:
        return needs(self.fitted, target)

    def terms(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Terms:
        found = predicted_once(self.fitted, target, self.draws)
        return Terms(found.clicks, found.known)
