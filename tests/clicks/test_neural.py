"""Recurrent click models: their laws against plain Python, their learning against their laws, and what they learn."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from offrank.clicks.documents import Slots
from offrank.clicks.laws import log_probs
from offrank.clicks.learnt import Learnt
from offrank.clicks.neural import CACM, NCM, _kernels
from offrank.clicks.neural.base import RecurrentModel
from offrank.clicks.neural.batches import Batches, Data, split
from offrank.clicks.neural.law import Recurrent
from offrank.clicks.sessions import Sessions
from offrank.log.errors import MissingExtraError, UsageError
from tests.clicks.readers import log

DOCUMENTS, RANKS = 6, 4
QUERY_OF = [0.0, 0, 0, 1, 1, 1, 2]
MODELS = [NCM(hidden=3, embedding=2, click_embedding=2), CACM(hidden=3, embedding=2, click_embedding=2)]
both = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)

SLATES = np.array([[0, 1, 2, -1], [2, -9, 0, 1], [3, -1, 4, -9], [-1, -1, -1, 5], [-1, -9, -9, -9]])
"""-1: a document that was never seen. -9: nothing is shown."""


def made(model: RecurrentModel, ranks: int = RANKS, scale: float = 1.5) -> dict[str, Any]:
    """Random parameters."""
    rng = np.random.default_rng(7)
    h = model.hidden
    shapes = {"recurrent": (h, 3 * h), "output": (h,), "bias": (3 * h,), "recurrent_bias": (h,), "output_bias": (1,)}
    shapes |= model.dense(ranks) | ({"common": (1,)} if model.name == "cacm" else {})
    shapes |= {f"{name}_embedding": shape for name, shape in model.tables(DOCUMENTS, 2).items()}
    found = {name: scale * rng.standard_normal(shape) for name, shape in shapes.items()}
    return found | ({"query_of": np.array(QUERY_OF)} if model.name == "ncm" else {})


def slots(slates: np.ndarray) -> Slots:
    return Slots(np.maximum(slates, -1), slates > -9)


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


def chances(model: RecurrentModel, slate: np.ndarray, clicks: tuple[int, ...], p: dict[str, Any]) -> list[float]:
    """P(C_k = 1 | clicks above), written from the models' definitions."""
    hidden, above, found = [0.0] * model.hidden, [0.0, 0.0], []
    if model.name == "ncm":
        known = [document for document in slate if document >= 0]
        query = int(QUERY_OF[known[0]]) if known else 2
        hidden = cell(hidden, times(p["query_embedding"][query], p["query_input"], p), p)
    for rank, document in enumerate(slate):
        if document == -9:
            found.append(0.0)
            continue
        shown = p["document_embedding"][document] if model.name == "ncm" else p["position"][min(rank, RANKS - 1)]
        hidden = cell(hidden, times([*shown, *above], p["input"], p), p)
        chance = squash(sum(a * b for a, b in zip(hidden, p["output"], strict=True)) + p["output_bias"][0])
        if model.name == "cacm":
            chance *= squash(p["document_embedding"][document][0] + p["common"][0])
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
    assert np.abs(law.marginal() - law.conditional(np.zeros((7, RANKS))))[0].max() > 1e-3  # clicks do matter


@both
def test_no_click_is_seen_before_it_is_predicted(model: RecurrentModel) -> None:
    law = model.law(made(model), slots(SLATES[:1]))
    clicks = np.array([[0.0, 1, 0, 1]])
    before = law.conditional(clicks)
    for rank in range(RANKS):
        changed = clicks.copy()
        changed[0, rank] = 1 - changed[0, rank]
        after = law.conditional(changed)
        np.testing.assert_array_equal(after[:, : rank + 1], before[:, : rank + 1])
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
    np.testing.assert_array_equal(alone.marginal()[0], found[1])


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


def test_relevance_is_the_click_at_the_top_or_the_attraction() -> None:
    ncm, cacm = MODELS
    documents = np.array([[0, 5], [-1, 2]])
    p = made(ncm)
    expected = [[chances(ncm, np.array([d]), (0,), p)[0] for d in row] for row in documents]
    np.testing.assert_allclose(ncm.relevance(p, documents), expected, rtol=1e-12)
    p = made(cacm)
    expected = [[squash(p["document_embedding"][d][0] + p["common"][0]) for d in row] for row in documents]
    np.testing.assert_allclose(cacm.relevance(p, documents), expected, rtol=1e-12)


