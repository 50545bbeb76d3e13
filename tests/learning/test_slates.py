"""Learning of whole slates: rewards of actions from the pseudoinverse, boosted trees, and grades."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import offrank
from offrank.errors import AbilityError, ColumnError, LogError, MissingExtraError, SpellingError, UsageError
from offrank.estimators.pseudoinverse import pseudoinverse
from offrank.learning import Split, learner
from offrank.learning.action_rewards import ActionSums
from offrank.learning.contexts import ContextsFold, ContextSums
from offrank.learning.pi_opt import PiOpt
from offrank.learning.trees import TreeSettings, fit, last, ranking_rounds
from offrank.log.batch import Contexts
from offrank.policies import policy
from offrank.running.executors import run
from offrank.sums.base import total
from offrank_testing.laws import Situation, law

#: reward of each of four items in two slots, for two queries: greedy takes .5 + .28 in the first one, exact .4 + .4;
#: the slots' rewards have the same mean, for only their differences are identified
PHI = np.array(
    [
        [[0.5, 0.4], [0.4, 0.1], [0.1, 0.28], [0.05, 0.27]],
        [[0.0, 0.1], [0.1, 0.2], [0.3, 0.1], [0.05, 0.05]],
    ]
)
OLD = ((4.0, 2.0, 1.0, 1.0), (1.0, 1.0, 3.0, 2.0))
GRADES = ((3, 1, 0, 2), (0, 2, 1, 4))
LOGGING = "plackett_luce(old)"


def every_slate(logging: str, seed: int = 0, shift: float = 0.0) -> list[dict[str, Any]]:
    """Every slate of every query three times, in turn for each third, so that sums over a third are expectations.

    An item has a feature of its own in each query. The candidates come in any order.
    """
    rng, rows = np.random.default_rng(seed), []
    for query in range(2):
        chances = law(policy(logging), Situation(4, 2, {"old": OLD[query]}, {}))
        for slate, chance in chances.items():
            order = rng.permutation(4).tolist()
            beside = {"old": OLD[query], "grade": GRADES[query], "features": [[4 * query + item] for item in range(4)]}
            row = {name: [values[item] for item in order] for name, values in beside.items()}
            reward = float(PHI[query, slate, range(2)].sum()) + shift
            known = {"query": query, "inclusion": min(1.0, 0.01 / chance), "propensity": chance, "reward": reward}
            ids = {"candidates": [10 * query + item for item in order], "slate": [10 * query + item for item in slate]}
            rows += [{**row, **known, **ids}] * 3
    return rows


def contexts_of(rows: list[dict[str, Any]], logging: str, labels: str | None = None) -> ContextSums:
    source, fold = offrank.read_log(rows), ContextsFold(policy(logging), "train", labels=labels)
    found = run(source.select(fold.reads(source)), fold)
    assert found is not None
    return found


@pytest.mark.parametrize("logging", ["uniform", LOGGING, "epsilon(top(old), 0.5)"])
def test_action_rewards_have_the_values_of_slates_as_their_expectation(logging: str) -> None:
    found = contexts_of(every_slate(logging), logging)
    assert len(found) == 2
    assert found.share == pytest.approx([1, 1])
    phi, one = found.phi().reshape(2, 4, 2), found.phi_of_one().reshape(2, 4, 2)
    moved = contexts_of(every_slate(logging, shift=7.0), logging).phi(7.0).reshape(2, 4, 2)
    assert moved == pytest.approx(phi, abs=1e-9)
    place = [[row.tolist().index(item) for item in range(10 * q, 10 * q + 4)] for q, row in in_order(found)]
    for query, where in enumerate(place):
        at = int(np.flatnonzero(found.contexts.keys["query"] == query)[0])
        for slate in itertools.permutations(range(4), 2):
            held = [where[item] for item in slate]
            assert phi[at, held, range(2)].sum() == pytest.approx(PHI[query, slate, range(2)].sum(), abs=1e-9)
            assert one[at, held, range(2)].sum() == pytest.approx(1, abs=1e-9)


def in_order(found: ContextSums) -> list[tuple[int, np.ndarray]]:
    rows = zip(found.contexts.keys["query"].tolist(), found.contexts.candidates, strict=True)
    return sorted(rows, key=lambda row: row[0])


@pytest.mark.parametrize(("m", "k"), [(5, 3), (4, 4), (3, 1), (1, 1)])
def test_uniform_logging_has_a_closed_form(m: int, k: int) -> None:
    one = Contexts(np.arange(m)[None], np.array([m]), np.array([k]))
    matrix = pseudoinverse(policy("uniform").pair_probs(one)[0]).matrix
    for slate in itertools.permutations(range(m), k):
        sums = ActionSums.zeros(np.array([m]), np.array([k]))
        sums.add(np.zeros(1, np.int64), np.array([slate]), np.array([3.0]))
        expected = 3 * matrix[:, [item * k + slot for slot, item in enumerate(slate)]].sum(axis=1).reshape(m, k)
        assert sums.uniform() == pytest.approx(expected, abs=1e-12)
        if k < m:  # paper-slate-pseudoinverse, Prop. 4
            shown = np.isin(np.arange(m), slate)[:, None]
            here = np.arange(m)[:, None] == np.array(slate)
            written = 1 / k - (m - 1) / (m - k) + (m - 1) * here + (m - 1) / (m - k) * shown
            assert sums.uniform() == pytest.approx(3 * written)


def test_sums_of_impressions_count_by_weight_and_merge() -> None:
    one, other = (ActionSums.zeros(np.array([3, 2]), np.array([2, 1])) for _ in range(2))
    one.add(np.array([0, 1]), np.array([[2, 0], [1, -1]]), np.array([1.0, 5.0]), np.array([2.0, 1.0]))
    assert one.n.tolist() == [2, 1]
    assert one.theta.tolist() == [[0, 2], [0, 0], [2, 0], [0, 0], [5, 0]]
    assert one.rewards(1.0).tolist() == [[0, 0], [0, 0], [0, 0], [0, 0], [4, 0]]
    # 1 / (m l) where a query was seen, in the slots that it has
    assert one.weights == pytest.approx(np.array([[1 / 6] * 2] * 3 + [[1 / 2, 0]] * 2))
    other.merge(one, np.array([0, 1]))
    other.merge(one, np.array([0, 1]))
    assert other.n.tolist() == [4, 2]
    assert other.rewards() == pytest.approx(one.rewards())
    assert not ActionSums.zeros(np.array([2]), np.array([1])).weights.any()
    with pytest.raises(UsageError, match="query 1 has slates of 3 slots but only 2 candidates"):
        ActionSums.zeros(np.array([3, 2]), np.array([3, 3]))


def test_queries_count_equally_and_without_queries_impressions_do() -> None:
    rows = every_slate("uniform")
    more = rows[:36] * 2 + rows[36:]  # the first query twice as often
    found = contexts_of(more, "uniform")
    assert found.share == pytest.approx([1, 1])
    assert sorted(found.sums.n) == pytest.approx([12 / 0.12, 24 / 0.12])
    bare = [{name: value for name, value in row.items() if name != "query"} for row in more]
    assert sorted(contexts_of(bare, "uniform").share) == pytest.approx([2 / 3, 4 / 3])
    # Another set of features is another context of the same query: they share its weight.
    other = [{**row, "features": [[9]] * 4} for row in rows[:36]]
    assert sorted(contexts_of(rows + other, "uniform").share) == pytest.approx([0.5, 0.5, 1])


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """PI-OPT from every slate: a leaf may hold one example."""
    path, method = tmp_path_factory.mktemp("slates") / "policy.npz", "pi-opt(smallest=1, rates=0.5)"
    return offrank.learn(every_slate(LOGGING), method, path, logging=LOGGING, epochs=32, bits=4)


def test_the_best_slate_is_found(learnt: Any) -> None:
    assert learnt.policy == offrank.Boosted(learnt.policy.path)
    assert learnt.criterion == "pi"
    given = contexts_of(every_slate(LOGGING), LOGGING).contexts
    rng = np.random.default_rng(0)
    wanted = {"greedy": {0: [0, 2], 1: [12, 11]}, "exact": {0: [1, 0], 1: [12, 11]}}
    for assignment, slates in wanted.items():
        found = offrank.Boosted(learnt.policy.path, assignment=assignment).sample(given, rng)
        items = np.take_along_axis(given.candidates, found, axis=1)
        assert {int(q): row.tolist() for q, row in zip(given.keys["query"], items, strict=True)} == slates
    assert {("sorted", "wpi"), ("exact", "wpi")} <= set(learnt.tested.estimates.given)
    assert learnt.headline in " ".join(str(learnt).split())
    assert learnt.policy.model.facts["method"] == "pi-opt(smallest=1, rates=0.5)"


def test_settings_are_chosen_by_the_pseudoinverse_estimate(learnt: Any) -> None:
    best = learnt.tried[0]
    third = Split(offrank.read_log(every_slate(LOGGING)), "validate")
    found = offrank.evaluate(third, learnt.policy, LOGGING, "pi", cluster=None)
    assert best.pi.value == pytest.approx(found["pi"].value, rel=1e-9)
    assert best.pi.value == pytest.approx((0.5 + 0.28 + 0.3 + 0.2) / 2)
    assert best.worth("pi") == best.pi.value == max(one.pi.value for one in learnt.tried)


def test_a_linear_policy_may_be_chosen_by_it_too(tmp_path: Path) -> None:
    rows, path = every_slate("uniform"), tmp_path / "p.npz"
    made = offrank.learn(rows, "plackett-luce", path, logging="uniform", criterion="pi", epochs=1, bits=4, test=False)
    found = offrank.evaluate(Split(offrank.read_log(rows), "validate"), made.policy, "uniform", "pi", cluster=None)
    assert made.tried[0].pi is not None
    assert made.tried[0].pi.value == pytest.approx(found["pi"].value, rel=1e-9)


def test_logged_propensities_of_uniform_slates_are_enough(tmp_path: Path) -> None:
    rows, path = every_slate("uniform"), tmp_path / "p.npz"
    made = offrank.learn(rows, "pi-opt(smallest=1)", path, epochs=8, bits=4, test=False)
    again = offrank.learn(rows, "pi-opt(smallest=1)", path, logging="uniform", epochs=8, bits=4, test=False)
    assert again.tried[0].pi == pytest.approx(made.tried[0].pi)
    rounded = [{**row, "propensity": round(row["propensity"], 2)} for row in rows]
    with pytest.raises(AbilityError, match="uniform"):
        offrank.learn(rounded, "pi-opt(smallest=1)", path, epochs=8, bits=4, test=False)
    with pytest.raises(AbilityError, match="logged"):
        offrank.learn(every_slate(LOGGING), "pi-opt", path, epochs=8, bits=4, test=False)


def test_scale_and_shift_of_rewards_teach_the_same_slates(tmp_path: Path) -> None:
    rows, found = every_slate("uniform"), []
    for scale, shift in ((1, 0), (1, 0), (8, -8)):
        moved = [{**row, "reward": scale * row["reward"] + shift} for row in rows]
        path = tmp_path / f"{len(found)}.npz"
        made = offrank.learn(moved, "pi-opt(subsamples=0.8)", path, epochs=8, bits=4, seed=3, test=False)
        found.append(made.policy.model.forest)
    assert found[0] == found[1]
    assert found[2].scores(np.eye(8)) == pytest.approx(8 * found[0].scores(np.eye(8)), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("method", ["sup(smallest=1)", "sup(smallest=1, target=relevance)", "lambdamart(smallest=1)"])
def test_grades_are_learnt(tmp_path: Path, method: str) -> None:
    path = tmp_path / "p.npz"
    made = offrank.learn(every_slate("uniform"), method, path, labels="grade", epochs=16, bits=4, test=False)
    assert made.policy == offrank.Boosted(str(path), greedy=True)
    given = contexts_of(every_slate("uniform"), "uniform", "grade").contexts
    scores = made.policy.model.scores(made.policy.model.encoding.lines(given))
    assert (np.argsort(scores, axis=1) == np.argsort(given.scores["grade"], axis=1)).all()
    if method.startswith("sup"):  # the mean of the targets is in the first tree, and the largest grade is 4
        largest = np.exp2(4) - 1 if "relevance" not in method else 4.0
        assert 0.5 * largest < scores.max() <= largest


def test_the_published_grid() -> None:
    made = learner("pi-opt(grid=published)")
    assert isinstance(made, PiOpt)
    settings = list(made.settings())
    assert len(settings) == 27
    assert {(one.rounds, one.depth, one.smallest) for one in settings} == {(1000, 3, 1)}
    assert made.after == (100, 500, 1000)
    assert learner("pi-opt", 20).after == (8, 16, 20)
    assert learner("pi-opt", 4).after == (4,)


def test_the_longest_slates_may_be_in_any_third(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = []
    for row in range(300):
        k = 3 if row % 3 == 2 and row > 150 else 2
        chance = 1 / 24 if k == 3 else 1 / 12
        given = {"slate": rng.permutation(4)[:k].tolist(), "candidates": [0, 1, 2, 3], "propensity": chance}
        rows.append({**given, "features": [[0], [1], [2], [3]], "reward": float(rng.random() < 0.5)})
    for turn in range(3):
        turned = rows[turn:] + rows[:turn]
        made = offrank.learn(turned, "pi-opt", tmp_path / f"{turn}.npz", logging="uniform", epochs=8, bits=4)
        assert made.policy.model.forest.slots == 3


def test_bad_input_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, path = every_slate("uniform"), tmp_path / "p.npz"
    wrong: list[tuple[str, dict[str, Any], list[str], type[Exception], str]] = [
        ("sup", {}, [], UsageError, "labels="),
        ("sup", {"labels": "absent"}, [], ColumnError, "absent"),
        ("sup(target=clicks)", {"labels": "grade"}, [], UsageError, "gains or relevance"),
        ("pi-opt(grid=large)", {}, [], UsageError, "small or published"),
        ("pi-opt(leaves=1)", {}, [], UsageError, "leaves is 1"),
        ("pi-opt(rates=-1)", {}, [], UsageError, "rate is -1"),
        ("pi-opt(leaves=2.5)", {}, [], UsageError, "leaves is 2.5"),
        ("pi-opt(leaves=200000)", {}, [], UsageError, "at most 131072"),
        ("pi-opt(leaves=[])", {}, [], UsageError, "the grid is empty"),
        ("pi-opt(smallest=0.5)", {}, [], UsageError, "smallest is 0.5"),
        ("pi-opt(rates=1e999)", {}, [], UsageError, "rate is inf"),
        ("pi-opt(grid=published)", {"epochs": 5}, [], UsageError, "own numbers of trees"),
        ("poem(clips=[])", {}, [], UsageError, "the grid is empty"),
        ("pi-opt(depth=3)", {}, [], SpellingError, "does not fit"),
        ("pi-opt", {}, ["features"], ColumnError, "features"),
        ("pi-opt", {}, ["reward"], ColumnError, "reward|clicks"),
    ]
    for method, more, left_out, error, words in wrong:
        given = [{name: value for name, value in row.items() if name not in left_out} for row in rows]
        with pytest.raises(error) as caught:
            offrank.learn(given, method, path, bits=4, **more)
        assert any(word in str(caught.value) for word in words.split("|")), caught.value
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(UsageError, match="is a folder"):
        offrank.learn(rows, "pi-opt", tmp_path / "folder.npz", bits=4)
    with pytest.raises(UsageError, match=r"sup\(target=relevance\)"):
        offrank.learn([{**row, "grade": [40] * len(row["candidates"])} for row in rows], "sup", path, labels="grade")
    with pytest.raises(UsageError, match="at most 10,000 candidates"):
        last(ranking_rounds(np.zeros((10_001, 1)), np.zeros(10_001), np.array([10_001]), TreeSettings(1)))
    with pytest.raises(LogError, match="no candidate has any feature"):
        offrank.learn([{**row, "features": [[]] * len(row["candidates"])} for row in rows], "pi-opt", path, bits=4)
    with pytest.raises(LogError, match="nothing to learn from"):
        offrank.learn([{**row, "reward": 1.0} for row in rows], "pi-opt", path, bits=4)
    with pytest.raises(LogError, match="no candidate was shown"):
        fit(np.zeros((2, 1)), np.zeros(2), np.zeros(2), TreeSettings(1))
    with pytest.raises(LogError, match="is not finite"):
        fit(np.zeros((2, 1)), np.array([0.0, np.nan]), np.ones(2), TreeSettings(1))
    source, fold = offrank.read_log(rows), ContextsFold(policy("uniform"), "train", memory=10)
    state = fold.add(None, next(iter(source.select(fold.reads(source)).batches(0))))
    with pytest.raises(LogError, match="2 different contexts"):
        total(state, state)
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(MissingExtraError, match="LightGBM"):
        offrank.learn(rows, "pi-opt", path, bits=4)
