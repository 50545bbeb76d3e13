"""Maximum a posteriori by EM, with priors fitted by marginal likelihood, for any reader from the top."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from ...folds.estimate import Caution
from ...log.batch import Floats
from ..documents import Slots
from ..em import Climb, Step, climb
from ..laws import ClickLaw
from ..learnt import Learnt
from ..model import Say
from ..parameters import Parameters
from ..priors import Beta
from .outcomes import Outcomes, Seen, blocks
from .priors import FLAT, Grid, log_density, mean
from .strength import of_many
from .tails import Expected, Tails, expect

_ROUNDS = 2000


class Reader(Protocol):
    """What learning asks of a model; see `Downward`."""

    name: ClassVar[str]
    by_rank: ClassVar[bool]
    tables: ClassVar[tuple[str, ...]]

    def law(self, parameters: Parameters, slots: Slots) -> ClickLaw: ...

    def beginning(self, tails: Tails) -> Parameters: ...

    def going_on(self, parameters: Parameters) -> tuple[Floats, float]: ...

    def counts(self, parameters: Parameters, expected: Expected) -> Mapping[str, tuple[Floats, Floats]]: ...

    def certain(self, parameters: Parameters, tails: Tails) -> Mapping[str, Outcomes]: ...

    def possible(self, parameters: Parameters, seen: Seen) -> Mapping[str, Outcomes]: ...


@dataclass(frozen=True)
class Problem:
    """A model and the tails that it learns from."""

    model: Reader
    tails: Tails
    tolerance: float
    say: Say

    def climbed(self, here: Parameters, priors: Mapping[str, Beta]) -> Solution:
        """The maximum under these priors."""
        found = climb(self.step(priors), here, tolerance=self.tolerance, rounds=_ROUNDS, say=self.tell)
        return Solution(self, found, priors)

    def tell(self, height: float) -> None:
        """Progress."""
        self.say(f"{self.model.name}: log-posterior {height:.8g}")

    def counts(self, here: Parameters) -> Mapping[str, tuple[Floats, Floats]]:
        """Expected counts of complete data."""
        return self.model.counts(here, self._expect(here))

    def step(self, priors: Mapping[str, Beta]) -> Step:
        """A round of EM under these priors, and FLAT ones elsewhere."""

        def step(here: Parameters) -> tuple[Parameters, float]:
            expected = self._expect(here)
            counts = self.model.counts(here, expected)
            after = {name: mean(priors.get(name, FLAT), *counts[name]) for name in here}
            return after, expected.height + log_prior(here, priors)

        return step

    def outcomes(self, here: Parameters) -> Iterator[tuple[str, Outcomes]]:
        """All trials of each table, with what is believed of them."""
        tails = self.tails
        ones, zeros = np.ones(len(tails.clicked)), np.zeros(len(tails.clicked))
        yield "attraction", Outcomes.of_all(ones, tails.clicked)
        yield "attraction", Outcomes.of_all(zeros, tails.skipped)
        yield from self.model.certain(here, tails).items()
        for seen in blocks(tails, here["attraction"], *self.model.going_on(here)):
            yield "attraction", Outcomes(seen.document, np.zeros(len(seen.document)), seen.examined, seen.weight)
            yield from self.model.possible(here, seen).items()

    def start(self) -> Parameters:
        """Clicks per showing, of which half count below the last click."""
        tails, shown = self.tails, self.tails.clicked + self.tails.skipped
        weight, items = np.repeat(tails.weight, np.diff(tails.first)), tails.document >= 0
        shown = shown + np.bincount(tails.document[items], weight[items], len(shown)) / 2
        rate = float((tails.clicked.sum() + 1.0) / (shown.sum() + 2.0))
        attraction = mean(Beta(2 * rate, 2 - 2 * rate), tails.clicked, shown)
        return {"attraction": attraction, **self.model.beginning(tails)}

    def refitted(self, here: Parameters, priors: Mapping[str, Beta]) -> dict[str, Beta]:
        """Priors of largest evidence at these parameters."""
        return {name: grid.fit(priors[name]) for name, grid in self.grids(here, priors).items()}

    def grids(self, here: Parameters, priors: Mapping[str, Beta]) -> dict[str, Grid]:
        """Likelihoods of each document's probabilities, with the rest as it is."""
        known = self.known(here)
        grids = {name: Grid.around(here[name], known[name] + prior.strength) for name, prior in priors.items()}
        for name, outcomes in self.outcomes(here):
            grids[name].add(outcomes)
        return grids

    def known(self, here: Parameters) -> dict[str, Floats]:
        """Observations that each document's entries rest on, without the prior."""
        information = {name: np.zeros(len(here[name])) for name in self.model.tables}
        for name, outcomes in self.outcomes(here):
            information[name] += of_many(here[name], outcomes)
        return {name: np.maximum(found, 0.0) for name, found in information.items()}

    def _expect(self, here: Parameters) -> Expected:
        return expect(self.tails, here["attraction"], *self.model.going_on(here))


@dataclass(frozen=True)
class Solution:
    """Where EM ended, under which priors."""

    problem: Problem
    found: Climb
    priors: Mapping[str, Beta]

    def known(self) -> dict[str, Floats]:
        """Effective observations behind the probabilities of documents, those of the prior included."""
        known = self.problem.known(self.found.parameters)
        return {name: found + self.priors[name].strength for name, found in known.items()}

    def learnt(self, cautions: tuple[Caution, ...], strength: Parameters | None = None) -> Learnt:
        """With the priors beside the tables."""
        priors = {f"{name}_prior": [prior.a, prior.b] for name, prior in self.priors.items()}
        return Learnt(
            {**self.found.parameters, **{name: np.array(prior) for name, prior in priors.items()}},
            strength or {},
            trace=self.found.trace,
            rounds=self.found.rounds,
            converged=self.found.converged,
            facts=priors,
            cautions=cautions,
        )


def log_prior(tables: Parameters, priors: Mapping[str, Beta]) -> float:
    """Log-density of all tables, FLAT where no prior is given."""
    return sum(log_density(priors.get(name, FLAT), table) for name, table in tables.items())
