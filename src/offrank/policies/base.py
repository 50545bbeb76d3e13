"""The interface of policies, which turn contexts into slates and their probabilities.

A policy sees `Contexts` only, so it cannot read clicks. One of your own derives from `Policy`, says which columns it
reads, and gives those laws that it has: any other is refused when it is asked for, with an error that says which
policies can. Nobody asks a policy for its class: what it is, or knows of itself, are methods too, with defaults.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from operator import or_
from typing import Any, ClassVar, NoReturn, TypeGuard, final, get_args

import numpy as np

from ..errors import AbilityError, UsageError
from ..log.batch import Booleans, Contexts, Floats, Integers, LogBatch
from ..log.source import Ability, Needs, ShownAbility, Source
from ..running.executors import Executor
from ..sums.fingerprint import Fingerprint
from . import _kernels
from .rank_law import RankLaw

_WANTED = {
    "sample": "draw slates",
    "log_prob": "give the probability of a slate",
    "slot_probs": "give the probability of each slot given the slots above it",
    "rank_law": "give the probability of an item at a rank",
    "rank_probs": "give the probability of an item at a rank",
    "pair_probs": "give the joint probability of two items at two ranks",
}
_ABLE = {
    "pair_probs": "plackett_luce(scores), thompson(...), noisy(...), uniform, top(scores), ranking(column) and "
    "interleaved(...) can, and so can epsilon(...), swaps(...) and mixture(...) of these; if each slot was drawn "
    "independently, use pi(slots=independent)"
}


class Policy(ABC):
    """A policy: a probability law over slates, for every context."""

    shuffles: ClassVar[bool] = False
    """Whether all slates of the same candidates are equally likely."""
    always_sorts: ClassVar[bool] = False
    """Whether it always shows its candidates in a fixed order, but for ties."""
    draws_items: ClassVar[bool] = False
    """Whether it draws items one after the other, with probability proportional to `log_weights`."""
    written: ClassVar[bool] = False
    """Whether it is known by probabilities that were written in the log."""
    logged: ClassVar[bool] = False
    """Whether it is the one that drew the log, known by the propensities of the log alone."""
    by_slots: bool = False
    """Whether its probability of a slate is the product of those of its slots, to all digits."""
    departure: float | None = None
    """Of an unconfirmed policy, the smallest share of rows with another law that the log would have shown."""
    ascending: bool = False
    """Whether it sorts the lowest score first."""
    rankers: Any = None
    """The `By`, a class below this one, of the rankers that served the rows, where a column tells them apart."""
    merges: tuple[Policy, ...] = ()
    """The sorted rankings that it merges into one list, so that clicks on either's items compare them."""
    designed_shares: Mapping[str, float] | None = None
    """The share of each of its `rankers`, where these were said."""
    counted_by: str | None = None
    """The column by whose values it was counted in the log."""

    @abstractmethod
    def reads(self, ability: Ability) -> Needs:
        """The columns that this ability reads.

        Raises:
            AbilityError: it lacks the ability.
        """

    # Laws of any slate.

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        """[n, k] candidate indices, -1 pads."""
        self.refuse("sample")

    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        """[n, k] probability of each slot's item given the slots above; 1 on pads."""
        self.refuse("slot_probs")

    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        """[n] log-probability of each slate; by default the product of its slots."""
        return _kernels.log_product(self.slot_probs(contexts, slates))

    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        """[n, q, k] probability that candidate items[n, q] is at each rank; 0 on pads."""
        self.refuse("rank_probs")

    def pair_probs(self, contexts: Contexts) -> Floats:
        """[n, m, k, m, k] P(candidate a at rank i and candidate b at rank j); the diagonal holds the marginals."""
        self.refuse("pair_probs")

    def credit(self, contexts: Contexts, slates: Integers, clicks: Floats) -> Floats | None:
        """[n, 2 k + 1] the law of the clicked items of one merged ranking less the other's, given the list; or None."""
        return None

    def order_given_set(self, contexts: Contexts, slates: Integers) -> Floats | None:
        """[n, k, k] probability of the item in slot i at rank j, given the set shown; None if it is not computed."""
        return None

    # Laws of the slates shown in a batch: by default those of any slate. `Propensities` asks for each once.

    def shown_slate(self, batch: LogBatch) -> Floats:
        """[n] log-probability of each shown slate."""
        return self.log_prob(batch.contexts, batch.slates)

    def shown_slots(self, batch: LogBatch) -> Floats:
        """[n, k] probability of each shown slot given the slots above; 1 on pads."""
        return self.slot_probs(batch.contexts, batch.slates)

    def shown_ranks(self, batch: LogBatch) -> RankLaw | None:
        """The probability of each shown item at each rank, where that takes less than `rank_probs`; else None."""
        return None

    def own_ranks(self, batch: LogBatch) -> Floats | None:
        """[n, k] probability of each shown item at its own rank, where that takes less than at all ranks; else None."""
        return None

    def candidate_ranks(self, batch: LogBatch) -> Floats:
        """[n, m, k] probability of each candidate at each rank."""
        return self.law("rank_probs").rank_probs(batch.contexts, all_items(batch.contexts))

    @property
    def any_slate(self) -> bool:
        """Whether it is a law over any slate, not only known for the slates that were shown."""
        return True

    @property
    def confirmed(self) -> Policy:
        """The policy itself, whether it was confirmed or not."""
        return self

    @property
    def sorts(self) -> bool:
        """Whether it sorts by a score, at least most of the time, so that equal scores leave an order open."""
        return False

    def turned(self) -> Policy | None:
        """The same ranker with its score the other way round; None if it does not sort by one."""
        return None

    def for_rows(self, batch: LogBatch) -> Policy:
        """The policy whose probabilities are those of the rows of a log.

        Raises:
            RowError: it is not known for a row.
        """
        return self

    def tied(self, batch: LogBatch) -> Booleans:
        """[n] whether any item that it may show ties with another candidate; never where it draws."""
        return np.zeros(len(batch), np.bool_)

    def sure_slates(self, contexts: Contexts) -> tuple[Booleans, Integers]:
        """[n] whether it always shows one slate, and [n, k] that, -1 where no candidate is. Elsewhere any or none."""
        return np.zeros(len(contexts), np.bool_), np.full((len(contexts), contexts.slots), -1)

    def blocks(self, contexts: Contexts, items: Integers) -> tuple[Integers, Integers]:
        """First rank [n, q] of each item's block of ties, -1 where it is not shown, and the ranks in it [n, q].

        Raises:
            TypeError: it is none that `always_sorts`.
        """
        raise TypeError(f"{self!r} does not always sort")

    def names_others(self, contexts: Contexts) -> bool:
        """Whether it would show an item that is no candidate."""
        return False

    def fills_slots(self, contexts: Contexts) -> Booleans | None:
        """[n] whether it certainly shows a candidate in every slot; None if it does not know."""
        return None

    def shows_all(self, contexts: Contexts) -> Booleans:
        """[n] whether it certainly may show every candidate at every rank."""
        return np.zeros(len(contexts), np.bool_)

    def log_weights(self, contexts: Contexts) -> Floats | None:
        """[n, m] log of the weight of each candidate, where it `draws_items` by them; else None."""
        return None

    def learnt_rows(self) -> Fingerprint | None:
        """The fingerprint of the rows that it was learnt from; None if it was not, or they are not known."""
        return None

    def expected(self, contexts: Contexts, of: Callable[[Policy], Floats]) -> Floats:
        """[n, ...] what `of` says of a policy, for what is linear in it: of a mixture the mean over what it mixes."""
        return of(self)

    def remembering(self) -> Policy:
        """The same policy, which keeps the laws of the last rows where these take long."""
        return self

    def law(self, ability: Ability) -> Policy:
        """The policy as a law over any slate.

        Raises:
            AbilityError: it was logged only for the shown slates.
        """
        return self

    @final
    def reads_of(self, parts: Iterable[Policy], ability: Ability) -> Needs:
        """The columns that parts of the policy read; what is asked of a law over any slate, it has to be itself.

        Raises:
            AbilityError: it is not, or a part lacks the ability.
        """
        if ability not in get_args(ShownAbility):
            self.law(ability)
        return reduce(or_, (part.reads(ability) for part in parts))

    def refuse(self, ability: Ability) -> NoReturn:
        """Raise the error for an ability that it lacks."""
        unable(self, ability, _ABLE.get(ability, "plackett_luce(scores), uniform and top(scores) can"))


