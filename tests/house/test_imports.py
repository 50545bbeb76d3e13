"""Importing is cheap, and heavy libraries stay out until they are used."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "dask",
    "distributed",
    "jax",
    "lightgbm",
    "matplotlib",
    "optax",
    "pandas",
    "polars",
    "pyspark",
    "sklearn",
}
SECONDS = 0.5

IMPORT_ALL = """
import json, sys, time
started = time.process_time()
import offrank
seconds = time.process_time() - started
for name in [*offrank.__all__, *offrank._MODULES]:
    getattr(offrank, name)
print(json.dumps({"seconds": seconds, "modules": sorted(sys.modules)}))
"""


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


def import_offrank(*, everything: bool) -> tuple[float, set[str]]:
    """CPU seconds of `import offrank` in a fresh interpreter, and the modules loaded in the end."""
    code = IMPORT_ALL if everything else IMPORT_ALL.replace("in [*offrank.__all__, *offrank._MODULES]", "in []")
    report = json.loads(python("-c", code).stdout)
    return report["seconds"], set(report["modules"])


def test_import_is_fast() -> None:
    assert min(import_offrank(everything=False)[0] for _ in range(3)) < SECONDS


@pytest.mark.parametrize(
    ("everything", "unwanted"), [(False, HEAVY | {"scipy.stats"}), (True, HEAVY)], ids=["import", "all names"]
)
def test_optional_libraries_are_not_imported_by_accident(everything: bool, unwanted: set[str]) -> None:
    _, loaded = import_offrank(everything=everything)
    assert not loaded & unwanted


SCRIPT = Path(sys.executable).with_name("offrank")


@pytest.mark.parametrize("command", [["-m", "offrank"], [str(SCRIPT)]], ids=["python -m offrank", "offrank"])
def test_help_does_not_wait_for_compilers_and_columns(command: list[str]) -> None:
    if command == [str(SCRIPT)] and not SCRIPT.exists():
        pytest.skip("offrank is not installed beside this Python")
    imported = python("-X", "importtime", *command, "--help").stderr
    loaded = set(re.findall(r"\|\s+([\w.]+)$", imported, flags=re.MULTILINE))
    assert "offrank.cli" in loaded
    assert not loaded & (HEAVY | {"numba", "pyarrow", "scipy"})
