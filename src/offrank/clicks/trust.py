"""TrustBias: the affine model of trust bias."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..findings import cautions_for
from ..findings.evidence_clicks import OfFit
from .counts import Counts
from .documents import SlateDocuments
from .fit.curve import fit_curve
from .fit.posterior import Chances, Free, fit_attractions
from .fit.priors import Beta, given
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

    All numbers and the prior of the attractions are learnt together by EM with each attraction integrated out. This
    assumes documents to be alike at all ranks: where good ones are shown high, click probabilities fall too steeply.
    """

    tolerance: float = 1e-5

    name: ClassVar[str] = "trust"

    def roles(self) -> Roles:
        return {"attraction": Role.DOCUMENT, "hit": Role.RANK, "false": Role.RANK, "attraction_prior": Role.PRIOR}

    def learn(self, data: Counts, *, start: Parameters | None = None, say: Say = silent) -> Learnt:
        data = data.by_rank()
        begin = Beta(0.7, 1.6)
        at = None
        if start is not None:
            begin, at = Beta.at(start["attraction_prior"]), Chances(start["hit"], start["false"])
        found = fit_attractions(
            data, *_chances(data), given(self.prior), begin, at=at, tolerance=self.tolerance, say=say
        )
        attraction, strength = found.tables()
        tables = {"attraction": attraction, **found.chances._asdict(), "attraction_prior": found.prior.table}
        return Learnt(
            tables,
            {"attraction": strength},
            trace=found.climb.trace,
            rounds=found.climb.rounds,
            converged=found.climb.converged,
            facts={"attraction_prior": found.prior.table.tolist()},
            cautions=cautions_for(OfFit(steeper=_steeper(data))),
        )

    def law(self, parameters: Parameters, slots: SlateDocuments) -> ClickLaw:
        hit, false = (of_ranks(parameters[name], slots.shown.shape[1]) for name in ("hit", "false"))
        chance = false + (hit - false) * of_documents(parameters["attraction"], slots)
        return Independent(np.where(slots.shown, chance, 0.0))


def _chances(data: Counts) -> tuple[Chances, Free]:
    """Initial values of EM, and what it learns: all but the first rank's hit and the lowest rank's false."""
    rates, ranks = rank_rates(data), np.arange(data.ranks)
    hit = np.clip(rates, 0.02, 0.98)
    false = 0.2 * hit * (1 - ranks / max(data.ranks - 1, 1))
    hit[0], false[-1] = 1.0, 0.0
    return Chances(hit, false), Free(ranks > 0, ranks < data.ranks - 1)


def _steeper(data: Counts) -> float:
    """How much faster click rates fall with rank than those of one and the same document, as a logarithm.

    Click rates fall with rank because of examination and of what is shown there. How they fall for one and the same
    document separates the two, approximately so under trust bias as well.
    """
    rates = rank_rates(data)
    curve = fit_curve(data, rates, tolerance=1e-4)
    known = curve.deviation < 1.0
    steeper = np.log(curve.value[known] / rates[known])
    shown = data.by_cell()[0][known]
    return float(steeper @ shown / shown.sum())
