"""The list of mutants fits the code: a text that is gone would never be tried."""

from __future__ import annotations

import ast
import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from tests.house.code import ROOT
from tests.house.offenders import offenders


def loaded() -> ModuleType:
    """scripts/mutants.py as a module."""
    spec = importlib.util.spec_from_file_location("offrank_mutants", ROOT / "scripts" / "mutants.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MUTANTS = loaded()
LISTED = MUTANTS.listed()


def test_a_mutant_changes_what_the_code_does() -> None:
    assert offenders(LISTED, check, lambda mutant: mutant.name) == {}


@cache
def written(path: Path) -> str:
    """What a file does, without comments and layout."""
    return ast.dump(ast.parse(path.read_text(encoding="utf-8")))


def check(mutant: MUTANTS.Mutant) -> None:
    assert ast.dump(ast.parse(mutant.changed())) != written(ROOT / mutant.path)
    assert [one for one in mutant.tests if not (ROOT / "tests" / one).exists()] == []
    assert mutant.tests


def test_there_are_many_and_each_has_a_name() -> None:
    assert len({mutant.name for mutant in LISTED}) == len(LISTED) >= 70
    assert len({mutant.file.split("/")[0] for mutant in LISTED}) >= 9


def test_a_text_that_is_gone_fails(tmp_path: Path) -> None:
    place = tmp_path / "src" / "offrank" / "few.py"
    place.parent.mkdir(parents=True)
    mutant = MUTANTS.Mutant("few", "few.py", "FEW = 3", "FEW = 4", ("findings",))
    for text in ("FEW = 5\n", "FEW = 3\nFEW = 3\n"):
        place.write_text(text)
        with pytest.raises(SystemExit, match=r"few: 'FEW = 3' stands [02] times"):
            mutant.changed(tmp_path)
    place.write_text("FEW = 3\n")
    assert mutant.changed(tmp_path) == "FEW = 4\n"
