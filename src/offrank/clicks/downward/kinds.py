"""Documents that are shown alike: every kind has a prior of its own, so that a logging policy's order bends nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ...log.batch import Floats, Integers
from ..priors import Beta
from ..sessions import Sessions
from .priors import Betas, Grid

_MOST = 8
_FEWEST = 20
"""Documents of a kind, at least."""
_ENOUGH = 150_000
"""Sessions that tell where documents stand; of more, some are taken evenly."""


@dataclass(frozen=True)
class Kinds:
    """kind: table -> [documents + 1] the kind of each document; priors: table -> the prior of each kind."""

    kind: Mapping[str, Integers]
    priors: Mapping[str, tuple[Beta, ...]]

    @classmethod
    def one(cls, priors: Mapping[str, Beta], documents: int) -> Kinds:
        """All documents alike."""
        nothing = np.zeros(documents + 1, np.int64)
        return cls(dict.fromkeys(priors, nothing), {name: (prior,) for name, prior in priors.items()})

    @classmethod
    def shown(cls, sessions: Sessions, attraction: Floats, priors: Mapping[str, Beta]) -> Kinds:
        """Attraction by the mean rank and by how attractive the neighbours are; other tables by attraction."""
        several = int(np.clip(np.sqrt(sessions.documents / _FEWEST), 1, _MOST))
        rank, neighbours = _company(sessions, attraction)
        kind = {name: _tiles(attraction, 2 * several) for name in priors}
        kind["attraction"] = _nested(rank, neighbours, several)
        return cls(kind, {name: (prior,) * (int(kind[name].max()) + 1) for name, prior in priors.items()})

    def spread(self) -> dict[str, Betas]:
        """The prior of each document."""
        return {name: Betas.of(priors, self.kind[name]) for name, priors in self.priors.items()}

    def refitted(self, grids: Mapping[str, Grid]) -> Kinds:
        """With priors of largest evidence."""
        return Kinds(self.kind, {name: tuple(self._fits(name, grid)) for name, grid in grids.items()})

    def _fits(self, name: str, grid: Grid) -> Iterator[Beta]:
        for place, prior in enumerate(self.priors[name]):
            some = grid.some(self.kind[name] == place)
            yield some.fit(prior) if len(some.logs) else prior


def _company(sessions: Sessions, attraction: Floats) -> tuple[Floats, Floats]:
    """[documents + 1] mean rank where a document is shown, mean attraction of what stands above and below it."""
    thinned = slice(None, None, -(-len(sessions) // _ENOUGH))
    document, weights = sessions.document[thinned], sessions.weight[thinned]
    shown = document >= 0
    items = np.where(shown, attraction[document], 0.0)
    beside, count = np.zeros(document.shape), np.zeros(document.shape)
    for here, there in ((np.s_[:, 1:], np.s_[:, :-1]), (np.s_[:, :-1], np.s_[:, 1:])):
        beside[here] += items[there]
        count[here] += shown[there]
    rank = np.broadcast_to(np.arange(document.shape[1], dtype=np.float64), document.shape)
    weight = np.broadcast_to(weights[:, None], document.shape)[shown]
    total = np.maximum(np.bincount(document[shown], weight, len(attraction)), 1e-300)
    means = (np.bincount(document[shown], weight * x[shown], len(attraction)) / total for x in (rank, beside, count))
    mean_rank, mean_beside, mean_count = means
    return mean_rank, mean_beside / np.maximum(mean_count, 1e-300)


def _tiles(values: Floats, most: int) -> Integers:
    """Which of `most` parts of about the same size each value is in."""
    edges = np.unique(np.quantile(values, np.linspace(0, 1, most + 1)[1:-1]))
    return np.searchsorted(edges, values, side="right")


def _nested(first: Floats, second: Floats, most: int) -> Integers:
    """Parts by the first, and of each by the second."""
    outer, out = _tiles(first, most), np.zeros(len(first), np.int64)
    for part in range(most):
        rows = np.flatnonzero(outer == part)
        out[rows] = part * most + (_tiles(second[rows], most) if len(rows) else 0)
    return np.unique(out, return_inverse=True)[1]
