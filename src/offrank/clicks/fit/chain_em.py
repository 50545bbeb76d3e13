"""Fits models of users who read from the top: exact EM of all tables, and of the priors of documents."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from ...log.batch import Floats
from ...sums.estimate import Caution
from ..base import FitResult, Parameters, prior_name, regression_name
from . import _kernels
from .compressed_sessions import HiddenCounts, ManyTails, Second, SessionTails, Trials
from .design import PriorDesign
from .em import Climb, climb
from .priors import UNIFORM, Beta, EvidenceGrid, PriorRegression

Designs = Mapping[str, PriorDesign | Beta]
"""Of each table of documents: what its priors depend on, or its given prior."""
Regressions = Mapping[str, PriorRegression]
"""The fitted priors of each table."""

CONTINUATION = "continuation"
TIGHT = 1e-4
FEW_LAPS = 60
_WEAK = Beta(0.2, 0.8)
"""Prior of a document where learning begins: equivalent to one impression."""
_FAINT = 2.0
"""Strength of a document's prior while the continuation is learnt, chosen in worlds like those of
benchmarks/click_coverage.py; 3 did as well there for `dbn`, and 1 worse."""
LOOSE = 1e-3
_NEAR = 0.03
"""Change of a prior's logits, and logarithms of its strengths, below which fits of priors and tables have settled."""
_REFITS = 20
_ROUNDS = 2000


class CascadeSpec(ABC):
    """A model of users who examine the first result, click it with its attraction, and then go on or stop."""

    name: ClassVar[str]
    tolerance: float
    by_rank: ClassVar[bool] = False
    """Whether the continuation after a click depends on its rank instead of the document."""
    tables: ClassVar[tuple[str, ...]] = ("attraction",)
    begin: ClassVar[tuple[float, ...]] = ()
    """The continuation from which EM starts (one number for all ranks); empty where the model has no such table."""

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
        return found if shared is None else {**found, CONTINUATION: shared}


