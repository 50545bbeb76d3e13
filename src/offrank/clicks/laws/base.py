"""What a law of clicks can be asked."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ...log.batch import Floats


class ClickLaw(Protocol):
    """Joint distribution of the clicks C_1 ... C_k on each of n slates. Pads and holes are never clicked."""

    def marginal(self) -> Floats:
        """[n, k] P(C_k = 1): before anything is known of the session."""

    def conditional(self, clicks: Floats) -> Floats:
        """[n, k] P(C_k = 1 | C_1 ... C_{k-1}): given the clicks [n, k] above, never the one at k or below."""

    def sample(self, rng: np.random.Generator) -> Floats:
        """[n, k] clicks, 0 or 1."""


def chance_of(chance: Floats, clicks: Floats) -> Floats:
    """[n, k] probability of what happened, where `chance` is that of a click."""
    return np.where(clicks > 0, chance, 1.0 - chance)


def log_probs(law: ClickLaw, clicks: Floats) -> Floats:
    """[n] log-probability of all clicks of a slate: the chain rule over its ranks; -inf where they are impossible."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(chance_of(law.conditional(clicks), clicks)).sum(axis=1))
