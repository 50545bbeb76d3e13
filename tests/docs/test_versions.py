"""scripts/versions: what it installs, what it makes of a run, and what the page says of the runs that were made."""

import re
import subprocess
import tomllib

import pytest

from tests.docs.scripts import SCRIPTS, script

versions = script("versions")
PROJECT = tomllib.loads((SCRIPTS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_oldest_asks_for_the_lower_bound_of_each_library():
    bounds = versions.lowest()
    arguments = versions.requirements("oldest")
    assert arguments[:2] == ["--resolution", "lowest-direct"]
    assert set(PROJECT["dependencies"]) <= set(arguments)
    assert {re.split(">=", line)[0] for line in arguments[2:]} >= set(versions.LIBRARIES)
    assert bounds["ir_measures"] == "0.4"
    assert bounds["moto"] == "5"  # which has an extra in brackets
    assert "ruff" not in bounds  # it has no lower bound, but one release that it has to be like


@pytest.mark.parametrize(
    ("asked", "arguments"),
    [
        ("newest", []),
        ("pre", ["--prerelease", "allow"]),
        ("pandas<3", ["pandas<3"]),
        ("oldest-jinja2", ["--resolution", "lowest-direct", "jinja2>=3.1"]),
    ],
)
def test_a_set_in_the_words_of_uv(asked, arguments):
    assert versions.requirements(asked) == arguments


@pytest.mark.parametrize(
    ("came", "failing"),
    [
        ("2551 passed, 3 skipped", False),
        ("1 failed, 2550 passed", True),
        ("2550 passed, 1 error", True),
        ("2550 passed, 2 errors", True),
        ("3 skipped", True),
        ("exit 4", True),
    ],
)
def test_what_fails(came, failing):
    assert versions.failing(came) is failing


def test_each_core_test_is_of_one_part():
    files = [one for part in versions.PARTS for one in versions.core(part)]
    fast = (SCRIPTS.parent / "tests/fast.txt").read_text(encoding="utf-8").split()
    assert sorted(files) == sorted([*versions.DOORS, *(one for one in fast if not one.startswith("tests/house/"))])
    assert all(versions.core(part) for part in versions.PARTS)
    assert "tests/running/test_engines.py" in versions.core("engines")
    assert "tests/language/test_spelling.py" in versions.core("the rest")


def test_the_table_names_what_ran_and_what_did_not():
    known = {
        "3.13 oldest": {
            "versions": {"NumPy": "2.1.0", "numba": "0.61.0", "pluggy": "1"},
            "commit": "12345678",
            "parts": {"readers": "9 passed", "models": "1 failed, 3 passed"},
        },
        "3.11 pre": {"versions": {}, "commit": "12345678", "failed": "no wheel of numba", "parts": {}},
        "3.13 pre": {"versions": {}, "commit": "12345678", "same": "3.13 newest", "parts": {}},
    }
    assert list(versions.table(known)) == [
        "| Python | set | libraries | readers | engines | numbers | models | the rest | commit |",
        "|---|---|---|---|---|---|---|---|---|",
        "| 3.11 | pre | not to be installed: no wheel of numba | | | | | | 12345678 |",
        "| 3.13 | oldest | numpy 2.1.0, numba 0.61.0 | 9 passed | | | 1 failed, 3 passed | | 12345678 |",
        "| 3.13 | pre | those of 3.13 newest | | | | | | 12345678 |",
        "",
        "Not tried: Python 3.12, 3.14.",
    ]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the script on Python 3.12 with a folder; `ran` has the parts that were not there yet."""
    ran = []
    came = {"readers": "9 passed", "engines": "8 passed"}
    monkeypatch.setattr(versions.os, "nice", lambda _: 0)
    monkeypatch.setattr(versions, "pythons", lambda: [("3.12", "python3.12")])
    monkeypatch.setattr(versions, "made", lambda *_: (tmp_path, ""))
    monkeypatch.setattr(versions, "installed", lambda _: {"numpy": "2.1"})
    monkeypatch.setattr(versions, "passed", lambda own, part, _: ran.append((own.name, part)) or came[part])

    def again(*arguments):
        ran.clear()
        monkeypatch.setattr(versions.sys, "argv", ["versions", "--folder", str(tmp_path), *arguments])
        with pytest.raises(SystemExit) as ended:
            versions.main()
        return list(ran), ended.value.code, versions.kept(tmp_path)

    again.came = came
    return again


def test_what_was_tried_is_not_tried_again(run):
    parts = ("--part", "readers", "--part", "engines")
    assert run("--set", "oldest", "--part", "readers")[:2] == ([("3-12-oldest", "readers")], False)
    run.came["engines"] = "1 failed, 7 passed"
    ran, code, known = run("--set", "oldest", *parts)
    assert (ran, code) == ([("3-12-oldest", "engines")], True)
    assert known["3.12 oldest"]["parts"] == {"readers": "9 passed", "engines": "1 failed, 7 passed"}
    assert run("--set", "oldest", *parts)[:2] == ([], True)


def test_equal_versions_are_tried_once(run):
    parts = ("--part", "readers", "--part", "engines")
    ran, code, known = run("--set", "newest", "--set", "pre", *parts)
    assert (ran, code) == ([("3-12-newest", "readers"), ("3-12-newest", "engines")], False)
    assert known["3.12 pre"]["same"] == "3.12 newest"


def test_what_cannot_be_installed_fails(run, monkeypatch):
    monkeypatch.setattr(versions, "made", lambda *_: (None, "Resolving\nno wheel of numba"))
    ran, code, known = run("--set", "oldest")
    assert (ran, code) == ([], True)
    assert known["3.12 oldest"]["failed"] == "no wheel of numba"


@pytest.mark.parametrize(
    ("code", "said", "came"),
    [(0, "..\n9 passed in 3.1s", "9 passed"), (0, "9 passed in 3.1s\nleaked 15 types!", "9 passed"), (2, "", "exit 2")],
)
def test_the_last_line_of_pytest_is_what_came_of_a_part(tmp_path, monkeypatch, code, said, came):
    ends(monkeypatch, code, said)
    assert versions.passed(tmp_path, "the rest", "0") == came


def test_tests_that_were_killed_are_no_answer(tmp_path, monkeypatch):
    ends(monkeypatch, -15, "....")
    with pytest.raises(SystemExit, match="engines were ended by signal 15"):
        versions.passed(tmp_path, "engines", "0")


def ends(monkeypatch, code, said):
    """Let pytest say this and end so."""

    def run(command, stdout, **_):
        stdout.write(said)
        return subprocess.CompletedProcess(command, code)

    monkeypatch.setattr(versions.subprocess, "run", run)
    for name in ("copytree", "copy"):
        monkeypatch.setattr(versions.shutil, name, lambda *_, **__: None)
