"""What two policies alone say of the weights of estimators: trust before luck.

The weights of a log say nothing of those that it should have shown and did not. Here the moments of the weights come
from the policies, over a random sample of the log's contexts, by slates that the target shows (see `atoms`); of the
pseudoinverse from E[w^2 | context] = q' Gamma^+ q. Rows that were kept with probability p count 1 / p times, and p is
taken to follow from the context.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ..errors import AbilityError, ColumnError, OffrankError
from ..folds.estimate import Design
from ..log.batch import Contexts, Floats, Integers, LogBatch
from ..log.contexts import joined
from ..log.hashing import hashed
from ..log.source import Needs, Source
from ..policies.propensities import AnyPolicy, is_law, law, law_needs, shown_needs
from ..running.cache import RunCache
from . import visits as slates
from .atoms import Atoms, asked, atoms, weighted
from .base import Estimator
from .fold import Layout
from .items import PBM, Interpol
from .pseudoinverse.estimator import PI
from .pseudoinverse.overlap import overlap

KEPT = 2048
"""Contexts that are looked at, of a log that has more."""
CANDIDATES = 1 << 20
"""At most so many candidates in them."""
PAIRS = 1 << 21
"""At most so many numbers [slates, k, k] at a time: fewer contexts are looked at where slates are long."""
TURNED = 512
"""Contexts for weights of items at every rank, of which each asks for the laws once a rank."""
INVERSES = 512
"""Contexts that are looked at for the pseudoinverse."""
FEWEST = 5.0
"""A log that is expected to hold fewer rows with a weight may well hold none: one chance in 150 at five."""
_ROUNDING = 1e-9
_END = np.uint64(2**64 - 1)


@dataclass(frozen=True)
class Rows:
    """The contexts of some rows, in the order of their hashes `key` [r]; `read`: of how many; `bound`: of the next."""

    read: int
    key: NDArray[np.uint64]
    inclusion: Floats
    contexts: Contexts | None
    bound: np.uint64 = _END


@dataclass(frozen=True)
class DesignFold:
    """Keeps a random sample of a log's contexts; at the end, for each pair of the layout a `Design` or None.

    able: by number, the pairs whose columns are read. None for others, and where a policy cannot know what is asked:
    the logging policy must be a law, and the target be able to draw.
    """

    layout: Layout
    logging: AnyPolicy
    able: frozenset[int]
    kept: int = KEPT
    draws: int = slates.DRAWS
    cache: RunCache = field(default_factory=RunCache, compare=False, repr=False)

    def empty(self) -> Rows:
        return Rows(0, np.empty(0, np.uint64), np.empty(0), None)

    def add(self, state: Rows, batch: LogBatch) -> Rows:
        key = hashed(batch.row)
        some = np.flatnonzero(key < state.bound)  # few, once the state has filled
        bound = state.bound
        if len(some) > self.kept:
            some = some[np.argpartition(key[some], self.kept)[: self.kept + 1]]
        some = some[np.argsort(key[some], kind="stable")]
        if len(some) > self.kept:
            bound, some = key[some[-1]], some[:-1]
        if not self.able or not len(some):
            return replace(state, read=state.read + len(batch))
        contexts = joined([batch.contexts.take(some)])
        return self.merge(state, Rows(len(batch), key[some], batch.inclusion[some], contexts, bound))

    def merge(self, left: Rows, right: Rows) -> Rows:
        read, bound = left.read + right.read, min(left.bound, right.bound)
        given = [side for side in (left, right) if side.contexts is not None]
        if not given:
            return Rows(read, left.key, left.inclusion, None, bound)
        key, inclusion = (np.concatenate([getattr(one, name) for one in given]) for name in ("key", "inclusion"))
        contexts = joined([one.contexts for one in given if one.contexts is not None])
        order = np.argsort(key, kind="stable")
        order = order[key[order] < bound]
        within = (np.cumsum(contexts.size[order]) <= CANDIDATES) & (np.arange(len(order)) < self.kept)
        if not within.all():
            bound, order = key[order[np.argmin(within)]], order[: np.argmin(within)]
        return Rows(read, key[order], inclusion[order], joined([contexts.take(order)]), bound)

    def finish(self, state: Rows) -> tuple[Design | None, ...]:
        sampled: dict[tuple[int, bool], _Sampled] = {}
        found = []
        for number, (target, estimator, _, _) in enumerate(self.layout.pairs()):
            made = None
            if number in self.able and len(state.key):
                turned = isinstance(weighted(estimator)[1], Interpol | PBM)
                most = TURNED if turned else self.kept
                if (id(target), turned) not in sampled:
                    few = _Sampled(state, target, self.logging, self.draws, self.cache, most)
                    sampled[id(target), turned] = few
                known = sampled[id(target), turned]
                with suppress(OffrankError, NotImplementedError):  # what is said beside an estimate does not end it
                    made = known.design(estimator)
            found.append(made)
        return tuple(found)


def design_fold(
    layout: Layout, logging: AnyPolicy, source: Source, needed: Needs, cache: RunCache
) -> tuple[DesignFold, Needs]:
    """What finds the designs, and all columns that are read with those that are `needed` anyway."""
    able = set()
    for number, (target, estimator, _, _) in enumerate(layout.pairs()):
        more = _needs(target, estimator, logging)
        if more is not None and _has(source, needed, more):
            able.add(number)
            needed |= more
    return DesignFold(layout, logging, frozenset(able), cache=cache), needed


def _needs(target: AnyPolicy, estimator: Estimator, logging: AnyPolicy) -> Needs | None:
    """The columns that a design needs; None where it cannot be known."""
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
    """Whether a source has these columns besides those that are needed."""
    if replace(needed | more, exchangeable=needed.exchangeable) == needed:
        return True
    try:
        source.select(needed | more)
    except ColumnError:
        return False
    return True


class _Sampled:
    """The sample of contexts as one target visits them, once for all estimators."""

    def __init__(
        self, state: Rows, target: AnyPolicy, logging: AnyPolicy, draws: int, cache: RunCache, most: int
    ) -> None:
        assert state.contexts is not None
        slots = max(state.contexts.slots, 1)
        few = np.arange(min(len(state.key), max(PAIRS // slots**2, 1), most))
        self.state, self.target, self.logging, self.cache = state, target, logging, cache
        self.contexts, self.inclusion = state.contexts.take(few), state.inclusion[few]
        cells = max(self.contexts.candidates.shape[1], slots**2)
        self.draws = min(draws, max(PAIRS // cells, 1))
        self._visits: tuple[slates.Visits, Integers] | None = None

    def design(self, estimator: Estimator) -> Design | None:
        if isinstance(estimator, PI):
            return self._of_inverse(estimator)
        weighting, plain = weighted(estimator)
        if weighting is None or plain is None:
            return None
        if self._visits is None:
            given = law(self.target, "sample"), law(self.logging, "log_prob"), self.contexts, self.inclusion
            self._visits = slates.visits(*given, self.cache, self.draws)
        visits, order = self._visits
        found = atoms(weighting, plain, visits)
        length = np.ones(len(order)) if plain.earns == "reward" else self.contexts.length[order]
        number = (np.arange(found.weight.shape[1]) < length[:, None]).astype(np.float64)
        return _design(found, number, 1 / self.inclusion[order], self.state.read)

    def _of_inverse(self, estimator: PI) -> Design:
        few = np.arange(min(len(self.contexts), INVERSES))
        target, logging = law(self.target, "rank_probs"), law(self.logging, "pair_probs")
        found = overlap(logging, target, self.contexts.take(few), estimator.samples, self.cache)
        counts = 1 / self.inclusion[few]
        second = found.sigma2 + found.sampling
        mean = float(counts @ found.supported)
        effective = self.state.read / len(few) * _effective(counts * found.supported, counts**2 * second)
        return Design(
            rows=len(few),
            second_moment=float(counts @ second / counts.sum()),
            third_moment=np.nan,
            largest=float(found.rho.max()),
            unsupported=1 - mean / float(counts.sum()),
            hidden=0.0,
            effective=effective,
            visible=effective,
        )


def _design(found: Atoms, number: Floats, counts: Floats, read: int) -> Design:
    """From the atoms. number: [rows, c] which slots there are; counts: [rows] 1 / inclusion; read: rows of the log."""
    count = counts[found.row, None]
    each, repeats = count * found.chance, read / len(counts)
    slots = float((counts @ number).sum())
    kish = repeats * float(counts.sum()) / slots  # per impression
    mass, squares = each * found.control, count * each * found.weight**2
    seen = [_least_hidden(found.weight[:, slot], repeats * found.chance[:, slot]) for slot in range(number.shape[1])]
    hidden = found.weight > np.array(seen)
    return Design(
        rows=len(counts),
        second_moment=float((each * found.weight**2).sum()) / slots,
        third_moment=float((each * found.weight**3).sum()) / slots,
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
    """The largest weight such that FEWEST rows are expected with it or a larger one, 0 where there is none.

    expected: how many rows are expected with each.
    """
    order = np.argsort(-weight, kind="stable")
    size = weight[order]
    last = np.append(size[1:] < size[:-1] * (1 - _ROUNDING), True)  # of each weight, but for rounding
    seen = np.flatnonzero(last & (np.cumsum(expected[order]) >= FEWEST * (1 - _ROUNDING)))
    return float(size[seen[0]]) * (1 + 2 * _ROUNDING) if len(seen) else 0.0
