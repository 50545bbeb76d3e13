"""Nobody keeps lists of codes: whoever needs several findings asks for their cause, so that a new one is among them."""

from __future__ import annotations

import ast
from typing import get_args

import pytest

from offrank.findings import FINDINGS, causes_of
from offrank.findings.registry import CAUSES, Cause
from tests.house.code import Module, modules

pytestmark = pytest.mark.xdist_group("house")  # one process reads the files

CODES = {kind.code for kind in FINDINGS.values()} | {"no-overlap"}


def listed(tree: ast.AST) -> list[tuple[int, list[str]]]:
    """The literal collections of two or more codes, with their lines."""
    found = []
    for node in ast.walk(tree):
        parts = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
        words = {part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)}
        if len(words & CODES) > 1:
            found.append((node.lineno, sorted(words & CODES)))  # type: ignore[attr-defined]
    return found


def test_no_module_lists_codes_of_findings() -> None:
    def of(module: Module) -> list[str]:
        return [f"{module.label}:{line}: {', '.join(words)}" for line, words in listed(module.tree)]

    assert [place for module in modules("src") for place in of(module)] == []


def test_a_list_of_codes_is_seen() -> None:
    written = "a = ('low-ess', 'x', 'ties'); b = {'low-ess'}; c = {'low-ess': 1, 'mean-weight': 2}; d = ['low-ess']"
    assert [words for _, words in listed(ast.parse(written))] == [["low-ess", "ties"], ["low-ess", "mean-weight"]]


def test_every_cause_is_one_and_has_findings() -> None:
    assert {cause for code in CODES for cause in causes_of(code)} == set(CAUSES) == set(get_args(Cause))
    assert len(set(CAUSES)) == len(CAUSES)
    assert causes_of("nonsense") == frozenset()
