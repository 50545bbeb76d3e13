"""Joint distributions of the clicks on a slate, shared by click models and simulated users.

A distribution is built from arrays [n, k], one row per slate, and is independent of logs, parameters and learning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..log.batch import Floats
from . import _kernels_laws


class ClickLaw(Protocol):
    """Joint distribution of the clicks C_1 ... C_k on each of n slates. Pads and holes are never clicked."""

    def marginal(self) -> Floats:
        """[n, k] P(C_k = 1), the marginal click probabilities."""

    def conditional(self, clicks: Floats) -> Floats:
        """[n, k] P(C_k = 1 | C_1 ... C_{k-1}), given the clicks [n, k] above rank k only."""

    def sample(self, rng: np.random.Generator) -> Floats:
        """[n, k] clicks, 0 or 1."""


def chance_of(chance: Floats, clicks: Floats) -> Floats:
    """[n, k] probability of the observed outcome, where `chance` is that of a click."""
    return np.where(clicks > 0, chance, 1.0 - chance)


def log_probs(law: ClickLaw, clicks: Floats) -> Floats:
    """[n] log-probability of all clicks of a slate, by the chain rule over its ranks; -inf where impossible."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(chance_of(law.conditional(clicks), clicks)).sum(axis=1))


@dataclass(frozen=True)
class Independent:
    """Independent clicks: P(C_k = 1) = chance [n, k], whatever else is clicked.

    Parameters:
        chance: [n, k] probability of each click.

    Examples:
        >>> import numpy as np
        >>> offrank.clicks.Independent(np.array([[0.5, 0.2]])).marginal().tolist()
        [[0.5, 0.2]]
    """

    chance: Floats

    def marginal(self) -> Floats:
        return self.chance

    def conditional(self, clicks: Floats) -> Floats:
        return self.chance

    def sample(self, rng: np.random.Generator) -> Floats:
        return (rng.random(self.chance.shape) < self.chance).astype(np.float64)


@dataclass(frozen=True)
class Browsing:
    """P(C_k = 1 | clicks above) = examination[k, last] attraction[n, k]: the user browsing model.

    Parameters:
        attraction: [n, k], 0 on pads.
        examination: [k, k + 1]; `last` is 0 before the first click, else the number of the last clicked rank,
            counted from 1. Entries with last > rank are never read.

    Examples:
        >>> import numpy as np
        >>> offrank.clicks.Browsing(np.array([[0.5, 0.5]]), np.ones((2, 3))).marginal().tolist()
        [[0.5, 0.5]]
    """

    attraction: Floats
    examination: Floats

    def marginal(self) -> Floats:
        return _kernels_laws.browsing_marginal(self.attraction, self.examination)

    def conditional(self, clicks: Floats) -> Floats:
        return _kernels_laws.browsing_conditional(self.attraction, self.examination, clicks)

    def sample(self, rng: np.random.Generator) -> Floats:
        return _kernels_laws.browsing_sample(self.attraction, self.examination, rng.random(self.attraction.shape))


@dataclass(frozen=True)
class Cascading:
    """Users read from the top and may stop after every result; examined ones are clicked with probability `attraction`.

    All [n, k]: attraction (0 on pads and holes), after_click and after_skip: probability of going on to the next rank
    once this one was clicked, or examined and not clicked. Examination is hidden: its posterior probability is
    e_1 = 1; after a click e_{k+1} = after_click; after none, by Bayes' rule,
    e_{k+1} = after_skip e_k (1 - a_k) / (1 - e_k a_k).

    Parameters:
        attraction: [n, k] probability of a click on an examined result; 0 on pads and holes.
        after_click: [n, k] probability of going on after a click.
        after_skip: [n, k] probability of going on after an examined result that was not clicked.

    Examples:
        >>> import numpy as np
        >>> offrank.clicks.Cascading(*np.array([[[0.5, 0.5]], [[0, 0]], [[1, 1]]])).marginal().tolist()
        [[0.5, 0.25]]
    """

    attraction: Floats
    after_click: Floats
    after_skip: Floats

    def marginal(self) -> Floats:
        return _kernels_laws.cascading_marginal(self.attraction, self.after_click, self.after_skip)

    def conditional(self, clicks: Floats) -> Floats:
        return _kernels_laws.cascading_conditional(self.attraction, self.after_click, self.after_skip, clicks)

    def sample(self, rng: np.random.Generator) -> Floats:
        draws = rng.random((2, *self.attraction.shape))
        return _kernels_laws.cascading_sample(self.attraction, self.after_click, self.after_skip, draws[0], draws[1])


