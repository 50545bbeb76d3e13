"""A ranker that adds noise to its scores and sorts."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ..errors import UsageError
from ..language.spelling import Spelled
from ..log.batch import Contexts
from ..races import GUMBEL_SCALE, NOISES, Keys, noise_keys
from .base import refuse_no_column
from .plackett_luce import PlackettLuce
from .racing import Racing, numbers_of
from .registry import POLICIES


@POLICIES.register
@dataclass(frozen=True, repr=False)
class Noisy(Spelled, Racing):
    """The candidates sorted by their score plus independent noise, which is most likely 0 for each of them.

    Gaussian noise has mean 0. Gumbel noise has its mode at 0 and its mean 0.45 sd above, so that a larger sd of its own
    also lifts a candidate.

    Parameters:
        scores: a column of numbers beside the candidates.
        sd: the standard deviation of the noise, a number, or a column with a list of numbers beside the candidates.
        noise: `gaussian` or `gumbel`. With Gumbel noise of one size it is Plackett-Luce with weights exp(score /
            temperature), temperature = sd sqrt(6) / pi, and is computed as such.

    Raises:
        UsageError: an sd that is not above 0, or an unknown noise.

    Examples:
        >>> offrank.Noisy("score", sd=0.3)
        noisy(score, sd=0.3)
    """

    name: ClassVar[str] = "noisy"
    scores: str
    sd: float | str = field(kw_only=True)
    noise: str = field(default="gaussian", kw_only=True)

    def __post_init__(self) -> None:
        refuse_no_column(self, self.scores)
        number = isinstance(self.sd, int | float) and not isinstance(self.sd, bool)
        if not isinstance(self.sd, str) and not (number and 0 < self.sd < math.inf):
            remedy = f"give a number above 0, or a column; without noise it is top({self.scores})"
            raise UsageError(f"{self!r}: sd is {self.sd!r}", remedy)
        if self.noise not in NOISES:
            raise UsageError(f"{self!r}: unknown noise {self.noise!r}", "give noise=gaussian or noise=gumbel")

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.scores, *self.positive)

    @property
    def positive(self) -> tuple[str, ...]:
        return (self.sd,) if isinstance(self.sd, str) else ()

    @property
    def plackett_luce(self) -> PlackettLuce | None:
        if self.noise != "gumbel" or isinstance(self.sd, str):
            return None
        return PlackettLuce(self.scores, temperature=self.sd * GUMBEL_SCALE, log=True)

    def keys(self, contexts: Contexts) -> Keys:
        score = numbers_of(self, contexts, self.scores)
        sd = numbers_of(self, contexts, self.sd) if isinstance(self.sd, str) else np.full(score.shape, float(self.sd))
        return noise_keys(score, sd, self.noise)
