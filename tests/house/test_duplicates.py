"""The same six lines twice are one function too few."""

from __future__ import annotations

import ast
from collections import defaultdict

import pytest

from tests.house.code import SOURCES, TESTS, Module, modules

pytestmark = pytest.mark.xdist_group("house")  # one process reads the files

BLOCK = 6
LIMIT = 0.03

Place = tuple[str, int]


def prose(module: Module) -> set[int]:
    """Line numbers of docstrings and imports: no code of their own."""
    skipped: set[int] = set()
    for node in module.nodes:
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_text or isinstance(node, ast.Import | ast.ImportFrom):
            skipped.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return skipped


def code_lines(module: Module) -> list[tuple[int, str]]:
    """Numbered lines of code without indentation; no blank lines, comments, docstrings or imports."""
    skipped = prose(module)
    numbered = ((number, line.strip()) for number, line in enumerate(module.lines, start=1))
    return [(n, line) for n, line in numbered if line and line[0] != "#" and n not in skipped]


def duplicated(files: dict[str, list[tuple[int, str]]]) -> dict[Place, list[Place]]:
    """Lines that stand in a block of `BLOCK` lines found elsewhere too, each with where such blocks begin."""
    homes: dict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)
    for label, lines in files.items():
        texts = [text for _, text in lines]
        for start in range(len(texts) - BLOCK + 1):
            homes[tuple(texts[start : start + BLOCK])].append((label, start))
    found: dict[Place, list[Place]] = {}
    for starts in homes.values():
        places = [(label, files[label][start][0]) for label, start in starts]
        if len(starts) > 1:
            found.update({(label, files[label][i][0]): places for label, s in starts for i in range(s, s + BLOCK)})
    return found


@pytest.mark.parametrize("folders", [SOURCES, TESTS, ("benchmarks", "reproductions/pages")], ids=" ".join)
def test_at_most_three_percent_of_the_lines_stand_in_duplicated_blocks(folders: tuple[str, ...]) -> None:
    files = {module.label: code_lines(module) for module in modules(*folders)}
    found = duplicated(files)
    total = sum(map(len, files.values()))
    twins = sorted({" = ".join(f"{label}:{line}" for label, line in places) for places in found.values()})
    assert len(found) <= LIMIT * total, "\n".join(twins)


def test_a_duplicated_block_is_found() -> None:
    lines = [(number, f"line {number}") for number in range(1, 21)]
    copy = [(number + 100, text) for number, text in lines[4:11]]
    found = duplicated({"a.py": lines, "b.py": copy})
    assert sorted(found) == [*[("a.py", n) for n in range(5, 12)], *[("b.py", n) for n in range(105, 112)]]
