"""`auto` gives for every format what the same rows with lists give: its users, sessions and queries are found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow.csv import write_csv

import offrank
from offrank.log.schema import GROUPING
from offrank.log.source import Needs, has
from offrank.readers import READERS
from tests.readers.samples import STANDARDS

GROUPS, EACH = 60, 8
N = GROUPS * EACH
RNG = np.random.default_rng(40)
GROUP = np.repeat(np.arange(GROUPS), EACH)
ITEM = RNG.integers(3, size=N)
EARNED = np.round(RNG.normal(size=GROUPS)[GROUP] + ITEM / 5 + RNG.normal(size=N), 3)
CLICKED = (RNG.random(N) < RNG.beta(0.5, 0.5, GROUPS)[GROUP]).astype(int)
ALL = {"slate": ITEM[:, None].tolist(), "candidates": [[0, 1, 2]] * N, "propensity": np.full(N, 1 / 3)}
NEW = {"new": (ITEM == 2).astype(float)}
"""The probability of what was shown under a ranker that shows item 2."""
HOW: dict[str, Any] = {"target": "written(slate=new)", "logging": "logged", "estimators": "snips"}

Read = Callable[[str], Any]
Log = tuple[Any, Any]
"""A log in a format, and in lists."""


def rows(column: str, **more: Any) -> pa.Table:
    return pa.table({column: [f"g{one}" for one in GROUP], **NEW, **more})


def of_router(column: str, role: str) -> Log:
    chosen = rows(column, model=ITEM, reward=EARNED, propensity=ALL["propensity"])
    return offrank.read_log(chosen, format="router"), rows(role, **ALL, reward=EARNED)


def of_two_tables(column: str, role: str, **how: Any) -> Log:
    """Lists of one item, of which each is shown with 1 / 3; a click is a row of another table."""
    shown = rows(column, request=np.arange(N), sku=ITEM, position=np.ones(N, int), propensity=ALL["propensity"])
    clicks = pa.table({"request": np.flatnonzero(CLICKED), "sku": ITEM[CLICKED > 0]})
    lists = rows(role, slate=ALL["slate"], propensity=ALL["propensity"], clicks=CLICKED[:, None].tolist())
    return offrank.readers.READERS["events"]([shown, clicks], impression="request", item="sku"), lists


def of_lists_and_clicks(column: str, role: str) -> Log:
    shown = rows(column, request=np.arange(N), slate=ALL["slate"], propensity=ALL["propensity"])
    clicks = pa.table({"request": np.flatnonzero(CLICKED), "sku": ITEM[CLICKED > 0]})
    made = READERS["events"]([shown, clicks], impression="request", slate="slate", click_item="sku")
    return made, of_two_tables(column, role)[1]


def of_lists(column: str, role: str) -> Log:
    made = {**ALL, "clicks": CLICKED[:, None].tolist()}
    return rows(column, **made), rows(role, **made)


def of_items(column: str, role: str) -> Log:
    """A row for each candidate, scattered: one of three is shown, at the only position."""
    order = np.random.default_rng(1).permutation(3 * N)
    each, item = np.repeat(np.arange(N), 3)[order], np.tile(np.arange(3), N)[order]
    shown = ITEM[each] == item
    columns = {
        column: GROUP[each],
        **{name: values[each] for name, values in {**NEW, "propensity": ALL["propensity"]}.items()},
        "impression": each,
        "item": item,
        "position": pa.array(np.ones(3 * N, int), mask=~shown),
        "click": CLICKED[each] * shown,
    }
    return pa.table(columns), rows(role, **{**ALL, "clicks": CLICKED[:, None].tolist()})


MADE: Mapping[str, Callable[[str, str], Log]] = {
    "router": of_router,
    "events": of_two_tables,
    "events of lists": of_lists_and_clicks,
    "lists": of_lists,
    "items": of_items,
}
NAMES = [(role, name) for role in GROUPING for name in (role, f"{role}_id")]


@pytest.mark.parametrize(("role", "column"), NAMES)
@pytest.mark.parametrize("name", MADE)
def test_auto_clusters_as_with_lists(name: str, role: str, column: str) -> None:
    of_format, of_lists = (offrank.evaluate(log, **HOW)["snips"] for log in MADE[name](column, role))
    assert of_format.cluster == of_lists.cluster == role
    assert of_format.standard_error == pytest.approx(of_lists.standard_error, rel=1e-12)


@pytest.mark.parametrize("made", [of_lists, of_items])
def test_texts_and_files_are_clustered_alike(made: Callable[[str, str], Log], tmp_path: Path) -> None:
    """Lists are no cells of CSV."""
    other, known = made("user_id", "user")
    pq.write_table(other, tmp_path / "a.parquet")
    files = ["a.parquet"]
    if made is of_items:
        write_csv(other, tmp_path / "a.csv")
        files.append("a.csv")
    expected = offrank.evaluate(known, **HOW)["snips"].standard_error
    for name in files:
        found = offrank.evaluate(str(tmp_path / name), **HOW)["snips"]
        assert (found.cluster, found.standard_error) == ("user", pytest.approx(expected, rel=1e-12))


NO_IDS: Mapping[str, Any] = {
    "user_count": GROUP,
    "session_time": GROUP,
    "session_number": GROUP,
    "query_vector": [[0.5, 1.5]] * N,
    "visit": GROUP / 7,
    "visitor": [[1, 2]] * N,
}
"""What tells no user, session or query, by its name or by its values."""


@pytest.mark.parametrize("name", NO_IDS)
def test_counts_times_and_lists_cluster_nothing(name: str) -> None:
    made = {**ALL, **NEW, "clicks": CLICKED[:, None].tolist()}
    assert offrank.evaluate(pa.table({**made, name: NO_IDS[name]}), **HOW)["snips"].cluster is None


def test_of_two_columns_that_are_called_so_none_is_taken() -> None:
    made = {**ALL, **NEW, "clicks": CLICKED[:, None].tolist(), "user_id": GROUP}
    assert offrank.evaluate(pa.table(made), **HOW)["snips"].cluster == "user"
    assert offrank.evaluate(pa.table({**made, "visitor_id": GROUP}), **HOW)["snips"].cluster is None
    assert offrank.evaluate(pa.table({**made, "user_count": GROUP}), **HOW)["snips"].cluster == "user"


def test_a_value_that_differs_within_an_impression_tells_none_apart() -> None:
    log, _ = of_items("user_id", "user")
    each = np.arange(3 * N)
    assert offrank.evaluate(log.append_column("query_id", [each]), **HOW)["snips"].cluster == "user"
    alone = log.drop_columns("user_id").append_column("query_id", [each])
    assert offrank.evaluate(alone, **HOW)["snips"].cluster is None


@pytest.mark.parametrize("made", [of_lists, of_items])
def test_inspect_reads_what_auto_clusters_by(made: Callable[[str, str], Log]) -> None:
    other, _ = made("user_id", "user")
    found = offrank.inspect(other)
    assert [one.use for one in found.columns if one.name == "user_id"] == ["user"]
    assert "dependence by user" in str(found)
    assert "If user_id is the user" not in str(found)
    assert offrank.evaluate(other, **HOW, cluster="user_id")["snips"] is not None


@pytest.mark.parametrize(("role", "column"), NAMES)
def test_an_ab_test_of_users_has_the_error_of_their_sums(role: str, column: str) -> None:
    """By hand: each group has one arm; the delta method for the ratio of its sum to its rows."""
    arm = np.array(["A", "B"])[GROUP % 2]
    log = offrank.read_log(rows(column, arm=arm, reward=EARNED), format="ab_test")
    law = "by(arm, {A: top(is_A), B: top(is_B)})"
    found = offrank.compare(log, logging=law, interval="normal")
    variance = 0.0
    for each in (0, 1):
        sums = np.bincount(GROUP, EARNED - EARNED[arm == "AB"[each]].mean())[each::2] / EACH
        variance += (sums**2).sum() / len(sums) ** 2
    [one] = found.comparisons
    assert one.verdict.difference.value == pytest.approx(EARNED[arm == "B"].mean() - EARNED[arm == "A"].mean())
    assert one.verdict.difference.standard_error == pytest.approx(variance**0.5, rel=0.03)  # but for n - 1
    assert one.verdict.trust == "sound"
    if role != "query":
        assert found.about_log == ()  # a user who is always served by one arm has no list that was fixed
    own = offrank.compare(log, logging=law, interval="normal", cluster=column).comparisons[0].verdict
    assert own.difference == one.verdict.difference


def test_a_column_that_is_called_so_beside_the_role_changes_nothing() -> None:
    log = rows("user", arm=np.array(["A", "B"])[GROUP % 2], reward=EARNED, user_id=np.arange(N))
    found = offrank.read_log(log, format="ab_test")
    assert has(found, Needs(clusters=frozenset(["user"])))
    [batch] = found.select(Needs(clusters=frozenset(["user"]))).batches(0)
    assert len(np.unique(batch.dependent(["user"])["user"])) == GROUPS


OWN = {
    "clax": "query",
    "diginetica": "user session",
    "finn_slates": "user",
    "ga4": "user session",
    "kuairand": "user",
    "segment": "user",
    "snowplow": "user session",
    "sogou": "query user",
    "tiangong": "query session",
    "trivago2019": "user session",
    "ubi": "query user",
    "yandex": "query",
}
"""What standards tell of who saw a list: by their published schemas."""
NOBODY = {"avito", "criteo", "criteo_paper", "dsjson", "expedia", "obp", "open_bandit", "svmlight"}
REFUSED = {"mind", "otto", "retailrocket", "recbole", "snowplow_tsv"}


def test_every_format_has_its_case() -> None:
    assert {*READERS} == {*OWN, *NOBODY, *REFUSED, "router", "events", "ab_test"}


@pytest.mark.parametrize("name", OWN)
def test_standards_tell_who_saw_a_list(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    log = offrank.read_log(STANDARDS[name](tmp_path))
    assert [role for role in GROUPING if has(log, Needs(clusters=frozenset([role])))] == [
        role for role in GROUPING if role in OWN[name].split()
    ]
