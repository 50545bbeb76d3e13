"""What moves along the time of a log, in whatever order its rows stand; and its weights."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from tests.verbs.test_along import LATER, RAMP, ROWS, compared, experiment, said_of, uniform_log

RNG = np.random.default_rng(6)
SHUFFLED = RNG.permutation(ROWS)
DAYS = 10
FIRST = np.datetime64("2026-09-01")
DAY = FIRST + np.arange(ROWS) * DAYS // ROWS
"""The day of each row, 800 a day."""
TIME = np.datetime64("2026-09-01", "us") + np.arange(ROWS) * np.timedelta64(108, "s")
"""The same days, a row every 108 seconds."""
STEP = np.where(np.arange(ROWS) < ROWS / 2, 0.1, 0.2)
FLAT = np.full(ROWS, 0.1)
BROKEN = np.where(np.arange(ROWS) * DAYS // ROWS == 4, 0.0, 0.1)


def shuffled(table: pa.Table, **columns: Any) -> pa.Table:
    """The rows of a table in another order, with more columns."""
    for name, values in columns.items():
        table = table.append_column(name, pa.array(values))
    return table.take(pa.array(SHUFFLED))


@pytest.mark.parametrize(
    ("rate", "place", "days"),
    [(STEP, "from 2026-09-06 to 2026-09-10", range(5, 10)), (BROKEN, "on 2026-09-05", range(4, 5))],
)
def test_an_outcome_that_moves_by_day_is_said_with_its_days(rate: Any, place: str, days: range) -> None:
    table = shuffled(uniform_log(rate), day=DAY)
    said = said_of(table)["outcome-moves"].message
    assert f"per impression {place}, " in said
    assert "sorted" not in said
    # By hand: all rows of these days, and all others.
    clicks = np.concatenate(table["clicks"].to_numpy())
    inside = np.isin((table["day"].to_numpy() - FIRST).astype(int), days)
    told = [float(one) for one in re.findall(r"([\d.]+) (?:per impression|in the rest)", said)]
    assert told == [float(f"{one:.2g}") for one in (clicks[inside].mean(), clicks[~inside].mean())]
    assert "outcome-moves" not in said_of(table.drop_columns(["day"]))


@pytest.mark.parametrize("kind", [pa.date64(), pa.string(), pa.large_string()])
def test_days_are_read_from_texts_and_other_types(kind: pa.DataType) -> None:
    table = shuffled(uniform_log(STEP), day=DAY)
    day = table["day"] if pa.types.is_date(kind) else table["day"].cast(pa.string())
    found = said_of(table.set_column(table.column_names.index("day"), "day", day.cast(kind)))["outcome-moves"]
    assert found.message == said_of(table)["outcome-moves"].message


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_say_more_than_days(unit: str) -> None:
    table = shuffled(uniform_log(STEP), timestamp=pa.array(TIME).cast(pa.timestamp(unit, "UTC")))
    said = said_of(table)["outcome-moves"].message
    [(begin, end)] = re.findall(r"from ([\d-]+ [\d:]+) to ([\d-]+ [\d:]+), ", said)
    # 864,000 seconds are 128 chunks of 2 ** 14 / 2 ** 17 days at most: of 3 hours.
    assert "2026-09-05 21:00" <= begin <= "2026-09-06 03:00"
    assert "2026-09-11 00:00" <= end <= "2026-09-11 03:00"


def test_rows_that_are_sorted_by_something_else_than_time_are_looked_at_by_time() -> None:
    """Half of the log is of a country that clicks more, at all times."""
    table = uniform_log(STEP)
    assert "outcome-moves" in said_of(table)
    timed = table.append_column("timestamp", pa.array(TIME[SHUFFLED]))
    assert "outcome-moves" not in said_of(timed)
    by_day = table.append_column("day", pa.array(DAY[SHUFFLED]))  # which may not tell enough
    assert "outcome-moves" in said_of(by_day)


@pytest.mark.parametrize(("missing", "found"), [(0.009, True), (0.011, False)])
def test_a_column_that_few_rows_lack_is_an_order(missing: float, found: bool) -> None:
    times = pa.array(TIME, mask=RNG.permutation(ROWS) < missing * ROWS)
    assert ("outcome-moves" in said_of(shuffled(uniform_log(STEP), timestamp=times))) == found


def test_logs_that_do_not_move_in_time_say_nothing() -> None:
    rng = np.random.default_rng(2)
    query = np.repeat(np.arange(40), ROWS // 40)
    session = np.repeat(np.arange(ROWS // 8), 8)
    logs = [
        uniform_log(FLAT),
        uniform_log(rng.beta(1, 9, size=40)[query][rng.permutation(ROWS)], query=query),
        uniform_log(rng.beta(0.1, 0.9, size=len(session))[session], session=session),
    ]
    for log in logs:
        for columns in ({"day": DAY}, {"date": DAY[::-1]}, {"timestamp": TIME}):
            assert "outcome-moves" not in said_of(shuffled(log, **columns))


def test_clusters_of_a_day_stay_together_whatever_part_of_it_they_get() -> None:
    """Visits of eight rows that click alike: their rows are no eight times as much to go by."""
    session = np.repeat(np.arange(ROWS // 8), 8)
    alarms = 0
    for seed in (*range(11), 24):  # where parts of days, taken as they come, would alarm in the last one
        rate = np.random.default_rng(seed).beta(0.05, 0.45, size=ROWS // 8)[session]
        alarms += "outcome-moves" in said_of(shuffled(uniform_log(rate, session=session), day=DAY))
    assert not alarms


def test_parts_and_states_of_days_give_the_same(tmp_path: Path) -> None:
    table = shuffled(uniform_log(STEP), day=DAY)
    whole = said_of(table)["outcome-moves"].message
    for number, ends in enumerate([(0, 100), (100, 4096), (4096, ROWS)]):
        pq.write_table(table.slice(ends[0], ends[1] - ends[0]), tmp_path / f"{number}.parquet", row_group_size=900)
    assert said_of(str(tmp_path))["outcome-moves"].message == whole
    states = []
    for path in sorted(tmp_path.glob("*.parquet"), reverse=True):
        states.append(path.with_suffix(".state"))
        offrank.evaluate(str(path), "top(new)", "uniform", "snips", state=states[-1])
    merged = {one.code: one.message for one in offrank.merge(states).about_log}
    without = re.compile(r"\([\d.]+ standard errors\)")  # parts of days are drawn by numbers of rows
    assert without.sub("", merged["outcome-moves"]) == without.sub("", whole)


def test_a_time_that_differs_within_an_impression_is_no_fault() -> None:
    wide, time = uniform_log(STEP), TIME[SHUFFLED]
    rows = np.repeat(np.arange(ROWS), 4)
    item = np.tile(np.arange(4), ROWS)
    shown = np.concatenate(wide["slate"].to_numpy())[rows] == item
    click = np.where(shown, np.concatenate(wide["clicks"].to_numpy())[rows], 0.0)
    long = {
        "impression": SHUFFLED[rows],
        "item": item,
        "position": pa.array(np.where(shown, 1.0, np.nan), from_pandas=True),
        "click": click,
        "new": np.concatenate(wide["new"].to_numpy()),
        "timestamp": time[rows] + np.tile(np.arange(4), ROWS).astype("timedelta64[s]"),
    }
    # Rows of the log in the order of the table: a step in their order, and none in time.
    assert "outcome-moves" not in said_of(pa.table(long))
    assert "outcome-moves" in said_of(pa.table({**long, "timestamp": TIME[rows]}))


def test_a_ramped_test_is_found_by_its_days() -> None:
    table = shuffled(experiment(RAMP, np.where(LATER, 2.0, 1.0)), day=DAY)
    verdict, found = compared(table)
    assert (verdict.decision, verdict.trust) == ("unknown", "none")
    assert "from 2026-09-06 to 2026-09-10" in found["shares-moved"].message
    assert "shares-moved" not in compared(table.drop_columns(["day"]))[1]
    assert "shares-moved" not in compared(shuffled(experiment(0.3), day=DAY))[1]


def logged(law: Any, **columns: Any) -> pa.Table:
    """A log of one item of four, of which the first is twice as likely, and the propensity `law` times the true one."""
    rng = np.random.default_rng(8)
    item = rng.choice(4, size=ROWS, p=[0.4, 0.2, 0.2, 0.2])
    table = uniform_log(FLAT, propensity=np.where(item == 0, 0.4, 0.2) * law, **columns)
    return table.set_column(0, "slate", pa.array(item[:, None].tolist()))


def weighed(table: pa.Table) -> Any:
    found = offrank.evaluate(table, "top(new)", "logged", "snips")
    return next((one for one in found.about_log if one.code == "weights-move"), None)


LAST = np.arange(ROWS) >= 0.8 * ROWS


@pytest.mark.parametrize(("law", "said"), [(1.0, False), (0.92, False), (0.8, True), (1.25, True)])
def test_propensities_that_are_wrong_in_a_part_are_said_with_their_place(law: float, said: bool) -> None:
    table = logged(np.where(LAST, law, 1.0))
    found = weighed(table)
    assert (found is not None) == said
    if found is None:
        return
    assert "in the last 20 % of the rows" in found.message
    # By hand: chunks of 64 rows, of which four fifths are 100.
    weight = 0.25 / table["propensity"].to_numpy()
    told = [float(one) for one in re.findall(r"(?:is|and) (\d\.\d+)", found.message)]
    assert told == pytest.approx([weight[LAST].mean(), weight[~LAST].mean()], abs=6e-3)
    assert found.severity == "warning"


def test_propensities_are_looked_at_along_times() -> None:
    wrong = shuffled(logged(np.where(LAST, 0.5, 1.0)), day=DAY)
    assert " from 2026-09-09 to 2026-09-10 and " in weighed(wrong).message
    assert weighed(wrong.drop_columns(["day"])) is None
    assert weighed(shuffled(logged(1.0), day=DAY)) is None
