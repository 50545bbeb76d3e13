"""All estimators for all targets in one pass: batches become rows of terms for the inner folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ImpossibleSlateError, OffrankError, RowError
from ..log import rules
from ..log.batch import Floats, LogBatch
from ..log.source import Needs
from ..policies.base import Policy
from ..policies.propensities import propensities
from ..sums.base import Fold, Sample
from ..sums.group_by import Grouping
from ..sums.mean import Name
from ..sums.named_sums import ByName
from ..sums.sampled import row_codes
from . import _kernels, _kernels_slots
from .base import Estimator, Terms, refuse_impossible, terms_of
from .effective_size import EffectiveSizeTerms
from .layout import BLOCKS, CLICKS, CONTROL, PER, REWARD, ROWS, SLOTS, Layout, by_history, of_arm, times_control

LARGEST = 1e150
"""Largest value or weight of a row whose square can be summed. Values below its inverse count as zero."""


@dataclass(frozen=True)
class TermsFold(Fold):
    """Turns batches into samples, whose sums it keeps.

    clusters: columns whose values mark dependent rows. by: the group of each row. told: as in `IntervalSpec`.
    """

    layout: Layout
    logging: Policy
    sums: Fold
    clusters: tuple[str, ...] = ()
    by: Grouping | None = None
    told: Needs | None = None

    def add(self, part: Any, batch: LogBatch) -> Any:
        """The sum of a part and of the rows of terms of a batch."""
        layout, columns = self.layout, self.layout.columns
        # Each column stands together in memory, which only columns of slots need empty.
        room = np.zeros if layout.per_slot else np.empty
        values = room((columns.width(min(batch.slates.shape[1], BLOCKS)), len(batch.row))).T
        clicks = np.zeros(len(batch)) if batch.clicks is None else batch.click_sums.total
        reward = clicks if batch.outcome is None else batch.outcome
        named = ByName(columns, values)
        named[ROWS], named[REWARD], named[CLICKS] = 1.0, reward, clicks
        logging = propensities(self.logging, batch)
        every = list[Terms]()
        lenient: dict[Estimator, Any] = {one: one.lenient_terms for one in layout.references}
        for pair in layout.pairs:
            target, estimator, *_ = pair
            terms = lenient.get(estimator)
            found: Terms = (
                terms(batch, logging, propensities(target, batch))
                if terms
                else terms_of(estimator, batch, self.logging, target)
            )
            named[pair.value], named[pair.weight] = found.value, found.weight
            for key, name in pair.parts.items():
                named[name] = found.parts[key]
            every.append(found)
            for name, one in pair.drawn.items():
                named[name] = terms_of(one, batch, self.logging, target).value
        if layout.ratio:
            self._divided(named, batch, every)
        if layout.arms is not None or layout.learnt:
            self._arms(named, batch)
        if layout.control is not None:
            self._controlled(named, batch.numbers[layout.control])
        if layout.per_slot:
            self._slots(named, batch, every)
        rewards: dict[Name, Any] = {REWARD: reward, CLICKS: clicks}
        earned = tuple((terms, rewards[pair.outcome]) for terms, pair in zip(every, layout.pairs, strict=True))
        summed = EffectiveSizeTerms(layout.summed, batch, (reward, clicks), earned)
        if (batch.inclusion != 1).any():
            values /= batch.inclusion[:, None]
        column, row = _kernels.settle(values.T, 1 / LARGEST, LARGEST)
        if row >= 0:
            raise self._beyond(batch, row, columns.name(column), ByName(columns, values[row]))
        groups = None if self.by is None else self.by(batch)
        codes = batch.dependent(self.clusters) | ({} if self.told is None else row_codes(batch, self.told))
        return self.sums.add(part, Sample(values.T, batch.row, codes, summed, groups))

    def _divided(self, named: ByName, batch: LogBatch, found: Sequence[Terms]) -> None:
        """Fill the columns by whose sums those of an outcome are divided that is a ratio of two means."""
        per = batch.numbers[PER]
        named[PER] = per if per.ndim == 1 else per.sum(axis=1)
        for pair, terms in zip(self.layout.pairs, found, strict=True):
            named[pair.per] = named[pair.weight] * named[PER]
            if terms.weights is not None and terms.weights.weight.ndim > 1:
                named[pair.per] = (terms.weights.weight * per).sum(axis=1)

    def _controlled(self, named: ByName, control: Floats) -> None:
        """Fill the columns of the control, and of what is multiplied by it."""
        named[CONTROL] = control
        for weight in self.layout.controlled:
            named[times_control(weight)] = control * named[weight]

    def _arms(self, named: ByName, batch: LogBatch) -> None:
        """Fill the columns of the arms, and of what is learnt of them or of merged rankers."""
        layout, served = self.layout, self.layout.arms
        if layout.history is not None:
            for ranker, terms in enumerate(layout.history.terms(batch).T):
                named[by_history(ranker)] = terms
        if served is None:
            return
        if layout.tells_lists:
            own = propensities(served, batch)
            refuse_impossible(batch, np.isneginf(own.log_prob), own)
        arms = served.arms(batch.contexts)
        for arm in range(layout.served_by):
            for column in layout.of_rows:
                named[of_arm(arm, column)] = (arms == arm) * named[column]

    def _beyond(self, batch: LogBatch, row: int, column: Name, values: ByName) -> OffrankError:
        """The error for a row whose values cannot be summed, because the one in `column` is too large or NaN."""
        place, number = int(batch.row[row]) - batch.base, f"{values[column]:.3g}"
        for pair in self.layout.pairs:
            weight = float(values[pair.weight])
            if column == pair.weight or (column == pair.value and not abs(weight) <= LARGEST):
                return ImpossibleSlateError(
                    f"{batch.file}, row {place} (the first is 0): {pair.estimator!r} gives the logged slate the weight "
                    f"{weight:.3g} for {pair.target!r}, because its probability under {self.logging!r} is almost "
                    "0",
                    "the logging policy cannot be right: check the propensities, the score column, the temperature "
                    "and the examination curve, or bound the weights: clip(ips, 100)",
                )
            if column == pair.value:
                return self._outcome(batch, place, pair.estimator.kind.outcome, number)
        names: dict[Name, str] = {ROWS: "inclusion", REWARD: "reward"}
        return self._outcome(batch, place, names.get(column, "clicks"), number)

    def _outcome(self, batch: LogBatch, place: int, column: str, number: str) -> RowError:
        rule = rules.TOO_LARGE
        return RowError(batch.file, place, column, rule.code, f"{number} {rule.broken}", rule.remedy)

    def _slots(self, named: ByName, batch: LogBatch, found: Sequence[Terms]) -> None:
        """Fill the columns of slots."""
        length, number = batch.contexts.length, named[SLOTS]
        number[:] = length[:, None] > np.arange(number.shape[1])
        if number.shape[1] == BLOCKS:
            number[:, -1] = np.maximum(length - (BLOCKS - 1), 0)
        for pair in self.layout.slotted:
            weights = found[pair.number].weights
            if weights is None or batch.clicks is None:
                raise ValueError(f"{pair.estimator!r} has no weights of clicks")
            columns = named[pair.slot_value], named[pair.slot_weight]
            _kernels_slots.normalising(weights.weight, weights.control, batch.clicks, length, *columns)
            if self.layout.ratio:
                columns = named[pair.slot_per], np.zeros_like(columns[1])
                _kernels_slots.normalising(weights.weight, weights.control, batch.numbers[PER], length, *columns)
