"""Mostly one policy, sometimes a uniform slate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..log.batch import Contexts, Floats, Integers
from ..log.errors import UsageError
from ..log.source import Needs
from ..spelling import Spelled
from .base import Ability, Policy
from .uniform import Uniform

_UNIFORM = Uniform()


@dataclass(frozen=True, repr=False)
class EpsilonUniform(Spelled):
    """With probability epsilon a uniform slate, else the base policy; paper criteo-test-bed, Eq. 9."""

    name: ClassVar[str] = "epsilon"
    base: Policy
    epsilon: float

    def __post_init__(self) -> None:
        if not 0 <= self.epsilon <= 1:
            raise UsageError(f"epsilon is {self.epsilon}", "give a probability between 0 and 1")

    def needs(self, ability: Ability) -> Needs:
        return self.base.needs(ability) | _UNIFORM.needs(ability)

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        return sample(self.base, self.uniform_share(contexts), contexts, rng)

    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        return log_prob(self.base, self.uniform_share(contexts), contexts, slates)

    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        return slot_probs(self.base, self.uniform_share(contexts), contexts, slates)

    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        return rank_probs(self.base, self.uniform_share(contexts), contexts, items)

    def uniform_share(self, contexts: Contexts) -> Floats:
        """[n] probability of the uniform slate."""
        return np.full(len(contexts), float(self.epsilon))


def sample(base: Policy, share: Floats, contexts: Contexts, rng: np.random.Generator) -> Integers:
    """[n, k] slates, uniform with probability share[n]."""
    slates = base.sample(contexts, rng)
    uniform = _UNIFORM.sample(contexts, rng)
    if slates.shape[1] < uniform.shape[1]:
        slates = np.pad(slates, ((0, 0), (0, uniform.shape[1] - slates.shape[1])), constant_values=-1)
    return np.where((rng.random(len(contexts)) < share)[:, None], uniform, slates)


def log_prob(base: Policy, share: Floats, contexts: Contexts, slates: Integers) -> Floats:
    """[n] log of share * uniform + (1 - share) * base."""
    with np.errstate(divide="ignore"):
        mostly = np.log1p(-share) + base.log_prob(contexts, slates)
        sometimes = np.log(share) + _UNIFORM.log_prob(contexts, slates)
    return np.logaddexp(mostly, sometimes)


def slot_probs(base: Policy, share: Floats, contexts: Contexts, slates: Integers) -> Floats:
    """[n, k]: the mixture is over whole slates, so its shares follow from the slots above (Bayes' rule)."""
    mostly, sometimes = 1 - share, share
    usual, uniform = base.slot_probs(contexts, slates), _UNIFORM.slot_probs(contexts, slates)
    probs = np.empty(slates.shape)
    for slot in range(slates.shape[1]):
        mostly, sometimes = mostly * usual[:, slot], sometimes * uniform[:, slot]
        probs[:, slot] = mostly + sometimes
        # Shares of what is left, not products of all slots so far, which underflow on long slates.
        whole = np.where(probs[:, slot] > 0, probs[:, slot], 1.0)
        mostly, sometimes = mostly / whole, sometimes / whole
    return probs


def rank_probs(base: Policy, share: Floats, contexts: Contexts, items: Integers) -> Floats:
    """[n, q, k] share * uniform + (1 - share) * base."""
    share = share[:, None, None]
    mostly = (1 - share) * base.rank_probs(contexts, items)
    return mostly + share * _UNIFORM.rank_probs(contexts, items)
