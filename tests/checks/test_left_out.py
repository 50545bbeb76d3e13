"""Rows that are left out while reading: for their outcome, or for another reason, with another outcome or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.verbs.inspect import inspect

ROWS, POOL = 2000, ["a", "b", "c"]


def rows(rate: float = 0.3) -> list[dict[str, Any]]:
    """Uniform slates of two of three items, each clicked with one probability."""
    rng = np.random.default_rng(7)
    found = []
    for number in range(ROWS):
        slate = [POOL[one] for one in rng.permutation(3)[:2]]
        clicks = (rng.random(2) < rate).astype(int).tolist()
        found.append({"request": number, "slate": slate, "clicks": clicks, "candidates": POOL, "propensity": 1 / 6})
    return found


def asked(log: Any, estimator: str = "snips", **how: Any) -> offrank.Result:
    return offrank.evaluate(offrank.read_log(log, invalid="skip", **how), "uniform", "uniform", [estimator])


def told(result: offrank.Result) -> tuple[str, str] | None:
    """The severity and the message of the finding."""
    return next(((one.severity, one.message) for one in result.about_log if one.code == "left-out"), None)


def test_clicks_that_are_null_where_there_was_none_leave_no_trust() -> None:
    log = [{**row, "clicks": row["clicks"] if any(row["clicks"]) else None} for row in rows()]
    missing = sum(row["clicks"] is None for row in log)
    for estimator in ("snips", "pbm"):
        result = offrank.evaluate(
            offrank.read_log(log, invalid="skip"), "uniform", "uniform", [estimator], examination=[1, 0.5]
        )
        found = told(result)
        assert found is not None
        assert found[0] == "serious"
        assert f"({missing:,}) were left out for what their clicks or reward hold" in found[1]
        assert result.verdict.trust == "none"


@pytest.mark.parametrize(("broken", "severity"), [(2, "warning"), (3, "serious")])
def test_few_outcomes_that_cannot_be_read_leave_a_warning(broken: int, severity: str) -> None:
    """2 of 2,000 rows are 0.1 %."""
    log = [{**row, "clicks": [-1, 0] if row["request"] < broken else row["clicks"]} for row in rows()]
    found = told(asked(log))
    assert found is not None
    assert found[0] == severity


def test_rewards_that_cannot_be_read_are_told_too() -> None:
    log = [{**row, "reward": None if row["request"] % 5 == 0 else 1.5} for row in rows()]
    found = told(asked(log))
    assert found is not None
    assert found == ("serious", found[1])
    assert "20 % of the rows (400)" in found[1]


def twice(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "slate": ["a", "a"]}


def test_rows_that_earned_as_much_as_the_others_may_be_left_out() -> None:
    result = asked([twice(row) if row["request"] % 5 == 0 else row for row in rows()])
    assert result.facts["log"]["skipped"] == {"duplicate-item": 400}
    assert told(result) is None
    assert result.verdict.trust == "sound"


def test_rows_that_earned_more_are_told_with_both_means() -> None:
    """All rows with two clicks have an item twice. Of one variance, means of n and m rows differ by it (1/n + 1/m)."""
    log = [twice(row) if sum(row["clicks"]) == 2 else row for row in rows()]
    every = np.array([sum(row["clicks"]) for row in log])
    rest = every[every < 2]
    error = np.sqrt(np.var(every) * (1 / len(rest) + 1 / (len(every) - len(rest))))
    found = told(asked(log))
    assert found is not None
    assert found[0] == "warning"
    apart = (2 - np.mean(rest)) / error
    assert f"is 2.0; that of the others is {np.mean(rest):.2g} ({apart:.1f} standard errors apart)" in found[1]
    assert asked(log).verdict.trust == "with care"


def test_more_lists_with_a_reward_are_told_where_a_few_large_rewards_hide_them() -> None:
    """One row in 1,000 earns 10,000: means differ by chance; half of the rows left out earn 1, a tenth of the others.

    Both shares differ by (s - r) / sqrt(p (1 - p) (1/200 + 1/1800)).
    """
    log = []
    for row in rows():
        number, lost = row["request"], row["request"] % 10 == 0
        reward = 10_000.0 if number % 1000 == 7 else float(number % 20 == 0 if lost else number % 10 == 3)
        log.append({**(twice(row) if lost else row), "reward": reward})
    found = told(asked(log))
    assert found is not None
    assert found[0] == "warning"
    share, others, every = 100 / 200, (180 + 20 + 2) / 1800, (100 + 202) / 2000
    apart = (share - others) / np.sqrt(every * (1 - every) * (1 / 200 + 1 / 1800))
    said = f"50 % have a click or a reward, and {100 * others:.0f} % of the others ({apart:.1f} standard errors apart)"
    assert said in found[1]
    assert asked(log).verdict.trust != "sound"


@pytest.mark.parametrize("layout", ["lists", "ids", "items", "empty text"])
def test_clicks_that_are_null_in_all_rows_are_an_error(layout: str, tmp_path: Path) -> None:
    log: list[dict[str, Any]] = [{**row, "clicks": None} for row in rows()]
    columns = {"clicks": "clicks"} if layout == "ids" else None
    source: Any = log
    if layout == "items":
        source = [{**one, "click": None} for one in long("any")]
    if layout == "empty text":
        source = tmp_path / "log.csv"
        source.write_text("slate,clicked\n" + "\n".join(f"{'|'.join(row['slate'])}," for row in log) + "\n")
        columns = {"slate": "slate", "clicks": "clicked"}
    with pytest.raises(offrank.OffrankError, match=r"null in all rows of .*, so nothing says what was clicked"):
        offrank.evaluate(offrank.read_log(source, columns=columns), "uniform", "uniform", "ips")


def test_rows_whose_outcome_nobody_knows_are_no_reason_for_trust() -> None:
    log = [{**row, "slate": ["a", "a"], "clicks": None} if row["request"] % 5 == 0 else row for row in rows()]
    found = told(asked(log))
    assert found is not None
    assert found == ("warning", found[1])
    assert found[1].startswith("400 rows were left out with an unknown outcome")


def test_the_same_is_told_of_any_parts_in_any_order(tmp_path: Path) -> None:
    log = [twice(row) if sum(row["clicks"]) == 2 else row for row in rows()]
    expected = told(asked(log))
    for place, some in enumerate((log[1500:], log[:3], log[3:1500])):
        pq.write_table(pa.Table.from_pylist(some), tmp_path / f"{place}.parquet", row_group_size=200)
    assert told(asked(str(tmp_path))) == expected


def long(broken: str) -> list[dict[str, Any]]:
    """A row per item: impressions with two clicks, or every fifth, have no first position."""
    found = []
    for row in rows():
        lost = sum(row["clicks"]) == 2 if broken == "clicked" else row["request"] % 5 == 0
        for place, item in enumerate(POOL):
            rank = row["slate"].index(item) if item in row["slate"] else None
            position = None if rank is None else rank + 1 + lost
            click = None if rank is None else row["clicks"][rank]
            found.append({"impression": row["request"], "item": item, "position": position, "click": click})
            assert place < len(POOL)
    return found


def test_impressions_of_a_long_log_are_tested_as_well() -> None:
    assert told(asked(pa.Table.from_pylist(long("any")))) is None
    found = told(asked(pa.Table.from_pylist(long("clicked"))))
    assert found is not None
    assert "its mean is 2.0;" in found[1]


JOINED = [
    {"slate": ["a", "b"], "candidates": POOL, "clicked": None},
    {"slate": ["b", "c"], "candidates": POOL, "clicked": "c"},
    {"slate": ["c", "a"], "candidates": POOL, "clicked": "a|c"},
]


@pytest.mark.parametrize("between", ["|", ", ", ";", " "])
def test_ids_joined_in_one_text_are_the_clicks_of_each(between: str) -> None:
    log = [{**row, "clicked": (row["clicked"] or "").replace("|", between) or None} for row in JOINED] * 200
    result = offrank.evaluate(offrank.read_log(log, columns={"clicks": "clicked"}), "uniform", "uniform", ["ipm"])
    assert result.facts["logged"]["value"] == pytest.approx(3 / 3)


def test_joined_ids_that_are_not_all_shown_are_an_error() -> None:
    log = [*JOINED * 200, {"slate": ["a", "b"], "candidates": POOL, "clicked": "a|c"}]
    with pytest.raises(offrank.OffrankError, match=r"row 600 .* names what was clicked, but no item of its slate"):
        offrank.evaluate(offrank.read_log(log, columns={"clicks": "clicked"}), "uniform", "uniform", ["ipm"])


def test_whole_numbers_joined_in_one_text_are_ids_too() -> None:
    log = [{"slate": [3, 17], "clicked": "3|17"}, {"slate": [17, 4], "clicked": "4"}] * 100
    result = offrank.evaluate(offrank.read_log(log, columns={"clicks": "clicked"}), "uniform", "uniform", ["ipm"])
    assert result.facts["logged"]["value"] == pytest.approx(3 / 2)


def test_inspect_proposes_to_skip_no_outcome() -> None:
    log = [{**row, "clicks": row["clicks"] if any(row["clicks"]) else None} for row in rows()]
    found = inspect(log)
    assert isinstance(found, offrank.Inspection)
    assert found.unreadable == sum(row["clicks"] is None for row in log)
    assert found.command == ""
    assert "skip_invalid" not in found.mapping()
    words = " ".join(str(found).split())
    assert f"clicks cannot be read in {found.unreadable} of 2,000 rows" in words
    assert "skip-invalid" not in words


def test_inspect_still_proposes_to_skip_what_breaks_another_rule() -> None:
    found = inspect([twice(row) if row["request"] % 5 == 0 else row for row in rows()])
    assert isinstance(found, offrank.Inspection)
    assert found.unreadable == 0
    assert "--skip-invalid" in found.command


def test_arms_are_not_compared_by_the_rows_that_were_clicked() -> None:
    rng = np.random.default_rng(2)
    log: list[dict[str, Any]] = [{"arm": arm, "reward": float(rng.random() < 0.3)} for arm in "AB" * 1000]
    how: dict[str, Any] = {"logging": "by(arm, {A: top(is_A), B: top(is_B)})", "estimators": ["snips"]}
    form = "ab_test(arm=arm, reward=reward)"
    whole = offrank.compare(offrank.read_log(pa.Table.from_pylist(log), format=form), **how)
    assert whole.comparisons[0].verdict.trust == "sound"
    lost = [{**row, "reward": row["reward"] or None} for row in log]
    some = offrank.compare(offrank.read_log(pa.Table.from_pylist(lost), format=form, invalid="skip"), **how)
    assert some.comparisons[0].verdict.trust == "none"
    assert some.comparisons[0].verdict.reasons[0].code == "left-out"
