"""Rows that were kept with unequal rates, with the rate in a column that nobody named: asked for, never ignored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank

CODE = "unread-rate"
RATES = (0.05, 1.0)


def thinned(rows: int = 40_000, rates: tuple[float, float] = RATES, seed: int = 1) -> pa.Table:
    """One of four items a row, clicked with 4 %; rows with and without a click were kept at these rates."""
    rng = np.random.default_rng(seed)
    slate, clicked = rng.integers(4, size=rows), rng.random(rows) < 0.04
    rate = np.where(clicked, rates[1], rates[0])
    kept = rng.random(rows) < rate
    lists = pa.array(np.tile(np.arange(4), (rows, 1)).tolist()), pa.array([[item] for item in slate.tolist()])
    clicks = pa.array([[click] for click in clicked.astype(int).tolist()])
    scores = pa.array(np.tile(np.arange(4.0), (rows, 1)).tolist())
    names = ["candidates", "slate", "clicks", "score", "keep_prob"]
    return pa.table([*lists, clicks, scores, rate], names=names).filter(pa.array(kept))


def judged(log: Any, **options: Any) -> offrank.Result:
    return offrank.evaluate(log, "top(score)", "uniform", "snips", **options)


def codes(result: offrank.Result) -> dict[str, str]:
    return {one.code: one.severity for one in result.about_log}


def test_a_rate_that_is_not_read_leaves_no_answer() -> None:
    result = judged(thinned())
    assert codes(result)[CODE] == "serious"
    assert result.verdict.trust == "none"
    [told] = [one for one in result.about_log if one.code == CODE]
    assert "`keep_prob` is 0.05 in rows without a click" in told.message
    assert '{"inclusion": "keep_prob"}' in told.remedy


def test_the_rate_that_is_named_corrects_the_answer() -> None:
    result = judged(thinned(), columns={"inclusion": "keep_prob"})
    assert CODE not in codes(result)
    assert result["snips"].low < 0.04 < result["snips"].high


def test_check_and_inspect_ask_for_the_rate_too() -> None:
    log = thinned(8000)
    assert codes(offrank.check(log, logging="uniform"))[CODE] == "serious"
    assert CODE in offrank.inspect(log).to_json()


def test_a_file_is_asked_like_a_table(tmp_path: Any) -> None:
    pq.write_table(thinned(8000), tmp_path / "log.parquet")
    assert codes(judged(tmp_path / "log.parquet"))[CODE] == "serious"


def test_a_long_log_is_asked_too() -> None:
    log = thinned(8000)
    every = zip(log["slate"].to_pylist(), log["clicks"].to_pylist(), log["keep_prob"].to_pylist(), strict=True)
    rows = [
        {"impression": number, "item": item, "position": 1 if item == shown else None, "score": float(item),
         "click": clicked * (item == shown), "keep_prob": rate}
        for number, ([shown], [clicked], rate) in enumerate(every)
        for item in range(4)
    ]  # fmt: skip
    assert codes(judged(pa.Table.from_pylist(rows)))[CODE] == "serious"


def replaced(log: pa.Table, values: Any) -> pa.Table:
    return log.set_column(log.column_names.index("keep_prob"), "keep_prob", pa.array(values))


@pytest.mark.parametrize("kind", ["constant", "elsewhere", "partly", "outcome", "many", "above one"])
def test_other_fractions_are_not_asked_for(kind: str) -> None:
    log = thinned(rates=(1.0, 1.0), rows=4000)
    rng = np.random.default_rng(2)
    clicked = np.concatenate(log["clicks"].to_pylist())
    values = {
        "constant": np.full(len(clicked), 0.1),
        "elsewhere": rng.choice([0.1, 0.5], len(clicked)),
        "partly": np.where(clicked > 0, 1.0, rng.choice([0.1, 0.5], len(clicked))),
        "outcome": clicked * 0.5,
        "many": np.where(clicked > 0, 1.0, rng.random(len(clicked))),
        "above one": np.where(clicked > 0, 2.0, 0.5),
    }
    assert CODE not in codes(judged(replaced(log, values[kind])))


@pytest.mark.parametrize(("clicked", "asked"), [(9, False), (10, True)])
def test_rates_follow_the_outcome_only_where_there_are_ten_rows_of_each(clicked: int, asked: bool) -> None:
    log = thinned(rates=(1.0, 1.0), rows=2000).slice(0, 500)
    clicks = np.arange(500) < clicked
    log = log.set_column(2, "clicks", pa.array([[int(one)] for one in clicks]))
    assert (CODE in codes(judged(replaced(log, np.where(clicks, 1.0, 0.05))))) == asked
