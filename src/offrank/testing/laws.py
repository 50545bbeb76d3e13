"""The laws of all policies from their definitions, in plain Python: slow, short and independent.

A law maps every possible slate of a situation to its probability.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, pairwise, permutations, product
from typing import cast

import numpy as np
from numpy.polynomial import chebyshev

from ..policies.balanced import Balanced
from ..policies.base import Policy
from ..policies.by import By
from ..policies.epsilon import EpsilonUniform
from ..policies.noisy import Noisy
from ..policies.plackett_luce import PlackettLuce
from ..policies.policy_mixture import PolicyMixture
from ..policies.propensities import AnyPolicy
from ..policies.ranking import Ranking
from ..policies.shuffled import Shuffled
from ..policies.swaps import Swaps
from ..policies.thompson import Thompson
from ..policies.top import Top
from ..policies.uniform import Uniform

Slate = tuple[int, ...]
Law = Mapping[Slate, float]


@dataclass(frozen=True)
class Situation:
    """A context small enough to enumerate every slate.

    size: candidates m; slots: slots k to fill. scores: name -> m numbers. rankings: name ->
    candidate indices, top first, -2 for an item that is not a candidate. keys: name -> a whole number.
    """

    size: int
    slots: int
    scores: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    rankings: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    keys: Mapping[str, int] = field(default_factory=dict)

    def slates(self) -> Iterator[Slate]:
        """Return every ordered choice of k among m candidates."""
        return permutations(range(self.size), self.slots)


Behaviour = Policy | Callable[[Situation], Law]
"""A policy of the library, or a function that returns its law."""


def law(policy: Behaviour, situation: Situation) -> dict[Slate, float]:
    """Return every possible slate with its probability.

    Raises:
        TypeError: the law of this policy is not implemented here; give a function instead.
    """
    match policy:
        case PlackettLuce() | Uniform():
            found = _plackett_luce(_weights(policy, situation), situation)
        case Top():
            scores = situation.scores[policy.scores]
            orders = [
                o for o in permutations(range(situation.size)) if all(scores[a] >= scores[b] for a, b in pairwise(o))
            ]
            found = dict.fromkeys((order[: situation.slots] for order in orders), 0.0)
            for order in orders:  # tied items are equally likely in any order
                found[order[: situation.slots]] += 1 / len(orders)
        case Ranking():
            found = {situation.rankings[policy.column][: situation.slots]: 1.0}
        case EpsilonUniform() | Swaps() | PolicyMixture() | Balanced():
            found = _mixture(_shares(policy, situation), situation)
        case Shuffled():
            found = _shuffled(policy, situation)
        case Thompson() | Noisy():
            found = dict(_raced(_keys(policy, situation), situation.slots))
        case By():
            served = next(
                one for value, one in policy.policies.items() if str(value) == str(situation.keys[policy.column])
            )
            found = law(cast(Policy, served), situation)
        case _ if callable(policy):
            found = dict(policy(situation))
        case _:
            raise TypeError(f"no law of {policy!r} is written down; give a function from situation to law")
    return {slate: chance for slate, chance in found.items() if chance > 0}


def slot_probs(found: Law, slate: Slate) -> list[float]:
    """Return the probability of each slot given the slots above, by summing over slates with the same beginning."""
    prefixes = [_begins(found, slate[:length]) for length in range(len(slate) + 1)]
    pairs = zip(prefixes[1:], prefixes[:-1], strict=True)
    return [inside / above if above > 0 else 0.0 for inside, above in pairs]


def rank_probs(found: Law, item: int, slots: int) -> list[float]:
    """Return the probability of an item at each rank, by summing over slates."""
    ranks = range(slots)
    return [math.fsum(p for slate, p in found.items() if len(slate) > rank and slate[rank] == item) for rank in ranks]


def _begins(found: Law, prefix: Slate) -> float:
    return math.fsum(p for slate, p in found.items() if slate[: len(prefix)] == prefix)


def _weights(policy: PlackettLuce | Uniform, situation: Situation) -> list[float]:
    match policy:
        case Uniform():
            return [1.0] * situation.size
    scores = situation.scores[policy.scores]
    if policy.log:
        return [math.exp((score - max(scores)) / policy.temperature) for score in scores]
    return [score ** (1 / policy.temperature) for score in scores]


def _plackett_luce(weights: list[float], situation: Situation) -> dict[Slate, float]:
    """Draw one item after the other; uniformly if only weights of zero are left."""
    found = {}
    for slate in situation.slates():
        left, chance = list(range(situation.size)), 1.0
        for item in slate:
            mass = math.fsum(weights[other] for other in left)
            chance *= weights[item] / mass if mass > 0 else 1 / len(left)
            left.remove(item)
        found[slate] = chance
    return found


_Key = tuple[str, float, float]
"""The law of a key: `beta`, `gaussian` or `gumbel`, and its two numbers."""


def _keys(policy: Thompson | Noisy, situation: Situation) -> tuple[_Key, ...]:
    """The law of each candidate's key."""
    read = [situation.scores[column] for column in policy.columns]
    match policy:
        case Thompson():
            kind, sds = "gaussian" if policy.alpha is None else "beta", read[1]
        case Noisy():
            kind, sds = policy.noise, (policy.sd,) * situation.size if isinstance(policy.sd, int | float) else read[1]
    return tuple((kind, first, second) for first, second in zip(read[0], sds, strict=True))


