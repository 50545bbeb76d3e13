"""Users who read down a list: each model defines how they go on after a click, and its hidden counts.

Good documents are shown high: a common prior of all documents mistakes their attraction for examination. So the prior
of a document depends on its mean logged rank, in its mean and in its strength, and everything is learnt together.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Literal, final

import numpy as np

from ..errors import UsageError
from ..findings import cautions_for
from ..findings.evidence_clicks import OfFit
from ..folds.estimate import Caution
from ..log.batch import Floats, Integers
from .documents import SlateDocuments
from .fit import _kernels
from .fit.design import Design
from .fit.doubt import Equations, reduced, shared
from .fit.em import Climb, climb, expit, logit
from .fit.priors import FLAT, Beta, EvidenceGrid, Prior, PriorRegression, given
from .fit.tails import HiddenCounts, Second, Tails, Trials
from .laws import Cascading, ClickLaw
from .learnt import Learnt
from .model import ClickModel, Say, of_documents, of_ranks, silent
from .parameters import Parameters, Role, Roles
from .sessions import Sessions

Priors = Mapping[str, Beta]
"""The prior of each table of documents."""
Continuation = Literal["fit"] | float | tuple[float, ...]
"""How users go on: learnt, or given."""

Designs = Mapping[str, Design | Beta]
"""Of each table of documents: what its priors depend on, or its given prior."""
Regressions = Mapping[str, PriorRegression]
"""The fitted priors of each table."""

_WEAK = Beta(0.2, 0.8)
"""Prior of a document where learning begins: equivalent to one impression."""
_FAINT = 2.0
"""Strength of a document's prior while the continuation is learnt. Benchmark continuation.py: 1 and 4 have more bias."""
_FIRST = 4
"""Fits of the means of these priors."""
_GROUPS = 32
"""Random groups of queries whose differences tell the variance of what is learnt from all."""
_DIRECTIONS = 2
"""Directions of a table's priors whose doubt is followed to documents."""
_STEP = 2.0
"""Size of the steps for derivatives, in standard errors."""
_SURE = 1e9
"""Strength of what has no doubt beside its loadings."""
_FEW = 30
_TIGHT = 1e-4
_LOOSE = 1e-3
_NEAR = 0.03
"""Change of a prior's logits, and logarithms of its strengths, below which fits of priors and tables have settled."""
_KNOTS = 5
_REFITS = 20
_ROUNDS = 2000
SHARED = "continuation"


