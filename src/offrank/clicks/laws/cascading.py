"""Users who read in order and may stop after every result: cascade, DCM, CCM, DBN, SDBN."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...log.batch import Floats
from . import _kernels


@dataclass(frozen=True)
class Cascading:
    """Reads from the top; an examined result is clicked with probability `attraction`.

    All [n, k]: attraction (0 on pads and holes), after_click and after_skip: probability to go on to the next rank
    once this one was clicked, or examined and not clicked. Examination is hidden: the belief in it is
    e_1 = 1; after a click e_{k+1} = after_click; after none, by Bayes' rule,
    e_{k+1} = after_skip e_k (1 - a_k) / (1 - e_k a_k).
    """

    attraction: Floats
    after_click: Floats
    after_skip: Floats

    def marginal(self) -> Floats:
        return _kernels.cascading_marginal(self.attraction, self.after_click, self.after_skip)

    def conditional(self, clicks: Floats) -> Floats:
        return _kernels.cascading_conditional(self.attraction, self.after_click, self.after_skip, clicks)

    def sample(self, rng: np.random.Generator) -> Floats:
        draws = rng.random((2, *self.attraction.shape))
        return _kernels.cascading_sample(self.attraction, self.after_click, self.after_skip, draws[0], draws[1])


@dataclass(frozen=True)
class Upward:
    """As `Cascading`, read from the bottom to the top. What is known of a session still comes from the ranks above."""

    attraction: Floats
    after_click: Floats
    after_skip: Floats

    def marginal(self) -> Floats:
        return np.ascontiguousarray(self._turned.marginal()[:, ::-1])

    def conditional(self, clicks: Floats) -> Floats:
        return _kernels.upward_conditional(self.attraction, self.after_click, self.after_skip, clicks)

    def sample(self, rng: np.random.Generator) -> Floats:
        return np.ascontiguousarray(self._turned.sample(rng)[:, ::-1])

    @property
    def _turned(self) -> Cascading:
        turned = (np.ascontiguousarray(a[:, ::-1]) for a in (self.attraction, self.after_click, self.after_skip))
        return Cascading(*turned)
