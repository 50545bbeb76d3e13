"""Small modules, short functions, imports where they can be seen."""

from __future__ import annotations

import ast
from statistics import median, quantiles

import pytest

from tests.house.code import SOURCES, TESTS, length, modules

SOURCE = modules(*SOURCES)
EVERYTHING = modules(*SOURCES, *TESTS, "benchmarks", "reproductions/pages", "scripts")

pytestmark = pytest.mark.xdist_group("house")  # one process reads the files


def test_no_module_is_longer_than_400_lines() -> None:
    assert {one.label: len(one.lines) for one in EVERYTHING if len(one.lines) > 400} == {}


def test_half_of_the_modules_have_at_most_150_lines() -> None:
    assert median(len(module.lines) for module in SOURCE) <= 150


def test_no_function_is_longer_than_60_lines() -> None:
    long = [
        f"{module.place(function)} {function.name}: {length(function)} lines"
        for module in EVERYTHING
        for function in module.functions()
        if length(function) > 60
    ]
    assert not long


def test_most_functions_are_short() -> None:
    lengths = [length(function) for module in SOURCE for function in module.functions()]
    assert median(lengths) <= 10
    assert quantiles(lengths, n=10)[-1] <= 40


def imports_of_offrank(function: ast.AST) -> list[ast.stmt]:
    """Statements inside a function that import a part of offrank, absolutely or relatively."""
    found: list[ast.stmt] = []
    for node in ast.walk(function):
        if isinstance(node, ast.ImportFrom):
            names = ["offrank"] if node.level else [node.module or ""]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        if any(name.split(".")[0] in {"offrank", "offrank_papers"} for name in names):
            found.append(node)
    return found


def test_no_function_imports_offrank() -> None:
    # Optional libraries may be imported late; a late import of our own hides a cycle.
    hidden = {
        module.place(node)
        for module in SOURCE
        for function in module.functions()
        for node in imports_of_offrank(function)
    }
    assert not hidden


def test_an_import_inside_a_function_is_seen() -> None:
    code = "import numpy; from . import log; import offrank.log; from offrank import cli; import offrank_papers"
    assert len(imports_of_offrank(ast.parse(code))) == 4
