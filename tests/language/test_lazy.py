"""Names that a package imports on first use: read off its text, they are those that type checkers import."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import offrank
from offrank.language.lazy import homes

ROOT = Path(offrank.__file__).parent
LAZY = [path for path in sorted(ROOT.rglob("*.py")) if "homes(__file__)" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", LAZY, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_text_has_what_is_imported_for_type_checkers_and_nothing_else(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    (block,) = [one for one in tree.body if isinstance(one, ast.If) and ast.unparse(one.test) == "TYPE_CHECKING"]
    wanted = {
        alias.asname or alias.name: ("." * one.level + (one.module or ""), alias.name)
        for one in block.body
        if isinstance(one, ast.ImportFrom) and one.level
        for alias in one.names
    }
    assert wanted
    assert homes(str(path)) == wanted


def test_a_wrong_name_of_the_package_is_answered_with_the_right_one() -> None:
    program = [sys.executable, "-c", "import offrank; offrank.evalute"]  # the interpreter adds it to what it prints
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert "Did you mean: 'evaluate'?" in done.stderr
