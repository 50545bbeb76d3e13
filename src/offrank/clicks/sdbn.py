"""SDBN: a DBN whose users never give up: only satisfaction ends a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .downward import Satisfying
from .em import Parameters


@dataclass(frozen=True, repr=False, kw_only=True)
class SDBN(Satisfying):
    """The simplified DBN of Chapelle and Zhang (2009): gamma = 1.

    Learnt by exact EM. The counts that are common for it (all down to the last click was examined, nothing below) take
    a last click for satisfaction, and every session without a click for one without examination.

    tolerance: learning ends when no probability moves further than this in a step.
    """

    tolerance: float = 1e-5

    name: ClassVar[str] = "sdbn"

    def going(self, parameters: Parameters) -> float:
        """Always."""
        return 1.0