@dataclass(frozen=True)
class Upward:
    """As `Cascading`, but users read from the bottom up; `conditional` still conditions on the clicks above.

    Parameters:
        attraction: [n, k] as of `Cascading`.
        after_click: [n, k] probability of going on after a click.
        after_skip: [n, k] probability of going on without one.

    Examples:
        >>> import numpy as np
        >>> offrank.clicks.Upward(*np.array([[[0.5, 0.5]], [[0, 0]], [[1, 1]]])).marginal().tolist()
        [[0.25, 0.5]]
    """

    attraction: Floats
    after_click: Floats
    after_skip: Floats

    def marginal(self) -> Floats:
        return np.ascontiguousarray(self._turned.marginal()[:, ::-1])

    def conditional(self, clicks: Floats) -> Floats:
        return _kernels_laws.upward_conditional(self.attraction, self.after_click, self.after_skip, clicks)

    def sample(self, rng: np.random.Generator) -> Floats:
        return np.ascontiguousarray(self._turned.sample(rng)[:, ::-1])

    @property
    def _turned(self) -> Cascading:
        turned = (np.ascontiguousarray(a[:, ::-1]) for a in (self.attraction, self.after_click, self.after_skip))
        return Cascading(*turned)


@dataclass(frozen=True)
class Mixed:
    """A mixture: session i follows laws[c] with probability weight[i, c] (or weight[c] for all); c is not observed.

    Parameters:
        laws: the law of each component c.
        weight: [n, c] or [c] probability of each component.

    Examples:
        >>> import numpy as np
        >>> halves = [offrank.clicks.Independent(np.array([[chance]])) for chance in (0.2, 0.4)]
        >>> offrank.clicks.Mixed(halves, np.array([[0.5, 0.5]])).marginal().round(2).tolist()
        [[0.3]]
    """

    laws: Sequence[ClickLaw]
    weight: Floats

    def marginal(self) -> Floats:
        each = np.stack([law.marginal() for law in self.laws])
        return np.asarray(np.einsum("cnk,nc->nk", each, self._weights(each.shape[1])))

    def conditional(self, clicks: Floats) -> Floats:
        """Components are weighted by their posterior given the clicks above, without the click that is predicted."""
        each = np.stack([law.conditional(clicks) for law in self.laws])
        with np.errstate(divide="ignore"):
            evidence = np.cumsum(np.log(chance_of(each, clicks)), axis=2)
            before = np.concatenate([np.zeros_like(evidence[:, :, :1]), evidence[:, :, :-1]], axis=2)
            posterior = before + np.log(self._weights(each.shape[1])).T[:, :, None]
        largest = posterior.max(axis=0)
        share = np.exp(posterior - np.where(np.isfinite(largest), largest, 0.0))
        total = share.sum(axis=0)
        # A session that no component allows has no posterior; its further clicks have probability 0.
        return np.divide((share * each).sum(axis=0), total, out=np.zeros_like(total), where=total > 0)

    def sample(self, rng: np.random.Generator) -> Floats:
        each = np.stack([law.sample(rng) for law in self.laws])
        weights = self._weights(each.shape[1])
        drawn = rng.random((len(weights), 1)) * weights.sum(axis=1, keepdims=True)
        chosen = np.minimum((drawn >= weights.cumsum(axis=1)).sum(axis=1), len(each) - 1)
        return np.asarray(each[chosen, np.arange(len(weights))])

    def _weights(self, rows: int) -> Floats:
        return np.broadcast_to(self.weight, (rows, len(self.laws)))
