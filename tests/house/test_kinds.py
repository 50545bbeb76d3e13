"""What others need to know of an estimator it says itself: nobody outside its folder asks for its class or walks it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.house.code import ROOT, Module, modules

pytestmark = pytest.mark.xdist_group("house")  # one process reads the files

INSIDE = ROOT / "src" / "offrank" / "estimators"
WALKED = {"base", "residual", "window", "examination", "reward_model", "learnt_rows"}
"""What wrappers and models are held as, which a walk over an estimator asks for."""


def classes() -> set[str]:
    """The classes of the folder of estimators."""
    trees = [module.tree for module in modules("src") if INSIDE in Path(module.path).parents]
    return {node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)}


def asked(tree: ast.AST, known: set[str]) -> list[tuple[int, str]]:
    """The classes of estimators that `isinstance` is asked for, and what `getattr` walks, with their lines."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    found = []
    for call in calls:
        word = call.args[1] if len(call.args) > 1 else None
        if call.func.id == "isinstance" and word is not None:  # type: ignore[attr-defined]
            found += [(call.lineno, one.id) for one in ast.walk(word) if isinstance(one, ast.Name) and one.id in known]
        if call.func.id in {"getattr", "hasattr"} and isinstance(word, ast.Constant) and word.value in WALKED:  # type: ignore[attr-defined]
            found.append((call.lineno, str(word.value)))
    return found


def test_nobody_asks_for_the_class_of_an_estimator() -> None:
    def of(module: Module) -> list[str]:
        return [f"{module.label}:{line}: {name}" for line, name in asked(module.tree, known)]

    known = classes()
    assert {"IPS", "Interpol", "DoublyRobust", "Bounded", "ModelBased"} <= known
    outside = [module for module in modules("src") if INSIDE not in Path(module.path).parents]
    assert [place for module in outside for place in of(module)] == []


def test_a_switch_over_classes_is_seen() -> None:
    written = "isinstance(a, IPS | x.Y); isinstance(b, (int, Clip)); getattr(c, 'base', None); hasattr(d, 'name')"
    assert asked(ast.parse(written), {"IPS", "Clip"}) == [(1, "IPS"), (1, "Clip"), (1, "base")]
