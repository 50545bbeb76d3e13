"""Runs and judgments of TREC, in and out."""

from __future__ import annotations

import gzip
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import offrank
from offrank.cli.command import main
from offrank.errors import LogError, OffrankError, UsageError
from offrank.readers import read_trec, write_trec
from tests.readers.plain import contents

RUN = """\
t1 Q0 doc-b 2 1.5 bm25
t1 Q0 doc-a 1 2.5 bm25
t2 Q0 doc-a 1 9 bm25
t2 Q0 doc-c 2 -1e-3 bm25
"""
QRELS = "t1 0 doc-a 0\nt1 0 doc-b 2\nt2 0 doc-c -1\nt3 0 doc-z 1\n"


@pytest.fixture(name="files")
def written(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "run").write_text(RUN)
    with gzip.open(tmp_path / "qrels.gz", "wt") as file:
        file.write(QRELS)
    return tmp_path / "run", tmp_path / "qrels.gz"


def test_documents_are_sorted_by_score_and_graded(files: tuple[Path, Path]) -> None:
    judged = read_trec(*files)
    assert judged.queries == ("t1", "t2")
    assert judged.documents == ("doc-a", "doc-b", "doc-a", "doc-c")
    assert judged.grade.tolist() == [0, 2, 0, 0]
    assert judged.features[:, 0].tolist() == [2.5, 1.5, 9, -0.001]
    assert judged.first.tolist() == [0, 2, 4]


def test_what_is_written_reads_the_same(files: tuple[Path, Path], tmp_path: Path) -> None:
    judged = read_trec(*files)
    write_trec(judged, tmp_path / "a", tmp_path / "b")
    again = read_trec(tmp_path / "a", tmp_path / "b")
    assert (again.queries, again.documents) == (judged.queries, judged.documents)
    assert np.array_equal(again.features, judged.features)
    assert np.array_equal(again.grade, judged.grade)
    assert (tmp_path / "a").read_text().splitlines()[0] == "t1 Q0 doc-a 1 2.5 offrank"


def test_queries_and_documents_without_names_have_numbers(files: tuple[Path, Path], tmp_path: Path) -> None:
    judged = read_trec(*files).take(np.array([1]))
    write_trec(judged, tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").read_text() == "1 0 2 0\n1 0 3 0\n"
    assert read_trec(tmp_path / "a", tmp_path / "b").query.tolist() == [1]


def test_users_are_simulated_on_it(tmp_path: Path) -> None:
    for name, form in (("run", "{q} Q0 d{n} {n} {s} x"), ("qrels", "{q} 0 d{n} {g}")):
        lines = [form.format(q=q, n=n, s=9 - n, g=n % 5) for q in range(9) for n in range(1, 9)]
        (tmp_path / name).write_text("\n".join(lines))
    judged = read_trec(tmp_path / "run", tmp_path / "qrels")
    offrank.simulate(tmp_path / "log.parquet", data=judged, sessions=200, documents=8)
    assert len(contents(offrank.read_log(tmp_path / "log.parquet"))) == 200


@pytest.mark.parametrize(
    ("run", "qrels", "words"),
    [
        (
            "t1 Q0 d 1 x tag\n",
            QRELS,
            "run, line 1: expected 'query Q0 document rank score tag', found 't1 Q0 d 1 x tag'",
        ),
        (RUN, "\nt1 0 doc-a\n", "qrels, line 2: expected 'query 0 document grade'"),
        (RUN + RUN, QRELS, "query 't1' has document 'doc-b' twice"),
        (RUN, "q1 0 doc-a 1\n", r"no query of .*run \('t1' ...\) is judged in .*qrels \('q1' ...\)"),
        ("\n", QRELS, "has no documents"),
    ],
)
def test_other_lines_are_refused(run: str, qrels: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "run").write_text(run)
    (tmp_path / "qrels").write_text(qrels)
    with pytest.raises(LogError, match=words):
        read_trec(tmp_path / "run", tmp_path / "qrels")


def judged_files(folder: Path, documents: int, runs: int = 1) -> list[str]:
    """The paths of runs with as many documents of each of nine queries, one query with a single one, and of qrels."""
    known = [(q, n) for q in range(10) for n in range(1, 1 + (documents if q else 1))]
    texts = {f"run{at}.txt": "".join(f"t{q} Q0 d{n} {n} {99 - n} x\n" for q, n in known) for at in range(runs)}
    texts["qrels.txt"] = "".join(f"t{q} 0 d{n} {n % 3}\n" for q, n in known)
    for name, text in texts.items():
        (folder / name).write_text(text)
    return [str(folder / name) for name in texts]


@pytest.mark.parametrize(
    ("documents", "said"), [(12, []), (10, []), (9, ["--documents", "9"]), (1, ["--documents", "1"])]
)
def test_a_run_and_its_judgments_give_a_command_that_runs(
    documents: int, said: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run, qrels = judged_files(tmp_path, documents)
    for given in ([run, qrels], [qrels, run], str(tmp_path)):
        found = offrank.inspect(given)
        assert f"a TREC run of 10 queries with up to {documents} documents each, with judgments" in found.why
        words = shlex.split(found.command)
        assert words == ["offrank", "simulate", "--data", run, "--qrels", qrels, "-o", "simulated.parquet", *said]
        assert found.command in " ".join(str(found).split())
        with pytest.raises(OffrankError, match=f"without clicks(.|\n)*{re.escape(found.command)}"):
            offrank.evaluate(given, "uniform", "uniform")
    made = CliRunner().invoke(main, [*words[1:], "--sessions", "50", "--quiet"])
    assert made.exit_code == 0, made.output
    assert len(contents(offrank.read_log("simulated.parquet"))) == 50


def test_one_of_several_runs_is_taken(tmp_path: Path) -> None:
    first, *_ = judged_files(tmp_path, 12, runs=2)
    found = offrank.inspect(tmp_path)
    assert "these are 2 runs of TREC, the first of 10 queries" in found.why
    assert f"--data {first} " in found.command


def test_a_run_that_does_not_fit_its_judgments_gives_no_command(files: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "others").write_text("q1 0 doc-a 1\n")
    found = offrank.inspect([str(files[0]), str(tmp_path / "others")])
    assert found.command == ""
    assert "no query of" in found.why


def test_judgments_need_a_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="without a run"):
        offrank.simulate(tmp_path / "log.parquet", qrels=tmp_path / "qrels", sessions=10)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("run.txt", "a TREC run of 2 queries with up to 2 documents each, without clicks"),
        ("qrels.txt", "these are judgments of TREC, without clicks"),
        ("run.tsv", "a TREC run of 2 queries"),
    ],
)
def test_every_verb_says_what_it_is(name: str, words: str, tmp_path: Path) -> None:
    text = QRELS if "qrels" in name else RUN
    (tmp_path / name).write_text(text.replace(" ", "\t") if name.endswith("tsv") else text)
    seen = offrank.inspect(tmp_path / name)
    assert seen.layout == "pairs"
    assert words in seen.why
    assert "give both, `offrank inspect " in seen.why
    with pytest.raises(OffrankError, match="without clicks"):
        offrank.evaluate(tmp_path / name, "uniform", "uniform")
