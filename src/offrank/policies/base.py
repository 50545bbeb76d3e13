"""The interface of policies, which turn contexts into slates and their probabilities.

A policy sees `Contexts` only, so it cannot read clicks. It may not have every ability: one that
cannot answer raises `AbilityError`, and the error says which policies can. Abilities beyond those of `Policy` are
declared by a base class, never guessed from the name of a method.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Literal, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import AbilityError, UsageError
from ..log.batch import Contexts, Floats, Integers, LogBatch
from ..log.source import Needs, Source
from ..running.executors import Executor
from ..sums.fingerprint import Fingerprint
from . import _kernels
from .rank_law import RankLaw

Ability = Literal["sample", "log_prob", "slot_probs", "rank_probs", "pair_probs"]

_WANTED = {
    "sample": "draw slates",
    "log_prob": "give the probability of a slate",
    "slot_probs": "give the probability of each slot given the slots above it",
    "rank_probs": "give the probability of an item at a rank",
    "pair_probs": "give the joint probability of two items at two ranks",
}


class Policy(Protocol):
    """A policy: a probability law over slates, for every context."""

    def needs(self, ability: Ability) -> Needs:
        """The columns that this ability reads."""

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        """[n, k] candidate indices, -1 pads."""

    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        """[n] log-probability of each slate."""

    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        """[n, k] probability of each slot's item given the slots above; 1 on pads."""

    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        """[n, q, k] probability that candidate items[n, q] is at each rank; 0 on pads."""


class Fits(ABC):
    """A policy, or a reward model, that must be fitted to the log before use."""

    @abstractmethod
    def fit(self, source: Source, executor: Executor | None = None) -> Any:
        """The same, fitted to the log."""


class Trained(ABC):
    """A policy that was learnt from a log, and remembers of which rows."""

    @abstractmethod
    def learnt_rows(self) -> Fingerprint | None:
        """The fingerprint of the training rows; None where it is not known."""


class PairProbs(ABC):
    """A policy that computes its own pair probabilities."""

    @abstractmethod
    def pair_probs(self, contexts: Contexts) -> Floats:
        """[n, m, k, m, k] P(candidate a at rank j and candidate b at rank l); 0 on pads."""


class OrderGivenSet(ABC):
    """A policy that computes the law of the order of the displayed items."""

    @abstractmethod
    def order_given_set(self, contexts: Contexts, slates: Integers) -> Floats:
        """[n, k, k] probability of the item in slot i at rank j, given the displayed set; 0 on pads."""


class OwnRanks(ABC):
    """A policy that computes the probabilities of displayed items at their own ranks without those at other ranks."""

    @abstractmethod
    def own_ranks(self, contexts: Contexts, slates: Integers) -> Floats:
        """[n, k] probability of each slate's items at their ranks; 0 on pads."""


class StructuredRanks(ABC):
    """A policy that gives the law of the ranks of displayed items by its structure, without [n, k, k] numbers."""

    @abstractmethod
    def rank_law(self, contexts: Contexts, slates: Integers) -> RankLaw:
        """The probability of each slate's items at each rank."""


class Remembers(ABC):
    """A policy that may keep the laws of the last rows, where these take long."""

    @abstractmethod
    def remembering(self) -> Any:
        """The same policy, which keeps them."""


class Shuffles:
    """A policy by which all slates of the same candidates are equally likely."""


class ItemWeights(ABC):
    """A policy that draws items one after the other, with probability proportional to a weight."""

    @abstractmethod
    def log_weights(self, contexts: Contexts) -> Floats:
        """[n, m] log of the weight of each candidate; anything on pads."""


class BySlots:
    """A policy whose probability of a slate is the product of those of its slots, if `by_slots`, to all digits."""

    by_slots: bool = True


class RefusesRows(ABC):
    """A policy that is not known for some rows of a log."""

    @abstractmethod
    def refuse_unknown(self, batch: LogBatch) -> None:
        """Raise unless it is known for every row."""


class FillsSlots(ABC):
    """A policy that knows where it certainly shows a candidate in every slot."""

    @abstractmethod
    def fills_slots(self, contexts: Contexts) -> NDArray[np.bool_]:
        """[n] whether it does."""


class ShowsAll(ABC):
    """A policy that knows where it certainly may show every candidate at every rank."""

    @abstractmethod
    def shows_all(self, contexts: Contexts) -> NDArray[np.bool_]:
        """[n] whether no candidate has the probability 0 at a rank of the slate."""


def shuffles(policy: object) -> bool:
    """Whether all slates of the same candidates are equally likely."""
    return isinstance(policy, Shuffles)


def item_weights(policy: object, contexts: Contexts) -> Floats | None:
    """[n, m] log of the weights by which a policy draws items one after the other; None if it does not."""
    return policy.log_weights(contexts) if isinstance(policy, ItemWeights) else None


def order_where_known(policy: object, contexts: Contexts, slates: Integers) -> Floats | None:
    """[n, k, k] the order of the displayed items, as in `OrderGivenSet`; None if the policy does not compute it."""
    return policy.order_given_set(contexts, slates) if isinstance(policy, OrderGivenSet) else None


def slots_filled(policy: object, contexts: Contexts) -> NDArray[np.bool_] | None:
    """[n] whether a policy certainly shows a candidate in every slot; None if it does not know."""
    return policy.fills_slots(contexts) if isinstance(policy, FillsSlots) else None


def all_shown(policy: object, contexts: Contexts) -> NDArray[np.bool_]:
    """[n] whether a policy certainly may show every candidate at every rank."""
    return policy.shows_all(contexts) if isinstance(policy, ShowsAll) else np.zeros(len(contexts), np.bool_)


def all_items(contexts: Contexts) -> Integers:
    """[n, m] every candidate's index, -1 beyond a row's candidates."""
    index = np.arange(contexts.candidates.shape[1])
    return np.where(index < contexts.size[:, None], index, -1)


def put_rows(found: Floats, rows: Integers, values: Floats) -> None:
    """Write values [r, ...] into some rows of an array that may be wider."""
    place: Any = (rows, *map(slice, values.shape[1:]))
    found[place] = values


def log_product(probs: Floats) -> Floats:
    """[n] log of the product of each row [n, k]."""
    out = np.empty(len(probs))
    _kernels.log_products(probs, out)
    return out


def unable(policy: object, ability: Ability, remedy: str) -> NoReturn:
    """Raise the error for a missing ability, with the same wording everywhere."""
    raise AbilityError(f"{policy!r} cannot {_WANTED[ability]}", remedy)


def no_column(policy: object, column: object) -> UsageError:
    """The error for what cannot be the name of a column."""
    return UsageError(f"{policy!r}: {column!r} is not a column", "name a column of the log")
