"""Rows in another order give the same answer, also where only some of them are looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.log.hashing import hashed
from offrank.log.source import Needs
from offrank.sums.sampled import SampledRowsFold
from tests.metamorphic.changes import differences, flat_answer

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
        (["dr(lasso(by=[old, new], penalty=0.1))"], {"cluster": None}),
        (["snips", "controlled(ips)"], {"cluster": None, "interval": "bootstrap"}),
    ],
    ids=["rows", "clusters", "control", "cross-fitted", "bootstrap"],
)
def test_rows_in_another_order_are_the_same_log(logs: Any, estimators: list[str], how: dict[str, Any]) -> None:
    def asked(table: pa.Table) -> Any:
        return offrank.evaluate(table, "epsilon(top(new), .3)", "plackett_luce(old)", estimators, **how)

    first, second = (flat_answer(asked, one) for one in logs)
    assert first.keys() > {f"estimates[epsilon(top(new), 0.3), {estimators[0]}].low"}
    assert not differences(first, second)


def test_a_small_difference_is_the_same_in_other_row_groups_and_orders(logs: Any, tmp_path: Path) -> None:
    """Of some 1e-4 of the values, from which it would be a few units of the last place off."""
    targets = {"a": "plackett_luce(old, temperature=1.001)", "b": "plackett_luce(old)"}
    found = list[float]()
    for number, (table, rows) in enumerate(zip((logs[0], *logs), (ROWS, 70, 1_777), strict=True)):
        pq.write_table(table, tmp_path / f"{number}.parquet", row_group_size=rows)
        compared = offrank.compare(tmp_path / f"{number}.parquet", targets, "plackett_luce(old)", "snips", cluster=None)
        found.append(compared.to_dict()["comparisons"][0]["difference"]["value"])
        value = compared["a", "snips"].value
    assert 1e-5 < abs(found[0] / value) < 1e-3
    assert found[1:] == pytest.approx([found[0]] * 2, rel=1e-12, abs=0)


def sampled(table: pa.Table) -> tuple[Any, Any]:
    """The sampled rows of a table in batches of 3,000 rows, and the hashes of all numbers of rows."""
    source = offrank.read_log(table).select(Needs(frozenset(["candidates", "clicks"]), frozenset(["old"])))
    fold, part, rows = SampledRowsFold(Needs(scores=frozenset(["old"])), 2_000), None, []
    for batch in source.batches(0):
        part = fold.add(part, batch)
        rows.append(batch.row)
    return fold.result(part), hashed(np.concatenate(rows))


@pytest.mark.parametrize(("contexts", "by_content"), [(ROWS, True), (3, False)])
def test_rows_that_say_the_same_are_chosen_by_number(contexts: int, by_content: bool) -> None:
    found, numbers = sampled(log(contexts))
    assert np.array_equal(found.key, np.sort(numbers)[:2_000]) is not by_content
    assert len(found) == 2_000


def test_copies_that_stand_together_are_chosen_as_if_they_were_scattered(logs: Any) -> None:
    many = pa.concat_tables([logs[0].slice(0, 3_000), *[logs[0].slice(0, 1).take(pa.array([0] * 400))]])
    rest = logs[0].slice(3_000)
    numbered = [
        np.isin(found.key, numbers).all()
        for found, numbers in map(
            sampled,
            (
                pa.concat_tables([many, rest]),
                pa.concat_tables([many, rest]).take(pa.array(np.random.default_rng(2).permutation(ROWS + 400))),
            ),
        )
    ]
    assert numbered[0] == numbered[1]


@pytest.mark.parametrize("copied", range(12))
def test_a_content_with_many_rows_is_seen_whether_it_is_in_the_sample_or_not(logs: Any, copied: int) -> None:
    """A third of the log is one content: by content the sample would hold all of its rows or none."""
    copies = logs[0].slice(copied, 1).take(pa.array([0] * (ROWS // 2)))
    found, numbers = sampled(pa.concat_tables([logs[0], copies]))
    assert np.isin(found.key, numbers).all()
