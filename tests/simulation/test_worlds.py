"""Worlds: truths against enumeration, logs against the laws they are drawn from, estimators against the truth."""

from __future__ import annotations

import itertools
import math
import pickle
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import offrank
from offrank.clicks import CM, Mixed, Upward
from offrank.clicks.laws import ClickLaw
from offrank.errors import ColumnError, UsageError
from offrank.log.batch import Contexts, Floats, Integers, LogBatch
from offrank.log.graded_queries import Judged
from offrank.log.source import Needs
from offrank.policies.base import Policy
from offrank.simulation import JudgedWorld, SimulatedSource, mslr_like, stratified
from offrank.simulation import source as source_module
from offrank.simulation import truth as truth_module
from offrank.simulation.users import USERS, DBNUser, PBMUser, User, user

QUERIES, DOCUMENTS, SLOTS = 5, 4, 3
EVERYTHING = Needs(
    frozenset(["clicks", "candidates", "propensity", "rank_propensity"]),
    scores=frozenset(["grade", "old"]),
    keys=frozenset(["query"]),
)


def small(one: User | None = None, slots: int = SLOTS, temperature: float = 0.5) -> JudgedWorld:
    """Queries 100 to 104 of four documents each; `old` orders some of them wrongly, `new` knows the grades."""
    rng = np.random.default_rng(3)
    grade = rng.integers(0, 5, size=(QUERIES, DOCUMENTS)).astype(float)
    document = 1000 + np.arange(grade.size).reshape(grade.shape)
    scores = {"old": grade + rng.normal(size=grade.shape), "new": grade}
    return JudgedWorld(
        np.arange(100, 105), document, grade, scores, PBMUser() if one is None else one, slots, temperature=temperature
    )


def slates(documents: int = DOCUMENTS, slots: int = SLOTS) -> Iterator[tuple[int, ...]]:
    return itertools.permutations(range(documents), slots)


def plackett_luce(scores: Sequence[float], slate: Sequence[int], temperature: float) -> float:
    """Its probability, by the definition."""
    weight = [math.exp(score / temperature) for score in scores]
    chance, left = 1.0, set(range(len(weight)))
    for item in slate:
        chance *= weight[item] / sum(weight[other] for other in left)
        left.remove(item)
    return chance


def worth(world: JudgedWorld, query: int, slate: Sequence[int]) -> float:
    """Expected clicks on a slate."""
    return float(world.user.law(world.contexts(np.array([query])), np.array([slate])).marginal().sum())


@pytest.mark.parametrize("name", sorted(USERS))
def test_truth_against_every_slate(name: str) -> None:
    world = small(user(name))
    expected = 0.0
    for query, ranking in itertools.product(range(QUERIES), slates()):
        expected += plackett_luce(world.scores["old"][query], ranking, 0.5) * worth(world, query, ranking) / QUERIES
    found = world.truth(world.policy("old"))
    assert found.exact
    assert found.value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["pbm", "dbn"])
def test_truth_of_a_sorted_ranking_is_that_of_its_slate(name: str) -> None:
    world = small(user(name))
    order = np.argsort(-world.scores["old"], axis=1)[:, :SLOTS]
    expected = np.mean([worth(world, query, order[query]) for query in range(QUERIES)])
    assert world.truth(offrank.Top("old")).value == pytest.approx(expected, rel=1e-12)
    assert world.truth(offrank.Top("old")).exact


def test_truth_of_the_position_based_user_is_arithmetic() -> None:
    world = JudgedWorld(np.array([1]), np.array([[7, 8]]), np.array([[4.0, 0.0]]), {"s": np.array([[1.0, 1.0]])})
    uniform = (1 + 0.1 / 2 + 0.1 + 1 / 2) / 2
    assert world.truth(world.policy("s")).value == pytest.approx(uniform, rel=1e-14)
    assert world.truth(offrank.Top("grade")).value == pytest.approx(1 + 0.1 / 2, rel=1e-14)