@dataclass(frozen=True, repr=False, kw_only=True)
class Chain(ClickModel):
    """A user who examines the first result, clicks it with its attraction, and then goes on or stops.

    Tables: `attraction` [documents + 1]; `continuation` [few], with a uniform prior; where the model has it,
    `satisfaction` [documents + 1]. A document's Beta prior depends on its mean logged rank, in its mean and in its
    strength; it is fitted by marginal likelihood (see `EvidenceGrid`). Beside each table of documents stand the
    prior of an unseen document (`attraction_prior`) and the regression (`attraction_regression`). The mode is that of
    the posterior on the logit scale, which for counts is the posterior mean.

    tolerance: learning stops when no probability changes by more than this in one step. prior: of the tables of
    documents: "fit", "common" (fitted, and the same for all of them), or (a, b).
    """

    tolerance: float = 1e-5
    prior: Prior = "fit"

    by_rank: ClassVar[bool] = False
    """Whether the continuation after a click depends on its rank instead of the document."""
    tables: ClassVar[tuple[str, ...]] = ("attraction",)
    begin: ClassVar[tuple[float, ...]] = ()
    """The continuation from which EM starts (one number for all ranks); empty where the model has no such table."""

    def __post_init__(self) -> None:
        given(self.prior)

    @property
    def fixed(self) -> tuple[float, ...] | None:
        """The continuation that was given; None where it is learnt."""
        return None

    @abstractmethod
    def going_on(self, parameters: Parameters) -> tuple[Floats, float]:
        """P(examine the next rank | clicked) of each document or rank, and P(examine the next rank | skipped)."""

    def second(self, parameters: Parameters) -> Second | None:
        """The trial that each click implies in addition to that of the attraction."""
        return None

    def continued(self, parameters: Parameters, hidden: HiddenCounts) -> tuple[Floats, Floats] | None:
        """[few] expected (successes, trials) of the continuation, if there is one; the M-step takes their ratios."""
        return None

    def readable(self, sessions: Sessions) -> tuple[Sessions, tuple[Caution, ...]]:
        """The sessions that the model can learn from, and cautions about what was left out."""
        return sessions, ()

    @final
    def counts(self, parameters: Parameters, hidden: HiddenCounts) -> dict[str, tuple[Floats, Floats]]:
        """Table -> expected (successes, trials) of complete data."""
        nothing = np.zeros(len(hidden.clicked))
        found = dict.fromkeys(self.tables, (nothing, nothing))
        found["attraction"] = (hidden.clicked, hidden.clicked + hidden.missed)
        if second := self.second(parameters):
            won, tried = found[second.table]
            won = won + hidden.on * second.went + hidden.off * second.stopped
            found[second.table] = (won, tried + hidden.on + hidden.off)
        shared = self.continued(parameters, hidden)
        return found if shared is None else {**found, SHARED: shared}

    @final
    def roles(self) -> Roles:
        shared = {SHARED: Role.RANK if self.by_rank else Role.SHARED} if self.begin else {}
        priors = {_prior(name): Role.PRIOR for name in self.tables}
        regressions = {_regression(name): Role.REGRESSION for name in self.tables}
        return {**dict.fromkeys(self.tables, Role.DOCUMENT), **shared, **priors, **regressions}

    @final
    def law(self, parameters: Parameters, slots: SlateDocuments) -> ClickLaw:
        (after_click, after_skip), (n, k) = self.going_on(parameters), slots.document.shape
        clicked = np.tile(of_ranks(after_click, k), (n, 1)) if self.by_rank else of_documents(after_click, slots)
        return Cascading(of_documents(parameters["attraction"], slots), clicked, np.full((n, k), float(after_skip)))

    @final
    def learn(self, data: Sessions, *, start: Parameters | None = None, say: Say = silent) -> Learnt:
        """Learn all tables and the priors of the documents together."""
        sessions, cautions = self.readable(data)
        em = EM(self, Tails.of(sessions, by_rank=self.by_rank), self._priors(sessions), say)
        here, priors = em.begun(start)
        alone = None
        if self.begin and self.fixed is None and priors:
            alone = em.alone(here, priors)
            here = {**here, SHARED: alone.here[SHARED]}
        here, priors = em.together(here, priors, still=alone is not None)
        found = em.climbed(here, priors, still=alone is not None)
        unseen = {name: beta.of_unseen.table for name, beta in em.betas(priors).items()}
        fitted = {_regression(name): em.regression(name, priors).table for name in self.tables}
        tables = {**found.parameters, **{_prior(name): table for name, table in unseen.items()}, **fitted}
        facts = {_prior(name): table.tolist() for name, table in unseen.items()}
        learnt = Learnt(tables, {}, found.trace, found.rounds, found.converged, facts, cautions)
        return learnt if start is not None else Doubt(em, sessions, found.parameters, priors, alone).of(learnt)

    def _priors(self, sessions: Sessions) -> Designs:
        """What the prior of each table of documents depends on, or the prior that was given."""
        common = Design.common(sessions.documents) if self.prior == "common" else None
        one = given(self.prior) or common or Design.of_ranks(sessions.mean_rank(), _KNOTS)
        return dict.fromkeys(self.tables, one)


