"""What a verb writes is none of what it reads, and replaces no file of others unasked."""

from __future__ import annotations

import os
import resource
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import UsageError
from offrank.language.files import write_text
from tests.cli.commands import LOGGING, TARGET, call
from tests.verbs.logs import search


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    pq.write_table(search(), folder / "log.parquet")
    assert call("evaluate", folder / "log.parquet", *TARGET, *LOGGING, "--state", folder / "a.state").exit_code == 0
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "in"))


def _other_spelling(log: Path) -> Path:
    return log.parent / ".." / log.parent.name / log.name


def _symbolic(log: Path) -> Path:
    (link := log.parent.parent / "link").symlink_to(log)
    return link


def _hard(log: Path) -> Path:
    (link := log.parent.parent / "hard").hardlink_to(log)
    return link


def _itself(log: Path) -> Path:
    return log


@pytest.mark.parametrize("spell", [_itself, _other_spelling, _symbolic, _hard])
@pytest.mark.parametrize("option", ["--json", "--html", "--state"])
def test_the_log_is_no_output(option: str, spell: Callable[[Path], Path], folder: Path) -> None:
    log = folder / "log.parquet"
    before, path = log.read_bytes(), spell(log)
    for more in ((), ("--overwrite",)):
        done = call("evaluate", log, *TARGET, option, path, *more)
        assert (done.exit_code, done.stdout) == (2, "")
        assert "is an input, so it cannot be written to" in done.stderr
    assert log.read_bytes() == before


@pytest.mark.parametrize(
    "words",
    [
        ["convert", "log.parquet", "-o", "log.parquet"],
        ["convert", "*.parquet", "-o", "log.parquet"],
        ["evaluate", "log.parquet", "--target", "new=linear('p.npz')", "--json", "p.npz"],
        ["evaluate", "log.parquet", "--target", "uniform", "--held-out", "p.npz", "--html", "p.npz"],
        ["evaluate", "log.parquet", "--target", "uniform", "--config", "m.toml", "--json", "m.toml"],
        ["evaluate", "log.parquet", "--target", "uniform", "--json", "x", "--html", "x"],
        ["merge", "a.state", "--state", "a.state"],
        ["inspect", "log.parquet", "--save", "log.parquet"],
        ["clicks", "fit", "log.parquet", "--model", "pbm", "-o", "log.parquet"],
        ["clicks", "predict", "log.parquet", "--model", "model.json", "-o", "model.json"],
        ["clicks", "evaluate", "log.parquet", "--model", "m=model.json", "--json", "model.json"],
        ["clicks", "judge", "model.json", "-o", "model.json"],
        ["learn", "log.parquet", "--method", "poem", "-o", "log.parquet"],
        ["simulate", "-o", "model.json", "--user", "model.json"],
        ["measure", "log.parquet", "--score", "new_score", "--json", "log.parquet"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_no_input_is_an_output(words: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for name in ("p.npz", "model.json"):
        Path(name).write_text("it is not read")
    Path("m.toml").write_text('logging = "uniform"\n')
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    done = call(*words, "--overwrite")
    assert done.exit_code == 2
    assert "is an input, so it cannot be written to" in done.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_nothing_is_written_into_a_folder_that_is_a_log(folder: Path) -> None:
    done = call("convert", folder, "-o", folder / "all.parquet")
    assert done.exit_code == 2
    assert "which is read as a whole" in done.stderr


def test_a_file_of_others_is_replaced_only_if_asked(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "thesis.html"
    out.write_text("<html>years of work</html>")
    words = ["evaluate", folder / "log.parquet", *TARGET, *LOGGING, "--html", out]
    done = call(*words)
    assert done.exit_code == 2
    assert "--overwrite" in done.stderr
    assert "years of work" in out.read_text()
    assert call(*words, "--overwrite").exit_code == 0
    assert call(*words).exit_code == 0  # now it is offrank's


@pytest.mark.parametrize("option", ["--json", "--html", "--state"])
def test_own_results_are_replaced(option: str, folder: Path, tmp_path: Path) -> None:
    words = ["evaluate", folder / "log.parquet", *TARGET, *LOGGING, option, tmp_path / "out"]
    assert [call(*words).exit_code for _ in range(2)] == [0, 0]


def test_a_table_is_replaced_by_a_table_only(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.parquet"
    shutil.copy(folder / "log.parquet", other)
    before = other.read_bytes()
    done = call("evaluate", folder / "log.parquet", *TARGET, *LOGGING, "--json", other, "--overwrite")
    assert done.exit_code == 2
    found = offrank.evaluate(folder / "log.parquet", "uniform")
    for write in (found.to_json, found.save_html):
        with pytest.raises(offrank.OffrankError, match="only a table may replace"):
            write(other, overwrite=True)
    assert other.read_bytes() == before
    assert call("convert", folder / "log.parquet", "-o", other).exit_code == 2
    assert call("convert", folder / "log.parquet", "-o", other, "--overwrite").exit_code == 0


def test_convert_in_python_refuses_its_own_log(folder: Path) -> None:
    log = folder / "log.parquet"
    before = log.read_bytes()
    for given in (log, [log], str(folder / "*.parquet"), offrank.read_log(log)):
        with pytest.raises(UsageError, match="is an input, so it cannot be written to"):
            offrank.convert(given, log)
    assert log.read_bytes() == before


def test_a_full_disk_names_the_file_its_size_and_a_remedy(tmp_path: Path) -> None:
    out, before = tmp_path / "out.txt", resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        with pytest.raises(OSError, match=r"after 4,096 bytes; make room there.*out\.txt"):
            write_text(out, "x" * 10_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_to(folder: Path, tmp_path: Path) -> None:
    (shut := tmp_path / "shut").mkdir(mode=0o500)
    done = call("evaluate", folder / "log.parquet", *TARGET, "--json", shut / "out.json")
    assert done.exit_code == 2
    assert "may not be written to" in done.stderr
    with pytest.raises(OSError, match=r"let .* be written to"):
        write_text(shut / "out.json", "x")
