"""EM for attractions and chances as points: what mixtures, which take a step at a time, learn by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..log.batch import Floats, Integers
from .counts import Counts
from .em import Climb, Parameters, climb
from .priors import Beta

_FAINT = 0.1
"""Observations of either kind, before any: they keep what is learnt of cells off 0 and 1."""


@dataclass(frozen=True)
class Points:
    """P(click) = false[cell] + (hit[cell] - false[cell]) attraction[document], by maximum posterior.

    Whether a view attracted is hidden. Tables: attraction [documents], hit and, where others click too, false [cells].
    Chances that are 0 or 1 stay; the prior of the attractions is one of their logits.
    """

    counts: Counts
    prior: Beta

    def climb(self, start: Parameters, *, tolerance: float, rounds: int) -> Climb:
        """Steps of EM, and their log-posteriors."""
        return climb(self.step, start, tolerance=tolerance, rounds=rounds)

    def step(self, parameters: Parameters) -> tuple[Parameters, float]:
        """One step, and the log-posterior before it."""
        data, u = self.counts, parameters["attraction"][self.counts.document]
        hit = parameters["hit"][data.cell]
        false = parameters["false"][data.cell] if "false" in parameters else np.zeros_like(hit)
        click, skip = hit * u + false * (1 - u), np.maximum((1 - hit) * u + (1 - false) * (1 - u), 1e-300)
        skipped = data.shown - data.clicked
        drawn, missed = data.clicked * hit * u / click, skipped * (1 - hit) * u / skip
        a, b = self.prior.a, self.prior.b
        shown, attracted = data.by_document()[0], _sums(data.document, drawn + missed, data.documents)
        after = {"attraction": (attracted + a) / (shown + a + b), "hit": self._rate(parameters["hit"], drawn, missed)}
        if "false" in parameters:
            after["false"] = self._rate(parameters["false"], data.clicked - drawn, skipped - missed)
        height = float(data.clicked @ np.log(click) + skipped @ np.log(skip))
        return after, height + log_prior(parameters, self.prior)

    def _rate(self, before: Floats, clicked: Floats, skipped: Floats) -> Floats:
        """Clicks per view in each cell."""
        clicks, skips = (_sums(self.counts.cell, found, self.counts.cells) for found in (clicked, skipped))
        after = (clicks + _FAINT) / (clicks + skips + 2 * _FAINT)
        return np.where((before > 0) & (before < 1), after, before)


def log_prior(parameters: Parameters, prior: Beta) -> float:
    """Of all tables, as logits; but for a constant."""
    cells = [parameters[name] for name in ("hit", "false") if name in parameters]
    free = np.concatenate([table[(table > 0) & (table < 1)] for table in cells])
    return prior.log_density(parameters["attraction"]) + Beta(_FAINT, _FAINT).log_density(free)


def _sums(place: Integers, values: Floats, size: int) -> Any:
    return np.bincount(place, weights=values, minlength=size)
