"""Bad days: full disks, closed streams, odd names, interruptions. One message, an exit code, nothing half-written."""

from __future__ import annotations

import errno
import io
import json
import locale
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.cli import streams
from offrank.errors import UsageError
from offrank.language.files import atomic_write, write_text
from tests.cli.commands import LOGGING, TARGET, call
from tests.cli.forking import CAUSES, files_in
from tests.night import some
from tests.verbs.logs import search

pytestmark = pytest.mark.xdist_group("bad days")  # each is had once

ASKED = ["log.parquet", *TARGET, *LOGGING, "-e", "snips"]
WRITERS = {
    "convert": ["convert", "log.parquet", "-o", "out.parquet"],
    "convert, Arrow": ["convert", "log.parquet", "-o", "out.arrow"],
    "simulate": ["simulate", "-o", "out.parquet", "--sessions", "200", "--queries", "5"],
    "clicks fit": ["clicks", "fit", "log.parquet", "--model", "pbm", "-o", "out.json"],
    "clicks predict": ["clicks", "predict", "log.parquet", "--model", "pbm.json", "-o", "out.csv"],
    "clicks judge": ["clicks", "judge", "pbm.json", "-o", "out.parquet"],
    "learn": ["learn", "features.parquet", "--method", "regression", "--epochs", "1", "--bits", "6", "-o", "out.npz"],
    "evaluate, JSON": ["evaluate", *ASKED, "--json", "out.json"],
    "evaluate, page": ["evaluate", *ASKED, "--html", "out.html"],
    "evaluate, checkpoint": ["evaluate", *ASKED, "--checkpoint", "out"],
    "merge": ["merge", "day.state", "--state", "out.state"],
    "inspect": ["inspect", "log.parquet", "--save", "out.toml"],
}
"""A command of each verb that writes."""
READERS = {
    "inspect": ["inspect", "log.parquet"],
    "check": ["check", "log.parquet", *LOGGING],
    "evaluate": ["evaluate", *ASKED, "--json", "out.json"],
    "compare": ["compare", "log.parquet", *TARGET, "--target", "uniform", *LOGGING],
    "measure": ["measure", "log.parquet", "--score", "new_score", *LOGGING],
}
WRITING, READING = some(list(WRITERS), 3), some(list(READERS), 3)
"""The verbs that are asked on a push."""
SIGNALS = {"Ctrl-C in reading": 130, "kill in reading": 143}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, table = tmp_path_factory.mktemp("made"), search().slice(0, 300)
    pq.write_table(table, folder / "log.parquet")
    features = pa.array([[[float(item)] for item in items] for items in table["candidates"].to_pylist()])
    pq.write_table(table.append_column("features", features), folder / "features.parquet")
    offrank.fit_clicks(table, "pbm", folder / "pbm.json")
    offrank.evaluate(folder / "log.parquet", TARGET[1], LOGGING[1], "snips", state=folder / "day.state")
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def bad_days(made: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], tuple[Path, int, str]]:
    """Each command on each bad day, in a folder of its own: the folder, the exit code, and what was said."""
    asked = {}
    writing = [(verb, WRITERS[verb], cause) for verb in WRITING for cause in CAUSES if cause not in SIGNALS]
    reading = [(verb, READERS[verb], cause) for verb in READING for cause in SIGNALS]
    for verb, words, cause in writing + reading:
        folder = tmp_path_factory.mktemp("bad day")
        shutil.copytree(made, folder, dirs_exist_ok=True)
        asked[verb, cause] = [str(folder), words, cause]
    run = [sys.executable, "-m", "tests.cli.forking"]
    done = subprocess.run(run, input=json.dumps(list(asked.values())), capture_output=True, text=True, check=True)
    answers = zip(asked.items(), json.loads(done.stdout), strict=True)
    return {key: (Path(one[0]), code, said) for (key, one), (code, said) in answers}


@pytest.mark.turns(6)
@pytest.mark.parametrize("verb", WRITING)
def test_a_full_disk_and_an_interruption_leave_nothing_half_written(
    verb: str, made: Path, bad_days: dict[tuple[str, str], tuple[Path, int, str]]
) -> None:
    folder, code, said = bad_days[verb, "full disk"]
    *notes, said = said.splitlines()  # on such a disk compiled code is not kept either, should there be new one
    assert all("compiled code cannot be stored in" in note for note in notes), notes
    assert code == 1
    assert said.startswith("error: out")
    assert "after 60 bytes; make room there" in said
    assert files_in(folder) == files_in(made)
    folder, code, said = bad_days[verb, "interruption"]
    assert (code, said) == (130, "interrupted; nothing was left half-written\n")
    assert files_in(folder) == files_in(made)


