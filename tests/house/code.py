"""The project's own Python files, read as text and as syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "offrank"

SOURCES = ("src", "reproductions/src")
"""The sources of both distributions: offrank and offrank-papers."""
TESTS = ("tests", "reproductions/tests")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """One file: its `path`, and what is written there."""

    path: Path

    @property
    def label(self) -> str:
        """The path from the repository's root."""
        return self.path.relative_to(ROOT).as_posix()

    @cached_property
    def lines(self) -> list[str]:
        return self.path.read_text(encoding="utf-8").splitlines()

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse("\n".join(self.lines))

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """The whole tree, walked once for all tests."""
        return list(ast.walk(self.tree))

    def functions(self) -> Iterator[Function]:
        return (node for node in self.nodes if isinstance(node, Function))

    def place(self, node: ast.stmt) -> str:
        """Where to look, as an editor understands it."""
        return f"{self.label}:{node.lineno}"


def modules(*folders: str) -> list[Module]:
    """The Python files of some folders of the repository, in a fixed order; a folder may be absent."""
    return [_module(path) for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


@cache
def _module(path: Path) -> Module:
    """One file, read once for all tests."""
    return Module(path)


def length(function: Function) -> int:
    """Lines from `def` to the end, without the docstring: parameters are described however many there are."""
    begins = function.body[0]
    told = (
        isinstance(begins, ast.Expr) and isinstance(begins.value, ast.Constant) and isinstance(begins.value.value, str)
    )
    docstring = (begins.end_lineno or begins.lineno) - begins.lineno + 1 if told else 0
    return (function.end_lineno or function.lineno) - function.lineno + 1 - docstring
