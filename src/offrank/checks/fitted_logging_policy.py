"""Which policy drew a log? Each possible one is fitted to a sample of its slates, and compared with what it shows.

Laws of one parameter (the temperature of Plackett-Luce, the uniform share of an epsilon-greedy ranker) are fitted by
maximum likelihood of the slates given their candidates; rows are weighed by 1 / inclusion. Laws are ordered by
Schwarz's criterion: log-likelihood minus log(rows) / 2 per parameter.

Two things count against a law. Another one makes the slates a thousand times likelier: if the first drew them, the
ratio of both likelihoods has the mean 1, so that this happens in at most one log of a thousand (Markov). Or the
shown slates are not those of the law, by its calibration, which needs no other law to compare with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations

import numpy as np

from ..errors import AbilityError, UsageError
from ..findings.log import UNLIKELY, LogEvidence, deviation_in_words, repeated, repeats_in_words, unfit
from ..language.formatting import nine_digits
from ..log.batch import Booleans, Floats
from ..policies.base import Policy
from ..policies.epsilon import EpsilonUniform
from ..policies.interleaved import INTERLEAVINGS, Interleaved
from ..policies.plackett_luce import PlackettLuce
from ..policies.ranking import Ranking
from ..policies.shuffled import Shuffled
from ..policies.top import Top
from ..policies.uniform import Uniform
from ..sums.sampled import SampledRows
from .calibration import CalibrationFold
from .randomness import repeats_of
from .repeats import By, corrected
from .sort_keys import tells_of_items

CHECKED = 8
"""How many of the likeliest laws are compared with the shown slates; the others have no chance."""
_MOST_PAIRS, _LARGEST_BLOCK = 6, 5
"""Pairs of rankers that are tried as interleaved; ranks of the largest block that is tried as shuffled."""
_SPAN = math.log(1000)
"""Range of a temperature relative to the spread of its scores, as a logarithm."""
_SHARP = 1.5
"""Largest ratio of the ends of a parameter's interval at which 1 is no fitted number."""
_STEP = 0.05
"""Step between the parameters whose likelihoods give the precision of the best one."""


@dataclass(frozen=True)
class Drawn:
    """A policy that may have drawn a log.

    likelihood: mean log-likelihood of a row; criterion: of the whole sample, minus the penalty for fitted parameters.
    against: evidence that it did not draw the log; empty if it fits. fitted: whether a number of it was fitted to the
    log. departure: the smallest share of slates in a fixed order, not drawn, that the log would have shown; 1 where it
    shows nothing. item: the code of an item that `against` names. ties: by what its ties seem to be broken, if that
    makes the slates a thousand times likelier than an order by chance.
    """

    policy: Policy
    likelihood: float
    criterion: float
    against: str = ""
    fitted: bool = False
    departure: float = 1.0
    item: int | None = None
    ties: str = ""

    @property
    def fits(self) -> bool:
        """Whether it may have drawn the log."""
        return not self.against


def drawn(
    rows: SampledRows, copies: float = 0.0, samples: Mapping[By, SampledRows] | None = None, apart: Collection[str] = ()
) -> list[Drawn]:
    """Return the policies on the sample's columns that may have drawn it: those that fit first, then by criterion.

    For each column, only the likeliest law is returned. copies: the share of the rows that are copies of others.
    samples: rows of whole contexts. apart: columns that are not tried.
    """
    if not len(rows):
        return []
    sample = _Sampled(rows, copies, samples or {})
    scores, rankings = sorted({*rows.contexts.scores} - {*apart}), sorted(rows.contexts.rankings)
    tried = [[sample.known(Uniform())]]
    tops = {name: _top(name, sample) for name in scores}
    tried += [[*_greedy(one, sample), *_plackett_luce(name, sample)] for name, one in tops.items()]
    tried += [list(_greedy(Ranking(name), sample)) for name in rankings]
    pairs = [*combinations(map(Ranking, rankings), 2), *combinations(tops.values(), 2)][:_MOST_PAIRS]
    tried += [[sample.known(Interleaved(*pair, method=one)) for one in INTERLEAVINGS] for pair in pairs]
    likeliest = (max(same, key=lambda one: nine_digits(one.criterion)) for same in tried)
    found = sorted((one for one in likeliest if one.criterion > -math.inf), key=lambda one: -nine_digits(one.criterion))
    uniform, idle = tried[0][0], "it explains the slates no better than a uniform order"
    likely = [
        one if one.policy == uniform.policy or one.criterion > uniform.criterion else replace(one, against=idle)
        for one in found
    ]
    judged = [_judged(one, found[0], place < CHECKED, sample) for place, one in enumerate(likely)]
    return sorted((_with_ties(one, sample) for one in judged), key=lambda one: not one.fits)


