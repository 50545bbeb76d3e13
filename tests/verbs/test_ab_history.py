"""The step of an A/B test by the history of clicks: what it says, when it is left out, and what must not change it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from tests.metamorphic.changes import RELATIONS, LogTable, Relation, broken
from tests.verbs.test_ab_test import ARMS, HALVES, columns

pytestmark = pytest.mark.turns(3, "estimators/history.py", "evaluation/ab_test.py")


def step_of(made: Any, logging: str = ARMS, **how: Any) -> Any:
    """The step by the history of clicks, or why it is left out."""
    log = pa.table(made) if isinstance(made, dict) else made
    test = offrank.compare(log, None, logging, **{"cluster": None, **how}).metadata.ab_test
    found = [one for one in test.compared[0].steps if one.estimator == "history"]
    assert len(found) == (test.left_out is None)
    return found[0] if found else test.left_out


def some(made: dict[str, Any], rows: Any) -> dict[str, Any]:
    return {name: [values[row] for row in rows] for name, values in made.items()}


def difference_of_means(made: dict[str, Any]) -> float:
    reward, served = np.array(made["clicks"]).sum(axis=1), np.array(made["arm"]) == "B"
    return float(reward[served].mean() - reward[~served].mean())


def assert_same(one: Any, other: Any) -> None:
    assert one.difference.value == pytest.approx(other.difference.value, abs=1e-9)
    assert one.difference.standard_error == pytest.approx(other.difference.standard_error, abs=1e-9)


def test_it_is_sharper_than_the_means_and_names_its_assumption() -> None:
    found = offrank.compare(pa.table(columns(lists=1.0)), None, ARMS, cluster=None)
    [one], [compared] = found.metadata.ab_test.compared, found.comparisons
    by = one.steps[-1]
    assert by.estimator == "history"
    assert "clicks by history" in by.assumes
    assert by.difference.standard_error < 0.7 * one.means.standard_error
    assert by.share > max(step.share or 0.0 for step in one.steps[:-1])
    assert (compared.verdict.decision, compared.verdict.trust) == ("worse", "sound")
    assert "The difference of means alone" in " ".join(str(found).split())


def test_an_arm_that_differs_in_more_than_its_lists_does_not_take_it() -> None:
    assert step_of(columns(lists=0.05, arm=0.7)).share == 0


def test_rows_of_rare_queries_are_judged_by_means() -> None:
    """What is left of each arm's mean is that of these rows, by arithmetic."""
    known, rare = columns(rows=1500), columns(rows=60, seed=9)
    rare["query"] = [f"new {row}" for row in range(60)]
    both = {name: [*values, *rare[name]] for name, values in known.items()}
    wanted = 1500 * step_of(known).difference.value + 60 * difference_of_means(rare)
    assert step_of(both).difference.value == pytest.approx(wanted / 1560, abs=1e-9)


@pytest.mark.parametrize(("rows", "left_out"), [(5, False), (4, True)])
def test_an_item_has_to_be_shown_five_times_in_its_query(rows: int, left_out: bool) -> None:
    made, queries = columns(rows=2000, lists=0.0), []
    count: dict[str, int] = {}
    for query in made["query"]:
        count[query] = count.get(query, -1) + 1
        queries.append(f"{query}: {count[query] // rows}")  # both rankers show the same, `rows` times in each query
    whole = [row for row, query in enumerate(queries) if queries.count(query) == rows]
    found = step_of(some({**made, "query": queries}, whole))
    assert isinstance(found, str) == left_out
    assert not left_out or "in only 0 % of the impressions" in found


@pytest.mark.parametrize(("rare", "left_out"), [(1600, False), (1604, True)])
def test_a_fifth_of_the_impressions_have_to_be_of_known_items(rare: int, left_out: bool) -> None:
    """400 are: each of 40 queries ten times, in which both rankers show the same."""
    made = columns(rows=4000, lists=0.0)
    query = np.array(made["query"])
    known = [row for one in np.unique(query) for row in np.flatnonzero(query == one)[:10].tolist()]
    others = [row for row in range(4000) if row not in set(known)][:rare]
    for row in others:
        made["query"][row] = f"new {row}"
    found = step_of(some(made, [*known, *others]))
    assert isinstance(found, str) == left_out


