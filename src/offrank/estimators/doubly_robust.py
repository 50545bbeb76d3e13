"""Doubly robust: the prediction of a click model plus a weighted correction from the log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ..clicks.fitted import Fitted
from ..errors import UsageError
from ..log.batch import LogBatch
from ..policies.propensities import Propensities
from .base import Terms, Weighted, forwarded
from .family import InterpolWindows
from .ips import IPS
from .predicted import ModelBased


@dataclass(frozen=True, repr=False)
class DoublyRobust(ModelBased):
    """direct(model) + sum of weight * (click - click predicted by the model), with the weights of `residual`.

    With whole slates (ips) unbiased if the propensities are right or the model is (Dudik, Langford and Li 2011). With
    weights of items (ipm, rips, interpol) if the model is right; or if the propensities are, and clicks *and model*
    are as the weighting assumes. With rips it is the cascade doubly robust estimator of Kiyohara et al. 2022: where its
    value of a prefix is the model's clicks there plus those the target adds, its sum telescopes to this.

    - model: a fitted click model, or the file that it was saved to; learnt from another log.
    - draws: as in `direct`.
    """

    name: ClassVar[str] = "dr"
    requires_logging = forwarded("residual", "requires_logging")
    requires_target = forwarded("residual", "requires_target")
    normalised = forwarded("residual", "normalised")
    assumptions = forwarded("residual", "assumptions")
    model: str | Fitted
    residual: Weighted = field(default=IPS(), kw_only=True)
    draws: int = field(default=32, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.residual, InterpolWindows) or not isinstance(self.residual, Weighted):
            raise UsageError(
                f"residual is {self.residual!r}, which is no single weighting",
                "give one such as ips, ipm, rips, interpol(window=1) or clip(ips, 100)",
            )

    @property
    def weighting(self) -> Weighted:
        return self.residual

    def with_examination(self, examination: Sequence[float] | None) -> DoublyRobust:
        return replace(self, residual=self.residual.with_examination(examination))

    def members(self, examination: Sequence[float] | None) -> tuple[DoublyRobust, ...]:
        every: tuple[Any, ...] = self.residual.members(examination)
        return tuple(replace(self, residual=one) for one in every)

    def terms(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Terms:
        assert batch.clicks is not None
        expected = batch.once(("logged", self.fitted), lambda: self.fitted.click_probs(batch.contexts, batch.slates))
        missed = self.residual.terms(replace(batch, clicks=batch.clicks - expected, outcome=None), logging, target)
        return replace(missed, value=self.predicted(target).clicks + missed.value)
