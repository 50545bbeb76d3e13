"""Lists with the exposures of an experiment beside them: the variation of each user, and who is left out."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from click.testing import CliRunner

import offrank
from offrank.cli.command import main
from offrank.errors import ColumnError, LogError, OffrankError, RowError
from offrank.log.source import Needs
from tests.readers.plain import batches, contents, skipped

LISTS = [
    {"user": "u1", "slate": ["a", "b"], "clicks": [1, 0], "ts": 10},
    {"user": "u1", "slate": ["b", "a"], "clicks": [0, 0], "ts": 4},
    {"user": "u2", "slate": ["a", "c"], "clicks": [0, 1], "ts": 5},
    {"user": "u3", "slate": ["c", "a"], "clicks": [0, 0], "ts": 20},
    {"user": "u4", "slate": ["c", "b"], "clicks": [0, 0], "ts": 20},
]
EXPOSURES = [
    {"timestamp": 5, "user_id": "u1", "experiment_id": "e", "variation_id": "new"},
    {"timestamp": 8, "user_id": "u1", "experiment_id": "e", "variation_id": "new"},
    {"timestamp": 5, "user_id": "u2", "experiment_id": "e", "variation_id": "old"},
    {"timestamp": 5, "user_id": "u3", "experiment_id": "e", "variation_id": "old"},
    {"timestamp": 6, "user_id": "u3", "experiment_id": "e", "variation_id": "new"},
]


def told(*tables: Any) -> tuple[list[tuple[str, list[float]]], dict[str, int]]:
    """The variation and the clicks of each row, and what was left out."""
    log = offrank.read_log(list(tables))
    found = batches(log, Needs(frozenset(["clicks"]), labels=frozenset(["variation_id"])))
    labels = [one.labels["variation_id"] for one in found]
    names = [label.names[code] for label in labels for code in label.codes.tolist()]
    clicks = [row["clicks"] for row in contents(log, Needs(frozenset(["clicks"])))]
    return list(zip(names, clicks, strict=True)), skipped(log)


def without(rows: list[dict[str, Any]], name: str) -> pa.Table:
    return pa.Table.from_pylist(rows).drop_columns([name])


@pytest.mark.parametrize("order", [1, -1])
def test_each_row_has_the_variation_of_its_user(order: int) -> None:
    rows, left = told(*[pa.Table.from_pylist(LISTS), pa.Table.from_pylist(EXPOSURES)][::order])
    assert rows == [("new", [1, 0]), ("old", [0, 1])]
    assert left == {"user-before-exposure": 1, "user-in-two-variations": 1, "user-without-exposure": 1}


@pytest.mark.parametrize("late", ["lists", "exposures"])
def test_without_times_the_only_variation_counts(late: str) -> None:
    lists = without(LISTS, "ts") if late == "exposures" else pa.Table.from_pylist(LISTS)
    exposures = without(EXPOSURES, "timestamp") if late == "lists" else pa.Table.from_pylist(EXPOSURES)
    rows, left = told(lists, exposures)
    assert [name for name, _ in rows] == ["new", "new", "old"]
    assert left == {"user-in-two-variations": 1, "user-without-exposure": 1}


def test_numbers_and_texts_of_users_are_the_same_ids() -> None:
    lists = [{**row, "user": int(row["user"][1:])} for row in LISTS]
    exposures = [{**row, "user_id": row["user_id"][1:]} for row in EXPOSURES]
    assert told(pa.Table.from_pylist(lists), pa.Table.from_pylist(exposures))[0] == [("new", [1, 0]), ("old", [0, 1])]


def test_users_that_are_fractions_where_some_are_missing_are_the_same_ids() -> None:
    numbers = [10**15, 10**15, 3, 4, 5]
    lists = [{**row, "user": user} for row, user in zip(LISTS, numbers, strict=True)]
    exposures = [{**row, "user_id": user} for row, user in zip(EXPOSURES, [1e15, 1e15, 3.0, None, 4.0], strict=True)]
    rows, _ = told(pa.Table.from_pylist(lists), pa.Table.from_pylist(exposures))
    assert [name for name, _ in rows] == ["new", "old", "new"]
    for table, name in ((lists, "user"), (exposures, "user_id")):
        table[2][name] = 2.0**53
        with pytest.raises(RowError, match=f"row 2 .*column '{name}': 9007199254740992.0 is a fraction, or so large"):
            told(_in_fractions(lists, "user"), _in_fractions(exposures, "user_id"))
        table[2][name] = 3


def _in_fractions(rows: list[dict[str, Any]], name: str) -> pa.Table:
    numbers = pa.array([one[name] for one in rows], pa.float64())
    return pa.table({**pa.Table.from_pylist(rows).to_pydict(), name: numbers})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"experiment_id": ["e", "e", "f", "e", "e"]}, "has the exposures of 2 experiments: 'e', 'f'"),
        ({"user_id": ["x", "y", "z", "x", "y"]}, "no user of the lists was exposed: .* 'u1', .* 'x', 'y', 'z'"),
        ({"variation_id": [["x"]] * 5}, "'variation_id' contains list.*, not a value a row"),
        ({"variation_id": pa.nulls(5, pa.string())}, "has no exposures"),
        ({"timestamp": ["2026-01-02T00:00:00"] * 5}, "'ts' of the lists and in 'timestamp' .* have different formats"),
    ],
)
def test_what_does_not_fit_is_said(change: dict[str, list[Any]], words: str) -> None:
    exposures = pa.table({**pa.Table.from_pylist(EXPOSURES).to_pydict(), **change})
    with pytest.raises((ColumnError, LogError), match=words):
        told(pa.Table.from_pylist(LISTS), exposures)


@pytest.mark.parametrize(("factor", "fits"), [(1, True), (200, True), (1000, False)])
def test_seconds_are_not_compared_with_milliseconds(factor: int, fits: bool) -> None:
    lists = [{**row, "ts": 1_700_000_000 * factor + row["ts"]} for row in LISTS]
    exposures = [{**row, "timestamp": 1_700_000_000 + row["timestamp"]} for row in EXPOSURES]
    tables = pa.Table.from_pylist(lists), pa.Table.from_pylist(exposures)
    if fits:
        assert told(*tables)[0]
    else:
        with pytest.raises(ColumnError, match="have different formats"):
            told(*tables)


def test_inspect_describes_what_does_not_join() -> None:
    lists = [{"request_id": at // 3, "customer": at // 6, "sku": at % 3, "rank": at % 3 + 1} for at in range(60)]
    exposures = pa.table({**pa.Table.from_pylist(EXPOSURES).to_pydict(), "experiment_id": ["e", "e", "f", "e", "e"]})
    found = offrank.inspect([pa.Table.from_pylist(lists), exposures])
    assert "has the exposures of 2 experiments: 'e', 'f'" in found.why
    assert found.command == ""


def test_a_file_of_exposures_without_rows_is_said(tmp_path: Path) -> None:
    given = experiment(tmp_path)
    paths = [str(tmp_path / name) for name in given]
    Path(paths[1]).write_text("user_id,experiment_id,variation_id\n")
    with pytest.raises(OffrankError, match="exposures"):
        contents(offrank.read_log(paths))


def test_two_tables_of_exposures_are_no_log() -> None:
    with pytest.raises(OffrankError):
        told(pa.Table.from_pylist(EXPOSURES), without(EXPOSURES, "timestamp"))


def experiment(folder: Path, users: int = 120) -> list[str]:
    """CSV files of a stranger: a row for each item of lists, sorted by the score of the user's arm, and exposures."""
    rng = np.random.default_rng(3)
    user, (shown, items) = np.repeat(np.arange(users), 2), (4, 5)
    scores, arm = rng.random((2, len(user), items)).round(6), user % 2
    order = np.argsort(-scores[arm, np.arange(len(user))], axis=1)[:, :shown]
    columns = {
        "request_id": np.repeat(np.arange(len(user)), shown),
        "customer": np.repeat([f"c{one}" for one in user], shown),
        "sku": [f"p{one}" for one in order.ravel()],
        "rank": np.tile(np.arange(1, shown + 1), len(user)),
        "clicked": (rng.random(order.size) < 0.3).astype(int),
        "score_a": np.take_along_axis(scores[0], order, axis=1).ravel(),
        "score_b": np.take_along_axis(scores[1], order, axis=1).ravel(),
    }
    one = np.append(np.arange(users - 9), [0, 1])  # the last nine have no exposure, and two have two variations
    variation = np.where(np.arange(len(one)) < users - 9, one % 2, 1 - one % 2)
    exposures = {
        "user_id": [f"c{each}" for each in one],
        "experiment_id": ["ranking"] * len(one),
        "variation_id": np.array(["control", "treatment"])[variation],
    }
    for name, made in (("lists.csv", columns), ("exposures.csv", exposures)):
        pyarrow.csv.write_csv(pa.table(made), folder / name)
    return ["lists.csv", "exposures.csv"]


