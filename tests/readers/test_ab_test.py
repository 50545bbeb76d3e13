"""An A/B test of which no rankers are known: it is told as one, and its arms are compared by their means."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import offrank
from offrank.errors import ColumnError, LogError
from offrank.log.source import Needs
from offrank.readers.formats.router import ab_test
from tests.cli.commands import call

RNG = np.random.default_rng(29)
N = 600
ARM = RNG.permutation(np.repeat(["control", "treatment"], N // 2))
CLICKS = RNG.binomial(5, np.where(ARM == "control", 0.1, 0.3))
REVENUE = np.round(RNG.normal(0, 2, N), 2)
DIFFERENCE = CLICKS[ARM == "treatment"].mean() - CLICKS[ARM == "control"].mean()
REWARD = Needs(frozenset(["reward"]))
LAW = "by(variant, {control: top(is_control), treatment: top(is_treatment)})"


def sessions(**more: Any) -> pa.Table:
    return pa.table({"day": [f"2026-10-{1 + n % 9:02d}" for n in range(N)], "variant": ARM, "clicks": CLICKS, **more})


def items(**more: Any) -> pa.Table:
    """The same with the lists: each arm always shows the same five items of a query, of which as many are clicked."""
    rows = [
        {"visit_id": f"v{n}", "user_id": f"u{n % 90}", "variant": str(ARM[n]), "query": f"q{n % 4}"}
        | {
            "item": f"i{(place * (2 if ARM[n] == 'control' else 3)) % 7}",
            "position": place,
            "clicked": int(place <= CLICKS[n]),
        }
        for n in range(N)
        for place in range(1, 6)
    ]
    return pa.Table.from_pylist([one | more for one in rows])


def compared(table: Any, reader: Any) -> Any:
    found = offrank.compare(offrank.read_log(table, format=reader), logging=LAW, estimators="snips")
    return found.metadata.ab_test.compared[0]


def test_the_difference_is_that_of_the_means_with_the_error_of_welch() -> None:
    found = compared(sessions(), ab_test(arm="variant", reward="clicks")).means
    parts = [CLICKS[arm == ARM] for arm in ("control", "treatment")]
    error = np.sqrt(sum(part.var(ddof=1) / len(part) for part in parts))
    assert (found.value, found.standard_error) == pytest.approx((DIFFERENCE, error), rel=1e-12)


def test_a_column_that_is_called_as_the_score_of_an_arm_decides_nothing() -> None:
    found = compared(sessions(is_control=np.zeros(N)), "ab_test(arm=variant, reward=clicks)")
    assert found.means.value == pytest.approx(DIFFERENCE, rel=1e-12)


def test_earnings_may_be_negative() -> None:
    found = compared(sessions(revenue=REVENUE), "ab_test(arm=variant, reward=revenue)")
    assert found.means.value == pytest.approx(REVENUE[ARM == "treatment"].mean() - REVENUE[ARM == "control"].mean())


def test_what_rows_of_one_impression_earned_is_added() -> None:
    found = compared(items(), "ab_test(arm=variant, reward=clicked, impression=visit_id)")
    assert found.means.value == pytest.approx(DIFFERENCE, rel=1e-12)


def test_numbers_of_a_list_are_added() -> None:
    lists = [[1] * int(count) + [0] * int(5 - count) for count in CLICKS]
    found = compared(pa.table({"variant": ARM, "hits": lists}), "ab_test(arm=variant, reward=hits)")
    assert found.means.value == pytest.approx(DIFFERENCE, rel=1e-12)


def test_an_impression_of_two_arms_is_refused() -> None:
    with pytest.raises(LogError, match="2 values of 'variant'"):
        compared(sessions(), "ab_test(arm=variant, reward=clicks, impression=day)")


@pytest.mark.parametrize("impression", ["", "day"])
def test_earnings_in_words_are_refused(impression: str) -> None:
    table = sessions().append_column("earned", pa.array(["1.5", "much"] * (N // 2)))
    with pytest.raises(ColumnError, match="'earned' holds string, not numbers"):
        list(ab_test(table, arm="variant", reward="earned", impression=impression).select(REWARD).batches(0))


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(ColumnError, match="no column 'bucket'"):
        compared(sessions(), "ab_test(arm=bucket, reward=clicks)")


@pytest.mark.parametrize("users", [None, "user", "member_id"])
@pytest.mark.parametrize("lists", [False, True])
def test_the_command_that_inspect_prints_answers(
    users: str | None, lists: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    each = np.where(ARM == "control", 0, 1000) + np.arange(N) % 150
    table = items() if lists else sessions() if users is None else sessions(**{users: [f"u{one}" for one in each]})
    pyarrow.csv.write_csv(table, "ab.csv")
    words = shlex.split(offrank.inspect("ab.csv").command)
    assert ("--cluster" in words) == (lists or users is not None)
    done = call(*words[1:])
    assert done.exit_code == 0, done.output
    assert f"{DIFFERENCE:+.1f}" in done.output
    assert "Better" in done.output
    assert "by difference of means" in done.output


def test_arms_that_are_not_called_so_are_no_test() -> None:
    found = offrank.inspect(
        sessions().set_column(1, "variant", pa.array(np.char.add("v", (ARM == "control").astype(str))))
    )
    assert "A/B test" not in found.why


def test_a_log_that_can_judge_rankings_is_not_compared_by_means() -> None:
    slates = RNG.permuted(np.tile(np.arange(4), (N, 1)), axis=1)
    clicks = (RNG.random((N, 4)) < 0.3).astype(int)
    table = pa.table({"slate": slates.tolist(), "clicks": clicks.tolist(), "query": np.arange(N) % 5, "variant": ARM})
    assert offrank.inspect(table).means is None


def test_a_reward_without_clicks_is_answered_by_every_verb(tmp_path: Path) -> None:
    log = offrank.read_log(sessions(revenue=REVENUE), format="ab_test(arm=variant, reward=revenue)")
    away = REVENUE[ARM == "treatment"].mean() - REVENUE[ARM == "control"].mean()
    designed = f"balanced({LAW}, shares={{control: 0.5, treatment: 0.5}})"
    found = offrank.compare(log, logging=designed, baseline="control", state=tmp_path / "day.state")
    merged = offrank.merge([tmp_path / "day.state"])
    for one in (found, merged.comparing("control")):
        assert one.comparisons[0].verdict.difference.value == pytest.approx(away)
    assert [name for _, name in found.estimates] == ["snips", "snips"]
    assert "it needs clicks by rank" in offrank.compare(log, logging=LAW).metadata.ab_test.left_out
    valued = offrank.evaluate(log, "top(is_treatment)", f"balanced({LAW})", ["ips", "snips"])
    assert valued["snips"].value == pytest.approx(REVENUE[ARM == "treatment"].mean())
    with pytest.raises(ColumnError, match="no column 'clicks'"):  # what was asked for is not left out
        offrank.compare(log, logging=LAW, estimators=["snips", "snipm"])
