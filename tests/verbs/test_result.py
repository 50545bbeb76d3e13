"""What `evaluate` and `check` return: access by name, documents, files, commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import offrank
from offrank import Ranking, Top, Uniform
from offrank.errors import NoOverlapError
from offrank.estimators import IPS
from tests.verbs.logs import ALL, CURVE, LOGGING, TARGET, WORLD, coins, search
from tests.verbs.schema import assert_document

NEVER = [[0]] * 200
"""Item 0 was shown every time, so a ranking that shows item 1 has no overlap."""


def two() -> offrank.Result:
    targets = {"new": TARGET, "uniform": Uniform()}
    return offrank.evaluate(search(), targets, LOGGING, ["snips", "clip(snips, 20)"], by="device")


def refused(estimators: Any = ("ips", "logged")) -> offrank.Result:
    return offrank.evaluate(coins(200, slate=NEVER), Ranking("best"), "logged", estimators)


def test_estimates_are_found_by_name_spelling_or_object() -> None:
    one = offrank.evaluate(search(), TARGET, LOGGING, ["ips", "clip(snips, 20)", "interpol(window=0)"])
    assert one["ips"] is one[IPS()] is one["top(new_score)", "ips"] is one.estimates["ips"]
    assert one["clip(snips,20)"] is one["clip(snips, 20)"]
    assert one["interpol(window=0)"].value == pytest.approx(one["interpol( window = 0 )"].value)
    curved = offrank.evaluate(search(), TARGET, LOGGING, ["pbm(examination=[1,.50,.4])", "clip(ips, 1e1)"])
    assert curved["pbm(examination=[1,.50,.4])"] is curved["pbm(examination=[1, 0.5, 0.4])"]
    assert curved["clip(ips, 1e1)"] is curved["clip(ips, 10.0)"] is curved["clip(ips, maximum=10)"]
    several = two()
    assert several["new", "snips"] is not several["uniform", "snips"]
    assert several.groups["phone"]["new", "snips"].n < several["new", "snips"].n
    assert list(several.estimates) == [(t, e) for t in ("new", "uniform") for e in ("snips", "clip(snips, 20)")]


def test_weights_too_small_to_count_are_not_called_impossible() -> None:
    """Each of 25 slots is e^-20 less likely under the target: the weights are about e^-500."""
    items = [f"i{number}" for number in range(25)]
    row = {"slate": items, "candidates": items, "clicks": [1] * 25, "worse": [20 * number for number in range(25)]}
    with pytest.raises(NoOverlapError, match="never, or almost never, shows what was logged"):
        offrank.evaluate([row] * 4, "plackett_luce(worse, log=True)", "uniform", ["snips"])


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("snips", "several targets.*'new', 'uniform'"),
        (("new", "ips"), "no estimate 'ips'.*'snips'"),
        (("old", "snips"), "no target 'old'.*'new', 'uniform'"),
        (("a", "b", "c"), "several targets"),
    ],
)
def test_a_wrong_key_says_what_there_is(key: Any, words: str) -> None:
    result = two()
    with pytest.raises(KeyError, match=words):
        result[key]
    assert key not in result.estimates


def test_asking_for_what_the_log_cannot_give_raises() -> None:
    result = refused()
    with pytest.raises(NoOverlapError, match="never shows what was logged, in any of 200 impressions"):
        result["ips"]
    assert list(result.estimates.refused) == [("ranking(best)", "ips")]
    assert list(result.estimates.given) == [("ranking(best)", "logged")]
    assert not result.trustworthy


@pytest.mark.parametrize(
    "key", ["ips", ("ranking(best)", "ips"), ("ranking('best')", IPS()), (Ranking("best"), "ips()")]
)
def test_a_mapping_holds_what_the_log_can_give(key: Any) -> None:
    for result in (refused(), refused().estimates):
        given = ("ranking(best)", "logged")
        assert list(result) == list(result.keys()) == [given]
        assert (len(result), bool(result)) == (1, True)
        assert dict(result) == dict(result.items()) == {given: result["logged"]}
        assert list(result.values()) == [result["logged"]]
        assert key not in result
        assert result.get(key) is None
        assert result.get("logged") is result.get(given) is result["logged"]
        assert given in result
        assert "logged" in result
        with pytest.raises(NoOverlapError, match="never shows what was logged"):
            result[key]


def test_all_of_a_result_can_be_walked_through() -> None:
    result = two()
    assert list(result) == [(t, e) for t in ("new", "uniform") for e in ("snips", "clip(snips, 20)")]
    assert [result[key].value for key in result] == [estimate.value for estimate in result.values()]
    assert all(key in result and result.get(key) is estimate for key, estimate in result.items())


@pytest.mark.parametrize("key", ["top( 'new_score' )", 'top(scores="new_score")', "top(new_score)", Top("new_score")])
def test_a_target_may_be_spelled_in_any_way(key: Any) -> None:
    result = offrank.evaluate(search(), {"top(new_score)": TARGET, "top( x )": Uniform()}, LOGGING, "snips")
    assert result[key, "snips"] is result["top(new_score)", "snips"]
    assert result["top( x )", "snips"] is not result[key, "snips"]
    assert ("top(x)", "snips") not in result


def test_names_that_differ_in_quotes_only_are_two() -> None:
    columns = {"a b": search()["new_score"], "ab": search()["old_score"]}
    log = search()
    for name, column in columns.items():
        log = log.append_column(name, column)
    result = offrank.evaluate(log, {"1": Top("a b"), "2": Top("ab")}, LOGGING, ["ips"])
    spelled = offrank.evaluate(log, {repr(t): t for t in (Top("a b"), Top("ab"))}, LOGGING, ["ips"])
    assert spelled["top('a b')", "ips"].value == result["1", "ips"].value
    assert spelled["top( ab )", "ips"].value == result["2", "ips"].value


def test_where_no_estimate_can_be_given_the_job_raises() -> None:
    with pytest.raises(NoOverlapError) as caught:
        refused("ips")
    assert caught.value.code == "no-overlap"
    assert "closer to the logging policy" in caught.value.remedy


RESULTS = {
    "everything": lambda: offrank.evaluate(search(), TARGET, LOGGING, ALL, examination=CURVE, interval="bootstrap"),
    "several, grouped": two,
    "refused": refused,
    "one row": lambda: offrank.evaluate(coins(1, shop=["x"]), Uniform(), "logged", "ips", by="shop"),
    "check": lambda: offrank.check(search(), TARGET, LOGGING),
    "check of the log's own": lambda: offrank.check(search()),
    "check of one row": lambda: offrank.check(coins(1)),
    "truths": lambda: two().with_truths({"new": WORLD.truth(TARGET)}),
}


@pytest.mark.turns(3)
@pytest.mark.parametrize("name", RESULTS)
def test_documents_keep_the_contract(name: str, tmp_path: Path) -> None:
    result = RESULTS[name]()
    document = result.to_dict()
    assert_document(document)
    assert json.loads(result.to_json(tmp_path / "out.json")) == document
    assert json.loads((tmp_path / "out.json").read_text()) == document
    table = result.to_arrow()
    rows = document["checks" if document["kind"] == "check" else "estimates"]
    assert table["value"].to_pylist() == [row["value"] for row in rows]
    assert document["title"] in str(result) == repr(result)
    result.save_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert page.startswith("<!doctype html>")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.json", "report.html"]


def test_facts() -> None:
    facts = offrank.evaluate(search(), TARGET, LOGGING, ["ips", "pbm"], examination=CURVE, by="device").facts
    assert facts["examination"] == CURVE
    assert facts["log"] == {"source": facts["log"]["source"], "impressions": 4000, "estimated_impressions": 4000.0} | {
        "skipped": {}
    }
    assert facts["targets"] == {"top(new_score)": "top(new_score)"}
    assert (facts["logging"], facts["by"], facts["cluster"]) == ("plackett_luce(old_score)", "device", "query")
    assert (facts["confidence"], facts["interval"]) == (0.95, "studentised")
    assert [row["rank"] for row in facts["ranks"]] == [1, 2, 3]
    assert [(row["target"], row["estimator"]) for row in facts["weights"]] == [
        ("top(new_score)", "ips"),
        ("top(new_score)", "pbm"),
    ]
    assert facts["unit"] == "clicks per impression"
    assert facts["versions"]["offrank"] == offrank.__version__
    assert offrank.evaluate(search(), TARGET, LOGGING).facts["examination"] is None


def test_truths_stand_beside_each_estimate_of_their_target() -> None:
    rows = two().with_truths({"new": 0.25}).to_dict()["estimates"]
    assert {row["target"]: row["truth"] for row in rows} == {"new": 0.25, "uniform": None}


COMMANDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "named": {"target": {"a": TARGET, "b": "epsilon(top(new_score), 0.5)"}},
    "everything": {
        "estimators": ["snips", "clip(ips, 3.5)", "interpol(window=1, form=windowed)", "pbm"],
        "examination": CURVE,
        "confidence": 0.8,
        "interval": "bootstrap",
        "cluster": "query",
        "by": "device",
        "replicates": 30,
        "seed": 9,
    },
    "odd names": {"target": Top("new score"), "logging": offrank.PlackettLuce("old-score", temperature=0.5)},
}


@pytest.mark.turns(3)
@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_repeats_the_evaluation(name: str, tmp_path: Path) -> None:
    log = search()
    renamed = {"new_score": "new score", "old_score": "old-score"} if name == "odd names" else {}
    log = log.rename_columns([renamed.get(column, column) for column in log.column_names])
    path = tmp_path / "log.parquet"
    pq.write_table(log, path)
    arguments = {"target": TARGET, "logging": LOGGING, "estimators": ["ips", "snips"], **COMMANDS[name]}
    for given in (log, path):
        result = offrank.evaluate(given, **arguments)
        again = eval(result.facts["command"], {"offrank": offrank, "log": log})
        one, other = result.to_dict(), again.to_dict()
        assert one["estimates"] == other["estimates"]
        assert one["command"].replace(repr(str(path)), "log") == other["command"].replace(repr(str(path)), "log")


def test_the_command_repeats_the_check() -> None:
    result = offrank.check(search(), TARGET, LOGGING, confidence=0.9)
    again = eval(result.facts["command"], {"offrank": offrank, "log": search()})
    assert again.to_dict() | {"created": ""} == result.to_dict() | {"created": ""}


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    result = offrank.evaluate(search(), TARGET, LOGGING)
    kept = tmp_path / "kept.json"
    kept.write_text("before")
    broken = result.with_truths({"top(new_score)": "no number"})  # type: ignore[dict-item]
    with pytest.raises(TypeError):
        broken.to_json(kept)
    assert kept.read_text() == "before"
    with pytest.raises(FileNotFoundError):
        result.to_json(tmp_path / "nowhere" / "out.json")
    with pytest.raises(FileNotFoundError):
        result.save_html(tmp_path / "nowhere" / "out.html")
    assert [path.name for path in tmp_path.iterdir()] == ["kept.json"]


def test_show_prints_what_str_says(capsys: pytest.CaptureFixture[str]) -> None:
    result = offrank.evaluate(search(), TARGET, LOGGING)
    result.show()
    assert capsys.readouterr().out == str(result)
