"""SDBN: a DBN whose users never give up: only satisfaction ends a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .downward import Satisfying
from .parameters import Parameters


@dataclass(frozen=True, repr=False, kw_only=True)
class SDBN(Satisfying):
    """The simplified DBN of Chapelle and Zhang (2009): gamma = 1.

    Learnt by exact EM: whether a last click satisfied, or nothing below it attracted, is summed out. The usual counts
    look at nothing below a last click and take it for satisfaction, which is too high for both tables.

    tolerance: learning ends when no probability moves further than this in a step.
    """

    tolerance: float = 1e-5

    name: ClassVar[str] = "sdbn"

    def going(self, parameters: Parameters) -> float:
        """Always."""
        return 1.0
