"""Examination curves without a model of the documents."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

import offrank
from offrank.clicks import PBM, Harvested
from offrank.errors import SupportError, UsageError
from offrank.simulation import SearchWorld

CURVE = np.array([1.0, 0.6, 0.35, 0.2])


def harvest(log: Any, method: Any = "all_pairs", **how: Any) -> Harvested:
    return offrank.harvest_clicks(log, method, **how).found


def confounded(rows: int, seed: int = 0, curve: Any = CURVE, queries: int = 300) -> list[dict[str, Any]]:
    """Clicks of the position-based model on slates that put what is relevant on top, most of the time."""
    rng = np.random.default_rng(seed)
    k = len(curve)
    relevance = rng.random((queries, k)) ** 2
    query = rng.integers(0, queries, rows)
    noisy = relevance[query] + 0.3 * rng.gumbel(size=(rows, k))
    slates = np.argsort(-noisy, axis=1)
    chance = np.take_along_axis(relevance[query], slates, axis=1) * np.asarray(curve)
    clicks = (rng.random((rows, k)) < chance).astype(int)
    return [
        {"query": int(q), "slate": s, "clicks": c}
        for q, s, c in zip(query, slates.tolist(), clicks.tolist(), strict=True)
    ]


@pytest.fixture(scope="module")
def log() -> list[dict[str, Any]]:
    return confounded(60_000)


@pytest.mark.parametrize("weigh", ["views", "equal"])
@pytest.mark.parametrize("method", ["all_pairs", "adjacent_chain", "pivot_one"])
def test_the_curve_of_a_confounded_log_is_found(log: list[dict[str, Any]], method: Any, weigh: Any) -> None:
    found = harvest(log, method, weigh=weigh)
    assert found.curve[0] == 1.0
    spread = (found.high - found.low)[1:] / 2
    assert (np.abs(found.curve - CURVE)[1:] < 2 * spread).all()  # 4 standard errors
    assert (spread < 0.08).all()
    assert found.cautions == ()
    rates = np.array([row["clicks"] for row in log]).mean(axis=0)
    assert rates[1] / rates[0] < 0.5  # what the click rates would have said


def test_it_agrees_with_the_model_that_assumes_the_same(log: list[dict[str, Any]]) -> None:
    found, fitted = harvest(log), PBM().fit(log).examination()
    assert fitted is not None
    assert found.curve == pytest.approx(fitted, abs=0.02)


def test_intervals_cover() -> None:
    inside = np.zeros(3)
    for seed in range(30):
        found = harvest(confounded(4_000, seed, queries=60), replicates=50)
        inside += ((found.low <= CURVE) & (found.high >= CURVE))[1:]
    assert (inside >= 24).all()  # of 30 at 95 %: fewer have a chance of some 1 in 1,500


def test_two_ranks_are_arithmetic() -> None:
    """Item 1: 3 of 4 at the top, 1 of 4 below; item 2: 1 of 4 and 1 of 8. Pairs of ranks have one ratio."""
    shown = [(1, 0, 4, 3), (1, 1, 4, 1), (2, 0, 4, 1), (2, 1, 8, 1)]
    rows = []
    for item, rank, times, clicked in shown:
        for n in range(times):
            slate, clicks = [900 + rank, 900 + rank], [0, 0]
            slate[1 - rank] = 1000 + len(rows)  # fillers of their own
            slate[rank], clicks[rank] = item, int(n < clicked)
            rows.append({"query": 0, "slate": slate, "clicks": clicks})
    equal = (1 / 4 + 1 / 8) / (3 / 4 + 1 / 4)
    weights = (4 * 4 / 8, 4 * 8 / 12)
    views = (weights[0] / 4 + weights[1] / 8) / (weights[0] * 3 / 4 + weights[1] / 4)
    for method in ("all_pairs", "adjacent_chain", "pivot_one"):
        assert harvest(rows, method, weigh="equal").curve[1] == pytest.approx(equal, rel=1e-3)
        assert harvest(rows, method).curve[1] == pytest.approx(views, rel=1e-3)


def test_all_pairs_is_the_maximum_of_the_likelihood() -> None:
    """Nothing near it is more likely: the likelihood of AllPairs, written out."""
    log = confounded(3_000, 3, curve=(1.0, 0.5, 0.4), queries=20)
    found = harvest(log, weigh="equal", replicates=20).curve
    shown, clicked = np.zeros((2, 20, 3, 3))
    for row in log:
        for rank, item in enumerate(row["slate"]):
            shown[row["query"], item, rank] += 1
            clicked[row["query"], item, rank] += row["clicks"][rank]
    pairs = {}
    for a, b in permutations(range(3), 2):
        both = (shown[..., a] > 0) & (shown[..., b] > 0)
        rate = (clicked[..., a][both] / shown[..., a][both]).sum()
        pairs[a, b] = rate, both.sum() - rate

    def best(p: np.ndarray, a: int, b: int) -> float:
        """The likelihood of a pair for its best relevance, by a fine grid."""
        r = np.linspace(1e-4, 1 / p[[a, b]].max() - 1e-4, 20_000)
        total = np.zeros(len(r))
        for here, there in ((a, b), (b, a)):
            clicks, skips = pairs[here, there]
            total += clicks * np.log(p[here] * r) + skips * np.log(1 - p[here] * r)
        return float(total.max())

    def likelihood(p: np.ndarray) -> float:
        return sum(best(p, a, b) for a, b in ((0, 1), (0, 2), (1, 2)))

    top = likelihood(found)
    for rank in (1, 2):
        for factor in (0.98, 1.02):
            moved = found.copy()
            moved[rank] *= factor
            assert likelihood(moved) < top


def test_the_same_in_every_run_and_batch(log: list[dict[str, Any]]) -> None:
    one, other = harvest(log[:5_000]), harvest(list(reversed(log[:5_000])))
    assert one.curve == pytest.approx(other.curve, rel=1e-9)
    assert one.low == pytest.approx(other.low, rel=1e-6)


def test_pieces_of_any_size_are_compared_alike(log: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    whole = harvest(log[:300])
    monkeypatch.setattr(offrank.clicks.harvesting, "_TOGETHER", 7)
    pieces = harvest(log[:300])
    for name in ("curve", "low", "high"):
        np.testing.assert_allclose(getattr(pieces, name), getattr(whole, name), rtol=1e-12)
    np.testing.assert_array_equal(pieces.documents, whole.documents)


def test_it_plugs_into_evaluate() -> None:
    world = SearchWorld(impressions=40_000, queries=100, candidates=4, slots=4)
    table = world.table(world.impressions, 0)
    curve = offrank.harvest_clicks(table)
    found = curve.found
    spread = (found.high - found.low)[1:] / 2
    assert (np.abs(found.curve - world.examination)[1:] < 2 * spread).all()
    result = offrank.evaluate(table, "top(new_score)", "plackett_luce(old_score)", "pbm", examination=curve)
    assert result.facts["examination"] == found.curve.tolist()


def test_ranks_that_nothing_links() -> None:
    rows = [
        {"query": 0, "slate": [*top, *rest], "clicks": [1, 1, 1, 1]}
        for top, rest in (((1, 2), (3, 4)), ((2, 1), (4, 3)))
    ] * 20
    curve = offrank.harvest_clicks(rows)
    found = curve.found
    assert found.curve[:2] == pytest.approx([1, 1], abs=1e-3)
    assert np.isnan(found.curve[2:]).all()
    assert [one.code for one in found.cautions] == ["unlinked-ranks", "open-intervals"]  # two documents compare 1 and 2
    assert "ranks 3, 4 to rank 1" in " ".join(str(curve).split())
    with pytest.raises(UsageError, match=r"gaps.*ranks 3, 4"):
        curve.examination()
    with pytest.raises(UsageError, match="gaps"):
        offrank.evaluate(rows, "uniform", "uniform", "pbm", examination=curve)


def one_way(singles: int, every: int = 30) -> list[dict[str, Any]]:
    """Queries with an item each at ranks 1 and 2; of so many queries it was clicked at rank 1, of all at rank 2."""
    rows = []
    for query in range(every):
        item, other = 10 * query, 10 * query + 5
        rows += [{"query": query, "slate": [item, other], "clicks": [int(query < singles), 0]}] * 2
        rows += [{"query": query, "slate": [other + 1, item], "clicks": [0, int(n == 0)]} for n in range(2)]
    return rows


@pytest.mark.parametrize(("singles", "open_"), [(1, True), (2, True), (8, False)])
def test_an_interval_that_the_log_does_not_bound_is_open(singles: int, open_: bool) -> None:
    """A resampled log of 30 documents lacks the clicked one in (29/30)^30 = 36 %, both in 13 %, all 8 in .01 %."""
    curve = offrank.harvest_clicks(one_way(singles))
    found = curve.found
    assert found.curve[1] == pytest.approx(30 / 2 / singles, rel=1e-6)
    assert np.isinf(found.high[1]) == open_
    assert 0 < found.low[1] < found.curve[1]
    assert ("open-intervals" in [one.code for one in found.cautions]) == open_
    assert ("or more" in str(curve)) == open_
    assert ("no upper bound" in str(curve)) == open_
    assert "999" not in str(curve)


def test_a_rank_without_clicks_is_not_known_to_be_unread() -> None:
    """Of 40 views of each item at each rank, 20 and 10 were clicked at the first and none at the second."""
    rows = [{"slate": [1, 2] if n % 2 else [2, 1], "clicks": [int(n < 20 if n % 2 else n < 40), 0]} for n in range(80)]
    found = harvest(rows, confidence=0.9)
    # exp(-x) = 5 % for x = 3.00 clicks in 80 views; 30 in 80 at the top.
    assert found.clicks.tolist() == [30, 0]
    assert found.high[1] == pytest.approx(-np.log(0.05) / 30, rel=1e-3)
    assert (found.low[1], found.curve[1]) == (0, pytest.approx(0, abs=1e-6))
    assert harvest(rows, confidence=0.99).high[1] > found.high[1]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("clicks", [[[1, 0], [1, 0]], [[1, 1], [1, 1]], [[0, 1], [1, 0]]])
def test_tiny_logs_are_harvested_without_a_warning(clicks: list[list[int]]) -> None:
    curve = offrank.harvest_clicks([{"slate": s, "clicks": c} for s, c in zip(([1, 2], [2, 1]), clicks, strict=True)])
    assert "nan" not in str(curve)
    assert "few-pairs" in [one.code for one in curve.found.cautions]


def test_nothing_clicked_at_the_first_rank_bounds_nothing() -> None:
    with pytest.raises(SupportError, match="cannot be compared"):
        harvest(one_way(0))


def test_many_ranks() -> None:
    """An interval for each of 36 ranks, of which 95 % hold the truth: fewer than 28 of 35 hardly ever do."""
    curve = 1 / np.sqrt(np.arange(1, 37))
    found = harvest(confounded(4_000, curve=curve, queries=20), replicates=50)
    inside = (found.low <= curve) & (curve <= found.high)
    assert inside[1:].sum() >= 28
    assert np.corrcoef(found.curve, curve)[0, 1] > 0.98


def test_few_clicks_are_said(log: list[dict[str, Any]]) -> None:
    curve = offrank.harvest_clicks(log[:200])
    assert "few-pairs" in [one.code for one in curve.found.cautions]
    assert "few-pairs (warning)" in str(curve)


@pytest.mark.parametrize("rows", [[{"query": n, "slate": [1, 2, 3], "clicks": [1, 0, 1]} for n in range(5)]])
def test_nothing_varies(rows: list[dict[str, Any]]) -> None:
    with pytest.raises(SupportError, match="ranks 1 to 3 cannot be compared") as caught:
        harvest(rows)
    assert caught.value.remedy


@pytest.mark.parametrize(
    "wrong",
    [{"method": "all"}, {"weigh": "best"}, {"confidence": 95}, {"replicates": 3}],
    ids=lambda one: next(iter(one)),
)
def test_what_is_refused(log: list[dict[str, Any]], wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as caught:
        harvest(log[:100], **wrong)
    assert caught.value.remedy


def test_more_ranks_than_can_be_compared_are_refused() -> None:
    with pytest.raises(UsageError, match="up to 201 ranks are too many"):
        harvest([{"query": n, "slate": list(range(201)), "clicks": [1] + 200 * [0]} for n in range(3)])
