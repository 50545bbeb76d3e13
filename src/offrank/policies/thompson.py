"""Thompson sampling: each arm's key is drawn from its posterior, and the arms are shown in the order of their keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from ..language.spelling import Spelled
from ..log.batch import Contexts
from ..races import BetaKeys, GaussianKeys, Keys, refuse_other_posteriors
from .base import refuse_no_column
from .racing import Racing, numbers_of
from .registry import POLICIES


@POLICIES.register
@dataclass(frozen=True, repr=False)
class Thompson(Spelled, Racing):
    """Every candidate draws a key from Beta(alpha, beta) or Normal(mean, sd); the largest keys are shown in order.

    Each row holds what the bandit knew when it drew. With one slot, P(an arm) is the probability that its key is the
    largest; Thompson (1933), On the likelihood that one unknown probability exceeds another.

    Parameters:
        alpha: column with a list of counts beside the candidates, the prior's included.
        beta: the same of failures.
        mean: instead of counts, column with the means of Gaussian posteriors.
        sd: column with their standard deviations.

    Raises:
        UsageError: a name is no text, or not both columns of counts, or of moments, are given.

    Examples:
        >>> offrank.Thompson("alpha", "beta")
        thompson(alpha, beta)
        >>> offrank.Thompson(mean="mean", sd="sd")
        thompson(mean=mean, sd=sd)
    """

    name: ClassVar[str] = "thompson"
    alpha: str | None = None
    beta: str | None = None
    mean: str | None = field(default=None, kw_only=True)
    sd: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        refuse_other_posteriors(self.alpha, self.beta, self.mean, self.sd)
        refuse_no_column(self, *self.columns)

    @property
    def columns(self) -> tuple[str, ...]:
        given = (self.alpha, self.beta, self.mean, self.sd)
        return tuple(column for column in given if column is not None)

    @property
    def positive(self) -> tuple[str, ...]:
        return self.columns[1:] if self.alpha is None else self.columns

    def keys(self, contexts: Contexts) -> Keys:
        first, second = (numbers_of(self, contexts, column) for column in self.columns)
        return GaussianKeys(first, second) if self.alpha is None else BetaKeys(first, second)
