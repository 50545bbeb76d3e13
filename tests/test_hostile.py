"""Files, names and ids that somebody has made to do harm: nothing is run, fetched, followed or shown as markup."""

from __future__ import annotations

import csv
import io
import os
import re
import sqlite3
import stat
import time
from contextlib import closing
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from click.testing import CliRunner

import offrank
from offrank.cli import main
from offrank.errors import LogError, OffrankError
from offrank.language.files import atomic_write, scratch
from offrank.readers.opening import open_table
from offrank.report.document import Figures

NAMES = {
    "<img src=x onerror=alert(1)>": "\\<img src=x onerror=alert(1)>",
    "</td><script>alert(1)</script>": "\\</td>\\<script>alert(1)\\</script>",
    "[press](javascript:alert(1))": "[press]\\(javascript:alert(1))",
    "a|b": "a\\|b",
    "`code`": "\\`code\\`",
    "\x1b[31mred": "\ufffd[31mred",
    "\u202eabc": "\ufffdabc",
    "1 < 2": "1 < 2",
}
"""Names of groups, and how they are written in Markdown."""

TABLES = ('x" ; drop table y; --', "a;b", "it's", "select")


def test_groups_are_no_markup_in_markdown() -> None:
    groups = [name for name in NAMES for _ in range(40)]
    rows = len(groups)
    log = {"slate": [[0, 1]] * rows, "clicks": [[0, 1], [1, 0]] * (rows // 2), "propensity": [0.5] * rows, "g": groups}
    markdown = offrank.evaluate(pa.table(log), "logged", "logged", ["logged"], by="g").to_markdown()
    cells = {line.split(" | ")[2] for line in markdown.splitlines()[2:]}
    assert set(NAMES.values()) <= cells


FORMULAS = [
    "=1+1",
    "@SUM(A1)",
    "-2+3",
    "+cmd",
    "\t=1",
    "\r=1",
    "\n1",
    "\0=1",
    " =1",
    "\ufeff@A1",
    "\uff1d1+1",
    "-",
    "-1e5x",
]


@pytest.mark.parametrize("cell", FORMULAS)
def test_no_text_is_a_formula_of_a_spreadsheet(cell: str) -> None:
    """Neither in a row nor in the header, where the names of columns stand."""
    found = list(csv.reader(io.StringIO(Figures("", (cell,), ((cell,),)).to_csv(), newline="")))
    assert found == [[f"'{cell}"], [f"'{cell}"]]


def test_no_text_is_two_cells_of_a_spreadsheet() -> None:
    """Where commas are decimal, cells end at semicolons."""
    line = Figures("", ("n", "name"), ((2, "a;=1+1"),)).to_csv().splitlines()[1]
    assert line == '2,"a;=1+1"'
    assert next(csv.reader([Figures("", ("name",), (("a;=1+1",),)).to_csv().splitlines()[1]], delimiter=";")) == [
        "a;=1+1"
    ]


@pytest.mark.parametrize("cell", ["-12.3 %", "-1e-05", "+3", " -2.5", -2.5, -1, "a=b", "(1)", None])
def test_numbers_and_names_are_written_as_they_are(cell: str | float | None) -> None:
    written = f'"{cell or ""}"' if cell is None or isinstance(cell, str) else str(cell)
    assert Figures("", ("name", "n"), ((cell, 0),)).to_csv() == f'"name","n"\n{written},0\n'


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_names_of_tables_and_columns_are_no_queries(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"a'; b.{kind}"
    with closing(duckdb.connect(str(path)) if kind == "duckdb" else sqlite3.connect(path)) as made:
        for name in TABLES:
            quoted = name.replace('"', '""')
            made.execute(f'create table "{quoted}" as select 1 as "{quoted}"')
        made.execute("create table y as select 2 as kept")
        made.commit()
    assert [open_table(f"{path}:{name}").names for name in TABLES] == [(name,) for name in TABLES]
    assert open_table(f"{path}:y").names == ("kept",)


def test_a_view_in_a_file_of_somebody_else_reads_no_other_file(tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("slate\n1\n")
    with closing(duckdb.connect(str(tmp_path / "theirs.duckdb"))) as made:
        made.execute(f"create view v as select * from read_csv('{tmp_path}/secret.csv')")
    with pytest.raises(LogError, match=r"theirs\.duckdb cannot be read.*Permission(.|\n)*store it as a table"):
        _ = open_table(f"{tmp_path}/theirs.duckdb:v").names


def test_files_have_the_rights_that_the_user_gives_and_scratch_is_private(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with atomic_write(tmp_path / "written") as temporary:
            temporary.write_text("x")
        with scratch(tmp_path, "offrank-") as folder:
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "written").stat().st_mode) == 0o640


def test_a_link_laid_in_a_shared_folder_is_replaced_not_followed(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("kept")
    (tmp_path / "answer.txt").symlink_to(tmp_path / "theirs")
    with atomic_write(tmp_path / "answer.txt") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "theirs").read_text() == "kept"
    assert not (tmp_path / "answer.txt").is_symlink()
    assert (tmp_path / "answer.txt").read_text() == "new"


NESTED = "[" * 100_000 + "]" * 100_000
DEEP = {
    "lines.jsonl": f'{{"slate": [1], "clicks": [0], "propensity": 1, "more": {NESTED}}}\n',
    "array.json": f'[{{"slate": {NESTED}}}]',
    "cells.csv": f"slate,clicks,propensity\n{NESTED},[0],1\n",
    "quoted.csv": f'slate,clicks,propensity\n"{NESTED}","[0]",1\n',
    "objects.csv": "id,items\n" + "".join(f'{i},"{"{a:" * 20_000}1{"}" * 20_000}"\n' for i in range(3)),
}


@pytest.mark.parametrize("name", DEEP)
def test_values_nested_without_end_are_refused_and_end_no_process(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(DEEP[name])
    with pytest.raises(OffrankError, match=re.escape(name)):
        offrank.evaluate(str(tmp_path / name), "uniform", "logged", ["ips"])


LONG = "[" * 3_000_000
TARGET, LOGGED = "top(new)", "plackett_luce(old)"
NAMED = {
    "a log": lambda log: offrank.evaluate(LONG, TARGET, LOGGED, "snips"),
    "a score": lambda log: offrank.evaluate(log, offrank.Top(LONG), LOGGED, "snips"),
    "a policy": lambda log: offrank.evaluate(log, LONG, LOGGED, "snips"),
    "an estimator": lambda log: offrank.evaluate(log, TARGET, LOGGED, LONG),
    "groups": lambda log: offrank.evaluate(log, TARGET, LOGGED, "snips", by=LONG),
    "clusters": lambda log: offrank.evaluate(log, TARGET, LOGGED, "snips", cluster=LONG),
    "an interval": lambda log: offrank.evaluate(log, TARGET, LOGGED, "snips", interval=LONG),
    "a role": lambda log: offrank.evaluate(log, TARGET, LOGGED, "snips", columns={LONG: "old"}),
    "a column": lambda log: offrank.evaluate(log, TARGET, LOGGED, "snips", columns={"clicks": LONG}),
    "a click model": lambda log: offrank.fit_clicks(log, LONG, "model.json"),
    "a way to learn": lambda log: offrank.learn(log, LONG, "policy.npz"),
    "a metric": lambda log: offrank.measure(log, "new", "uniform", [LONG]),
}


@pytest.mark.parametrize("what", NAMED)
def test_a_name_of_megabytes_is_refused_at_once_and_in_few_words(what: str) -> None:
    scores = [[2.0, 1.0]] * 4
    log = pa.table({"slate": [[0, 1]] * 4, "clicks": [[0, 1]] * 4, "old": scores, "new": scores})
    start = time.process_time()
    with pytest.raises(OffrankError) as refused:
        NAMED[what](log)
    assert time.process_time() - start < 1.0
    assert len(str(refused.value)) < 10_000


def test_a_column_of_megabytes_is_compared_with_no_name() -> None:
    log = pa.table({LONG: [1], "slate": [[0, 1]], "clicks": [[0, 1]]})
    for _ in range(2):  # the first time imports what it needs
        start = time.process_time()
        with pytest.raises(OffrankError, match="no column 'propensity'") as refused:
            offrank.evaluate(log, "uniform", "logged", "snips")
    assert time.process_time() - start < 1.0
    assert len(str(refused.value)) < 10_000


def test_deep_texts_are_texts(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"slate": ["%s"], "clicks": [0], "propensity": 1}\n' % ("[" * 5000) * 3)
    assert offrank.evaluate(str(tmp_path / "log.jsonl"), "logged", "logged", ["logged"]).keys


def test_a_configuration_nested_without_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "deep.toml").write_text("target = " + "[" * 100_000)
    found = CliRunner().invoke(main, ["evaluate", "log.parquet", "--config", str(tmp_path / "deep.toml")])
    assert found.exit_code == 2
    assert "cannot be read as TOML" in found.output