@dataclass(frozen=True)
class EM:
    """Maximum a posteriori estimation of a model from its tails.

    priors: of each table of documents, the design of the prior to be fitted, or the prior that was given.
    """

    model: Chain
    tails: Tails
    priors: Designs
    say: Say

    def begun(self, start: Parameters | None) -> tuple[Parameters, Regressions]:
        """Initial values of all tables, and of the priors to be fitted: those of `start` where they fit."""
        flat = {n: _flat(one) for n, one in self.priors.items() if isinstance(one, Design)}
        if start is None:
            return self._started(), flat
        here = {name: start[name] for name in (*self.model.tables, SHARED) if name in start}
        before = {n: one.moved(start[_regression(n)]) for n, one in flat.items() if _fits(one, start[_regression(n)])}
        return here, {**flat, **before}

    def given(self, continuation: tuple[float, ...]) -> Floats:
        """The table of a given continuation; one number for all ranks is repeated."""
        few = self.tails.ranks if self.model.by_rank else len(continuation)
        return np.asarray(continuation, np.float64)[np.minimum(np.arange(few), len(continuation) - 1)]

    def _started(self) -> Parameters:
        """Initial values: click rates, with half of the impressions below last clicks; half of the clicks satisfy."""
        tails, model, shown = self.tails, self.model, self.tails.clicked + self.tails.skipped
        weight, items = np.repeat(tails.weight, np.diff(tails.first)), tails.document >= 0
        shown = shown + np.bincount(tails.document[items], weight[items], len(shown)) / 2
        rate = float((tails.clicked.sum() + 1.0) / (shown.sum() + 2.0))
        here = {name: np.full(len(shown), 0.5) for name in model.tables}
        here["attraction"] = Beta(2 * rate, 2 - 2 * rate).posterior_mean(tails.clicked, shown)
        if model.begin:
            here[SHARED] = self.given(model.fixed or model.begin)
        return here

    def betas(self, priors: Regressions) -> dict[str, Beta]:
        """The prior of each document, by table; a weak one for all where `priors` is empty."""
        found = {}
        for name, one in self.priors.items():
            if isinstance(one, Beta):
                found[name] = one
            else:
                found[name] = priors[name].betas(one) if name in priors else _WEAK
        return found

    def climbed(
        self,
        here: Parameters,
        priors: Regressions,
        tolerance: float | None = None,
        rounds: int = _ROUNDS,
        *,
        still: bool = False,
    ) -> Climb:
        """The posterior mode under these priors; still: the continuation is not changed."""
        kept = {SHARED: here[SHARED]} if SHARED in here and (still or self.model.fixed is not None) else {}
        betas = self.betas(priors)

        def step(at: Parameters) -> tuple[Parameters, float]:
            hidden = self._expect(at)
            counts = self.model.counts(at, hidden)
            after = {name: betas.get(name, FLAT).posterior_mean(*counts[name]) for name in at}
            prior = sum(betas.get(name, FLAT).log_density(table) for name, table in at.items())
            return {**after, **kept}, hidden.log_likelihood + prior

        def tell(log_posterior: float) -> None:
            self.say(f"{self.model.name}: log-posterior {log_posterior:.8g}")

        return climb(step, here, tolerance=tolerance or self.model.tolerance, rounds=rounds, say=tell)

    def alone(self, here: Parameters, priors: Regressions) -> Alone:
        """The continuation, learnt with a weak prior of each document around the mean of those at its logged ranks.

        A prior of its true strength would mistake what ranks say of documents for examination wherever it is not quite
        right; a weak one with another mean has a larger bias. First, the means are fitted to documents by themselves.
        """
        self.say(f"{self.model.name}: how far users read")
        here = self.climbed(here, {}, _TIGHT).parameters
        _, priors = self.together(here, priors, _FIRST, still=True)
        means = {name: np.asarray(beta.mean) for name, beta in self.betas(priors).items()}
        weak = {name: Beta(_FAINT * mean, _FAINT * (1 - mean)) for name, mean in means.items()}
        em = EM(self.model, self.tails, weak, self.say)
        return Alone(em, em.climbed(here, {}).parameters)

    def together(
        self, here: Parameters, priors: Regressions, rounds: int = _REFITS, *, still: bool = False
    ) -> tuple[Parameters, Regressions]:
        """Priors and parameters, fitted alternately to a loose tolerance; still: the continuation is not changed."""
        for _ in range(rounds if priors else 0):
            here = self.climbed(here, priors, _LOOSE, 60, still=still).parameters
            before, priors = priors, self.refitted(here, priors)
            self.say(f"{self.model.name}: priors of {', '.join(priors)} fitted")
            if all(np.abs(priors[name].table - before[name].table).max() < _NEAR for name in priors):
                break
        return here, priors

    def common(self, here: Parameters) -> Floats:
        """[few] the continuation under a prior that all documents share, learnt together from here."""
        everywhere = Design.common(len(self.tails.clicked) - 1)
        em = EM(self.model, self.tails, dict.fromkeys(self.model.tables, everywhere), silent)
        here, priors = em.together(here, {name: _flat(everywhere) for name in self.model.tables}, _FIRST)
        return np.asarray(em.climbed(here, priors, _TIGHT).parameters[SHARED])

    def regression(self, table: str, priors: Regressions) -> PriorRegression:
        """The regression of a table's priors; of a given prior, that of one coefficient."""
        one = self.priors[table]
        return PriorRegression.of(one) if isinstance(one, Beta) else priors[table]

    def known(self, here: Parameters) -> dict[str, Floats]:
        """[documents + 1] effective observations behind each entry, without the prior, by the diagonal information.

        The observed information is that of the complete data less the posterior variance of their score
        (Louis 1982). On the logit scale n observations of a probability p have information n p (1 - p).
        """
        found = {name: np.zeros(len(here[name])) for name in self.model.tables}
        for name, trials in self.trials(here):
            _kernels.add_information(*trials, here[name], found[name])
        return {name: np.maximum(information, 0.0) for name, information in found.items()}

    def grids(self, here: Parameters, priors: Regressions) -> dict[str, EvidenceGrid]:
        """The likelihoods of the documents of each table whose priors are fitted."""
        known, betas = self.known(here), self.betas(priors)
        grids = {name: EvidenceGrid.around(here[name], known[name] + betas[name].strength) for name in priors}
        for name, trials in self.trials(here):
            if name in grids:
                grids[name].add(trials)
        return grids

    def refitted(self, here: Parameters, priors: Regressions) -> Regressions:
        """The priors with the largest marginal likelihood at these parameters."""
        grids = self.grids(here, priors)
        return {name: grids[name].fit(prior, self.design(name)) for name, prior in priors.items()}

    def design(self, table: str) -> Design:
        """What the priors of a table depend on."""
        found = self.priors[table]
        assert isinstance(found, Design)
        return found

    def trials(self, here: Parameters) -> Iterator[tuple[str, Trials]]:
        """All trials of each table of documents, with their posterior probabilities."""
        return self.tails.trials(here["attraction"], *self.model.going_on(here), self.model.second(here))

    def counts(self, here: Parameters) -> Mapping[str, tuple[Floats, Floats]]:
        """Expected counts of complete data."""
        return self.model.counts(here, self._expect(here))

    def slopes(self, here: Parameters) -> Floats:
        """[few] derivatives of the log-posterior with respect to the logits of the continuation."""
        won, tried = self.counts(here)[SHARED]
        return np.asarray(won + FLAT.a - here[SHARED] * (tried + FLAT.strength))

    def _expect(self, here: Parameters) -> HiddenCounts:
        return self.tails.expect(here["attraction"], *self.model.going_on(here))