@cache
def _raced(keys: tuple[_Key, ...], slots: int) -> dict[Slate, float]:
    """Every list with the probability that its keys are the largest, in order, by polynomials on 400 equal pieces.

    P(a, b, ...) = int f_a(x) int^x f_b(y) ... dy dx; the innermost also asks that all others lie below.
    """
    low, high = (pick(one) for pick, one in zip((min, max), zip(*map(_ends, keys), strict=True), strict=True))
    width, points = (high - low) / 400, chebyshev.chebpts1(20)
    of_values = np.linalg.inv(chebyshev.chebvander(points, 19))
    integral = chebyshev.chebint(np.eye(20), lbnd=-1) @ of_values * width / 2
    here, whole = chebyshev.chebvander(points, 20) @ integral, integral.sum(axis=0)
    starts = low + width * np.arange(400)[:, None]
    density = [_density(key, starts + (points + 1) * width / 2) for key in keys]

    def up_to(values: np.ndarray) -> np.ndarray:
        pieces = values @ whole
        return np.asarray(values @ here.T + (np.cumsum(pieces) - pieces)[:, None])

    below = [up_to(each) for each in density]
    found = {}
    for slate in permutations(range(len(keys)), slots):
        so_far = np.prod([below[item] for item in range(len(keys)) if item not in slate], axis=0)
        for item in slate[:0:-1]:
            so_far = up_to(density[item] * so_far)
        found[slate] = max(float((density[slate[0]] * so_far @ whole).sum()), 0.0)
    return found


def _ends(key: _Key) -> tuple[float, float]:
    """Where the key lies, but for a part of about 1e-16; of Beta laws its log-odds."""
    kind, first, second = key
    if kind == "beta":
        return -40 / first - math.log(1 + second / first), 40 / second + math.log(1 + first / second)
    low, high = (-8.5, 8.5) if kind == "gaussian" else (-3.4, 30.0)
    return first + low * second, first + high * second


def _density(key: _Key, y: np.ndarray) -> np.ndarray:
    """The density of a key at y; of Beta laws, of its log-odds."""
    kind, first, second = key
    if kind == "beta":
        normal = math.lgamma(first + second) - math.lgamma(first) - math.lgamma(second)
        return np.asarray(np.exp(normal - first * np.logaddexp(0, -y) - second * np.logaddexp(0, y)))
    z = (y - first) / second
    if kind == "gaussian":
        return np.asarray(np.exp(-z * z / 2) / (second * math.sqrt(2 * math.pi)))
    scale = math.sqrt(6) / math.pi
    return np.asarray(np.exp(-z / scale - np.exp(-z / scale)) / (second * scale))


def _shuffled(policy: Shuffled, situation: Situation) -> dict[Slate, float]:
    """Cut the ranks into blocks, and give every order of each block the same share of its slate."""
    ranks, block = situation.slots, policy.block
    match policy.method:
        case "blocks":
            cuts = [tuple(range(0, ranks, block))]
        case "top":
            cuts = [(0, *range(block, ranks))]
        case "fair_pairs":
            cuts = [(0, *range(place or block, ranks, block)) for place in range(block)]
        case _:
            places = range(max(ranks - block + 1, 1))
            cuts = [(*range(place + 1), *range(place + block, ranks)) for place in places]
    found: dict[Slate, float] = {}
    for slate, chance in law(cast(Policy, policy.base), situation).items():
        for cut in cuts:
            pieces = [slate[low:high] for low, high in pairwise((*cut, ranks))]
            orders = list(product(*map(permutations, pieces)))
            for order in orders:
                one = tuple(chain.from_iterable(order))
                found[one] = found.get(one, 0.0) + chance / len(cuts) / len(orders)
    return found


def _shares(
    policy: EpsilonUniform | Swaps | PolicyMixture | Balanced, situation: Situation
) -> list[tuple[AnyPolicy, float]]:
    """The policies of which one is drawn, with their shares."""
    match policy:
        case PolicyMixture():
            return list(policy.parts.items())
        case Balanced():
            return [(policy.arms.policies[value], share) for value, share in (policy.shares or {}).items()]
        case EpsilonUniform():
            share = policy.epsilon
        case Swaps():
            share = (1 - policy.stay) * situation.size / (situation.size - 1) if situation.size > 1 else 0.0
    return [(policy.base, 1 - share), (Uniform(), share)]


def _mixture(parts: Iterable[tuple[AnyPolicy, float]], situation: Situation) -> dict[Slate, float]:
    """The law of a draw among policies with these shares."""
    found: dict[Slate, float] = {}
    for part, share in parts:
        for slate, chance in law(cast(Policy, part), situation).items():
            found[slate] = found.get(slate, 0.0) + share * chance
    return found
