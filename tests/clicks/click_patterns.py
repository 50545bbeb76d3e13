"""Click models once more, from their stories: every hidden path written down, in plain Python, slow and independent.

A story is told rank by rank with numbers for this one slate; attraction 0 stands for a rank without an item. It
gives every path that a user can take: what was clicked, what was examined, and how likely that is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

Pattern = tuple[int, ...]
"""A 0 or 1 for each rank."""


@dataclass(frozen=True)
class Path:
    """One thing that can happen: clicks and examined, a 0 or 1 for each rank, and the probability of just this."""

    clicks: Pattern
    examined: Pattern
    chance: float


Going = Callable[[int, bool], Iterable[tuple[float, bool]]]
"""(rank, clicked) -> (probability of each hidden reason, whether the user then goes on)."""


def patterns(ranks: int) -> list[Pattern]:
    """All 2^ranks ways to click."""
    return list(product((0, 1), repeat=ranks))


def joint(paths: Iterable[Path]) -> dict[Pattern, float]:
    """The probability of each pattern of clicks: the sum over what is hidden."""
    found: dict[Pattern, list[float]] = {}
    for path in paths:
        found.setdefault(path.clicks, []).append(path.chance)
    return {clicks: math.fsum(chances) for clicks, chances in found.items()}


def marginal(law: dict[Pattern, float], rank: int) -> float:
    """P(C_rank = 1)."""
    return math.fsum(chance for clicks, chance in law.items() if clicks[rank])


def conditional(law: dict[Pattern, float], above: Pattern) -> float | None:
    """P(click at the rank after these | clicks above); None where those are impossible."""
    rank = len(above)
    alike = [(clicks, chance) for clicks, chance in law.items() if clicks[:rank] == above]
    total = math.fsum(chance for _, chance in alike)
    return math.fsum(chance for clicks, chance in alike if clicks[rank]) / total if total > 0 else None


def independent(chance: Sequence[float]) -> Iterator[Path]:
    """Click rates: what is examined is not told."""
    for clicks in patterns(len(chance)):
        yield Path(clicks, clicks, math.prod(p if c else 1 - p for p, c in zip(chance, clicks, strict=True)))


def position_based(attraction: Sequence[float], examination: Sequence[float]) -> Iterator[Path]:
    """PBM: each rank is examined or not, each result attracts or not."""
    yield from browsing(attraction, [[chance] * (rank + 1) for rank, chance in enumerate(examination)])


def browsing(attraction: Sequence[float], examination: Sequence[Sequence[float]]) -> Iterator[Path]:
    """UBM: examination[rank][last], `last` the number of the last clicked rank above counted from 1, 0 for none."""
    ranks = len(attraction)
    for examined in patterns(ranks):
        for attracted in patterns(ranks):
            chance, last, clicks = 1.0, 0, []
            for rank in range(ranks):
                e, a = examination[rank][last], attraction[rank]
                chance *= (e if examined[rank] else 1 - e) * (a if attracted[rank] else 1 - a)
                clicks.append(examined[rank] * attracted[rank])
                last = rank + 1 if clicks[-1] else last
            yield Path(tuple(clicks), examined, chance)


def trust_bias(
    relevance: Sequence[float], examination: Sequence[float], trusted: Sequence[float], fooled: Sequence[float]
) -> Iterator[Path]:
    """Each rank is examined or not, each result relevant or not; clicked by `trusted` if it is, by `fooled` if not."""
    ranks = len(relevance)
    for examined, relevant, clicks in product(patterns(ranks), repeat=3):
        chance = 1.0
        for rank in range(ranks):
            e, r = examination[rank], relevance[rank]
            click = (trusted[rank] if relevant[rank] else fooled[rank]) if examined[rank] else 0.0
            chance *= (e if examined[rank] else 1 - e) * (r if relevant[rank] else 1 - r)
            chance *= click if clicks[rank] else 1 - click
        yield Path(clicks, examined, chance)


def downward(attraction: Sequence[float], going: Going) -> Iterator[Path]:
    """A user who reads from the top, clicks what attracts, and goes on or leaves for one of several reasons."""
    ranks = len(attraction)

    def from_rank(rank: int, clicks: Pattern, chance: float) -> Iterator[Path]:
        if rank == ranks:
            yield Path(clicks, (1,) * ranks, chance)
            return
        for clicked in (False, True):
            seen = chance * (attraction[rank] if clicked else 1 - attraction[rank])
            for reason, goes_on in going(rank, clicked):
                if goes_on:
                    yield from from_rank(rank + 1, (*clicks, int(clicked)), seen * reason)
                else:
                    rest = (0,) * (ranks - rank - 1)
                    yield Path((*clicks, int(clicked), *rest), (1,) * (rank + 1) + rest, seen * reason)

    yield from from_rank(0, (), 1.0)


def cascade(attraction: Sequence[float]) -> Iterator[Path]:
    """CM: goes on until the first click."""
    yield from downward(attraction, lambda _, clicked: [(1.0, not clicked)])


def dcm(attraction: Sequence[float], continuation: Sequence[float]) -> Iterator[Path]:
    """DCM: after a click at a rank goes on with that rank's probability."""

    def going(rank: int, clicked: bool) -> list[tuple[float, bool]]:
        on = continuation[rank]
        return [(on, True), (1 - on, False)] if clicked else [(1.0, True)]

    yield from downward(attraction, going)


def ccm(relevance: Sequence[float], continuation: Sequence[float]) -> Iterator[Path]:
    """CCM: a clicked result turns out relevant or not; (after a skip, after a click on none, on a relevant one)."""

    def going(rank: int, clicked: bool) -> list[tuple[float, bool]]:
        skip, irrelevant, relevant = continuation
        r = relevance[rank]
        causes = [(r, relevant), (1 - r, irrelevant)] if clicked else [(1.0, skip)]
        return [found for cause, on in causes for found in ((cause * on, True), (cause * (1 - on), False))]

    yield from downward(relevance, going)


def dbn(attraction: Sequence[float], satisfaction: Sequence[float], continuation: float) -> Iterator[Path]:
    """DBN: a clicked result satisfies or not; who is not satisfied goes on or gives up. SDBN: continuation 1."""

    def going(rank: int, clicked: bool) -> list[tuple[float, bool]]:
        satisfied = satisfaction[rank] if clicked else 0.0
        open_ = 1 - satisfied
        return [(satisfied, False), (open_ * continuation, True), (open_ * (1 - continuation), False)]

    yield from downward(attraction, going)


def upward(story: Iterable[Path]) -> Iterator[Path]:
    """The same user, who reads from the bottom: tell the story of the slate turned over."""
    for path in story:
        yield Path(path.clicks[::-1], path.examined[::-1], path.chance)


def mixture(weights: Sequence[float], stories: Sequence[Iterable[Path]]) -> Iterator[Path]:
    """One of several users, by chance."""
    for weight, story in zip(weights, stories, strict=True):
        for path in story:
            yield Path(path.clicks, path.examined, weight * path.chance)
