"""A sorting ranker whose order is shuffled within blocks of ranks: interventions that leave what is shown as it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from .. import races
from ..errors import UsageError
from ..language.spelling import Spelled
from ..log.batch import Booleans, Contexts, Floats, Integers
from ..log.source import Ability, Needs
from . import _kernels
from .base import Policy, all_items, refuse_no_policy
from .rank_law import RankLaw
from .registry import POLICIES
from .sorting import pairs_of_blocks


@POLICIES.register
@dataclass(frozen=True, repr=False)
class Shuffled(Spelled, Policy):
    """The slate of `base`, which sorts, with the order of its ranks drawn uniformly within blocks of `block` ranks.

    Parameters:
        base: a policy that sorts.
        block: ranks in a block, 2 or more.
        method: which blocks. `blocks`: the ranks one block after the other, from the top. `top`: the first block
            alone. `fair_pairs`: as `blocks`, from a place drawn uniformly among the first `block` ranks on, and the
            ranks above that place are a shorter block of their own; with block = 2 it is Radlinski and Joachims
            (2006), Minimally invasive randomization for collecting unbiased preferences from clickthrough logs.
            `window`: a single block at a place drawn uniformly; with block = 2 a random adjacent pair, which is
            swapped half of the time. Blocks end with the slots: other items than those of `base` are never shown.

    Raises:
        UsageError: a base that does not sort, a block below 2, or an unknown method.

    Examples:
        >>> offrank.Shuffled(offrank.Top("score"), 3, method="top")
        shuffled(top(score), 3, method=top)
        >>> offrank.Shuffled(offrank.Ranking("shown_by_old"), method="fair_pairs")
        shuffled(ranking(shown_by_old), method=fair_pairs)
    """

    name: ClassVar[str] = "shuffled"
    base: Policy
    block: int = 2
    method: str = field(default="blocks", kw_only=True)

    def __post_init__(self) -> None:
        refuse_no_policy(self, self.base)
        if not self.base.always_sorts:
            remedy = (
                "shuffle top(score) or ranking(column); put epsilon and mixture around it: mixture({top(a): 0.9, ...})"
            )
            raise UsageError(f"{self!r}: {self.base!r} does not sort", remedy)
        races.refuse_other_shuffles(repr(self), self.block, self.method)

    def reads(self, ability: Ability) -> Needs:
        """The columns that this ability reads."""
        return self.base.reads(ability)

    @property
    def ascending(self) -> bool:  # type: ignore[override]  # that of its base
        return self.base.ascending

    def fills_slots(self, contexts: Contexts) -> Booleans:
        """[n] whether the base does."""
        found = self.base.fills_slots(contexts)
        return np.zeros(len(contexts), np.bool_) if found is None else found

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        """[n, k] candidate indices, -1 pads."""
        drawn = self.base.sample(contexts, rng)
        slates = np.full((len(contexts), contexts.slots), -1)
        slates[:, : drawn.shape[1]] = drawn
        return races.shuffled(self._partitions(contexts), slates, rng)

    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        """[n] log-probability of each slate."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self._beginnings(contexts, slates)[:, -1:].prod(axis=1)))

    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        """[n, k] probability of each slot's item given the slots above; 1 on pads."""
        found = self._beginnings(contexts, slates)
        above = np.hstack([np.ones((len(found), 1)), found[:, :-1]])
        given = np.divide(found, above, out=np.zeros_like(found), where=above > 0)
        return np.where(slates >= 0, given, 1.0)

    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        """[n, q, k] probability that candidate items[n, q] is at each rank; 0 on pads."""
        base = RankLaw.blocks(*self.base.blocks(contexts, items)).at_ranks(contexts.length, contexts.slots)
        return np.asarray(
            sum(part.share[:, None, None] * (base @ races.moved(part)) for part in self._partitions(contexts))
        )

    def pair_probs(self, contexts: Contexts) -> Floats:
        """As `Policy.pair_probs`, exact."""
        items = all_items(contexts)
        base = pairs_of_blocks(*self.base.blocks(contexts, items), contexts)
        n, m, k = base.shape[:3]
        single = self.rank_probs(contexts, items)
        flat = base.transpose(0, 1, 3, 2, 4).reshape(n, m * m, k * k)
        found = sum(part.share[:, None, None] * (flat @ _moved_pairs(part)) for part in self._partitions(contexts))
        pairs = np.asarray(found).reshape(n, m, m, k, k).transpose(0, 1, 3, 2, 4).copy()
        item, rank = np.indices((m, k))
        each = np.arange(m)
        pairs[:, each, :, each, :] = 0.0
        pairs[:, item, rank, item, rank] = single
        return pairs

    def _beginnings(self, contexts: Contexts, slates: Integers) -> Floats:
        """[n, k] P(the slate begins with its first items, down to each slot), the mean over partitions."""
        first, width = self.base.blocks(contexts, slates)
        found = np.zeros(slates.shape)
        for part in self._partitions(contexts):
            probs = np.ones(slates.shape)
            _kernels.shuffled_slots(first, width, slates, part.start, part.width, probs)
            found += part.share[:, None] * np.cumprod(probs, axis=1)
        return found

    def _partitions(self, contexts: Contexts) -> Iterator[races.Partition]:
        """The partitions of which one is drawn."""
        return races.partitions(self.method, self.block, contexts.length, contexts.slots)


def _moved_pairs(part: races.Partition) -> Floats:
    """[n, k * k, k * k] P(items that the base puts at ranks r, s are shown at ranks i, j), where r, s are unlike."""
    n, k = part.start.shape
    one = races.moved(part)
    apart = one[:, :, None, :, None] * one[:, None, :, None, :]
    same = (part.start[:, :, None] == part.start[:, None, :])[:, :, :, None, None]
    unlike = ~np.eye(k, dtype=bool)
    width = part.width[:, :, None, None, None].astype(np.float64)
    together = np.where(apart > 0, unlike / (width * np.maximum(width - 1, 1)), 0.0)
    return np.asarray(np.where(same, together, apart).reshape(n, k * k, k * k))
