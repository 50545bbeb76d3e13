"""A trained network beside the user browsing model, on the sessions that were held out of its training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ...findings import cautions_for
from ...findings.evidence_clicks import OfNetwork
from ...folds.estimate import Caution
from ...log.batch import Floats, Integers
from ..documents import SlateDocuments
from ..laws import ClickLaw, log_probs
from ..sessions import Sessions
from ..ubm import UBM

Law = Callable[[SlateDocuments], ClickLaw]

_LEAST = 1e-12
"""Share of a held-out session that `ubm` learns from all the same, so that its tables are complete."""
_BLOCK = 1 << 16


@dataclass(frozen=True)
class Beside:
    """ahead: mean log-likelihood of held-out sessions less that of `ubm`, in nats a session; NaN if none was held out.

    error: its standard error over sessions. sessions: how many were held out.
    """

    ahead: float = np.nan
    error: float = np.nan
    sessions: float = 0.0

    def facts(self) -> dict[str, Any]:
        """What the summary shows."""
        if not self.sessions:
            return {}
        found = f"{self.ahead:+.4f} (standard error {self.error:.4f}) nats a session"
        return {"held-out log-likelihood less that of ubm": found}

    def cautions(self, model: str) -> tuple[Caution, ...]:
        """That the model loses, where it does."""
        return cautions_for(OfNetwork(model=model, ahead=self.ahead, error=self.error, sessions=self.sessions))


def beside_ubm(law: Law, data: Sessions, known: Floats, held: Floats) -> Beside:
    """Let `ubm` learn from the sessions with weights `known` [n], and compare on those with weights `held` [n]."""
    if not (held < data.weight).any():
        return Beside()  # nothing was held out: all sessions are on both sides
    ubm = UBM()
    tables = ubm.learn(ubm.from_sessions(replace(data, weight=known + _LEAST * held))).parameters
    rows, laws = np.flatnonzero(held), (law, partial(ubm.law, tables))
    away = np.concatenate([_ahead(*laws, data, rows[at : at + _BLOCK]) for at in range(0, len(rows), _BLOCK)])
    weight = held[rows]
    ahead = float(np.average(away, weights=weight))
    # A session of weight w stands for w like it.
    error = float(np.sqrt(weight @ (away - ahead) ** 2) / weight.sum())
    return Beside(ahead, error, float(weight.sum()))


def _ahead(law: Law, other: Law, data: Sessions, rows: Integers) -> Floats:
    """[rows] log-probability of these sessions under a law, less that under another."""
    document, click = data.document[rows].astype(np.int64), data.click[rows].astype(np.float64)
    slots = SlateDocuments(document, document >= 0)
    return log_probs(law(slots), click) - log_probs(other(slots), click)