def test_inspect_says_so_and_its_command_compares_the_variations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given = experiment(tmp_path)
    found = offrank.inspect(given)
    assert "lists.csv with the exposures of exposures.csv (variation_id of customer)" in found.title
    assert found.skipped == {"user-without-exposure": 9 * 2 * 4, "user-in-two-variations": 2 * 2 * 4}
    assert "user-in-two-variations" in str(found)
    arms = "by(variation_id, {control: top(score_a), treatment: top(score_b)})"
    words = shlex.split(found.command)
    assert words == ["offrank", "compare", *given, "--logging", arms, "--cluster", "user"]
    made = CliRunner().invoke(main, words[1:])
    assert made.exit_code in (0, 3), made.output
    assert "treatment minus control" in made.output
    assert "user-without-exposure" in made.output


@pytest.mark.parametrize("experiment", ["experiment_id", "shard"])
def test_numbered_variations_of_an_experiment_are_arms(experiment: str) -> None:
    """Rows of items with the exposure in them; without a column of the experiment, 0 and 1 may be anything."""
    rng, rows = np.random.default_rng(6), []
    orders = {key: rng.permutation(9)[:4].tolist() for key in np.ndindex(20, 2)}
    for n in range(400):
        user, query = n % 100, int(rng.integers(20))
        told = {"user_id": f"u{user}", experiment: "one", "variation_id": user % 2, "request_id": n, "query": query}
        for place, item in enumerate(orders[query, user % 2], 1):
            rows.append(told | {"item_id": item, "position": place, "clicked": int(rng.random() < 0.2)})
    words = shlex.split(offrank.inspect(rows).command)
    law = "by(variation_id, {'0': top(is_0), '1': top(is_1)})"
    assert (law in words) is (experiment == "experiment_id")
