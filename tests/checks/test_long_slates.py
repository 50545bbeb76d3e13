"""Slates so long that the law of one row would fill the memory or take seconds are left out, or refused, by name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.checks.calibration import CalibrationFold
from offrank.errors import AbilityError, UsageError
from offrank.log.batch import Labels
from offrank.log.source import Needs
from offrank.running import executors
from offrank.sums.base import Sample, total
from offrank.sums.group_by import GroupBy
from offrank.sums.moments import MomentsFold
from offrank.sums.sampled import SampledRowsFold

PLACKETT_LUCE = "plackett_luce(old_score)"


def log(rows: int, slots: int) -> pa.Table:
    """Slates of all candidates in any order."""
    rng = np.random.default_rng(0)
    slates = np.argsort(rng.random((rows, slots)), axis=1)
    scores = {name: rng.uniform(1, 2, slates.shape).tolist() for name in ("old_score", "new_score")}
    return pa.table({"slate": slates.tolist(), "clicks": (rng.random(slates.shape) < 0.1).tolist(), **scores})


def calibrated(slots: int) -> object:
    source, fold = offrank.read_log(log(3, slots)), CalibrationFold(offrank.Top("old_score"))
    return executors.run(source.select(fold.needs()), fold)


def test_rows_of_more_than_a_million_pairs_are_not_tested_and_counted() -> None:
    assert calibrated(1_000) is not None
    with pytest.raises(AbilityError, match="all 3 impressions have more than 1,000,000 pairs"):
        calibrated(1_001)


def test_long_rows_do_not_displace_short_ones() -> None:
    source, fold = offrank.read_log(log(4, 30)), SampledRowsFold(Needs())
    [batch] = source.select(Needs()).batches(0)
    lengths = np.array([30, 1_200, 30, 1_200])
    mixed = replace(batch, contexts=replace(batch.contexts, length=lengths, size=lengths))
    state = fold.of(mixed)
    kept = fold.result(state)
    assert (sorted(kept.contexts.length.tolist()), kept.read, kept.large) == ([30, 30], 4, 2)
    twice = fold.result(total(fold.add(state, mixed), fold.of(mixed)))
    assert (twice.read, twice.large) == (12, 6)


def test_check_says_what_it_did_not_test() -> None:
    found = {one.code: one for one in offrank.check(log(3, 1_100), logging=PLACKETT_LUCE).metadata.checks}
    assert found["miscalibrated"].message == (
        "Not checked: all 3 impressions have more than 1,000,000 pairs of a candidate and a rank."
    )


def test_check_counts_the_rows_that_it_did_not_compare(tmp_path: Path) -> None:
    for number, slots in enumerate((5, 1_100)):
        pq.write_table(log(3, slots), tmp_path / f"{number}.parquet")
    found = {one.code: one for one in offrank.check(tmp_path, logging=PLACKETT_LUCE).metadata.checks}
    assert found["miscalibrated"].status == "ok"
    assert found["miscalibrated"].message == (
        "Items are shown as often as this policy says, within chance. "
        "3 rows were not compared, because each has over a million pairs of item and rank."
    )


@pytest.mark.parametrize(("slots", "refused"), [(400, False), (575, True)])
def test_the_law_of_a_row_takes_a_second_at_most(slots: int, refused: bool) -> None:
    source, policy = offrank.read_log(log(1, slots)), offrank.PlackettLuce("old_score")
    [batch] = source.select(policy.reads("rank_probs")).batches(0)
    items = np.zeros((1, 1), np.int64)
    if not refused:
        assert policy.rank_probs(batch.contexts, items).sum() == pytest.approx(1, rel=1e-9)
        return
    with pytest.raises(AbilityError, match="575 candidates at 575 ranks would take about 1 seconds per row"):
        policy.rank_probs(batch.contexts, items)


def test_an_estimator_of_rank_laws_is_refused_with_what_to_do() -> None:
    with pytest.raises(UsageError, match=r"1,000 candidates at 1,000 ranks .* seconds per row: shorten the slates"):
        offrank.evaluate(log(2, 1_000), "plackett_luce(new_score)", PLACKETT_LUCE, ["ipm"])


def test_slices_of_a_batch_give_the_same_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    table = log(300, 6)

    def values() -> list[float]:
        found = offrank.evaluate(table, "plackett_luce(new_score)", PLACKETT_LUCE, ["ips", "snips", "ipm"])
        return [
            number for name in ("ips", "snips", "ipm") for number in (found[name].value, found[name].standard_error)
        ]

    whole = values()
    monkeypatch.setattr(executors, "_MOST_IN_LAW", 36 * 7)
    assert values() == pytest.approx(whole, rel=1e-12)


def test_too_many_groups_are_refused_before_their_states_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    fold = GroupBy(MomentsFold())
    monkeypatch.setattr(MomentsFold, "of", lambda *_: made.append(1))
    groups = Labels(np.arange(2_001), tuple(map(str, range(2_001))))
    with pytest.raises(UsageError, match="more than 2000 values"):
        fold.of(Sample.of(np.zeros((2_001, 1)), np.zeros(2_001, np.uint64), groups=groups))
    assert not made
