"""Mixtures: in each impression one of several policies shows its slate. Those with uniform slates explore."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, final

import numpy as np

from ..log.batch import Booleans, Contexts, Floats, Integers, LogBatch
from ..log.source import Ability, Needs
from . import _kernels
from .base import Policy
from .propensities import Propensities, ShownPolicy, propensities
from .rank_law import RankLaw
from .uniform import Uniform

_UNIFORM = Uniform()


class MixedPolicy(ShownPolicy):
    """A policy that draws one of several policies for each impression, which then shows its slate.

    With logged probabilities it is known only for the shown slates, whose probabilities are mixed.
    """

    @property
    @abstractmethod
    def mixed(self) -> tuple[Policy, ...]:
        """The policies of which one is drawn."""

    @abstractmethod
    def mixed_shares(self, contexts: Contexts) -> Floats:
        """[p, n] probability of each of them, which add up to 1."""

    @property
    @final
    def any_slate(self) -> bool:
        """Whether all of its policies are laws over any slate."""
        return all(part.any_slate for part in self.mixed)

    @property
    @final
    def sorts(self) -> bool:
        """Whether any of its policies does."""
        return any(part.sorts for part in self.mixed)

    def reads(self, ability: Ability) -> Needs:
        """The columns that its policies read."""
        return self.reads_of(self.mixed, ability)

    @final
    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        """[n, k] candidate indices, -1 pads."""
        drawn = [part.law("sample").sample(contexts, rng) for part in self.mixed]
        slates = np.full((len(drawn), len(contexts), max(each.shape[1] for each in drawn)), -1)
        for part, each in enumerate(drawn):
            slates[part, :, : each.shape[1]] = each
        # From the last part on: the first is shown where the number is above the sum of the others' shares.
        above = np.cumsum(self.mixed_shares(contexts)[:0:-1], axis=0)
        part = (rng.random(len(contexts)) < above).sum(axis=0)
        return np.take_along_axis(slates, part[None, :, None], axis=0)[0]

    @final
    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        """[n, q, k] probability that candidate items[n, q] is at each rank; 0 on pads."""
        return self.expected(contexts, lambda part: part.law("rank_probs").rank_probs(contexts, items))

    @final
    def pair_probs(self, contexts: Contexts) -> Floats:
        """As `Policy.pair_probs`."""
        return self.expected(contexts, lambda part: part.law("pair_probs").pair_probs(contexts))

    @final
    def shown_slate(self, batch: LogBatch) -> Floats:
        """[n] log-probability of each shown slate."""
        return _log_mixed(self.mixed_shares(batch.contexts), [part.log_prob for part in self._on(batch)])

    @final
    def shown_slots(self, batch: LogBatch) -> Floats:
        """[n, k] probability of each shown slot given the slots above; 1 on pads.

        The mixture is over whole slates, so its shares follow from the slots above (Bayes' rule).
        """
        parts = np.array([part.slot_probs for part in self._on(batch)])
        probs = np.empty(parts.shape[1:])
        _kernels.mixed_slots(self.mixed_shares(batch.contexts).copy(), parts, probs)
        return probs

    def shown_ranks(self, batch: LogBatch) -> RankLaw:
        """The probability of each shown item at each rank."""
        length = batch.contexts.length
        return RankLaw.of(self._mean_on(batch, lambda part: part.rank_law.written_out(length)))

    @final
    def own_ranks(self, batch: LogBatch) -> Floats:
        """[n, k] probability of each shown item at its own rank."""
        return self._mean_on(batch, lambda part: part.own_ranks)

    @final
    def candidate_ranks(self, batch: LogBatch) -> Floats:
        """[n, m, k] probability of each candidate at each rank."""
        return self._mean_on(batch, lambda part: part.candidate_ranks)

    @final
    def tied(self, batch: LogBatch) -> Booleans:
        """[n] whether items of any of its policies tie."""
        return np.any([part.tied(batch) for part in self.mixed], axis=0)

    @final
    def expected(self, contexts: Contexts, of: Callable[[Policy], Floats]) -> Floats:
        """As `Policy.expected`."""
        return _mean(self.mixed_shares(contexts), (part.expected(contexts, of) for part in self.mixed))

    def _on(self, batch: LogBatch) -> list[Propensities]:
        return [propensities(part, batch) for part in self.mixed]

    @final
    def _mean_on(self, batch: LogBatch, of: Callable[[Propensities], Floats]) -> Floats:
        """[n, ...] the mean over its policies of what each says of a batch."""
        return _mean(self.mixed_shares(batch.contexts), map(of, self._on(batch)))


class UniformMixture(MixedPolicy):
    """A policy that shows a uniform slate with some probability, else what its base shows."""

    base: Policy

    @abstractmethod
    def uniform_share(self, contexts: Contexts) -> Floats:
        """[n] probability of the uniform slate."""

    @property
    @final
    def mixed(self) -> tuple[Policy, ...]:
        return self.base, _UNIFORM

    @final
    def mixed_shares(self, contexts: Contexts) -> Floats:
        """[2, n] probability of the base and of the uniform slate."""
        share = self.uniform_share(contexts)
        return np.array([1 - share, share])

    @final
    def fills_slots(self, contexts: Contexts) -> Booleans | None:
        """As `Policy.fills_slots`: where the base does, as uniform slates do."""
        return self.base.law("rank_probs").fills_slots(contexts)

    @final
    def shows_all(self, contexts: Contexts) -> Booleans:
        """As `Policy.shows_all`: wherever there are uniform slates."""
        return np.asarray(self.uniform_share(contexts) > 0)

    @final
    def shown_ranks(self, batch: LogBatch) -> RankLaw:
        """The law of the base, as it is stored, mixed with the uniform one."""
        contexts = batch.contexts
        return propensities(self.base, batch).rank_law.mixed(self.uniform_share(contexts), contexts.size)


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
