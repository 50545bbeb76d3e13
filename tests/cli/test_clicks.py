"""`offrank clicks fit`, `clicks evaluate` and `select clicks`: what they print and write."""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.clicks import load
from offrank.log.source import needs
from tests.cli.clicked import ITEMS, QUERIES, folder_of, sessions
from tests.cli.commands import call, ended, process


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(tmp_path_factory)


def test_fit_prints_what_was_learnt(folder: Path, tmp_path: Path) -> None:
    done = call("clicks", "fit", folder / "train.parquet", "--model", "dbn", "-o", tmp_path / "m.json")
    assert done.exit_code == 0
    assert f"6,000 sessions, {QUERIES * ITEMS} documents (pairs of query and item)" in done.output
    assert "dbn was fitted to" in done.output
    found = re.search(r"continuation: (\S+) \((\S+) to (\S+)\)", done.output)
    value, low, high = map(float, found.groups())
    assert low - 0.01 < 0.8 < high + 0.01
    assert value == pytest.approx(0.8, abs=0.03)
    assert load(tmp_path / "m.json").documents.by == "query"


def test_fit_by_another_column_or_none(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    assert call("clicks", "fit", folder / "train.parquet", "--model", "pbm", "-o", path, "--by", "none").exit_code == 0
    assert load(path).documents.by is None
    assert len(load(path).documents) == ITEMS


def test_fit_tells_repeated_clicks(tmp_path: Path) -> None:
    table = sessions(500, 1, 1.0)
    clicks = [[2 * click for click in row] for row in table["clicks"].to_pylist()]
    twice = table.drop_columns(["clicks"]).append_column("clicks", pa.array(clicks))
    pq.write_table(twice, tmp_path / "log.parquet")
    done = call("clicks", "fit", tmp_path / "log.parquet", "--model", "gctr", "-o", tmp_path / "m.json")
    assert f"{sum(map(sum, clicks)) // 2:,} clicks were repeated clicks on the same result" in " ".join(
        done.output.split()
    )


def test_a_log_without_a_click_is_told(tmp_path: Path) -> None:
    pq.write_table(pa.table({"slate": [[1, 2], [2, 1]] * 9, "clicks": [[0, 0]] * 18}), tmp_path / "log.parquet")
    for model in ("pbm", "dbn"):
        done = call("clicks", "fit", tmp_path / "log.parquet", "--model", model, "-o", tmp_path / "m.json")
        assert done.exit_code == 0
        assert "no-clicks (serious)\nNo session has a click" in done.output
        assert load(tmp_path / "m.json").cautions[0].code == "no-clicks"


def test_python_prints_what_the_command_prints(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    done = call("clicks", "fit", folder / "train.parquet", "--model", "ubm", "-o", path)
    told = str(load(path))
    assert done.output.rstrip().endswith(told[told.index("Parameters") :])
    assert "ubm was fitted to" in done.output
    assert repr(load(path)) == "ubm"
    models = {name: load(folder / f"{name}.json") for name in ("dbn", "gctr")}
    result = offrank.evaluate_clicks(folder / "test.parquet", models)
    found = result.here
    printed = call("clicks", "evaluate", folder / "test.parquet", *(f"--model={folder / name}.json" for name in models))
    assert f"{found['dbn'].perplexity.value:.3f}" in printed.output
    assert repr(found) == "Evaluations(dbn, gctr)"
    value = found["dbn"].perplexity.value
    assert f"{value:.3f}" in repr(found["dbn"])
    assert f"{value:.3f}" in str(result)


def test_a_harvested_curve_goes_where_a_curve_goes(folder: Path, tmp_path: Path) -> None:
    pages = ("--html", tmp_path / "h.html", "--json", tmp_path / "h.json")
    done = call("clicks", "harvest", folder / "train.parquet", "--method", "adjacent_chain", *pages)
    assert done.exit_code == 0, done.output
    option = done.output.splitlines()[-1].split()
    asked = ("--target", "uniform", "--logging", "plackett_luce(score, log=True)", "-e", "interpol(window=1)")
    assert call("evaluate", folder / "test.parquet", *asked, *option).exit_code == 0
    written = json.loads((tmp_path / "h.json").read_text())
    assert (written["method"], written["impressions"]) == ("adjacent_chain", 6000)
    assert (tmp_path / "h.html").read_text().startswith("<!doctype html>")


@pytest.mark.turns(3)
@pytest.mark.skipif(sys.platform == "win32", reason="signals and terminals")
@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_fit_tells_what_it_does_and_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    words = ["clicks", "fit", str(folder / "train.parquet"), "--model", "dbn(tolerance=1e-300)"]
    command = [sys.executable, "-m", "offrank", *words, "-o", str(tmp_path / "m.json")]
    environment = {**os.environ, "TERM": "xterm"}
    with ended(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, env=environment)) as running:
        os.close(theirs)
        shown = b""
        while b"log-posterior" not in shown:
            shown += os.read(ours, 4096)
        running.send_signal(signal.SIGINT)
        with contextlib.suppress(OSError):  # the other end is closed
            while more := os.read(ours, 4096):
                shown += more
        assert (running.wait(), running.stdout.read()) == (130, b"")
    os.close(ours)
    assert b"nothing was left half-written" in shown
    assert list(tmp_path.iterdir()) == []


def test_quiet_is_quiet(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    done = call("clicks", "fit", folder / "test.parquet", "--model", "gctr", "-o", path, "--quiet")
    assert done.output == ""
    assert path.exists()
    told = ("--quiet", "--json", tmp_path / "f.json", "--html", tmp_path / "f.html")
    assert call("clicks", "fit", folder / "test.parquet", "--model", "pbm", "-o", path, *told).output == ""
    learnt = json.loads((tmp_path / "f.json").read_text())
    assert [row["rank"] for row in learnt["learnt"]] == list(range(1, ITEMS + 1))
    assert [row["value"] for row in learnt["learnt"]] == load(path).learnt.parameters["examination"].tolist()
    assert "Examination by rank" in (tmp_path / "f.html").read_text()
    models = ("--model", path, "--quiet", "--json", tmp_path / "e.json")
    assert call("clicks", "evaluate", folder / "test.parquet", *models).output == ""
    assert json.loads((tmp_path / "e.json").read_text())["kind"] == "clicks"


def test_evaluate_prints_and_writes_the_numbers_of_python(folder: Path, tmp_path: Path) -> None:
    words = ["--model", folder / "dbn.json", "--model", f"click rate={folder / 'gctr.json'}", "--labels", "grade"]
    words += ["--ood", folder / "other.parquet", "--json", tmp_path / "e.json"]
    done = call("clicks", "evaluate", folder / "test.parquet", *words)
    assert done.exit_code == 0, done.output
    written = json.loads((tmp_path / "e.json").read_text())
    assert list(written["models"]) == ["dbn", "click rate"]
    for log, found in (("test", written), ("other", written["out_of_distribution"])):
        models = {"dbn": load(folder / "dbn.json"), "click rate": load(folder / "gctr.json")}
        here = offrank.evaluate_clicks(folder / f"{log}.parquet", models).here
        for name in models:
            assert found["models"][name]["perplexity"]["value"] == pytest.approx(here[name].perplexity.value)
        away = here.difference("click rate", "dbn", "log_likelihood")
        assert found["differences"]["click rate"]["log_likelihood"]["low"] == pytest.approx(away.low)
    for heading in (
        "log-likelihood",
        "perplexity",
        "conditional perplexity",
        "nDCG",
        "Difference to dbn",
        "Out of distribution",
    ):
        assert heading in done.output
    assert f"{written['models']['dbn']['perplexity']['value']:.2f}" in done.output
    assert written["command"].startswith("offrank clicks evaluate")
    assert written["models"]["dbn"]["sessions_at_rank"] == [2000] * ITEMS


def share_of_the_best(gains: list[float], grades: list[float]) -> float:
    """DCG of gains in ranked order, as a share of that of the grades in the best order."""
    discount = [1 / math.log2(rank + 2) for rank in range(len(gains))]
    best = sum((2**grade - 1) * d for grade, d in zip(sorted(grades, reverse=True), discount, strict=True))
    return sum(gain * d for gain, d in zip(gains, discount, strict=True)) / best if best else 0.0


def test_ndcg_is_that_of_the_relevance_of_each_query(folder: Path) -> None:
    models = {name: load(folder / f"{name}.json") for name in ("dbn", "gctr")}
    found = offrank.evaluate_clicks(folder / "test.parquet", models, labels="grade")
    table = sessions(2000, 2, 1.0)
    by_relevance, flat = {}, {}
    for batch in offrank.read_log(table).select(models["dbn"].needs() | needs("candidates")).batches(0):
        relevance = models["dbn"].relevance(batch.contexts)
        for query, grades, row in zip(table["query"].to_pylist(), table["grade"].to_pylist(), relevance, strict=True):
            gains = [2**grade - 1 for grade in grades]
            by_relevance[query] = share_of_the_best([gains[i] for i in np.argsort(-row)], grades)
            # A click rate is the same for all documents: over all orders, each rank has the mean gain.
            flat[query] = share_of_the_best([np.mean(gains)] * ITEMS, grades)
    assert found.ranked.of(0).value == pytest.approx(np.mean(list(by_relevance.values())), rel=1e-12)
    assert found.ranked.of(1).value == pytest.approx(np.mean(list(flat.values())), rel=1e-12)
    away = np.array(list(by_relevance.values())) - np.array(list(flat.values()))
    difference = found.ranked.difference(0, 1)
    assert difference.value == pytest.approx(away.mean())
    assert difference.standard_error == pytest.approx(away.std(ddof=1) / math.sqrt(QUERIES))


def test_unseen_documents_and_ranks_are_told(tmp_path: Path) -> None:
    short = {"slate": [[1, 2]] * 8, "clicks": [[1, 0]] * 4 + [[0, 1]] * 4}
    pq.write_table(pa.table(short), tmp_path / "short.parquet")
    pq.write_table(pa.table({"slate": [[1, 3, 2]] * 5, "clicks": [[0, 1, 0]] * 5}), tmp_path / "long.parquet")
    call("clicks", "fit", tmp_path / "short.parquet", "--model", "rctr", "-o", tmp_path / "m.json")
    found = offrank.evaluate_clicks(tmp_path / "long.parquet", tmp_path / "m.json")
    codes = {caution.code: caution for caution in found.cautions["m"]}
    assert {"unseen-documents", "unseen-ranks"} <= set(codes)
    assert found.here["m"].unseen == pytest.approx(1 / 3)
    assert codes["unseen-documents"].severity == "warning"
    assert "up to 3 ranks" in codes["unseen-ranks"].message
    done = call("clicks", "evaluate", tmp_path / "long.parquet", "--model", tmp_path / "m.json")
    assert "33 % of the shown documents" in done.output.replace("\n", " ")


def test_a_model_judged_by_its_own_log_is_told(folder: Path) -> None:
    own = call("clicks", "evaluate", folder / "train.parquet", "--model", folder / "dbn.json")
    assert "same-log" in own.output
    assert "same-log" not in call("clicks", "evaluate", folder / "test.parquet", "--model", folder / "dbn.json").output


def test_strict_refuses_what_cannot_happen(tmp_path: Path) -> None:
    log = tmp_path / "log.parquet"
    pq.write_table(pa.table({"slate": [[1, 2]] * 9, "clicks": [[1, 1]] * 2 + [[1, 0]] * 7}), log)
    call("clicks", "fit", log, "--model", "cascade", "-o", tmp_path / "m.json")
    done = call("clicks", "evaluate", log, "--model", tmp_path / "m.json", "--strict")
    assert done.exit_code == 3
    assert "impossible-clicks" in done.output
    assert "-inf" in done.output


def test_select_prints_every_strategy_and_the_reasons(folder: Path, tmp_path: Path) -> None:
    words = [word for name in ("dbn", "pbm", "gctr") for word in ("--model", folder / f"{name}.json")]
    words += ["--labels", "grade", "--logging", "plackett_luce(score, log=True)", "--json", tmp_path / "s.json"]
    done = call("select", "clicks", folder / "test.parquet", *words)
    assert done.exit_code == 0, done.output
    written = json.loads((tmp_path / "s.json").read_text())
    assert len(written["choices"]) == 9
    assert written["documents"] == QUERIES * ITEMS
    assert written["choices"]["ppl"]["name"] == "dbn"
    assert written["cmip"]["gctr"]["value"] == 0  # the same relevance for all: no information
    pbm = written["cmip"]["pbm"]
    assert (pbm["draws"], pbm["floor"]["worlds"], written["relevance"]) == (8, 20, "draws")
    assert -1 < pbm["direction"]["low"] < pbm["direction"]["high"] < 1
    [above] = [one for one in written["measured"] if (one["model"], one["metric"]) == ("pbm", "cmip")]
    assert above["value"] == pytest.approx(pbm["value"] - pbm["floor"]["value"]["value"])
    assert "counted-ranks" not in done.output
    assert "top-4 cmip, top-4 ppl: ndcg" in done.output
    asked = ("--strategy", "top-2 cmip: ppl", "--relevance", "means", "--json", tmp_path / "means.json")
    one = call("select", "clicks", folder / "test.parquet", *words[:-2], *asked)
    assert one.exit_code == 0
    assert "kept by CMIP" in one.output
    assert json.loads((tmp_path / "means.json").read_text())["cmip"]["pbm"]["draws"] == 1


def test_the_rank_of_a_policy_is_about_what_the_log_shows(folder: Path) -> None:
    model = folder / "dbn.json"
    exact = offrank.select_clicks(folder / "train.parquet", model, "grade", "plackett_luce(score, log=True)")
    shown = offrank.select_clicks(folder / "train.parquet", model, "grade")
    assert [caution.code for caution in shown.cautions["dbn"]].count("counted-ranks") == 1
    assert exact.cmip["dbn"].n == shown.cmip["dbn"].n == QUERIES * ITEMS


def test_help_does_not_load_the_models() -> None:
    done = process("clicks", "fit", "--help", PYTHONPROFILEIMPORTTIME="1")
    assert done.returncode == 0
    assert "offrank.cli.clicks" in done.stderr
    assert "numba" not in done.stderr
