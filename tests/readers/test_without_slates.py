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
