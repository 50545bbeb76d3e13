"""The same log gives the same answers on an older processor, and with any number of threads."""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.running.asked_of_processors import ROWS, write

ROOT = Path(__file__).resolve().parents[2]
OLDER = ROOT / "scripts" / "as-older-processor"
#: when, how and on which versions it was computed
MAKING = {"created", "command", "versions", "path"}

pytestmark = [
    pytest.mark.xdist_group("processors"),
    pytest.mark.skipif(platform.system() == "Windows", reason="a script of bash sets the processor"),
]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("processors")
    write(folder)
    return folder


@cache
def answers(logs: Path, older: bool, threads: int) -> dict[str, Any]:
    """What a process of its own says."""
    asked = [sys.executable, "-m", "tests.running.asked_of_processors", str(logs), str(threads)]
    limits = {f"{library}_NUM_THREADS": str(threads) for library in ("OMP", "OPENBLAS", "NUMBA")}
    path = os.pathsep.join(filter(None, [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, **limits, "PYTHON": sys.executable, "PYTHONPATH": path}
    command = [str(OLDER), *asked] if older else asked
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env=environment)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def unlike(one: Any, other: Any, place: str = "") -> list[str]:
    """Where two answers differ: words and counts at all, numbers by more than 1e-9, in tables of the largest."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        compared = {name: (one[name], other[name]) for name in one if name not in MAKING}
        return [said for name, pair in compared.items() for said in unlike(*pair, f"{place}/{name}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        if one and all(isinstance(each, float) for each in one + other):
            away, scale = max(abs(a - b) for a, b in zip(one, other, strict=True)), max(map(abs, one))
            return [] if away <= max(1e-9 * scale, 1e-12) else [f"{place}: {away} of {scale}"]
        pairs = enumerate(zip(one, other, strict=True))
        return [said for index, pair in pairs for said in unlike(*pair, f"{place}/{index}")]
    if isinstance(one, float) and isinstance(other, float):
        return [] if math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) else [f"{place}: {one} {other}"]
    return [] if one == other else [f"{place}: {one} {other}"]


@pytest.mark.nightly
def test_an_older_processor_and_one_thread_give_the_same_rows_words_and_numbers(logs: Path) -> None:
    """Both at once, so that it is computed twice; where the answers differ, a third process tells by which."""
    if found := unlike(answers(logs, False, 2), answers(logs, True, 1)):
        by = "threads" if unlike(answers(logs, False, 2), answers(logs, False, 1)) else "processor"
        pytest.fail(f"by the {by}: {found}")


@pytest.mark.nightly
def test_what_is_asked_tells_rows_apart(logs: Path) -> None:
    """Not all rows are kept to learn from, and clicks, models and policies were learnt."""
    found = answers(logs, False, 2)
    assert 500 < found["rows kept"]["learnt from"] < found["rows kept"]["of"] == ROWS
    assert found["learn poem"]["weights"]
    means = [mean * (1 + 1e-8) for mean in found["rows kept"]["means"]]
    assert len(unlike(found, {**found, "rows kept": {**found["rows kept"], "means": means}})) == 1


def test_the_older_processor_is_one() -> None:
    """The script does something where NumPy has anything to leave out."""
    words = "import numpy; print(numpy.show_config(mode='dicts')['SIMD Extensions'].get('found', []))"
    command, environment = [OLDER, sys.executable, "-c", words], {**os.environ, "PYTHON": sys.executable}
    found = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert found.stdout.strip() == "[]"
