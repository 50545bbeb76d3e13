"""What all sessions share, without the opinion that a logging policy has of its documents: indirect inference.

Where good documents are shown high, a common prior takes their attraction for examination. So what all share is first
estimated with next to no prior, each document by itself. That has a bias of its own (one number per document, few
looks at each), which shows when the same estimate is made in worlds whose truth is known: like the log in what was
shown, with documents drawn from their posteriors under priors by kind (`Kinds`). The value whose worlds give the
estimate of the log is the answer (Gourieroux, Monfort and Renault 1993).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...log.batch import Floats
from ..documents import Slots
from ..em import Parameters, climb, expit, logit
from ..priors import Beta
from ..sessions import Sessions, collapsed
from .kinds import Kinds
from .learning import Problem
from .strength import of_few, without

_FAINT = Beta(0.2, 0.8)
_TOLERANCE = 1e-4
_ROUNDS = 300
_REFITS = 4
_SHIFT = 0.15
_APART = 0.3
"""Standard deviation, in logits, of what a common prior gets wrong: what is believed of it where a log tells little."""
_STILL = 0.02
"""Where the ranks of documents vary less, the estimate rests on bounds of probabilities, which no variance shows."""
_ROUGH = 0.5
"""Of the squared distance to the value under a common prior, and of the squared bias: what is added to the variance."""
_SESSIONS = 60_000
_COPIES = 4
_LARGEST = 2_000_000
_BLOCK = 1 << 16


class Shared(NamedTuple):
    """value, strength: tables of what all sessions share. told: share of the least known that is not the prior's."""

    value: Parameters
    strength: Parameters
    told: float


