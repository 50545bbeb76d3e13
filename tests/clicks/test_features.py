"""Click models that read features of documents, and examination by context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from offrank import read_log
from offrank.clicks import DBN, PBM, UBM, Fitted, click_model, load
from offrank.clicks.covariates import CovariatesFold, DocumentSums, FeatureColumns
from offrank.clicks.evaluation import evaluate_models
from offrank.errors import ColumnError, OffrankError, UsageError
from offrank.log.batch import Contexts, Floats, Integers
from offrank.policies import PlackettLuce
from offrank.reward_models.click_model import predicted
from offrank.sums.base import Fold, total

# One worker: what these tests share is made once.
pytestmark = pytest.mark.xdist_group("features")

QUERIES, ITEMS, WIDTH = 150, 4, 3
WEIGHTS = np.array([1.2, -0.6, 0.0])
CURVE = 1 / np.arange(1, ITEMS + 1)


@dataclass(frozen=True)
class World:
    """Attraction ~ Beta(8 m, 8 (1 - m)) with logit m = x @ WEIGHTS - 1, times a curve; rankers know part of m."""

    x: Floats
    mean: Floats
    attraction: Floats

    @classmethod
    def drawn(cls) -> World:
        rng = np.random.default_rng(1)
        x = rng.standard_normal((QUERIES, ITEMS, WIDTH))
        mean = 1 / (1 + np.exp(1 - x @ WEIGHTS))
        return cls(x, mean, rng.beta(8 * mean, 8 * (1 - mean)))

    def log(self, query: Integers, seed: int) -> pa.Table:
        rng = np.random.default_rng(seed)
        noise = 2 * rng.gumbel(size=(len(query), ITEMS))
        order = np.argsort(-(self.x[query] @ WEIGHTS) + noise, axis=1)
        chance = np.take_along_axis(self.attraction[query], order, 1) * CURVE
        x = np.take_along_axis(self.x[query], order[:, :, None], 1)
        return pa.table(
            {
                "query": query,
                "slate": (order + ITEMS * query[:, None]).tolist(),
                "clicks": (rng.random(chance.shape) < chance).astype(int).tolist(),
                "features": x.tolist(),
                "first": x[:, :, 0].tolist(),
                "device": ["phone"] * len(query),
            }
        )


SEEN = np.arange(QUERIES) % 5 > 0


@pytest.fixture(scope="module")
def world() -> World:
    return World.drawn()


@pytest.fixture(scope="module")
def train(world: World) -> pa.Table:
    """Frequent and rare queries; every fifth query is not there."""
    query = np.random.default_rng(2).geometric(0.02, 5000) % QUERIES
    return world.log(query[SEEN[query]], 3)


@pytest.fixture(scope="module")
def unseen(world: World) -> pa.Table:
    return world.log(np.random.default_rng(4).choice(np.flatnonzero(~SEEN), 1000), 5)


@pytest.fixture(scope="module")
def models(train: pa.Table) -> dict[str, Fitted]:
    names = ("pbm", "pbm(attraction=linear)", "ubm(attraction=boosted)", "pbm(attraction=linear, features=[first])")
    return {name: click_model(name).fit(train) for name in names}


def contexts_of(table: Any, model: Fitted) -> tuple[Contexts, Integers]:
    (batch,) = read_log(table).select(model.needs()).batches(0)
    return batch.contexts, batch.slates


def test_unseen_queries_are_predicted_by_their_features(
    world: World, models: dict[str, Fitted], unseen: pa.Table
) -> None:
    found = evaluate_models(models, read_log(unseen))
    order = np.array(unseen["slate"].to_pylist()) % ITEMS
    query = np.array(unseen["query"])[:, None]
    chance, clicks = world.mean[query, order] * CURVE, np.array(unseen["clicks"].to_pylist())
    best = np.exp2(-np.log2(np.where(clicks, chance, 1 - chance)).mean(axis=0)).mean()  # knows the mean, not the noise
    score = {name: one.perplexity.value for name, one in found.items()}
    for name in ("pbm(attraction=linear)", "ubm(attraction=boosted)"):
        assert score[name] - best < 0.1 * (score["pbm"] - best)
    part = score["pbm(attraction=linear, features=[first])"]
    assert score["pbm(attraction=linear)"] < part < score["pbm"]
    assert found["pbm"].unseen == found["pbm(attraction=linear)"].unseen == 1.0
    assert [one.code for one in found["pbm(attraction=linear)"].cautions] == ["unseen-documents"]


def test_weights_are_recovered(models: dict[str, Fitted]) -> None:
    features = models["pbm(attraction=linear)"].learnt.features
    weights = features["attraction"][1:] / features["columns"][1]
    assert weights == pytest.approx(WEIGHTS, abs=0.12)


def test_relevance_and_clicks_agree_and_ignore_the_order(models: dict[str, Fitted], unseen: pa.Table) -> None:
    model = models["pbm(attraction=linear)"]
    contexts, slates = contexts_of(unseen, model)
    relevance = model.relevance(contexts)
    shown = np.take_along_axis(relevance, slates, 1)
    assert model.click_probs(contexts, slates) == pytest.approx(shown * model.learnt.parameters["examination"])
    turned = unseen.slice(0, 50)
    for name in ("slate", "clicks", "features"):
        column = pa.array([row[::-1] for row in turned[name].to_pylist()])
        turned = turned.set_column(turned.schema.get_field_index(name), name, column)
    assert model.relevance(contexts_of(turned, model)[0])[:, ::-1] == pytest.approx(relevance[:50])


def test_the_frequent_follow_clicks_and_the_rare_their_features() -> None:
    """Two documents shown first, with the same features: their posteriors share the prior, m s before and s trials."""
    rng = np.random.default_rng(6)
    rows = [{"query": 0, "slate": [0], "clicks": [int(click)], "features": [[1.0]]} for click in rng.random(400) < 0.6]
    rows += [{"query": 0, "slate": [1], "clicks": [0], "features": [[1.0]]}] * 2
    for query in range(1, 120):  # the others are clicked where their feature is 1
        x = float(query % 2)
        clicks = rng.random(8) < (0.3 if x else 0.05)
        rows += [{"query": query, "slate": [2], "clicks": [int(c)], "features": [[x]]} for c in clicks]
    model = PBM(attraction="linear").fit(rows)
    learnt = model.learnt
    assert learnt.parameters["examination"].tolist() == [1.0]
    clicked = np.zeros(len(model.documents))
    contexts, _ = contexts_of(rows, model)
    document = model.documents.codes(contexts)[:, 0]
    np.add.at(clicked, document, [row["clicks"][0] for row in rows])
    shown, value = np.bincount(document), learnt.parameters["attraction"]
    frequent, rare = shown.argmax(), shown.argmin()
    a, b = learnt.priors["attraction"]
    s = a + b
    for one in (frequent, rare):
        assert value[one] == pytest.approx((clicked[one] + a[one]) / (shown[one] + s[one]), abs=1e-4)
    assert a[frequent] / s[frequent] == pytest.approx(a[rare] / s[rare])  # the same features
    assert 0.2 < a[rare] / s[rare] < 0.4
    assert value[frequent] == pytest.approx(clicked[frequent] / 400, abs=0.02)
    assert 0.15 < value[rare] < 0.35  # no click in two views of what is clicked in .3


def test_saved_models_predict_the_same(models: dict[str, Fitted], unseen: pa.Table, tmp_path: Any) -> None:
    for name, model in models.items():
        model.save(tmp_path / "model.json")
        same = load(tmp_path / "model.json")
        assert repr(same) == name
        assert same.needs() == model.needs()
        contexts, slates = contexts_of(unseen, same)
        assert np.array_equal(same.click_probs(contexts, slates), model.click_probs(contexts, slates))


def test_draws_move_unseen_documents_too(models: dict[str, Fitted], unseen: pa.Table) -> None:
    model, rng = models["pbm(attraction=linear)"], np.random.default_rng(0)
    contexts, _ = contexts_of(unseen.slice(0, 5), model)
    draws = np.stack([model.draw(rng).relevance(contexts) for _ in range(50)])
    assert (draws.std(axis=0) > 0.01).all()
    logits = np.log(draws / (1 - draws))
    assert np.diff(logits, axis=2).std(axis=0) == pytest.approx(0, abs=1e-6)  # by the same logits


def test_direct_reads_features(models: dict[str, Fitted], unseen: pa.Table) -> None:
    policy = PlackettLuce("first", log=True)
    for name in ("pbm(attraction=linear)", "ubm(attraction=boosted)"):  # by rank, and slate by slate
        model = models[name]
        (batch,) = read_log(unseen.slice(0, 20)).select(model.needs() | policy.reads("rank_probs")).batches(0)
        every = np.stack([model.click_probs(batch.contexts, batch.slates[:, order]) for order in _orders()])
        law = np.stack([np.exp(policy.log_prob(batch.contexts, batch.slates[:, order])) for order in _orders()])
        found = predicted(model, policy, batch, 10)
        assert found.reward == pytest.approx((law * every.sum(axis=2)).sum(axis=0))


def _orders() -> list[list[int]]:
    import itertools

    return [list(order) for order in itertools.permutations(range(ITEMS))]


@pytest.mark.turns(3)
def test_the_network_learns(train: pa.Table, models: dict[str, Fitted], unseen: pa.Table) -> None:
    pytest.importorskip("jax")
    network = PBM(attraction="network").fit(train)
    found = evaluate_models({"table": models["pbm"], "network": network}, read_log(unseen))
    assert found.difference("network", "table").high < -0.02


def test_dbn_learns_attraction_and_satisfaction_from_features(world: World) -> None:
    """Satisfaction depends on another feature than attraction; a fifth of the queries is not in the log."""
    rng, weights = np.random.default_rng(8), np.array([0.0, 0.0, 1.5])
    query = np.concatenate([rng.choice(np.flatnonzero(SEEN), 4000), rng.choice(np.flatnonzero(~SEEN), 400)])
    order = rng.permuted(np.tile(np.arange(ITEMS), (len(query), 1)), axis=1)
    x = np.take_along_axis(world.x[query], order[:, :, None], 1)
    attraction = np.take_along_axis(world.attraction[query], order, 1)
    clicks, reading = np.zeros(order.shape, np.int64), np.ones(len(query), np.bool_)
    for rank in range(ITEMS):
        clicks[:, rank] = reading & (rng.random(len(query)) < attraction[:, rank])
        satisfied = (clicks[:, rank] > 0) & (rng.random(len(query)) < 1 / (1 + np.exp(-x[:, rank] @ weights)))
        reading &= ~satisfied & (rng.random(len(query)) < 0.9)
    slates = order + ITEMS * query[:, None]
    table = pa.table({"query": query, "slate": slates.tolist(), "clicks": clicks.tolist(), "features": x.tolist()})
    both = DBN(attraction="linear", satisfaction="linear").fit(table.slice(0, 4000))
    features = both.learnt.features
    for name, true in {"attraction": WEIGHTS, "satisfaction": weights}.items():
        assert features[name][1:] / features["columns"][1] == pytest.approx(true, abs=0.3)
    score = evaluate_models({"both": both, "plain": DBN().fit(table.slice(0, 4000))}, read_log(table.slice(4000)))
    assert score.difference("both", "plain", "conditional_perplexity").high < -0.02
    with pytest.raises(UsageError, match="leaves nothing for features"):
        DBN(satisfaction="linear", prior="common")


@pytest.mark.parametrize("names", [("features", "first"), ("first",)])
def test_covariates_are_means_whatever_the_partition(train: pa.Table, names: tuple[str, ...]) -> None:
    fold: Fold = CovariatesFold(FeatureColumns(names), "query")
    needed = FeatureColumns(names).needs() | PBM().fit(train.slice(0, 5)).needs()
    parts = [
        next(iter(read_log(train.slice(first, 1000)).select(needed).batches(0))) for first in range(0, len(train), 1000)
    ]
    one = fold.result(fold.of(next(iter(read_log(train).select(needed).batches(0)))))
    left = fold.add(fold.of(parts[0]), parts[1])
    right = None
    for part in parts[:1:-1]:
        right = fold.add(right, part)
    both = total(right, total(DocumentSums(), left))
    assert both == total(left, right)
    two = fold.result(both)
    for name in ("keys", "mean"):
        assert np.array_equal(getattr(one, name), getattr(two, name))


def test_the_mean_of_a_column_that_changes_is_taken() -> None:
    rows = [
        {"query": 1, "slate": ["a", "b"], "clicks": [1, 0], "features": [[0, 2], [1]], "age": [1.0, 7.0]},
        {"query": 1, "slate": ["a"], "clicks": [0], "features": [[0]], "age": [4.0]},
    ]
    columns = FeatureColumns(("age", "features"))
    (batch,) = read_log(rows).select(columns.needs() | PBM().fit(rows).needs()).batches(0)
    fold: Fold = CovariatesFold(columns, "query")
    found = fold.result(fold.of(batch))
    assert sorted(found.mean.tolist()) == [[2.5, 1.0, 0.0, 0.5], [7.0, 0.0, 1.0, 0.0]]


def test_a_shuffled_log_gives_the_same_model(train: pa.Table, models: dict[str, Fitted], unseen: pa.Table) -> None:
    name = "pbm(attraction=linear)"
    shuffled = click_model(name).fit(train.take(np.random.default_rng(0).permutation(len(train))))
    contexts, _ = contexts_of(unseen, shuffled)
    assert shuffled.relevance(contexts) == pytest.approx(models[name].relevance(contexts), rel=1e-6)


BAD = {
    "not a kind of regression": lambda: PBM(attraction="forest"),  # type: ignore[arg-type]
    "set also attraction=linear": lambda: PBM(features="first"),
    "names no columns": lambda: PBM(attraction="linear", features=()),
    "each once": lambda: PBM(attraction="linear", features=("first", "first")),
    "nothing for features": lambda: UBM(attraction="linear", prior=(1, 2)),
    "is not a kind of regression": lambda: DBN(satisfaction="tree"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("words", BAD)
def test_bad_settings_are_refused(words: str) -> None:
    with pytest.raises(UsageError) as caught:
        BAD[words]()
    assert words in str(caught.value)


def test_missing_columns_are_named(train: pa.Table, models: dict[str, Fitted], unseen: pa.Table) -> None:
    with pytest.raises(ColumnError, match="features"):
        PBM(attraction="linear").fit(train.drop_columns("features"))
    with pytest.raises(ColumnError, match="tablet"):
        PBM(examination_by="tablet").fit(train)
    model = models["pbm(attraction=linear)"]
    contexts, slates = contexts_of(unseen, models["pbm"])
    with pytest.raises(OffrankError, match="'features'"):
        model.click_probs(contexts, slates)


def test_too_many_features_are_refused() -> None:
    rows = [{"slate": [1], "clicks": [1], "features": [[10**9]]}]
    with pytest.raises(UsageError, match="at most 20,000"):
        PBM(attraction="linear").fit(rows)


def by_device(world: World, n: int, seed: int) -> pa.Table:
    """Phones show half of what desktops do at every rank below the first, and are looked at less in all."""
    rng = np.random.default_rng(seed)
    query, phone = rng.integers(0, QUERIES, n), rng.random(n) < 0.4
    order = rng.permuted(np.tile(np.arange(ITEMS), (n, 1)), axis=1)
    curve = np.where(phone[:, None], 0.8 * 0.5 ** np.arange(ITEMS), CURVE)
    clicks = rng.random((n, ITEMS)) < curve * np.take_along_axis(world.attraction[query], order, 1)
    return pa.table(
        {
            "query": query,
            "slate": (order + ITEMS * query[:, None]).tolist(),
            "clicks": clicks.astype(int).tolist(),
            "device": np.where(phone, "phone", "desktop"),
        }
    )


@pytest.fixture(scope="module")
def devices(world: World) -> pa.Table:
    return by_device(world, 30_000, 7)


@pytest.fixture(scope="module")
def by(devices: pa.Table) -> Fitted:
    return PBM(examination_by="device").fit(devices)


def test_each_device_has_its_curve(by: Fitted, devices: pa.Table, tmp_path: Any) -> None:
    table, names = by.learnt.parameters["examination"], by.learnt.info["contexts"]
    low, high = by.interval("examination", 0.999)
    for name, curve in {"desktop": CURVE, "phone": 0.8 * 0.5 ** np.arange(ITEMS)}.items():
        row = names.index(name)
        assert table[row] == pytest.approx(curve, abs=0.04)
        assert ((low[row] <= curve) & (curve <= high[row])).all()
    assert table[-1] == pytest.approx(0.4 * table[names.index("phone")] + 0.6 * table[names.index("desktop")], abs=0.01)
    assert by.examination() == pytest.approx(table[-1] / table[-1, 0])
    assert not by.cautions
    assert "desktop" in str(by)
    by.save(tmp_path / "model.json")
    contexts, slates = contexts_of(devices.slice(0, 100), by)
    assert np.array_equal(load(tmp_path / "model.json").click_probs(contexts, slates), by.click_probs(contexts, slates))


def test_predictions_take_the_curve_of_the_row(by: Fitted, devices: pa.Table) -> None:
    contexts, slates = contexts_of(devices.slice(0, 3), by)
    for device, name in (("phone", "phone"), ("desktop", "desktop"), ("fridge", None)):
        rows = devices.slice(0, 3).set_column(3, "device", pa.array([device] * 3))
        row = -1 if name is None else by.learnt.info["contexts"].index(name)
        relevance = np.take_along_axis(by.relevance(contexts), slates, 1)
        expected = relevance * by.learnt.parameters["examination"][row]
        assert by.click_probs(*contexts_of(rows, by)) == pytest.approx(expected)


def test_contexts_without_common_documents_are_said(world: World, devices: pa.Table) -> None:
    query = np.array(devices["query"])
    device = np.where(query % 2 == 0, "even", "odd")
    table = devices.slice(0, 4000).set_column(3, "device", pa.array(device[:4000]))
    (found,) = (one for one in PBM(examination_by="device").fit(table).cautions if one.code == "unlinked-contexts")
    assert "even" in found.message or "odd" in found.message


def test_columns_of_many_values_are_refused(devices: pa.Table) -> None:
    table = devices.slice(0, 1000).append_column("row", pa.array(np.arange(1000)))
    with pytest.raises(UsageError, match="too many"):
        PBM(examination_by="row").fit(table)
