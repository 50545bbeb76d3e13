"""Pseudo-targets: policies beside a target, on which estimators can be tried out with the same log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np

from ..errors import AbilityError
from ..estimators.items import IPM
from ..log.batch import Floats, LogBatch
from ..log.source import Needs
from ..policies.propensities import AnyPolicy, is_law, law_needs, propensities, reads
from ..policies.tilted import Tilted
from ..sums.base import Fold

STRENGTHS = (0.25, 0.5, 1.0, -0.5)
"""How far pseudo-targets lean towards the target's order: a little, much, and away from it."""


def pseudo_targets(logging: AnyPolicy, target: AnyPolicy) -> tuple[AnyPolicy, ...]:
    """Policies that lean from the logging one towards the target's order, and away from it; their laws are exact.

    Mixtures of the logging policy and the target would tell nothing new: estimates are linear in the probabilities of
    slates, so that their biases and their noise would shrink alike. None where the logging policy is known for the
    shown slates only, or the target gives no probability of an item at a rank.
    """
    if not (is_law(logging) and _able(reads, target, "rank_law") and _able(law_needs, target, "rank_probs")):
        return ()
    return tuple(Tilted(logging, target, strength) for strength in STRENGTHS)


def _able(needs: Callable[..., Needs], policy: AnyPolicy, ability: str) -> bool:
    try:
        needs(policy, ability)
    except AbilityError:
        return False
    return True


@dataclass(frozen=True)
class DistanceFold(Fold):
    """The distance of each target from the logging policy: the mean of max(1 - weight, 0) of items at ranks.

    That is the total variation between what both show at a rank, averaged over impressions and ranks: from 0 to 1.
    Items that the logging policy never shows there count too: what it shows instead has the smaller weights.
    """

    targets: tuple[AnyPolicy, ...]
    logging: AnyPolicy

    def of(self, batch: LogBatch) -> Floats:
        filled = np.arange(batch.slates.shape[1]) < batch.contexts.length[:, None]
        share = filled / np.maximum(batch.contexts.length, 1)[:, None] / batch.inclusion[:, None]
        logging, away = propensities(self.logging, batch), []
        for target in self.targets:
            weight, impossible = IPM().ratios(batch, logging, propensities(target, batch))
            missing = np.maximum(1 - np.where(impossible, 0.0, weight), 0.0)
            away.append(float((missing * share).sum()))
        return np.array([*away, float(share.sum())])

    def result(self, found: Floats) -> Floats:
        """[targets] the distances."""
        return np.asarray(found[:-1] / max(float(found[-1]), 1e-300))

    def needs(self) -> Needs:
        """The columns that it reads."""
        return reduce(Needs.__or__, (reads(one, "rank_law") for one in (self.logging, *self.targets)))
