"""Recurrent click models: their laws against plain Python, their learning against their laws, and what they learn."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from offrank.clicks.documents import SlateDocuments
from offrank.clicks.laws import log_probs
from offrank.clicks.sessions import Sessions
from offrank.errors import MissingExtraError, UsageError
from offrank_papers.neural import CACM, NCM
from offrank_papers.neural.models import RecurrentModel

# One worker: what these tests share is made once.
pytestmark = pytest.mark.xdist_group("neural")

DOCUMENTS, RANKS = 6, 4
QUERY_OF = [0.0, 0, 0, 1, 1, 1, 2]
MODELS = [NCM(hidden=3, embedding=2, click_embedding=2), CACM(hidden=3, embedding=2, click_embedding=2)]
both = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)

SLATES = np.array([[0, 1, 2, -1], [2, -9, 0, 1], [3, -1, 4, -9], [-1, -1, -1, 5], [-1, -9, -9, -9]])
"""-1: a document that was never seen. -9: nothing is shown."""


def made(model: RecurrentModel, ranks: int = RANKS, scale: float = 1.5) -> dict[str, Any]:
    """Random parameters."""
    rng = np.random.default_rng(9)
    h = model.hidden
    shapes = {"recurrent": (h, 3 * h), "output": (h,), "bias": (3 * h,), "recurrent_bias": (h,), "output_bias": (1,)}
    shapes |= model.dense(ranks) | ({"common": (1,)} if model.name == "cacm" else {})
    shapes |= {f"{name}_embedding": shape for name, shape in model.tables(DOCUMENTS, 2).items()}
    found = {name: scale * rng.standard_normal(shape) for name, shape in shapes.items()}
    return found | {"query": np.array(QUERY_OF)}


def slots(slates: np.ndarray, query: list[int] | None = None) -> SlateDocuments:
    return SlateDocuments(np.maximum(slates, -1), slates > -9, None if query is None else np.array(query))


def squash(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def cell(hidden: list[float], given: list[float], p: dict[str, Any]) -> list[float]:
    """A gated recurrent unit, one number after the other."""
    h = len(hidden)
    pull = [sum(hidden[i] * p["recurrent"][i][c] for i in range(h)) for c in range(3 * h)]
    after = []
    for i in range(h):
        keep, reset = squash(given[i] + pull[i]), squash(given[h + i] + pull[h + i])
        new = math.tanh(given[2 * h + i] + reset * (pull[2 * h + i] + p["recurrent_bias"][i]))
        after.append((1 - keep) * new + keep * hidden[i])
    return after


def times(vector: list[float], matrix: np.ndarray, p: dict[str, Any]) -> list[float]:
    return [sum(v * matrix[i][c] for i, v in enumerate(vector)) + p["bias"][c] for c in range(matrix.shape[1])]


def chances(
    model: RecurrentModel, slate: np.ndarray, clicks: tuple[int, ...], p: dict[str, Any], query: int | None = None
) -> list[float]:
    """P(C_k = 1 | clicks above), written from the models' definitions."""
    hidden, above, found = [0.0] * model.hidden, [0.0, 0.0], []
    if query is None:
        known = [document for document in slate if document >= 0]
        query = int(QUERY_OF[known[0]]) if known else 2
    if model.name == "ncm":
        hidden = cell(hidden, times(p["query_embedding"][query], p["query_input"], p), p)
    for rank, document in enumerate(slate):
        if document == -9:
            found.append(0.0)
            continue
        shown = p["document_embedding"][document] if model.name == "ncm" else p["position"][min(rank, RANKS - 1)]
        hidden = cell(hidden, times([*shown, *above], p["input"], p), p)
        chance = squash(sum(a * b for a, b in zip(hidden, p["output"], strict=True)) + p["output_bias"][0])
        if model.name == "cacm":
            level = p["document_embedding"][document][0] + p["query_embedding"][query][0]
            chance *= squash(level + p["common"][0])
        found.append(chance)
        above = list(p["click"][clicks[rank]])
    return found


PATTERNS = list(itertools.product([0, 1], repeat=RANKS))


@both
def test_conditional_is_the_definition(model: RecurrentModel) -> None:
    p = made(model)
    law = model.law(p, slots(SLATES))
    for clicks in PATTERNS:
        found = law.conditional(np.tile(clicks, (len(SLATES), 1)))
        expected = [chances(model, slate, clicks, p) for slate in SLATES]
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


def joint(given: list[float], clicks: tuple[int, ...]) -> float:
    """The chain rule."""
    return math.prod(chance if click else 1 - chance for chance, click in zip(given, clicks, strict=True))


def enumerated(model: RecurrentModel, slate: np.ndarray, p: dict[str, Any]) -> np.ndarray:
    """P(C_k = 1), summed over all patterns of clicks on the documents shown."""
    total, mass = np.zeros(len(slate)), 0.0
    for clicks in PATTERNS:
        given = chances(model, slate, clicks, p)
        chance = joint(given, clicks)
        total, mass = total + chance * np.array(clicks), mass + chance
    assert mass == pytest.approx(1, rel=1e-12)
    return total


@both
def test_marginal_is_the_sum_over_all_patterns(model: RecurrentModel) -> None:
    p = made(model)
    law = model.law(p, slots(SLATES[[0, 1, 1, 2, 3, 4, 0]]))
    expected = np.array([enumerated(model, slate, p) for slate in SLATES])[[0, 1, 1, 2, 3, 4, 0]]
    np.testing.assert_allclose(law.marginal(), expected, rtol=1e-12, atol=1e-15)
    assert (law.marginal_error() == 0).all()
    assert np.abs(law.marginal() - law.conditional(np.zeros((7, RANKS)))).max() > 1e-3  # clicks do matter