def _with_ties(one: Drawn, sample: _Sampled) -> Drawn:
    """Say of a ranker that does not fit by what its ties seem to be broken: their place among the candidates."""
    names, contexts = [*one.policy.reads("log_prob").scores], sample.rows.contexts
    if one.fits or len(names) != 1 or repr(one.policy).startswith(PlackettLuce.name):
        return one
    score = contexts.scores[names[0]]
    place = np.broadcast_to(np.arange(score.shape[1]), score.shape)
    for ties, last in (("the order of the candidates", 1), ("the reverse order of the candidates", -1)):
        for sign in (1.0, -1.0):
            rank = np.argsort(np.lexsort((last * place, sign * score), axis=1), axis=1, kind="stable")
            strict = replace(contexts, scores={names[0]: np.asarray(sign * rank, np.float64)})
            gain = replace(sample, rows=replace(sample.rows, contexts=strict)).likelihood(one.policy) - one.likelihood
            if gain * sample.effective_rows > -math.log(UNLIKELY):
                return replace(one, ties=ties)
    return one


def _judged(one: Drawn, best: Drawn, compare: bool, sample: _Sampled) -> Drawn:
    """Add the evidence against a policy. compare: whether to compare it with the shown items, by rank and item."""
    if best.criterion - one.criterion > -math.log(UNLIKELY):
        one = replace(one, against=one.against or f"the slates are much more likely under {best.policy!r}")
    if not compare:
        return one
    try:
        fit = CalibrationFold(one.policy).result(sample.rows)
        found = list(repeats_of(one.policy, sample.samples))
    except AbilityError as error:  # it may have no law for rows of whole contexts alone, such as ties
        return replace(one, against=one.against or error.message)
    # A score that sways what is drawn shows at the top; in whole slates only what fixes them does.
    least = [pair.least for pair in found if pair.what != "slate"] or [pair.least for pair in found]
    one = replace(one, departure=min(least, default=1.0))
    if fit is not None and unfit(LogEvidence(fit=fit, copies=sample.copies)):
        return replace(one, against=deviation_in_words(fit), item=fit.item)
    worst = min(found, key=lambda pair: pair.chance, default=None)
    if worst is None or not repeated(LogEvidence(repeats=corrected(worst, len(found)), copies=sample.copies)):
        return one
    return replace(one, against=one.against or repeats_in_words(worst))


@dataclass(frozen=True)
class _Sampled:
    """The sample and its effective number of rows, without copies."""

    rows: SampledRows
    copies: float
    samples: Mapping[By, SampledRows] = field(default_factory=dict)

    @property
    def effective_rows(self) -> float:
        """Return the effective number of rows (Kish)."""
        weight = 1 / self.rows.inclusion
        return float(weight.sum() ** 2 / (weight**2).sum()) * (1 - self.copies)

    def likelihood(self, policy: Policy) -> float:
        """Return the mean log-likelihood of a row; minus infinity if a slate is impossible."""
        weight = 1 / self.rows.inclusion
        try:
            return float((weight * policy.log_prob(self.rows.contexts, self.rows.slates)).sum()) / float(weight.sum())
        except (AbilityError, UsageError):  # it has no law for such rows
            return -math.inf

    def known(self, policy: Policy, parameters: int = 0) -> Drawn:
        """Return a policy with this many fitted parameters."""
        mean, rows = self.likelihood(policy), self.effective_rows
        return Drawn(policy, mean, rows * mean - parameters * math.log(max(rows, 1)) / 2, fitted=parameters > 0)


def _top(name: str, sample: _Sampled) -> Top:
    """Return the ranker that sorts by a column, the lowest first if that explains more slates."""
    contexts, slates = sample.rows.contexts, sample.rows.slates
    highest, lowest = Top(name), Top(name, ascending=True)
    explained = [np.isfinite(one.log_prob(contexts, slates)).mean() for one in (highest, lowest)]
    more = explained[1] > explained[0] and tells_of_items(contexts.scores[name], contexts, slates)
    return lowest if more else highest


def _greedy(base: Top | Ranking, sample: _Sampled) -> Iterator[Drawn]:
    """Return a ranker without randomness, and those that shuffle its ranks, or all candidates now and then."""
    yield sample.known(base)
    ends, share = (-_SPAN * 2, _SPAN * 2), lambda logit: 1 / (1 + math.exp(-logit))
    yield _fitted(lambda epsilon: EpsilonUniform(base, epsilon), share, ends, sample)
    slots = sample.rows.contexts.slots
    if slots > 1 and sample.likelihood(Shuffled(base, slots, method="top")) > -math.inf:  # which can show all of theirs
        for block in range(2, min(slots, _LARGEST_BLOCK) + 1):
            yield from (sample.known(Shuffled(base, block, method=one)) for one in ("top", "blocks"))
        yield from (sample.known(Shuffled(base, 2, method=one)) for one in ("fair_pairs", "window"))