def test_no_sessions_have_no_chances() -> None:
    law = MODELS[0].law(made(MODELS[0]), slots(np.zeros((0, 3), np.int64)))
    assert law.conditional(np.zeros((0, 3))).shape == law.marginal().shape == law.sample(np.random.default_rng(0)).shape


# Batches ------------------------------------------------------------------------------------------------------------


def test_what_was_shown_together_is_one_query() -> None:
    rng = np.random.default_rng(0)
    document = np.where(rng.random((12, 3)) < 0.3, -1, rng.integers(0, 25, (12, 3))).astype(np.int32)
    group = {d: {d} for d in range(26)}
    for row in document:
        merged = set().union(*(group[d] for d in row if d >= 0))
        for d in merged:
            group[d] = merged
    found = _kernels.together(document, 25)
    for a, b in itertools.combinations(range(26), 2):
        assert (found[a] == found[b]) == (b in group[a])
    assert found[-1] == len(set(found)) - 1


def sessions(rows: list[list[int]], clicks: list[list[int]], weight: list[float], documents: int) -> Sessions:
    ranks = max(map(len, rows))
    padded = [np.array([[*row, *[fill] * (ranks - len(row))] for row in t]) for t, fill in ((rows, -1), (clicks, 0))]
    return Sessions(padded[0].astype(np.int32), padded[1].astype(np.uint8), np.array(weight), documents)


MIXED = sessions(
    [[0, 1, 2], [2, 0], [3], [4, -1, 3], [1, 2, 0], [0, 1, 2], [4, 3]],
    [[1, 0, 0], [0, 1], [1], [0, 0, 1], [0, 0, 0], [1, 1, 0], [0, 0]],
    [3, 1, 2, 1, 5, 1, 2.5],
    5,
)
"""Lists of one to three documents of two queries, one with a hole."""


def test_a_pass_holds_every_session_once_and_each_prior_once() -> None:
    batches = Batches(Data.of(MIXED), MIXED.weight, 3, {"document": 6, "query": 3})
    met, shares = [], np.zeros(7)
    for batch in batches.passed(np.random.default_rng(0)):
        assert len(batch.weight) == 3
        np.add.at(shares, batch.rows["document"], batch.share["document"])
        document = np.append(batch.rows["document"], 6)[batch.place["document"]]
        for i in np.flatnonzero(batch.weight):
            shown = batch.shown[:, i]
            query = batch.rows["query"][batch.place["query"][i]]
            click = batch.click[:, i][shown]
            met.append((batch.weight[i], tuple(document[:, i][shown]), tuple(click), query))
    expected = [
        (np.float32(w), tuple(d[d >= 0]), tuple(c[d >= 0]), 0 if d[0] < 3 else 1)
        for d, c, w in zip(MIXED.document, MIXED.click, MIXED.weight, strict=True)
    ]
    assert sorted(met) == sorted(expected)
    np.testing.assert_allclose(shares[:5], 1, rtol=1e-6)


def test_the_click_above_is_that_on_the_nearest_document() -> None:
    found = Data.of(MIXED).previous
    assert found.tolist() == [[2, 1, 0], [2, 0, 1], [2, 1, 1], [2, 0, 0], [2, 0, 0], [2, 1, 1], [2, 0, 0]]


def test_copies_of_a_session_are_held_out_one_by_one() -> None:
    weight = np.array([10_000.0, 1, 1, 0.5])
    known, held = split(weight, 0.1, np.random.default_rng(0))
    np.testing.assert_allclose(known + held, weight)
    assert held[0] == pytest.approx(1000, abs=4 * math.sqrt(900))
    assert set(held[1:] / weight[1:]) <= {0.0, 1.0}
    for alone in split(np.array([1.0]), 0.1, np.random.default_rng(0)):
        assert alone.tolist() == [1.0]


