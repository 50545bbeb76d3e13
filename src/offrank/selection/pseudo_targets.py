"""Pseudo-targets: policies beside a target, on which estimators can be tried out with the same log."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from ..errors import AbilityError
from ..estimators.items import IPM
from ..log.batch import Floats, LogBatch
from ..log.source import Needs
from ..policies.base import Policy
from ..policies.propensities import propensities
from ..policies.tilted import Tilted
from ..sums.base import Fold

STRENGTHS = (0.25, 0.5, 1.0, -0.5)
"""How far pseudo-targets lean towards the target's order: a little, much, and away from it."""


def pseudo_targets(logging: Policy, target: Policy) -> tuple[Policy, ...]:
    """Policies that lean from the logging one towards the target's order, and away from it; their laws are exact.

    Mixtures of the logging policy and the target would tell nothing new: estimates are linear in the probabilities of
    slates, so that their biases and their noise would shrink alike. None where the logging policy is known for the
    shown slates only, or the target gives no probability of an item at a rank.
    """
    if not (logging.any_slate and _gives_ranks(target)):
        return ()
    return tuple(Tilted(logging, target, strength) for strength in STRENGTHS)


def _gives_ranks(policy: Policy) -> bool:
    try:
        policy.reads("rank_probs")
    except AbilityError:
        return False
    return True


@dataclass(frozen=True)
class DistanceFold(Fold):
    """The distance of each target from the logging policy: the mean of max(1 - weight, 0) of items at ranks.

    That is the total variation between what both show at a rank, averaged over impressions and ranks: from 0 to 1.
    Items that the logging policy never shows there count too: what it shows instead has the smaller weights.
    """

    targets: tuple[Policy, ...]
    logging: Policy

    def of(self, batch: LogBatch) -> Floats:
        filled = np.arange(batch.slates.shape[1]) < batch.contexts.length[:, None]
        share = filled / np.maximum(batch.contexts.length, 1)[:, None] / batch.inclusion[:, None]
        logging, away = propensities(self.logging, batch), []
        for target in self.targets:
            weight = IPM().weigh(batch, logging, propensities(target, batch)).weight
            missing = np.maximum(1 - np.where(np.isfinite(weight), weight, 0.0), 0.0)
            away.append(float((missing * share).sum()))
        return np.array([*away, float(share.sum())])

    def result(self, found: Floats) -> Floats:
        """[targets] the distances."""
        return np.asarray(found[:-1] / max(float(found[-1]), 1e-300))

    def needs(self) -> Needs:
        """The columns that it reads."""
        return reduce(Needs.__or__, (one.reads("rank_law") for one in (self.logging, *self.targets)))
