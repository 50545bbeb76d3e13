"""The moments of estimators' weights that follow from two policies alone, before any reward is seen.

The weights in a log say nothing of those that happened not to occur in it. Here the moments of the weights come
from the policies, over a random sample of the log's contexts, by slates of the target (see `unique_weights`); those of
the pseudoinverse from E[w^2 | context] = q' Gamma^+ q. Rows kept with probability p count 1 / p times, and p is
assumed to be a function of the context.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from ..errors import AbilityError, OffrankError
from ..log.batch import Floats, Integers, RunCache
from ..log.source import Needs, Source, has
from ..policies.propensities import AnyPolicy, is_law, law, law_needs, shown_needs
from ..sums.base import MappedFold
from ..sums.estimate import Design
from ..sums.sampled import SampledRows, SampledRowsFold
from .base import Estimator
from .fold import Layout
from .pseudoinverse.estimator import PI
from .pseudoinverse.overlap import overlap
from .sampled_slates import DRAWS, SampledSlates, sampled_slates
from .unique_weights import UniqueWeights, asked, unique_weights, weighted

KEPT = 2048
"""Largest number of contexts examined in a log."""
CANDIDATES = 1 << 20
"""Largest number of candidates in them."""
PAIRS = 1 << 21
"""Largest number of entries [slates, k, k] at a time: fewer contexts are examined where slates are long."""
TURNED = 512
"""Contexts examined for weights of items at every rank, each of which needs the rank laws once per rank."""
INVERSES = 512
"""Contexts examined for the pseudoinverse."""
FEWEST = 5.0
"""With fewer expected rows of a weight, a log may well hold none: the probability is 1 / 150 at five."""
_ROUNDING = 1e-9
_LARGEST = 1e100
"""Weights beyond this count as this: their third powers are summed."""


@dataclass(frozen=True)
class DesignFold(MappedFold):
    """Keeps a random sample of a log's contexts and returns a `Design` or None for each pair of the layout.

    able: by number, the pairs whose columns are read. None for others, and where a policy lacks an ability:
    the logging policy must be a law, and the target must be able to draw. read: the columns of the contexts.
    """

    layout: Layout
    logging: AnyPolicy
    able: frozenset[int]
    read: Needs
    kept: int = KEPT
    draws: int = DRAWS
    cache: RunCache = field(default_factory=RunCache, compare=False, repr=False)

    def needs(self) -> Needs:
        """Return the columns to read."""
        return self.read

    @property
    def reducer(self) -> SampledRowsFold:
        return SampledRowsFold(self.read, self.kept if self.able else 0, cells=CANDIDATES, each="candidate")

    def result(self, state: SampledRows) -> tuple[Design | None, ...]:
        sampled: dict[bool, _Sampled] = {}  # one target at a time
        found = []
        for target, estimator, number, *_ in self.layout.pairs:
            made = None
            if number in self.able and len(state):
                plain = estimator.unbounded
                turned = plain is not None and plain.follows == "every rank"
                most = TURNED if turned else self.kept
                known = sampled.get(turned)
                if known is None or known.target is not target:
                    known = sampled[turned] = _Sampled(state, target, self.logging, self.draws, self.cache, most)
                with suppress(OffrankError, NotImplementedError):  # diagnostics must not stop the estimate
                    made = known.design(estimator)
            found.append(made)
        return tuple(found)


def design_fold(layout: Layout, logging: AnyPolicy, source: Source, needed: Needs, cache: RunCache) -> DesignFold:
    """The fold that finds the designs; it reads columns that it needs beside those `needed` anyway."""
    able = set()
    for target, estimator, number, *_ in layout.pairs:
        more = _needs(target, estimator, logging)
        if more is not None and _has(source, needed, more):
            able.add(number)
            needed |= more
    return DesignFold(layout, logging, frozenset(able), needed, cache=cache)


def _needs(target: AnyPolicy, estimator: Estimator, logging: AnyPolicy) -> Needs | None:
    """The columns that a design needs; None where it cannot be computed."""
    plain = weighted(estimator)[1]
    try:
        if isinstance(estimator, PI) and estimator.slots == "joint":
            return law_needs(target, "rank_probs") | law_needs(logging, "pair_probs")
        ability = asked(plain)
        if ability is None or plain is None or not is_law(logging):
            return None
        found = law_needs(target, "sample") | shown_needs(target, ability)
        return found | shown_needs(logging, ability)
    except AbilityError:
        return None


def _has(source: Source, needed: Needs, more: Needs) -> bool:
    """Whether a source has these further columns besides those needed."""
    return replace(needed | more, exchangeable=needed.exchangeable) == needed or has(source, needed | more)


class _Sampled:
    """The slates that one target shows in the sampled contexts, shared by all estimators."""

    def __init__(
        self, state: SampledRows, target: AnyPolicy, logging: AnyPolicy, draws: int, cache: RunCache, most: int
    ) -> None:
        slots = max(state.contexts.slots, 1)
        few = np.arange(min(len(state), max(PAIRS // slots**2, 1), most))
        self.state, self.target, self.logging, self.cache = state, target, logging, cache
        self.contexts, self.inclusion = state.contexts.take(few), state.inclusion[few]
        cells = max(self.contexts.candidates.shape[1], slots**2)
        self.draws = min(draws, max(PAIRS // cells, 1))
        self._slates: tuple[SampledSlates, Integers] | None = None

    def design(self, estimator: Estimator) -> Design | None:
        if isinstance(estimator, PI):
            return self._of_inverse(estimator)
        weighting, plain = weighted(estimator)
        if weighting is None or plain is None:
            return None
        if self._slates is None:
            given = law(self.target, "sample"), law(self.logging, "log_prob"), self.contexts, self.inclusion
            self._slates = sampled_slates(*given, self.cache, self.draws)
        slates, order = self._slates
        found = unique_weights(weighting, plain, slates)
        length = np.ones(len(order)) if plain.outcome == "reward" else self.contexts.length[order]
        number = (np.arange(found.weight.shape[1]) < length[:, None]).astype(np.float64)
        return _design(found, number, 1 / self.inclusion[order], self.state.read)

    def _of_inverse(self, estimator: PI) -> Design:
        few = np.arange(min(len(self.contexts), INVERSES))
        target, logging = law(self.target, "rank_probs"), law(self.logging, "pair_probs")
        found = overlap(logging, target, self.contexts.take(few), estimator.samples, self.cache)
        counts = 1 / self.inclusion[few]
        second = found.sigma2 + found.sampling
        mean = float((counts * found.supported).sum())
        effective = self.state.read / len(few) * _effective(counts * found.supported, counts**2 * second)
        return Design(
            rows=len(few),
            second_moment=float((counts * second).sum() / counts.sum()),
            third_moment=np.nan,
            largest=float(found.rho.max()),
            unsupported=1 - mean / float(counts.sum()),
            hidden=0.0,
            effective=effective,
            visible=effective,
        )


def _design(found: UniqueWeights, number: Floats, counts: Floats, read: int) -> Design:
    """The design of weights. number: [rows, c] which slots exist; counts: [rows] 1 / inclusion; read: log rows."""
    count = counts[found.row, None]
    each, repeats = count * found.chance, read / len(counts)
    slots = float((counts[:, None] * number).sum())
    kish = repeats * float(counts.sum()) / slots  # per impression
    weight = np.minimum(found.weight, _LARGEST)
    mass, squares = each * found.control, count * each * weight**2
    seen = [_least_hidden(found.weight[:, slot], repeats * found.chance[:, slot]) for slot in range(number.shape[1])]
    hidden = found.weight > np.array(seen)
    return Design(
        rows=len(counts),
        second_moment=float((each * weight**2).sum()) / slots,
        third_moment=float((each * weight**3).sum()) / slots,
        largest=float(found.weight.max(initial=0.0, where=found.chance > 0)),
        unsupported=max(1 - float((each * found.free).sum()) / slots, 0.0),
        hidden=float(mass[hidden].sum()) / slots,
        effective=kish * _effective(mass, squares),
        visible=kish * _effective(mass[~hidden], squares[~hidden]),
    )


def _effective(weights: Floats, squares: Floats) -> float:
    total = float(squares.sum())
    return float(weights.sum()) ** 2 / total if total > 0 else 0.0


def _least_hidden(weight: Floats, expected: Floats) -> float:
    """The largest weight such that FEWEST rows are expected with it or larger ones, 0 where there is none.

    expected: expected number of rows with each.
    """
    order = np.argsort(-weight, kind="stable")
    size = weight[order]
    last = np.append(size[1:] < size[:-1] * (1 - _ROUNDING), True)  # of each weight, up to rounding
    seen = np.flatnonzero(last & (np.cumsum(expected[order]) >= FEWEST * (1 - _ROUNDING)))
    return float(size[seen[0]]) * (1 + 2 * _ROUNDING) if len(seen) else 0.0
