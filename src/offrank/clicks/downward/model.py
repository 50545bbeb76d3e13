"""Users who read down a list: a model says how they go on after a click, and what its hidden counts are."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar, final

import numpy as np

from ...folds.estimate import Caution
from ...log.batch import Floats, Integers
from ..documents import Slots
from ..laws import Cascading, ClickLaw
from ..learnt import Learnt
from ..model import ClickModel, Say, of_documents
from ..parameters import Parameters, Role, Roles
from ..priors import Beta
from ..sessions import Sessions
from .course import learnt, learnt_from
from .learning import Problem
from .outcomes import Outcomes, Seen
from .tails import Expected, Tails, cut

_PRIOR = "_prior"


class Downward(ClickModel):
    """Examines the first result, clicks by its attraction, and goes on or not.

    Tables: `attraction` [documents + 1]; `continuation` [few], with a uniform prior; where the model has it,
    `satisfaction` [documents + 1]. Beta priors of the documents' tables are fitted by marginal likelihood (see
    `Grid`) and stand beside them as `attraction_prior` (alpha, beta). The maximum is that of the posterior on the
    logit scale, which for counts is the posterior mean. The `continuation` is learnt without that prior, which would
    take what a logging policy knows of the documents for examination (see `course`); the documents then, given it.
    """

    by_rank: ClassVar[bool] = False
    tables: ClassVar[tuple[str, ...]] = ("attraction",)
    shared: ClassVar[Roles] = {}
    tolerance: float

    @abstractmethod
    def beginning(self, tails: Tails) -> Parameters:
        """Where EM starts, but for the attraction."""

    @abstractmethod
    def going_on(self, parameters: Parameters) -> tuple[Floats, float]:
        """P(examine the next | clicked) of each cell, and P(examine the next | skipped)."""

    @abstractmethod
    def counts(self, parameters: Parameters, expected: Expected) -> Mapping[str, tuple[Floats, Floats]]:
        """Table -> expected (successes, trials) of complete data: their shares are the M-step."""

    @abstractmethod
    def after_click(self, parameters: Parameters, slots: Slots) -> Floats:
        """[n, k] P(examine the next | clicked)."""

    def certain(self, parameters: Parameters, tails: Tails) -> Mapping[str, Outcomes]:
        """What clicks that others follow say of documents, beyond their attraction."""
        return {}

    def possible(self, parameters: Parameters, seen: Seen) -> Mapping[str, Outcomes]:
        """What last clicks say of documents, beyond their attraction."""
        return {}

    def readable(self, sessions: Sessions) -> tuple[Sessions, tuple[Caution, ...]]:
        """What the model can learn from, and what to know about the rest."""
        return sessions, ()

    @final
    def roles(self) -> Roles:
        documents = dict.fromkeys(self.tables, Role.DOCUMENT)
        return {**documents, **self.shared, **{name + _PRIOR: Role.PRIOR for name in self.tables}}

    @final
    def learn(self, data: Sessions, *, start: Parameters | None = None, say: Say = len) -> Learnt:
        """See `course`."""
        sessions, cautions = self.readable(data)
        problem = Problem(self, cut(sessions, by_rank=self.by_rank), self.tolerance, say)
        if start is None:
            return learnt(problem, sessions, cautions)
        priors = {name: Beta.at(start[name + _PRIOR]) for name in self.tables}
        tables = {name: table for name, table in start.items() if self.roles()[name] is not Role.PRIOR}
        return learnt_from(problem, tables, priors).learnt(cautions)

    @final
    def law(self, parameters: Parameters, slots: Slots) -> ClickLaw:
        return Cascading(
            of_documents(parameters["attraction"], slots),
            np.ascontiguousarray(self.after_click(parameters, slots)),
            np.full(slots.document.shape, float(self.going_on(parameters)[1])),
        )

    def relevance(self, parameters: Parameters, document: Integers) -> Floats:
        """The attraction."""
        return np.asarray(parameters["attraction"][document])