@dataclass(frozen=True)
class EM:
    """Maximum a posteriori estimation of a model from its tails.

    priors: of each table of documents, the design of the prior to be fitted, or the prior that was given.
    """

    model: CascadeSpec
    tails: SessionTails | ManyTails
    priors: Designs
    say: Callable[[str], object]

    def initial(self) -> tuple[Parameters, Regressions]:
        """Initial values of all tables, and of the priors to be fitted."""
        return self._started(), {n: flat(one) for n, one in self.priors.items() if isinstance(one, PriorDesign)}

    def given(self, continuation: tuple[float, ...]) -> Floats:
        """The table of a given continuation; one number for all ranks is repeated."""
        few = self.tails.ranks if self.model.by_rank else len(continuation)
        return np.asarray(continuation, np.float64)[np.minimum(np.arange(few), len(continuation) - 1)]

    def _started(self) -> Parameters:
        """Initial values: click rates, with half of the impressions below last clicks; half of the clicks satisfy."""
        shown, clicked = [], []
        for _, tails in self.tails.parts():
            weight, items = np.repeat(tails.weight, np.diff(tails.first)), tails.document >= 0
            below = np.bincount(tails.document[items], weight[items], len(tails.clicked)) / 2
            shown.append(tails.clicked + tails.skipped + below)
            clicked.append(tails.clicked)
        views, clicks = np.concatenate(shown), np.concatenate(clicked)
        rate = float((clicks.sum() + 1.0) / (views.sum() + 2.0))
        here = {name: np.full(len(views), 0.5) for name in self.model.tables}
        here["attraction"] = Beta(2 * rate, 2 - 2 * rate).posterior_mean(clicks, views)
        if self.model.begin:
            here[CONTINUATION] = self.given(self.model.fixed or self.model.begin)
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
        still = CONTINUATION in here and (still or self.model.fixed is not None)
        kept = {CONTINUATION: here[CONTINUATION]} if still else {}
        betas = self.betas(priors)

        def step(at: Parameters) -> tuple[Parameters, float]:
            after: dict[str, Floats] = {name: np.empty_like(at[name]) for name in self.model.tables}
            likelihood, density, shared = 0.0, np.zeros(len(self.model.tables)), np.zeros((2, 1))
            for rows, part, hidden in self.expected(at):
                counts = self.model.counts(part, hidden)
                likelihood += hidden.log_likelihood
                for place, name in enumerate(self.model.tables):
                    beta = betas[name].of(rows)
                    after[name][rows] = beta.posterior_mean(*counts[name])
                    density[place] += beta.log_density(part[name])
                shared = shared + counts.get(CONTINUATION, 0.0)
            if CONTINUATION in at:
                after[CONTINUATION] = UNIFORM.posterior_mean(*shared)
                density = np.append(density, UNIFORM.log_density(at[CONTINUATION]))
            return {**after, **kept}, likelihood + sum(density.tolist())

        def tell(log_posterior: float) -> None:
            self.say(f"{self.model.name}: log-posterior {log_posterior:.8g}")

        return climb(step, here, tolerance=tolerance or self.model.tolerance, rounds=rounds, say=tell)

    def weakly(self, priors: Regressions) -> EM:
        """The same with weak priors around the means of these."""
        if not priors:
            return self
        means = {name: (np.asarray(beta.mean), beta.which) for name, beta in self.betas(priors).items()}
        weak = {name: Beta(_FAINT * mean, _FAINT * (1 - mean), which) for name, (mean, which) in means.items()}
        return EM(self.model, self.tails, weak, self.say)

    def fit_jointly(
        self, here: Parameters, priors: Regressions, rounds: int = _REFITS, *, still: bool = False
    ) -> tuple[Parameters, Regressions]:
        """Priors and parameters, fitted alternately to a loose tolerance; still: the continuation is not changed."""
        for _ in range(rounds if priors else 0):
            here = self.climbed(here, priors, LOOSE, 60, still=still).parameters
            before, priors = priors, self.refitted(here, priors)
            self.say(f"{self.model.name}: priors of {', '.join(priors)} fitted")
            if all(np.abs(priors[name].table - before[name].table).max() < _NEAR for name in priors):
                break
        return here, priors

    def learnt(self, found: Climb, priors: Regressions, cautions: tuple[Caution, ...], *, explained: bool) -> FitResult:
        """All tables, the prior of an unseen document, and the regressions: of a given prior, one coefficient.

        explained: whether the prior of each document is wanted.
        """
        betas = self.betas(priors)
        unseen = {prior_name(name): beta.of_unseen.table for name, beta in betas.items()}
        given = {name: PriorRegression.of(one) for name, one in self.priors.items() if isinstance(one, Beta)}
        fitted = {regression_name(name): one.table for name, one in {**given, **priors}.items()}
        info = {name: table.tolist() for name, table in unseen.items()}
        tables = {**found.parameters, **unseen, **fitted}
        each = {name: beta.of(slice(None)).of_seen(len(tables[name]) - 1) for name, beta in betas.items() if explained}
        course = (found.trace, found.rounds, found.converged)
        return FitResult(tables, {}, *course, info, cautions, priors=each)

    def known(self, here: Parameters) -> dict[str, Floats]:
        """[documents + 1] effective observations behind each entry, without the prior, by the diagonal information.

        The observed information is that of the complete data less the posterior variance of their score
        (Louis 1982). On the logit scale n observations of a probability p have information n p (1 - p).
        """
        found = {name: np.zeros(len(here[name])) for name in self.model.tables}
        for rows, tails in self.tails.parts():
            part = self.some(here, rows)
            for name, trials in self._trials(tails, part):
                _kernels.add_information(*trials, part[name], found[name][rows])
        for information in found.values():
            np.maximum(information, 0.0, out=information)
        return found

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

    def design(self, table: str) -> PriorDesign:
        """What the priors of a table depend on."""
        found = self.priors[table]
        assert isinstance(found, PriorDesign)
        return found

    def trials(self, here: Parameters) -> Iterator[tuple[str, Trials]]:
        """All trials of each table of documents, with their posterior probabilities."""
        assert isinstance(self.tails, SessionTails)
        return self._trials(self.tails, here)

    def _trials(self, tails: SessionTails, here: Parameters) -> Iterator[tuple[str, Trials]]:
        return tails.trials(here["attraction"], *self.model.going_on(here), self.model.second(here))

    def counts(self, here: Parameters) -> Mapping[str, tuple[Floats, Floats]]:
        """Expected counts of complete data, where there is one part."""
        ((_, here, hidden),) = self.expected(here)
        return self.model.counts(here, hidden)

    def continued(self, here: Parameters) -> tuple[Floats, Floats]:
        """[few] expected (successes, trials) of the continuation."""
        each = [self.model.counts(at, hidden)[CONTINUATION] for _, at, hidden in self.expected(here)]
        won, tried = np.sum(each, axis=0)
        return won, tried

    def expected(self, here: Parameters) -> Iterator[tuple[slice, Parameters, HiddenCounts]]:
        """Some documents after others, their tables, and expected counts of what is hidden."""
        for rows, tails in self.tails.parts():
            at = self.some(here, rows)
            yield rows, at, tails.expect(at["attraction"], *self.model.going_on(at))

    def some(self, here: Parameters, rows: slice) -> Parameters:
        """The tables of some documents, and what all share."""
        return {name: table[rows] if name in self.model.tables else table for name, table in here.items()}


def flat(design: PriorDesign) -> PriorRegression:
    """The prior from which fits of a table's priors begin."""
    return PriorRegression.flat(design, 0.2, 4.0)
