"""Do the propensities that were written in a log hold, and could the log have shown it if they did not?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..findings.log import BLIND, LogEvidence
from ..findings.odd_mean import NEAR
from ..log.batch import Floats, LogBatch
from ..log.source import Needs
from ..policies.base import Policy
from ..policies.logged_probabilities import Logged
from ..policies.propensities import propensities
from ..sums.base import Fold
from .propensities import Agreement

SURE = 0.99
"""Share from which written propensities say that nothing was drawn: of the probability, of pairs and of rows."""
APART = 0.01
"""Share of the rows whose logged propensity may differ from the law's by more than 1 %."""
_LOOSE = 0.25
"""How far above 1 the interval of the mean weight may reach; beyond, tails that were not seen decide."""
_LOGGED = Logged()


@dataclass(frozen=True)
class WrittenPropensities:
    """What the propensities say of themselves, and beside the laws that were tried.

    - certain: whether they say that nothing was drawn. by_law: how they agree with the law that fits best, None if none
      fits; by_uniform: with uniform, None if they were not compared.
    """

    certain: bool = False
    by_law: Agreement | None = None
    by_uniform: Agreement | None = None

    @property
    def agreed(self) -> bool | None:
        """Whether they are those of the law that fits best; None where none fits."""
        return None if self.by_law is None else self.by_law.share_apart <= APART

    @property
    def uniform(self) -> bool:
        """Whether they are those of uniform."""
        return self.by_uniform is not None and self.by_uniform.share_apart <= APART


@dataclass(frozen=True)
class CertainFold(Fold):
    """Whether written propensities say of nearly all rows with a choice that what was shown was certain."""

    def needs(self) -> Needs:
        """Return the columns to read."""
        return _LOGGED.reads("log_prob") | Needs(frozenset(["candidates"]))

    def of(self, batch: LogBatch) -> Floats:
        choice = batch.contexts.size > 1
        certain = np.exp(propensities(_LOGGED, batch).log_prob) > SURE
        return np.array([choice.sum(), (choice & certain).sum()], float)

    def result(self, found: Floats) -> bool:
        return bool(found[0] and found[1] >= SURE * found[0])


def testable(log: LogEvidence, written: WrittenPropensities) -> bool:
    """Whether a log would have shown it if the propensities that were written had nothing to do with its slates.

    Rows of one context would repeat what they show. A law that follows scores would not fit. Or the mean weight of
    uniform, which is 1 under right propensities, would be 1 plus its variance, as for slates that they say nothing of.
    """
    if log.least_repeats <= BLIND or (written.agreed and not written.uniform):
        return True
    mean = log.mean_weight
    if mean is None or not mean.low <= 1 <= mean.high <= 1 + _LOOSE:
        return False
    return mean.standard_error**2 * log.rows > 2 * max(mean.high - 1, NEAR)


def taken_as_written(logging: Policy, log: LogEvidence) -> bool:
    """Whether the propensities of a logging policy are those that were written, and the log could not test them."""
    return logging.confirmed.written and not testable(log, WrittenPropensities())


def untested_in_words(log: LogEvidence, groups: Sequence[str]) -> str:
    """Say why a log cannot test its propensities. groups: the columns that tell which rows have one context."""
    if log.repeats is None or not log.repeats.pairs:
        repeat = "queries do not repeat" if "query" in groups else "no two rows can be compared"
    else:
        repeat = "queries hardly repeat" if "query" in groups else "few rows can be compared"
    return f"{repeat}, so fixed slates would look the same"