def test_a_drawn_truth_says_how_far_off_it_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    world = small(user("dbn"))
    exact = world.truth(world.policy("old"))
    monkeypatch.setattr(truth_module, "_MOST_SLATES", 0)
    monkeypatch.setattr(truth_module, "sequential_clicks", lambda *_: None)
    errors = []
    for seed in range(60):
        drawn = world.truth(world.policy("old"), draws=200, seed=seed)
        assert not drawn.exact
        errors.append((drawn.value - exact.value) / drawn.standard_error)
    assert abs(np.mean(errors)) < 4 / math.sqrt(60)
    assert 0.7 < np.std(errors) < 1.3  # four standard errors of a standard deviation of 60
    assert "+-" in str(drawn)
    assert "exactly" in str(exact)


class BothWays(DBNUser):
    """Some read from the top, others from the bottom."""

    def law(self, contexts: Contexts, shown: Integers) -> ClickLaw:
        down = super().law(contexts, shown)
        return Mixed([down, Upward(down.attraction, down.after_click, down.after_skip)], np.array([0.7, 0.3]))


@pytest.mark.parametrize("slots", [2, DOCUMENTS])
@pytest.mark.parametrize("name", ["dbn", "both"])
def test_readers_are_summed_over_sets_of_documents(name: str, slots: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # So far apart that a float cannot hold the weights.
    world = small(user(name) if name == "dbn" else BothWays(), slots, temperature=0.002)
    summed = {repr(p): world.truth(p) for p in (world.policy("old"), offrank.Uniform())}
    assert {t.how for t in summed.values()} == {"every slate" if name != "dbn" and slots == 2 else "sets of documents"}
    monkeypatch.setattr(truth_module, "sequential_clicks", lambda *_: None)
    for policy in (world.policy("old"), offrank.Uniform()):
        enumerated = world.truth(policy)
        assert enumerated.how == "every slate"
        assert summed[repr(policy)].value == pytest.approx(enumerated.value, rel=1e-12)


def test_expected_ranks_against_every_ranking() -> None:
    world = small()
    found = world.expected_ranks(world.policy("old"))
    for query in range(QUERIES):
        expected = np.zeros(DOCUMENTS)
        for ranking in slates(slots=DOCUMENTS):
            chance = plackett_luce(world.scores["old"][query], ranking, 0.5)
            for rank, item in enumerate(ranking, start=1):
                expected[item] += chance * rank
        assert found[query] == pytest.approx(expected, rel=1e-12)


def test_what_the_logging_policy_makes_of_a_document() -> None:
    world = small()
    assert np.array_equal(world.logging_relevance("old"), world.expected_ranks(world.policy("old")))


# Logs ----------------------------------------------------------------------------------------------------------------


def batches(source: SimulatedSource) -> list[LogBatch]:
    return [batch for part in range(source.parts()) for batch in source.batches(part)]


def test_logged_propensities_are_exact() -> None:
    world = small()
    (batch,) = batches(SimulatedSource(world, 400).select(EVERYTHING))
    laws = {}
    for query in range(QUERIES):
        law = np.zeros((DOCUMENTS, SLOTS))
        for slate in slates():
            law[list(slate), range(SLOTS)] += plackett_luce(world.scores["old"][query], slate, 0.5)
        laws[query] = law
    for row, slate in enumerate(batch.slates):
        query = int(batch.contexts.keys["query"][row]) - 100
        expected = plackett_luce(world.scores["old"][query], slate.tolist(), 0.5)
        assert batch.shown.written["propensity"][row] == pytest.approx(expected)
        assert batch.shown.written["rank_propensity"][row] == pytest.approx(laws[query][slate])
        assert batch.contexts.candidates[row].tolist() == world.document[query].tolist()
        assert batch.contexts.scores["grade"][row].tolist() == world.grade[query].tolist()


def test_slates_queries_and_clicks_follow_their_laws() -> None:
    world, n = small(user("dbn")), 100_000
    counts: Counter[tuple[int, ...]] = Counter()
    clicked = np.zeros((QUERIES, SLOTS))
    for batch in batches(SimulatedSource(world, n).select(EVERYTHING)):
        query = batch.contexts.keys["query"] - 100
        counts.update(map(tuple, np.column_stack([query, batch.slates]).tolist()))
        assert batch.clicks is not None
        np.add.at(clicked, query, batch.clicks)
    for query in range(QUERIES):
        expected = np.zeros(SLOTS)
        for slate in slates():
            chance = plackett_luce(world.scores["old"][query], slate, 0.5) / QUERIES
            assert abs(counts[query, *slate] - n * chance) < 5 * math.sqrt(n * chance) + 1
            expected += n * chance * world.user.law(world.contexts(np.array([query])), np.array([slate])).marginal()[0]
        assert np.abs(clicked[query] - expected).max() < 5 * math.sqrt(expected.max())


def fingerprint(source: SimulatedSource) -> list[bytes]:
    return [b"".join(array.tobytes() for array in (b.slates, b.clicks, b.row)) for b in batches(source)]


def test_the_log_is_the_same_whatever_is_read_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_module, "PART_ROWS", 20_000)
    source = SimulatedSource(small(), 50_000, seed=4)
    assert source.parts() == 3
    assert fingerprint(source) == fingerprint(source.select(EVERYTHING))
    assert fingerprint(source) != fingerprint(SimulatedSource(small(), 50_000, seed=5))
    last = list(source.batches(2))
    assert [b.row[0] for b in last] == [40_000, 48_192]
    assert sum(map(len, last)) == 10_000
    assert not np.array_equal(next(source.batches(0)).slates, last[0].slates)


