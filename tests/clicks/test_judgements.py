"""Judgements: ids as in the log, exact intervals and certainties, draws of products, grades; predictions and scores."""

from __future__ import annotations

import json
import pickle
from concurrent.futures import Executor, Future
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import beta

import offrank
from offrank.clicks import DBN, DCTR, GCTR, PBM, RDCTR, ClickModel, Fitted, load
from offrank.clicks.base import FitResult
from offrank.clicks.documents import Documents, TextsFold
from offrank.clicks.judgements import cuts_of
from offrank.clicks.sessions import Tally
from offrank.errors import UsageError
from offrank.log.source import Needs
from offrank.log.texts import Gathering, Texts
from offrank.readers.tables import MemoryTable
from offrank.readers.wide import WideLog
from offrank.sums.base import total
from tests.clicks.aged import aged

ITEMS: dict[str, list[Any]] = {"text": ["a", "b", "ü", ""], "numbers": [7, -3, 2**40, 0], "large": [2**63 + 1, 2, 3, 4]}
QUERIES: dict[str, list[Any]] = {"text": ["red shoes", "blue"], "numbers": [11, 5], "large": [11, 5]}


def rows(kind: str = "text", n: int = 40, **more: Any) -> list[dict[str, Any]]:
    """Slates of three of four items for two queries in turn; item i of query j is clicked in every 2 + i + j-th one."""
    found = []
    for at in range(n):
        query, order = at % 2, [(at // 2 + place) % 4 for place in range(3)]
        clicks = [int((at // 2) % (2 + item + query) == 0) for item in order]
        found.append({"query": QUERIES[kind][query], "slate": [ITEMS[kind][item] for item in order], "clicks": clicks})
    return [{**row, **more} for row in found]


def frame(kind: str) -> pa.Table:
    found = rows(kind)
    slate = pa.array([row["slate"] for row in found], pa.list_(pa.uint64()) if kind == "large" else None)
    return pa.table({"slate": slate} | {name: [row[name] for row in found] for name in ("query", "clicks")})


@cache
def fitted(kind: str = "text") -> Fitted:
    return DCTR(prior=(1, 3)).fit(frame(kind))


def by_hand(kind: str) -> dict[tuple[Any, Any], tuple[int, int]]:
    """(shown, clicked) of each pair of query and item."""
    found: dict[tuple[Any, Any], tuple[int, int]] = {}
    for row in rows(kind):
        for item, click in zip(row["slate"], row["clicks"], strict=True):
            shown, clicked = found.get((row["query"], item), (0, 0))
            found[row["query"], item] = shown + 1, clicked + click
    return found


@pytest.mark.parametrize("kind", ITEMS)
def test_every_document_has_its_ids_and_its_numbers(kind: str, tmp_path: Path) -> None:
    fitted(kind).save(tmp_path / "model.json")
    expected = {  # ids of 64 bits that do not fit are written as text
        (query, str(item) if kind == "large" else item): (shown, (clicked + 1) / (shown + 4))
        for (query, item), (shown, clicked) in by_hand(kind).items()
    }
    for model in (fitted(kind), load(tmp_path / "model.json")):
        table = model.judgements()
        found = {(row["query"], row["item"]): (row["sessions"], row["relevance"]) for row in table.records()}
        assert found == {key: pytest.approx(value) for key, value in expected.items()}
    assert table.to_arrow().equals(fitted(kind).judgements().to_arrow())


@pytest.mark.parametrize("model", [PBM((1, 3)), DBN()])
def test_models_of_counts_and_of_sessions_number_queries_alike(model: ClickModel) -> None:
    documents = model.fit(rows()).documents
    assert documents.queries == 2
    assert documents.query is not None
    assert documents.query[0] == 0
    items, queries = documents.item_ids().to_pylist(), documents.query_ids().to_pylist()
    assert sorted(zip(queries, items, strict=True)) == sorted(by_hand("text"))
    asked = next(offrank.read_log(rows()).select(Needs(keys=frozenset(["query"]))).batches(0))
    names = documents.query_ids().take(pa.array([int(np.flatnonzero(documents.query == q)[0]) for q in (0, 1)]))
    assert [names[place].as_py() for place in documents.query_of(asked.contexts).tolist()] == ["red shoes", "blue"] * 20


def test_items_alone_have_no_query() -> None:
    model = DCTR(prior=(1, 3)).fit(rows(), by=None)
    assert (model.documents.query, model.documents.queries) == (None, 0)
    assert model.judgements().query.null_count == 4
    assert {row["item"] for row in model.judgements().records()} == set(ITEMS["text"])


def test_texts_of_any_partition_are_the_same() -> None:
    log = offrank.read_log(rows(n=9)).select(Needs(keys=frozenset(["query"]), texts=True))
    parts = [
        batch for at in range(9) for batch in offrank.read_log(rows(n=9)[at : at + 1]).select(log.needed).batches(0)
    ]  # type: ignore[attr-defined]
    fold = TextsFold()
    whole = fold.result(fold.of(next(log.batches(0))))
    state = None
    for part in reversed(parts):
        state = total(fold.of(part), state)
    assert fold.result(state) == whole
    assert sorted(whole.texts.to_pylist()) == sorted([*ITEMS["text"], *QUERIES["text"]])
    assert [len(part) for part in state.parts] == sorted(len(part) for part in state.parts)
    assert Gathering() != whole
    assert Texts.none() != whole


def test_intervals_and_certainties_of_one_table_are_exact() -> None:
    found = fitted().judgements(0.9)
    shown = found.sessions
    a = found.relevance * (shown + 4)
    posterior = beta(a, shown + 4 - a)
    assert found.low == pytest.approx(posterior.ppf(0.05))
    assert found.high == pytest.approx(posterior.ppf(0.95))
    ends = np.array([0, *found.cuts, np.inf])
    assert found.certainty == pytest.approx(posterior.cdf(ends[found.grade + 1]) - posterior.cdf(ends[found.grade]))
    for row in found.take(np.array([0, 3])).records():
        assert row["low"] < row["relevance"] < row["high"]


def product(strength: float = 40.0) -> Fitted:
    """A DBN of two documents whose posterior is known."""
    tables = {
        "attraction": np.array([0.5, 0.8, 0.5]),
        "satisfaction": np.array([0.4, 0.9, 0.5]),
        "continuation": np.array([0.9]),
        "attraction_prior": np.array([1.0, 1.0]),
        "satisfaction_prior": np.array([1.0, 1.0]),
    }
    doubt = {name: np.full(3, strength) for name in ("attraction", "satisfaction")}
    documents = Documents(np.array([3, 7]), item=np.array([3, 7]), texts=Texts.none())
    return Fitted(DBN(), documents, FitResult(tables, doubt), Tally())


def test_intervals_of_products_are_those_of_draws() -> None:
    found = product().judgements(samples=4000, grades=[0.1, 0.3, 0.5])
    assert found.item.to_pylist() == [7, 3]
    assert found.grade.tolist() == [3, 1]
    rng, a, s = np.random.default_rng(1), np.array([0.8, 0.5]), np.array([0.9, 0.4])
    worth = rng.beta(40 * a, 40 * (1 - a), (200_000, 2)) * rng.beta(40 * s, 40 * (1 - s), (200_000, 2))
    low, high = np.quantile(worth, [0.025, 0.975], axis=0)
    assert found.low == pytest.approx(low, abs=0.01)
    assert found.high == pytest.approx(high, abs=0.01)
    sure = [(worth[:, 0] >= 0.5).mean(), ((worth[:, 1] >= 0.1) & (worth[:, 1] < 0.3)).mean()]
    assert found.certainty == pytest.approx(sure, abs=0.03)
    assert np.isnan(found.sessions).all()


def test_blocks_of_documents_are_drawn_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    model = RDCTR(prior=(1, 3)).fit(rows())
    whole = model.judgements(samples=2000)
    monkeypatch.setattr("offrank.clicks.judgements._BLOCK", 3)
    found = model.judgements(samples=2000)
    assert found.low == pytest.approx(whole.low, rel=0.15)
    assert (found.relevance == whole.relevance).all()


def test_grades_have_the_gains_of_ndcg() -> None:
    relevance = np.append(np.linspace(0, 1, 100), 5.0)  # one is best by luck
    top = float(np.quantile(relevance, 0.99))
    assert cuts_of(relevance, 5) == pytest.approx(np.array([0.5, 2, 5, 11]) / 15 * top)
    assert cuts_of(relevance, 2) == pytest.approx([top / 2])
    assert cuts_of(relevance, [0.1, 0.2]).tolist() == [0.1, 0.2]
    for wrong in (1, [0.2, 0.1], []):
        with pytest.raises(UsageError, match="grades is"):
            cuts_of(relevance, wrong)


def test_each_grade_begins_at_its_cut() -> None:
    found = fitted().judgements(grades=[0.2, 0.4])
    assert found.grade.tolist() == [sum(value >= cut for cut in (0.2, 0.4)) for value in found.relevance]
    on_the_cut = fitted().judgements(grades=[float(found.relevance[0])])
    assert on_the_cut.grade[0] == 1


@pytest.mark.parametrize(
    ("model", "message"),
    [(GCTR(), "every document the same relevance"), (DCTR(), "has no posterior for relevance")],
)
def test_doubtful_judgements_are_said(model: ClickModel, message: str) -> None:
    learnt = model.fit(rows())
    found = replace(learnt, learnt=replace(learnt.learnt, strength={}, loadings={})).judgements()
    assert [caution.code for caution in found.cautions] == ["doubtful-judgements"]
    assert message in found.cautions[0].message


def test_wide_intervals_are_counted() -> None:
    found = product(strength=2.0).judgements(grades=[0.1, 0.3, 0.5])
    assert found.wide == 2
    assert found.cautions[0].severity == "serious"
    assert product(strength=1e6).judgements(grades=[0.1, 0.3, 0.5]).wide == 0


def test_a_model_without_ids_is_refused(tmp_path: Path) -> None:
    fitted().save(tmp_path / "model.json")
    kept = aged(tmp_path / "model.json")
    del kept["ids"]  # as files of earlier releases
    (tmp_path / "model.json").write_text(json.dumps(kept), encoding="utf-8")
    old = load(tmp_path / "model.json")
    assert old.learnt.parameters["rate"] == pytest.approx(fitted().learnt.parameters["rate"])
    with pytest.raises(UsageError, match="no document ids"):
        old.judgements()
    with pytest.raises(UsageError, match="no document ids"):
        replace(fitted(), documents=replace(fitted().documents, texts=None)).judgements()


def kinds_of_frames() -> dict[str, Any]:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    return {
        "pandas": pandas.DataFrame(rows()),
        "polars": polars.DataFrame(rows()),
        "arrow": pa.Table.from_pylist(rows()),
    }


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_frames_are_learnt_from_and_predicted_as_frames(kind: str) -> None:
    given = kinds_of_frames()[kind]
    model = DCTR(prior=(1, 3)).fit(given)
    found = model.predict(given)
    assert type(found) is type(given)
    table = found if kind == "arrow" else pa.table(found)
    assert table.column("item").to_pylist() == [item for row in rows() for item in row["slate"]]
    assert table.column("query").to_pylist() == [row["query"] for row in rows() for _ in range(3)]
    assert table.column("row").to_pylist() == [at for at in range(40) for _ in range(3)]
    assert table.column("rank").to_pylist() == [1, 2, 3] * 40
    counts = by_hand("text")
    for row in table.to_pylist():
        shown, clicked = counts[row["query"], row["item"]]
        assert row["click_probability"] == row["relevance"] == pytest.approx((clicked + 1) / (shown + 4))


def test_predictions_need_no_clicks_and_skip_empty_ranks() -> None:
    found = fitted().predict([{"query": "blue", "slate": ["ü", None, "new"]}]).to_pylist()
    assert [(row["item"], row["rank"]) for row in found] == [("ü", 1), ("new", 3)]
    assert found[1]["relevance"] == 1 / 4
    assert sum(map(len, fitted().predictions(rows()))) == 120


def test_the_score_is_the_mean_log_likelihood_of_a_session() -> None:
    model, log = fitted(), rows(n=6)
    counts, logs = by_hand("text"), []
    for row in log:
        rates = [(counts[row["query"], item][1] + 1) / (counts[row["query"], item][0] + 4) for item in row["slate"]]
        logs.append(sum(np.log(r if click else 1 - r) for r, click in zip(rates, row["clicks"], strict=True)))
    assert model.score(log) == pytest.approx(np.mean(logs))
    weighed = [{**row, "inclusion": 0.25 if at else 1.0} for at, row in enumerate(log)]
    assert model.score(weighed) == pytest.approx(np.average(logs, weights=[1, 4, 4, 4, 4, 4]))


@pytest.mark.parametrize("ask", [lambda m, x: m.relevance(x), lambda m, x: m.click_probs(x)])
def test_a_frame_in_the_place_of_contexts_is_one_error(ask: Any) -> None:
    with pytest.raises(UsageError, match=r"list is not the contexts.*(?s:.*)predict\(log\)"):
        ask(fitted(), rows())


def test_click_probabilities_need_slates() -> None:
    batch = next(offrank.read_log(rows()).select(fitted().needs()).batches(0))
    with pytest.raises(UsageError, match="no slates"):
        fitted().click_probs(batch.contexts)


@pytest.mark.parametrize("model", [PBM((1, 9)), DBN()])
def test_models_are_estimators_of_scikit_learn(model: ClickModel) -> None:
    base = pytest.importorskip("sklearn.base")
    again = base.clone(model)
    assert (again, repr(again)) == (model, repr(model))
    assert model.set_params(**model.get_params()) == model


def test_settings_are_replaced_and_checked() -> None:
    begin = PBM()
    assert repr(begin.set_params(prior=(1, 9))) == "pbm([1, 9])"
    assert begin == PBM()
    with pytest.raises(UsageError, match=r"no setting 'priors'(?s:.*)prior, tolerance"):
        begin.set_params(priors=(1, 9))
    with pytest.raises(UsageError):
        begin.set_params(prior=(-1, 9))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda ids: ids["item"].update(values=ids["item"]["values"][::-1]), "ids do not match its documents"),
        (lambda ids: ids["query"].update(values=[-1] * 8), "ids do not match its documents"),
        (lambda ids: ids["query"].update(values=[9] * 8), "damaged"),
        (lambda ids: ids["shown"].update(shape=[4], values=[1.0] * 4), "counts do not match"),
        (lambda ids: ids["texts"]["codes"]["values"].reverse(), "texts are not sorted"),
        (lambda ids: ids["texts"].update(bytes="YQ=="), "ends of its texts"),
        (lambda ids: ids.pop("item"), "no 'item'"),
    ],
)
def test_damaged_ids_are_refused(change: Any, message: str, tmp_path: Path) -> None:
    fitted().save(tmp_path / "model.json")
    kept = aged(tmp_path / "model.json")
    change(kept["ids"])
    (tmp_path / "model.json").write_text(json.dumps(kept), encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        load(tmp_path / "model.json")


class Elsewhere(Executor):
    """Sends a job and its result through pickle, as processes do."""

    def submit(self, fn: Any, /, *args: Any, **_: Any) -> Future[Any]:
        found: Future[Any] = Future()
        job, given = pickle.loads(pickle.dumps((fn, args)))
        found.set_result(pickle.loads(pickle.dumps(job(*given))))
        return found


def test_parts_read_by_processes_are_put_together() -> None:
    table = pa.Table.from_pylist(rows(n=30))
    log = WideLog(MemoryTable(table, part_rows=7), {})
    found = DCTR(prior=(1, 3)).fit(log, executor=Elsewhere()).judgements()
    assert found.to_arrow().equals(DCTR(prior=(1, 3)).fit(table).judgements().to_arrow())
