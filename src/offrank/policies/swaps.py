"""A fixed ranking with random swaps: the logging policy of paper interpol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..errors import UsageError
from ..language.spelling import Spelled
from ..log.batch import Contexts, Floats
from .base import Policy, refuse_no_policy
from .mixture import UniformMixture
from .registry import POLICIES


@POLICIES.register
@dataclass(frozen=True, repr=False)
class Swaps(Spelled, UniformMixture):
    """Every item keeps its base rank with probability `stay`, else any other rank is equally likely.

    The paper gives these marginals but no law over permutations. This is the simplest law that has
    them: the base ranking, or, with probability b = (1 - stay) m / (m - 1), a uniform permutation.

    Parameters:
        base: a policy that sorts.
        stay: the probability that an item keeps its rank.

    Raises:
        UsageError: a `stay` that is not above 0 and at most 1.

    Examples:
        >>> offrank.Swaps(offrank.Top("new_score"), 0.9)
        swaps(top(new_score), 0.9)
    """

    name: ClassVar[str] = "swaps"
    base: Policy
    stay: float

    def __post_init__(self) -> None:
        refuse_no_policy(self, self.base)
        if not 0 < self.stay <= 1:
            raise UsageError(f"stay is {self.stay}", "give a probability above 0, at most 1")

    def uniform_share(self, contexts: Contexts) -> Floats:
        """[n] probability b of the uniform permutation."""
        size = contexts.size
        share = np.where(size > 1, (1 - self.stay) * size / np.maximum(size - 1, 1), 0.0)
        if share.max(initial=0) > 1:
            raise UsageError(
                f"{self!r} with {size[share.argmax()]} candidates: an item would keep its rank less often than by "
                "chance",
                "use a stay of at least 1 / candidates",
            )
        return share
