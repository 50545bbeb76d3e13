"""Simulated users against their hidden states, enumerated in plain Python: every pattern of clicks, every preset."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from offrank.clicks.laws import ClickLaw, log_probs
from offrank.errors import SpellingError, UsageError
from offrank.log.batch import Contexts
from offrank.simulation.users import (
    USERS,
    CarouselUser,
    DBNUser,
    MixtureDBNUser,
    PBMUser,
    TrustUser,
    User,
    user,
)
from offrank.simulation.users.fading import attraction_moments

Joint = dict[tuple[int, ...], float]
"""Pattern of clicks -> probability."""

PRESETS = ["paper", "published-code"]


def contexts(*grades: float) -> Contexts:
    """One impression whose candidates have these grades."""
    table = np.array([grades], dtype=float)
    size = np.array([len(grades)])
    return Contexts(np.arange(len(grades))[None], size, size, {"grade": table})


def law_of(one: User, grades: Sequence[float], slate: Sequence[int] | None = None) -> ClickLaw:
    return one.law(contexts(*grades), np.array([range(len(grades)) if slate is None else slate]))


def r(grade: float) -> float:
    """The paper's R_d."""
    return 0.1 + 0.9 * (2**grade - 1) / 15


def gain(grade: float) -> float:
    return (2**grade - 1) / 15


def independent(chances: Sequence[float]) -> Joint:
    patterns = itertools.product([0, 1], repeat=len(chances))
    return {p: float(np.prod([a if c else 1 - a for a, c in zip(chances, p, strict=True)])) for p in patterns}


def reads(order: Sequence[int], attracts: Sequence[float], satisfies: Sequence[float], gamma: float) -> Joint:
    """A DBN: clicks what attracts; after a click satisfied or not, and then, or after a skip, goes on or not."""
    found: Joint = defaultdict(float)

    def read(step: int, pattern: tuple[int, ...], chance: float) -> None:
        if step == len(order):
            found[pattern] += chance
            return
        rank = order[step]
        a, s = attracts[rank], satisfies[rank]
        clicked = (*pattern[:rank], 1, *pattern[rank + 1 :])
        found[clicked] += chance * a * s
        found[clicked] += chance * a * (1 - s) * (1 - gamma)
        read(step + 1, clicked, chance * a * (1 - s) * gamma)
        found[pattern] += chance * (1 - a) * (1 - gamma)
        read(step + 1, pattern, chance * (1 - a) * gamma)

    read(0, (0,) * len(order), 1.0)
    return found


def noisy(mean: float, deviation: float = 0.1) -> tuple[Any, Any]:
    """(attractions, their probabilities): the masses at .1 and 1, and Simpson's rule between."""
    inside = np.linspace(0.1, 1, 101)
    weight = np.ones(101)
    weight[1:-1:2], weight[2:-1:2] = 4, 2
    share = stats.norm.pdf(inside, mean, deviation) * weight * (0.009 / 3)
    ends = stats.norm.cdf(0.1, mean, deviation), stats.norm.sf(1, mean, deviation)
    return np.concatenate([[0.1], inside, [1.0]]), np.concatenate([[ends[0]], share, [ends[1]]])


def fades(
    order: Sequence[int], drawn: Sequence[tuple[Any, Any]], satisfies: Sequence[float] | None, gamma: float
) -> Joint:
    """The published DBN: attention e_{k+1} = gamma e_k (1 - s_k C_k); each attraction is drawn from a grid."""
    grids = np.meshgrid(*[values for values, _ in drawn], indexing="ij")
    weight = np.prod(np.meshgrid(*[shares for _, shares in drawn], indexing="ij"), axis=0)
    found: Joint = {}
    for pattern in itertools.product([0, 1], repeat=len(order)):
        attention: Any = 1.0
        chance = weight
        for rank in order:
            a = grids[rank]
            s = a if satisfies is None else satisfies[rank]
            chance = chance * (attention * a if pattern[rank] else 1 - attention * a)
            attention = gamma * attention * (1 - s * pattern[rank])
        found[pattern] = float(np.sum(chance))
    return found


def exactly(values: Sequence[float]) -> list[tuple[Any, Any]]:
    """Attractions without noise."""
    return [(np.array([value]), np.array([1.0])) for value in values]


def mixed(*parts: tuple[float, Joint]) -> Joint:
    found: Joint = defaultdict(float)
    for share, joint in parts:
        for pattern, chance in joint.items():
            found[pattern] += share * chance
    return found


def thinned(joint: Joint, kept: float) -> Joint:
    """Each click is written down with this probability."""
    found: Joint = defaultdict(float)
    for pattern, chance in joint.items():
        for keeping in itertools.product([0, 1], repeat=len(pattern)):
            share = np.prod([kept if keep else 1 - kept for keep in keeping])
            found[tuple(c * keep for c, keep in zip(pattern, keeping, strict=True))] += chance * float(share)
    return found


def beside(left: Joint, right: Joint) -> Joint:
    return {a + b: left[a] * right[b] for a, b in itertools.product(left, right)}


