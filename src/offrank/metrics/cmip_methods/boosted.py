"""Gradient-boosted trees that tell documents as they are from documents whose logging relevance was exchanged."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import optional
from ...log.batch import Floats

_STEADY = {"deterministic": True, "force_row_wise": True, "num_threads": 1}
"""The same trees everywhere. One thread: with so few documents several gain little, and lose much on a busy machine."""


@dataclass(frozen=True)
class Boosted:
    """LightGBM for two classes; `trees` at most, fewer where it stops early on examples held out."""

    trees: int = 100
    options: dict[str, Any] = field(default_factory=dict)

    def fit(
        self, examples: Floats, labels: Floats, seed: int, held_out: tuple[Floats, Floats] | None = None
    ) -> Boundary:
        """Trained on examples [e, features] with labels [e] of 0 and 1."""
        library = lightgbm()
        settings = {"objective": "binary", "verbose": -1, "seed": seed, **_STEADY}
        train = library.Dataset(examples, labels)
        if held_out is None:
            return Boundary(library.train({**settings, **self.options}, train, self.trees))
        stop = library.early_stopping(20, verbose=False)
        watched = library.Dataset(held_out[0], held_out[1], reference=train)
        found = library.train({**settings, **self.options}, train, self.trees, valid_sets=[watched], callbacks=[stop])
        return Boundary(found)


@dataclass(frozen=True)
class Boundary:
    """A trained classifier."""

    model: Any

    def log_odds(self, examples: Floats) -> Floats:
        """[e] log of P(as they are) / P(exchanged)."""
        return np.asarray(self.model.predict(examples, raw_score=True), dtype=np.float64)


def lightgbm() -> Any:
    """The library.

    Raises:
        MissingExtraError: it is not installed.
    """
    remedy = ", or take method='binned', which needs nothing more"
    return optional("lightgbm", "this method of CMIP trains LightGBM", "models", remedy)


def together(own: Floats, exchanged: Floats) -> tuple[Floats, Floats]:
    """Examples of both kinds and their labels."""
    return np.vstack([own, exchanged]), np.concatenate([np.ones(len(own)), np.zeros(len(exchanged))])


def donsker_varadhan(own: Floats, exchanged: Floats) -> float:
    """Mean log-odds where documents are as they are, less the log of the mean odds where exchanged (equation 13)."""
    most = float(exchanged.max())
    return float(own.mean() - most - np.log(np.exp(exchanged - most).mean()))
