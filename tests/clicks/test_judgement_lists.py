"""Judgements as other tools read them: what is written, and what their own libraries and `judgement_table` read."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import ir_measures
import lightgbm
import numpy as np
import pytest
from ir_measures import nDCG

import offrank
from offrank.clicks import DCTR, Fitted
from offrank.clicks.judgement_lists import write_judgements
from offrank.errors import UsageError
from offrank.readers import judgement_table

CLICKED = {("q1", "a"): 12, ("q1", "b"): 3, ("q2", "a"): 0, ("q2", "c"): 6}
"""How often each document was clicked when it was shown 12 times; under the prior (1, 1) its rate is (c + 1) / 14."""
GRADES = {("q1", "a"): 4, ("q1", "b"): 2, ("q2", "c"): 3, ("q2", "a"): 1}
"""By shares 13, 4, 7 and 1 of the best: grade 2 begins at 2/15 of (nearly) 13/14, 3 at 5/15, 4 at 11/15, 1 at .5/15."""


def fitted(names: dict[str, Any] | None = None) -> Fitted:
    """A model of the rates above. names: other ids."""
    named = {**{name: name for name in ["q1", "q2", "a", "b", "c"]}, **(names or {})}
    shown = {"q1": ("a", "b"), "q2": ("a", "c")}
    rows = [
        {
            "query": named[query],
            "slate": [named[item] for item in slate],
            "clicks": [int(at < CLICKED[query, item]) for item in slate],
        }
        for query, slate in shown.items()
        for at in range(12)
    ]
    return DCTR(prior=(1, 1)).fit(rows)


def written(tmp_path: Path, name: str, model: Fitted | None = None, **how: Any) -> Path:
    offrank.judge_clicks(model or fitted(), tmp_path / name, **how)
    return tmp_path / name


def test_qrels_are_those_of_trec(tmp_path: Path) -> None:
    path = written(tmp_path, "judged.qrels")
    assert path.read_text() == "q1 0 a 4\nq1 0 b 2\nq2 0 c 3\nq2 0 a 1\n"
    read = {(one.query_id, one.doc_id): one.relevance for one in ir_measures.read_trec_qrels(str(path))}
    assert read == GRADES


def test_a_run_is_measured_by_them(tmp_path: Path) -> None:
    path = written(tmp_path, "judged.qrels")
    run = [ir_measures.ScoredDoc("q1", item, score) for item, score in (("b", 2.0), ("a", 1.0))]
    found = ir_measures.calc_aggregate([nDCG @ 10], ir_measures.read_trec_qrels(str(path)), run)
    worst, best = 2 + 4 / np.log2(3), 4 + 2 / np.log2(3)  # trec_eval's gain is the grade
    assert found[nDCG @ 10] == pytest.approx(worst / best / 2, abs=1e-6)  # q2 has no run: 0


def test_opensearch_gets_what_it_imports(tmp_path: Path) -> None:
    made = json.loads(written(tmp_path, "judged.json").read_text(encoding="utf-8"))
    assert made.pop("description").startswith("Grades by dctr([1, 1]): 1, 2 ... from relevance 0.0")
    assert made == {
        "name": "offrank dctr([1, 1])",
        "type": "IMPORT_JUDGMENT",
        "judgmentRatings": [
            {"query": "q1", "ratings": [{"docId": "a", "rating": "4.0"}, {"docId": "b", "rating": "2.0"}]},
            {"query": "q2", "ratings": [{"docId": "c", "rating": "3.0"}, {"docId": "a", "rating": "1.0"}]},
        ],
    }


def test_names_are_what_opensearch_takes(tmp_path: Path) -> None:
    write_judgements(tmp_path / "x.json", "opensearch", fitted().judgements(), 'pbm(context="<a\\b>")' * 20)
    made = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))
    assert (len(made["name"]), len(made["description"])) == (50, 250)
    assert not set(made["name"] + made["description"]) & set('"\\<>')


def test_quepid_has_its_three_columns(tmp_path: Path) -> None:
    model = fitted({"q1": 'red, "dress"', "c": "ü"})
    with written(tmp_path, "judged.csv", model, format="quepid").open(encoding="utf-8", newline="") as file:
        rows = [*csv.reader(file)]
    assert rows[0] == ["query", "docid", "rating"]
    assert sorted(rows[1:]) == sorted(
        [['red, "dress"', "a", "4"], ['red, "dress"', "b", "2"], ["q2", "ü", "3"], ["q2", "a", "1"]]
    )


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("judged.csv", {}),
        ("judged.parquet", {}),
        ("judged.qrels", {}),
        ("judged.json", {}),
        ("judged.csv", {"format": "quepid"}),
        ("judged.txt", {"format": "qrels"}),
        ("list.txt", {"format": "opensearch"}),
        ("judged.csv", {"format": "table"}),
    ],
)
def test_what_is_written_is_read_back(tmp_path: Path, name: str, how: dict[str, Any]) -> None:
    numbers = fitted({"q1": 7, "q2": 8, "a": 101, "b": 2**60, "c": 103})
    for model, of in ((fitted(), {}), (numbers, {"q1": "7", "q2": "8", "a": "101", "b": str(2**60), "c": "103"})):
        path = written(tmp_path, name, model, overwrite=True, **how)
        read = judgement_table(path)
        grades = dict(
            zip(zip(*(read[role].to_pylist() for role in ("query", "item")), strict=True), read["grade"], strict=True)
        )
        expected = {(of.get(query, query), of.get(item, item)): grade for (query, item), grade in GRADES.items()}
        assert {pair: grade.as_py() for pair, grade in grades.items()} == expected


def test_a_table_has_what_lightgbm_weighs_by(tmp_path: Path) -> None:
    table = offrank.judge_clicks(fitted(), tmp_path / "judged.csv").to_arrow().to_pandas()
    features = np.arange(len(table), dtype=float).reshape(-1, 1)
    data = lightgbm.Dataset(
        features, table.grade, weight=table.certainty, group=table.groupby("query", sort=False).size().to_numpy()
    ).construct()
    assert data.get_label().tolist() == [4, 2, 3, 1]
    assert data.get_weight() == pytest.approx(table.certainty.to_numpy())
    assert np.diff(data.get_field("group")).tolist() == [2, 2]
    assert (table.certainty > 0).all()


@pytest.mark.parametrize(
    ("names", "words"),
    [({"q1": "red dress"}, "the query 'red dress'"), ({"b": "b\t1"}, "the item"), ({"b": ""}, "the item ''")],
)
def test_qrels_hold_no_spaces(tmp_path: Path, names: dict[str, str], words: str) -> None:
    with pytest.raises(UsageError, match=words) as raised:
        written(tmp_path, "judged.qrels", fitted(names))
    assert ".json" in raised.value.remedy
    assert not [*tmp_path.iterdir()]
    assert written(tmp_path, "judged.json", fitted(names)).exists()


def test_lists_need_queries_and_a_format_that_there_is(tmp_path: Path) -> None:
    items = DCTR(prior=(1, 1)).fit([{"slate": ["a", "b"], "clicks": [1, 0]}])
    for name in ("judged.qrels", "judged.json"):
        with pytest.raises(UsageError, match="items without queries"):
            written(tmp_path, name, items)
    with pytest.raises(UsageError, match="no format 'solr'"):
        written(tmp_path, "judged.csv", format="solr")
    with pytest.raises(UsageError, match=r"suffix of .*judged\.json"):
        written(tmp_path, "judged.json", format="table")
    with pytest.raises(UsageError, match=r"suffix of .*judged\.xls") as raised:
        written(tmp_path, "judged.xls")
    assert raised.value.remedy == "use the suffix .parquet or .csv, or .qrels, or .json"
    with pytest.raises(UsageError, match="there is no folder"):
        written(tmp_path, "none/judged.qrels")
