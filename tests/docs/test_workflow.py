"""The hosted workflow runs what is there, on each Python that the classifiers name."""

import json
import re
import subprocess
import tomllib

from tests.docs.scripts import SCRIPTS, script

ROOT = SCRIPTS.parent
WORKFLOW = (ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8")
PYTHONS = script("versions").PYTHONS


def test_each_line_that_it_runs_is_a_target_or_a_script():
    lines = re.findall(r"^ +- run: (\S+)(.*)", WORKFLOW, re.MULTILINE)
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert len(lines) >= 6
    for command, arguments in lines:
        if command == "make":
            named = re.sub(r"-j\d|\w+=(\"[^\"]*\"|\S+)", "", arguments).split()
            assert named
            assert set(named) <= targets
        else:
            assert (ROOT / command).stat().st_mode & 0o111


def test_its_sets_of_libraries_are_known():
    (sets,) = re.findall(r"^ +set: \[(.*)\]", WORKFLOW, re.MULTILINE)
    assert sets.split(", ") == ["oldest", "newest", "pre"]
    shown = subprocess.run([SCRIPTS / "versions", "--help"], check=True, capture_output=True, text=True).stdout
    assert all(one in shown for one in sets.split(", "))


def test_each_python_of_the_classifiers_is_tried():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    classified = [line.split(" :: ")[-1] for line in project["classifiers"] if re.search(r":: 3\.\d+$", line)]
    tried = [json.loads(f"[{one}]") for one in re.findall(r"^ +python: \[(.*)\]", WORKFLOW, re.MULTILINE)]
    assert tried == [classified, classified]
    assert list(PYTHONS) == classified
    assert project["requires-python"] == f">={classified[0]}"
