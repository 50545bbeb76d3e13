"""Users who read down a list: each model defines how they go on after a click, and its hidden counts.

Good documents are shown high: a common prior of all documents mistakes their attraction for examination. So the prior
of a document depends on its mean logged rank, in its mean and in its strength; and how far users read is learnt with
weak priors, see `ContinuationFit`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, final

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..language import Say, silent
from ..log.batch import Integers
from ..sums.estimate import Caution
from .base import FitResult, Parameters, Role, Roles, prior_name, regression_name
from .chain_uncertainty import SharedUncertainty
from .documents import SlateDocuments
from .fit.chain_em import CONTINUATION, EM, CascadeSpec, Designs
from .fit.compressed_sessions import ManyTails, SessionTails
from .fit.continuation import ContinuationFit
from .fit.design import PriorDesign
from .fit.priors import Prior, given
from .laws import Cascading, ClickLaw
from .model import FromFeatures, SessionModel, of_documents, of_ranks
from .sessions import MOST_FOR_PRIORS, Sessions, sample_queries

Continuation = Literal["fit"] | float | tuple[float, ...]
"""How users go on: learnt ("fit"), or given."""

_KNOTS = 5


@dataclass(frozen=True, repr=False, kw_only=True)
class Chain(CascadeSpec, FromFeatures, SessionModel):
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

    def __post_init__(self) -> None:
        super().__post_init__()
        given(self.prior)

    def readable(self, sessions: Sessions) -> tuple[Sessions, tuple[Caution, ...]]:
        """The sessions that the model can learn from, and cautions about what was left out."""
        return sessions, ()

    @final
    def roles(self) -> Roles:
        shared = {CONTINUATION: Role.RANK if self.by_rank else Role.SHARED} if self.begin else {}
        priors = {prior_name(name): Role.PRIOR for name in self.tables}
        regressions = {regression_name(name): Role.REGRESSION for name in self.tables}
        return {**dict.fromkeys(self.tables, Role.DOCUMENT), **shared, **priors, **regressions}

    @final
    def law(self, parameters: Parameters, slots: SlateDocuments) -> ClickLaw:
        (after_click, after_skip), (n, k) = self.going_on(parameters), slots.document.shape
        clicked = np.tile(of_ranks(after_click, k), (n, 1)) if self.by_rank else of_documents(after_click, slots)
        return Cascading(of_documents(parameters["attraction"], slots), clicked, np.full((n, k), float(after_skip)))

    @final
    def learn(self, data: Sessions, *, say: Say = silent) -> FitResult:
        """Learn how far users read, then the priors of documents, then the documents."""
        sessions, cautions = self.readable(data)
        del data
        part, codes = sample_queries(sessions, MOST_FOR_PRIORS)
        designs, order = self._priors(sessions), None if part is sessions else _by_query(sessions)
        tails = self._tails(sessions, order)
        whole = EM(self, tails, designs if order is None else _taken(designs, order, shared=True), say)
        here, priors = whole.initial()
        some, there = whole, here
        if part is not sessions:
            some = EM(self, SessionTails.of(part, by_rank=self.by_rank), _taken(designs, codes), say)
            rows = np.append(codes if order is None else np.argsort(order, kind="stable")[codes], -1)
            there = {name: table if name == CONTINUATION else table[rows] for name, table in here.items()}
        del sessions, designs, tails
        alone = None
        if self.begin and self.fixed is None:
            alone = ContinuationFit.of(some, there, priors)
            shared = alone.here[CONTINUATION]
            if some is not whole:
                here = alone.of_all(whole, here)
                shared = here[CONTINUATION]
            if len(shared) == 1 and not alone.ranks_tell:
                # Several numbers have a larger error under one prior for all (ccm, random orders: by a tenth).
                shared = alone.common
            here, there = {**here, CONTINUATION: shared}, {**there, CONTINUATION: shared}
        still = alone is not None
        there, priors = some.fit_jointly(there, priors, still=still)
        found = whole.climbed(there if some is whole else here, priors, still=still)
        if some is whole and not priors:  # given ones: nothing has been learnt there
            there = found.parameters
        del here  # of all documents: there is less in memory
        doubt = SharedUncertainty(whole, some, part, found.parameters, there, priors, alone)
        learnt = doubt.of(whole.learnt(found, priors, cautions, explained=self.columns is not None))
        return learnt if order is None else _as_numbered(learnt, self.tables, order)

    def _tails(self, sessions: Sessions, order: NDArray[np.int32] | None) -> SessionTails | ManyTails:
        """What is hidden of all sessions. order: of many documents, by query, and so they are numbered anew."""
        if order is None:
            return SessionTails.of(sessions, by_rank=self.by_rank)
        assert sessions.query is not None
        place = np.full(len(order) + 1, -1, np.int32)
        place[order] = np.arange(len(order))
        sessions = replace(sessions, document=place[sessions.document], query=sessions.query[order])
        return ManyTails.of(sessions, by_rank=self.by_rank)

    def _priors(self, sessions: Sessions) -> Designs:
        """What the prior of each table of documents depends on, or the prior that was given."""
        if one := given(self.prior):
            return dict.fromkeys(self.tables, one)
        if self.prior == "common":
            return dict.fromkeys(self.tables, PriorDesign.common(sessions.documents))
        curve, covariates = PriorDesign.of_ranks(sessions.mean_rank(), _KNOTS), sessions.covariates
        return {n: curve.with_covariates(covariates[n]) if n in covariates else curve for n in self.tables}


@dataclass(frozen=True, repr=False, kw_only=True)
class Continuing(Chain):
    """A `Chain` with a table `continuation`, which is learnt, or given.

    continuation: "fit", or its probabilities, which are then taken as known.
    """

    continuation: Continuation = "fit"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.continuation, list):
            object.__setattr__(self, "continuation", tuple(self.continuation))
        numbers = self.fixed
        if numbers is None:
            return
        wanted = 0 if self.by_rank else len(self.begin)
        if not numbers or not all(_is_chance(one) for one in numbers) or wanted not in (0, len(numbers)):
            raise UsageError(
                f"continuation={self.continuation!r} is not {f'{wanted} ' if wanted else ''}numbers between 0 and 1",
                f"use fit, or numbers such as {', '.join(map(str, self.begin))}",
            )

    @property
    def fixed(self) -> tuple[float, ...] | None:
        """The continuation that was given; None where it is learnt."""
        if isinstance(self.continuation, str) and self.continuation == "fit":
            return None
        return self.continuation if isinstance(self.continuation, tuple) else (self.continuation,)


def _is_chance(number: object) -> bool:
    return isinstance(number, int | float) and 0 < number < 1


def _by_query(sessions: Sessions) -> NDArray[np.int32] | None:
    """[documents] the documents of each query one after another; None where queries are unknown."""
    return None if sessions.query is None else np.argsort(sessions.query, kind="stable").astype(np.int32)


def _taken(designs: Designs, documents: Integers | NDArray[np.int32], *, shared: bool = False) -> Designs:
    """The same of some documents. shared: in less room, see `PriorDesign`."""
    taken = {id(one): one.take(documents) for one in designs.values() if isinstance(one, PriorDesign)}
    made = {key: one.shared() if shared else one for key, one in taken.items()}
    return {name: made[id(one)] if isinstance(one, PriorDesign) else one for name, one in designs.items()}


def _as_numbered(learnt: FitResult, tables: tuple[str, ...], order: NDArray[np.int32]) -> FitResult:
    """What was learnt of documents in an order, as these are numbered; it is written where it is."""
    for group in (learnt.parameters, learnt.strength, learnt.loadings):
        for name in tables:
            if name in group:
                group[name][order] = group[name][:-1].copy()
    for one in (number for pair in learnt.priors.values() for number in pair):
        one[order] = one.copy()
    return learnt
