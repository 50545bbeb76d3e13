"""Whether a commit has to be computed as an older processor would: `python -m tests.older` prints what make makes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import grimp

from tests.night import ROOT, WHOLE, touched

ROOMS = ("sums", "inference", "reward_models", "estimators")
"""Whose tests `make older` asks."""
OTHERS = ("scripts/as-older-processor", "Makefile", *(f"tests/{room}" for room in ROOMS))


def reached() -> set[str]:
    """The modules of these rooms, and what sums and intervals import, themselves or by others."""
    graph, found = grimp.build_graph("offrank"), set[str]()
    for name in (f"offrank.{room}" for room in ROOMS):
        found |= {name, *graph.find_descendants(name)}
    for name in ("offrank.sums", "offrank.inference"):
        found |= graph.find_upstream_modules(name, as_package=True)
    return found


def module_of(path: Path) -> str:
    """The name by which a file of offrank is imported; another name for others."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part not in ("src", "__init__"))


def due(changed: Iterable[Path]) -> bool:
    """Whether one of these files reaches what is computed, or how that is asked; where nothing is known, it may."""
    files = [*changed]
    if WHOLE or not files or any(file.is_relative_to(ROOT / one) for file in files for one in OTHERS):
        return True
    return not reached().isdisjoint(map(module_of, files))


if __name__ == "__main__":
    print("older" if due(touched()) else "")
