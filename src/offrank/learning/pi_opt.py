"""PI-OPT: rewards of whole slates, split into rewards of actions by the pseudoinverse, and regressed on features."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from .boosting import Boosting, Grower
from .examples import Data
from .trees import rounds


@dataclass(frozen=True)
class PiOpt(Boosting):
    """PI-OPT (paper slate-pseudoinverse, section 4.2 and App. G), from the reward of a slate alone.

    The targets of the regression are phi, the pseudoinverse's estimates of the reward of each candidate in each slot,
    averaged over the impressions of a query; queries count equally. They are unbiased if a slate's reward is a sum over
    its slots. The baseline, the median reward, is subtracted first, so that a constant added to all rewards teaches
    the same. The slate takes the pair of highest prediction first.
    """

    def grower(self, data: Data) -> Grower:
        contexts = data.contexts
        assert contexts is not None
        share = np.repeat(contexts.share, contexts.contexts.size)[:, None]
        phi, weights = contexts.phi(data.train.baseline()), share * contexts.sums.weights
        pads = ((0, 0), (0, max(data.longest - phi.shape[1], 0)))  # slots of other thirds: of weight 0, left out
        return partial(rounds, targets=np.pad(phi, pads), weights=np.pad(weights, pads))
