"""TrustBias: the affine model of trust bias."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..findings import cautions_for
from ..findings.evidence_clicks import OfFit
from ..log.batch import Floats
from .counts import Counts
from .documents import SlateDocuments
from .examined import PRIOR_ROLES, begun, prior_of, prior_tables
from .fit.curve import fit_curve
from .fit.design import PriorDesign
from .fit.loadings import MOST, Doubt, attractions, directions, kept, scores
from .fit.posterior import Attractions, Chances, Free, fit_attractions
from .fit.priors import Beta
from .laws import ClickLaw, Independent
from .learnt import Learnt
from .model import Say, WithPrior, of_documents, of_ranks, silent
from .parameters import Parameters, Role, Roles
from .pbm import rank_rates


@dataclass(frozen=True, repr=False)
class TrustBias(WithPrior):
    """Users trust high ranks: there they also click on irrelevant results (Agarwal et al. 2019).

    P(click) = examination of the rank x (eps+ of the rank x a + eps- of the rank x (1 - a)), a the attraction of the
    document: affine in a (Vardasbi et al. 2020). The log identifies two numbers per rank: `hit`, the chance of a click
    on an attractive document, examination x eps+, and `false`, on others, examination x eps-. Relevance is a.

    Scale and origin of a are not identified: hit is 1 at the first rank, and false is 0 at the lowest.
    With false = 0 at all ranks this is the position-based model.

    All numbers and the prior of the attractions are learnt together by maximum likelihood, each attraction integrated
    out. Where good ones are shown high, click probabilities may fall too steeply. The origin of a is known by the shape
    of the Beta prior alone: intervals hold the truth as far as attractions have that shape.
    """

    tolerance: float = 1e-5

    name: ClassVar[str] = "trust"

    def roles(self) -> Roles:
        return {"attraction": Role.DOCUMENT, "hit": Role.RANK, "false": Role.RANK, **PRIOR_ROLES}

    def learn(self, data: Counts, *, start: Parameters | None = None, say: Say = silent) -> Learnt:
        data = data.by_rank()
        prior, at = prior_of(self.prior, data), None if start is None else Chances(start["hit"], start["false"])
        initial = begun(prior, 0.3, start)
        found = fit_attractions(data, *_chances(data), prior, initial, at=at, tolerance=self.tolerance, say=say)
        strength, loadings = _doubt(found, prior) if start is None else ({}, {})
        return Learnt(
            {"attraction": found.tables()[0], **found.chances._asdict(), **prior_tables(found)},
            strength,
            trace=found.trace,
            rounds=found.rounds,
            converged=found.converged,
            facts={"attraction_prior": found.betas.of_unseen.table.tolist()},
            cautions=cautions_for(OfFit(steeper=_steeper(data))),
            loadings=loadings,
        )

    def law(self, parameters: Parameters, slots: SlateDocuments) -> ClickLaw:
        hit, false = (of_ranks(parameters[name], slots.shown.shape[1]) for name in ("hit", "false"))
        chance = false + (hit - false) * of_documents(parameters["attraction"], slots)
        return Independent(np.where(slots.shown, chance, 0.0))


def _doubt(found: Attractions, prior: Beta | PriorDesign) -> tuple[Parameters, Parameters]:
    """(strength, loadings) of all tables, by the products of the scores of documents (Berndt et al. 1974)."""
    value, places = np.concatenate(found.chances), np.flatnonzero(np.concatenate(_free(len(found.chances.hit))))
    spread, design = value * (1 - value), prior if isinstance(prior, PriorDesign) else None
    # Each free chance is a direction: by its logit, it moves by p (1 - p).
    along = np.diag(spread)[:, places].reshape(2, len(found.chances.hit), -1)
    information = _information(found, design, along, spread[places])
    covariance: Floats = np.asarray(np.linalg.pinv(information, hermitian=True), np.float64)
    moved = directions(covariance, np.diag(information), 2 * MOST)
    of_chances, of_prior = np.split(moved, [len(places)])
    loading, rest = np.zeros((len(value), moved.shape[1])), np.zeros(len(value))
    loading[places] = of_chances
    rest[places] = np.maximum(np.diag(covariance)[: len(places)] - (of_chances**2).sum(axis=1), 0.0)
    parts = (np.split(part, 2) for part in (value, rest * spread**2, loading))
    hit, false = map(Doubt, *parts)
    documents = attractions(found, along @ of_chances, design, of_prior)
    return kept({"attraction": documents, "hit": hit, "false": false})


def _information(found: Attractions, design: PriorDesign | None, along: Floats, weak: Floats) -> Floats:
    """Of the logits of the free chances, then of the prior's table. weak: that of the chances' own weak priors."""
    from scipy.linalg import block_diag  # slow to import

    each, own = scores(found, along).means, np.diag(weak)
    if found.prior is not None and design is not None:
        by_prior = found.prior.scores(design, found.integrals.by_a, found.integrals.by_b)
        hyper = np.linalg.inv(found.prior.covariance(design, np.zeros((1, by_prior.shape[1])), 1))
        each, own = np.hstack([each, by_prior]), block_diag(own, hyper)
    return np.asarray(each.T @ each + own)


def _chances(data: Counts) -> tuple[Chances, Free]:
    """Initial values of EM, and what it learns: all but the first rank's hit and the lowest rank's false."""
    ranks = np.arange(data.ranks)
    hit = np.clip(np.exp(rank_rates(data).log), 0.02, 0.98)
    false = 0.2 * hit * (1 - ranks / max(data.ranks - 1, 1))
    hit[0], false[-1] = 1.0, 0.0
    return Chances(hit, false), _free(data.ranks)


def _free(ranks: int) -> Free:
    rank = np.arange(ranks)
    return Free(rank > 0, rank < ranks - 1)


def _steeper(data: Counts) -> float:
    """How much faster click rates fall with rank than those of one and the same document, as a logarithm.

    Click rates fall with rank because of examination and of what is shown there. How they fall for one and the same
    document separates the two, approximately so under trust bias as well.
    """
    pooled, (shown, _) = rank_rates(data), data.by_cell()
    curve = fit_curve(data, pooled, tolerance=1e-4)
    return float((np.log(curve.value) - pooled.log) @ shown / shown.sum())
