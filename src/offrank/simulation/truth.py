"""True value of a policy in a world: expected clicks per session, exact if possible."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..clicks.laws import Cascading, ClickLaw, Independent, Mixed, Upward
from ..language.formatting import with_error
from ..log.batch import Contexts, Floats, Integers
from ..policies.base import Policy, all_items
from . import _kernels
from .users import User

_MOST_SLATES = 1_000_000
_DRAWN_SLATES = 100_000
_FEWEST_DRAWS = 8
_BLOCK = 20_000
_MOST_DOCUMENTS = 13  # documents in sets: the time doubles with each


@dataclass(frozen=True)
class Truth:
    """Expected clicks per session.

    Parameters:
        value: expected clicks per session.
        standard_error: from drawn slates, 0 if none were drawn.
        how: "rank probabilities" (clicks are independent), "one slate per query", "sets of documents" (users read
            one by one), "every slate", or "drawn slates", each of which counts by its exact expectation of clicks.

    Examples:
        >>> offrank.simulation.Truth(0.5, 0.0, "exact").value
        0.5
    """

    value: float
    standard_error: float
    how: str

    @property
    def exact(self) -> bool:
        """Whether no slates were drawn."""
        return self.how != "drawn slates"

    @property
    def said(self) -> str:
        """The value in words: with four digits if it is exact, else to the precision of its standard error."""
        return f"{self.value:#.4g}" if self.exact else with_error(self.value, self.standard_error)[0]

    def __str__(self) -> str:
        return (
            f"{self.said}, exactly" if self.exact else "{} +- {}".format(*with_error(self.value, self.standard_error))
        )


def truth(user: User, contexts: Contexts, policy: Policy, draws: int | None = None, seed: int = 0) -> Truth:
    """Return expected clicks of a policy if these contexts, of equal length and width, are equally frequent.

    draws: slates per context, if they must be drawn; by default some 100,000 in all.
    """
    chance = independent_chance(user, contexts)
    if chance is not None:
        law = policy.rank_probs(contexts, all_items(contexts))
        return Truth(float(np.einsum("qmk,qmk->", law, chance)) / len(contexts), 0.0, "rank probabilities")
    if policy.sure_slates(contexts)[0].all():
        return Truth(float(_of_slates(user, contexts, policy, 1, seed).mean()), 0.0, "one slate per query")
    summed = sequential_clicks(user, contexts, policy)
    if summed is not None:
        return Truth(float(summed.mean()), 0.0, "sets of documents")
    if math.perm(contexts.candidates.shape[1], contexts.slots) * len(contexts) <= _MOST_SLATES:
        return Truth(_enumerated(user, contexts, policy), 0.0, "every slate")
    draws = max(draws or _DRAWN_SLATES // len(contexts), _FEWEST_DRAWS)
    clicks = _of_slates(user, contexts, policy, draws, seed)
    # These are all contexts, so only slates within a context vary.
    error = math.sqrt(float(clicks.var(axis=1, ddof=1).mean()) / clicks.size)
    return Truth(float(clicks.mean()), error, "drawn slates")


def independent_chance(user: User, contexts: Contexts) -> Floats | None:
    """Return P(click on a candidate at a rank) [q, m, k]; None if clicks depend on the other shown items."""
    out = np.zeros((*contexts.candidates.shape, contexts.slots))
    for slate, law in _every_place(user, contexts):
        if not isinstance(law, Independent):
            return None
        out[:, slate, np.arange(contexts.slots)] = law.chance
    return out


def _every_place(user: User, contexts: Contexts) -> Iterator[tuple[Integers, ClickLaw]]:
    """Yield (slate [k], law) for each cyclic shift, so that every item is once at every rank."""
    m = contexts.candidates.shape[1]
    for shift in range(m):
        slate = (np.arange(contexts.slots) + shift) % m
        yield slate, user.law(contexts, np.tile(slate, (len(contexts), 1)))


def _of_slates(user: User, contexts: Contexts, policy: Policy, draws: int, seed: int) -> Floats:
    """Return the expected clicks of slates that the policy draws [q, draws]."""
    out, rng = np.empty((len(contexts), draws)), np.random.default_rng([seed, 2])
    step = max(_BLOCK // draws, 1)
    for first in range(0, len(contexts), step):
        rows = np.arange(first, min(first + step, len(contexts)))
        many = contexts.take(np.repeat(rows, draws))
        worth = user.law(many, policy.sample(many, rng)).marginal().sum(axis=1)
        out[rows] = worth.reshape(len(rows), draws)
    return out


def _enumerated(user: User, contexts: Contexts, policy: Policy) -> float:
    total = 0.0
    for slate in itertools.permutations(range(contexts.candidates.shape[1]), contexts.slots):
        slates = np.tile(np.array(slate), (len(contexts), 1))
        worth = user.law(contexts, slates).marginal().sum(axis=1)
        total += float(worth @ np.exp(policy.log_prob(contexts, slates)))
    return total / len(contexts)


@dataclass(frozen=True)
class SequentialReader:
    """A share of the users. attraction, passing: [q, m] of each document, at any rank."""

    share: float
    attraction: Floats
    passing: Floats
    upward: bool


def sequential_clicks(user: User, contexts: Contexts, policy: Policy) -> Floats | None:
    """Return expected clicks [q]; None if they cannot be summed over sets of documents.

    That requires Plackett-Luce or uniform rankings of not too many documents, users who read from the top, or from the
    bottom of all documents, and documents whose parameters are the same at every rank.
    """
    logs = _log_weights(policy, contexts)
    readers = None if logs is None or contexts.candidates.shape[1] > _MOST_DOCUMENTS else _readers(user, contexts)
    if logs is None or readers is None:
        return None
    total = np.zeros(len(contexts))
    for reader in readers:
        arrays = np.ascontiguousarray(logs), reader.attraction, reader.passing
        total += reader.share * _kernels.cascade_worth(*arrays, contexts.slots, reader.upward)
    return total


def _log_weights(policy: Policy, contexts: Contexts) -> Floats | None:
    return np.zeros(contexts.candidates.shape) if policy.shuffles else policy.log_weights(contexts)


def _readers(user: User, contexts: Contexts) -> list[SequentialReader] | None:
    """Derive the readers from the users' laws with every document at every rank."""
    shape = contexts.candidates.shape
    found: dict[tuple[int, float, bool], list[list[Floats]]] = defaultdict(list)
    for slate, whole in _every_place(user, contexts):
        parts = _parts(whole)
        if parts is None or (len(slate) < shape[1] and any(isinstance(law, Upward) for _, law in parts)):
            return None
        for index, (share, law) in enumerate(parts):
            passing = law.attraction * law.after_click + (1 - law.attraction) * law.after_skip
            columns = [np.full(shape, np.nan) for _ in range(2)]
            columns[0][:, slate], columns[1][:, slate] = law.attraction, passing
            found[index, share, isinstance(law, Upward)].append(columns)
    readers = []
    for (_, share, upward), columns_of in found.items():
        each = np.array(columns_of)  # [shifts, 2, q, m]
        lowest, highest = np.nanmin(each, axis=0), np.nanmax(each, axis=0)
        if not np.array_equal(lowest, highest):
            return None
        readers.append(SequentialReader(share, lowest[0], lowest[1], upward))
    return readers


def _parts(law: ClickLaw) -> list[tuple[float, Cascading | Upward]] | None:
    """Return (share, law) of the sequential readers; None if some users are not."""
    if isinstance(law, Cascading | Upward):
        return [(1.0, law)]
    if not isinstance(law, Mixed) or np.ndim(law.weight) != 1:
        return None
    parts = [(float(share), one) for share, one in zip(law.weight, law.laws, strict=True)]
    known = [(share, one) for share, one in parts if isinstance(one, Cascading | Upward)]
    return known if len(known) == len(parts) else None