# Learning -----------------------------------------------------------------------------------------------------------

SMALL: dict[str, Any] = {"hidden": 4, "batch": 3, "validation": 0.0}


@pytest.fixture(autouse=True)
def quick() -> Iterator[None]:
    """Compiles without optimising: these networks are too small to gain from it."""
    if not find_spec("jax"):
        yield
        return
    import jax

    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


def learnt(model: RecurrentModel, data: Sessions = MIXED, **how: Any) -> Learnt:
    pytest.importorskip("jax")
    pytest.importorskip("optax")
    return model.learn(data, **how)


def law_of(model: RecurrentModel, found: Learnt, data: Sessions) -> Recurrent:
    return model.law(found.parameters, Slots(data.document, data.document >= 0))


def log_loss(model: RecurrentModel, found: Learnt, data: Sessions) -> float:
    likelihood = log_probs(law_of(model, found, data), data.click.astype(float))
    return float(-(data.weight * likelihood).sum() / data.weight.sum())


@pytest.mark.parametrize("kind", [NCM, CACM])
def test_the_best_epoch_is_what_is_kept(kind: type[RecurrentModel]) -> None:
    # The loss that JAX has found is that of the law, which NumPy computes: lists of all lengths, a hole, weights.
    for rate, epochs in ((0.05, 6), (30.0, 2)):
        model = kind(**SMALL, rate=rate, epochs=epochs, patience=99)
        found = learnt(model)
        losses = found.facts["held-out log-loss by epoch"]
        assert len(losses) == found.rounds + 1 == epochs + 1
        assert losses[found.facts["best epoch"]] == min(losses)
        assert log_loss(model, found, MIXED) == pytest.approx(min(losses), rel=1e-4)
        assert not found.converged
        assert rate < 1 or losses[-1] > min(losses)


def test_learning_stops_where_nothing_gets_better() -> None:
    found = learnt(NCM(**SMALL, rate=0.05, epochs=500))
    assert found.converged
    assert found.rounds == found.facts["best epoch"] + 3 < 500


@pytest.mark.parametrize("kind", [NCM, CACM])
def test_the_seed_decides(kind: type[RecurrentModel]) -> None:
    first, again, other = (learnt(kind(hidden=4, batch=3, epochs=2, seed=seed)) for seed in (1, 1, 2))
    for name, table in first.parameters.items():
        np.testing.assert_array_equal(table, again.parameters[name])
    assert (first.parameters["output"] != other.parameters["output"]).any()


@pytest.mark.parametrize("data", [
    sessions([[0]], [[1]], [1], 1),
    sessions([[0], [1], [0], [1]], [[1], [0], [0], [0]], [1, 2, 1, 1], 2),
    sessions([[0, 1, 2]] * 2, [[0, 0, 0], [1, 1, 1]], [1e6, 1e-3], 3),
    sessions([[-1, -1], [0, -1]], [[0, 0], [1, 0]], [1, 1], 1),
    sessions([[0, 1]], [[1, 0]], [0], 2),
], ids=["one session", "one rank, last batch of one", "unlike weights", "nothing shown", "no weight"])  # fmt: skip
def test_small_logs_are_learnt(data: Sessions) -> None:
    model = NCM(hidden=4, batch=3, epochs=2)
    found = learnt(model, data)
    for table in found.parameters.values():
        assert np.isfinite(table).all()
    chance = law_of(model, found, data).marginal()
    assert ((chance > 0) == (data.document >= 0)).all()
    assert (chance < 1).all()


RATES = [0.9, 0.5, 0.1]


@cache
def copied(n: int = 3000) -> Sessions:
    """A click at the first rank by the document's rate; at the second, what the first was, with probability .9."""
    rng = np.random.default_rng(5)
    document = np.array(list(itertools.permutations(range(3), 2)))[rng.integers(0, 6, n)]
    first = rng.random(n) < np.array(RATES)[document[:, 0]]
    second = np.where(rng.random(n) < 0.9, first, ~first)
    return Sessions(document.astype(np.int32), np.stack([first, second], axis=1).astype(np.uint8), np.ones(n), 3)


