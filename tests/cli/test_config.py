"""`--config mapping.toml`: what a file says of a log, for every verb; the command line wins."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click
import pyarrow.parquet as pq
import pytest

from offrank.cli import main
from tests.cli.commands import call
from tests.verbs.logs import search

MAPPING = """
logging = "plackett_luce(old_score)"
cluster = "none"
skip_invalid = true
estimator = ["ipm", "snipm"]
confidence = 0.9

[columns]
slate = "shown"
clicks = "hits"
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.parquet"
    pq.write_table(search().slice(0, 500).rename_columns({"slate": "shown", "clicks": "hits"}), path)
    return path


def mapping(folder: Path, text: str) -> Path:
    path = folder / "mapping.toml"
    path.write_text(text, encoding="utf-8")
    return path


def saved(folder: Path, *words: object) -> dict:
    done = call(*words, "--quiet", "--json", folder / "out.json")
    assert (done.exit_code, done.output) == (0, "")
    return json.loads((folder / "out.json").read_text())


def verbs(group: click.Group = main) -> Iterator[click.Command]:
    """Every verb, those of groups too."""
    for command in group.commands.values():
        yield from verbs(command) if isinstance(command, click.Group) else [command]


def test_every_verb_that_reads_a_log_takes_a_mapping() -> None:
    found = [command for command in verbs() if "log" in {one.name for one in command.params}]
    assert len(found) >= 10
    for command in found:
        assert "config" in {one.name for one in command.params}
        assert command.params[0].name == "log"  # first, everywhere


def test_the_file_says_what_the_command_line_does_not(log: Path, tmp_path: Path) -> None:
    path = mapping(tmp_path, MAPPING)
    found = saved(tmp_path, "evaluate", log, "--config", path, "--target", "top(new_score)")
    assert {row["estimator"] for row in found["estimates"]} == {"ipm", "snipm"}
    assert (found["logging"], found["confidence"], found["cluster"]) == ("plackett_luce(old_score)", 0.9, None)


def test_the_command_line_wins(log: Path, tmp_path: Path) -> None:
    path = mapping(tmp_path, MAPPING.replace('"hits"', '"nothing of the kind"'))
    words = ["--target", "top(new_score)", "-e", "snips", "--logging", "uniform", "--column", "clicks=hits"]
    found = saved(tmp_path, "evaluate", log, *words, "--config", path, "--cluster", "query")
    assert {row["estimator"] for row in found["estimates"]} == {"snips"}
    assert (found["logging"], found["cluster"]) == ("uniform", "query")


def test_a_verb_passes_over_what_it_has_no_use_for(log: Path, tmp_path: Path) -> None:
    path = mapping(tmp_path, 'cluster = "query"\nlogging = "uniform"\n[columns]\nslate = "shown"\nclicks = "hits"\n')
    assert call("convert", log, "--config", path, "-o", tmp_path / "wide.parquet").exit_code == 0
    assert pq.read_table(tmp_path / "wide.parquet").column_names[2] == "slate"


WRONG = {
    'loging = "uniform"': "unknown key 'loging'; did you mean logging? Known are bounds, by, checkpoint, click_model,",
    'estimators = "ips"': "unknown key 'estimators'; did you mean estimator?",
    'path = "x"': "unknown key 'path'",
    "columns = 3": "columns is 3; write a table of names",
    "columns = {slate = 3}": "write a table of names",
    "confidence = [0.9]": "confidence is [0.9]; write one text",
    'confidence = "high"': "'--confidence': 'high' is not a valid float",
    "skip_invalid = -1": "mapping.toml: skip_invalid is -1; write true or false",
    "replicates = inf": "Invalid value for '--replicates': cannot convert float infinity to integer [",
    "logging = {by = 1}": "logging is {'by': 1}; write one text",
    "logging = ": "cannot be read as TOML",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_a_mapping_cannot_say(text: str, log: Path, tmp_path: Path) -> None:
    done = call("evaluate", log, "--target", "uniform", "--config", mapping(tmp_path, text))
    assert (done.exit_code, done.stdout) == (2, "")
    assert " ".join(WRONG[text].split()) in " ".join(done.stderr.split())


def test_a_mapping_that_is_missing(log: Path, tmp_path: Path) -> None:
    done = call("check", log, "--config", tmp_path / "missing.toml")
    assert done.exit_code == 2
    assert "missing.toml cannot be read as TOML: No such file or directory" in " ".join(done.stderr.split())


def test_there_is_nothing_to_begin_again_without_a_checkpoint(log: Path) -> None:
    result = call("evaluate", log, "--target", "uniform", "--fresh")
    assert result.exit_code == 2
    assert "--checkpoint FOLDER" in result.output


@pytest.mark.parametrize("key", ["config", "save", "column"])
def test_a_file_says_nothing_of_files_of_options(key: str, log: Path, tmp_path: Path) -> None:
    path = mapping(tmp_path, f'{key} = "other.toml"\n' + MAPPING)
    done = call("evaluate", log, "--config", path, "--target", "uniform")
    assert done.exit_code == 2
    assert f"unknown key '{key}'" in " ".join(done.output.split())