def test_why_it_is_left_out(tmp_path: Path) -> None:
    made = columns(rows=600)
    table = pa.table(made)
    assert "needs clicks by rank and the column `query`" in step_of(table.drop_columns(["query"]))
    priced = {**made, "clicks": [[2 * one for one in row] for row in made["clicks"]]}
    assert "clicks of 0 or 1" in step_of(priced)
    paid = {**made, "reward": [float(row % 3) for row in range(600)]}
    assert "add up to the reward" in step_of(paid, estimators="snips")
    stream = offrank.read_log(iter(table.to_batches(max_chunksize=200)))
    assert "can be read only once" in step_of(stream, HALVES)
    pq.write_table(table, tmp_path / "log.parquet")
    assert "a state holds sums of rows" in step_of(str(tmp_path / "log.parquet"), HALVES, state=tmp_path / "a.state")
    assert "a state holds" in str(offrank.merge([tmp_path / "a.state"]).metadata.ab_test)
    found = offrank.compare(table.drop_columns(["query"]), None, ARMS)
    assert "history could not sharpen the answer by past clicks: it needs clicks by rank" in " ".join(
        str(found).split()
    )


def test_groups_say_that_they_are_without_it() -> None:
    made = columns(rows=1200)
    table = pa.table({**made, "device": ["phone", "desk"] * 600})
    told = "Groups of device have no step history: one model of clicks serves all of them."
    assert told in " ".join(str(offrank.compare(table, None, ARMS, by="device")).split())
    assert "Groups of" not in str(offrank.compare(table, None, ARMS))


@pytest.mark.turns(3)
@pytest.mark.parametrize("relation", RELATIONS.values(), ids=RELATIONS)
def test_what_must_not_change_a_comparison_of_arms(relation: Relation) -> None:
    log = LogTable(pa.table(columns(rows=1500)), beside=("a_score", "b_score"))
    changed = broken(lambda some: offrank.compare(some, None, ARMS, cluster=None), log, relation)  # beyond 1e-9
    ratios = {name: pair for name, pair in changed.items() if name.endswith((".share", ".saved"))}  # of variances
    assert changed == ratios
    assert all(one == pytest.approx(other, rel=1e-6) for one, other in ratios.values())


def test_partition_and_company_do_not_change_it(tmp_path: Path) -> None:
    made = columns(rows=1200)
    one = step_of(made)
    for part in range(3):
        pq.write_table(pa.table(some(made, range(400 * part, 400 * part + 400))), tmp_path / f"{part}.parquet")
    assert_same(step_of(str(tmp_path / "*.parquet")), one)
    assert_same(step_of(made, estimators="snrips"), one)


def test_a_row_of_inclusion_one_half_counts_twice() -> None:
    made = columns(rows=1200)
    twice = [row for row in range(1200) for _ in range(1 + row % 2)]
    half = {**made, "inclusion": [0.5 if row % 2 else 1.0 for row in range(1200)]}
    assert step_of(half).difference.value == pytest.approx(step_of(some(made, twice)).difference.value, abs=1e-9)


def test_its_error_counts_users_not_rows() -> None:
    made = columns(rows=1200)
    twice = {name: [*values, *values] for name, values in made.items()}  # each user does everything twice
    one, two = (step_of(each, cluster="user").difference for each in (made, twice))
    assert two.standard_error == pytest.approx(one.standard_error, rel=0.1)
    assert step_of(twice).difference.standard_error < 0.8 * one.standard_error


def test_groups_are_compared_without_it() -> None:
    made = columns(rows=1200)
    made["device"] = ["phone" if row % 2 else "desk" for row in range(1200)]
    found = offrank.compare(pa.table(made), None, HALVES, cluster=None, by="device")
    assert found.metadata.ab_test.compared[0].steps[-1].estimator == "history"
    phones = some(made, range(1, 1200, 2))
    alone = offrank.compare(pa.table(phones).drop_columns(["query"]), None, HALVES, cluster=None)
    combined = alone.metadata.ab_test.compared[0].combined
    assert found.difference("B", "A", group="phone").value == pytest.approx(combined.value, rel=1e-6)
