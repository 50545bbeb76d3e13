"""The clicks that a click model expects on each candidate, under the slates of a policy."""

from __future__ import annotations

import math

import numpy as np

from ..clicks.fitted import Fitted
from ..errors import AbilityError
from ..log.batch import Contexts, Floats, LogBatch
from ..log.source import Needs
from ..policies.base import Policy
from . import slates
from .click_model import by_rank, separable
from .slates import FEW_SLATES, NUMBERS, pieces, slate_laws


def item_click_needs(fitted: Fitted, policy: Policy) -> Needs:
    """The columns to read.

    Raises:
        AbilityError: the policy lacks an ability that the expectation requires.
    """
    asked = policy.reads("rank_probs") if separable(fitted) else slates.slate_needs(policy)
    return fitted.needs() | asked


def item_clicks(fitted: Fitted, policy: Policy, batch: LogBatch, draws: int | None) -> Floats:
    """[n, m] P(click on each candidate) under the slates of a policy, by the model; 0 beyond a row's candidates.

    Exact for policies that sort, for mixtures of such, for models in which clicks depend on their own item and rank
    only, and where there are few slates. Otherwise the mean over `draws` slates of each row; None: refused.

    Raises:
        AbilityError: draws is None, and there are too many slates to enumerate.
    """
    return policy.expected(batch.contexts, lambda part: _of_one(fitted, part, batch, draws))


def _of_one(fitted: Fitted, policy: Policy, batch: LogBatch, draws: int | None) -> Floats:
    """As `item_clicks`, of a policy that mixes no others."""
    contexts = batch.contexts
    if separable(fitted):
        return _by_rank(fitted, policy.law("rank_probs"), contexts)
    known = policy.law("log_prob")
    if draws is None and not known.sure_slates(contexts)[0].all() and _many(contexts):
        raise AbilityError(
            f"{policy!r} can show more slates than can be enumerated, and {fitted!r} depends on the slate",
            "use a click model by rank (pbm, trust), or a logging policy that sorts, or a mixture of such",
        )
    n, m = contexts.candidates.shape
    found = np.zeros(n * m)
    for one in slate_laws(known, batch, draws):
        click = one.chance[:, None] * fitted.law(contexts.take(one.row), one.slates).marginal()
        s, k = np.nonzero(one.slates >= 0)
        found += np.bincount(one.row[s] * m + one.slates[s, k], click[s, k], n * m)
    return found.reshape(n, m)


def _many(contexts: Contexts) -> bool:
    """Whether any row has more slates than can be enumerated."""
    sizes = np.unique(np.stack([contexts.size, contexts.length], axis=1), axis=0).tolist()
    return any(math.perm(size, length) > FEW_SLATES for size, length in sizes)


def _by_rank(fitted: Fitted, policy: Policy, contexts: Contexts) -> Floats:
    """[n, m] as `item_clicks`, of a model in which clicks depend on their own item and rank only."""
    found = np.zeros(contexts.candidates.shape)
    for rows in pieces(np.arange(len(contexts)), contexts.candidates.shape[1] * contexts.slots, NUMBERS):
        chance, click = by_rank(fitted, policy, contexts.take(rows))
        found[rows] = np.einsum("nmk,nmk->nm", chance, click)
    return found
