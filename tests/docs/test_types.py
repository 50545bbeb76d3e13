"""What README.md shows of Python passes a strict type checker as it stands, and so do chains of attributes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow


def checked(text: str, folder: Path) -> str:
    """What mypy says of a program."""
    program = folder / "shown.py"
    program.write_text(text, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--config-file",
        str(ROOT / "pyproject.toml"),
        "--strict",
        "--no-pretty",
        str(program),
    ]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=False, timeout=600, encoding="utf-8").stdout


@pytest.mark.turns(3, ROOT / "README.md", ROOT / "src" / "offrank" / "__init__.py")
def test_the_examples_of_the_readme_are_typed(tmp_path: Path) -> None:
    shown = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert shown
    said = checked("\n".join([*shown, 'wrong: int = "a text"\n']), tmp_path)
    errors = [line for line in said.splitlines() if ": error:" in line]
    assert len(errors) == 1, said  # mypy has looked
    assert 'expression has type "str", variable has type "int"' in errors[0]


CHAINS = """
import offrank

result = offrank.compare("log.parquet", {"a": "top(a)", "b": "top(b)"}, "uniform", ["ips", "snips"])
numbers: list[float] = [
    result.comparisons[0].verdict.difference.value,
    result.comparisons[0].verdict.relative.low,
    result.verdict.value.high,
    result.verdict.logged.standard_error,
    result["a", "snips"].difference.value,
    result["a", "snips"].mean_weight_interval.low,
    result.difference("a", "b").low,
    result.metadata.ab_test.compared[0].lists_alone.value,
    offrank.measure("log.parquet", "a")["a"].difference.low,
    offrank.learn("log.parquet", "ips", "policy.json").release.level,
]
words: list[str] = [
    offrank.select_clicks("log.parquet", "pbm", "labels.csv").choice.name,
    result.verdicts["a"].decision,
]
"""
WRONG = """
result.value
result.comparisons[0].verdict.difference.valeu
result["snips"].ci
offrank.evaluate("log.parquet", targets="top(a)")
offrank.evaluate("log.parquet", "top(a)", alpha=0.05)
"""


@pytest.mark.turns(3, ROOT / "src" / "offrank" / "sums" / "estimate.py", ROOT / "src" / "offrank" / "wording.py")
def test_chains_of_attributes_are_typed_and_wrong_names_are_refused(tmp_path: Path) -> None:
    said = checked(CHAINS + WRONG, tmp_path)
    errors = [line.partition(": error: ")[2] for line in said.splitlines() if ": error:" in line]
    assert [list(dict.fromkeys(re.findall(r'"(\w+)"', one)))[:2] for one in errors] == [
        ["Result", "value"],
        ["Interval", "valeu"],
        ["Estimate", "ci"],
        ["targets", "evaluate"],
        ["alpha", "evaluate"],
    ], said
