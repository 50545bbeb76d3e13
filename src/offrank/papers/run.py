"""What a reproduction is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Run:
    """How large, from which seed, on which data, and where.

    log: what the user gave, None where it is to be simulated. folder: where what takes long is kept. say: called with
    what is being done.
    """

    scale: float = 1.0
    seed: int = 4
    log: Any = None
    folder: Path = Path()
    say: Callable[[str], object] = len

    def size(self, full: int, least: int) -> int:
        """The published size times the scale."""
        return max(int(full * self.scale), least)
