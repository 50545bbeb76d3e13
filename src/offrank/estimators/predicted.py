"""What a click model expects of the slates of a policy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..clicks.documents import UNSEEN, Slots
from ..clicks.fitted import Fitted
from ..clicks.laws import ClickLaw, Independent, Mixed
from ..clicks.loading import load
from ..errors import UsageError
from ..log.batch import Contexts, Floats, LogBatch
from ..log.source import Needs
from ..policies.base import Policy, all_items
from ..policies.propensities import AnyPolicy, Propensities, law, law_needs
from ..policies.sorting import certain
from .lotteries import Lottery, lotteries

_NUMBERS = 2_000_000
"""At most so many numbers of one kind at a time, whatever the size of a batch."""


@dataclass(frozen=True)
class Predicted:
    """What is expected of what a policy shows.

    clicks: [n] per impression. known: [n] share of the items shown that were in the log that was learnt from.
    """

    clicks: Floats
    known: Floats


def model_of(given: str | Fitted) -> Fitted:
    """A fitted model, or the one that a file holds; a file is read once for all who ask.

    Raises:
        UsageError: no such file, or no click model in it.
    """
    if isinstance(given, Fitted):
        return given
    try:
        return _loaded(given, Path(given).stat().st_mtime_ns)
    except OSError:
        return load(given)  # says what is wrong


_loaded = lru_cache(maxsize=4)(lambda path, _: load(path))


def refuse_draws(draws: int) -> None:
    """Raise unless a whole number above zero.

    Raises:
        UsageError: it is none.
    """
    if not isinstance(draws, int) or draws < 1:  # type: ignore[redundant-expr]
        raise UsageError(f"draws is {draws!r}", "give a whole number of slates per row, such as 32")


def separable(fitted: Fitted) -> bool:
    """Whether a click depends on its own item and rank only: then rank probabilities say all of a policy."""
    one = Slots(np.full((1, 1), UNSEEN), np.ones((1, 1), np.bool_))
    return _separable(fitted.model.law(fitted.learnt.parameters, one))


def _separable(law: ClickLaw) -> bool:
    return isinstance(law, Independent) or (isinstance(law, Mixed) and all(map(_separable, law.laws)))


def needs(fitted: Fitted, policy: AnyPolicy) -> Needs:
    """The columns that `predicted` reads.

    Raises:
        AbilityError: the policy cannot say what it would show.
    """
    if separable(fitted):
        return fitted.needs() | law_needs(policy, "rank_probs")
    return fitted.needs() | law_needs(policy, "log_prob") | law_needs(policy, "sample")


def predicted_once(fitted: Fitted, target: Propensities, draws: int) -> Predicted:
    """As `predicted`, computed once for all estimators that ask."""
    policy = law(target.policy, "rank_probs")
    return target.batch.once(
        ("predicted", id(policy), fitted, draws), lambda: predicted(fitted, policy, target.batch, draws)
    )


def predicted(fitted: Fitted, policy: Policy, batch: LogBatch, draws: int) -> Predicted:
    """What the model expects of the slates of a policy.

    Exact for a policy that always shows the same slate, for models of clicks that depend on their own item and rank
    only (sum_d sum_k P(d at k) P(click on d at k)), and where there are few slates. Otherwise the mean over `draws`
    slates of each row; they depend on the row alone, whatever the batch.
    """
    contexts = batch.contexts
    if separable(fitted) and not certain(policy, contexts).all():
        return _by_rank(fitted, contexts, policy)
    return _average(fitted, contexts, lotteries(policy, batch, draws))


def _average(fitted: Fitted, contexts: Contexts, tickets: Iterable[Lottery]) -> Predicted:
    sums = np.zeros((3, len(contexts)))
    for one in tickets:
        slots = fitted.documents.slots(contexts.take(one.row), one.slates)
        law = fitted.model.law(fitted.learnt.parameters, slots)
        parts = (law.marginal(), slots.shown & (slots.document != UNSEEN), slots.shown)
        sums += [np.bincount(one.row, one.chance * part.sum(axis=1), len(contexts)) for part in parts]
    return Predicted(sums[0], _share(sums[1], sums[2]))


def _by_rank(fitted: Fitted, contexts: Contexts, policy: Policy) -> Predicted:
    parts = [_rank_block(fitted, contexts.take(rows), policy) for rows in _blocks(contexts)]
    clicks, known, shown = (np.concatenate([part[place] for part in parts]) for place in range(3))
    return Predicted(clicks, _share(known, shown))


def _rank_block(fitted: Fitted, contexts: Contexts, policy: Policy) -> tuple[Floats, Floats, Floats]:
    items, codes = all_items(contexts), fitted.documents.codes(contexts)
    chance = policy.rank_probs(contexts, items)
    n, m, k = chance.shape
    document = np.repeat(codes.reshape(n * m, 1), k, axis=1)
    slots = Slots(document, np.repeat(items.reshape(n * m, 1) >= 0, k, axis=1))
    click = fitted.model.law(fitted.learnt.parameters, slots).marginal().reshape(n, m, k)
    at_all = chance.sum(axis=2)
    return np.einsum("nmk,nmk->n", chance, click), (at_all * (codes != UNSEEN)).sum(axis=1), at_all.sum(axis=1)


def _blocks(contexts: Contexts) -> Iterator[NDArray[np.int64]]:
    """Rows, so many at a time that all their items at all ranks can be held at once."""
    step = max(1, _NUMBERS // max(1, contexts.candidates.shape[1] * contexts.slots))
    for first in range(0, len(contexts), step):
        yield np.arange(first, min(first + step, len(contexts)))


def _share(known: Floats, shown: Floats) -> Floats:
    """known / shown; 1 where nothing is shown, so that nothing is unknown."""
    return np.divide(known, shown, out=np.ones_like(shown), where=shown > 0)
