"""The Plackett-Luce policy: draws without replacement, with probability proportional to a weight."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ...errors import UsageError
from ...language.spelling import Spelled
from ...log.batch import Booleans, Contexts, Floats, Integers, LogBatch
from ...log.source import Ability, Needs
from ..base import Policy, refuse_no_column, unable
from ..registry import POLICIES
from . import _kernels_sets
from .laws import KnownLaws, few, order_given_set, rank_law, rank_seconds, sample_rows
from .pairs import pair_laws

MOST_SECONDS = 1.0
"""Of one row for the probabilities of its candidates at all ranks: of 550 candidates at as many ranks."""
_LEAST = -600.0
"""Logarithm of a probability that is certainly no zero, with room for all that is computed on the way."""


@POLICIES.register
@dataclass(frozen=True, repr=False)
class PlackettLuce(Spelled, Policy):
    """Plackett-Luce with weights score^(1 / temperature), or exp(score / temperature) with `log=True`.

    P(slate) = prod_j w_j / (sum of the weights not above slot j); paper criteo-test-bed, Eq. 1.
    An item of weight zero is never drawn before one of positive weight.

    Parameters:
        scores: a column of numbers beside the candidates.
        temperature: the nearer to zero, the nearer to sorted by score; with `log=True` one below zero puts the lowest
            scores first, as for a distance.
        log: whether the scores are logarithms of weights, as a neural ranker's logits are.

    Raises:
        UsageError: a temperature of 0, or one below it without `log=True`.

    Examples:
        >>> offrank.PlackettLuce("old_score", temperature=0.5)
        plackett_luce(old_score, temperature=0.5)
    """

    name: ClassVar[str] = "plackett_luce"
    draws_items: ClassVar[bool] = True
    scores: str
    temperature: float = field(default=1.0, kw_only=True)
    log: bool = field(default=False, kw_only=True)
    by_slots: bool = field(init=False, repr=False, compare=False)
    _known: KnownLaws | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        refuse_no_column(self, self.scores)
        if not (self.temperature > 0 or (self.log and self.temperature < 0)):
            remedy = "give a temperature above zero, or below zero with log=True, which puts the lowest scores first"
            raise UsageError(f"temperature is {self.temperature}", remedy)
        object.__setattr__(self, "by_slots", not self.log and self.temperature == 1)  # the scores are the weights

    @property
    def ascending(self) -> bool:  # type: ignore[override]  # as the temperature says
        return self.temperature < 0

    def reads(self, ability: Ability) -> Needs:
        column = frozenset([self.scores])
        weights: frozenset[str] = frozenset() if self.log else column
        return Needs(frozenset(["candidates"]), scores=column, weights=weights, exchangeable=True)

    def fills_slots(self, contexts: Contexts) -> Booleans:
        return np.ones(len(contexts), np.bool_)

    def shows_all(self, contexts: Contexts) -> Booleans:
        """As `Policy.shows_all`, from the sums of the smallest weights.

        Whichever i others are left, an item is not drawn with a probability of at least S / (largest weight + S), where
        S is the sum of the i smallest weights; at its rank it is drawn with at least its share of all of them.
        """
        weights, size, m = self._weights(contexts), contexts.size, contexts.candidates.shape[1]
        rising = np.sort(np.where(np.arange(m) < size[:, None], weights, np.inf), axis=1)
        left, smallest = np.arange(1, m + 1), np.cumsum(rising, axis=1)
        passed = (left > (size - contexts.length)[:, None]) & (left < size[:, None])
        with np.errstate(divide="ignore", invalid="ignore"):  # where a weight is zero, or all are
            surely = -np.log1p(1 / smallest).sum(axis=1, where=passed)
            surely += np.log(rising[:, :1].sum(axis=1)) - np.log(weights.sum(axis=1))
        return np.asarray(surely > _LEAST)

    def remembering(self) -> PlackettLuce:
        """The same policy, which keeps the laws of the last rows that took long."""
        made: Any = copy(self)
        object.__setattr__(made, "_known", KnownLaws())
        return made

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        return sample_rows(self.log_weights(contexts), contexts, rng)

    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        if self.by_slots:
            return super().log_prob(contexts, slates)
        return np.asarray(self._log_slot_probs(contexts, slates).sum(axis=1))

    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        if self.by_slots:
            weights, probs = contexts.scores[self.scores], np.empty(slates.shape)
            _kernels_sets.slot_probs(weights, contexts.size, slates, np.zeros(weights.shape[1], np.bool_), probs)
            return probs
        return np.exp(self._log_slot_probs(contexts, slates))

    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        """As `Policy.rank_probs`, exact.

        Raises:
            AbilityError: a row would take more than a second, raised before any is computed.
        """
        seconds = rank_seconds(contexts.size, contexts.length)
        if seconds.max(initial=0.0) > MOST_SECONDS:
            size, length = contexts.size[seconds.argmax()], contexts.length[seconds.argmax()]
            unable(
                self,
                "rank_probs",
                f"{size:,} candidates at {length:,} ranks would take about {seconds.max():,.0f} seconds per row: "
                "shorten the slates, or use estimators that weight whole slates or their beginnings, such as snips "
                "or snrips",
            )
        law = rank_law if self._known is None else self._known.solved
        return law(self.log_weights(contexts), contexts.size, contexts.length, items, contexts.slots)

    def own_ranks(self, batch: LogBatch) -> Floats | None:
        """As `Policy.own_ranks`, where the candidates are few."""
        contexts, slates = batch.contexts, batch.slates
        if not few(contexts.size):
            return None
        values = contexts.scores[self.scores] if self.by_slots else self.log_weights(contexts)
        found, size, length = np.zeros(slates.shape), contexts.size, contexts.length
        _kernels_sets.rank_probs(values, size, length, slates, found[:, :, None], logs=not self.by_slots, alone=True)
        return found

    def pair_probs(self, contexts: Contexts) -> Floats:
        """As `Policy.pair_probs`, exact; equal contexts are solved once.

        Raises:
            AbilityError: it would take too long or too much memory, raised before anything is computed.
        """
        weights = self._weights(contexts)
        out = np.zeros((len(contexts), *(weights.shape[1], contexts.slots) * 2))
        kinds = np.unique(np.column_stack([contexts.size, contexts.length]), axis=0)
        for m, k in kinds[kinds[:, 1] > 0].tolist():
            rows = np.flatnonzero((contexts.size == m) & (contexts.length == k))
            some, which = np.unique(weights[rows, :m], axis=0, return_inverse=True)
            try:
                out[rows, :m, :k, :m, :k] = pair_laws(some, k)[which.reshape(-1)]
            except UsageError as error:
                unable(self, "pair_probs", f"{error.message}: " + error.remedy)
        return out

    def order_given_set(self, contexts: Contexts, slates: Integers) -> Floats:
        """As `Policy.order_given_set`, exact; paper non-shuffled-traffic, appendix A."""
        weights, filled = self._weights(contexts), slates >= 0
        shown = np.where(filled, np.take_along_axis(weights, np.maximum(slates, 0), axis=1), 0.0)
        row, slot = np.nonzero(filled)
        weights[row, slates[row, slot]] = 0.0  # summed without the shown ones: a difference would lose precision
        rest = weights.sum(axis=1)
        out = np.zeros((*slates.shape, slates.shape[1]))
        lengths = filled.sum(axis=1)
        for length in np.unique(lengths[lengths > 0]):
            rows = lengths == length
            out[rows, :length, :length] = order_given_set(shown[rows, :length], rest[rows])
        return out

    def log_weights(self, contexts: Contexts) -> Floats:
        """[n, m] logarithms of the weights; arbitrary beyond a row's candidates."""
        logs = contexts.scores[self.scores]
        if not self.log:
            logs = np.log(logs, out=np.full(logs.shape, -np.inf), where=logs > 0)
        return logs / self.temperature

    def _weights(self, contexts: Contexts) -> Floats:
        """[n, m] weights divided by the row's largest, 0 beyond a row's candidates."""
        logs = np.where(
            np.arange(contexts.candidates.shape[1]) < contexts.size[:, None], self.log_weights(contexts), -np.inf
        )
        largest = logs.max(axis=1, keepdims=True, initial=-np.inf)
        return np.exp(logs - np.where(np.isfinite(largest), largest, 0.0))

    def _log_slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        logs, found = self.log_weights(contexts), np.zeros(slates.shape)
        _kernels_sets.log_slot_probs(logs, contexts.size, slates, np.zeros(logs.shape[1], np.bool_), found)
        return found
