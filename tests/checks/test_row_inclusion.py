"""Rows that were kept by their outcome: by the true totals the rates are tested, and without them that is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.checks.row_inclusion import KeptFold
from offrank.errors import StateError, UsageError
from tests.cli.commands import call
from tests.exact.worlds import world
from tests.verbs.logs import coins, dice, replaced

ROWS = 20_000
TARGET = "plackett_luce(score, temperature=2)"
QUESTION: dict[str, Any] = {"target": TARGET, "logging": "plackett_luce(score)", "estimators": ["ips", "snips"]}


def clicked(log: pa.Table) -> np.ndarray:
    return np.array(log["clicks"].to_pylist()).any(axis=1)


WHOLE = dice(ROWS)
TOTALS = {"clicked": int(clicked(WHOLE).sum()), "all": ROWS}


def kept(share: float = 0.1, written: float | None = None) -> pa.Table:
    """Rows without a click are kept with a probability, and another one may be written."""
    has = clicked(WHOLE)
    rows = np.random.default_rng(7).random(ROWS) < np.where(has, 1.0, share)
    return replaced(WHOLE.filter(rows), inclusion=np.where(has, 1.0, written or share)[rows])


def judged(log: Any, **options: Any) -> offrank.Result:
    return offrank.evaluate(log, **QUESTION, **options)


def codes(result: offrank.Result) -> dict[str, str]:
    return {one.code: one.severity for one in result.about_log}


def assumed(result: offrank.Result) -> set[str]:
    return {one.code for one in result.verdict.assumptions}


def test_the_totals_are_asked_for_where_rows_were_kept_by_their_clicks() -> None:
    found = judged(kept())
    assert codes(found) == {"kept-by-outcome": "note"}
    assert found.verdict.trust == "sound"
    assert found.verdict.assumptions[0].code == "right-rates"
    assert "totals=" in found.about_log[0].remedy


def test_right_totals_test_the_rates() -> None:
    found = judged(kept(), totals=TOTALS)
    assert codes(found) == {}
    assert found.verdict.trust == "sound"
    assert not {"right-rates", "rows-kept-blindly"} & assumed(found)
    one = judged(kept(), totals={"all": ROWS})
    assert codes(one) == {"kept-by-outcome": "note"}
    assert "right-rates" in assumed(one)


@pytest.mark.parametrize("totals", [TOTALS, {"all": ROWS}])
def test_wrong_rates_are_refuted_by_the_totals(totals: dict[str, float]) -> None:
    log = kept(written=0.15)
    assert judged(log).verdict.usable  # nothing in the log tells
    found = judged(log, totals=totals)
    assert codes(found)["totals"] == "serious"
    assert not found.verdict.usable
    assert offrank.check(log, TARGET, QUESTION["logging"], totals=totals).verdict.trust == "none"


def test_forgotten_rates_are_refuted_by_the_totals() -> None:
    found = judged(replaced(kept(), inclusion=None), totals=TOTALS)
    assert found.verdict.reasons[0].code == "totals"


def test_every_estimate_is_bound_whether_it_asks_the_policy_or_not() -> None:
    found = judged(kept(written=0.15), totals=TOTALS, by=None)
    assert not any(one.trustworthy for one in found.estimates.given.values())
    assert not offrank.evaluate(kept(written=0.15), TARGET, estimators=["logged"], totals=TOTALS)["logged"].trustworthy


def test_rates_that_do_not_follow_clicks_are_nothing_to_ask_about() -> None:
    rng = np.random.default_rng(3)
    rates = rng.choice([0.2, 0.8], ROWS)
    rows = rng.random(ROWS) < rates
    assert codes(judged(replaced(WHOLE.filter(rows), inclusion=rates[rows]))) == {}
    assert codes(judged(replaced(WHOLE, inclusion=np.full(ROWS, 0.5)))) == {}


@pytest.mark.parametrize(("rows", "severity"), [(99, None), (100, "serious")])
def test_a_log_of_clicked_rows_only_is_refused(rows: int, severity: str | None) -> None:
    log = WHOLE.filter(clicked(WHOLE)).slice(0, rows)
    assert codes(judged(log)).get("only-clicked-rows") == severity
    assert codes(offrank.check(log, logging=QUESTION["logging"])).get("only-clicked-rows") == severity


def test_who_says_that_all_was_clicked_is_believed() -> None:
    log = coins(400, clicks=[[1]] * 400)
    assert "only-clicked-rows" in codes(offrank.evaluate(log, "uniform"))
    assert codes(offrank.evaluate(log, "uniform", totals={"clicked": 400, "all": 400})) == {}
    assert "totals" in codes(offrank.evaluate(log, "uniform", totals={"clicked": 400, "all": 900}))


def test_a_grade_or_an_amount_of_every_row_is_no_click() -> None:
    rng = np.random.default_rng(1)
    for values in (rng.integers(1, 6, 400), rng.gamma(2.0, size=400)):
        graded = replaced(coins(400), clicks=None, reward=values.astype(float))
        assert codes(offrank.evaluate(graded, "uniform")) == {}
    ones = replaced(coins(400), clicks=None, reward=np.ones(400))
    assert "only-clicked-rows" in codes(offrank.evaluate(ones, "uniform"))
    assert codes(offrank.evaluate(coins(400, clicks=[[0]] * 400), "uniform")) == {}


@pytest.mark.parametrize(
    "totals",
    [{}, {"clicks": 3}, {"clicked": 5, "all": 4}, {"all": -1}, {"all": float("nan")}, {"all": True}, 7, "all=3"],
)
def test_totals_that_cannot_be(totals: Any) -> None:
    with pytest.raises(UsageError, match="totals is"):
        judged(kept(), totals=totals)


def test_the_totals_of_days_add_up(tmp_path: Path) -> None:
    log = kept(written=0.15)
    half = len(log) // 2
    days = [log.slice(0, half), log.slice(half)]
    for day, rows in enumerate(days):
        pq.write_table(rows, tmp_path / f"{day}.parquet")
        true = {"clicked": int(clicked(rows).sum()), "all": ROWS / 2}
        judged(str(tmp_path / f"{day}.parquet"), totals=true, state=tmp_path / f"{day}.state")
    merged = offrank.merge([tmp_path / "0.state", tmp_path / "1.state"])
    assert codes(merged)["totals"] == "serious"
    assert f"there were {ROWS:,}" in merged.about_log[0].message
    judged(str(tmp_path / "1.parquet"), state=tmp_path / "none.state")
    with pytest.raises(StateError, match="totals is"):
        offrank.merge([tmp_path / "0.state", tmp_path / "none.state"])


def test_the_call_that_repeats_it_has_the_totals() -> None:
    assert f"totals={TOTALS!r}" in str(judged(kept(), totals=TOTALS).facts["command"])
    assert "totals" not in str(judged(kept()).facts["command"])
    assert "totals={'all': 20000}" in str(offrank.check(WHOLE, totals={"all": ROWS}).facts["command"])


def test_totals_on_the_command_line(tmp_path: Path) -> None:
    path = str(tmp_path / "log.parquet")
    pq.write_table(kept(written=0.15), path)
    said = [
        "--totals",
        f"clicked={TOTALS['clicked']}, all={ROWS}",
        "--logging",
        QUESTION["logging"],
        "--target",
        TARGET,
    ]
    for verb in ("evaluate", "check", "compare"):
        told = " ".join(call(verb, path, *said).output.replace("│", " ").replace("`", "").split())
        assert "the rates in inclusion are wrong" in told
    wrong = call("evaluate", path, "--totals", "clicked=many", "--target", TARGET)
    assert wrong.exit_code
    assert "--totals" in wrong.output + str(wrong.stderr)


def test_the_variance_of_how_many_there_were() -> None:
    """A row kept with probability p stands for 1 / p, with variance (1 - p) / p^2: 12 at a quarter."""
    batch = world("full", "position").batch(offrank.PlackettLuce("old"))
    fold, quarter = KeptFold(), replace(batch, clicks=np.rint(batch.clicks), inclusion=np.full(len(batch), 0.25))
    found = fold.result(fold.of(quarter))
    assert sum(found.rows) == len(batch)
    assert sum(found.impressions) == pytest.approx(4 * len(batch), rel=1e-12)
    assert sum(found.variance) == pytest.approx(12 * len(batch), rel=1e-12)