def paper_dbn(grades: Sequence[float], order: Sequence[int] | None = None, gamma: float = 0.8) -> Joint:
    chosen = range(len(grades)) if order is None else order
    return reads(chosen, [r(g) for g in grades], [r(g) / 2 for g in grades], gamma)


def published_mixture(grades: Sequence[float]) -> Joint:
    drawn, satisfies = [noisy(gain(g)) for g in grades], [gain(g) for g in grades]
    down, up = range(len(grades)), range(len(grades))[::-1]
    return mixed((0.7, fades(down, drawn, satisfies, 0.7)), (0.3, fades(up, drawn, satisfies, 0.7)))


def paper_carousel(grades: Sequence[float]) -> Joint:
    """Rows of 2; one is read."""
    rows = [grades[first : first + 2] for first in range(0, len(grades), 2)]
    share = [sum(map(r, row)) / len(row) / rank for rank, row in enumerate(rows, start=1)]
    nothing: list[Joint] = [{(0,) * len(row): 1.0} for row in rows]
    parts = []
    for index, row in enumerate(rows):
        joint: Joint = {(): 1.0}
        for other in range(len(rows)):
            joint = beside(joint, paper_dbn(row) if other == index else nothing[other])
        parts.append((share[index] / sum(share), joint))
    return mixed(*parts)


def published_carousel(grades: Sequence[float]) -> Joint:
    """Rows of 2, all read; clicks of row i are kept with probability i^-.5."""
    joint: Joint = {(): 1.0}
    for rank, first in enumerate(range(0, len(grades), 2), start=1):
        row = grades[first : first + 2]
        joint = beside(joint, thinned(fades(range(len(row)), [noisy(gain(g)) for g in row], None, 0.75), rank**-0.5))
    return joint


def trust(grades: Sequence[float], relevance: Any) -> Joint:
    chances = []
    for k, grade in enumerate(grades, start=1):
        p = relevance(grade)
        chances.append(((1 - (k + 1) / 100) * p + 0.65 / k * (1 - p)) / k)
    return independent(chances)


