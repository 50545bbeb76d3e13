"""Users who read down a list: each model defines how they go on after a click, and its hidden counts.

Good documents are shown high: a common prior of all documents mistakes their attraction for examination. So the prior
of a document depends on its mean logged rank, in its mean and in its strength, and everything is learnt together.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, final

import numpy as np

from ..errors import UsageError
from ..findings import cautions_for
from ..folds.estimate import Caution
from ..log.batch import Floats
from .documents import SlateDocuments
from .fit import _kernels
from .fit.design import Design
from .fit.doubt import reduced, shared
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
        here, priors = em.together(here, priors)
        found = em.climbed(here, priors)
        betas = em.betas(priors)
        unseen = {name: beta.of_unseen.table for name, beta in betas.items()}
        tables = {
            **found.parameters,
            **{_prior(name): table for name, table in unseen.items()},
            **{_regression(name): regression.table for name, regression in priors.items()},
        }
        facts = {_prior(name): table.tolist() for name, table in unseen.items()}
        strength, loadings = {}, {}
        if start is None:
            strength, loadings = em.doubt(found.parameters, priors, sessions)
            cautions = (*cautions, *em.cautions(found.parameters, priors, strength, loadings, sessions))
        return Learnt(tables, strength, found.trace, found.rounds, found.converged, facts, cautions, loadings)

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
        shared, flat = self.model.fixed, {n: _flat(one) for n, one in self.priors.items() if isinstance(one, Design)}
        if start is None:
            here = self._started()
            say = f"{self.model.name}: each document by itself"
            self.say(say)
            here = self.climbed(here, {}, _LOOSE, 60).parameters
            return here, flat
        here = {name: start[name] for name in (*self.model.tables, SHARED) if name in start}
        if shared is not None:
            here[SHARED] = self.given(shared)
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

    def together(self, here: Parameters, priors: Regressions) -> tuple[Parameters, Regressions]:
        """Priors and parameters, fitted alternately to a loose tolerance."""
        for _ in range(_REFITS if priors else 0):
            here = self.climbed(here, priors, _LOOSE, 60).parameters
            before, priors = priors, self.refitted(here, priors)
            self.say(f"{self.model.name}: priors of {', '.join(priors)} fitted")
            if all(np.abs(priors[name].table - before[name].table).max() < _NEAR for name in priors):
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

    def doubt(self, here: Parameters, priors: Regressions, sessions: Sessions) -> tuple[Parameters, Parameters]:
        """(strength, loadings) of all tables: what each entry's own data say, and what all have in common."""
        betas, known = self.betas(priors), self.known(here)
        strength: dict[str, Floats] = {name: known[name] + beta.strength for name, beta in betas.items()}
        grids = self.grids(here, priors)
        along = {name: self._directions(here, strength, grids[name], prior, name) for name, prior in priors.items()}
        learns = SHARED in here and self.model.fixed is None
        places = np.flatnonzero(self.counts(here)[SHARED][1] > 0) if learns else np.empty(0, np.int64)
        ends = np.cumsum([len(places), *(axes.shape[1] for axes in along.values())])
        if learns:
            strength[SHARED] = np.full(len(here[SHARED]), FLAT.strength)
        group = _groups(sessions)
        if not ends[-1] or group is None:
            return strength, {}

        def moved(step: Floats) -> tuple[Parameters, Regressions]:
            at = dict(here)
            if learns:
                at[SHARED] = here[SHARED].copy()
                at[SHARED][places] = expit(logit(here[SHARED][places]) + step[: len(places)])
            parts = zip(along.items(), np.split(step[len(places) :], ends[1:-1] - len(places)), strict=True)
            there = {name: priors[name].moved(priors[name].table + axes @ part) for (name, axes), part in parts}
            return self.climbed(at, there, _STILL, 30, still=True).parameters, there

        def equations(step: Floats) -> tuple[Floats, Parameters]:
            at, there = moved(step)
            found = [self.slopes(at)[places]] if learns else []
            for name, grid in (self.grids(at, there) if there else {}).items():
                scores, rest = grid.scores(there[name], self.design(name))
                found.append((scores.sum(axis=0) + rest) @ along[name])
            return np.concatenate(found), {name: at[name] for name in self.model.tables}

        documents = _groups_of_documents(sessions)
        by_group = np.zeros((_GROUPS, ends[-1]))
        for place in range(_GROUPS if learns else 0):
            part = EM(self.model, Tails.of(sessions.where(group == place), by_rank=self.model.by_rank), {}, silent)
            won, tried = part.counts(here)[SHARED]
            by_group[place, : len(places)] = (won - here[SHARED] * tried)[places]
        for (name, axes), first, last in zip(along.items(), ends[:-1], ends[1:], strict=True):
            scores, _ = grids[name].scores(priors[name], self.design(name))
            np.add.at(by_group[:, first:last], documents[grids[name].kept], scores @ axes)
        information = [1.0 / np.sqrt(np.maximum((tried * (here[SHARED] * (1 - here[SHARED])))[places], 1.0)) * 2 for _, tried in [self.counts(here)[SHARED]]] if learns else []
        steps = np.concatenate([*information, np.ones(ends[-1] - len(places))])
        half, loadings = shared(equations, by_group, steps)
        if learns:
            loadings[SHARED] = np.zeros((len(here[SHARED]), len(steps)))
            loadings[SHARED][places] = half[: len(places)]
            strength[SHARED][places] = 1e9
        return reduced(loadings, here, strength)

    def _directions(
        self, here: Parameters, strength: Parameters, grid: EvidenceGrid, prior: PriorRegression, name: str
    ) -> Floats:
        """[prior's table, few] the directions of a prior's doubt that move documents most, one standard deviation each."""
        design = self.design(name)
        part = design.take(grid.kept)
        scores, _ = grid.scores(prior, design)
        values, axes = np.linalg.eigh(prior.covariance(part, scores, len(scores)))
        half = axes * np.sqrt(np.maximum(values, 0.0))
        value, total = here[name][grid.kept], strength[name][grid.kept]
        # The mean of a posterior moves with its prior's mean m and strength s by s / total and s (m - value) / total.
        mean, own = prior.means(part), prior.strengths(part)
        ones = prior.scores(part, (1 - mean) / total, -mean / total)
        rest = prior.scores(part, (1 - value) / total, -value / total)
        moves = np.column_stack([ones[:, : part.rows.shape[1]], rest[:, part.rows.shape[1] :]]) @ half
        moves /= (value * (1 - value))[:, None]
        leading = np.linalg.eigh(moves.T @ moves)[1][:, ::-1][:, :_DIRECTIONS]
        return np.asarray(half @ leading)

    def cautions(self, here, priors, strength, loadings, sessions):
        return ()

    def _expect(self, here: Parameters) -> HiddenCounts:
        return self.tails.expect(here["attraction"], *self.model.going_on(here))


_GROUPS = 32
_DIRECTIONS = 2
_STILL = 1e-4


def _keys(sessions):
    document = np.arange(sessions.documents)
    return document if sessions.query is None else sessions.query


def _groups_of_documents(sessions: Sessions):
    """[documents] the random group of each document's query; of the document where there are no queries."""
    return _keys(sessions) % _GROUPS


def _groups(sessions: Sessions):
    first = sessions.document[np.arange(len(sessions)), (sessions.document >= 0).argmax(axis=1)]
    return np.where(first >= 0, _groups_of_documents(sessions)[first], 0)


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
