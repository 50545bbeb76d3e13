"""Rows in another order give the same answer, also where only some of them are looked at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.log.hashing import hashed
from offrank.log.source import Needs
from offrank.sums.sampled import SampledRowsFold
from offrank.testing.metamorphic import differences, flat_answer

ROWS, ITEMS, SLOTS = 30_000, 10, 4


def log(contexts: int = ROWS) -> pa.Table:
    """Slates that Plackett-Luce drew from scores, with so many different contexts."""
    rng = np.random.default_rng(0)
    old = rng.normal(size=(contexts, ITEMS))
    new = 0.5 * old + rng.normal(size=(contexts, ITEMS))
    of = np.arange(ROWS) % contexts
    old, new = old[of], new[of]
    slates = np.argsort(-(old + rng.gumbel(size=old.shape)), axis=1)[:, :SLOTS]
    clicks = rng.random(slates.shape) < 0.7 ** np.arange(SLOTS) / (1 + np.exp(2 - np.take_along_axis(new, slates, 1)))
    columns = {"slate": slates, "clicks": clicks.astype(float), "old": np.exp(old), "new": new}
    made = {name: values.tolist() for name, values in columns.items()}
    return pa.table({**made, "candidates": [list(range(ITEMS))] * ROWS, "user": rng.integers(0, ROWS // 5, ROWS)})


@pytest.fixture(scope="module")
def logs() -> tuple[pa.Table, pa.Table]:
    found = log()
    return found, found.take(pa.array(np.random.default_rng(1).permutation(ROWS)))


@pytest.mark.parametrize(
    ("estimators", "how"),
    [
        (["snips", "snrips", "snipm", "pi"], {"cluster": None}),
        (["snips"], {"cluster": "user"}),
        (["controlled(ips)"], {}),
    ],
    ids=["rows", "clusters", "control"],
)
def test_rows_in_another_order_are_the_same_log(logs: Any, estimators: list[str], how: dict[str, Any]) -> None:
    def asked(table: pa.Table) -> Any:
        return offrank.evaluate(table, "epsilon(top(new), .3)", "plackett_luce(old)", estimators, **how)

    first, second = (flat_answer(asked, one) for one in logs)
    assert first.keys() > {f"estimates[epsilon(top(new), 0.3), {estimators[0]}].low"}
    assert not differences(first, second)


@pytest.mark.parametrize(("contexts", "by_content"), [(ROWS, True), (3, False)])
def test_rows_that_say_the_same_are_chosen_by_number(contexts: int, by_content: bool) -> None:
    source = offrank.read_log(log(contexts)).select(Needs(frozenset(["candidates", "clicks"]), frozenset(["old"])))
    fold, part, rows = SampledRowsFold(Needs(scores=frozenset(["old"])), 2_000), None, []
    for batch in source.batches(0):
        part = fold.add(part, batch)
        rows.append(batch.row)
    numbered = np.sort(hashed(np.concatenate(rows)))[:2_000]
    assert np.array_equal(fold.result(part).key, numbered) is not by_content
    assert len(fold.result(part)) == 2_000
