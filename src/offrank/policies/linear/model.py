"""A linear scorer: the encoding of features as coordinates and their weights; its scores are sorted by, or drawn by."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...log.batch import Contexts, Floats, Integers
from ...sums.fingerprint import Fingerprint
from ..base import all_items
from ..plackett_luce import PlackettLuce
from ..top import Top
from .encoding import Encoding, Lines
from .file import PolicyFile

_SCORE = "learnt"
"""Name under which the ranker finds the scores."""


def ranker(greedy: bool) -> Top | PlackettLuce:
    """The policy that sorts by the scores (`greedy`), or draws with the weights exp(score)."""
    return Top(_SCORE) if greedy else PlackettLuce(_SCORE, log=True)


def scored(contexts: Contexts, scores: Floats) -> Contexts:
    """The contexts with scores [n, m] where `ranker` finds them."""
    return replace(contexts, scores={_SCORE: scores})


def slate_log_prob(scores: Floats, size: Integers, slates: Integers, greedy: bool) -> Floats:
    """[n] log-probability of each slate, drawn by scores [n, m] or sorted by them."""
    return ranker(greedy).log_prob(_with_slots_of(scores, size, slates), slates)


def item_probs(scores: Floats, size: Integers, slates: Integers, greedy: bool) -> Floats:
    """[n, k] probability of each slate's item at its own rank, in slates drawn by scores [n, m] or sorted by them."""
    law = ranker(greedy).rank_probs(_with_slots_of(scores, size, slates), slates)
    return np.diagonal(law, axis1=1, axis2=2)


def _with_slots_of(scores: Floats, size: Integers, slates: Integers) -> Contexts:
    return scored(Contexts(np.zeros(scores.shape, np.int64), size, (slates >= 0).sum(axis=1)), scores)


@dataclass(frozen=True)
class Model:
    """A linear model, score = features . weights. weights: [encoding.size]. facts: how it was learnt, for people.

    training: the rows used for learning or selection; None if not recorded.
    """

    encoding: Encoding
    weights: Floats
    facts: Mapping[str, Any] = field(default_factory=dict)
    training: Fingerprint | None = None

    def scores(self, contexts: Contexts) -> Floats:
        """[n, m] score of each candidate."""
        scores = self.encoding.lines(contexts).scores(self.weights)
        wide = contexts.candidates.shape[1] - scores.shape[1]
        return np.pad(scores, ((0, 0), (0, wide))) if wide else scores

    def log_prob(self, lines: Lines, slates: Integers, greedy: bool) -> Floats:
        """[n] log-probability of each slate, sorted by the scores (`greedy`) or drawn."""
        return slate_log_prob(lines.scores(self.weights), np.diff(lines.starts), slates, greedy)

    def item_probs(self, lines: Lines, slates: Integers, greedy: bool) -> Floats:
        """[n, k] probability of each slate's item at its own rank, sorted by the scores (`greedy`) or drawn."""
        return item_probs(lines.scores(self.weights), np.diff(lines.starts), slates, greedy)

    def rank_probs(self, contexts: Contexts, greedy: bool) -> Floats:
        """[n, m, k] probability of each candidate at each rank, sorted by the scores (`greedy`) or drawn."""
        return ranker(greedy).rank_probs(scored(contexts, self.scores(contexts)), all_items(contexts))

    def recorded(self, facts: Mapping[str, Any], training: Fingerprint | None) -> Model:
        """The model with how it was learnt, and the fingerprint of the rows."""
        return replace(self, facts=facts, training=training)

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write one `.npz` file atomically; only weights other than 0 take space.

        overwrite: replace a file that is there, also one that offrank did not write.
        """
        used = np.flatnonzero(self.weights)
        arrays = {"indices": used, "weights": self.weights[used]}
        PolicyFile(self.encoding, self.facts, self.training, arrays).save(path, overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Model:
        """Read what `save` wrote; nothing in the file is executed.

        Raises:
            UsageError: no such file, or not a saved model.
        """
        return PolicyFile.load(path, cls._of)

    @classmethod
    def _of(cls, found: PolicyFile) -> Model:
        weights = np.zeros(found.encoding.size)
        weights[found.arrays["indices"]] = found.arrays["weights"]
        return cls(found.encoding, weights, found.facts, found.training)