@pytest.mark.turns(3)
def test_every_executor_reads_the_same_log() -> None:
    source = SimulatedSource(small(), 30_000)
    found = []
    with ThreadPoolExecutor(2) as threads, ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        for executor in (None, threads, processes):
            result = offrank.evaluate(source, "top(new)", estimators=["ips", "ipm"], executor=executor)
            found.append((result["ips"].value, result["ipm"].value))
    assert found[0] == found[1] == found[2]


def test_only_what_is_needed_is_there() -> None:
    source = SimulatedSource(small(), 10)
    (plain,) = batches(source.select(Needs()))
    assert not plain.shown.written
    assert not plain.contexts.scores
    (asked,) = batches(source.select(Needs(scores=frozenset(["new"]), labels=frozenset(["query"]))))
    assert set(asked.contexts.scores) == {"new"}
    assert {asked.labels["query"].names[code] for code in asked.labels["query"].codes} <= set(map(str, range(100, 105)))
    assert pickle.loads(pickle.dumps(source)).sessions == 10


@pytest.mark.parametrize(
    "needed",
    [
        Needs(scores=frozenset(["nonsense"])),
        Needs(scores=frozenset(["propensity"])),
        Needs(frozenset(["features"])),
        Needs(rankings=frozenset(["old"])),
        Needs(keys=frozenset(["user"])),
        Needs(labels=frozenset(["grade"])),
    ],
    ids=repr,
)
def test_columns_that_are_not_there_are_refused(needed: Needs) -> None:
    with pytest.raises(ColumnError):
        SimulatedSource(small(), 10).select(needed)


def test_written_as_parquet_it_is_the_same_log(tmp_path: Path) -> None:
    source = SimulatedSource(small(), 20_000).select(Needs(frozenset(["clicks"])))
    done = offrank.convert(source, tmp_path / "log.parquet")
    assert done.rows == 20_000
    read = offrank.read_log(tmp_path / "log.parquet").select(
        Needs(EVERYTHING.roles - {"rank_propensity"}, EVERYTHING.scores, keys=EVERYTHING.keys)
    )
    written = [batch for part in range(read.parts()) for batch in read.batches(part)]
    drawn = batches(source.select(EVERYTHING))

    def column(found: list[LogBatch], name: str) -> Floats:
        parts = {
            "slates": lambda b: b.slates,
            "clicks": lambda b: b.clicks,
            "candidates": lambda b: b.contexts.candidates,
            "propensity": lambda b: b.shown.written["propensity"],
            "grade": lambda b: b.contexts.scores["grade"],
            "old": lambda b: b.contexts.scores["old"],
            "query": lambda b: b.contexts.keys["query"],
        }
        return np.concatenate([parts[name](batch) for batch in found])

    for name in ("slates", "clicks", "candidates", "propensity", "grade", "old", "query"):
        assert np.array_equal(column(written, name), column(drawn, name)), name


# Estimators ----------------------------------------------------------------------------------------------------------


