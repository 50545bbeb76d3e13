"""Clicks weighted by a click model: how likely the target gets an item clicked, over how likely it was as shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np

from ..clicks.fitted import Fitted
from ..clicks.model import CLICK_MODELS, ClickModel, CountModel
from ..errors import UsageError
from ..findings.row import EstimatorKind, ModelEvidence
from ..language.assumptions import clicks_as
from ..language.spelling import File
from ..log.batch import Floats, Integers, LogBatch
from ..log.source import Needs
from ..policies.base import Policy
from ..policies.propensities import Propensities
from ..reward_models.click_halves import ClickHalves
from ..reward_models.click_model import loaded, posterior_draws, separable
from ..reward_models.item_clicks import item_click_needs, item_clicks
from .base import Weighted, Weights
from .registry import ESTIMATORS

Form = Literal["shown", "logging"]

_LARGEST = 1e6
"""Of a weight, and so of the doubt of a model that hardly knows whether a rank is looked at."""


@ESTIMATORS.register
@dataclass(frozen=True, repr=False)
class ClickWeights(Weighted):
    """w = P(click on the item | target) / P(click on it | what was shown), both by a click model.

    The attraction of an item cancels in most models; what is left is how likely it is seen. Needs no randomness: a
    log of sorted rankings will do. Unbiased where users click as the model says, and the slates hold every item
    that the target would show; the share of the target's clicks for which that holds is the mean weight. With
    `pbm` it is the estimator `pbm`, by the curve that the model has learnt.

    - model: a kind of click model (`pbm`, `dbn`), which is learnt from each half of the log and
      weighs the other; or a fitted one, or its file, which must be learnt from another log. Its own doubt, by draws
      from its posterior, is in the interval.
    - form: "shown" divides by P(click | the shown slate); "logging" by its mean over the slates of the logging
      policy: in an A/B test, items that only one of the rankers shows are then not missed.
    - draws: slates per row of a stochastic target, as in `direct`.

    Raises:
        UsageError: no click model, or no such form.

    Examples:
        >>> offrank.estimators.estimator("clip(weights(dbn), 10)")
        clip(weights(dbn), 10)
    """

    name: ClassVar[str] = "weights"
    argument_kinds: ClassVar[Mapping[str, Any]] = {"model": (CLICK_MODELS, "click model")}
    normalised: ClassVar[bool] = False
    model: File | Fitted | ClickModel | ClickHalves
    form: Form = field(default="shown", kw_only=True)
    draws: int = field(default=32, kw_only=True)

    def __post_init__(self) -> None:
        if isinstance(self.model, ClickModel):
            object.__setattr__(self, "model", ClickHalves(self.model))
        if not isinstance(self.model, str | Fitted | ClickHalves):
            raise UsageError(
                f"{self.model!r} is not a click model",
                "name one, such as weights(dbn), or give a fitted one or its file: weights('dbn.json')",
            )
        if self.form not in get_args(Form):
            raise UsageError(f"form is {self.form!r}", "use shown or logging")
        if not isinstance(self.draws, int) or self.draws < 1:  # type: ignore[redundant-expr]
            raise UsageError(f"draws is {self.draws!r}", "give a whole number of slates per row, such as 32")

    @cached_property
    def kind(self) -> EstimatorKind:
        if isinstance(self.model, ClickHalves):  # no row is weighed by what was learnt from it
            model: Any = self.model.model
            said, learnt = repr(self.model), None
            assumes = clicks_as(repr(model), own_item=isinstance(model, CountModel) and not model.browsing)
        else:
            said, learnt = repr(self._fitted), self._fitted.training
            assumes = clicks_as(repr(self._fitted.model), own_item=separable(self._fitted))
        posterior = any(one.has_posterior for one in self._models)
        return EstimatorKind(
            logging="log_prob" if self.form == "logging" else None,
            assumes=assumes,
            weighs="items",
            model=ModelEvidence(name=f"`{said}`", posterior=posterior),
            learnt=learnt,
        )

    @cached_property
    def drawn(self) -> tuple[Self, ...]:
        each = [posterior_draws(one, half) for half, one in enumerate(self._models)]
        if isinstance(self.model, ClickHalves):
            halves = self.model
            return tuple(replace(self, model=replace(halves, learnt=both)) for both in zip(*each, strict=True))
        return tuple(replace(self, model=one) for some in each for one in some)

    def needs(self, target: Policy) -> Needs:
        own = self.model.needs() if isinstance(self.model, ClickHalves) else Needs()
        return own | item_click_needs(self._models[0], target)

    def weigh(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Weights:
        weight, control = np.zeros(batch.slates.shape), np.zeros(batch.slates.shape)
        every = self.model.keyed(batch) if isinstance(self.model, ClickHalves) else batch
        for rows, fitted in self._parts(batch):
            here = every if len(rows) == len(batch) else every.take(rows)
            wanted = item_clicks(fitted, target.policy, here, self.draws)
            shown = fitted.click_probs(here.contexts, here.slates)
            found = _on_items(shown, here)
            if self.form == "logging":
                found = item_clicks(fitted, logging.policy, here, None)
                shown = _on_slots(found, here)
            weight[rows, : shown.shape[1]] = _ratio(_on_slots(wanted, here), shown)
            total = wanted.sum(axis=1)
            covered = np.where(total > 0, _ratio((wanted * (found > 0)).sum(axis=1), total), 1.0)
            control[rows, : shown.shape[1]] = covered[:, None] * (here.slates >= 0)
        return Weights(weight, control)

    def _parts(self, batch: LogBatch) -> Iterator[tuple[Integers, Fitted]]:
        """The rows of a batch, and the model that weighs them."""
        if isinstance(self.model, ClickHalves):
            return self.model.parts(batch)
        return iter([(np.arange(len(batch)), self._fitted)])

    @property
    def _models(self) -> tuple[Fitted, ...]:
        """The models, none before they are learnt."""
        return self.model.learnt if isinstance(self.model, ClickHalves) else (self._fitted,)

    @property
    def _fitted(self) -> Fitted:
        """The fitted model that was given, or read from its file, which is read only once."""
        assert not isinstance(self.model, ClickHalves | ClickModel)
        return loaded(self.model) if isinstance(self.model, str) else self.model


def _on_items(clicks: Floats, batch: LogBatch) -> Floats:
    """[n, m] what stands in slots [n, k], by candidate; 0 where it is not shown."""
    found = np.zeros(batch.contexts.candidates.shape)
    row, slot = np.nonzero(batch.slates >= 0)
    found[row, batch.slates[row, slot]] = clicks[row, slot]
    return found


def _on_slots(clicks: Floats, batch: LogBatch) -> Floats:
    """[n, k] of candidates [n, m], those of the shown ones; 0 on pads."""
    found = np.take_along_axis(clicks, np.maximum(batch.slates, 0), axis=1)
    return np.where(batch.slates >= 0, found, 0.0)


def _ratio(above: Floats, below: Floats) -> Floats:
    """above / below, at most `_LARGEST`; 0 where both, or the second, are 0."""
    found = np.divide(above, np.maximum(below, above / _LARGEST), out=np.zeros_like(above), where=below > 0)
    return np.asarray(found)
