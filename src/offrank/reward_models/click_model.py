"""Predictions of a click model for the slates of a policy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar
from zlib import crc32

import numpy as np

from ..clicks.documents import UNSEEN, SlateDocuments
from ..clicks.fitted import Fitted
from ..clicks.laws import ClickLaw, Independent, Mixed
from ..clicks.model import load
from ..findings.row import ModelEvidence
from ..language import assumptions
from ..log.batch import Contexts, Floats, LogBatch
from ..log.source import Needs
from ..policies.base import Policy, all_items
from ..policies.propensities import Propensities
from ..sums.fingerprint import Fingerprint
from . import slates
from .base import Predicted, RewardModel
from .slates import NUMBERS, pieces, slate_laws

POSTERIOR_DRAWS = 12
"""Draws from a click model's posterior: their spread is its doubt, known to a fifth (hence Student's quantiles)."""


@dataclass(frozen=True)
class ClickPredictions(RewardModel):
    """The clicks that a fitted click model predicts; known items are those that its training log showed."""

    model: Fitted
    assumptions: ClassVar[frozenset[str]] = assumptions.CLICK_MODEL
    of_clicks: ClassVar[bool] = True
    of_slots: ClassVar[bool] = True

    @property
    def additive(self) -> bool:
        return separable(self.model)

    @property
    def evidence(self) -> ModelEvidence:
        return ModelEvidence(posterior=self.model.has_posterior, features=self.model.model.columns is not None)

    def draws(self) -> tuple[RewardModel, ...]:
        return tuple(map(ClickPredictions, posterior_draws(self.model)))

    def learnt_rows(self) -> Fingerprint | None:
        """The training sessions of the click model; None where its file does not record them."""
        return self.model.training

    def needs(self, target: Policy) -> Needs:
        asked = target.reads("rank_probs") if separable(self.model) else slates.slate_needs(target)
        return self.model.needs() | asked

    def logged(self, batch: LogBatch) -> Floats:
        return self.model.click_probs(batch.contexts, batch.slates)

    def expected(self, target: Propensities, draws: int) -> Predicted:
        return predicted(self.model, target.policy.law("rank_probs"), target.batch, draws)


def posterior_draws(model: Fitted, *salt: int) -> tuple[Fitted, ...]:
    """DRAWS draws from the posterior of a model; none if it has no posterior. salt: of models of alike data."""
    if not model.has_posterior:
        return ()
    # Not from the tables: learnt from the same log in another order, these differ in their last bits.
    key = crc32(f"{model!r} of {len(model.documents)} of {model.tally.impressions}".encode())
    return tuple(model.draw(np.random.default_rng([key, one, *salt])) for one in range(POSTERIOR_DRAWS))


def loaded(path: str) -> Fitted:
    """The click model in a file, which is read once.

    Raises:
        UsageError: no such file, or not a click model.
    """
    try:
        return _loaded(path, Path(path).stat().st_mtime_ns)
    except OSError:
        return load(path)  # raises the error


_loaded = lru_cache(maxsize=4)(lambda path, _: load(path))


def separable(fitted: Fitted) -> bool:
    """Whether a click depends only on its own item and rank, so that rank probabilities of a policy suffice."""
    one = SlateDocuments(np.full((1, 1), UNSEEN), np.ones((1, 1), np.bool_))
    return _separable(fitted.model.law(fitted.learnt.parameters, one))


def _separable(law: ClickLaw) -> bool:
    return isinstance(law, Independent) or (isinstance(law, Mixed) and all(map(_separable, law.laws)))


def predicted(fitted: Fitted, policy: Policy, batch: LogBatch, draws: int, *, numbers: int = NUMBERS) -> Predicted:
    """The model's predictions for the slates of a policy.

    Exact for a policy that always shows the same slate, for models in which clicks depend on their own item and rank
    only (sum_d sum_k P(d at k) P(click on d at k)), and where there are few slates. Otherwise the mean over `draws`
    slates of each row; they depend on the row alone, whatever the batch. numbers: held at a time.
    """
    contexts = batch.contexts
    if separable(fitted) and not policy.sure_slates(contexts)[0].all():
        blocks = pieces(np.arange(len(contexts)), contexts.candidates.shape[1] * contexts.slots, numbers)
        clicks, known, shown = np.hstack([_by_rank(fitted, contexts.take(rows), policy) for rows in blocks])
        return Predicted(clicks, _share(known, shown))
    sums = np.zeros((3, len(contexts)))
    for one in slate_laws(policy, batch, draws, numbers):
        slots = fitted.documents.slots(contexts.take(one.row), one.slates)
        law = fitted.law(contexts.take(one.row), one.slates)
        parts = (law.marginal(), slots.shown & (slots.document != UNSEEN), slots.shown)
        sums += [np.bincount(one.row, one.chance * part.sum(axis=1), len(contexts)) for part in parts]
    return Predicted(sums[0], _share(sums[1], sums[2]))


def _by_rank(fitted: Fitted, contexts: Contexts, policy: Policy) -> Floats:
    """[3, n] expected clicks, known items, and items."""
    chance, click = by_rank(fitted, policy, contexts)
    at_all, codes = chance.sum(axis=2), fitted.documents.codes(contexts)
    clicks = np.einsum("nmk,nmk->n", chance, click)
    return np.stack([clicks, (at_all * (codes != UNSEEN)).sum(axis=1), at_all.sum(axis=1)])


def by_rank(fitted: Fitted, policy: Policy, contexts: Contexts) -> tuple[Floats, Floats]:
    """[n, m, k] P(candidate at rank) by the policy, and P(click there) by a model that is `separable`."""
    items, codes = all_items(contexts), fitted.documents.codes(contexts)
    chance = policy.rank_probs(contexts, items)
    n, m, k = chance.shape
    tables, document = fitted.tables(contexts, items, codes)
    document = np.repeat(document.reshape(n * m, 1), k, axis=1)
    rows = fitted.context_rows(contexts)
    shown = np.repeat(items.reshape(n * m, 1) >= 0, k, axis=1)
    slots = SlateDocuments(document, shown, None if rows is None else np.repeat(rows, m))
    return chance, fitted.model.law(tables, slots).marginal().reshape(n, m, k)


def _share(known: Floats, shown: Floats) -> Floats:
    """known / shown; 1 where nothing is shown."""
    return np.divide(known, shown, out=np.ones_like(shown), where=shown > 0)
