"""Learning of recurrent click models: batches, gradients against the law, and what is learnt."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from offrank.clicks.base import FitResult
from offrank.clicks.documents import SlateDocuments
from offrank.clicks.laws import log_probs
from offrank.clicks.sessions import Sessions
from offrank.errors import UsageError
from offrank_papers.neural import CACM, NCM, training
from offrank_papers.neural.law import Recurrent
from offrank_papers.neural.models import RecurrentModel
from offrank_papers.neural.training import Batches, hold_out, previous_clicks, queries_of
from reproductions.tests.neural import networks
from reproductions.tests.neural.networks import BESIDE, quick, sessions, slots

# One worker: what these tests share is made once.
pytestmark = [pytest.mark.xdist_group("neural"), pytest.mark.turns(6)]

__all__ = ["quick"]


# Batches ------------------------------------------------------------------------------------------------------------


MIXED = replace(
    sessions(
        [[0, 1, 2], [2, 0], [3], [4, -1, 3], [1, 2, 0], [0, 1, 2], [4, 3]],
        [[1, 0, 0], [0, 1], [1], [0, 0, 1], [0, 0, 0], [1, 1, 0], [0, 0]],
        [3, 1, 2, 1, 5, 1, 2.5],
        5,
    ),
    query=np.array([0, 0, 0, 1, 1]),
)
"""Lists of one to three documents of two queries, one with a hole."""


def test_a_pass_holds_every_session_once_and_each_prior_once() -> None:
    batches = Batches(MIXED, MIXED.weight, 3)
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
    found = previous_clicks(MIXED.document >= 0, MIXED.click)
    assert found.tolist() == [[2, 1, 0], [2, 0, 1], [2, 1, 1], [2, 0, 0], [2, 0, 0], [2, 1, 1], [2, 0, 0]]


def test_copies_of_a_session_are_held_out_one_by_one() -> None:
    weight = np.array([10_000.0, 1, 1, 0.5])
    known, held = hold_out(weight, 0.1, np.random.default_rng(0))
    np.testing.assert_allclose(known + held, weight)
    assert held[0] == pytest.approx(1000, abs=4 * math.sqrt(900))
    assert set(held[1:] / weight[1:]) <= {0.0, 1.0}
    for alone in hold_out(np.array([1.0]), 0.1, np.random.default_rng(0)):
        assert alone.tolist() == [1.0]


# Learning -----------------------------------------------------------------------------------------------------------

SMALL: dict[str, Any] = {"hidden": 4, "batch": 3, "validation": 0.0}


def learnt(model: RecurrentModel, data: Sessions = MIXED, **how: Any) -> FitResult:
    return networks.learnt(model, data, **how)


def law_of(model: RecurrentModel, found: FitResult, data: Sessions) -> Recurrent:
    return model.law(found.parameters, SlateDocuments(data.document, data.document >= 0))


def log_loss(model: RecurrentModel, found: FitResult, data: Sessions) -> float:
    likelihood = log_probs(law_of(model, found, data), data.click.astype(float))
    return float(-(data.weight * likelihood).sum() / data.weight.sum())


@pytest.mark.parametrize("kind", [NCM, CACM])
def test_gradients_are_those_of_the_law(kind: type[RecurrentModel], monkeypatch: pytest.MonkeyPatch) -> None:
    jax = pytest.importorskip("jax")
    monkeypatch.setattr(training, "PIECE", 2)
    model = kind(hidden=3, embedding=2, click_embedding=2)
    tables = model.tables(5, 2)
    rng = np.random.default_rng(2)
    shapes = {"recurrent": (3, 9), "output": (3,), "bias": (9,), "recurrent_bias": (3,), "output_bias": (1,)}
    shapes |= model.dense(3) | ({"common": (1,)} if kind is CACM else {})
    weights = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    rows = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in tables.items()}
    batches = Batches(MIXED, MIXED.weight, 7)
    batch = next(batches.passed())
    padded = {name: jax.numpy.concatenate([row, 0 * row[:1]]) for name, row in rows.items()}
    used = {name: row[batch.rows[name]] for name, row in padded.items()}
    total, slopes, row_slopes = training.slopes_of(model, weights, used, batch, jax)

    def loss(weights: dict[str, Any], rows: dict[str, Any]) -> float:
        named = {f"{name}_embedding": row for name, row in rows.items()} | {"query": queries_of(MIXED)}
        return log_loss(model, FitResult(weights | named), MIXED) * MIXED.weight.sum()

    exact = [{name: array.astype(float) for name, array in part.items()} for part in (weights, rows)]
    assert total == pytest.approx(loss(*exact), rel=1e-5)
    for part, name, found in [
        *((exact[0], name, slopes[name]) for name in weights),
        *((exact[1], name, scattered(row_slopes[name], batch.rows[name], len(rows[name]))) for name in rows),
    ]:
        for at in np.ndindex(part[name].shape):
            value, heights = part[name][at], []
            for shift in (1e-5, -1e-5):
                part[name][at] = value + shift
                heights.append(loss(*exact))
            part[name][at] = value
            assert found[at] == pytest.approx((heights[0] - heights[1]) / 2e-5, rel=2e-3, abs=2e-4), (name, at)


def scattered(slopes: Any, rows: np.ndarray, length: int) -> np.ndarray:
    """Slopes by the rows of the whole table; beyond it nothing moves."""
    found = np.zeros((length + 1, slopes.shape[1]))
    found[rows] = slopes
    assert (found[-1] == 0).all()
    return found


@pytest.mark.parametrize("kind", [NCM, CACM])
def test_the_best_epoch_is_what_is_kept(kind: type[RecurrentModel]) -> None:
    # The loss that JAX has found is that of the law, which NumPy computes: lists of all lengths, a hole, weights.
    for rate, epochs in ((0.05, 6), (30.0, 2)):
        model = kind(**SMALL, rate=rate, epochs=epochs, patience=99)
        found = learnt(model)
        losses = found.info["held-out log-loss by epoch"]
        assert len(losses) == found.rounds + 1 == epochs + 1
        assert losses[found.info["best epoch"]] == min(losses)
        assert log_loss(model, found, MIXED) == pytest.approx(min(losses), rel=1e-4)
        assert not found.converged
        assert rate < 1 or losses[-1] > min(losses)


def test_learning_stops_where_nothing_gets_better() -> None:
    found = learnt(NCM(**SMALL, rate=0.05, epochs=500, patience=3))
    assert found.converged
    assert found.rounds == found.info["best epoch"] + 3 < 500


@pytest.mark.parametrize("kind", [NCM, CACM])
def test_the_seed_decides(kind: type[RecurrentModel]) -> None:
    first, again, other = (learnt(kind(hidden=4, batch=3, epochs=2, seed=seed)) for seed in (1, 1, 2))
    for name, table in first.parameters.items():
        np.testing.assert_array_equal(table, again.parameters[name])
    assert (first.parameters["output"] != other.parameters["output"]).any()


@pytest.mark.parametrize("data", [
    sessions([[0, 1]], [[1, 0]], [1], 2),
    sessions([[0], [1], [0], [1]], [[1], [0], [0], [0]], [1, 2, 1, 1], 2),
    sessions([[0, 1]] * 2, [[0, 0], [1, 1]], [1e6, 1e-3], 2),
    sessions([[-1, -1], [0, -1]], [[0, 0], [1, 0]], [1, 1], 2),
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


FOLLOWER = NCM(hidden=8, embedding=8, batch=128, rate=0.02, epochs=30)


@pytest.fixture(scope="module")
def follows() -> FitResult:
    return learnt(FOLLOWER, copied())


def test_clicks_that_depend_on_clicks_are_learnt(follows: FitResult) -> None:
    model, found = FOLLOWER, follows
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
    model = kind(hidden=4, batch=64, rate=0.01, dropped=0.2, epochs=30)
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
    second = learnt(CACM(**SMALL, epochs=1), start=first.parameters)
    assert second.rounds == 1
    losses = second.info["held-out log-loss by epoch"]
    assert losses[0] == pytest.approx(first.info["held-out log-loss by epoch"][first.info["best epoch"]], rel=1e-5)


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


def test_an_interrupted_fit_leaves_nothing_running(monkeypatch: pytest.MonkeyPatch) -> None:
    jax = pytest.importorskip("jax")

    passed = Batches.passed

    def interrupted(self: Batches, rng: np.random.Generator | None = None) -> Iterator[Any]:
        yield from itertools.islice(passed(self, rng), 2)
        if rng is not None:
            raise KeyboardInterrupt

    monkeypatch.setattr(Batches, "passed", interrupted)
    data = sessions([list(range(10))] * 300, [[0, 1] * 5] * 300, [1] * 300, 10)
    with pytest.raises(KeyboardInterrupt) as caught:  # whose frames keep the arrays
        CACM(hidden=64, batch=150, epochs=1, validation=0.0).learn(data)
    assert len(caught.traceback) > 1
    assert [array.is_ready() for array in jax.live_arrays()].count(True) == len(jax.live_arrays()) > 0


def test_a_network_ahead_of_ubm_has_no_caution(follows: FitResult) -> None:
    assert follows.info[BESIDE].startswith("+")
    assert not follows.cautions


def test_nothing_held_out_is_not_compared() -> None:
    found = learnt(CACM(**SMALL, epochs=1))
    assert BESIDE not in found.info
    assert not found.cautions
