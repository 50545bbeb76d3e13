"""TrustBias: the affine model of trust bias."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from ..findings import cautions_for
from ..findings.clicks import FitEvidence
from ..language import Say, silent
from ..log.batch import Floats
from .base import FitResult, Parameters, Role, Roles
from .click_counts import ClickCounts
from .documents import SlateDocuments
from .examined import PRIOR_ROLES, initial_prior, mean_attraction, prior_of
from .fit.click_rates import of_mean_ranks
from .fit.curve import fit_curve
from .fit.design import PriorDesign
from .fit.em import expit, logit
from .fit.posterior import Attractions, Chances, fit_attractions
from .fit.priors import Beta, PriorRegression
from .fit.uncertainty import DIRECTIONS_BY_COUNTS, Uncertainty, attraction_doubt, directions, leading_and_own
from .fit.within_documents import information, wider
from .laws import ClickLaw, Independent
from .model import WithPrior, of_documents, of_ranks
from .pbm import pooled_rank_rates

_RATIO, _LOWEST = 0.2, 0.1
"""Means of the weak priors, each worth one observation: of false / hit, and of the lowest attraction."""
_OTHERS = 0.02, 0.6
"""Other ratios from which learning begins: a likelihood may have several tops."""
_FEWEST = 0.05
"""Least attraction that is taken for the mean."""
_STEP = 0.5
"""Prior standard deviation, in logits, of how far the distance from these means changes from rank to rank."""
_POWER = 1.0
"""Standard deviation of the power of the rank by which the worth of documents may fall unnoticed."""
_LEAST = 1e-3
"""Information that is added to what is known of a number, where that may be nothing."""


@dataclass(frozen=True, repr=False)
class TrustBias(WithPrior):
    """Users trust high ranks: there they also click on irrelevant results (Agarwal et al. 2019).

    P(click) = examination of the rank x (eps+ of the rank x a + eps- of the rank x (1 - a)), a the attraction of the
    document: affine in a (Vardasbi et al. 2020). The log identifies two numbers per rank: `hit`, the chance of a click
    on an attractive document, examination x eps+, and `false`, on others, examination x eps-. Relevance is a.

    Scale and origin of a are not identified: hit is 1 at the first rank, and false is 0 at the lowest. False is never
    above hit. With false = 0 at all ranks this is the position-based model.

    All numbers and the prior of the attractions are learnt together by maximum likelihood, each attraction integrated
    out. A fitted prior is a Beta between the lowest attraction, which is learnt too, and 1: so the origin of a does not
    hang on the shape of the prior. Where documents hardly move, clicks of trust are not told from the worth of
    documents: then intervals are wide, and `trust-unknown` says so.

    Parameters:
        prior: the Beta prior of the tables of documents: "fit" (depends on the mean logged rank of a document),
            "common" (fitted, the same for all), or (a, b).
        tolerance: learning stops when no parameter changes by more than this in one step.

    Examples:
        >>> offrank.clicks.click_model("trust") == offrank.clicks.TrustBias()
        True
    """

    tolerance: float = 1e-5

    name: ClassVar[str] = "trust"

    def roles(self) -> Roles:
        return {"attraction": Role.DOCUMENT, "hit": Role.RANK, "false": Role.RANK, **PRIOR_ROLES}

    def learn(self, data: ClickCounts, *, say: Say = silent) -> FitResult:
        data = data.by_rank()
        prior = prior_of(self.prior, data)
        curve = fit_curve(data, pooled_rank_rates(data), tolerance=1e-4)
        level = mean_attraction(data, curve.value)
        curves = Trusting.of(curve.value, level, shifted=isinstance(prior, PriorDesign))
        begin, others = initial_prior(prior, level), curves.elsewhere
        found = fit_attractions(data, curves, prior, begin, others=others, tolerance=self.tolerance, say=say)
        lowest = curves.parts(found.numbers).lowest
        strength, loadings = _uncertainty(found, curves, prior, of_mean_ranks(data))
        unseen = _unseen(found.betas.of_unseen, lowest).table
        regression = (found.prior or PriorRegression.of(found.betas.of_unseen)).table
        tables = {
            "attraction": lowest + (1 - lowest) * found.mean,
            **curves.unshifted(found.numbers)._asdict(),
            "attraction_prior": unseen,
            "attraction_regression": np.append(regression, found.numbers[-1:]) if curves.shifted else regression,
        }
        return FitResult(
            tables,
            strength,
            trace=found.trace,
            rounds=found.rounds,
            converged=found.converged,
            info={"attraction_prior": unseen.tolist()},
            cautions=cautions_for(FitEvidence(split=_unsure(data, tables, strength, loadings))),
            loadings=loadings,
        )

    def law(self, parameters: Parameters, slots: SlateDocuments) -> ClickLaw:
        hit, false = (of_ranks(parameters[name], slots.shown.shape[1]) for name in ("hit", "false"))
        chance = false + (hit - false) * of_documents(parameters["attraction"], slots)
        return Independent(np.where(slots.shown, chance, 0.0))


class Parts(NamedTuple):
    """hit [ranks], ratio [ranks] = false / hit, and the lowest attraction."""

    hit: Floats
    ratio: Floats
    lowest: float


@dataclass(frozen=True)
class Trusting:
    """Chances by rank, for documents on the scale of the prior: attraction = lowest + (1 - lowest) x that scale.

    Numbers are the logits of hit below the first rank, of false / hit above the lowest, and of the lowest attraction.
    center: [r]. shifted: whether the lowest attraction is learnt; otherwise it is 0.
    """

    ranks: int
    center: Floats
    shifted: bool

    @classmethod
    def of(cls, examination: Floats, level: float, *, shifted: bool) -> Trusting:
        """Those that begin where a document of mean attraction is clicked as by a model without trust.

        examination, level: of that model, with the mean attraction.
        """
        below = len(examination) - 1
        ratio = _RATIO * (1 - np.arange(below + 1) / max(below, 1)) + 0.02
        clicked = ratio + (1 - ratio) * max((level - ratio[0]) / (1 - ratio[0]), _FEWEST)
        hit = np.clip(examination * clicked[0] / clicked, 0.02, 0.98)[1:]
        return cls(below + 1, np.concatenate([hit, ratio[:-1], np.full(int(shifted), _LOWEST)]), shifted)

    @property
    def elsewhere(self) -> tuple[Floats, ...]:
        """Numbers to begin with besides the centers: hardly any trust, and much."""
        below, found = self.ranks - 1, []
        for ratio in _OTHERS:
            numbers = logit(self.center)
            numbers[below : 2 * below] = logit(np.array(ratio))
            found.append(numbers)
        return tuple(found)

    @property
    def penalty(self) -> Floats:
        """[r, r] precision: from rank to rank, hit and ratio go off their centers by little.

        Hit may also be off by a power of the rank, as the examination is in which it has its center.
        """
        below, found = self.ranks - 1, np.zeros((len(self.center), len(self.center)))
        rank = np.arange(1, below + 1)
        slope = np.log1p(rank) / (1 - self.center[:below])  # of logits
        walk = _STEP**2 * np.minimum(rank[:, None], rank)
        found[:below, :below] = np.linalg.inv(walk + _POWER**2 * np.outer(slope, slope))
        steps = np.diff(np.eye(below), axis=0) / _STEP
        found[below : 2 * below, below : 2 * below] = steps.T @ steps
        return found

    def parts(self, x: Floats) -> Parts:
        p, below = expit(x), self.ranks - 1
        lowest = float(p[-1]) if self.shifted else 0.0
        return Parts(np.append(1.0, p[:below]), np.append(p[below : 2 * below], 0.0), lowest)

    def unshifted(self, x: Floats) -> Chances:
        """The chances on the scale of attractions."""
        hit, ratio, _ = self.parts(x)
        return Chances(hit, hit * ratio)

    def chances(self, x: Floats) -> Chances:
        """The chances on the scale of the prior."""
        hit, ratio, lowest = self.parts(x)
        return Chances(hit, hit * (lowest + (1 - lowest) * ratio))

    def along(self, x: Floats) -> Floats:
        """[2, ranks, r] the derivatives of the chances on the scale of the prior."""
        (hit, ratio, lowest), below, p = self.parts(x), self.ranks - 1, expit(x)
        found, rank, slope = np.zeros((2, self.ranks, len(x))), np.arange(below), p * (1 - p)
        found[0, rank + 1, rank] = slope[:below]
        found[1, rank + 1, rank] = (lowest + (1 - lowest) * ratio[1:]) * slope[:below]
        found[1, rank, below + rank] = hit[:-1] * (1 - lowest) * slope[below : 2 * below]
        if self.shifted:
            found[1, :, -1] = hit * (1 - ratio) * slope[-1]
        return found


def _unseen(scaled: Beta, lowest: float) -> Beta:
    """The Beta with the mean and the variance of attractions whose scale from the lowest on has this prior."""
    mean = lowest + (1 - lowest) * scaled.mean
    variance = (1 - lowest) ** 2 * scaled.mean * (1 - scaled.mean) / (scaled.strength + 1)
    strength = mean * (1 - mean) / variance - 1
    return Beta(mean * strength, (1 - mean) * strength)


def _uncertainty(
    found: Attractions, curves: Trusting, prior: Beta | PriorDesign, kept_ranks: float
) -> tuple[Parameters, Parameters]:
    """(strength, loadings) of all tables: by the products of the scores of documents, and what these do not know."""
    covariance: Floats = np.asarray(np.linalg.inv(found.information), np.float64)
    r = len(found.numbers)
    confounded = _confounded(found, covariance, curves, kept_ranks)
    covariance = covariance + confounded @ confounded.T
    moved = directions(covariance, np.diag(found.information), 2 * DIRECTIONS_BY_COUNTS)
    rest = np.maximum(np.diag(covariance) - (moved**2).sum(axis=1), 0.0)[:r]
    of_numbers, of_prior = np.split(moved, [r])
    (hit, ratio, lowest), below = curves.parts(found.numbers), curves.ranks - 1

    def chance(value: Floats, by: Floats) -> Uncertainty:
        """by: [ranks, r] the derivatives of its logits by the numbers."""
        return Uncertainty(value, (value * (1 - value)) ** 2 * (by**2 @ rest), by @ of_numbers)

    by_hit, by_ratio = np.eye(curves.ranks, r, -1), np.eye(curves.ranks, r, below)
    by_hit[:, below:] = by_ratio[-1] = 0.0
    false = hit * ratio
    # log false = log hit + log ratio: its logit moves 1 / (1 - false) times as much.
    by_false = ((1 - hit)[:, None] * by_hit + (1 - ratio)[:, None] * by_ratio) / (1 - false)[:, None]
    by_false[-1] = 0.0
    scaled = attraction_doubt(found, curves.along(found.numbers) @ of_numbers, prior, of_prior)
    attraction = _raised(scaled, lowest, of_numbers[-1]) if curves.shifted else scaled
    return leading_and_own({"attraction": attraction, "hit": chance(hit, by_hit), "false": chance(false, by_false)})


def _confounded(found: Attractions, covariance: Floats, curves: Trusting, kept: float) -> Floats:
    """[x, k] half of what is added to the covariance of all that was learnt for what ranks may say of documents.

    The likelihood reads from how clicks of unlike documents are spread how far hit falls with rank. Documents may be
    spread in another way than the prior's: so hit and false are known as far as documents at several ranks tell them,
    and no further. kept: the share of the variance of mean ranks that documents keep; what is left is by chance.
    """
    chosen = 2 * (curves.ranks - 1)
    if not chosen:
        return np.empty((len(covariance), 0))
    counts, along = found.posteriors.counts, curves.along(found.numbers)
    # Without the prior of each number: together these would say more of all ranks than one observation.
    weak = curves.penalty + _LEAST * np.eye(len(found.numbers))
    known = weak + information(counts, found.mean[:-1], found.chances, along)
    first, others = np.split(covariance[:, :chosen], [chosen])
    moved = np.sqrt(kept) * wider(first, known[:chosen, :chosen])
    # What else was learnt follows.
    return np.vstack([moved, others @ np.linalg.solve(first, moved)])


def _unsure(data: ClickCounts, tables: Parameters, strength: Parameters, loadings: Parameters) -> float:
    """The standard error of the logarithm of hit below the first rank: root mean square over views."""
    if not strength or data.ranks == 1:
        return 0.0
    hit = tables["hit"][1:]
    variance = (1 - hit) / hit / (strength["hit"][1:] + 1) + (1 - hit) ** 2 * (loadings["hit"][1:] ** 2).sum(axis=1)
    shown, _ = data.by_cell()
    return float(np.sqrt(variance @ shown[1:] / shown[1:].sum()))


def _raised(scaled: Uncertainty, lowest: float, loading: Floats) -> Uncertainty:
    """The doubt of attractions, from that on the scale of the prior and the loading of the logit of the lowest."""
    value, above = lowest + (1 - lowest) * scaled.value, 1 - scaled.value
    by_scaled, by_lowest = (1 - lowest) * scaled.value * above, lowest * (1 - lowest) * above

    def moved(rows: slice) -> Floats:
        found = by_scaled[rows, None] * scaled.loadings(rows) + by_lowest[rows, None] * loading
        return np.asarray(found / (value * (1 - value))[rows, None])

    return Uncertainty(value, lambda rows: (1 - lowest) ** 2 * scaled.own(rows), moved)
