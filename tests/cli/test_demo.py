"""`offrank demo`: files, numbers near the truth, the same every time, and next steps that run."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

import offrank
from tests.cli.commands import call
from tests.verbs.schema import assert_document

GOOD = ["ips", "snips", "rips", "snrips", "ipm", "snipm", "interpol(window=1)", "interpol(window=1, form=windowed)"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> offrank.verbs.demo.Demo:
    return offrank.demo(tmp_path_factory.mktemp("demo"), impressions=10_000)


def test_the_files_are_there_and_the_document_keeps_the_contract(made: offrank.verbs.demo.Demo) -> None:
    assert sorted(path.name for path in made.log.parent.iterdir()) == ["log.parquet", "report.html", "result.json"]
    document = json.loads((made.log.parent / "result.json").read_text())
    assert_document(document)
    assert document["kind"] == "demo"
    assert {check["status"] for check in document["checks"]} <= {"ok", "note", "skipped"}
    assert made.report.read_text().startswith("<!doctype html>")
    assert made.evaluated.to_dict() == document
    assert made.checked.trustworthy


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("target", ["better", "worse"])
def test_good_estimators_find_the_truth(made: offrank.verbs.demo.Demo, target: str, name: str) -> None:
    found, truth = made.evaluated[target, name], made.evaluated.truths[target]
    assert abs(found.value - truth) < 4 * found.standard_error


def test_the_better_is_better_and_the_worse_is_worse(made: offrank.verbs.demo.Demo) -> None:
    for target, sign in (("better", 1), ("worse", -1)):
        difference = made.evaluated[target, "interpol(window=1)"].difference
        assert difference is not None
        assert sign * difference.value > 3 * difference.standard_error
    rows = made.evaluated.to_dict()["estimates"]
    assert all(row["truth"] == made.evaluated.truths[row["target"]] for row in rows)


def test_steps_are_printed_as_they_are_typed(made: offrank.verbs.demo.Demo) -> None:
    assert all(f"\n  {step}\n" in str(made) for step in made.next_steps)
    assert max(map(len, made.next_steps)) > 80  # longer than a line, and not broken


def test_the_next_steps_run(made: offrank.verbs.demo.Demo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for step in made.next_steps:
        words = shlex.split(step)
        assert words[0] == "offrank"
        done = call(*words[1:])
        assert (done.exit_code, done.stderr) == (0, "")


@pytest.mark.turns(3)
def test_the_same_seed_gives_the_same_json(tmp_path: Path) -> None:
    def run(folder: str, *words: str) -> dict:
        done = call("demo", tmp_path / folder, "--impressions", "1000", *words)
        assert done.exit_code == 0
        assert done.stderr.count("\n") == 3
        assert "The report: " in done.stdout
        assert done.stdout.startswith("Would two new rankers have earned more")
        assert done.stdout.count("In this simulated world the truth is known") <= 2
        assert len(done.stdout.splitlines()) <= 28  # one screen
        written = [(tmp_path / folder / name).read_text() for name in ("report.html", "result.json")]
        assert all("--cluster none treats rows" in text for text in written)  # advice for who typed the command
        document = json.loads(written[1])
        return {name: document[name] for name in document.keys() - {"created", "command", "log"}}

    assert run("one") == run("two")
    assert run("other", "--seed", "8") != run("one")


def test_quiet_and_wrong_folders(tmp_path: Path) -> None:
    assert call("demo", tmp_path / "quiet", "--impressions", "1000", "--quiet").output == ""
    (tmp_path / "file").write_text("")
    done = call("demo", tmp_path / "file", "--impressions", "1000")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == f"error: {tmp_path / 'file'}: File exists\n"
    assert call("demo", tmp_path, "--impressions", "10").exit_code == 2
