"""Users who read down a list: each model defines how they go on after a click, and its hidden counts.

Where good documents are shown high, a common prior of all documents mistakes their attraction for examination. So
the continuation, which all sessions share, is learnt with a weak prior on each document.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from ..findings import cautions_for
from ..findings.evidence_clicks import OfFit
from ..findings.examination_unknown import ERROR, RESTLESS
from ..folds.estimate import Caution
from ..log.batch import Floats
from .documents import SlateDocuments
from .fit import _kernels
from .fit.design import Design
from .fit.em import Climb, climb, expit, logit
from .fit.priors import FLAT, Beta, EvidenceGrid, PriorRegression
from .fit.tails import HiddenCounts, Second, Tails, Trials
from .laws import Cascading, ClickLaw
from .learnt import Learnt
from .model import ClickModel, Say, of_documents, of_ranks, silent
from .parameters import Parameters, Role, Roles
from .sessions import Sessions

Priors = Mapping[str, Beta]
"""The prior of each table of documents."""

_WEAK = Beta(0.2, 0.8)
"""Prior of a document while the continuation is learnt: equivalent to one impression."""
_LOOSE = 1e-3
_REFITS = 20
_ROUNDS = 2000
_SHARED = "continuation"


@dataclass(frozen=True, repr=False, kw_only=True)
class Chain(ClickModel):
    """A user who examines the first result, clicks it with its attraction, and then goes on or stops.

    Tables: `attraction` [documents + 1]; `continuation` [few], with a uniform prior; where the model has it,
    `satisfaction` [documents + 1]. Beta priors of the documents' tables are fitted by marginal likelihood (see
    `EvidenceGrid`) and stand beside them as `attraction_prior` (alpha, beta). The mode is that of the posterior on
    the logit scale, which for counts is the posterior mean. The `continuation` is learnt without that prior, which
    would mistake what a logging policy knows of the documents for examination; the documents' tables follow, given it.

    tolerance: learning stops when no probability changes by more than this in one step.
    """

    tolerance: float = 1e-5

    by_rank: ClassVar[bool] = False
    """Whether the continuation after a click depends on its rank instead of the document."""
    tables: ClassVar[tuple[str, ...]] = ("attraction",)
    begin: ClassVar[tuple[float, ...]] = ()
    """The continuation from which EM starts (one number for all ranks); empty where the model has no such table."""

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
        return found if shared is None else {**found, _SHARED: shared}

    @final
    def roles(self) -> Roles:
        shared = {_SHARED: Role.RANK if self.by_rank else Role.SHARED} if self.begin else {}
        priors = dict.fromkeys(map(_prior, self.tables), Role.PRIOR)
        return {**dict.fromkeys(self.tables, Role.DOCUMENT), **shared, **priors}

    @final
    def law(self, parameters: Parameters, slots: SlateDocuments) -> ClickLaw:
        (after_click, after_skip), (n, k) = self.going_on(parameters), slots.document.shape
        clicked = np.tile(of_ranks(after_click, k), (n, 1)) if self.by_rank else of_documents(after_click, slots)
        return Cascading(of_documents(parameters["attraction"], slots), clicked, np.full((n, k), float(after_skip)))

    @final
    def learn(self, data: Sessions, *, start: Parameters | None = None, say: Say = silent) -> Learnt:
        """Learn all tables under common priors, then the continuation alone, then the documents given it."""
        sessions, cautions = self.readable(data)
        em = EM(self, Tails.of(sessions, by_rank=self.by_rank), say)
        if start is None:
            here, priors = em.together(em.start(), dict.fromkeys(self.tables, FLAT))
        else:
            here = {name: table for name, table in start.items() if self.roles()[name] is not Role.PRIOR}
            priors = {name: Beta.at(start[_prior(name)]) for name in self.tables}
        strength: Parameters = {}
        if self.begin:
            say(f"{self.name}: how far users read, each document by itself")
            alone = em.climbed(here, em.weak).parameters
            if start is None:
                strength, unknown = _inference(em, alone, here, restlessness(sessions))
                cautions = (*cautions, *unknown)
            here = {**here, _SHARED: alone[_SHARED]}
        fixed = (_SHARED,) if self.begin else ()
        if fixed or start is not None:
            here, priors = em.together(here, priors, fixed)
        found = em.climbed(here, priors, fixed)
        if start is None:
            known = em.known(found.parameters)
            strength = {**{name: known[name] + priors[name].strength for name in self.tables}, **strength}
        facts = {_prior(name): [prior.a, prior.b] for name, prior in priors.items()}
        tables = {**found.parameters, **{name: np.array(prior) for name, prior in facts.items()}}
        return Learnt(tables, strength, found.trace, found.rounds, found.converged, facts, cautions)


@dataclass(frozen=True)
class EM:
    """Maximum a posteriori estimation of a model from its tails, under given priors."""

    model: Chain
    tails: Tails
    say: Say

    @property
    def weak(self) -> Priors:
        return dict.fromkeys(self.model.tables, _WEAK)

    def start(self) -> Parameters:
        """Initial values: click rates, with half of the impressions below last clicks; half of the clicks satisfy."""
        tails, model, shown = self.tails, self.model, self.tails.clicked + self.tails.skipped
        weight, items = np.repeat(tails.weight, np.diff(tails.first)), tails.document >= 0
        shown = shown + np.bincount(tails.document[items], weight[items], len(shown)) / 2
        rate = float((tails.clicked.sum() + 1.0) / (shown.sum() + 2.0))
        here = {name: np.full(len(shown), 0.5) for name in model.tables}
        here["attraction"] = Beta(2 * rate, 2 - 2 * rate).posterior_mean(tails.clicked, shown)
        if model.begin:
            here[_SHARED] = np.resize(model.begin, tails.ranks if model.by_rank else len(model.begin))
        return here

    def climbed(
        self,
        here: Parameters,
        priors: Priors,
        fixed: tuple[str, ...] = (),
        tolerance: float | None = None,
        rounds: int = _ROUNDS,
    ) -> Climb:
        """The posterior mode under these priors (FLAT where there is none); `fixed` tables are not changed."""
        kept = {name: here[name] for name in fixed}

        def step(at: Parameters) -> tuple[Parameters, float]:
            hidden = self._expect(at)
            counts = self.model.counts(at, hidden)
            after = {name: priors.get(name, FLAT).posterior_mean(*counts[name]) for name in at}
            prior = sum(priors.get(name, FLAT).log_density(table) for name, table in at.items())
            return {**after, **kept}, hidden.log_likelihood + prior

        def tell(log_posterior: float) -> None:
            self.say(f"{self.model.name}: log-posterior {log_posterior:.8g}")

        return climb(step, here, tolerance=tolerance or self.model.tolerance, rounds=rounds, say=tell)

    def together(self, here: Parameters, priors: Priors, fixed: tuple[str, ...] = ()) -> tuple[Parameters, Priors]:
        """Priors and parameters, fitted alternately to a loose tolerance."""
        for _ in range(_REFITS):
            here = self.climbed(here, priors, fixed, _LOOSE, 60).parameters
            before, priors = priors, self.refitted(here, priors)
            self.say(f"{self.model.name}: prior of " + ", ".join(f"{name} {priors[name]}" for name in priors))
            if all(priors[name].is_near(before[name]) for name in priors):
                break
        return here, priors

    def known(self, here: Parameters) -> dict[str, Floats]:
        """[documents + 1] effective observations behind each entry, without the prior, by the diagonal information.

        The observed information is that of the complete data less the posterior variance of their score
        (Louis 1982). On the logit scale n observations of a probability p have information n p (1 - p).
        """
        found = {name: np.zeros(len(here[name])) for name in self.model.tables}
        for name, trials in self.trials(here):
            _kernels.add_information(*trials, here[name], found[name])
        return {name: np.maximum(information, 0.0) for name, information in found.items()}

    def refitted(self, here: Parameters, priors: Priors) -> Priors:
        """The priors with the largest marginal likelihood at these parameters."""
        known = self.known(here)
        grids = {name: EvidenceGrid.around(here[name], known[name] + priors[name].strength) for name in priors}
        for name, trials in self.trials(here):
            grids[name].add(trials)
        common = Design.common(len(self.tails.clicked) - 1)
        found = {name: grid.fit(PriorRegression.of(priors[name]), common) for name, grid in grids.items()}
        return {name: prior.betas(common).of_unseen for name, prior in found.items()}

    def trials(self, here: Parameters) -> Iterator[tuple[str, Trials]]:
        """All trials of each table of documents, with their posterior probabilities."""
        return self.tails.trials(here["attraction"], *self.model.going_on(here), self.model.second(here))

    def counts(self, here: Parameters) -> Mapping[str, tuple[Floats, Floats]]:
        """Expected counts of complete data."""
        return self.model.counts(here, self._expect(here))

    def _expect(self, here: Parameters) -> HiddenCounts:
        return self.tails.expect(here["attraction"], *self.model.going_on(here))


def restlessness(sessions: Sessions) -> float:
    """Variance of the rank of a document, averaged over impressions."""
    document, shown = sessions.document, sessions.document >= 0
    weight = np.broadcast_to(sessions.weight[:, None], document.shape)[shown]
    rank = np.broadcast_to(np.arange(document.shape[1], dtype=np.float64), document.shape)[shown]
    total, first, second = (np.bincount(document[shown], weight * rank**power) for power in range(3))
    return float((second - first**2 / np.maximum(total, 1e-300)).sum() / max(weight.sum(), 1e-300))


def _inference(em: EM, alone: Parameters, pooled: Parameters, moved: float) -> tuple[Parameters, tuple[Caution, ...]]:
    """The effective sample size of the continuation, and whether the log identifies it. moved: see `restlessness`.

    The interval covers the sampling error and the sensitivity to the prior of the documents: neither a
    weak prior nor a common one is right, and the distance between their results measures their bias.
    """
    value, tried = alone[_SHARED], em.counts(alone)[_SHARED][1]
    spread = value * (1.0 - value)
    error = 1.0 / np.sqrt(_known(em, alone, tried) * spread)
    room = (error + ERROR * (moved < RESTLESS)) ** 2 + (logit(value) - logit(pooled[_SHARED])) ** 2
    strength = np.maximum(1.0 / (room * spread) - 1.0, 1.0)
    largest = float(error[tried > 0].max(initial=0.0))
    return {_SHARED: strength}, cautions_for(OfFit(error=largest, restlessness=moved))


def _known(em: EM, here: Parameters, tried: Floats) -> Floats:
    """[few] effective observations behind the continuation, from its profile likelihood over all documents.

    For the profile's information each entry is moved a little, the documents are refitted, and all scores are taken.
    """
    places, strength = np.flatnonzero(tried > 0), np.full(len(tried), FLAT.strength)
    value, most = here[_SHARED][places], tried[places] + FLAT.strength
    rest, information = _scores(em, here)[places], np.empty((len(places), len(places)))
    for row, place in enumerate(places):
        shift = 2.0 / np.sqrt(max(most[row] * value[row] * (1 - value[row]), 1.0))
        moved = here[_SHARED].copy()
        moved[place] = expit(logit(value[row]) + shift)
        there = em.climbed({**here, _SHARED: moved}, em.weak, (_SHARED,), 1e-5, 30).parameters
        information[row] = (rest - _scores(em, there)[places]) / shift
    variance = np.diag(np.linalg.pinv((information + information.T) / 2))
    known = np.divide(1.0, variance * value * (1 - value), out=most.copy(), where=variance > 0)
    strength[places] = np.minimum(known, most)
    return strength


def _scores(em: EM, here: Parameters) -> Floats:
    """[few] derivatives of the log-posterior with respect to the logits of the continuation."""
    won, tried = em.counts(here)[_SHARED]
    return np.asarray(won + FLAT.a - here[_SHARED] * (tried + FLAT.strength))


def _prior(table: str) -> str:
    """The name of a table's prior."""
    return f"{table}_prior"
