"""scripts/versions: what it installs, what it makes of a run, and what the page says of the runs that were made."""

import re
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
        ("not to be installed: no wheels of numba, 3 passed over", True),
    ],
)
def test_what_fails(came, failing):
    assert versions.failing(came) is failing


def test_the_table_names_what_ran_and_what_did_not():
    pair = {"versions": {"NumPy": "2.1.0", "numba": "0.61.0", "pluggy": "1"}, "commit": "12345678"}
    known = {
        "3.13 oldest": pair | {"came": "9 passed"},
        "3.11 pre": {"versions": {}, "commit": "12345678", "came": "not to be installed: no wheel"},
    }
    assert list(versions.table(known))[2:] == [
        "| 3.11 | pre |  | not to be installed: no wheel | 12345678 |",
        "| 3.13 | oldest | numpy 2.1.0, numba 0.61.0 | 9 passed | 12345678 |",
        "",
        "Not tried: Python 3.12, 3.14.",
    ]


def test_equal_versions_are_tried_once(tmp_path, monkeypatch):
    monkeypatch.setattr(versions, "made", lambda *_: (tmp_path, ""))
    monkeypatch.setattr(versions, "installed", lambda _: {"numpy": "2.1"})
    monkeypatch.setattr(versions, "passed", lambda *_: "9 passed")
    known = {}
    for python, asked in (("python3.11", "newest"), ("python3.11", "pre"), ("python3.12", "pre")):
        known[f"{python} {asked}"] = versions.tried(python, asked, tmp_path, "0", known)
    assert [one["came"] for one in known.values()] == ["9 passed", "the versions of newest: 9 passed", "9 passed"]
    assert not any(versions.failing(one["came"]) for one in known.values())


def test_a_folder_keeps_what_was_tried(tmp_path, monkeypatch, capsys):
    ran = []
    monkeypatch.setattr(versions.os, "nice", lambda _: None)
    monkeypatch.setattr(versions, "pythons", lambda: [("3.12", "python3.12")])
    answers = {"oldest": {"came": "9 passed"}, "newest": {"came": "1 failed, 8 passed"}}
    monkeypatch.setattr(versions, "tried", lambda _, asked, *__: ran.append(asked) or answers[asked])
    monkeypatch.setattr(versions.sys, "argv", ["versions", "--folder", str(tmp_path)])
    for _ in range(2):
        with pytest.raises(SystemExit) as ended:
            versions.main()
        assert ended.value.code is True
    assert ran == ["oldest", "newest"]
    assert capsys.readouterr().out == "3.12 oldest 9 passed\n3.12 newest 1 failed, 8 passed\n" * 2
    assert versions.kept(tmp_path)["3.12 oldest"]["came"] == "9 passed"
