"""Click models whose click probability is the examination of a cell times the attraction of a document."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..findings import cautions_for
from ..findings.evidence_clicks import OfFit
from ..folds.estimate import Caution
from ..log.batch import Floats
from .counts import Counts
from .fit.curve import ExaminationCurve, fit_curve
from .fit.posterior import Attractions, Chances, fit_attractions
from .fit.priors import Beta, given
from .learnt import Learnt
from .model import Say, WithPrior, silent
from .parameters import Parameters, Role, Roles

_UNKNOWN = 1.0
"""Standard error of a log-examination above which the log does not identify it: a factor of e either way."""
_AT_ONE = 1.9
"""log(40) / 1.96: Beta(this / deviation, 1) ends 1.96 deviations of the logarithm below 1, with 2.5 % further below."""


@dataclass(frozen=True, repr=False)
class Examined(WithPrior, ABC):
    """Learns examination by a conditional likelihood, then attractions by their posteriors.

    The examination of each cell comes first, from where documents are clicked given how often (`fit_curve`):
    attractions cancel, so that no prior of them can bias the curve. Then each attraction has its exact posterior, by
    integration on a grid, under a prior Beta(a, b) that is fitted by the likelihood of all documents unless it is
    given. Attraction is its mean; unseen documents have a / (a + b).

    A log identifies only products of examination and attraction: the first rank's examination is 1, unless another's is
    clearly larger (two standard errors): then that one is 1.

    tolerance: learning stops when no parameter changes by more than this in one step.
    """

    tolerance: float = 1e-6

    @abstractmethod
    def guess(self, data: Counts) -> Floats:
        """[cells] the examination assumed where the log does not identify it."""

    def roles(self) -> Roles:
        cells = Role.RANK_AND_LAST_CLICK if self.browsing else Role.RANK
        return {"attraction": Role.DOCUMENT, "examination": cells, "attraction_prior": Role.PRIOR}

    def learn(self, data: Counts, *, start: Parameters | None = None, say: Say = silent) -> Learnt:
        begin = None if start is None else start["examination"]
        curve = fit_curve(data, self.guess(data), start=begin, tolerance=self.tolerance, say=_told(say))
        largest = int((curve.value * (1 - 2 * curve.deviation)).argmax())
        curve = curve.over(largest)
        value = np.minimum(curve.value, 1.0)
        chances, prior = Chances(value, np.zeros(len(value))), given(self.prior)
        likely = (
            Beta(4.0 * (mean := _mean(data, value)), 4.0 * (1.0 - mean))
            if start is None
            else Beta.at(start["attraction_prior"])
        )
        found = fit_attractions(data, chances, None, prior, likely, tolerance=100 * self.tolerance, say=say)
        return _learnt(curve, value, found, cautions_for(OfFit(hidden=_hidden(data, curve))))


def _mean(data: Counts, examination: Floats) -> float:
    """Clicks per examined impression, kept away from 0 and 1."""
    return float((data.clicked.sum() + 1) / (data.shown @ examination[data.cell] + 2))


def _told(say: Say) -> Callable[[float], object]:
    return lambda likelihood: say(f"examination: log-likelihood {likelihood:,.2f}")


def _hidden(data: Counts, curve: ExaminationCurve) -> float:
    """The share of the impressions in cells whose examination the log does not identify."""
    shown, _ = data.by_cell()
    return float(shown[curve.deviation > _UNKNOWN].sum() / shown.sum())


def _learnt(curve: ExaminationCurve, value: Floats, found: Attractions, cautions: tuple[Caution, ...]) -> Learnt:
    attraction, strength = found.tables()
    prior = found.prior.table
    return Learnt(
        {"attraction": attraction, "examination": value, "attraction_prior": prior},
        {"attraction": strength, "examination": _strength(value, curve.deviation)},
        trace=found.climb.trace,
        rounds=curve.climb.rounds + found.climb.rounds,
        converged=curve.climb.converged and found.climb.converged,
        facts={"attraction_prior": prior.tolist()},
        cautions=cautions,
    )


def _strength(value: Floats, deviation: Floats) -> Floats:
    """[cells] effective sample size of examination; where that is 1, it gives the lower bound (`Fitted.interval`)."""
    doubt = np.maximum(deviation, 1e-9)
    below = np.maximum((1 - value) / (np.maximum(value, 1e-300) * doubt**2) - 1, 1e-3)
    return np.asarray(np.where(value < 1, below, _AT_ONE / doubt))
