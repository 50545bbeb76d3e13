"""Users of paper cmip-debiasedness against their hidden states, enumerated in plain Python, with both presets."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import offrank
from offrank.errors import UsageError
from offrank.simulation import SimulatedSource
from offrank.simulation.users import User
from offrank_papers.simulated_users import CarouselUser, MixtureDBNUser, PublishedDBNUser
from offrank_papers.simulated_users.fading import attraction_moments
from offrank_papers.simulated_users.page_policies import (
    Placed,
    logging_policy,
    logging_relevance,
    placed,
)
from offrank_papers.simulated_users.page_policies import (
    test_policy as policy_of_tests,
)
from tests.simulation import test_users as users
from tests.simulation.test_users import FEW, GRADES, Joint, contexts, paper_dbn, r
from tests.simulation.test_worlds import DOCUMENTS, QUERIES, SLOTS, plackett_luce, slates, small, worth

PUBLISHED = "published-code"


def gain(grade: float) -> float:
    return (2**grade - 1) / 15


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


CASES: dict[str, tuple[User, Sequence[float], Joint, float]] = {
    "dbn, published": (
        PublishedDBNUser(),
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


def test_the_law_is_that_of_every_pattern(case: tuple[User, Sequence[float], Joint, float]) -> None:
    users.test_every_pattern_of_clicks(case)
    users.test_marginals(case)
    users.test_conditionals(case)


def test_draws(case: tuple[User, Sequence[float], Joint, float]) -> None:
    users.test_draws(case)


EVERY = [
    PublishedDBNUser(),
    *(one(preset=preset) for one in (MixtureDBNUser, CarouselUser) for preset in ("paper", PUBLISHED)),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("one", EVERY, ids=repr)
def test_pads_are_never_clicked_and_change_nothing(one: User) -> None:
    users.check_pads(replace(one, columns=3) if isinstance(one, CarouselUser) else one)


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


def test_relevance_is_that_of_the_published_code() -> None:
    assert PublishedDBNUser().relevance(contexts(0, 2, 4))[0] == pytest.approx([0.1, 0.5, 1.0])


def test_bad_settings_are_refused() -> None:
    for wrong in (
        lambda: CarouselUser(columns=0),
        lambda: CarouselUser(preset="code"),  # type: ignore[arg-type]
        lambda: MixtureDBNUser(downward=1.5),
        lambda: PublishedDBNUser(gamma=-0.1),
    ):
        with pytest.raises(UsageError):
            wrong()


# Worlds ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("one", EVERY, ids=repr)
def test_truth_against_every_slate(one: User) -> None:
    world = small(one)
    policy = logging_policy(world, "old")
    order = list(getattr(policy, "order", range(SLOTS)))
    expected = 0.0
    for query, ranking in itertools.product(range(QUERIES), slates()):
        shown = [ranking[place] for place in order]
        expected += plackett_luce(world.scores["old"][query], ranking, 0.5) * worth(world, query, shown) / QUERIES
    found = world.truth(policy)
    assert found.exact
    assert found.value == pytest.approx(expected, rel=1e-12)
    sure = world.truth(placed(world, offrank.Top("old")))
    best = np.argsort(-world.scores["old"], axis=1)[:, :SLOTS][:, order]
    assert sure.how in {"one slate per query", "rank probabilities"}
    assert sure.value == pytest.approx(np.mean([worth(world, q, best[q].tolist()) for q in range(QUERIES)]), rel=1e-12)


def test_published_tests_show_one_ranking_per_query() -> None:
    world = replace(small(), scores={"uniform": np.zeros((QUERIES, DOCUMENTS))})
    drawn = SimulatedSource(world, 500, policy_of_tests(world, "uniform", "published-code"))
    shown = Counter(tuple(row) for batch in drawn.batches(0) for row in batch.slates.tolist())
    assert shown == {(0, 1, 2): 500}
    assert policy_of_tests(world, "uniform", "paper") == world.policy("uniform")


def test_what_the_logging_policy_makes_of_a_document() -> None:
    world = small()
    assert np.array_equal(logging_relevance(world, "old", "paper"), world.expected_ranks(world.policy("old")))
    assert np.array_equal(logging_relevance(world, "old", "published-code"), world.scores["old"])


def test_a_placed_policy_is_its_base_in_another_order() -> None:
    base = offrank.PlackettLuce("old", temperature=0.5, log=True)
    policy, world = Placed(base, (2, 0, 1)), small()
    contexts = world.contexts(np.array([0]))
    law = np.zeros((DOCUMENTS, SLOTS))
    for ranking in slates():
        shown = np.array([[ranking[2], ranking[0], ranking[1]]])
        chance = plackett_luce(world.scores["old"][0], ranking, 0.5)
        assert policy.log_prob(contexts, shown)[0] == pytest.approx(math.log(chance))
        for rank in range(SLOTS):
            law[shown[0, rank], rank] += chance
    assert policy.rank_probs(contexts, np.arange(DOCUMENTS)[None])[0] == pytest.approx(law)
    drawn = policy.sample(contexts, np.random.default_rng(0)), base.sample(contexts, np.random.default_rng(0))
    assert drawn[0].tolist() == drawn[1][:, [2, 0, 1]].tolist()
    with pytest.raises(UsageError, match="every position once"):
        Placed(base, (0, 0, 1))