def test_clicks_that_depend_on_clicks_are_learnt() -> None:
    model = NCM(hidden=8, batch=128, epochs=30)
    found = learnt(model, copied())
    order = np.array([[0, 1], [1, 2], [2, 0]])
    for click, expected in ((1, 0.9), (0, 0.1)):
        given = model.law(found.parameters, slots(order)).conditional(np.full((3, 2), float(click)))
        np.testing.assert_allclose(given[:, 0], RATES, atol=0.05)
        np.testing.assert_allclose(given[:, 1], expected, atol=0.08)
    np.testing.assert_allclose(model.relevance(found.parameters, np.arange(3)), RATES, atol=0.05)


@pytest.mark.parametrize("kind", [NCM, CACM])
def test_an_unseen_document_is_like_any(kind: type[RecurrentModel]) -> None:
    rng = np.random.default_rng(1)
    document = rng.integers(0, 3, (3000, 1))
    click = rng.random((3000, 1)) < np.array(RATES)[document]
    data = Sessions(document.astype(np.int32), click.astype(np.uint8), np.ones(3000), 3)
    model = kind(hidden=4, batch=64, dropped=0.2, epochs=30)
    found = learnt(model, data)
    chance = model.law(found.parameters, slots(np.array([[0], [1], [2], [-1]]))).marginal()[:, 0]
    np.testing.assert_allclose(chance, [*RATES, 0.5], atol=0.07)


def test_a_document_that_was_seen_once_stays_near_the_others() -> None:
    rows = [[0]] * 200 + [[1]] * 200 + [[2]]
    clicks = [[i % 2] for i in range(200)] + [[1]] * 200 + [[1]]
    relevance = {}
    for prior in (0.3, 30.0):
        model = CACM(hidden=4, batch=64, prior=prior, validation=0.0, epochs=60, patience=60)
        found = learnt(model, sessions(rows, clicks, [1.0] * 401, 3))
        relevance[prior] = model.relevance(found.parameters, np.arange(3))
    assert relevance[0.3][2] < relevance[0.3][1]
    assert relevance[0.3][1] - relevance[0.3][0] < relevance[30.0][1] - relevance[30.0][0]
    assert relevance[30.0][2] > relevance[0.3][2]


def test_learning_goes_on_from_where_it_was() -> None:
    model = CACM(**SMALL, epochs=4)
    first = learnt(model)
    second = learnt(model, start=first.parameters, rounds=1)
    assert second.rounds == 1
    losses = second.facts["held-out log-loss by epoch"]
    assert losses[0] == pytest.approx(first.facts["held-out log-loss by epoch"][first.facts["best epoch"]], rel=1e-5)
    unmoved = learnt(model, start=first.parameters, rounds=0)
    np.testing.assert_allclose(unmoved.parameters["output"], first.parameters["output"])


def test_parameters_that_say_nothing_are_refused() -> None:
    start = learnt(CACM(**SMALL, epochs=1)).parameters
    with pytest.raises(UsageError, match="no finite likelihood"):
        learnt(CACM(**SMALL), start=start | {"output": start["output"] * np.nan})


def test_it_says_how_far_it_is_and_stops_when_asked() -> None:
    said: list[str] = []
    learnt(CACM(**SMALL, epochs=2, patience=9), say=said.append)
    assert [line.split(":")[0] for line in said] == ["epoch 1", "epoch 2"]

    def interrupt(_: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learnt(CACM(**SMALL, epochs=2, patience=9), say=interrupt)


def test_a_log_is_fitted() -> None:
    pytest.importorskip("jax")
    fitted = NCM(hidden=4, epochs=2).fit(log())
    assert fitted.examination() is None
    assert fitted.learnt.parameters["document_embedding"].shape[0] == len(fitted.documents) + 1


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
    with pytest.raises(MissingExtraError, match=r"pip install 'offrank\[neural\]'"):
        NCM().learn(MIXED)
    assert MODELS[0].law(made(MODELS[0]), slots(SLATES)).marginal().shape == SLATES.shape


def test_importing_the_models_does_not_import_jax() -> None:
    code = "import sys, offrank.clicks.neural; sys.exit('jax' in sys.modules or 'optax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