@pytest.mark.parametrize("cause", SIGNALS)
@pytest.mark.parametrize("verb", READING)
def test_a_signal_while_rows_are_read_says_one_line(
    verb: str, cause: str, made: Path, bad_days: dict[tuple[str, str], tuple[Path, int, str]]
) -> None:
    folder, code, said = bad_days[verb, cause]
    assert (code, said) == (SIGNALS[cause], "interrupted; nothing was left half-written\n")
    assert files_in(folder) == files_in(made)


@pytest.mark.parametrize("cause", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_and_a_quota_name_the_file_and_a_remedy(cause: int, tmp_path: Path) -> None:
    def full() -> None:
        with atomic_write(tmp_path / "out.txt") as temporary:
            temporary.write_text("half")
            raise OSError(cause, os.strerror(cause))

    with pytest.raises(OSError, match=r"after 4 bytes; make room there.*out\.txt"):
        full()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_vanishes_is_named(tmp_path: Path) -> None:
    def vanishing() -> None:
        with atomic_write(gone / "out.txt") as temporary:
            temporary.write_text("all of it")
            shutil.rmtree(gone)

    (gone := tmp_path / "gone").mkdir()
    with pytest.raises(OSError, match=r"gone' is gone; create it again.*gone/out\.txt"):
        vanishing()
    assert list(tmp_path.iterdir()) == []


def test_of_two_writers_of_a_file_the_last_wins_whole(tmp_path: Path) -> None:
    out, texts = tmp_path / "out.txt", [letter * 100_000 for letter in "ab"]
    with atomic_write(out) as slow:
        slow.write_text(texts[0])
        write_text(out, texts[1])
        assert out.read_text() == texts[1]
    assert out.read_text() == texts[0]
    writers = [threading.Thread(target=lambda text=text: [write_text(out, text) for _ in range(50)]) for text in texts]
    for one in writers:
        one.start()
    while any(one.is_alive() for one in writers):
        assert out.read_text() in texts
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


def test_a_clock_that_went_back(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 0.0)
    before = files_in(folder)
    write_text("out.txt", "new")
    for words in (WRITERS["evaluate, checkpoint"], WRITERS["evaluate, checkpoint"]):
        assert call(*words, "--quiet").exit_code == 0
    assert {name for name in files_in(folder) if not name.startswith("out")} == before.keys()


def test_names_with_spaces_quotes_line_ends_and_any_script(folder: Path) -> None:
    odd = "a \"b\" 'c'\n日本 é"
    Path("log.parquet").rename(log := f"{odd}.parquet")
    words = ["evaluate", log, *ASKED[1:], "--state", f"s {odd}", "--checkpoint", f"k {odd}", "--json", f"{odd}.json"]
    assert call(*words).exit_code == 0
    assert {f"{odd}.json", f"s {odd}", f"k {odd}"} <= {path.name for path in folder.iterdir()}
    before = Path(log).read_bytes()
    assert call("evaluate", log, *ASKED[1:], "--json", f"./{log}", "--overwrite").exit_code == 2
    with pytest.raises(UsageError, match="is an input"):
        offrank.merge([log], state=f"./{log}", overwrite=True)
    assert Path(log).read_bytes() == before


def test_names_that_are_not_utf8_are_refused(folder: Path) -> None:
    odd = os.fsdecode(b"\xff.parquet")
    shutil.copy("log.parquet", odd)
    for words in (["inspect", odd], ["convert", "log.parquet", "-o", f"2{odd}"]):
        done = call(*words)
        assert done.exit_code == 2
        assert "is not UTF-8" in done.stderr


def test_an_encoding_that_lacks_letters_shows_question_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    for errors in ("strict", "surrogateescape"):
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(held := io.BytesIO(), encoding="ascii", errors=errors))
        streams.ready()
        offrank.evaluate(search().slice(0, 300), TARGET[1], LOGGING[1], "snips").show()
        sys.stdout.flush()
        assert "?" in held.getvalue().decode("ascii")


def shell(command: str) -> subprocess.CompletedProcess[str]:
    line = f"{sys.executable} -m offrank {command}"
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)


