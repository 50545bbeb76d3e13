"""What position-based models lose to click rates by rank where the documents of a log were shown a few times."""

from __future__ import annotations

import numpy as np
import pytest

from offrank.clicks import Fitted, click_model
from offrank.clicks.documents import Documents, SlateDocuments
from offrank.clicks.sessions import Sessions, Tally, TrainingData, collapsed

RANKS, QUERIES, SESSIONS, NEW = 10, 60, 120, 10_000


def likelihood(fitted: Fitted, document: np.ndarray, click: np.ndarray) -> float:
    """In nats a session."""
    slots = SlateDocuments(document, document >= 0)
    chance = fitted.model.law(fitted.learnt.parameters, slots).conditional(click * 1.0)
    return float(np.log(np.where(click, chance, 1 - chance)).sum() / len(click))


def lost(names: tuple[str, ...], seed: int) -> list[float]:
    """What each model loses to `rctr` on new sessions in random orders; documents are nearly alike."""
    rng = np.random.default_rng(seed)
    relevance = rng.beta(30, 120, QUERIES * RANKS)

    def draw(n: int) -> tuple[np.ndarray, np.ndarray]:
        query = rng.integers(0, QUERIES, n)[:, None]
        document = query * RANKS + rng.random((n, RANKS)).argsort(axis=1, kind="stable")
        return document.astype(np.int32), rng.random((n, RANKS)) < relevance[document] / np.arange(1, RANKS + 1)

    (document, click), (later, clicked) = draw(SESSIONS), draw(NEW)
    known = np.unique(document)
    whole = Sessions(document, click.astype(np.uint8), np.ones(SESSIONS), QUERIES * RANKS)
    data = TrainingData(Documents(np.arange(QUERIES * RANKS)), collapsed(whole), Tally(SESSIONS, ranks=RANKS))
    seen = np.isin(later, known).all(axis=1)
    found = [likelihood(click_model(name).of(data), later[seen], clicked[seen]) for name in ("rctr", *names)]
    return [found[0] - one for one in found[1:]]


@pytest.mark.turns(3)
def test_position_based_models_lose_little_to_click_rates_by_rank() -> None:
    names = ("pbm", "ubm", "trust")
    each = np.mean([lost(names, seed) for seed in range(8)], axis=0)
    assert not {name: loss for name, loss in zip(names, each, strict=True) if loss > 0.01}
