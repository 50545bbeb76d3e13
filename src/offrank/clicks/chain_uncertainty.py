"""What all documents of a model have in common: the doubt of how far users read, and of the documents' priors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..findings import cautions_for
from ..findings.clicks import CONTINUATION_ERROR, VARIABILITY, FitEvidence
from ..log.batch import Floats, Integers
from ..sums.estimate import Caution
from .base import CERTAIN, FitResult, Parameters
from .fit.chain_em import CONTINUATION, EM, FEW_LAPS, TIGHT, Regressions
from .fit.compressed_sessions import SessionTails
from .fit.continuation import ContinuationFit, continuation_slopes, continuation_trials
from .fit.em import expit, logit, table_parts
from .fit.priors import UNIFORM, EvidenceGrid, evidence_slopes
from .fit.uncertainty import Equations, leading, leading_alone, shared
from .sessions import Sessions

_GROUPS = 32
"""Random groups of queries whose differences tell the variance of what is learnt from all."""
_DIRECTIONS = 2
"""Directions of a table's priors whose doubt is followed to documents."""
_FOLLOWED = 2
"""Directions of all doubts that are followed to the documents of sessions from which the priors were not learnt."""
_STEP = 2.0
"""Size of the steps for derivatives, in standard errors."""
Moved = tuple[Floats, Regressions]
"""A continuation, and the priors of documents."""

_CLOSE = 1e-5
"""Documents that have not followed to the end would make the doubt too small."""


