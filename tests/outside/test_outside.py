"""Parts from outside the package are answered for like its own: the same numbers, words, advice and findings."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.outside import answers

ROOT = Path(__file__).resolve().parents[2]
ROWS = 1201


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log in a format of its own: rankings of four items by noisy scores, whose equals share ranks."""
    rng, path = np.random.default_rng(5), tmp_path_factory.mktemp("outside") / "log.own"
    lines = []
    for _ in range(ROWS):
        old, new = rng.normal(size=4).round(1), rng.integers(0, 3, 4)
        slate = np.argsort(-(old + rng.gumbel(size=4)))[:3]
        clicks = rng.random(3) < 0.2 + 0.1 * new[slate]
        parts = (old, new, slate, clicks.astype(int))
        lines.append("|".join(",".join(map(str, part.tolist())) for part in parts))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def found(log: Path) -> dict[str, Any]:
    out = log.with_name("found.json")
    command = [sys.executable, "-m", "tests.outside.answers", str(log), str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answered: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return answered


def leaves(part: Any, where: str = "") -> dict[str, Any]:
    """The numbers and words of a plain value by their place."""
    inside = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else None
    if inside is None:
        return {where: part}
    return {place: leaf for key, value in inside for place, leaf in leaves(value, f"{where}.{key}").items()}


def same(own: Any, other: Any, names: dict[str, str]) -> None:
    """Require equal words, up to the names of the parts, and numbers up to rounding."""
    parts = re.compile("|".join(rf"\b{re.escape(name)}" for name in names))

    def renamed(text: str) -> str:
        return parts.sub(lambda found: names[found[0]], text)

    mine, theirs = {renamed(place): leaf for place, leaf in leaves(own).items()}, leaves(other)
    assert mine.keys() == theirs.keys()
    for place, leaf in mine.items():
        if isinstance(leaf, int | float):
            assert leaf == pytest.approx(theirs[place], rel=1e-9), place
        else:
            assert (renamed(leaf) if isinstance(leaf, str) else leaf) == theirs[place], place


@pytest.mark.turns(3)
def test_they_are_spelled_as_they_are_named(found: dict[str, Any]) -> None:
    assert found["spelled"] == [*answers.PAIRS, answers.POLICIES[0]]


@pytest.mark.parametrize("name", answers.PAIRS)
def test_an_estimator_gets_numbers_words_and_findings_like_one_of_offrank(found: dict[str, Any], name: str) -> None:
    own, known = found["estimators"][name]
    assert own["estimates"]
    same(own, known, {"snmine": "snipm", "mine": "ipm"})


def test_a_policy_gets_the_same_as_one_of_offrank(found: dict[str, Any]) -> None:
    own, known = found["policies"]
    same(own, known, dict([answers.POLICIES]))
    assert "`ties`" in json.dumps(own) or '"ties"' in json.dumps(own)


def test_an_assumption_is_said_by_its_words(found: dict[str, Any]) -> None:
    for verdict in found["assumes"]:
        assert "assumes that a slate earns what its top item earns" in " ".join(verdict.split())


def test_an_assumption_that_nobody_registered_is_refused(found: dict[str, Any]) -> None:
    assert found["refused"] == "'users are kind' is no registered assumption"


def test_a_law_of_which_only_slots_are_known_weighs_like_uniform_slates(found: dict[str, Any]) -> None:
    own, known = (one["estimates"][0] for one in found["laws"])
    assert own["value"] == pytest.approx(known["value"], rel=1e-9)
    assert own["low"] >= known["low"]  # nobody can draw from it, so nothing is known of what the log hides


def test_a_mean_has_the_error_that_its_slope_gives_it(found: dict[str, Any]) -> None:
    share, odds = found["means"]  # 80 of 400 clicked: 1 / 4, and the slope is 1 / (1 - 1 / 5)^2
    assert odds["value"] == pytest.approx(1 / 4)
    assert odds["standard_error"] == pytest.approx(25 / 16 * share["standard_error"], rel=1e-9)


def test_an_interval_is_used_by_its_name(found: dict[str, Any]) -> None:
    twice, normal = (one["high"] - one["value"] for one in found["logged"].values())
    assert twice == pytest.approx(2 * normal, rel=1e-9)


def test_a_finding_is_looked_for_and_counts_by_its_cause(found: dict[str, Any]) -> None:
    assert "own-finding" in found["warnings"]
    assert found["causes"] == ["tail"]
    # Of equal severity, what may lead to too little overlap is told before that.
    assert found["reasons"].index("own-finding") < found["reasons"].index("hidden-mass")


@pytest.mark.turns(3)
def test_the_command_line_knows_the_parts_of_an_installed_package(log: Path, tmp_path: Path) -> None:
    shutil.copy(Path(__file__).with_name("own_parts.py"), tmp_path / "parts_of_mine.py")
    installed = tmp_path / "parts_of_mine-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: parts-of-mine\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text("[offrank.extensions]\nparts = parts_of_mine\n")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from offrank.cli import main; main(prog_name='offrank')"
    asked = ["--target", answers.POLICIES[0], "--logging", answers.LOGGING, "-e", "snmine", "--interval", "twice"]
    command = [sys.executable, "-c", code, "evaluate", str(log), "--format", "own_format(separator='|')", *asked]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {word for word in (answers.POLICIES[0], "snmine", "own-finding") if word not in done.stdout} == set()
