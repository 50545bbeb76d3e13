"""What README.md shows of Python passes a strict type checker as it stands."""

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