def _plackett_luce(name: str, sample: _Sampled) -> Iterator[Drawn]:
    """Return Plackett-Luce policies with the scores as weights, if none is negative, and as log-weights."""
    contexts = sample.rows.contexts
    inside = np.arange(contexts.candidates.shape[1]) < contexts.size[:, None]
    least = contexts.scores[name][inside].min()
    for policy in [PlackettLuce(name), PlackettLuce(name, log=True)][int(least < 0) :]:
        spread = _spread(policy.log_weights(contexts), inside)
        if spread > 0:
            ends = math.log(spread) - _SPAN, math.log(spread) + _SPAN
            # The likelihood is concave in 1 / temperature, so that its slope at 0 tells the sign of the best one.
            by_sign = [sample.likelihood(_at(policy, math.exp(ends[1]), sign)) for sign in (1, -1)[: 1 + policy.log]]
            falls = by_sign[0] < by_sign[-1] and tells_of_items(contexts.scores[name], contexts, sample.rows.slates)
            yield _fitted(partial(_at, policy, sign=-1 if falls else 1), math.exp, ends, sample)


def _at(policy: PlackettLuce, temperature: float, sign: int) -> PlackettLuce:
    return replace(policy, temperature=sign * temperature)


def _spread(values: Floats, inside: Booleans) -> float:
    """Return the root of the mean variance within rows, over finite values."""
    known = inside & np.isfinite(values)
    counts, values = np.maximum(known.sum(axis=1), 1), np.where(known, values, 0.0)
    away = np.where(known, values - values.sum(axis=1, keepdims=True) / counts[:, None], 0.0)
    return math.sqrt(float((away**2).sum()) / float(counts.sum()))


def _fitted(
    make: Callable[[float], Policy], scale: Callable[[float], float], ends: tuple[float, float], sample: _Sampled
) -> Drawn:
    """Return the member of a family with the highest likelihood of the sample.

    scale: maps the searched number, between two ends, to the parameter, which is rounded to the
    precision of the sample.
    """

    def likelihood(at: float) -> float:
        return sample.likelihood(make(scale(at)))

    if likelihood(sum(ends) / 2) == -math.inf:  # impossible whatever the parameter
        return Drawn(make(scale(ends[1])), -math.inf, -math.inf)
    best = highest(likelihood, ends)
    bent = (2 * likelihood(best) - likelihood(best - _STEP) - likelihood(best + _STEP)) / _STEP**2
    away = min(2 / math.sqrt(bent * sample.effective_rows), 1.0) if bent > 0 else 0.0
    ends = scale(best - away), scale(best + away)
    found = _short(ends[0], scale(best), ends[1])
    known = sample.known(make(found), 1)
    # A temperature of 1 is none, if no other is nearly as likely.
    return replace(known, fitted=not (found == 1.0 and ends[1] <= _SHARP * ends[0]))


def highest(function: Callable[[float], float], ends: tuple[float, float]) -> float:
    """Return where a function with one peak between two ends is highest: by parabolas, else by golden sections."""
    (low, high), before = ends, math.inf
    at = low + _SECTION * (high - low)
    value, at_low, at_high = function(at), -math.inf, -math.inf  # an end itself is not asked
    while True:
        rise, fall = (at - low) * (value - at_high), (high - at) * (value - at_low)
        step = (
            ((high - at) * fall - (at - low) * rise) / (2 * (rise + fall)) if 0 < rise + fall < math.inf else math.inf
        )
        if not abs(step) < before / 2:  # no parabola, or one whose steps do not shrink
            step = _SECTION * (high - at if high - at > at - low else low - at)
        step, before = math.copysign(max(abs(step), _PRECISION), step), abs(step)
        tried = at + step
        if not low < tried < high:
            return at
        found = function(tried)
        if found <= value and before < _PRECISION:
            return at
        if found > value:
            low, at_low, high, at_high = (at, value, high, at_high) if step > 0 else (low, at_low, at, value)
            at, value = tried, found
        else:
            low, at_low, high, at_high = (low, at_low, tried, found) if step > 0 else (tried, found, high, at_high)


_SECTION, _PRECISION = (3 - math.sqrt(5)) / 2, 1e-6
"""The golden section, and how near the peak is found."""


def _short(low: float, value: float, high: float) -> float:
    """Return the simplest number between these ends: 1, otherwise the one with the fewest digits."""
    every = (1.0, *(float(f"{value:.{digits}g}") for digits in range(1, 6)))
    return next((one for one in every if low <= one <= high), float(f"{value:.3g}"))