@both
def test_no_click_is_seen_before_it_is_predicted(model: RecurrentModel) -> None:
    law = model.law(made(model), slots(SLATES[:1]))
    clicks = np.array([[0.0, 1, 0, 1]])
    before = law.conditional(clicks)
    for rank in range(RANKS):
        changed = clicks.copy()
        changed[0, rank] = 1 - changed[0, rank]
        after = law.conditional(changed)
        np.testing.assert_allclose(after[:, : rank + 1], before[:, : rank + 1], rtol=1e-12)
        assert (after[:, rank + 1 :] != before[:, rank + 1 :]).all()


@both
def test_below_rank_11_the_error_is_said(model: RecurrentModel) -> None:
    p, k = made(model), 13
    slates = np.random.default_rng(3).integers(0, DOCUMENTS, (2, k))
    law = model.law(p, slots(slates))
    found, error = law.marginal(), law.marginal_error()
    patterns = np.array(list(itertools.product([0.0, 1.0], repeat=k)))
    many = model.law(p, slots(np.broadcast_to(slates[0], patterns.shape)))
    expected = np.exp(log_probs(many, patterns)) @ patterns
    np.testing.assert_allclose(found[0, :11], expected[:11], rtol=1e-9)
    assert (error[:, :11] == 0).all()
    assert (error[:, 11:] > 0).all()
    assert (error < 0.5 / math.sqrt(1023)).all()
    assert (np.abs(found[0] - expected)[11:] < 4 * error[0, 11:]).all()
    assert (found[0, 11:] != expected[11:]).all()
    alone = model.law(p, slots(slates[1:]))
    np.testing.assert_allclose(alone.marginal()[0], found[1], rtol=1e-12)


@both
def test_samples_follow_the_law(model: RecurrentModel) -> None:
    p, n = made(model), 20_000
    drawn = model.law(p, slots(np.broadcast_to(SLATES[1], (n, RANKS)))).sample(np.random.default_rng(0))
    joint = dict.fromkeys(PATTERNS, 0.0)
    for clicks in PATTERNS:
        given = chances(model, SLATES[1], clicks, p)
        joint[clicks] = math.prod(c if click else 1 - c for c, click in zip(given, clicks, strict=True))
    for clicks, chance in joint.items():
        share = (drawn == clicks).all(axis=1).mean()
        assert abs(share - chance) <= 4.5 * math.sqrt(chance * (1 - chance) / n)


QUERIES = [1, 1, -1, 0, -1]
"""The queries of SLATES as a log tells them: of a slate without known documents, or against what its documents say."""


@both
def test_a_query_is_known_by_itself(model: RecurrentModel) -> None:
    p = made(model)
    law = model.law(p, slots(SLATES, QUERIES))
    clicks = np.tile((1, 0, 1, 0), (len(SLATES), 1))
    expected = [chances(model, s, (1, 0, 1, 0), p, q) for s, q in zip(SLATES, QUERIES, strict=True)]
    np.testing.assert_allclose(law.conditional(clicks), expected, rtol=1e-12)
    # New documents in a known query and in another one: equal slates, unlike chances.
    new = np.array([[-1, -1], [-1, -1], [-1, -1]])
    first = model.law(p, slots(new, [0, 1, -1])).marginal()[:, 0]
    np.testing.assert_allclose(first, [chances(model, s, (0, 0), p, q)[0] for s, q in zip(new, (0, 1, 2), strict=True)])
    assert len(set(first.round(6))) == 3


@both
def test_relevance_is_the_click_at_the_top_or_the_attraction(model: RecurrentModel) -> None:
    documents = np.array([[0, 5], [-1, 2], [-1, 3]])
    p = made(model)

    def relevance(document: int, query: int) -> float:
        if model.name == "ncm":
            return chances(model, np.array([document]), (0,), p, query)[0]
        return squash(p["document_embedding"][document][0] + p["query_embedding"][query][0] + p["common"][0])

    expected = [[relevance(d, int(QUERY_OF[d])) for d in row] for row in documents]
    np.testing.assert_allclose(model.relevance(p, documents), expected, rtol=1e-12)
    np.testing.assert_allclose(model.relevance_on(p, slots(documents)), expected, rtol=1e-12)
    told = [[relevance(d, q) for d in row] for q, row in zip((0, 1, -1), documents, strict=True)]
    np.testing.assert_allclose(model.relevance_on(p, slots(documents, [0, 1, -1])), told, rtol=1e-12)


def test_no_sessions_have_no_chances() -> None:
    law = MODELS[0].law(made(MODELS[0]), slots(np.zeros((0, 3), np.int64)))
    assert law.conditional(np.zeros((0, 3))).shape == law.marginal().shape == law.sample(np.random.default_rng(0)).shape


# Settings -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [{"hidden": 0}, {"batch": 1.5}, {"rate": 0.0}, {"prior": math.nan}, {"validation": 1.0}, {"dropped": -0.1}],
    ids=str,
)
def test_settings_that_cannot_work_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        NCM(**wrong)


def test_spelling() -> None:
    assert repr(NCM()) == "ncm"
    assert repr(CACM(hidden=64, rate=0.01)) == "cacm(hidden=64, rate=0.01)"


def test_without_jax_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[neural\]"):
        NCM().learn(Sessions(np.zeros((1, 1), np.int32), np.ones((1, 1), np.uint8), np.ones(1), 1))
    assert MODELS[0].law(made(MODELS[0]), slots(SLATES)).marginal().shape == SLATES.shape


def test_importing_the_models_does_not_import_jax() -> None:
    code = "import sys, offrank_papers.neural; sys.exit('jax' in sys.modules or 'optax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