@dataclass(frozen=True)
class Alone:
    """The learning of the continuation with weak priors: em, and the tables that it found."""

    em: EM
    here: Parameters


@dataclass(frozen=True)
class Doubt:
    """What all documents have in common: the doubt of the continuation and of their priors, see `fit.doubt`.

    here: all tables, learnt by em under priors. alone: how the continuation was learnt, None where it was not.
    """

    em: EM
    sessions: Sessions
    here: Parameters
    priors: Regressions
    alone: Alone | None

    def of(self, learnt: Learnt) -> Learnt:
        """The same with its strength, loadings and cautions."""
        em, here, betas, known = self.em, self.here, self.em.betas(self.priors), self.em.known(self.here)
        strength = {name: known[name] + beta.strength for name, beta in betas.items()}
        grids = em.grids(here, self.priors)
        along = {name: self._directions(name, grid, strength[name]) for name, grid in grids.items()}
        places = np.flatnonzero(self._tried > 0)
        ends = np.cumsum([len(places), *(axes.shape[1] for axes in along.values())])
        if self.em.model.begin:
            strength[SHARED] = np.full(len(here[SHARED]), FLAT.strength)
        if not ends[-1]:
            return replace(learnt, strength=strength)
        steps, bend = np.ones(ends[-1]), self._bend
        steps[: len(places)] = _STEP / np.sqrt(np.maximum(self._tried * here[SHARED] * (1 - here[SHARED]), 1.0))[places]
        between = np.append(bend[places] / 2, np.zeros(ends[-1] - len(places)))
        half, loadings = shared(self._equations(along, places, ends), self._by_group(along, grids, places), steps, between)
        if len(places):
            loadings[SHARED] = np.zeros((len(here[SHARED]), len(steps)))
            loadings[SHARED][places] = half[: len(places)]
            strength[SHARED][places] = _SURE
        error = float(np.sqrt((half[: len(places)] ** 2).sum(axis=1)).max(initial=0.0))
        found = cautions_for(OfFit(error=error, bend=0.0, restlessness=restlessness(self.sessions) if len(places) else np.inf))
        strength, loadings = reduced(loadings, here, strength)
        return replace(learnt, strength=strength, loadings=loadings, cautions=(*learnt.cautions, *found))

    @cached_property
    def _tried(self) -> Floats:
        """[few] expected trials of the continuation, 0 where it is not learnt."""
        return np.empty(0) if self.alone is None else self.alone.em.counts(self.alone.here)[SHARED][1]

    @cached_property
    def _bend(self) -> Floats:
        """[few] how much larger the continuation is, in logits, than under a prior that all documents share."""
        if self.alone is None:
            return np.empty(0)
        return np.asarray(logit(self.here[SHARED]) - logit(self.em.common(self.alone.here)))

    def _equations(self, along: Parameters, places: Integers, ends: Integers) -> Equations:
        """The slopes of the continuation and of the directions of the priors, where these are moved."""

        def equations(step: Floats) -> tuple[Floats, Parameters]:
            found, at = [], dict(self.here)
            if self.alone is not None:
                at[SHARED] = self.here[SHARED].copy()
                at[SHARED][places] = expit(logit(at[SHARED][places]) + step[: len(places)])
                weak = {**self.alone.here, SHARED: at[SHARED]}
                weak = self.alone.em.climbed(weak, {}, _TIGHT, _FEW, still=True).parameters
                found.append(self.alone.em.slopes(weak)[places])
            parts = zip(along.items(), np.split(step[len(places) :], ends[1:-1] - len(places)), strict=True)
            there = {name: self.priors[name].moved(self.priors[name].table + axes @ part) for (name, axes), part in parts}
            at = dict(self.em.climbed(at, there, _TIGHT, _FEW, still=True).parameters)
            for name, grid in self.em.grids(at, there).items():
                scores, rest = grid.scores(there[name], self.em.design(name))
                found.append((scores.sum(axis=0) + rest) @ along[name])
            return np.concatenate(found), {name: at[name] for name in self.em.model.tables}

        return equations

    def _by_group(self, along: Parameters, grids: Mapping[str, EvidenceGrid], places: Integers) -> Floats:
        """[groups, equations] what each random group of queries contributes to the equations."""
        sessions, found = self.sessions, []
        group = (np.arange(sessions.documents) if sessions.query is None else sessions.query) % _GROUPS
        if self.alone is not None:
            first = sessions.document[np.arange(len(sessions)), (sessions.document >= 0).argmax(axis=1)]
            each, here = np.where(first >= 0, group[first], 0), self.alone.here
            slopes = np.empty((_GROUPS, len(places)))
            for place in range(_GROUPS):
                tails = Tails.of(sessions.where(each == place), by_rank=self.em.model.by_rank)
                won, tried = EM(self.em.model, tails, {}, silent).counts(here)[SHARED]
                slopes[place] = (won - here[SHARED] * tried)[places]
            found.append(slopes)
        for name, grid in grids.items():
            scores, _ = grid.scores(self.priors[name], self.em.design(name))
            sums = np.zeros((_GROUPS, along[name].shape[1]))
            np.add.at(sums, group[grid.kept], scores @ along[name])
            found.append(sums)
        return np.hstack(found)

    def _directions(self, name: str, grid: EvidenceGrid, strength: Floats) -> Floats:
        """[prior's table, few] the directions of a prior's doubt that move documents most, a standard deviation each."""
        design, prior = self.em.design(name), self.priors[name]
        part = design.take(grid.kept)
        scores, _ = grid.scores(prior, design)
        values, axes = np.linalg.eigh(prior.covariance(part, scores, len(scores)))
        half = axes * np.sqrt(np.maximum(values, 0.0))
        value, total = self.here[name][grid.kept], strength[grid.kept]
        # The mean of a posterior moves with its prior's mean m and strength s by s / total and s (m - value) / total.
        mean, own = prior.means(part), prior.strengths(part)
        ones = prior.scores(part, (1 - mean) / total, -mean / total)
        rest = prior.scores(part, (1 - value) / total, -value / total)
        moves = np.column_stack([ones[:, : part.rows.shape[1]], rest[:, part.rows.shape[1] :]]) @ half
        moves /= (value * (1 - value))[:, None]
        leading = np.linalg.eigh(moves.T @ moves)[1][:, ::-1][:, :_DIRECTIONS]
        return np.asarray(half @ leading)


def restlessness(sessions: Sessions) -> float:
    """Variance of the rank of a document, averaged over impressions."""
    document, shown = sessions.document, sessions.document >= 0
    weight = np.broadcast_to(sessions.weight[:, None], document.shape)[shown]
    rank = np.broadcast_to(np.arange(document.shape[1], dtype=np.float64), document.shape)[shown]
    total, first, second = (np.bincount(document[shown], weight * rank**power) for power in range(3))
    return float((second - first**2 / np.maximum(total, 1e-300)).sum() / max(weight.sum(), 1e-300))


def _flat(design: Design) -> PriorRegression:
    return PriorRegression.flat(design, 0.2, 4.0, by_knot=True)


def _fits(prior: PriorRegression, table: Floats) -> bool:
    """Whether a stored regression is of the same design."""
    return len(table) == len(prior.table)


def _prior(table: str) -> str:
    """The name of the prior of an unseen document."""
    return f"{table}_prior"


def _regression(table: str) -> str:
    """The name of the regression of a table's priors."""
    return f"{table}_regression"
