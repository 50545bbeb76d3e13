"""0 fine, 1 error, 2 usage, 3 not to be trusted; errors on stderr, without a traceback, each with a remedy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from offrank.cli import main
from tests.cli.commands import LOGGING, TARGET, call, process, written
from tests.verbs.logs import coins


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("log"))


USAGE = {
    "no target": [],
    "an unknown option": [*TARGET, "--frob"],
    "an unknown policy": ["--target", "topp(new_score)"],
    "a wrong policy": ["--target", "top(3)"],
    "twice the same name": ["--target", "a=uniform", "--target", "a=top(new_score)"],
    "twice the same policy": [*TARGET, *TARGET],
    "an unknown estimator": [*TARGET, "-e", "snip"],
    "an inability": [*TARGET, "-e", "rips"],
    "no rank propensity": [*TARGET, "-e", "ipm"],
    "no curve": [*TARGET, *LOGGING, "-e", "pbm"],
    "a short curve": [*TARGET, *LOGGING, "-e", "pbm", "--examination", "1,.5"],
    "a curve of words": [*TARGET, *LOGGING, "-e", "pbm", "--examination", "1;.5"],
    "per cent": [*TARGET, "--confidence", "95"],
    "a word for a number": [*TARGET, "--confidence", "high"],
    "an unknown interval": [*TARGET, "--interval", "boot"],
    "a role without a name": [*TARGET, "--column", "slate"],
    "an unknown role": [*TARGET, "--column", "slat=x"],
    "an unknown format": [*TARGET, "--format", "xls"],
    "no workers": [*TARGET, "--workers", "0"],
    "no folder": [*TARGET, "--html", "no/such/folder/report.html"],
    "a folder": [*TARGET, "--json", "."],
}
ERROR = {
    "an unknown column": ["--target", "top(nope)"],
    "an unknown group": [*TARGET, "--by", "nope"],
    "another name": [*TARGET, "--column", "slate=nope"],
}


@pytest.mark.parametrize("name", USAGE)
def test_usage_is_two(name: str, log: Path) -> None:
    done = call("evaluate", log, *USAGE[name])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "rror: " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ERROR)
def test_an_error_is_one(name: str, log: Path) -> None:
    done = call("evaluate", log, *ERROR[name])
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("error: ")
    assert "\n  what to do: " in done.stderr
    assert len(done.stderr.splitlines()) == 2


@pytest.mark.parametrize("content", [None, b"", b"hello", b"PAR1"])
@pytest.mark.parametrize("verb", ["check", "evaluate"])
def test_a_log_that_is_none(verb: str, content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    if content is not None:
        path.write_bytes(content)
    done = call(verb, path, *TARGET)
    assert (done.exit_code, done.stdout) == (1, "")
    assert str(path) in done.stderr


def test_no_overlap_is_an_error_and_what_can_be_said_is_said(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    pq.write_table(coins(200, slate=[[0]] * 200), path)
    nothing = call("evaluate", path, "--target", "ranking(best)")
    assert (nothing.exit_code, nothing.stdout) == (1, "")
    assert nothing.stderr.startswith("error: ips: ranking(best) never shows what was logged, in any of 200 impressions")
    something = call("evaluate", path, "--target", "ranking(best)", "-e", "ips", "-e", "snips", "-e", "logged")
    assert something.exit_code == 1
    assert "no overlap" in something.stdout
    assert something.stderr == "error: 2 of 3 estimates cannot be given; the output says why\n"  # nothing is told twice
    quiet = call("evaluate", path, "--target", "ranking(best)", "-e", "ips", "-e", "snips", "-e", "logged", "--quiet")
    lines = quiet.stderr.splitlines()
    assert (quiet.exit_code, quiet.stdout) == (1, "")
    assert [line.split(":")[0].strip() for line in lines] == ["error", "error", "what to do"]
    found = call("check", path, "--target", "ranking(best)")
    assert (found.exit_code, found.stderr) == (0, "")
    assert call("check", path, "--target", "ranking(best)", "--strict").exit_code == 3


def test_strict_is_three_where_a_number_should_not_be_trusted(tmp_path: Path, log: Path) -> None:
    assert call("evaluate", log, "--target", "uniform", *LOGGING, "-e", "ipm", "--strict").exit_code == 0
    assert call("check", log, *LOGGING, "--strict").exit_code == 0
    wrong = ["--logging", "plackett_luce(old_score, temperature=3)"]
    for words in (["evaluate", log, "--target", "uniform", *wrong, "-e", "snips"], ["check", log, *wrong]):
        assert call(*words).exit_code == 0
        done = call(*words, "--strict", "--json", tmp_path / "out.json")
        assert done.exit_code == 3
        assert "--strict" in done.stderr
        assert (tmp_path / "out.json").exists()
        (tmp_path / "out.json").unlink()


def test_strict_asks_for_the_verdict_not_for_every_estimate(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    pq.write_table(coins(400), path)
    words = ["evaluate", path, "--target", "ranking(best)", "--examination", "1", "--strict"]
    # `pbm` sees half of what the target shows: serious, and `ips` answers all the same.
    both = call(*words, "-e", "ips", "-e", "pbm")
    assert (both.exit_code, both.stderr) == (0, "")
    assert "unseen-items (serious)" in both.stdout
    alone = call(*words, "-e", "pbm")
    assert alone.exit_code == 3
    assert alone.stderr == "not to be used: see the reasons above (--strict)\n"
    two = call(*words, "-e", "pbm", "--target", "drawn=uniform")
    assert two.exit_code == 3


def test_a_place_that_cannot_be_written_to_is_found_before_reading(tmp_path: Path) -> None:
    done = call("evaluate", tmp_path / "no-log.parquet", *TARGET, "--html", tmp_path / "nowhere" / "report.html")
    assert done.exit_code == 2
    assert "no folder" in done.stderr


def test_a_disk_that_fails_is_one_error(log: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "out.json")

    monkeypatch.setattr("offrank.frames.write_text", full)
    done = call("evaluate", log, *TARGET, "--json", tmp_path / "out.json")
    assert (done.exit_code, done.stderr) == (1, "error: out.json: No space left on device\n")
    assert done.stdout.startswith("What the new ranking")


@pytest.mark.parametrize("verb", sorted(main.commands))
def test_every_verb_and_option_is_documented(verb: str) -> None:
    command = main.commands[verb]
    assert command.help
    for option in command.params:
        if option.param_type_name == "option" and option.name not in ("impressions", "seed"):
            assert option.help, f"{verb} {option.opts[0]}"
    done = call(verb, "--help")
    assert done.exit_code == 0
    assert command.help.splitlines()[0][:40] in " ".join(done.stdout.split())
    assert call(verb, "-h").stdout == done.stdout


def test_the_command_itself() -> None:
    helped = call("--help")
    assert (helped.exit_code, helped.stderr) == (0, "")
    for verb in ("check", "demo", "evaluate"):
        assert verb in helped.stdout
    assert call("--version").stdout.startswith("offrank, version ")
    assert call("frobnicate").exit_code == 2


@pytest.mark.turns(3)
def test_a_real_process(log: Path) -> None:
    fine = process("evaluate", log, *TARGET, *LOGGING, NO_COLOR="1")
    assert (fine.returncode, fine.stderr) == (0, "")
    assert "\x1b" not in fine.stdout


INTERRUPTED = """
import atexit, pathlib, signal, sys
from offrank.cli.running import safely
from offrank.language.files import atomic_write, scratch
atexit.register(print, "a compiler that is still at work in a thread crashes here")
class Ends:
    def __del__(self):  # an exception would be lost here; in compiled code it would crash the process
        signal.raise_signal(signal.Signals[sys.argv[1]])
@safely
def learn():
    with scratch(pathlib.Path(), ".learning-") as folder, atomic_write("policy.npz") as path:
        (folder / "rows.npz").touch()
        path.touch()
        Ends()
    print("it went on")
learn()
"""


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_an_interruption_ends_the_process_wherever_it_stands(name: str, code: int, tmp_path: Path) -> None:
    words = [sys.executable, "-c", INTERRUPTED, name]
    found = subprocess.run(words, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert (found.returncode, found.stdout) == (code, "")
    assert found.stderr == "interrupted; nothing was left half-written\n"
    assert list(tmp_path.iterdir()) == []
