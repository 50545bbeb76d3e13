"""What is too long for every push: a part of it is asked then, another one for each commit, and all of it at night."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar
from zlib import crc32

T = TypeVar("T")

_SAID = os.environ.get("OFFRANK_TESTS", "")
"""`whole`, or a number instead of that of the commit."""
WHOLE = _SAID == "whole"
"""Whether everything is asked, as `make nightly` does."""
ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "tests" / "long.txt"
"""CPU seconds of what takes longest together, as a night measures it: a test, with all its cases."""
SHARED = 5
"""The commits that share what stands in the table, and what has a mark, at least."""


@cache
def turn() -> int:
    """A number of the commit; 0 where there is none."""
    if _SAID.isdecimal():
        return int(_SAID)
    return int(_git("rev-parse", "HEAD")[:8] or "0", 16)


@cache
def touched() -> frozenset[Path]:
    """The files that the last commit has changed, or none yet; empty where that is not known, or a turn is given.

    What they test is asked whole: most faults are where something was changed last.
    """
    names = "" if _SAID else _git("diff", "--name-only", "--no-renames", "HEAD~1")
    return frozenset(ROOT / name for name in names.splitlines())


def due(name: str, parts: int, *files: Path) -> bool:
    """Whether one of so many commits asks something: by its name in turn, also if its files or folders were touched."""
    if WHOLE or (crc32(name.encode()) + turn()) % parts == 0 or not (_SAID or _known()):
        return True
    return any(path.is_relative_to(file) for path in touched() for file in files)


@cache
def long() -> frozenset[str]:
    """The tests of the table, by the names of their functions."""
    return frozenset(line.split(maxsplit=1)[1] for line in TABLE.read_text(encoding="utf-8").splitlines())


@cache
def _known() -> bool:
    """Whether there are commits to take turns; a copy without any, such as that of a mutant, is asked whole."""
    return bool(_git("rev-parse", "HEAD"))


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=False, cwd=ROOT)
    return done.stdout if done.returncode == 0 else ""


def some(things: Sequence[T], parts: int, part: int = 0) -> list[T]:
    """One of so many parts of a list, the next one for the next number; at night all of it."""
    return list(things) if WHOLE else list(things[(turn() + part) % parts :: parts])