@pytest.mark.turns(3)
def test_streams_that_are_closed_or_full(folder: Path) -> None:
    assert shell("inspect log.parquet --json out.json --quiet >&- 2>&- <&-").returncode == 0
    assert Path("out.json").read_text().startswith("{")
    full = shell("--help >/dev/full")
    assert (full.returncode, full.stderr) == (1, "error: standard output: No space left on device\n")
    closed = shell("--help | true; exit ${PIPESTATUS[0]}")
    assert (closed.returncode in {0, 1}, closed.stderr) == (True, "")


@pytest.mark.turns(3)
def test_where_compiled_code_can_be_kept_nowhere_it_works_and_says_so(tmp_path: Path) -> None:
    kinds = "caching.InTreeCacheLocator, caching.UserWideCacheLocator"
    lines = [
        "import numba.core.caching as caching",
        "def shut(self): raise OSError('read-only')",
        f"for kind in ({kinds}): kind.ensure_cache_path = shut",
        "from offrank.log.hashing import finish",
        "import numpy as np; print(finish(np.uint64(1)))",
    ]
    made = [sys.executable, "-c", "\n".join(lines)]
    done = subprocess.run(
        made, capture_output=True, text=True, check=False, env={**os.environ, "TMPDIR": str(tmp_path)}
    )
    assert (done.returncode, done.stdout.strip()) == (0, str(0x5692161D100B05E5)), done.stderr
    assert done.stderr.count("\n") == 1
    assert "set NUMBA_CACHE_DIR" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.turns(9)
@pytest.mark.slow
def test_as_nobody_without_a_home_or_a_folder_for_compiled_code(made: Path) -> None:
    """With a Python that anybody may start, and the libraries of this one."""
    if os.name != "posix" or os.geteuid():
        pytest.skip("only root may become nobody")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(made, folder, dirs_exist_ok=True)
        os.chown(folder, 65534, 65534)
        how = {"cwd": folder, "user": 65534, "group": 65534, "extra_groups": [], "capture_output": True, "text": True}
        env = {"PATH": os.defpath, "TMPDIR": folder, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        words = [
            "-m",
            "offrank",
            "evaluate",
            *ASKED,
            "--json",
            "out.json",
            "--html",
            "out.html",
            "--checkpoint",
            "kept",
        ]
        for python in (sys.executable, *filter(None, [shutil.which(version, path=os.defpath)])):
            with suppress(PermissionError):
                done = subprocess.run([python, *words, "--quiet"], env=env, check=False, **how)
                break
        else:
            pytest.skip("nobody may start this Python")
        assert (done.returncode, done.stdout) == (0, "")
        assert done.stderr.count("\n") == 1
        assert "set NUMBA_CACHE_DIR" in done.stderr
        expected = offrank.evaluate(made / "log.parquet", TARGET[1], LOGGING[1], "snips")["snips"].value
        [found] = json.loads((Path(folder) / "out.json").read_text())["estimates"]
        assert found["value"] == pytest.approx(expected, rel=1e-9)
        assert Path(folder, "out.html").stat().st_uid == Path(folder, "kept").stat().st_uid == 65534


def told(folder: Path) -> tuple[str, dict[str, object], bytes]:
    """What an evaluation prints and writes, and a file of predicted clicks."""
    said = call("evaluate", *ASKED, "--json", "out.json", "--html", "out.html").output
    call("clicks", "predict", "log.parquet", "--model", "pbm.json", "-o", "out.csv", "--overwrite")
    facts = json.loads((folder / "out.json").read_text())
    return said, {name: facts[name] for name in ("estimates", "verdicts", "checks")}, (folder / "out.csv").read_bytes()


@pytest.mark.turns(3)
@pytest.mark.parametrize("name", ["de_DE", "tr_TR"])
def test_another_locale_gives_the_same(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Germans and Turks write 0,5; the capital of a Turkish i has a dot."""
    expected = told(folder)
    if (make := shutil.which("localedef")) is not None:
        subprocess.run([make, "-i", name, "-f", "UTF-8", f"./{name}.UTF-8"], check=False, capture_output=True)
    monkeypatch.setenv("LOCPATH", str(folder))
    before = locale.setlocale(locale.LC_ALL)
    try:
        locale.setlocale(locale.LC_ALL, f"{name}.UTF-8")
    except locale.Error:
        pytest.skip("this system cannot make the locale")
    try:
        assert locale.localeconv()["decimal_point"] == ","
        assert told(folder) == expected
    finally:
        locale.setlocale(locale.LC_ALL, before)
