"""Click models whose click probability is the examination of a cell times the attraction of a document."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from ..errors import UsageError
from ..findings import cautions_for
from ..findings.clicks import FitEvidence
from ..language import Say, silent
from ..log.batch import Floats
from ..wording import Option, Wording
from .base import FitResult, Parameters, Role, Roles
from .click_counts import ClickCounts
from .fit.click_rates import of_mean_ranks
from .fit.curve import ExaminationCurve, Pooled, fit_curve
from .fit.design import PriorDesign
from .fit.posterior import Attractions, Chances, Fixed, fit_attractions
from .fit.priors import Beta, Prior, PriorRegression, given
from .fit.uncertainty import Uncertainty, attraction_doubt, directions, leading_and_own, of_logarithms
from .model import FromFeatures, WithPrior

MOST_CELLS = 1275
"""Cells of examination, of which each pair has a covariance: 50 ranks with every last click, or 1,275 ranks without."""
_UNKNOWN = 1.0
"""Standard error of a log-examination above which the log does not identify it: a factor of e either way."""
_DIRECTIONS = 5
"""Number of directions of the curve's doubt that are followed to documents."""
_AT_ONE = 1.9
"""log(40) / 1.96: Beta(this / deviation, 1) ends 1.96 deviations of the logarithm below 1, with 2.5 % further below."""


@dataclass(frozen=True, repr=False)
class Examined(WithPrior, FromFeatures, ABC):
    """Learns examination first, then attractions by their posteriors.

    The examination of each cell comes from where documents are clicked given how often (`fit_curve`): attractions
    cancel, so that no prior of them can bias it. Where that says little, it is blended with click rates. Then each
    attraction has its exact posterior, by integration on a grid, under a Beta prior. `prior` is "fit" (its mean and
    strength depend on the document's mean logged rank, by maximum likelihood), "common" to all documents, or given as
    (a, b). Attraction is the posterior mean; unseen documents have the mean of all priors.

    A log identifies only products of examination and attraction: the first rank's examination is 1, unless another's is
    clearly larger (two standard errors): then that one is 1.

    tolerance: learning stops when no parameter changes by more than this in one step.
    """

    tolerance: float = 1e-6

    def __post_init__(self) -> None:
        WithPrior.__post_init__(self)
        FromFeatures.__post_init__(self)

    @abstractmethod
    def pooled(self, data: ClickCounts) -> Pooled:
        """The examination by click rates, for where the log does not identify it."""

    def roles(self) -> Roles:
        cells = Role.RANK_AND_LAST_CLICK if self.browsing else Role.EXAMINATION
        return {"attraction": Role.DOCUMENT, "examination": cells, **PRIOR_ROLES}

    def learn(self, data: ClickCounts, *, say: Say = silent) -> FitResult:
        curve, prior = self._curve(data, say), prior_of(self.prior, data)
        value = np.minimum(curve.value, 1.0)
        chances, begin = Chances(value, np.zeros(len(value))), initial_prior(prior, mean_attraction(data, value))
        found = fit_attractions(data, Fixed(chances), prior, begin, tolerance=10 * self.tolerance, say=say)
        strength, loadings = _uncertainty(data, curve, found, prior)
        return FitResult(
            {"attraction": found.mean, "examination": value, **prior_tables(found)},
            strength,
            trace=found.trace,
            rounds=curve.rounds + found.rounds,
            converged=curve.converged and found.converged,
            info={"attraction_prior": found.betas.of_unseen.table.tolist()},
            cautions=cautions_for(FitEvidence(hidden=_hidden(data, curve))),
            loadings=loadings,
            priors={} if self.columns is None else {"attraction": found.each},
        )

    def _curve(self, data: ClickCounts, say: Say) -> ExaminationCurve:
        """The examination curve relative to its largest."""
        if data.cells > MOST_CELLS:
            raise UsageError(
                f"{self.name} would learn {data.cells:,} values of examination, with the covariance of each pair;"
                f" at most {MOST_CELLS:,} fit",
                Wording("read the first ranks alone, as by {}, or fit another click model", Option("top_k", 50)),
            )

        def tell(likelihood: float) -> None:
            say(f"examination: log-likelihood {likelihood:,.2f}")

        curve = fit_curve(data, self.pooled(data), tolerance=self.tolerance, say=tell)
        return curve.over(int((curve.value * (1 - 2 * curve.deviation)).argmax()))


PRIOR_ROLES = {"attraction_prior": Role.PRIOR, "attraction_regression": Role.REGRESSION}
"""Of the prior of an unseen document, and of the regression that gives those of others."""


def prior_of(setting: Prior, data: ClickCounts) -> Beta | PriorDesign:
    """The prior that a setting gives, or the design of the one to be fitted."""
    if known := given(setting):
        return known
    if setting == "common":
        return PriorDesign.common(data.documents)
    curve, covariates = (
        PriorDesign.of_ranks(data.mean_rank(), kept=of_mean_ranks(data)),
        data.covariates.get("attraction"),
    )
    return curve if covariates is None else curve.with_covariates(covariates)


def initial_prior(prior: Beta | PriorDesign, mean: float) -> PriorRegression | None:
    """Initial values of a prior that is to be fitted."""
    return None if isinstance(prior, Beta) else PriorRegression.flat(prior, mean, 4.0)


def prior_tables(found: Attractions) -> dict[str, Floats]:
    """The prior of an unseen document, and the regression, which for a given prior has one coefficient."""
    unseen = found.betas.of_unseen
    regression = found.prior or PriorRegression.of(unseen)
    return {"attraction_prior": unseen.table, "attraction_regression": regression.table}


def mean_attraction(data: ClickCounts, examination: Floats) -> float:
    """Clicks per examined impression, kept away from 0 and 1."""
    return float((data.clicked.sum() + 1) / (data.by_cell()[0] @ examination + 2))


def _hidden(data: ClickCounts, curve: ExaminationCurve) -> float:
    """The share of the impressions in cells whose examination the log does not identify."""
    shown, _ = data.by_cell()
    return float(shown[curve.alone > _UNKNOWN].sum() / shown.sum())


def _uncertainty(
    data: ClickCounts, curve: ExaminationCurve, found: Attractions, prior: Beta | PriorDesign
) -> tuple[Parameters, Parameters]:
    """(strength, loadings) of attraction and examination."""
    value = found.chances.hit
    free = value < 1
    along = np.where(free[:, None], directions(curve.covariance, data.by_cell()[1], _DIRECTIONS), 0.0)
    documents = attraction_doubt(found, of_logarithms(found.chances, along), prior)
    # The logit moves by 1 / (1 - examination) of what the logarithm does; other directions count as the cell's own.
    rest = np.maximum(curve.deviation**2 - (along**2).sum(axis=1), 0.0)
    cells = Uncertainty(value, value**2 * rest, along / np.where(free, 1 - value, 1.0)[:, None])
    strength, loadings = leading_and_own({"attraction": documents, "examination": cells})
    strength["examination"] = np.where(free, strength["examination"], _AT_ONE / np.maximum(curve.deviation, 1e-9))
    return strength, loadings
