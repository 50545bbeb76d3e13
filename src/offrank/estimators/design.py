"""The moments of estimators' weights that follow from two policies alone, before any reward is seen.

The weights in a log say nothing of those that happened not to occur in it. Here the moments of the weights come
from the policies, over a random sample of the log's contexts, by slates of the target (see `unique_weights`); those of
the pseudoinverse from E[w^2 | context] = q' Gamma^+ q. Rows kept with probability p count 1 / p times, and p is
assumed to be a function of the context.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..errors import AbilityError, OffrankError
from ..log.batch import Floats, Integers, RunCache
from ..log.source import Needs, Source, has
from ..policies.base import Policy
from ..sums.estimate import Design
from ..sums.sampled import SampledRows, SampledRowsFold
from .layout import Layout, TargetPair
from .pseudoinverse.estimator import PI
from .pseudoinverse.overlap import overlap
from .sampled_slates import DRAWS, SampledSlates, sampled_slates
from .unique_weights import UniqueWeights, ratios, turned

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
_Known = dict[bool, tuple[Policy, SampledSlates]]
"""A target and its slates, by whether they are those of weights of items at every rank."""
_LARGEST = 1e100
"""Weights beyond this count as this: their third powers are summed."""


@dataclass(frozen=True)
class DesignFold(SampledRowsFold):
    """Keeps a random sample of a log's contexts and returns a `Design` or None for each pair of the layout.

    able: by number, the pairs whose columns are read. None for others, and where a policy lacks an ability:
    the logging policy must be a law, and the target must be able to draw. draws: slates of a target that draws.
    """

    layout: Layout = field(kw_only=True, compare=False)
    logging: Policy = field(kw_only=True, compare=False)
    able: frozenset[int] = field(kw_only=True, compare=False)
    draws: int = field(default=DRAWS, kw_only=True, compare=False)
    cache: RunCache = field(default_factory=RunCache, kw_only=True, compare=False, repr=False)

    def needs(self) -> Needs:
        """The columns to read."""
        return self.wanted

    def result(self, part: Any) -> tuple[Design | None, ...]:
        known: _Known = {}
        state, found = super().result(part), []
        for pair in self.layout.pairs:
            made = None
            if pair.number in self.able and state.inclusion.size:
                with suppress(OffrankError, NotImplementedError):  # diagnostics must not stop the estimate
                    made = self._design(state, pair, known)
            found.append(made)
        return tuple(found)

    def _design(self, state: SampledRows, pair: TargetPair, known: _Known) -> Design | None:
        """The design of one pair. known: the slates that the last target shows, shared by its estimators."""
        target, estimator, weighted, plain, *_ = pair
        slots = max(state.slates.shape[1], 1)
        if weighted is None or plain is None:
            return None
        moves = plain.kind.follows == "every rank"
        rows = state.inclusion.size
        few = np.arange(min(rows, max(PAIRS // slots**2, 1), TURNED if moves else self.kept))
        if isinstance(estimator, PI):
            return self._of_inverse(state, few[:INVERSES], target, estimator)
        if any(other is not target for other, _ in known.values()):
            known.clear()
        if moves not in known:
            contexts = state.contexts if len(few) == rows else state.contexts.take(few)
            inclusion = state.inclusion[few]
            draws = min(self.draws, max(PAIRS // max(contexts.candidates.shape[1], slots**2), 1))
            given = target.law("sample"), self.logging.law("log_prob"), contexts, inclusion
            known[moves] = target, sampled_slates(*given, self.cache, draws)
        slates = known[moves][1]
        found = (turned if moves else ratios)(weighted, plain, slates)
        few = few[slates.order]
        length = np.ones(len(few)) if plain.kind.outcome == "reward" else state.contexts.length[few]
        number = (np.arange(found.weight.shape[1]) < length[:, None]).astype(np.float64)
        return _design(found, number, 1 / state.inclusion[few], state.read)

    def _of_inverse(self, state: SampledRows, few: Integers, target: Policy, estimator: PI) -> Design:
        """The design of the pseudoinverse, in a few of the contexts."""
        wanted, logging = target.law("rank_probs"), self.logging.law("pair_probs")
        found = overlap(logging, wanted, state.contexts.take(few), estimator.samples, self.cache)
        counts = 1 / state.inclusion[few]
        second = found.sigma2 + found.sampling
        mean = float((counts * found.supported).sum())
        squares = float((counts**2 * second).sum())
        effective = state.read / len(few) * (mean**2 / squares if squares > 0 else 0.0)
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


def design_fold(layout: Layout, logging: Policy, source: Source, needed: Needs, cache: RunCache) -> DesignFold:
    """The fold that finds the designs; it reads columns that it needs beside those `needed` anyway."""
    able = set()
    for pair in layout.pairs:
        target, estimator, plain = pair.target, pair.estimator, pair.plain
        with suppress(AbilityError):
            if isinstance(estimator, PI) and estimator.slots == "joint":
                every = needed | target.reads("rank_probs") | logging.reads("pair_probs")
            elif plain is None or plain.kind.follows is None or (asked := plain.kind.target) is None:
                continue
            else:  # the logging policy must be a law
                logging.law("log_prob")
                every = needed | target.reads("sample") | target.reads(asked) | logging.reads(asked)
            if replace(every, exchangeable=needed.exchangeable) == needed or has(source, every):
                able.add(pair.number)
                needed = every
    return DesignFold(
        needed,
        KEPT if able else 0,
        cells=CANDIDATES,
        each="candidate",
        layout=layout,
        logging=logging,
        able=frozenset(able),
        cache=cache,
    )


def _design(found: UniqueWeights, number: Floats, counts: Floats, read: int) -> Design:
    """The design of weights. number: [rows, c] which slots exist; counts: [rows] 1 / inclusion; read: log rows."""
    count = counts[found.row, None]
    each, repeats = count * found.chance, read / len(counts)
    slots = float((counts[:, None] * number).sum())
    kish = repeats * float(counts.sum()) / slots  # per impression
    weight = np.minimum(found.weight, _LARGEST)
    mass, squares = each * found.control, count * each * weight**2
    # Of each slot the largest weight such that FEWEST rows are expected with it or larger ones; 0 where there is none.
    order = np.argsort(-found.weight, axis=0, kind="stable")
    size, chance = (np.take_along_axis(one, order, axis=0) for one in (found.weight, found.chance))
    last = np.ones(size.shape, np.bool_)
    last[:-1] = size[1:] < size[:-1] * (1 - _ROUNDING)  # of each weight, up to rounding
    last &= np.cumsum(repeats * chance, axis=0) >= FEWEST * (1 - _ROUNDING)
    hidden = found.weight > size.max(axis=0, initial=0.0, where=last) * (1 + 2 * _ROUNDING)
    sums = [(float(mass[some].sum()), float(squares[some].sum())) for some in (..., ~hidden)]
    effective, visible = (kish * (total**2 / square) if square > 0 else 0.0 for total, square in sums)
    return Design(
        rows=len(counts),
        second_moment=float((each * weight**2).sum()) / slots,
        third_moment=float((each * weight**3).sum()) / slots,
        largest=float(found.weight.max(initial=0.0, where=found.chance > 0)),
        unsupported=max(1 - float((each * found.free).sum()) / slots, 0.0),
        hidden=float(mass[hidden].sum()) / slots,
        effective=effective,
        visible=visible,
    )
