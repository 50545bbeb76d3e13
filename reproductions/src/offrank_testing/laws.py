"""The laws of all policies from their definitions, in plain Python: slow, short and independent.

A law maps every possible slate of a situation to its probability.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain, pairwise, permutations, product

import numpy as np
from numpy.polynomial import chebyshev

from offrank.policies.balanced import Balanced
from offrank.policies.base import Policy
from offrank.policies.by import By
from offrank.policies.distinct import Distinct
from offrank.policies.epsilon import EpsilonUniform
from offrank.policies.filtered import Filtered
from offrank.policies.interleaved import Interleaved
from offrank.policies.noisy import Noisy
from offrank.policies.pinned import Pinned
from offrank.policies.plackett_luce import PlackettLuce
from offrank.policies.policy_mixture import PolicyMixture
from offrank.policies.ranking import Ranking
from offrank.policies.shuffled import Shuffled
from offrank.policies.swaps import Swaps
from offrank.policies.thompson import Thompson
from offrank.policies.top import Top
from offrank.policies.uniform import Uniform

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
        case Top() | Ranking():
            orders = _orders(policy, situation)
            found = dict.fromkeys((order[: situation.slots] for order in orders), 0.0)
            for order in orders:  # tied items are equally likely in any order
                found[order[: situation.slots]] += 1 / len(orders)
        case Interleaved() | Filtered() | Pinned() | Distinct() | Shuffled():
            found = _rearranged(policy, situation)
        case EpsilonUniform() | Swaps() | PolicyMixture() | Balanced():
            found = _mixture(_shares(policy, situation), situation)
        case Thompson() | Noisy():
            found = dict(_raced(_keys(policy, situation), situation.slots))
        case By():
            served = next(
                one for value, one in policy.policies.items() if str(value) == str(situation.keys[policy.column])
            )
            found = law(served, situation)
        case _ if callable(policy):
            found = dict(policy(situation))
        case _:
            raise TypeError(f"no law of {policy!r} is written down; give a function from situation to law")
    return {slate: chance for slate, chance in found.items() if chance > 0}


def enumerated_slot_probs(found: Law, slate: Slate) -> list[float]:
    """Return the probability of each slot given the slots above, by summing over slates with the same beginning."""
    begins = (slate[:length] for length in range(len(slate) + 1))
    prefixes = [math.fsum(p for one, p in found.items() if one[: len(begin)] == begin) for begin in begins]
    pairs = zip(prefixes[1:], prefixes[:-1], strict=True)
    return [inside / above if above > 0 else 0.0 for inside, above in pairs]


def enumerated_rank_probs(found: Law, item: int, slots: int) -> list[float]:
    """Return the probability of an item at each rank, by summing over slates."""
    ranks = range(slots)
    return [math.fsum(p for slate, p in found.items() if len(slate) > rank and slate[rank] == item) for rank in ranks]


def _orders(policy: object, situation: Situation) -> list[Slate]:
    """The orders in which a ranking may hold all of its items."""
    match policy:
        case Ranking():
            return [situation.rankings[policy.column]]
        case Top():
            score, orders = situation.scores[policy.scores], permutations(range(situation.size))
            from_top = [order[::-1] if policy.ascending else order for order in orders]
            falling = [order for order in from_top if all(score[a] >= score[b] for a, b in pairwise(order))]
            return [order[::-1] if policy.ascending else order for order in falling]
        case _:
            raise TypeError(f"{policy!r} is not a sorted ranking")


_COINS = {"team_draft": 4, "balanced": 1, "probabilistic": 4}
"""Coins of so many slots at most: one for each of them, but for balanced interleaving."""


def _interleaved(policy: Interleaved, situation: Situation) -> dict[Slate, float]:
    """All orders of tied items and all coins, each as the papers walk through them."""
    found: dict[Slate, float] = {}
    pairs = [*product(_orders(policy.a, situation), _orders(policy.b, situation))]
    coins = [*product((0, 1), repeat=_COINS[policy.method])]
    for rankings in pairs:
        for sides in coins:
            for slate, chance in _MERGED[policy.method](rankings, sides, situation.slots):
                found[slate] = found.get(slate, 0.0) + chance / (len(pairs) * len(coins))
    return found


def _team_draft(rankings: tuple[Slate, Slate], sides: Slate, slots: int) -> Iterator[tuple[Slate, float]]:
    """One coin for each slot, read where both teams have picked as often and have items left."""
    shown: list[int] = []
    picked = [0, 0]
    while len(shown) < slots:
        best = [[item for item in ranking if item not in shown][:1] for ranking in rankings]
        if not best[0] and not best[1]:
            break
        ahead = picked[0] - picked[1]
        team = sides[len(shown)] if ahead == 0 else int(ahead > 0)
        team = team if best[team] else 1 - team
        shown += best[team]
        picked[team] += 1
    yield tuple(shown), 1.0


def _balanced(rankings: tuple[Slate, Slate], sides: Slate, slots: int) -> Iterator[tuple[Slate, float]]:
    """Both take turns with their next item; one that is shown already is passed."""
    one, other = rankings[sides[0]], rankings[1 - sides[0]]
    longest = max(len(one), len(other))
    turns = [item for place in range(longest) for ranking in (one, other) for item in ranking[place : place + 1]]
    yield tuple(dict.fromkeys(turns))[:slots], 1.0


def _probabilistic(rankings: tuple[Slate, Slate], sides: Slate, slots: int) -> Iterator[tuple[Slate, float]]:
    """One coin for each slot; its ranking draws among its items not shown, with weights 1 / rank^3."""
    for slate in permutations({*rankings[0], *rankings[1]}, min(slots, len({*rankings[0], *rankings[1]}))):
        chance = 1.0
        for slot, item in enumerate(slate):
            left = [
                {one: (rank + 1) ** -3.0 for rank, one in enumerate(r) if one not in slate[:slot]} for r in rankings
            ]
            side = sides[slot] if left[sides[slot]] else 1 - sides[slot]
            chance *= left[side].get(item, 0.0) / math.fsum(left[side].values())
        yield slate, chance


_MERGED = {"team_draft": _team_draft, "balanced": _balanced, "probabilistic": _probabilistic}


def _among(items: list[int], slots: int, situation: Situation) -> Situation:
    """The situation with these candidates only, which are numbered anew."""
    scores = {name: tuple(values[item] for item in items) for name, values in situation.scores.items()}
    listed = {
        name: tuple(items.index(item) for item in ranking if item in items)
        for name, ranking in situation.rankings.items()
    }
    return Situation(len(items), slots, scores, listed, situation.keys)


def _rearranged(
    policy: Interleaved | Filtered | Pinned | Distinct | Shuffled, situation: Situation
) -> dict[Slate, float]:
    match policy:
        case Interleaved():
            return _interleaved(policy, situation)
        case Shuffled():
            return _shuffled(policy, situation)
        case Filtered():
            return _filtered(policy, situation)
        case Pinned():
            return _pinned(policy, situation)
        case Distinct():
            return _distinct(policy, situation)


def _filtered(policy: Filtered, situation: Situation) -> dict[Slate, float]:
    """The law of the base among the candidates with a number above zero."""
    items = [item for item in range(situation.size) if situation.scores[policy.column][item] > 0]
    found = law(policy.base, _among(items, min(situation.slots, len(items)), situation))
    return {tuple(items[item] for item in slate): chance for slate, chance in found.items()}


def _pinned(policy: Pinned, situation: Situation) -> dict[Slate, float]:
    """The law of the base among the others, whose items stand around those with a rank of their own."""
    ranks = situation.scores[policy.column]
    pinned = {int(ranks[item]) - 1: item for item in range(situation.size) if 0 < ranks[item] <= situation.slots}
    others = [item for item in range(situation.size) if ranks[item] == 0]
    found = law(policy.base, _among(others, situation.slots - len(pinned), situation))
    slates = {}
    for slate, chance in found.items():
        left = iter(slate)
        whole = tuple(pinned[rank] if rank in pinned else others[next(left)] for rank in range(situation.slots))
        slates[whole] = chance
    return slates


def _distinct(policy: Distinct, situation: Situation) -> dict[Slate, float]:
    """The law of the base over orders of all candidates, each cut to the first items of unlike categories."""
    category, found = situation.scores[policy.column], dict[Slate, float]()
    for order, chance in law(policy.base, replace(situation, slots=situation.size)).items():
        first = {category[item]: item for item in reversed(order)}
        slate = tuple(item for item in order if first[category[item]] == item)[: situation.slots]
        found[slate] = found.get(slate, 0.0) + chance
    return found


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
    for slate, chance in law(policy.base, situation).items():
        for cut in cuts:
            pieces = [slate[low:high] for low, high in pairwise((*cut, ranks))]
            orders = list(product(*map(permutations, pieces)))
            for order in orders:
                one = tuple(chain.from_iterable(order))
                found[one] = found.get(one, 0.0) + chance / len(cuts) / len(orders)
    return found


def _shares(
    policy: EpsilonUniform | Swaps | PolicyMixture | Balanced, situation: Situation
) -> list[tuple[Policy, float]]:
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


def _mixture(parts: Iterable[tuple[Policy, float]], situation: Situation) -> dict[Slate, float]:
    """The law of a draw among policies with these shares."""
    found: dict[Slate, float] = {}
    for part, share in parts:
        for slate, chance in law(part, situation).items():
            found[slate] = found.get(slate, 0.0) + share * chance
    return found
