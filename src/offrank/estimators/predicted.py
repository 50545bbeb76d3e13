"""Predictions of a click model for the slates of a policy, which are enumerated where few and sampled where many."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import permutations
from pathlib import Path

import numpy as np

from ..clicks.documents import UNSEEN, SlateDocuments
from ..clicks.fitted import Fitted
from ..clicks.laws import ClickLaw, Independent, Mixed
from ..clicks.loading import load
from ..errors import UsageError
from ..folds.fingerprint import Fingerprint
from ..log.batch import Contexts, Floats, Integers, LogBatch
from ..log.source import Needs
from ..policies.base import Policy, all_items
from ..policies.propensities import AnyPolicy, Propensities, law, law_needs
from ..policies.sorting import Sorting, certain, shown_slates
from .base import Estimator

NUMBERS = 2_000_000
"""Largest number of entries of one kind at a time, whatever the size of a batch."""
_FEW = 120
"""A policy with at most this many possible slates is averaged over all of them."""


@dataclass(frozen=True)
class Predicted:
    """Predictions for the slates of a policy.

    clicks: [n] per impression. known: [n] share of the shown items that were in the training log.
    """

    clicks: Floats
    known: Floats


class ModelBased(Estimator):
    """An estimator that predicts the clicks on the target's slates by a click model.

    Where nothing is weighted, the weight of its terms is the share of the target's items that the model knows.
    """

    model: str | Fitted
    draws: int

    def __post_init__(self) -> None:
        if not isinstance(self.draws, int) or self.draws < 1:  # type: ignore[redundant-expr]
            raise UsageError(f"draws is {self.draws!r}", "give a whole number of slates per row, such as 32")

    @cached_property
    def fitted(self) -> Fitted:
        """The model, read on first use; a file is read only once.

        Raises:
            UsageError: no such file, or not a click model.
        """
        if isinstance(self.model, Fitted):
            return self.model
        try:
            return _loaded(self.model, Path(self.model).stat().st_mtime_ns)
        except OSError:
            return load(self.model)  # raises the error

    def learnt_rows(self) -> Fingerprint | None:
        """The training sessions of the click model; None where its file does not record them."""
        return self.fitted.training

    def needs(self, target: AnyPolicy) -> Needs:
        needed = self.fitted.needs()
        if separable(self.fitted):
            return needed | law_needs(target, "rank_probs")
        return needed | law_needs(target, "log_prob") | law_needs(target, "sample")

    def predicted(self, target: Propensities) -> Predicted:
        """The model's predictions for a target in the rows of a batch, computed once for all estimators."""
        policy = law(target.policy, "rank_probs")
        return target.batch.once(
            ("predicted", id(policy), self.fitted, self.draws),
            lambda: predicted(self.fitted, policy, target.batch, self.draws),
        )


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
    if separable(fitted) and not certain(policy, contexts).all():
        blocks = _pieces(np.arange(len(contexts)), contexts.candidates.shape[1] * contexts.slots, numbers)
        clicks, known, shown = np.hstack([_by_rank(fitted, contexts.take(rows), policy) for rows in blocks])
        return Predicted(clicks, _share(known, shown))
    sums = np.zeros((3, len(contexts)))
    for one in slate_laws(policy, batch, draws, numbers):
        slots = fitted.documents.slots(contexts.take(one.row), one.slates)
        law = fitted.model.law(fitted.learnt.parameters, slots)
        parts = (law.marginal(), slots.shown & (slots.document != UNSEEN), slots.shown)
        sums += [np.bincount(one.row, one.chance * part.sum(axis=1), len(contexts)) for part in parts]
    return Predicted(sums[0], _share(sums[1], sums[2]))


def _by_rank(fitted: Fitted, contexts: Contexts, policy: Policy) -> Floats:
    """[3, n] expected clicks, known items, and items."""
    items, codes = all_items(contexts), fitted.documents.codes(contexts)
    chance = policy.rank_probs(contexts, items)
    n, m, k = chance.shape
    document = np.repeat(codes.reshape(n * m, 1), k, axis=1)
    slots = SlateDocuments(document, np.repeat(items.reshape(n * m, 1) >= 0, k, axis=1))
    click = fitted.model.law(fitted.learnt.parameters, slots).marginal().reshape(n, m, k)
    at_all = chance.sum(axis=2)
    clicks = np.einsum("nmk,nmk->n", chance, click)
    return np.stack([clicks, (at_all * (codes != UNSEEN)).sum(axis=1), at_all.sum(axis=1)])


def _share(known: Floats, shown: Floats) -> Floats:
    """known / shown; 1 where nothing is shown."""
    return np.divide(known, shown, out=np.ones_like(shown), where=shown > 0)


@dataclass(frozen=True)
class SlateLaw:
    """Slates of some rows of a batch: row [s], slates [s, k] and probability chance [s], summing to 1 per row."""

    row: Integers
    slates: Integers
    chance: Floats


def slate_laws(policy: Policy, batch: LogBatch, draws: int, numbers: int = NUMBERS) -> Iterator[SlateLaw]:
    """The slates of a policy: all of them where they are few, else `draws` per row, keyed by the row alone."""
    contexts, sure = batch.contexts, certain(policy, batch.contexts)
    if sure.any():
        assert isinstance(policy, Sorting)
        rows = np.flatnonzero(sure)
        yield SlateLaw(rows, shown_slates(policy, contexts.take(rows)), np.ones(len(rows)))
    for size, length in np.unique(np.stack([contexts.size, contexts.length], axis=1), axis=0).tolist():
        rows = np.flatnonzero((contexts.size == size) & (contexts.length == length) & ~sure)
        count = math.perm(size, length)
        every = None if count > _FEW else np.array(list(permutations(range(size), length)))
        slates = draws if every is None else count
        for some in _pieces(rows, slates * contexts.candidates.shape[1], numbers):
            yield _drawn(policy, batch, some, draws) if every is None else _enumerated(policy, contexts, some, every)


def _enumerated(policy: Policy, contexts: Contexts, rows: Integers, slates: Integers) -> SlateLaw:
    row, every = np.repeat(rows, len(slates)), np.tile(slates, (len(rows), 1))
    chance = np.exp(policy.log_prob(contexts.take(row), every))
    return SlateLaw(row[chance > 0], every[chance > 0], chance[chance > 0])


def _drawn(policy: Policy, batch: LogBatch, rows: Integers, draws: int) -> SlateLaw:
    found = [
        policy.sample(batch.contexts.take(np.full(draws, row)), np.random.default_rng(int(batch.row[row])))
        for row in rows.tolist()
    ]
    return SlateLaw(np.repeat(rows, draws), np.concatenate(found), np.full(draws * len(rows), 1 / draws))


def _pieces(rows: Integers, each: int, numbers: int) -> Iterator[Integers]:
    """The rows in pieces of at most `numbers` entries, `each` per row."""
    step = max(1, numbers // max(1, each))
    return (rows[first : first + step] for first in range(0, len(rows), step))
