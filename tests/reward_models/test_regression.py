"""Regressions of whole slates: who predicts whom, what is learnt, what is said and what is refused."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import offrank
from offrank import Top
from offrank.cli import main
from offrank.errors import ColumnError, OffrankError, RowError, SpellingError, UsageError
from offrank.estimators import Direct, DoublyRobust, estimator
from offrank.log.batch import Contexts, LogBatch, Shown, SparseFeatures
from offrank.log.hashing import hashed
from offrank.log.source import Needs
from offrank.policies import propensities
from offrank.readers import read_log
from offrank.reward_models import LassoRegression, OwnRegression, TreeRegression, fit_models
from offrank.reward_models.features import SlateColumns
from offrank.reward_models.training import TrainingFold, TrainingState
from offrank.sums.base import total
from tests.metamorphic.changes import RELATIONS, LogTable, check_relation
from tests.metamorphic.combined import at_once
from tests.reward_models.logs import FEATURES, ROWS, changed, log

SCORES = frozenset(["new", "f0", "f1", "f2"])
NEEDED = Needs(frozenset(["candidates", "features", "reward"]), SCORES, clusters=frozenset(["query"]))
NAMES = (
    "ips",
    "direct(lasso)",
    "dr(lasso)",
    "dr(lasso, residual=pi)",
    "controlled(dr(tree))",
    "direct(boosted(leaves=7))",
)
ASK = partial(offrank.evaluate, target="top(new)", logging="uniform", cluster="query")


class Memory:
    """Predicts 1 for slates that it was learnt from, 0 for others, and counts how often anything was learnt."""

    learnt = 0

    def fit(self, x: Any, y: Any) -> None:
        type(self).learnt += 1
        self.seen = {row.tobytes() for row in x}

    def predict(self, x: Any) -> Any:
        return np.array([row.tobytes() in self.seen for row in x], dtype=float)


class Always:
    """Predicts one number."""

    def __init__(self, value: Any, **known: Any) -> None:
        self.value = value
        vars(self).update(known)

    def fit(self, x: Any, y: Any) -> None: ...

    def predict(self, x: Any) -> Any:
        return np.full(len(x), self.value)


class Failing(Always):
    """Cannot predict."""

    def __init__(self) -> None:
        super().__init__(0.0)

    def predict(self, x: Any) -> Any:
        raise KeyError("no such luck")


@pytest.fixture(scope="module")
def batch() -> LogBatch:
    return next(iter(read_log(log()[0]).select(NEEDED).batches(0)))


@pytest.fixture(scope="module")
def found() -> offrank.Result:
    return ASK(log()[0], estimators=NAMES)


@pytest.mark.turns(3)
def test_estimates_are_near_the_truth_and_a_model_shortens_their_interval(found: offrank.Result) -> None:
    errors = {name: found[name].standard_error for name in NAMES}
    for name in NAMES:
        assert abs(found[name].value - log()[1]) < 4 * errors["ips"], name
    assert errors["dr(lasso)"] < 0.8 * errors["ips"]


def test_no_row_is_predicted_by_a_model_that_has_seen_its_query(batch: LogBatch) -> None:
    made = OwnRegression(Memory()).fit(read_log(log()[0]))
    assert not made.logged(batch).any()
    by_row = OwnRegression(Memory()).fit(read_log(changed(query=None)))
    assert 0 < by_row.logged(batch).mean() < 1  # other rows of a query show the same slate


def test_what_a_regressor_holds_is_its_own_business() -> None:
    class Tree(Always):
        def __init__(self) -> None:
            super().__init__(0.5)
            self.nodes = [self, [self]]

        def __deepcopy__(self, memo: Any) -> Any:
            return Tree()

    plain, circular = (ASK(log()[0], estimators=[Direct(OwnRegression(one))]) for one in (Always(0.5), Tree()))
    assert [one.value for one in circular.values()] == [one.value for one in plain.values()]


def test_it_is_learnt_once_for_all_estimators_wherever_it_stands() -> None:
    Memory.learnt, model = 0, OwnRegression(Memory())
    made = [Direct(model), estimator("snips"), DoublyRobust(model), DoublyRobust(OwnRegression(model.regressor))]
    source = read_log(log()[0])
    ready = fit_models([*made, offrank.estimators.SelfNormalised(made[2], controlled=True)], source)  # type: ignore[arg-type]
    assert Memory.learnt == 5
    assert ready[:4] == made
    assert ready[1] is made[1]
    assert ready[4].base.model.learnt is ready[0].model.learnt  # type: ignore[union-attr]


def test_the_lasso_is_that_of_scikit_learn(batch: LogBatch) -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    made = LassoRegression(penalty=0.05, folds=2).fit(read_log(log()[0])).fitted
    x = SlateColumns(("features",)).of_slates(batch.contexts, np.arange(ROWS), batch.slates, 2, FEATURES)
    first = made.predict(batch, np.arange(ROWS), batch.slates)
    for one in made.regressors:
        mine = np.isclose(one.predict(x), first)
        assert 100 < mine.sum() < 500
        by_hand = linear_model.Lasso(alpha=0.05).fit(x[~mine].astype(float), batch.reward[~mine])
        assert one.coef_ == pytest.approx(by_hand.coef_, abs=1e-3)
        assert one.intercept_ == pytest.approx(by_hand.intercept_, abs=1e-3)


def test_what_is_chosen_has_the_smallest_error_and_is_told(found: offrank.Result) -> None:
    models = {row["estimator"]: row for row in json.loads(found.to_json())["models"]}
    assert set(models) == set(NAMES) - {"ips"}
    lasso = models["direct(lasso)"]
    assert (lasso["rows"], lasso["read"], lasso["folds"], lasso["settings"]) == (ROWS, ROWS, 5, ["penalty=0.01"])
    assert 0.5 < lasso["explained"] < 0.99
    assert models["dr(lasso)"] == {**lasso, "estimator": "dr(lasso)"}
    [said] = [one for one in found["direct(lasso)"].warnings if one.code == "model-based"]
    assert re.search(r"prediction of `lasso`.*fitted \(penalty=0.01\) to the 600 impressions with 5-fold", said.message)
    assert f"explains {100 * lasso['explained']:.0f} % of the variance" in said.message
    assert [one.severity for one in found["dr(lasso)"].warnings if one.code == "reward-model"] == ["note"]
    assert "same-log" not in {one.code for one in found.findings}
    assert "the reward model is right" in str(found)
    alone = ASK(log()[0], estimators=["direct(lasso(penalty=10))"])  # so much that nothing is left of the features
    assert "no better than their mean" in " ".join(str(alone).split())
    depth = ASK(log()[0], estimators=["direct(tree)"]).to_dict()["models"][0]["settings"][0]
    assert depth in ("depth=3", "depth=6", "depth=9")  # the deepest with an older scikit-learn


def test_how_much_is_explained() -> None:
    """Of rewards 1, 2 and 6, with weights 1, 1 and 2, a prediction of 3 leaves 4 + 1 + 2 x 9, their mean 20.75."""
    rows = changed().slice(0, 3)
    for name, values in {"reward": [1.0, 2.0, 6.0], "inclusion": [1.0, 1.0, 0.5]}.items():
        rows = (rows.drop_columns(name) if name in rows.schema.names else rows).append_column(name, pa.array(values))
    told = OwnRegression(Always(3.0), folds=0).fit(read_log(rows)).evidence
    assert told.explained == pytest.approx(1 - 23 / 20.75)
    assert (told.rows, told.folds) == (0, 0)


def test_sub_sampled_rows_count_as_often_as_they_came() -> None:
    """Half of the rows once with inclusion .5, or twice: the same is learnt."""
    table = log()[0].slice(0, 240)
    half = table.append_column("inclusion", pa.array(np.where(np.arange(240) < 120, 0.5, 1.0)))
    twice = pa.concat_tables([table, table.slice(0, 120)])
    trees = [TreeRegression(depth=3, folds=2).fit(read_log(one)).fitted for one in (half, twice)]
    batch = next(iter(read_log(table).select(NEEDED).batches(0)))
    first, second = (one.predict(batch, np.arange(240), batch.slates) for one in trees)
    assert first == pytest.approx(second, abs=1e-9)


def test_nothing_changes_that_may_not(tmp_path: Path, found: offrank.Result) -> None:
    """Order of rows and candidates, names of items, batches, files, threads, and the company of other estimators."""
    names = ("direct(lasso)", "dr(tree(depth=3), residual=pi)", "direct(column=pred)", "dr(column=pred)")
    here = LogTable(log()[0], beside=("features", "feature_values", "new", "pred", "f0", "f1", "f2"))
    check_relation(partial(ASK, estimators=names), here, at_once(*RELATIONS), tolerance=1e-7)
    paths = [tmp_path / f"{number}.parquet" for number in range(3)]
    for number, path in enumerate(paths):
        pq.write_table(log()[0].slice(200 * number, 200), path, row_group_size=70)
    with ThreadPoolExecutor(2) as threads:
        apart = ASK(list(map(str, paths)), estimators=["dr(lasso)", "direct(boosted(leaves=7))"], executor=threads)
    for name in ("dr(lasso)", "direct(boosted(leaves=7))"):
        assert apart[name].value == pytest.approx(found[name].value, rel=1e-9)


def test_of_a_large_log_a_sample_is_kept_whatever_the_partition(batch: LogBatch) -> None:
    fold = TrainingFold(SlateColumns(("features", "new")), "query", numbers=50 * (8 + 8) + 3)
    whole = fold.result(fold.of(batch))
    states = [
        TrainingState(numbers=fold.numbers),
        *(fold.of(batch.take(rows)) for rows in np.split(np.arange(ROWS), 12)),
    ]
    while len(states) > 1:
        states = [total(states[-1], states[0]), *states[1:-1]]
    for state in (whole, fold.result(states[0])):
        assert (state.read, state.slots, state.width, len(state.rows)) == (ROWS, 2, 4, 50)
        assert set(state.rows.key) == set(np.sort(hashed(batch.row))[:50])
        assert np.array_equal(state.rows.x, whole.rows.x)
    assert OwnRegression(Always(1.0)).fit(read_log(log()[0])).evidence.rows == ROWS


@pytest.mark.parametrize(("columns", "different"), [(("new",), 4_000), (("features",), 4_000), (("new",), 7)])
def test_of_a_large_log_rows_are_kept_by_what_they_say(columns: tuple[str, ...], different: int) -> None:
    """In another order and other batches; of many that say the same by their numbers."""
    rows, rng = np.arange(4_000), np.random.default_rng(5)
    number = (rng.random((different, 3)) + 0.01)[rows % different]
    features = SparseFeatures(3 * rows, np.arange(3 * 4_000 + 1), np.zeros(3 * 4_000, int), number.ravel())
    contexts = Contexts(np.tile(np.arange(3), (4_000, 1)), np.full(4_000, 3), np.full(4_000, 2), features=features)
    contexts = replace(contexts, scores={"new": number} if columns == ("new",) else {})
    shown, reward = Shown(np.tile([2, 0], (4_000, 1))), rng.random(4_000)
    log = LogBatch(contexts, shown, None, reward, np.ones(4_000), rows.astype(np.uint64))
    shuffled = replace(log.take(rng.permutation(4_000)), row=log.row)
    fold, found = TrainingFold(SlateColumns(columns), None, numbers=1_000 * (2 + 8)), []
    for one in (log, shuffled):
        part = None
        for some in np.split(rows, 8):
            part = fold.add(part, one.take(some))
        found.append(fold.result(part).rows)
    assert len(found[0]) == len(found[1]) == 1_000
    assert np.array_equal(found[0].reward, found[1].reward) is (different == 4_000)
    if different < 4_000:
        assert set(found[0].key) == set(np.sort(hashed(log.row))[:1_000])


def test_features_of_slates_stand_side_by_side() -> None:
    features = SparseFeatures(np.array([0, 2]), np.array([0, 2, 3, 5]), np.array([0, 1, 1, 0, 0]), np.arange(1.0, 6.0))
    scores, items = {"s": np.array([[0.5, 0.25], [8.0, 0.0]])}, np.array([[7, 8], [9, 0]])
    contexts = Contexts(items, np.array([2, 1]), np.array([2, 1]), scores, features=features)
    found = SlateColumns(("features", "s")).of_slates(
        contexts, np.array([0, 1, 0]), np.array([[1, 0], [0, -1], [0, 1]]), 2, 3
    )
    # a score, then features 0 and 1, of each slot; an index that comes twice adds up; nothing is shown in a pad
    assert found.tolist() == [[0.25, 0, 3, 0.5, 1, 2], [8, 9, 0, 0, 0, 0], [0.5, 1, 2, 0.25, 0, 3]]
    slates, row = np.array([[1, 0], [0, -1]]), np.arange(2, dtype=np.uint64)
    log = LogBatch(contexts, Shown(slates), None, np.ones(2), np.ones(2), row)
    assert SlateColumns(("features", "s")).width(log) == 3
    assert SlateColumns(("s",)).width(log) == 1


def test_features_by_column_are_those_of_the_log(batch: LogBatch) -> None:
    both = [LassoRegression(penalty=0.01, by=by) for by in (("features",), ("f0", "f1", "f2"))]
    first, second = (one.fit(read_log(log()[0])).logged(batch) for one in both)
    assert first == pytest.approx(second, abs=1e-9)


def test_a_target_that_draws_is_the_mean_over_its_slates(batch: LogBatch) -> None:
    made, target = LassoRegression(penalty=0.01).fit(read_log(log()[0])), offrank.PlackettLuce("new", log=True)
    expected = made.expected(propensities(target, batch), 1).reward
    for row in (0, 17):
        slates = np.array([[a, b] for a in range(4) for b in range(4) if a != b])
        rows = np.full(len(slates), row)
        chance = np.exp(target.log_prob(batch.contexts.take(rows), slates))
        assert expected[row] == pytest.approx(chance @ made.fitted.predict(batch, rows, slates))
    sure = made.expected(propensities(Top("new"), batch), 1).reward
    best = np.argsort(-batch.contexts.scores["new"], axis=1)[:, :2]
    assert sure == pytest.approx(made.fitted.predict(batch, np.arange(ROWS), best))


def test_a_model_of_another_log_is_learnt_anew_whatever_stands_beside_it() -> None:
    other = LassoRegression(penalty=0.01).fit(changed(reward=[100.0] * ROWS))
    alone = ASK(log()[0], estimators=[Direct(other)])
    beside = ASK(log()[0], estimators=[Direct(other), "dr(lasso(penalty=0.01))"])
    name = "direct(lasso(penalty=0.01))"
    assert alone[name].value == beside[name].value < 50


NAN_AT_3 = [[1.0, 2.0, float("nan" if row == 3 else 1), 0.5] for row in range(ROWS)]
SHORT_AT_5 = [[1.0] * (3 if row == 5 else 4) for row in range(ROWS)]


@pytest.mark.parametrize(
    ("change", "asked", "error", "words"),
    [
        ({"features": None}, "direct(lasso)", UsageError, "has no features of the candidates"),
        ({}, "direct(lasso(by=[fo0]))", ColumnError, "no column 'fo0'"),
        ({"query": [1] * ROWS}, "direct(lasso(penalty=1))", UsageError, "600 impressions of one query"),
        ({}, Direct(Always(np.nan)), UsageError, "predicts nan for a logged slate"),
        ({}, Direct(OwnRegression(Always(np.inf, n_features_in_=6), folds=0)), UsageError, "predicts inf"),
        ({}, Direct(OwnRegression(Always([1.0], n_features_in_=5), folds=0)), UsageError, "5 features per slate"),
        ({}, Direct(OwnRegression(Always([1.0], n_features_in_=9), folds=0)), UsageError, r"slots=5"),
        ({}, Direct(OwnRegression(Failing(), folds=0)), UsageError, r"cannot be used: 'no such luck' \(KeyError\)"),
        ({}, Direct(Always(np.ones(2))), (UsageError, ValueError), "shape"),
        ({"inclusion": [0.5, *[1.0] * (ROWS - 1)]}, Direct(Always(1.0)), UsageError, "takes no sample_weight"),
        ({"pred": NAN_AT_3}, "direct(column=pred)", RowError, r"row 3 .*'pred'.*not a finite number"),
        ({"pred": SHORT_AT_5}, "dr(column=pred)", RowError, r"row 5 .*'pred'.*does not have the length"),
        ({}, "direct(column=prde)", ColumnError, "nearest name is 'pred'"),
        ({}, "direct(column=reward)", OffrankError, "reward"),
        ({"features": [[[99_999]] * 4] * ROWS, "feature_values": None}, "direct(lasso)", UsageError, "200,000 columns"),
        ({}, "lasso", UsageError, "not an estimator"),
    ],
)
def test_bad_input(change: dict[str, Any], asked: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        ASK(changed(**change), estimators=[asked])


@pytest.mark.parametrize(
    ("spelled", "words"),
    [
        ("direct(laso)", "did you mean lasso"),
        ("direct", "needs one model"),
        ("dr(lasso, column=pred)", "needs one model"),
        ("dr(lasso, residual=ipm)", r"weights each click[\s\S]*ips, pi"),
        ("dr(tree, residual=clip(rips, 3))", "weights each click"),
        ("direct(lasso(folds=1))", "folds is 1"),
        ("direct(lasso(by=[]))", "by is"),
        ("direct(lasso(penalty=inf))", "penalty is inf"),
        ("dr(lasso, residual=logged)", "not a single weighting"),
        ("clip(logged, 3)", "logged has no weights"),
        ("controlled(auto)", "'auto' is not an estimator"),
        ("direct(lasso(penalty=-1))", "penalty is -1"),
        ("direct(tree(depth=1.5))", "depth is 1.5"),
        ("direct(boosted(leaves=1))", "leaves is 1"),
    ],
)
def test_refused_spellings(spelled: str, words: str) -> None:
    with pytest.raises((SpellingError, UsageError), match=words):
        estimator(spelled)


def test_what_is_no_model_is_refused() -> None:
    for given in (3, Memory):
        with pytest.raises(UsageError, match="not a reward model"):
            Direct(given)
    with pytest.raises(UsageError, match="has not been fitted"):
        LassoRegression().needs(Top("new"))


@pytest.mark.parametrize(
    ("spelled", "printed"),
    [
        ("dm(lasso)", "direct(lasso)"),
        ("direct(lasso(penalty=0.1, by=old))", "direct(lasso(by=[old], penalty=0.1))"),
        ("dm('lasso')", "direct('lasso')"),
        ('dr("m", residual=pi)', "dr('m', residual=pi)"),
        ("dr(boosted(folds=3), residual=clip(pi, 10))", "dr(boosted(folds=3), residual=clip(pi, 10))"),
        ("controlled(dr(column='my pred'))", "controlled(dr(column='my pred'))"),
        ("dr(column=lasso)", "dr(column=lasso)"),
    ],
)
def test_spellings(spelled: str, printed: str) -> None:
    assert repr(estimator(spelled)) == printed
    assert estimator(printed) == estimator(spelled)


def test_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pq.write_table(log()[0], "log.parquet")
    words = ["evaluate", "log.parquet", "--target", "top(new)", "--logging", "uniform", "-e"]
    done = CliRunner().invoke(main, [*words, "dm(lasso(by=[f0, f1])), dr(column=pred)", "--json", "out.json"])
    assert done.exit_code == 0, done.output
    assert "`lasso(by=[f0, f1])`" in " ".join(done.output.replace("\n", " ").split()) or "lasso(by=[f0" in done.output
    models = json.loads(Path("out.json").read_text())["models"]
    assert [row["estimator"] for row in models] == ["direct(lasso(by=[f0, f1]))", "dr(column=pred)"]
    failed = CliRunner().invoke(main, [*words, "direct(lasso(by=[nothing]))"])
    assert failed.exit_code
    assert "nothing" in failed.output
