"""Click rates drawn to those of their likes, and how far documents keep their rank."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from offrank.clicks.click_counts import ClickCounts, count_clicks
from offrank.clicks.fit import click_rates
from offrank.clicks.fit.click_rates import intraclass, of_mean_ranks, rates_by_rank
from offrank.clicks.sessions import Sessions
from offrank.clicks.ubm import UBM

RANKS = 5


def log(n: int, *, noise: float, queries: int = 20, curve: np.ndarray | None = None, seed: int = 0) -> Sessions:
    """Sessions of queries of five documents, ranked by a score of each and noise."""
    rng = np.random.default_rng(seed)
    score = rng.standard_normal((queries, RANKS))
    query = rng.integers(0, queries, n)
    order = np.argsort(-(score[query] + noise * rng.standard_normal((n, RANKS))), axis=1, kind="stable")
    click = rng.random((n, RANKS)) < (0.5 / np.arange(1, RANKS + 1) if curve is None else curve)
    document = (query[:, None] * RANKS + order).astype(np.int32)
    return Sessions(document, click.astype(np.uint8), np.ones(n), queries * RANKS, np.arange(queries * RANKS) // RANKS)


def pairs(sessions: Sessions) -> float:
    """The correlation of ranks over all pairs of views of a document, each document by its views."""
    rank = np.broadcast_to(np.arange(RANKS), sessions.document.shape).ravel() - (RANKS - 1) / 2
    products, weights = 0.0, 0.0
    for document in range(sessions.documents):
        mine = rank[sessions.document.ravel() == document]
        if len(mine) > 1:
            products += (mine.sum() ** 2 - mine @ mine) / (len(mine) - 1)
            weights += len(mine)
    return products / weights / rank.var()


@pytest.mark.parametrize("noise", [0.0, 0.5, 2.0])
def test_how_far_documents_keep_their_rank(noise: float) -> None:
    sessions = log(2_000, noise=noise)
    found = intraclass(count_clicks(sessions))
    assert found == pytest.approx(pairs(sessions), abs=0.002)
    assert intraclass(count_clicks(sessions, browsing=True)) == pytest.approx(found)


def test_random_orders_say_nothing_of_documents_and_documents_shown_once_do_not_tell() -> None:
    assert intraclass(count_clicks(log(2_000, noise=1e9))) < 0.01
    assert intraclass(count_clicks(log(20, noise=1e9, queries=400, seed=1))) > 0.5


def test_mean_ranks_keep_more_than_single_ones() -> None:
    """Against the correlation of the mean ranks of two halves of a log."""
    n = 8_000
    sessions = log(n, noise=2.0, queries=400, seed=3)
    halves = [count_clicks(sessions.where(np.arange(n) % 2 == part)).mean_rank() for part in range(2)]
    found = of_mean_ranks(count_clicks(sessions.where(np.arange(n) % 2 == 0)))
    assert found == pytest.approx(np.corrcoef(*halves)[0, 1], abs=0.05)
    assert found > intraclass(count_clicks(sessions)) + 0.2


def test_rates_of_few_clicks_are_drawn_to_a_power_of_the_rank() -> None:
    data = count_clicks(log(40, noise=1e9, seed=2))
    shown, clicked = data.by_cell()
    truth = 0.5 / np.arange(1, RANKS + 1)
    assert (
        np.abs(np.log(rates_by_rank(data).value / truth)).mean()
        < np.abs(np.log((clicked + 0.5) / shown / truth)).mean()
    )


def test_rates_of_many_clicks_are_what_they_are() -> None:
    """A carousel of two pages."""
    data = count_clicks(log(20_000, noise=1e9, curve=np.array([0.2, 0.18, 0.03, 0.19, 0.17])))
    shown, clicked = data.by_cell()
    assert rates_by_rank(data).value == pytest.approx(clicked / shown, rel=0.01)


@pytest.mark.parametrize("browsing", [False, True])
def test_influences_of_clicks_on_rates(browsing: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against rates with a click more, or less, as far as cells are alike being known."""
    monkeypatch.setattr(click_rates, "likeness", lambda *_: 3.0)
    data = count_clicks(log(300, noise=1.0), browsing=browsing)

    def logs(data: ClickCounts) -> np.ndarray:
        found = UBM().pooled(data).rates if browsing else rates_by_rank(data)
        return np.log(found.value)

    influence = (UBM().pooled(data).rates if browsing else rates_by_rank(data)).influence
    for cell in range(3):
        entry, step = np.flatnonzero(data.cell == cell)[0], 1e-4
        more, less = (
            logs(replace(data, clicked=data.clicked + sign * step * (np.arange(len(data.cell)) == entry)))
            for sign in (1, -1)
        )
        assert influence[:, cell] == pytest.approx((more - less) / (2 * step), abs=1e-3)