@dataclass(frozen=True)
class SharedUncertainty:
    """What all documents have in common: the doubt of the continuation and of their priors, see `fit.uncertainty`.

    whole: all sessions, and `found` the tables learnt from them. em: the `sessions` from which the priors were learnt,
    some of all, and `here` their tables. alone: how the continuation was learnt, None where it was not.
    """

    whole: EM
    em: EM
    sessions: Sessions
    found: Parameters
    here: Parameters
    priors: Regressions
    alone: ContinuationFit | None

    def of(self, learnt: FitResult) -> FitResult:
        """The same with its strength, loadings and cautions."""
        here, known = self.here, self.em.known(self.here)
        grids = self.em.grids(here, self.priors)
        of_some = {name: known[name] + beta.strength for name, beta in self.em.betas(self.priors).items()}
        along = {name: self._directions(name, grid, of_some[name]) for name, grid in grids.items()}
        places = np.flatnonzero(self._tried > 0)
        ends = np.cumsum([len(places), *(axes.shape[1] for axes in along.values())])
        value = here.get(CONTINUATION, np.empty(0))
        if not ends[-1]:
            return replace(learnt, strength=self._strength(known, grids))
        steps, bend, known_by = np.ones(ends[-1]), self._bend, (value * (1 - value))[places] * self._tried[places]
        steps[: len(places)] = _STEP / np.sqrt(np.maximum(known_by, 1.0))
        between = np.append(bend[places] / 2, np.zeros(ends[-1] - len(places)))
        moved = self._moves(along, places, ends)
        by_group = self._by_group(along, grids, places)
        # How far users read was learnt from all sessions, the priors from these.
        by_group[:, : len(places)] *= np.sqrt(self.em.tails.sessions / self.whole.tails.sessions)
        equations, weak = self._equations(along, places, moved), self._weak(along, len(places))
        half, loadings = shared(equations, by_group, steps, between, weak)
        all_of_it, rest = half[: len(places)], np.zeros(len(places))
        if self.whole is not self.em:
            half = half @ leading(loadings)[:, :_FOLLOWED]
            loadings = self._followed(half, moved)
            rest = (all_of_it**2).sum(axis=1) - (half[: len(places)] ** 2).sum(axis=1)
        strength = self._strength(known, grids)
        if len(places):
            loadings[CONTINUATION] = np.zeros((len(value), half.shape[1]))
            loadings[CONTINUATION][places] = half[: len(places)]
            variance = (value * (1 - value))[places] * np.maximum(rest, 0.0)
            strength[CONTINUATION][places] = np.clip(1 / np.maximum(variance, 1e-300) - 1, UNIFORM.strength, CERTAIN)
        found = self._cautions(np.sqrt((all_of_it**2).sum(axis=1)), places)
        own, common = leading_alone(loadings, self.found, strength)
        return replace(learnt, strength=own, loadings=common, cautions=(*learnt.cautions, *found))

    def _cautions(self, error: Floats, places: Integers) -> tuple[Caution, ...]:
        """error: [places] standard errors of the continuation, in logits; each counts by its trials."""
        if not len(places):
            return ()
        typical = float(np.sqrt(np.average(error**2, weights=self._tried[places])))
        bend, value = self._bend[places], self.here[CONTINUATION][places]
        # Hausman's test: whether the two differ by more than sampling explains.
        sampling = np.sqrt(np.maximum(error**2 - (bend / 2) ** 2, 0.0))
        by = np.where(np.abs(bend) > 2 * sampling, value - expit(logit(value) - bend), 0.0)
        largest, moved = float(by[int(np.abs(by).argmax())]), rank_variability(self.sessions)
        known = typical <= CONTINUATION_ERROR and moved >= VARIABILITY  # else `examination-unknown` says more
        follows = known and largest != 0 and self.alone is not None and self.alone.ranks_tell
        return cautions_for(FitEvidence(error=typical, rank_variability=moved, bend=largest if follows else 0.0))

    @cached_property
    def _tried(self) -> Floats:
        """[few] expected trials of the continuation, 0 where it is not learnt."""
        return np.empty(0) if self.alone is None else self.alone.em.counts(self.alone.here)[CONTINUATION][1]

    @cached_property
    def _bend(self) -> Floats:
        """[few] how much larger the continuation is, in logits, than under a prior that all documents share."""
        if self.alone is None:
            return np.empty(0)
        if not self.priors:
            return np.zeros(len(self.here[CONTINUATION]))
        return np.asarray(logit(self.alone.here[CONTINUATION]) - logit(self.alone.common))

    def _moves(self, along: Parameters, places: Integers, ends: Integers) -> Callable[[Floats], Moved]:
        """A step -> the continuation and the priors that are moved by it."""

        def moved(step: Floats) -> Moved:
            shared = self.here.get(CONTINUATION, np.empty(0)).copy()
            shared[places] = expit(logit(shared[places]) + step[: len(places)])
            parts = zip(along.items(), np.split(step[len(places) :], ends[1:-1] - len(places)), strict=False)
            priors = {n: self.priors[n].moved(self.priors[n].table + axes @ part) for (n, axes), part in parts}
            return shared, priors

        return moved

    def _equations(self, along: Parameters, places: Integers, moved: Callable[[Floats], Moved]) -> Equations:
        """The slopes of the continuation and of the directions of the priors, where these are moved."""
        value = self.here.get(CONTINUATION, np.empty(0))
        rest = self._still(self.em, self.here, value, self.priors)
        weak = {} if self.alone is None else self._still(self.alone.em, self.alone.here, value, {})

        def equations(step: Floats) -> tuple[Floats, Parameters]:
            found, (shared, priors) = [], moved(step)
            if self.alone is not None:
                # Which the priors do not move.
                there = self._still(self.alone.em, weak, shared, {}) if step[: len(places)].any() else weak
                found.append(continuation_slopes(self.alone.em, there)[places])
            at = self._still(self.em, rest, shared, priors) if step.any() else rest
            for name, grid in self.em.grids(at, priors).items():
                *_, slope = evidence_slopes(grid.evidence, priors[name], self.em.design(name).take(grid.kept))
                found.append(slope @ along[name])
            return np.concatenate(found), {name: at[name] for name in self.em.model.tables}

        return equations

    def _followed(self, half: Floats, moved: Callable[[Floats], Moved]) -> dict[str, Floats]:
        """[d + 1, r] what all documents do where the continuation and the priors are moved along each column [r]."""
        found = {name: np.empty((half.shape[1], len(self.found[name]))) for name in self.em.model.tables}
        for place, column in enumerate(half.T):
            there = self._still(self.whole, self.found, *moved(column), TIGHT)
            for name, part in table_parts(there):
                if name in found:
                    found[name][place, part] = logit(there[name][part]) - logit(self.found[name][part])
            del there  # before there are others: of all documents
        return {name: rows.T for name, rows in found.items()}

    def _still(
        self, em: EM, here: Parameters, shared: Floats, priors: Regressions, tolerance: float = _CLOSE
    ) -> Parameters:
        """The documents given the continuation and the priors."""
        at = {**here, CONTINUATION: shared} if CONTINUATION in here else here
        return em.climbed(at, priors, tolerance, FEW_LAPS, still=True).parameters

    def _by_group(self, along: Parameters, grids: Mapping[str, EvidenceGrid], places: Integers) -> Floats:
        """[groups, equations] what each random group of queries contributes to the equations."""
        sessions, found = self.sessions, []
        group = (np.arange(sessions.documents) if sessions.query is None else sessions.query) % _GROUPS
        if self.alone is not None:
            each, here = sessions.group % _GROUPS, self.alone.here
            each_slope, known = np.empty((_GROUPS, len(places))), self.alone.em.counts(here)
            for place in range(_GROUPS):
                tails = SessionTails.of(sessions.where(each == place), by_rank=self.em.model.by_rank)
                won, tried = continuation_trials(self.alone.em, here, tails, known)
                each_slope[place] = (won - here[CONTINUATION] * tried)[places]
            found.append(each_slope)
        for name, grid in grids.items():
            _, scores, _ = evidence_slopes(grid.evidence, self.priors[name], self.em.design(name).take(grid.kept))
            sums = np.zeros((_GROUPS, along[name].shape[1]))
            np.add.at(sums, group[grid.kept], scores @ along[name])
            found.append(sums)
        return np.hstack(found)

    def _weak(self, along: Parameters, places: int) -> Floats:
        """[equations, equations] information of the weak priors of the documents' priors, along their directions."""
        sizes = [places, *(axes.shape[1] for axes in along.values())]
        found, ends = np.zeros((sum(sizes), sum(sizes))), np.cumsum(sizes)
        for (name, axes), begin, end in zip(along.items(), ends, ends[1:], strict=False):
            found[begin:end, begin:end] = axes.T @ self.priors[name].curvature(self.em.design(name)) @ axes
        return found

    def _strength(self, known: Parameters, grids: Mapping[str, EvidenceGrid]) -> dict[str, Floats]:
        """The strength of each entry: what is known of it, and its prior's, less for the doubt of that.

        known: of documents that the priors were learnt from.
        """
        found, betas = (
            dict(known if self.whole is self.em else self.whole.known(self.found)),
            self.whole.betas(self.priors),
        )
        for name, information in found.items():
            prior = np.array(betas[name].strength)
            if name in grids:
                prior[:-1] = self.priors[name].doubted(self.whole.design(name), self._covariance(name, grids[name]))
            np.add(information, prior if betas[name].which is None else prior[betas[name].which], out=information)
        if self.alone is not None:
            found[CONTINUATION] = np.full(len(self.here[CONTINUATION]), UNIFORM.strength)
        return found

    def _covariance(self, name: str, grid: EvidenceGrid) -> Floats:
        """[prior's table, prior's table] of a prior that was learnt."""
        prior, part = self.priors[name], self.em.design(name).take(grid.kept)
        _, scores, _ = evidence_slopes(grid.evidence, prior, part)
        return prior.covariance(part, scores, len(scores))

    def _directions(self, name: str, grid: EvidenceGrid, strength: Floats) -> Floats:
        """[prior's table, few] the directions of a prior's doubt that move documents most, by a standard deviation."""
        prior, part = self.priors[name], self.em.design(name).take(grid.kept)
        values, axes = np.linalg.eigh(self._covariance(name, grid))
        half = axes * np.sqrt(np.maximum(values, 0.0))
        value, total = self.here[name][grid.kept], strength[grid.kept]
        # The mean of a posterior moves with its prior's mean m and strength s by s / total and s (m - value) / total.
        mean = prior.means(part)
        ones = prior.scores(part, (1 - mean) / total, -mean / total)
        rest = prior.scores(part, (1 - value) / total, -value / total)
        moves = np.column_stack([ones[:, : part.rows.shape[1]], rest[:, part.rows.shape[1] :]]) @ half
        moves /= (value * (1 - value))[:, None]
        leading = np.linalg.eigh(moves.T @ moves)[1][:, ::-1][:, :_DIRECTIONS]
        return np.asarray(half @ leading)


def rank_variability(sessions: Sessions) -> float:
    """Variance of the rank of a document, averaged over impressions."""
    total, first, second = sessions.rank_moments()
    return float((second - first**2 / np.maximum(total, 1e-300)).sum() / max(total.sum(), 1e-300))


def moving(sessions: Sessions) -> float:
    """Share of the variance of ranks that is within documents: 1 in random orders, 0 where nothing changes places."""
    shown = sessions.weight @ (sessions.document >= 0)
    rank, total = np.arange(len(shown)), max(float(shown.sum()), 1e-300)
    variance = float(shown @ rank**2 / total - (shown @ rank / total) ** 2)
    return min(rank_variability(sessions) / variance, 1.0) if variance > 0 else 1.0
