"""Misspelt columns are refused early, and only where the file itself shows that they are."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import offrank
from tests.cli.commands import call, loaded

ROWS = {
    "slate": [["a", "b"], ["b", "a"]] * 50,
    "clicks": [[1, 0], [0, 1]] * 50,
    "propensity": [0.5] * 100,
    "new_score": [[2.0, 1.0], [1.0, 2.0]] * 50,
    "device": ["phone", "desk"] * 50,
    "visit": [{"country": "it"}, {"country": "fr"}] * 50,
}
MISSPELT = {
    "a group": (["--by", "devcie"], "device"),
    "a cluster": (["--cluster", "devices"], "device"),
    "a control": (["--control", "decive"], "device"),
    "a role": (["--column", "clicks=clikcs"], "clicks"),
    "a score": (["--target", "top(new_scroe)"], "new_score"),
    "a score of a named policy": (["--target", "new=epsilon(top(new_scroe), 0.1)"], "new_score"),
    "a field": (["--by", "visit.contry"], "visit.country"),
}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    pq.write_table(pa.table(ROWS), tmp_path / "log.parquet")
    return tmp_path / "log.parquet"


@pytest.mark.turns(3)
@pytest.mark.parametrize(("words", "near"), MISSPELT.values(), ids=MISSPELT)
def test_a_misspelt_column_is_told_before_anything_compiles(log: Path, words: list[str], near: str) -> None:
    target = [] if "--target" in words else ["--target", "top(new_score)"]
    said, imported = loaded(["evaluate", str(log), *target, *words])
    assert f"the nearest name is '{near}'" in said
    assert not imported & {"numba", "scipy", "jinja2", "rich"}


def test_the_words_are_those_of_the_reader(log: Path) -> None:
    with pytest.raises(offrank.errors.ColumnError) as raised:
        offrank.evaluate(str(log), "top(new_score)", by="devcie")
    done = call("evaluate", log, "--target", "top(new_score)", "--by", "devcie")
    assert done.stderr == f"error: {raised.value.said('command line')}\n"


def test_the_header_of_a_text_is_read_too(tmp_path: Path) -> None:
    plain = {"impression": [1, 1], "item": ["a", "b"], "position": [1, 2], "click": [1, 0], "device": ["x", "x"]}
    path = tmp_path / "log.csv"
    pyarrow.csv.write_csv(pa.table(plain | {"propensity": [1.0, 1.0], "score": [2.0, 1.0]}), path)
    said, imported = loaded(["evaluate", str(path), "--target", "top(scoer)"])
    assert "the nearest name is 'score'" in said
    assert "pyarrow" not in imported


READ = {
    "a column": ["--by", "device"],
    "a field of a struct": ["--by", "visit.country"],
    "a role that there need not be": ["--cluster", "auto"],
    "no column at all": ["--cluster", "none"],
    "a policy without options": ["--target", "epsilon(uniform, 0.5)"],
}


@pytest.mark.parametrize("words", READ.values(), ids=READ)
def test_what_can_be_read_is_not_refused(log: Path, words: list[str]) -> None:
    target = [] if "--target" in words else ["--target", "top(new_score)"]
    assert call("evaluate", log, *target, *words).exit_code == 0


@pytest.mark.turns(3)
@pytest.mark.parametrize("text", ["PAR1", '{"slate": ["a"], "clicks": [1]}\n', "a\tb : a\n"])
def test_names_in_other_texts_are_left_to_the_readers(text: str, tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text(text)
    assert "numba" in loaded(["check", str(path), "--column", "clicks=clikcs"])[1]
