"""Simulated users against their hidden states, enumerated in plain Python: every pattern of clicks."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from scipy import stats

from offrank.clicks.laws import ClickLaw, log_probs
from offrank.errors import SpellingError, UsageError
from offrank.log.batch import Contexts
from offrank.simulation.users import (
    USERS,
    DBNUser,
    PBMUser,
    TrustUser,
    User,
    user,
)

Joint = dict[tuple[int, ...], float]
"""Pattern of clicks -> probability."""


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


def paper_dbn(grades: Sequence[float], order: Sequence[int] | None = None, gamma: float = 0.8) -> Joint:
    chosen = range(len(grades)) if order is None else order
    return reads(chosen, [r(g) for g in grades], [r(g) / 2 for g in grades], gamma)


def trust(grades: Sequence[float]) -> Joint:
    chances = []
    for k, grade in enumerate(grades, start=1):
        p = r(grade)
        chances.append(((1 - (k + 1) / 100) * p + 0.65 / k * (1 - p)) / k)
    return independent(chances)


GRADES = (2.0, 0.0, 4.0, 1.0, 3.0)
FEW = (2.0, 0.0, 3.0)
CASES: dict[str, tuple[User, Sequence[float], Joint, float]] = {
    "pbm": (PBMUser(), GRADES, independent([r(g) / k for k, g in enumerate(GRADES, 1)]), 1e-12),
    "trust": (TrustUser(), GRADES, trust(GRADES), 1e-12),
    "dbn": (DBNUser(), GRADES, paper_dbn(GRADES), 1e-12),
    "dbn, gamma": (DBNUser(gamma=0.6), GRADES, paper_dbn(GRADES, gamma=0.6), 1e-12),
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


@pytest.mark.parametrize("name", USERS)
def test_pads_are_never_clicked_and_change_nothing(name: str) -> None:
    check_pads(user(name))


def check_pads(one: User) -> None:
    short, padded = law_of(one, FEW), law_of(one, (*FEW, 4.0), slate=(0, 1, 2, -1))
    clicks = np.array([[0.0, 1.0, 0.0, 0.0]])
    for left, right in (
        (short.marginal(), padded.marginal()),
        (short.conditional(clicks[:, :3]), padded.conditional(clicks)),
    ):
        assert right[:, 3] == 0
        assert right[:, :3] == pytest.approx(left, abs=1e-14)
    assert padded.sample(np.random.default_rng(0))[:, 3] == 0


def test_relevance_is_that_of_the_papers() -> None:
    table = contexts(0, 2, 4)
    assert PBMUser().relevance(table)[0] == pytest.approx([0.1, 0.1 + 0.9 * 3 / 15, 1.0])
    assert PBMUser(highest=2).relevance(contexts(0, 1, 2))[0] == pytest.approx([0.1, 0.1 + 0.9 / 3, 1.0])


@pytest.mark.parametrize("spelling", ["pbm", "dbn(gamma=0.9)", "trust"])
def test_users_are_spelled_as_they_are_shown(spelling: str) -> None:
    assert repr(user(spelling)) == spelling


def test_bad_settings_are_refused() -> None:
    with pytest.raises(SpellingError, match="unknown user"):
        user("dbm")
    for wrong in ("dbn(gamma=1.5)", "pbm(highest=0)"):
        with pytest.raises(UsageError):
            user(wrong)
