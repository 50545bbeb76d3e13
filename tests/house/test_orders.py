"""Orders that are the same on every processor: NumPy's default sort leaves ties as the processor likes."""

from __future__ import annotations

import ast

import pytest

from tests.house.code import SOURCES, modules

pytestmark = pytest.mark.xdist_group("house")  # one process reads the files


def unstable(tree: ast.AST) -> list[int]:
    """The lines where rows or candidates are ordered without a rule for ties."""
    found = []
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        kinds = [word.value for word in node.keywords if word.arg == "kind"]
        stable = any(isinstance(kind, ast.Constant) and kind.value in {"stable", "mergesort"} for kind in kinds)
        if node.func.attr == "argpartition" or (node.func.attr == "argsort" and not stable):
            found.append(node.lineno)
    return found


def test_ties_are_broken_by_a_rule() -> None:
    assert [f"{module.label}:{line}" for module in modules(*SOURCES) for line in unstable(module.tree)] == []


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("np.argsort(x)", 1),
        ("x.argsort(axis=1)", 1),
        ("np.argsort(x, kind='quicksort')", 1),
        ("np.argpartition(x, 3)", 1),
        ("np.argsort(x, kind='stable')", 0),
        ("np.argsort(x, kind='mergesort')", 0),
        ("np.sort(x)", 0),
    ],
)
def test_what_is_unstable(text: str, places: int) -> None:
    assert len(unstable(ast.parse(text))) == places
