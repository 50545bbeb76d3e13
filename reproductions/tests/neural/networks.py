"""What tests of neural click models share: sessions in memory, and fits that compile quickly."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from offrank.clicks.base import FitResult
from offrank.clicks.documents import SlateDocuments
from offrank.clicks.sessions import Sessions
from offrank_papers.neural.models import RecurrentModel

BESIDE = "held-out log-likelihood minus that of ubm"
"""The fact that compares a network with `ubm`."""


def slots(slates: np.ndarray) -> SlateDocuments:
    return SlateDocuments(slates, np.full(slates.shape, True))


def sessions(rows: list[list[int]], clicks: list[list[int]], weight: list[float], documents: int) -> Sessions:
    ranks = max(map(len, rows))
    padded = [np.array([[*row, *[fill] * (ranks - len(row))] for row in t]) for t, fill in ((rows, -1), (clicks, 0))]
    return Sessions(padded[0].astype(np.int32), padded[1].astype(np.uint8), np.array(weight), documents)


@pytest.fixture(autouse=True, scope="module")
def quick() -> Iterator[None]:
    """Compiles without optimising: these networks are too small to gain from it."""
    if not find_spec("jax"):
        yield
        return
    import jax

    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


def learnt(model: RecurrentModel, data: Sessions, **how: Any) -> FitResult:
    pytest.importorskip("jax")
    pytest.importorskip("optax")
    return model.learn(data, **how)
