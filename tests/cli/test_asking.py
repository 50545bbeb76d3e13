"""`inspect --ask`: one question at a time, until the table is settled; no name in it moves the cursor."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from offrank.cli import main
from tests.cli.test_evil_names import MOVES
from tests.readers.test_other_tables import funnel

NASTY = "saw\x1b]0;owned\x07 \u202e"


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log with two flags, of which either may be the click."""
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda *_: False)  # as on a terminal
    path = tmp_path / "log.parquet"
    flags = funnel("viewed", 0.4, "applied")
    pq.write_table(pa.table({NASTY if name == "applied" else name: column for name, column in flags.items()}), path)
    return path


def asked(table: Path, *answers: str) -> Result:
    lines = "".join(f"{answer}\n" for answer in answers)
    return CliRunner().invoke(main, ["inspect", str(table), "--ask", "--json", f"{table}.json"], input=lines)


@pytest.mark.parametrize(
    ("answers", "click"),
    [
        (("", "n"), "viewed"),
        (("1", "n"), "viewed"),
        (("2", "n"), NASTY),
        (("9", "nonsense", "2", "n"), NASTY),
        (("3", "viewed", "n"), "viewed"),
        (("3", "none such", repr(NASTY), "n"), NASTY),
    ],
)
def test_the_answer_is_the_click(answers: tuple[str, ...], click: str, table: Path) -> None:
    done = asked(table, *answers)
    assert done.exit_code == 0, done.output
    assert "It is not clear" in done.output
    assert f'"click": {json.dumps(click)}' in Path(f"{table}.json").read_text()
    assert not MOVES.search(done.output)


def test_who_leaves_is_told_in_one_line(table: Path) -> None:
    done = asked(table)
    assert done.exit_code == 1
    assert not Path(f"{table}.json").exists()
    assert not MOVES.search(done.output)
