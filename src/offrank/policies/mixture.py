"""Mixtures with uniform slates, the base of exploring policies."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, final

import numpy as np

from ..errors import UsageError
from ..log.batch import Contexts, Floats, Integers, LogBatch
from ..log.source import Needs
from . import _kernels
from .base import Ability
from .propensities import AnyPolicy, Propensities, ShownAbility, ShownPolicy, is_law, law, propensities, shown_needs
from .rank_law import RankLaw
from .uniform import Uniform

_UNIFORM = Uniform()
_METHODS = ("needs", "sample", "log_prob", "slot_probs", "rank_probs")


def is_policy(found: Any) -> bool:
    """Whether an object is a policy of any kind."""
    return isinstance(found, ShownPolicy) or (
        not isinstance(found, type) and all(hasattr(found, method) for method in _METHODS)
    )


class UniformMixture(ShownPolicy):
    """A policy that shows a uniform slate with some probability, else what its base shows.

    With logged probabilities it is known only for the shown slates, whose probabilities are mixed.
    """

    base: AnyPolicy

    @abstractmethod
    def uniform_share(self, contexts: Contexts) -> Floats:
        """[n] probability of the uniform slate."""

    @property
    @final
    def any_slate(self) -> bool:
        return is_law(self.base)

    @final
    def needs(self, ability: Ability) -> Needs:
        """The columns that this ability reads."""
        return law(self.base, ability).needs(ability) | _UNIFORM.needs(ability)

    @final
    def shown_needs(self, ability: ShownAbility) -> Needs:
        return shown_needs(self.base, ability) | shown_needs(_UNIFORM, ability)

    @final
    def on(self, batch: LogBatch) -> Propensities:
        return _OfMixture(self, batch)

    @final
    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        """[n, k] candidate indices, -1 pads."""
        slates, uniform = law(self.base, "sample").sample(contexts, rng), _UNIFORM.sample(contexts, rng)
        if slates.shape[1] < uniform.shape[1]:
            slates = np.pad(slates, ((0, 0), (0, uniform.shape[1] - slates.shape[1])), constant_values=-1)
        return np.where((rng.random(len(contexts)) < self.uniform_share(contexts))[:, None], uniform, slates)

    @final
    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        """[n] log-probability of each slate."""
        mostly = law(self.base, "log_prob").log_prob(contexts, slates)
        return _log_mixed(self.uniform_share(contexts), mostly, _UNIFORM.log_prob(contexts, slates))

    @final
    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        """[n, k] probability of each slot's item given the slots above; 1 on pads."""
        mostly = law(self.base, "slot_probs").slot_probs(contexts, slates)
        return _slots_mixed(self.uniform_share(contexts), mostly, _UNIFORM.slot_probs(contexts, slates))

    @final
    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        """[n, q, k] probability that candidate items[n, q] is at each rank; 0 on pads."""
        share = self.uniform_share(contexts)[:, None, None]
        mostly = law(self.base, "rank_probs").rank_probs(contexts, items)
        return (1 - share) * mostly + share * _UNIFORM.rank_probs(contexts, items)


def mixed_with(policy: object) -> AnyPolicy | None:
    """The policy that uniform slates are mixed with; None of any other policy."""
    return policy.base if isinstance(policy, UniformMixture) else None


def refuse_no_policy(mixture: object, base: object) -> None:
    """Raise unless `base` is a policy.

    Raises:
        UsageError: it is not.
    """
    if not is_policy(base):
        raise UsageError(f"{mixture!r}: {base!r} is not a policy", f"write one there, such as top({base})")


class _OfMixture(Propensities):
    policy: UniformMixture

    def _log_prob(self) -> Floats:
        return _log_mixed(self._share, self._base.log_prob, self._uniform.log_prob)

    def _slot_probs(self) -> Floats:
        return _slots_mixed(self._share, self._base.slot_probs, self._uniform.slot_probs)

    def _rank_law(self) -> RankLaw:
        return self._base.rank_law.mixed(self._share, self.batch.contexts.size)

    def _candidate_ranks(self) -> Floats:
        share = self._share[:, None, None]
        return (1 - share) * self._base.candidate_ranks + share * self._uniform.candidate_ranks

    @property
    def _share(self) -> Floats:
        return self.policy.uniform_share(self.batch.contexts)

    @property
    def _base(self) -> Propensities:
        return propensities(self.policy.base, self.batch)

    @property
    def _uniform(self) -> Propensities:
        return propensities(_UNIFORM, self.batch)


def _log_mixed(share: Floats, mostly: Floats, sometimes: Floats) -> Floats:
    """[n] log of share * uniform + (1 - share) * base."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.logaddexp(np.log1p(-share) + mostly, np.log(share) + sometimes))


def _slots_mixed(share: Floats, usual: Floats, uniform: Floats) -> Floats:
    """[n, k]: the mixture is over whole slates, so its shares follow from the slots above (Bayes' rule)."""
    probs = np.empty(usual.shape)
    _kernels.mixed_slots(share, usual, uniform, probs)
    return probs