GRADES = (2.0, 0.0, 4.0, 1.0, 3.0)
FEW = (2.0, 0.0, 3.0)
PUBLISHED = "published-code"
CASES: dict[str, tuple[User, Sequence[float], Joint, float]] = {
    "pbm": (PBMUser(), GRADES, independent([r(g) / k for k, g in enumerate(GRADES, 1)]), 1e-12),
    "pbm, published": (
        PBMUser(preset=PUBLISHED),
        GRADES,
        independent([r(g) / k for k, g in enumerate(GRADES, 1)]),
        1e-12,
    ),
    "trust": (TrustUser(), GRADES, trust(GRADES, r), 1e-12),
    "trust, published": (TrustUser(preset=PUBLISHED), GRADES, trust(GRADES, gain), 1e-12),
    "dbn": (DBNUser(), GRADES, paper_dbn(GRADES), 1e-12),
    "dbn, gamma": (DBNUser(gamma=0.6), GRADES, paper_dbn(GRADES, gamma=0.6), 1e-12),
    "dbn, published": (
        DBNUser(preset=PUBLISHED),
        GRADES,
        fades(range(5), exactly([max(g / 4, 0.1) for g in GRADES]), [g / 8 for g in GRADES], 0.8),
        1e-12,
    ),
    "mixture": (
        MixtureDBNUser(),
        GRADES,
        mixed((0.7, paper_dbn(GRADES)), (0.3, paper_dbn(GRADES, range(5)[::-1]))),
        1e-12,
    ),
    "mixture, published": (MixtureDBNUser(preset=PUBLISHED), FEW, published_mixture(FEW), 1e-6),
    "carousel": (CarouselUser(columns=2), GRADES, paper_carousel(GRADES), 1e-12),
    "carousel, published": (CarouselUser(columns=2, preset=PUBLISHED), GRADES, published_carousel(GRADES), 1e-6),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> tuple[User, Sequence[float], Joint, float]:
    return CASES[request.param]


def patterns(k: int) -> Iterator[tuple[int, ...]]:
    return itertools.product([0, 1], repeat=k)


def given(joint: Joint, above: tuple[int, ...]) -> float:
    """P(next click | clicks above) by summing over all patterns."""
    both = [sum(p for c, p in joint.items() if c[: len(above) + 1] == (*above, last)) for last in (0, 1)]
    return both[1] / sum(both)


def test_every_pattern_of_clicks(case: tuple[User, Sequence[float], Joint, float]) -> None:
    one, grades, joint, tolerance = case
    assert sum(joint.values()) == pytest.approx(1, abs=tolerance)
    law = law_of(one, grades)
    found = {c: float(np.exp(log_probs(law, np.array([c], dtype=float)))[0]) for c in patterns(len(grades))}
    assert found == pytest.approx({c: joint.get(c, 0.0) for c in found}, abs=tolerance)


def test_marginals(case: tuple[User, Sequence[float], Joint, float]) -> None:
    one, grades, joint, tolerance = case
    expected = [sum(p for c, p in joint.items() if c[k]) for k in range(len(grades))]
    assert law_of(one, grades).marginal()[0] == pytest.approx(expected, abs=tolerance)


def test_conditionals(case: tuple[User, Sequence[float], Joint, float]) -> None:
    one, grades, joint, tolerance = case
    law = law_of(one, grades)
    for clicks in patterns(len(grades)):
        if joint.get(clicks, 0.0) > 0:
            found = law.conditional(np.array([clicks], dtype=float))[0]
            expected = [given(joint, clicks[:k]) for k in range(len(clicks))]
            assert found == pytest.approx(expected, abs=100 * tolerance)


def test_draws(case: tuple[User, Sequence[float], Joint, float]) -> None:
    one, grades, joint, _ = case
    n, k = 60_000, len(grades)
    many = Contexts(
        np.tile(np.arange(k), (n, 1)), np.full(n, k), np.full(n, k), {"grade": np.tile(np.array(grades), (n, 1))}
    )
    drawn = one.law(many, np.tile(np.arange(k), (n, 1))).sample(np.random.default_rng(5))
    counts = np.bincount((drawn @ 2 ** np.arange(k)[::-1]).astype(int), minlength=2**k)
    expected = np.array([joint.get(c, 0.0) for c in patterns(k)])
    seen = expected * n > 5
    assert counts[expected == 0].sum() == 0
    pooled = np.append(counts[seen], counts[~seen].sum()), n * np.append(expected[seen], expected[~seen].sum())
    used = pooled[1] > 0.5
    statistic = ((pooled[0] - pooled[1])[used] ** 2 / pooled[1][used]).sum()
    assert stats.chi2.sf(statistic, used.sum() - 1) > 1e-4


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", USERS)
def test_pads_are_never_clicked_and_change_nothing(name: str, preset: str) -> None:
    one = user(name, preset=preset)
    if name == "carousel":
        one = CarouselUser(columns=3, preset=preset)
    short, padded = law_of(one, FEW), law_of(one, (*FEW, 4.0), slate=(0, 1, 2, -1))
    clicks = np.array([[0.0, 1.0, 0.0, 0.0]])
    for left, right in (
        (short.marginal(), padded.marginal()),
        (short.conditional(clicks[:, :3]), padded.conditional(clicks)),
    ):
        assert right[:, 3] == 0
        assert right[:, :3] == pytest.approx(left, abs=1e-14)
    assert padded.sample(np.random.default_rng(0))[:, 3] == 0


@pytest.mark.parametrize(("mean", "noise"), [(0.0, 0.1), (0.2, 0.1), (1.0, 0.1), (0.5, 0.3)])
def test_moments_of_noisy_attraction(mean: float, noise: float) -> None:
    def expected(m: int) -> float:
        inside, _ = integrate.quad(
            lambda a: a * (1 - a) ** m * stats.norm.pdf(a, mean, noise), 0.1, 1, epsabs=1e-13, points=[0.2, 0.5, 0.9]
        )
        ends = 0.1 * 0.9**m * stats.norm.cdf(0.1, mean, noise) + (m == 0) * stats.norm.sf(1, mean, noise)
        return float(inside + ends)

    assert attraction_moments(np.array([[mean]]), noise, 4)[0, 0] == pytest.approx(
        [expected(m) for m in range(5)], abs=1e-11
    )


def test_the_published_order_of_ten_results() -> None:
    """Rank 4 shows what stands tenth, and rank 10 the seventh: the permutation is read the wrong way round."""
    found = MixtureDBNUser(preset=PUBLISHED).placement(10)
    assert found is not None
    assert (found + 1).tolist() == [1, 2, 3, 10, 4, 9, 5, 8, 6, 7]
    assert MixtureDBNUser().placement(10) is None


def test_the_published_order_of_a_carousel() -> None:
    """Rows of 2, gamma .75: attention 1, .75, .71, .53, .58, .43."""
    found = CarouselUser(columns=2, preset=PUBLISHED).placement(6)
    assert found is not None
    assert found.tolist() == [0, 1, 2, 4, 3, 5]
    assert CarouselUser().placement(6) is None


def test_relevance_is_that_of_the_papers() -> None:
    table = contexts(0, 2, 4)
    assert PBMUser().relevance(table)[0] == pytest.approx([0.1, 0.1 + 0.9 * 3 / 15, 1.0])
    assert DBNUser(preset=PUBLISHED).relevance(table)[0] == pytest.approx([0.1, 0.5, 1.0])
    assert PBMUser(highest=2).relevance(contexts(0, 1, 2))[0] == pytest.approx([0.1, 0.1 + 0.9 / 3, 1.0])


@pytest.mark.parametrize("spelling", ["pbm", "dbn(gamma=0.9)", "carousel(preset='published-code')", "trust"])
def test_users_are_spelled_as_they_are_shown(spelling: str) -> None:
    assert repr(user(spelling)) == spelling


def test_bad_settings_are_refused() -> None:
    with pytest.raises(SpellingError, match="unknown user"):
        user("dbm")
    for wrong in ("dbn(gamma=1.5)", "pbm(highest=0)", "carousel(columns=0)", "pbm(preset=code)"):
        with pytest.raises(UsageError):
            user(wrong)
