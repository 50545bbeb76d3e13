"""CM: users read down to the first result that attracts them, and click it."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from ..findings import cautions_for
from ..findings.evidence_clicks import FitEvidence
from ..folds.estimate import Caution
from ..log.batch import Floats
from .chain import Chain
from .parameters import Parameters
from .sessions import Sessions


class CM(Chain):
    """The cascade model of Craswell et al. (2008): at most one click, and everything above it was examined.

    It rules out a second click: it learns from sessions down to their first click (caution
    `impossible-clicks` where that leaves clicks out), and gives probability 0 to every click below one.

    tolerance: learning stops when no probability changes by more than this in one step.
    """

    name: ClassVar[str] = "cascade"

    def readable(self, sessions: Sessions) -> tuple[Sessions, tuple[Caution, ...]]:
        """The sessions without the ranks below their first click."""
        first = sessions.click * (np.cumsum(sessions.click, axis=1, dtype=np.int32) == 1)
        clicks, kept = (float(sessions.weight @ table.sum(axis=1)) for table in (sessions.click, first))
        share = 1.0 - kept / clicks if clicks else 0.0
        return replace(sessions, click=first.astype(np.uint8)), cautions_for(FitEvidence(beyond=share))

    def going_on(self, parameters: Parameters) -> tuple[Floats, float]:
        return np.zeros(len(parameters["attraction"])), 1.0