@dataclass(frozen=True)
class _Study:
    """names: of the tables in question; log: the problem; here: the estimate with next to no prior."""

    names: Sequence[str]
    log: Problem
    sessions: Sessions
    here: Parameters
    priors: Mapping[str, Beta]

    @property
    def hat(self) -> Floats:
        return self.packed(self.here)

    @property
    def copies(self) -> int:
        """How many worlds each estimate is made in."""
        return int(np.clip(_SESSIONS // max(self.sessions.weight.sum(), 1.0), 1, _COPIES))

    def joined(self, tables: Parameters) -> Floats:
        return np.concatenate([tables[name] for name in self.names])

    def parted(self, values: Floats) -> Parameters:
        ends = np.cumsum([len(self.here[name]) for name in self.names])[:-1]
        return dict(zip(self.names, np.split(values, ends), strict=True))

    def packed(self, tables: Parameters) -> Floats:
        return logit(self.joined(tables))

    def unpacked(self, logits: Floats) -> Parameters:
        return self.parted(expit(logits))

    def given(self, kinds: Kinds, logits: Floats, *, refits: int) -> tuple[Kinds, Parameters]:
        """The documents, if what all share were this."""
        fixed: Parameters = {**self.here, **self.unpacked(logits)}
        for _ in range(refits):
            fixed = self._climbed(kinds, fixed)
            kinds = Kinds.shown(self.sessions, fixed["attraction"], self.priors)
            grids = self.log.grids(fixed, kinds.spread())
            kinds = kinds.refitted(grids)
        return kinds, self._climbed(kinds, fixed)

    def _climbed(self, kinds: Kinds, here: Parameters) -> Parameters:
        step = without(self.log.step(kinds.spread()), here, self.names)
        return climb(step, here, tolerance=1e-3, rounds=60).parameters

    def estimates(self, kinds: Kinds, tables: Parameters) -> Floats:
        """What is estimated in worlds where this is true: on average of some."""
        known, priors = self.log.known(tables), kinds.spread()
        found = np.zeros(len(self.hat))
        for seed in range(self.copies):
            rng = np.random.default_rng(seed)
            true = {name: _drawn(tables[name], known[name] + priors[name].strength, rng) for name in priors}
            world = self._world({**tables, **true}, rng)
            found += self.packed(estimated(self.log.about(world), tables)) if len(world) else self.packed(tables)
        return found / self.copies

    def _world(self, true: Parameters, rng: np.random.Generator) -> Sessions:
        """The slates of the log, with clicks of users of whom this is true."""
        total = self.sessions.weight.sum()
        scale = min(1.0, _LARGEST / total)
        times = np.floor(self.sessions.weight * scale + rng.random(len(self.sessions))).astype(np.int64)
        document = np.repeat(self.sessions.document, times, axis=0)
        click = np.zeros(document.shape, np.uint8)
        for begin in range(0, len(document), _BLOCK):
            rows = document[begin : begin + _BLOCK].astype(np.int64)
            click[begin : begin + _BLOCK] = self.log.model.law(true, Slots(rows, rows >= 0)).sample(rng)
        weight = np.full(len(document), total / max(len(document), 1))
        return collapsed(Sessions(document, click, weight, self.sessions.documents))


def estimated(problem: Problem, start: Parameters) -> Parameters:
    """Each document by itself, with next to no prior."""
    priors = dict.fromkeys(problem.model.tables, _FAINT)
    return climb(problem.step(priors), start, tolerance=_TOLERANCE, rounds=_ROUNDS).parameters


def shared(problem: Problem, sessions: Sessions, pooled: Parameters, priors: Mapping[str, Beta]) -> Shared:
    """What all sessions share. pooled: the parameters with a common prior of all documents, priors."""
    names = [name for name in pooled if name not in priors]
    study = _Study(names, problem, sessions, estimated(problem, pooled), priors)
    common = study.packed(pooled)
    value, variance, slope = _unbent(study)
    if restlessness(sessions) < _STILL:
        variance = variance + _APART**2
    told = _APART**2 / (_APART**2 + variance)
    logits = told * value + (1 - told) * common
    # Where ways that assume unlike things do not agree, neither knows better: all the less, the less the estimate
    # follows the truth. And documents that were drawn from a few looks at each tell a bias no better than roughly.
    doubt = told * variance + _ROUGH * (((value - common) / slope) ** 2 + (value - study.hat) ** 2)
    p = expit(logits)
    strength = np.maximum(1 / (doubt * p * (1 - p)) - 1, 1.0)
    tried = study.joined({name: count[1] for name, count in problem.counts(study.here).items()}) > 0
    return Shared(study.unpacked(logits), study.parted(strength), float(told[tried].min(initial=1.0)))


def _unbent(study: _Study) -> tuple[Floats, Floats, Floats]:
    """The estimate without the bias that it has in worlds that are like the log, its variance, both in logits.

    And the slope: how far the estimate moves with the truth.
    """
    faint = study.log.step(dict.fromkeys(study.priors, _FAINT))
    known = study.joined(of_few(study.names, study.here, faint, study.log.counts))
    hat = study.hat
    kinds, tables = study.given(Kinds.one(study.priors, study.sessions.documents), hat, refits=_REFITS)
    before = study.estimates(kinds, tables)
    gap = hat - before
    shift = np.where(np.abs(gap) < _SHIFT, np.copysign(_SHIFT, gap), gap)
    after = study.estimates(*study.given(kinds, hat + shift, refits=1))
    slope = np.clip((after - before) / shift, 0.1, 1.2)
    p = expit(hat)
    return hat + gap / slope, (1 + 1 / study.copies) / (known * p * (1 - p)) / slope**2, slope


def restlessness(sessions: Sessions) -> float:
    """Variance of the rank of a document, on average over showings."""
    document, shown = sessions.document, sessions.document >= 0
    weight = np.broadcast_to(sessions.weight[:, None], document.shape)[shown]
    rank = np.broadcast_to(np.arange(document.shape[1], dtype=np.float64), document.shape)[shown]
    total, first, second = (np.bincount(document[shown], weight * rank**power) for power in range(3))
    return float((second - first**2 / np.maximum(total, 1e-300)).sum() / max(weight.sum(), 1e-300))


def _drawn(value: Floats, strength: Floats, rng: np.random.Generator) -> Floats:
    """From Beta posteriors."""
    a, b = np.maximum(value * strength, 1e-6), np.maximum((1 - value) * strength, 1e-6)
    return np.clip(rng.beta(a, b), 1e-9, 1 - 1e-9)
