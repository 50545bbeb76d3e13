"""What is too long for every push: a part of it is asked then, another one for each commit, and all of it at night."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

_SAID = os.environ.get("OFFRANK_TESTS", "")
"""`whole`, or a number instead of that of the commit."""
WHOLE = _SAID == "whole"
"""Whether everything is asked, as `make nightly` does."""


@cache
def turn() -> int:
    """A number of the commit; 0 where there is none."""
    if _SAID.isdecimal():
        return int(_SAID)
    words = ["git", "rev-parse", "HEAD"]
    folder = Path(__file__).parent
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder)
    return int(done.stdout[:8] or "0", 16)


def some(things: Sequence[T], parts: int, part: int = 0) -> list[T]:
    """One of so many parts of a list, the next one for the next number; at night all of it."""
    return list(things) if WHOLE else list(things[(turn() + part) % parts :: parts])
