"""Importing is cheap, and heavy libraries stay out until they are used."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.commands import loaded

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
IMPORT_ALL = """
import json, sys
before = set(sys.modules)
import offrank
for name in [*offrank.__all__, *offrank._MODULES]:
    getattr(offrank, name)
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


def import_offrank(*, everything: bool) -> set[str]:
    """The packages that `import offrank` loads in a fresh interpreter, or the use of all its names."""
    code = IMPORT_ALL if everything else IMPORT_ALL.replace("in [*offrank.__all__, *offrank._MODULES]", "in []")
    return {name.split(".")[0] for name in json.loads(python("-c", code).stdout)}


def test_a_bare_import_loads_nothing_but_the_door() -> None:
    assert import_offrank(everything=False) - set(sys.stdlib_module_names) == {"offrank"}


def test_optional_libraries_are_not_imported_by_accident() -> None:
    assert not import_offrank(everything=True) & HEAVY


SCRIPT = Path(sys.executable).with_name("offrank")


@pytest.mark.parametrize("command", [["-m", "offrank"], [str(SCRIPT)]], ids=["python -m offrank", "offrank"])
def test_help_does_not_wait_for_compilers_and_columns(command: list[str]) -> None:
    if command == [str(SCRIPT)] and not SCRIPT.exists():
        pytest.skip("offrank is not installed beside this Python")
    imported = python("-X", "importtime", *command, "--help").stderr
    loaded = set(re.findall(r"\|\s+([\w.]+)$", imported, flags=re.MULTILINE))
    assert "offrank.cli" in loaded
    assert not loaded & (HEAVY | {"numba", "pyarrow", "scipy"})


MISTAKES = {
    "an option": (["evaluate", __file__, "--targt", "top(a)"], "--targt"),
    "a missing option": (["evaluate", __file__], "--target"),
    "a verb": (["evaluat"], "evaluat"),
    "a log": (["evaluate", "missing.parquet", "--target", "top(a)"], "missing.parquet"),
    "a policy": (["evaluate", __file__, "--target", "tpo(a)"], "did you mean top?"),
    "a named policy": (["compare", __file__, "--target", "new=tpo(a)"], "did you mean top?"),
    "a logging policy": (["check", __file__, "--logging", "placket_luce(a)"], "did you mean plackett_luce?"),
    "a policy in a policy": (["evaluate", __file__, "--target", "epsilon(tpo(a), 0.1)"], "did you mean top?"),
    "an estimator": (["evaluate", __file__, "--target", "top(a)", "-e", "ips, snps"], "did you mean snips?"),
    "an estimator in another": (
        ["evaluate", __file__, "--target", "top(a)", "-e", "clip(snpis, 9)"],
        "did you mean snips?",
    ),
    "a baseline": (["compare", __file__, "--target", "new=top(a)", "--baseline", "nosuch"], "'nosuch' is no target"),
    "a number": (["evaluate", __file__, "--target", "top(a)", "--confidence", "much"], "much"),
    "a level": (["check", __file__, "--confidence", "2"], "confidence is 2.0"),
    "an interval": (["evaluate", __file__, "--target", "top(a)", "--interval", "nomral"], "did you mean normal?"),
    "totals": (["check", __file__, "--totals", "clickd=3"], "clickd"),
    "a range": (["evaluate", __file__, "--target", "top(a)", "--reward-range", "1,0"], "[1.0, 0.0]"),
    "a role": (["check", __file__, "--column", "clikcs=c"], "did you mean 'clicks'?"),
    "a folder": (["check", __file__, "--json", "/no/such/folder/a.json"], "/no/such/folder"),
}


@pytest.mark.parametrize(("words", "told"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_before_anything_heavy_is_imported(words: list[str], told: str) -> None:
    """What takes long is what is imported; so that is tested, and not the time."""
    said, imported = loaded(words)
    assert told in said
    assert not imported & (HEAVY | {"jinja2", "numba", "numpy", "pyarrow", "rich", "scipy"})
