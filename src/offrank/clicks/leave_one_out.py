"""What a session itself taught a component of a mixture, which must not vouch for whose session it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..log.batch import Floats
from .base import FitResult, Parameters
from .documents import SlateDocuments
from .laws import log_probs
from .model import ClickModel
from .sessions import Sessions

_BLOCK = 1 << 15
"""Sessions that are judged at once."""
_STEP = 1e-5
"""Change of a probability by which the slope of a likelihood is measured."""
_LEAST = 0.02
"""Share of a prior that is always left of each of its two numbers."""


class SessionTrials(NamedTuple):
    """The trials of a table. success, failure: [n, k] by each place of each session, certain or not.

    prior: [d + 1] or [d + 1, k] strength of what is known of each entry without any session.
    """

    success: NDArray[np.float32]
    failure: NDArray[np.float32]
    prior: Floats


@dataclass(frozen=True)
class LeaveOneOutCounts:
    """The trials of one component's documents in each session of the data: table -> `SessionTrials`.

    A session's likelihood is linear in the probability p of one of its documents (but for `ccm`). Where it grows by the
    factor 1 + b dp, it tells as much as b p successes or -b (1 - p) failures: counts of complete data. Taking them away
    leaves what the other sessions know. The likelihood at these means is the session's probability given all others,
    as in collapsed variational inference of order zero (Asuncion et al. 2009).
    """

    model: ClickModel
    data: Sessions
    taught: Mapping[str, SessionTrials]

    @classmethod
    def of(cls, model: ClickModel, learnt: FitResult, data: Sessions, share: Floats) -> LeaveOneOutCounts:
        """share: [n] of each session that the component has learnt from."""
        names = [name for name, role in model.roles().items() if role.by_document]
        shape = data.document.shape
        taught = {
            name: SessionTrials(np.zeros(shape, np.float32), np.zeros(shape, np.float32), np.ones(1)) for name in names
        }
        found, here = cls(model, data, taught), learnt.parameters
        for rows in session_blocks(data):
            found._measure(here, rows)
        for name, one in found.taught.items():
            trials = found._trials(name, here[name], share)
            before = learnt.strength[name] - trials if name in learnt.strength else trials * 0 + 1.0
            if name in learnt.priors:
                before = np.append(np.add(*learnt.priors[name]), before[-1])
            found.taught[name] = one._replace(prior=np.maximum(before, 0.5))  # type: ignore[index]
        return found

    def logs(self, here: Parameters, share: Floats) -> Floats:
        """[n] log-probability of each session given all others; share: [n] of each that the component learnt from."""
        size = {name: self._trials(name, here[name], share) + one.prior for name, one in self.taught.items()}
        found = np.empty(len(self.data))
        for rows in session_blocks(self.data):
            slots, apart, click = self._apart(here, rows)
            once = np.minimum(self.data.weight[rows], 1.0) * share[rows]
            for name, one in self.taught.items():
                where = self._places(here[name], rows)
                before, strength = one.prior[where], size[name][where]
                won, lost = (once[:, None] * trials[rows] for trials in (one.success, one.failure))
                value, left = here[name][where], strength - won - lost
                low, high = _LEAST * before * value, left - _LEAST * before * (1 - value)
                _set(apart[name], np.clip(value * strength - won, low, np.maximum(low, high)) / left)
            found[rows] = log_probs(self.model.law({**here, **apart}, slots), click)
        return found

    def _measure(self, here: Parameters, rows: slice) -> None:
        """Set the trials of some sessions, by the change of their likelihood with each document."""
        slots, apart, click = self._apart(here, rows)
        base = log_probs(self.model.law({**here, **apart}, slots), click)
        possible = np.isfinite(base)
        for name, (success, failure, _) in self.taught.items():
            values = here[name][self._places(here[name], rows)]
            for rank in range(click.shape[1]):
                value, moved = values[:, rank], values.copy()
                moved[:, rank] = other = np.where(value < 0.5, value + _STEP, value - _STEP)
                table = _set(apart[name].copy(), moved)
                there = log_probs(self.model.law({**here, **apart, name: table}, slots), click)
                ratio = np.exp(np.where(possible, there, 0.0) - np.where(possible, base, 0.0))
                slope = np.where(slots.shown[:, rank], (ratio - 1) / (other - value), 0.0)
                success[rows, rank] = np.minimum(np.maximum(slope, 0.0) * value, 1.0)
                failure[rows, rank] = np.minimum(np.maximum(-slope, 0.0) * (1 - value), 1.0)

    def _apart(self, here: Parameters, rows: slice) -> tuple[SlateDocuments, dict[str, Floats], Floats]:
        """Slates whose places have documents of their own, the tables of these, and the clicks."""
        document, click = self.data.document[rows], self.data.click[rows].astype(np.float64)
        own = np.arange(document.size).reshape(document.shape)
        tables = {name: np.concatenate([here[name][document.ravel()], here[name][-1:]]) for name in self.taught}
        return SlateDocuments(own, document >= 0), tables, click

    def _places(self, table: Floats, rows: slice) -> tuple[np.ndarray, ...]:
        """The entries of a table that the places of some sessions depend on."""
        document = self.data.document[rows]
        if table.ndim == 1:
            return (document,)
        return document, np.broadcast_to(np.minimum(np.arange(document.shape[1]), table.shape[1] - 1), document.shape)

    def _trials(self, name: str, table: Floats, share: Floats) -> Floats:
        """Trials of each entry of a table in all sessions."""
        found, one, every = np.zeros(table.shape), self.taught[name], slice(None)
        trials = (one.success + one.failure) * (self.data.weight * share)[:, None]
        place = np.ravel_multi_index(
            tuple(axis % size for axis, size in zip(self._places(table, every), table.shape, strict=True)), table.shape
        )
        found += np.bincount(place.ravel(), trials.ravel(), found.size).reshape(found.shape)
        return found


def session_blocks(data: Sessions) -> Iterator[slice]:
    """The sessions in blocks that are judged at once."""
    return (slice(begin, begin + _BLOCK) for begin in range(0, len(data), _BLOCK))


def _set(table: Floats, values: Floats) -> Floats:
    """Set the entries that places [n, k] have in a table [n k + 1] or [n k + 1, ranks] of their own."""
    if table.ndim == 1:
        table[:-1] = values.ravel()
    else:
        rank = np.minimum(np.arange(values.shape[1]), table.shape[1] - 1)
        table[np.arange(values.size), np.tile(rank, len(values))] = values.ravel()
    return table
