"""Gradient-boosted trees that separate original documents from those whose logging relevance was exchanged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from offrank.errors import optional
from offrank.log.batch import Floats

_STEADY = {"deterministic": True, "force_row_wise": True, "num_threads": 1}
"""Reproducible trees. One thread: with few documents more gain little, and lose much on a busy machine."""


def boosted(
    own: Floats,
    exchanged: Floats,
    seed: int,
    trees: int = 100,
    options: Mapping[str, Any] = MappingProxyType({}),
    held_out: tuple[Floats, Floats] | None = None,
) -> Callable[[Floats], Floats]:
    """Learn from examples [e, features] of both kinds a function to log(P(original) / P(exchanged)) [e] of others.

    trees: at most, fewer if it stops early on held-out examples of both kinds. options: of LightGBM.

    Raises:
        MissingExtraError: LightGBM is not installed.
    """
    remedy = ", or use method='binned', which needs no other package"
    library = optional("lightgbm", "this method of CMIP trains LightGBM", "models", remedy)
    settings = {"objective": "binary", "verbose": -1, "seed": seed, **_STEADY, **options}
    train, watching = library.Dataset(*_labelled(own, exchanged)), dict[str, Any]()
    if held_out is not None:
        watched = library.Dataset(*_labelled(*held_out), reference=train)
        watching = {"valid_sets": [watched], "callbacks": [library.early_stopping(20, verbose=False)]}
    model = library.train(settings, train, trees, **watching)
    return lambda examples: np.asarray(model.predict(examples, raw_score=True), dtype=np.float64)


def _labelled(own: Floats, exchanged: Floats) -> tuple[Floats, Floats]:
    """Examples of both kinds and their labels, 1 and 0."""
    return np.vstack([own, exchanged]), np.concatenate([np.ones(len(own)), np.zeros(len(exchanged))])


def donsker_varadhan(own: Floats, exchanged: Floats) -> float:
    """Mean log-odds of the original documents, less the log of the mean odds of exchanged ones (equation 13)."""
    most = float(exchanged.max())
    return float(own.mean() - most - np.log(np.exp(exchanged - most).mean()))