class Fits(ABC):
    """A policy, or a reward model, that must be fitted to the log before use."""

    @abstractmethod
    def fit(self, source: Source, executor: Executor | None = None) -> Any:
        """The same, fitted to the log."""


def all_items(contexts: Contexts) -> Integers:
    """[n, m] every candidate's index, -1 beyond a row's candidates."""
    index = np.arange(contexts.candidates.shape[1])
    return np.where(index < contexts.size[:, None], index, -1)


def put_rows(found: Floats, rows: Integers, values: Floats) -> None:
    """Write values [r, ...] into some rows of an array that may be wider."""
    place: Any = (rows, *map(slice, values.shape[1:]))
    found[place] = values


def unable(policy: object, ability: Ability, remedy: str) -> NoReturn:
    """Raise the error for a missing ability, with the same wording everywhere."""
    raise AbilityError(f"{policy!r} cannot {_WANTED[ability]}", remedy)


def refuse_shown_only(policy: Policy, ability: Ability) -> None:
    """Raise unless a policy is a law over any slate.

    Raises:
        AbilityError: it is not.
    """
    if not policy.any_slate:
        unable(
            policy,
            ability,
            "logged propensities cover the shown slate only. If the scores behind it were logged, use "
            "plackett_luce(scores), epsilon(top(scores), 0.1) or swaps(top(scores), 0.9)",
        )


def is_policy(found: object) -> TypeGuard[Policy]:
    """Whether an object is a policy of any kind."""
    return isinstance(found, Policy)


def refuse_no_policy(policy: object, *parts: object) -> None:
    """Raise unless the parts of a policy are policies.

    Raises:
        UsageError: one is not.
    """
    for part in parts:
        if not is_policy(part):
            raise UsageError(f"{policy!r}: {part!r} is not a policy", f"use a policy there, such as top({part})")


def refuse_no_column(policy: object, *columns: object) -> None:
    """Raise unless these can be the names of columns.

    Raises:
        UsageError: one is no text.
    """
    for column in columns:
        if not isinstance(column, str):
            raise UsageError(f"{policy!r}: {column!r} is not a column", "name a column of the log")
