"""Every law is that of its story, over all 2^k patterns of clicks; what it predicts it has not seen."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from offrank.clicks.laws import Browsing, Cascading, ClickLaw, Independent, Mixed, Upward, log_probs
from tests.clicks import click_patterns as stories
from tests.clicks.click_patterns import Path, joint, patterns
from tests.clicks.stories import ATTRACTION, HOLE, SATISFACTION, SLATES, TOLD, of

A, S = [0.3, 0.0, 0.75, 0.45], [0.2, 0.0, 0.6, 0.9]
EXAMINATION = [[0.9], [0.5, 0.8], [0.3, 0.45, 0.7], [0.2, 0.35, 0.5, 0.95]]


def row(values: Iterable[float]) -> np.ndarray:
    return np.array([list(values)])


def browsing() -> Browsing:
    table = np.zeros((4, 5))
    for rank, line in enumerate(EXAMINATION):
        table[rank, : rank + 1] = line
    return Browsing(row(A), table)


DOWN = row(A), row(0.8 * (1 - s) for s in S), row([0.8] * 4)
LAWS: dict[str, tuple[ClickLaw, list[Path]]] = {
    "independent": (Independent(row(A)), list(stories.independent(A))),
    "position-based": (
        Independent(row(a * e for a, e in zip(A, [1.0, 0.5, 0.3, 0.25], strict=True))),
        list(stories.position_based(A, [1.0, 0.5, 0.3, 0.25])),
    ),
    "trust": (
        Independent(row(e * (r * 0.9 + (1 - r) * 0.2) for r, e in zip(A, [1.0, 0.5, 0.3, 0.25], strict=True))),
        list(stories.trust_bias(A, [1.0, 0.5, 0.3, 0.25], [0.9] * 4, [0.2] * 4)),
    ),
    "browsing": (browsing(), list(stories.browsing(A, EXAMINATION))),
    "cascading": (Cascading(*DOWN), list(stories.dbn(A, S, 0.8))),
    "upward": (Upward(*DOWN), list(stories.upward(stories.dbn(A[::-1], S[::-1], 0.8)))),
    "mixed": (
        Mixed([Cascading(*DOWN), Upward(*DOWN), browsing()], np.array([0.5, 0.2, 0.3])),
        list(
            stories.mixture(
                [0.5, 0.2, 0.3],
                [
                    stories.dbn(A, S, 0.8),
                    stories.upward(stories.dbn(A[::-1], S[::-1], 0.8)),
                    stories.browsing(A, EXAMINATION),
                ],
            )
        ),
    ),
    "certain": (
        Cascading(row([1.0, 0.0, 1.0, 0.5]), row([1.0, 0.0, 0.0, 1.0]), row([0.0, 1.0, 1.0, 1.0])),
        list(stories.downward([1.0, 0.0, 1.0, 0.5], lambda rank, _: [(1.0, rank in (0, 1, 3))])),
    ),
    **{
        f"{name} on {slate}": (told.law([slate]), list(told.story(slate)))
        for name, told in TOLD.items()
        for slate in SLATES
    },
}
every = pytest.mark.parametrize("name", LAWS)


def all_clicks(law: ClickLaw) -> np.ndarray:
    return np.array(patterns(law.marginal().shape[1]), float)


@every
def test_a_story_is_complete(name: str) -> None:
    assert sum(joint(LAWS[name][1]).values()) == pytest.approx(1.0, abs=1e-12)


@every
def test_marginals(name: str) -> None:
    law, told = LAWS[name]
    clicks = joint(told)
    expected = [stories.marginal(clicks, rank) for rank in range(len(law.marginal()[0]))]
    assert law.marginal()[0] == pytest.approx(expected, abs=1e-12)


@every
def test_conditionals_and_their_product(name: str) -> None:
    law, told = LAWS[name]
    clicks = joint(told)
    for pattern in patterns(law.marginal().shape[1]):
        found = law.conditional(row(pattern))[0]
        for rank, chance in enumerate(found):
            expected = stories.conditional(clicks, pattern[:rank])
            assert 0 <= chance <= 1
            assert expected is None or chance == pytest.approx(expected, abs=1e-12)
        assert np.exp(log_probs(law, row(pattern)))[0] == pytest.approx(clicks.get(pattern, 0.0), abs=1e-12)


@every
def test_a_click_is_predicted_from_those_above_alone(name: str) -> None:
    law, _ = LAWS[name]
    for pattern in patterns(law.marginal().shape[1]):
        kept = law.conditional(row(pattern))[0]
        for rank in range(len(pattern)):
            other = [1 - c if j >= rank else c for j, c in enumerate(pattern)]
            assert law.conditional(row(other))[0, rank] == kept[rank]


@every
def test_samples(name: str) -> None:
    law, told = LAWS[name]
    rng, n = np.random.default_rng(7), 150
    draws = np.concatenate([law.sample(rng) for _ in range(n)])
    assert np.isin(draws, [0, 1]).all()
    clicks = joint(told)
    assert all(clicks.get(tuple(draw), 0.0) > 0 for draw in draws.astype(int).tolist())
    expected = law.marginal()[0]
    assert np.abs(draws.mean(axis=0) - expected).max() < 4.5 * np.sqrt(0.25 / n)


def test_nothing_is_clicked_where_nothing_is_shown() -> None:
    for told in TOLD.values():
        marginal = told.law(SLATES).marginal()
        holes = np.array([[one is HOLE for one in slate] for slate in SLATES])
        assert (marginal[holes] == 0).all()
        assert (marginal[~holes] > 0).all()


def test_mixtures_may_weigh_each_session_in_its_own_way() -> None:
    parts = [Independent(np.array([[0.2, 0.4], [0.2, 0.4]])), Independent(np.array([[0.6, 0.8], [0.6, 0.8]]))]
    law = Mixed(parts, np.array([[1.0, 0.0], [0.25, 0.75]]))
    assert law.marginal() == pytest.approx(np.array([[0.2, 0.4], [0.5, 0.7]]))
    after = [0.4, (0.25 * 0.2 * 0.4 + 0.75 * 0.6 * 0.8) / (0.25 * 0.2 + 0.75 * 0.6)]
    assert law.conditional(np.ones((2, 2)))[:, 1] == pytest.approx(after)


def test_relevance_is_what_the_field_calls_so() -> None:
    documents = np.array([[0, 1], [4, -1]])
    a, s = (np.array(of(table, [0, 1, 4, -1])).reshape(2, 2) for table in (ATTRACTION, SATISFACTION))
    for name, expected in (("cascade", a), ("dcm", a), ("ccm", a), ("dbn", a * s)):
        assert TOLD[name].model.relevance(TOLD[name].parameters, documents) == pytest.approx(expected)
