"""Errors, notes and mapping files hold no character of a name that moves a cursor, opens a link or turns a line."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from tests.cli.commands import call

NASTY = "\x1b]8;;javascript:alert(1)\x07\x9b31m\u202e\u2066\u2028\u200f\x7f"
MOVES = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
ROWS = {"slate": [[1, 2], [2, 1]], "clicks": [[0, 1], [0, 0]], "propensity": [0.5, 0.5], "score": [[1.0, 2.0]] * 2}


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda *_: False)  # as on a terminal
    path = Path(f"{NASTY}.parquet")
    pq.write_table(pa.table({**ROWS, NASTY: [1, 2]}), path)
    pq.write_table(pa.table({**ROWS, "propensity": [0.5, 7.0]}), f"wrong {NASTY}.parquet")
    Path(f"{NASTY}.toml").write_text("= 1")
    Path("empty.state").write_text("")
    return str(path)


ASKED = ["--target", "uniform"]
FAILED: dict[str, list[str]] = {
    "no such file": ["evaluate", f"{NASTY}.csv", *ASKED],
    "no such column": ["evaluate", f"{NASTY}.parquet", *ASKED, "--by", "none"],
    "a row that breaks a rule": ["evaluate", f"wrong {NASTY}.parquet", *ASKED],
    "a query of DuckDB": ["evaluate", f'duckdb:select * from "{NASTY}"', *ASKED],
    "no such state": ["merge", f"{NASTY}.state"],
    "no TOML": ["evaluate", f"{NASTY}.parquet", *ASKED, "--config", f"{NASTY}.toml"],
    "no such suffix": ["convert", f"{NASTY}.parquet", "-o", f"{NASTY}.txt"],
    "no such policy": ["evaluate", f"{NASTY}.parquet", "--target", NASTY],
    "an input": ["convert", f"{NASTY}.parquet", "-o", f"{NASTY}.parquet"],
}


@pytest.mark.parametrize("case", FAILED)
def test_errors(case: str, log: str) -> None:
    assert Path(log).exists()
    done = call(*FAILED[case])
    assert done.exit_code in {1, 2}
    assert "javascript" in done.stderr
    assert not MOVES.search(done.stderr)


def test_notes_of_what_is_done(log: str) -> None:
    Path(f"READ{NASTY}.png").write_text("no table")
    for words in (["convert", log, "-o", f"made {NASTY}.arrow"], ["check", "."], ["inspect", log, "--save", "m.toml"]):
        done = call(*words)
        assert "javascript" in done.output, done.output
        assert not MOVES.search(done.output), words
        Path(f"made {NASTY}.arrow").unlink(missing_ok=True)
        Path(f"wrong {NASTY}.parquet").unlink(missing_ok=True)


def test_a_mapping_file_is_toml_whatever_the_names_are(log: str) -> None:
    renamed = {"slate": f'"{NASTY}\n[columns]\nuser = "x"', "clicks": f"'''{NASTY}\\", "propensity": f"{NASTY}#"}
    table = pa.table(ROWS)
    role_of = {name: role for role, name in renamed.items()}
    pq.write_table(table.rename_columns([renamed.get(name, name) for name in table.column_names]), log)
    Path(log).rename(name := f"\nuser = 1\n{NASTY}.parquet")
    assert (
        call(
            "inspect", name, "--save", "m.toml", *[f"--column={role}={one}" for one, role in role_of.items()]
        ).exit_code
        == 0
    )
    read = tomllib.loads(Path("m.toml").read_text(encoding="utf-8"))
    assert read["columns"] == renamed
    assert "user" not in read
    assert call("check", name, "--config", "m.toml").exit_code == 0
    assert offrank.read_log(name, read["columns"]).columns()["slate"] == renamed["slate"]
