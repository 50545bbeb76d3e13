"""A learnt boosted scorer: the encoding of features, the trees, and the file for both."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import UsageError
from ...log.batch import Contexts, Floats, Integers
from ...sums.fingerprint import Fingerprint
from ..base import all_items
from ..linear import Encoding, Lines, PolicyFile, item_probs, ranker, scored, slate_log_prob
from .assignment import Assigned, Assignment
from .forest import TreeEnsemble

_MOST_SLOTS = 10_000
"""Slots that the trees of a file may tell apart: more would ask for memory that no slate needs."""


@dataclass(frozen=True)
class BoostedModel:
    """Boosted trees over the columns [width] of encoded features. facts: how it was learnt, for people.

    training: the rows used for learning or selection; None if not recorded.
    """

    encoding: Encoding
    columns: Integers
    forest: TreeEnsemble
    facts: Mapping[str, Any] = field(default_factory=dict)
    training: Fingerprint | None = None

    @cached_property
    def _place(self) -> Integers:
        """[encoding.size] index into `columns`, -1 for features that were not seen."""
        place = np.full(self.encoding.size, -1)
        place[self.columns] = np.arange(len(self.columns))
        return place

    def matrix(self, lines: Lines) -> Any:
        """[lines, width] the features of each candidate, a CSR matrix; values of a repeated feature add up."""
        from scipy import sparse

        place = self._place[lines.indices]
        known = place >= 0
        offsets = np.concatenate([[0], np.cumsum(known)])[lines.offsets]
        shape = (len(lines.offsets) - 1, len(self.columns))
        made = sparse.csr_matrix((lines.values[known], place[known], offsets), shape=shape)
        made.sum_duplicates()
        return made

    def scores(self, lines: Lines) -> Floats:
        """[n, m] score of each candidate, or [n, m, slots] of each in each slot; zeros beyond a row's candidates."""
        found, size = self.forest.scores(self.matrix(lines)), np.diff(lines.starts)
        padded = np.zeros((len(size), int(size.max(initial=0)), *found.shape[1:]))
        padded[np.arange(padded.shape[1]) < size[:, None]] = found
        return padded

    def log_prob(self, lines: Lines, slates: Integers, greedy: bool) -> Floats:
        """[n] log-probability of each slate, sorted by the scores (`greedy`) or drawn; fixed with scores by slot."""
        scores, size = self.scores(lines), np.diff(lines.starts)
        if self.forest.slots:
            return Assigned(scores, size, (slates >= 0).sum(axis=1)).log_prob(slates)
        return slate_log_prob(scores, size, slates, greedy)

    def rank_probs(self, contexts: Contexts, greedy: bool) -> Floats:
        """[n, m, k] probability of each candidate at each rank, sorted (`greedy`), drawn, or fixed by slot."""
        if self.forest.slots:
            return self.assigned(contexts, "greedy").rank_probs(all_items(contexts))
        made = scored(contexts, widened(self.scores(self.encoding.lines(contexts)), contexts))
        return ranker(greedy).rank_probs(made, all_items(contexts))

    def assigned(self, contexts: Contexts, assignment: Assignment) -> Assigned:
        """The law of the best slates of some contexts, by the scores of candidates in slots."""
        if contexts.slots > self.forest.slots:
            raise UsageError(
                f"the policy was learnt from slates of {self.forest.slots} slots, but this log has {contexts.slots}",
                "learn it again from slates with as many slots",
            )
        scores = widened(self.scores(self.encoding.lines(contexts)), contexts)[:, :, : contexts.slots]
        return Assigned(np.ascontiguousarray(scores), contexts.size, contexts.length, assignment)

    def item_probs(self, lines: Lines, slates: Integers, greedy: bool) -> Floats:
        """[n, k] probability of each slate's item at its own rank, sorted (`greedy`), drawn, or fixed by slot."""
        scores, size = self.scores(lines), np.diff(lines.starts)
        if self.forest.slots:
            law = Assigned(scores, size, (slates >= 0).sum(axis=1)).rank_probs(slates)
            return np.diagonal(law, axis1=1, axis2=2)
        return item_probs(scores, size, slates, greedy)

    def recorded(self, facts: Mapping[str, Any], training: Fingerprint | None) -> BoostedModel:
        """The model with how it was learnt, and the fingerprint of the rows."""
        return replace(self, facts=facts, training=training)

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write one `.npz` file atomically. overwrite: replace a file of others that is there."""
        text = np.frombuffer(self.forest.text.encode(), dtype=np.uint8)
        arrays: dict[str, Any] = {"trees": text, "columns": self.columns, "slots": np.array(self.forest.slots)}
        PolicyFile(self.encoding, self.facts, self.training, arrays).save(path, overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> BoostedModel:
        """Read what `save` wrote; nothing in the file is executed.

        Raises:
            UsageError: no such file, or not a saved model.
        """
        return PolicyFile.load(path, cls._of)

    @classmethod
    def _of(cls, found: PolicyFile) -> BoostedModel:
        columns, slots = found.arrays["columns"].astype(np.int64), int(found.arrays["slots"])
        if not 0 <= slots <= _MOST_SLOTS:
            raise ValueError(f"it has trees for {slots:,} slots")
        forest = TreeEnsemble(found.arrays["trees"].tobytes().decode(), len(columns), slots)
        made = cls(found.encoding, columns, forest, found.facts, found.training)
        _ = (made._place, forest.trees)  # a file that cannot be used is refused here
        return made


def widened(scores: Floats, contexts: Contexts) -> Floats:
    """The scores [n, m, ...] padded to the width of the contexts."""
    wide = contexts.candidates.shape[1] - scores.shape[1]
    return np.pad(scores, ((0, 0), (0, wide)) + ((0, 0),) * (scores.ndim - 2)) if wide else scores
