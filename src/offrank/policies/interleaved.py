"""Two rankings merged into one list, as experiments do that compare them by clicks on either's items.

Whose item comes next: one function for each method. Rankings are given as blocks: the first rank of each candidate, -1
where the ranking does not hold it, and how many share its ranks. Equal scores leave the order of a block open. All of
its orders are equally likely, and stay so whatever was shown: only how many of its items were passed counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from ..errors import AbilityError, UsageError
from ..language.spelling import Spelled
from ..log.batch import Booleans, Contexts, Floats, Integers, LogBatch
from ..log.source import Ability, Needs
from . import _kernels
from .base import Policy, all_items, is_policy
from .registry import POLICIES
from .slot_by_slot import Branch, SlotBySlot, States

TEMPER = 3.0
"""The exponent of the softmax over ranks (Hofmann, Whiteson and de Rijke 2011, section 4)."""
_MOST_ITEMS = 14  # of which every set is looked at
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Method:
    """How two rankings are interleaved. starts: the hidden numbers at the top, and their probabilities.

    deep: whether items below the number of slots can be shown. ties: whether equal scores are allowed.
    """

    starts: Sequence[tuple[int, float]]
    branches: Callable[[Integers, States], Iterator[Branch]]
    deep: bool = False
    ties: bool = True


def _team_draft(tables: Integers, states: States) -> Iterator[Branch]:
    """Hidden: by how many items the first team is ahead, from -1 to 1. The other team picks then, otherwise a coin.

    A team picks its best item that is not shown yet, so that it never loses its turn to an item of the other. Where it
    has none left, the other picks.
    """
    picks = [_best(tables[states.row, 2 * team], states.left) for team in (0, 1)]
    one, other = _shares((1 - states.hidden) / 2, picks)
    yield picks[0] * one[:, None], np.minimum(states.hidden + 1, 1)
    yield picks[1] * other[:, None], np.maximum(states.hidden - 1, -1)


def _probabilistic(tables: Integers, states: States) -> Iterator[Branch]:
    """A coin for each slot; its ranking draws an item with weights 1 / rank^3, among those not shown yet."""
    picks = []
    for weights in _weights(tables).swapaxes(0, 1):
        kept = weights[states.row] * states.left
        picks.append(kept / np.maximum(kept.sum(axis=1, keepdims=True), np.finfo(float).tiny))
    one, other = _shares(np.full(len(states), 0.5), picks)
    yield picks[0] * one[:, None] + picks[1] * other[:, None], states.hidden


def _weights(tables: Integers) -> Floats:
    """[n, 2, m] the weights with which each ranking draws its items."""
    ranks = tables[:, ::2]
    return np.where(ranks >= 0, 1.0 / np.maximum(ranks + 1.0, 1.0) ** TEMPER, 0.0)


def _balanced(tables: Integers, states: States) -> Iterator[Branch]:
    """Hidden: twice the number of turns so far, plus 1 where the second ranking began.

    The rankings take turns, each with its next item, whoever showed it before: then the slot goes to the next turn.
    """
    turn, begins = states.hidden // 2, states.hidden % 2
    open_share = np.ones(len(states))
    for _ in range(2 * tables.shape[2]):
        if not open_share.any():
            return
        team = (turn + begins) % 2
        first, width = (tables[states.row, 2 * team + each] for each in (0, 1))
        place = (turn // 2)[:, None]
        block = (first >= 0) & (first <= place) & (place < first + width)
        ahead = np.where(block, first + width - place, 0).max(axis=1)  # items of the block that were not passed
        unseen = block & states.left
        each = np.divide(open_share, ahead, out=np.zeros(len(states)), where=ahead > 0)
        turn = turn + 1
        yield unseen * each[:, None], 2 * turn + begins
        open_share = np.where(ahead > 0, each * (ahead - unseen.sum(axis=1)), open_share)


INTERLEAVINGS = {
    "team_draft": Method([(0, 1.0)], _team_draft),
    "balanced": Method([(0, 0.5), (1, 0.5)], _balanced),
    "probabilistic": Method([(0, 1.0)], _probabilistic, deep=True, ties=False),
}


def _best(ranks: Integers, left: Booleans) -> Floats:
    """[s, m] the probability that a team picks each item: the best that is left, any one of those that tie."""
    place = np.where(left & (ranks >= 0), ranks, _NEVER)
    best = (place == place.min(axis=1, keepdims=True)) & (place < _NEVER)
    return best / np.maximum(best.sum(axis=1, keepdims=True), 1)


def _shares(first: Floats, picks: Sequence[Floats]) -> tuple[Floats, Floats]:
    """[s] the probability that each team fills the slot. first: that of the first one, if both have items left."""
    able, other = (chances.any(axis=1) for chances in picks)
    share = np.where(other, first, 1.0) * able
    return share, (1 - share) * other


@POLICIES.register
@dataclass(frozen=True, repr=False)
class Interleaved(Spelled, SlotBySlot):
    """Two sorted rankings interleaved; which of the two an item came from need not be in the log.

    method:

    - team_draft: a coin says who picks first in each pair of picks, and each team picks its best item that is not shown
      yet. Radlinski, Kurup and Joachims (2008), How does clickthrough data reflect retrieval quality?
    - balanced: a coin says who begins, and both take turns with their next item; one that is shown already is passed.
      Joachims (2002), Optimizing search engines using clickthrough data.
    - probabilistic: a coin for each slot says which ranking draws its item, with weights 1 / rank^3 among those not
      shown yet; ranks are among the candidates. Hofmann, Whiteson and de Rijke (2011), A probabilistic method for
      inferring preferences from clicks.

    Where one ranking has no more items, the other fills the slots.

    Parameters:
        a: a policy that sorts.
        b: another one.
        method: one of those above.

    Raises:
        UsageError: a ranking that does not sort, or an unknown method.

    Examples:
        >>> offrank.Interleaved(offrank.Top("a_score"), offrank.Top("b_score"), method="balanced")
        interleaved(top(a_score), top(b_score), method=balanced)
    """

    name: ClassVar[str] = "interleaved"
    sorts: ClassVar[bool] = True
    a: Policy
    b: Policy
    method: str = field(default="team_draft", kw_only=True)

    def __post_init__(self) -> None:
        for ranking in (self.a, self.b):
            if not (is_policy(ranking) and ranking.always_sorts):
                raise UsageError(
                    f"{self!r}: {ranking!r} is not a sorted ranking", "interleave top(score) or ranking(column)"
                )
        if self.method not in INTERLEAVINGS:
            raise UsageError(f"{self!r}: unknown method {self.method!r}", f"use one of {', '.join(INTERLEAVINGS)}")

    def reads(self, ability: Ability) -> Needs:
        """The columns that this ability reads."""
        return self.a.reads(ability) | self.b.reads(ability)

    def tied(self, batch: LogBatch) -> Booleans:
        return np.asarray(self.a.tied(batch) | self.b.tied(batch))

    def fills_slots(self, contexts: Contexts) -> Booleans:
        ranks = self.tables(contexts)[:, ::2]
        return np.asarray((ranks >= 0).any(axis=1).sum(axis=1) >= contexts.length)

    def starts(self) -> Sequence[tuple[int, float]]:
        return INTERLEAVINGS[self.method].starts

    def tables(self, contexts: Contexts) -> Integers:
        """[n, 4, m] the first rank of each candidate's block and its width, of both rankings."""
        method = INTERLEAVINGS[self.method]
        whole = replace(contexts, length=contexts.size) if method.deep else contexts
        found = []
        for ranking in (self.a, self.b):
            if ranking.names_others(contexts):
                raise AbilityError(
                    f"{self!r}: {ranking!r} contains items that are not candidates", "log `candidates` too"
                )
            first, width = ranking.blocks(whole, all_items(contexts))
            if not method.ties and (width[first >= 0] > 1).any():
                raise AbilityError(
                    f"{self!r} needs an order of all candidates, but {ranking!r} has ties",
                    "break ties in the score, or log the order itself and use ranking(column)",
                )
            found += [first, width]
        return np.stack(found, axis=1)

    @property
    def merges(self) -> tuple[Policy, ...]:  # type: ignore[override]
        return self.a, self.b

    def credit(self, contexts: Contexts, slates: Integers, clicks: Floats) -> Floats | None:
        """[n, 2 k + 1] the law, given the list, of clicked items that `a` placed less those that `b` did, from -k to k.

        The sum over all ways in which the teams may have picked the list. None: not by team draft, so without teams.
        """
        if self.method != "team_draft":
            return None
        (n, slots), tables = slates.shape, self.tables(contexts)
        left, own = np.arange(tables.shape[2]) < contexts.size[:, None], np.arange(n)
        law = np.zeros((n, 3, 2 * slots + 1))  # by how many items `a` is ahead, from -1 to 1
        law[:, 1, slots] = 1.0
        for item, clicked in zip(slates.T, clicks.T > 0, strict=True):
            picks, shown, below = [_best(tables[:, 2 * team], left) for team in (0, 1)], item >= 0, np.zeros_like(law)
            for ahead in range(3):
                for by, pick, share in zip((1, -1), picks, _shares(np.full(n, 1 - ahead / 2), picks), strict=True):
                    moved = law[:, ahead] * (share * pick[own, item])[:, None]
                    below[:, min(max(ahead + by, 0), 2)] += np.where(
                        clicked[:, None], np.roll(moved, by, axis=1), moved
                    )
            law = np.where(shown[:, None, None], below, law)
            left[own[shown], item[shown]] = False
        found = law.sum(axis=1)
        total = found.sum(axis=1, keepdims=True)  # 0 for a list that no teams have picked
        return np.divide(found, total, out=np.zeros_like(found), where=total > 0)

    def ranked(self, contexts: Contexts, law: Floats) -> bool:
        brief = self.method == "probabilistic" and law.shape[1] <= _MOST_ITEMS
        if brief:
            shown = np.zeros(1 << law.shape[1])
            _kernels.ranks_by_coins(_weights(self.tables(contexts)), contexts.length, shown, law)
        return brief

    def branches(self, tables: Integers, states: States) -> Iterable[Branch]:
        return INTERLEAVINGS[self.method].branches(tables, states)
