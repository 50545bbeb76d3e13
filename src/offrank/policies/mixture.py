"""Mixtures: in each impression one of several policies shows its slate. Those with uniform slates explore."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, reduce
from operator import or_
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..log.batch import Contexts, Floats, Integers, LogBatch
from ..log.source import Needs
from . import _kernels
from .base import Ability, ShowsAll
from .propensities import AnyPolicy, Propensities, ShownAbility, ShownPolicy, is_law, law, propensities, reads
from .rank_law import RankLaw
from .uniform import Uniform

_UNIFORM = Uniform()
_METHODS = ("needs", "sample", "log_prob", "slot_probs", "rank_probs")


def is_policy(found: Any) -> bool:
    """Whether an object is a policy of any kind."""
    return isinstance(found, ShownPolicy) or (
        not isinstance(found, type) and all(hasattr(found, method) for method in _METHODS)
    )


class MixedPolicy(ShownPolicy):
    """A policy that draws one of several policies for each impression, which then shows its slate.

    With logged probabilities it is known only for the shown slates, whose probabilities are mixed.
    """

    @property
    @abstractmethod
    def mixed(self) -> tuple[AnyPolicy, ...]:
        """The policies of which one is drawn."""

    @abstractmethod
    def mixed_shares(self, contexts: Contexts) -> Floats:
        """[p, n] probability of each of them, which add up to 1."""

    @property
    @final
    def any_slate(self) -> bool:
        return all(map(is_law, self.mixed))

    def needs(self, ability: Ability) -> Needs:
        """The columns that this ability reads."""
        return reduce(or_, (law(part, ability).needs(ability) for part in self.mixed))

    def shown_needs(self, ability: ShownAbility) -> Needs:
        return reduce(or_, (reads(part, ability) for part in self.mixed))

    def on(self, batch: LogBatch) -> Propensities:
        return OfMixed(self, batch)

    @final
    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        """[n, k] candidate indices, -1 pads."""
        drawn = [law(part, "sample").sample(contexts, rng) for part in self.mixed]
        slates = np.full((len(drawn), len(contexts), max(each.shape[1] for each in drawn)), -1)
        for part, each in enumerate(drawn):
            slates[part, :, : each.shape[1]] = each
        # From the last part on: the first is shown where the number is above the sum of the others' shares.
        above = np.cumsum(self.mixed_shares(contexts)[:0:-1], axis=0)
        part = (rng.random(len(contexts)) < above).sum(axis=0)
        return np.take_along_axis(slates, part[None, :, None], axis=0)[0]

    @final
    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        """[n] log-probability of each slate."""
        each = [law(part, "log_prob").log_prob(contexts, slates) for part in self.mixed]
        return _log_mixed(self.mixed_shares(contexts), each)

    @final
    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        """[n, k] probability of each slot's item given the slots above; 1 on pads."""
        each = [law(part, "slot_probs").slot_probs(contexts, slates) for part in self.mixed]
        return _slots_mixed(self.mixed_shares(contexts), each)

    @final
    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        """[n, q, k] probability that candidate items[n, q] is at each rank; 0 on pads."""
        return self.expected(contexts, lambda part: law(part, "rank_probs").rank_probs(contexts, items))

    @final
    def expected(self, contexts: Contexts, of: Callable[[AnyPolicy], Floats]) -> Floats:
        """[n, ...] the mean over the policies of what `of` says of each, for what is linear in the policy."""
        return _mean(self.mixed_shares(contexts), map(of, self.mixed))


class UniformMixture(MixedPolicy, ShowsAll):
    """A policy that shows a uniform slate with some probability, else what its base shows."""

    base: AnyPolicy

    @abstractmethod
    def uniform_share(self, contexts: Contexts) -> Floats:
        """[n] probability of the uniform slate."""

    @property
    @final
    def mixed(self) -> tuple[AnyPolicy, ...]:
        return self.base, _UNIFORM

    @final
    def shows_all(self, contexts: Contexts) -> NDArray[np.bool_]:
        """As `ShowsAll.shows_all`: wherever there are uniform slates."""
        return np.asarray(self.uniform_share(contexts) > 0)

    @final
    def mixed_shares(self, contexts: Contexts) -> Floats:
        """[2, n] probability of the base and of the uniform slate."""
        share = self.uniform_share(contexts)
        return np.array([1 - share, share])

    @final
    def on(self, batch: LogBatch) -> Propensities:
        return _OfUniformMixture(self, batch)


def mean_over_mixed(policy: AnyPolicy, contexts: Contexts, of: Callable[[AnyPolicy], Floats]) -> Floats:
    """[n, ...] what `of` says of a policy, for what is linear in it: of a mixture the mean over what it mixes."""
    if isinstance(policy, MixedPolicy):
        return policy.expected(contexts, lambda part: mean_over_mixed(part, contexts, of))
    return of(policy)


def mixed_with(policy: object) -> AnyPolicy | None:
    """The policy that uniform slates are mixed with; None of any other policy."""
    return policy.base if isinstance(policy, UniformMixture) else None


def refuse_no_policy(mixture: object, base: object) -> None:
    """Raise unless `base` is a policy.

    Raises:
        UsageError: it is not.
    """
    if not is_policy(base):
        raise UsageError(f"{mixture!r}: {base!r} is not a policy", f"use a policy there, such as top({base})")


class OfMixed(Propensities):
    """The propensities of a mixture, from those of its parts."""

    policy: MixedPolicy

    @cached_property
    def log_prob(self) -> Floats:
        return _log_mixed(self._shares, [part.log_prob for part in self._parts])

    @cached_property
    def slot_probs(self) -> Floats:
        return _slots_mixed(self._shares, [part.slot_probs for part in self._parts])

    @cached_property
    def rank_law(self) -> RankLaw:
        length = self.batch.contexts.length
        return RankLaw.of(_mean(self._shares, (part.rank_law.written_out(length) for part in self._parts)))

    @cached_property
    def own_ranks(self) -> Floats:
        return _mean(self._shares, (part.own_ranks for part in self._parts))

    @cached_property
    def candidate_ranks(self) -> Floats:
        return _mean(self._shares, (part.candidate_ranks for part in self._parts))

    @property
    def _shares(self) -> Floats:
        return self.policy.mixed_shares(self.batch.contexts)

    @property
    def _parts(self) -> list[Propensities]:
        return [propensities(part, self.batch) for part in self.policy.mixed]


class _OfUniformMixture(OfMixed):
    policy: UniformMixture

    @cached_property
    def rank_law(self) -> RankLaw:
        return self._parts[0].rank_law.mixed(self._shares[1], self.batch.contexts.size)


def _mean(shares: Floats, parts: Iterable[Floats]) -> Floats:
    """[n, ...] the mean of arrays with shares [p, n]."""
    found: Any = sum(
        share.reshape(-1, *[1] * (part.ndim - 1)) * part for share, part in zip(shares, parts, strict=True)
    )
    return np.asarray(found)


def _log_mixed(shares: Floats, parts: Sequence[Floats]) -> Floats:
    """[n] log of the mean of probabilities whose logarithms are given."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.logaddexp.reduce(np.log(shares) + np.array(parts), axis=0))


def _slots_mixed(shares: Floats, parts: Sequence[Floats]) -> Floats:
    """[n, k]: the mixture is over whole slates, so its shares follow from the slots above (Bayes' rule)."""
    probs = np.empty(parts[0].shape)
    _kernels.mixed_slots(shares.copy(), np.array(parts), probs)
    return probs
