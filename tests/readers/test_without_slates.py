"""Tables that tell of no list that was shown: every verb says what they are, and what to log."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.errors import ColumnError, OffrankError

N = 500
RNG = np.random.default_rng(4)
USER, ITEM = RNG.integers(0, 60, N), RNG.integers(0, 80, N)
TIME, RATING = RNG.integers(10**12, 2 * 10**12, N), RNG.integers(1, 6, N)
SHOP = np.array(["view", "addtocart", "transaction"])[RNG.integers(0, 3, N)]
NONE: dict[str, tuple[dict[str, Any], str]] = {
    "ratings": ({"user": USER, "item": ITEM, "rating": RATING, "timestamp": TIME}, "ratings ('rating' by 'user'"),
    "deeds": (
        {"ts": TIME, "visitorid": USER, "action": SHOP, "itemid": ITEM},
        "what each 'visitorid' did with each 'itemid'",
    ),
    "sums": (
        {"sku": np.arange(N), "impressions": RNG.integers(99, 999, N), "clicks": RNG.integers(0, 99, N)},
        "sums ('impressions', 'clicks') for each 'sku'",
    ),
    "exposures": (
        {"timestamp": TIME, "anonymous_id": USER, "experiment_id": ["e"] * N, "variation_id": RATING % 2},
        "exposures of an experiment ('anonymous_id' saw 'variation_id' of 'experiment_id')",
    ),
}


@pytest.mark.parametrize("name", NONE)
def test_every_verb_says_what_it_is(name: str) -> None:
    columns, words = NONE[name]
    table = pa.table(columns)
    seen = offrank.inspect(table)
    assert seen.layout == "none"
    assert words in seen.why
    assert '"propensity": 0.02' in seen.why
    for verb in (
        lambda: offrank.check(table, "uniform", "uniform"),
        lambda: offrank.measure(table, "uniform", "uniform"),
    ):
        with pytest.raises(ColumnError) as raised:
            verb()
        assert words in raised.value.message
        assert "log one row for each list" in str(raised.value)


def test_a_log_that_lacks_positions_alone_is_not_called_so() -> None:
    columns = {"request_id": ITEM, "user": USER, "sku": RATING, "timestamp": TIME, "clicked": RATING % 2}
    with pytest.raises(OffrankError) as raised:
        offrank.read_log(pa.table(columns))
    assert "did with" not in str(raised.value)


@pytest.mark.parametrize("names", [("display_id", "ad_id", "clicked"), ("request_id", "ad", "is_click")])
def test_lists_without_positions_are_no_choices(names: tuple[str, str, str]) -> None:
    """As Outbrain publishes its displays; a row each, or an item twice in most lists, is no such table."""
    rng = np.random.default_rng(5)
    ads = [rng.choice(90, 5, replace=False) for _ in range(200)]
    columns = np.repeat(np.arange(200), 5), np.concatenate(ads), np.tile([0, 1, 0, 0, 0], 200)
    table = pa.table(dict(zip(names, columns, strict=True)))
    found = offrank.inspect(table)
    assert f"it has lists ({names[0]!r}) of items ({names[1]!r}) and clicks, but no positions" in found.why
    assert "the click rate of an item is the mean" in found.why
    for at, other in ((0, np.arange(1000)), (1, columns[1] % 4)):
        changed = table.set_column(at, names[at], pa.array(other))
        assert "no positions" not in offrank.inspect(changed).why


def test_lists_in_json_of_an_ab_test_are_not_overlooked() -> None:
    lists = [f'["i{n % 7}", "i{n % 5 + 7}"]' for n in range(200)]
    found = offrank.inspect(pa.table({"variant": ["A", "B"] * 100, "results_json": lists, "clicks": [0, 1, 2, 0] * 50}))
    assert "an A/B test with lists ('results_json'), but not the clicks on their items" in found.why
    assert "compare" in found.command