@pytest.mark.turns(3)
@pytest.mark.parametrize("logging", ["logged", "plackett_luce(old, temperature=2, log=True)"])
@pytest.mark.parametrize(
    ("name", "estimators"),
    [
        ("pbm", ["ips", "snips", "ipm", "snipm", "interpol(window=1)", "pbm"]),
        ("trust", ["ips", "snips", "ipm", "snipm"]),
        ("dbn", ["ips", "snips"]),
    ],
)
def test_estimators_hit_the_truth(name: str, estimators: list[str], logging: str) -> None:
    """Each of them whose assumption the user keeps; pbm wants logs that show every candidate."""
    world = small(user(name), slots=DOCUMENTS, temperature=2)
    targets: dict[str, Policy] = {"sorted": offrank.Top("new"), "uniform": offrank.Uniform()}
    source, curve = SimulatedSource(world, 100_000, seed=1), [1, 1 / 2, 1 / 3, 1 / 4]
    # The truth is of the queries of this world, which every log of it has.
    result = offrank.estimate(source, targets, logging, estimators, examination=curve, cluster=None)
    for key, target in targets.items():
        truth = world.truth(target)
        assert truth.exact
        for estimator in estimators:
            found = result[key, estimator]
            assert abs(found.value - truth.value) < 4 * found.standard_error, (key, estimator)
            assert found.standard_error < 0.02 * truth.value, (key, estimator)


def test_position_based_weights_are_wrong_where_users_cascade() -> None:
    """What the truth is for: a wrong assumption is seen to be wrong."""
    world = small(user("dbn"), slots=DOCUMENTS, temperature=2)
    source, curve = SimulatedSource(world, 100_000), [1, 1 / 2, 1 / 3, 1 / 4]
    found = offrank.estimate(source, "top(new)", "logged", ["pbm"], examination=curve, cluster=None)["pbm"]
    assert abs(found.value - world.truth(offrank.Top("new")).value) > 5 * found.standard_error


def test_a_fitted_click_model_can_be_the_user() -> None:
    world = small(user("dbn"))
    fitted = CM().fit(SimulatedSource(world, 5_000))
    learnt = replace(world, user=fitted)
    (batch,) = batches(SimulatedSource(learnt, 4_000).select(EVERYTHING))
    assert batch.clicks is not None
    assert batch.clicks.sum(axis=1).max() == 1  # who cascades clicks once
    truth = learnt.truth(learnt.policy("old"))
    error = batch.clicks.sum(axis=1).std() / math.sqrt(len(batch))
    assert abs(batch.clicks.sum(axis=1).mean() - truth.value) < 4 * error
    assert learnt.relevance().shape == (QUERIES, DOCUMENTS)


# Of judged documents -------------------------------------------------------------------------------------------------


def test_a_world_of_judged_documents() -> None:
    judged, _ = stratified(mslr_like(30, (10, 30), seed=2), documents=6)
    world = JudgedWorld.of(judged, seed=3)
    assert (len(world), world.documents, world.slots) == (30, 6, 6)
    assert set(world.scores) == {"noisy_oracle", "uniform"}
    assert np.array_equal(world.grade.ravel(), judged.grade)
    noise = (world.scores["noisy_oracle"] - world.grade).ravel()
    assert noise.std() == pytest.approx(math.sqrt(0.5), rel=0.2)
    assert not world.scores["uniform"].any()


def test_worlds_that_cannot_be_are_refused() -> None:
    ragged = Judged(np.array([1, 2]), np.array([0, 1, 3]), np.zeros(3), np.zeros((3, 1)), np.arange(3))
    with pytest.raises(UsageError, match="does not make a table"):
        JudgedWorld.of(ragged)
    with pytest.raises(UsageError, match="slots"):
        replace(small(), slots=9)
    with pytest.raises(UsageError, match="grade"):
        replace(small(), scores={"grade": small().grade})
    with pytest.raises(UsageError, match="at least 1 session"):
        SimulatedSource(small(), 0)
    with pytest.raises(ColumnError, match="no score"):
        small().policy("nonsense")
    with pytest.raises(UsageError, match=r"from 0 to 4.*\n.*highest=4"):
        small(PBMUser(highest=2))
    with pytest.raises(UsageError, match="temperature"):
        small(temperature=-1)


def test_temperature_zero_sorts() -> None:
    assert small(temperature=0).policy("old") == offrank.Top("old")
