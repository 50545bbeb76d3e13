"""What a model loses to the click rates by rank of its training log, and when that is said."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import offrank
from offrank.cli import main
from offrank.clicks import DCTR, GCTR, PBM, RCTR, Evaluated, load
from offrank.errors import UsageError
from tests.clicks.aged import aged
from tests.clicks.readers import log

CODE = "behind-rctr"


def apart(half: float, sessions: int) -> Any:
    """Sessions of two ranks, clicked at the rates .5 + half and .5 - half, as independently as whole numbers allow."""
    first = np.arange(sessions) < round((0.5 + half) * sessions)
    second = np.empty(sessions, np.bool_)
    for some in (first, ~first):
        second[some] = np.arange(some.sum()) < round((0.5 - half) * some.sum())
    return log([[0, 1]] * sessions, np.column_stack([first, second]).astype(int).tolist())


def judged(model: Any, some: Any) -> Evaluated:
    return offrank.evaluate_clicks(some, {"model": model}).here["model"]


def told(found: Evaluated) -> str | None:
    """The severity of the finding, if there is one."""
    return next((one.severity for one in found.cautions if one.code == CODE), None)


@pytest.mark.parametrize(
    ("half", "sessions", "severity"), [(0.049, 4000, None), (0.051, 4000, "warning"), (0.058, 300, "note")]
)
def test_more_than_a_hundredth_of_a_nat_is_said(half: float, sessions: int, severity: str | None) -> None:
    # Two ranks: the one rate of `gctr` loses about 4 half^2 nats a session.
    some = apart(half, sessions)
    found = judged(GCTR().fit(some), some)
    rates = judged(RCTR().fit(some), some)
    lost = rates.log_likelihood.value - found.log_likelihood.value
    assert (lost > 0.01) == (severity is not None)
    assert told(found) == severity
    assert told(rates) is None
    if severity:
        (caution,) = (one for one in found.cautions if one.code == CODE)
        assert f"{lost:.4f} nats" in caution.message
        assert "rctr" in caution.remedy


def test_the_rates_are_those_of_the_training_log_of_each_model() -> None:
    steep, flat = apart(0.3, 1000), apart(0.0, 1000)
    models = {"steep": GCTR().fit(steep), "flat": GCTR().fit(flat), "rctr": RCTR().fit(flat)}
    for some, behind in ((steep, {"steep"}), (flat, set())):
        result = offrank.evaluate_clicks(some, models)
        assert {name for name, one in result.here.items() if told(one)} == behind
        assert (f"{CODE} (" in str(result)) == bool(behind)


@pytest.mark.parametrize("model", [RCTR(), GCTR(), DCTR(), PBM(), offrank.clicks.DBN()], ids=repr)
def test_every_kind_of_model_keeps_the_rates_of_rctr(model: Any, tmp_path: Path) -> None:
    # Of lists of several lengths, with a hole and rows that stand for several.
    some = {"slate": [[0, 1, 2], [1, None, 0], [2], [1, 0]], "clicks": [[1, 0, 1], [0, 0, 1], [1], [0, 0]]}
    rows = [
        {"slate": slate, "clicks": clicks, "inclusion": share}
        for slate, clicks, share in zip(some["slate"], some["clicks"], [1.0, 0.5, 1.0, 0.25], strict=True)
    ]
    rates = RCTR().fit(rows).learnt.parameters["rate"]
    fitted = model.fit(rows)
    assert fitted.rank_rates == pytest.approx(rates, rel=1e-12)
    fitted.save(tmp_path / "model.json")
    assert np.array_equal(load(tmp_path / "model.json").rank_rates, fitted.rank_rates)


def test_values_of_a_context_share_the_rates() -> None:
    rows = [{"slate": [0, 1], "clicks": [n % 2, 0], "device": "ab"[n % 2]} for n in range(6)]
    by_device = PBM(examination_by="device").fit(rows).rank_rates
    assert by_device == pytest.approx([4 / 8, 1 / 8])


def test_files_of_earlier_releases_are_not_compared(tmp_path: Path) -> None:
    some, path = apart(0.2, 1000), tmp_path / "model.json"
    GCTR().fit(some).save(path)
    assert told(judged(load(path), some)) == "warning"
    earlier = aged(path)
    rates = earlier.pop("rank_rates")
    path.write_text(json.dumps(earlier))
    assert load(path).rank_rates is None
    assert told(judged(load(path), some)) is None
    for wrong in ({**rates, "values": [0.5, 1.5]}, {**rates, "values": [0.5, math.inf]}, {**rates, "shape": [2, 1]}):
        path.write_text(json.dumps({**earlier, "rank_rates": wrong}))
        with pytest.raises(UsageError, match=r"damaged: (its click rates by rank are invalid|a number is beyond)"):
            load(path)


def test_a_single_session_convicts_nobody() -> None:
    steep = apart(0.4, 1000)
    assert told(judged(GCTR().fit(steep), log([[0, 1]], [[1, 0]]))) is None


# Sparse logs ----------------------------------------------------------------------------------------------------------


def sorted_by_worth(queries: int, sessions: int, seed: int) -> pa.Table:
    """Sessions of a position-based user, whose ten documents of each query are sorted by their attraction."""
    attraction = -np.sort(-np.random.default_rng(queries).beta(1, 4, (queries, 10)), axis=1)
    rng = np.random.default_rng([queries, seed])
    query = rng.integers(0, queries, sessions)
    order = np.argsort(-attraction[query] + 0.03 * rng.standard_normal((sessions, 10)), axis=1)
    clicks = rng.random((sessions, 10)) < np.take_along_axis(attraction[query], order, axis=1) / np.arange(1, 11)
    slates = (query[:, None] * 10 + order).tolist()
    return log(slates, clicks.astype(int).tolist(), query=query)


@pytest.mark.parametrize(("queries", "severity"), [(600, "warning"), (20, None)])
def test_a_sparse_log_says_what_a_dense_one_does_not(queries: int, severity: str | None, tmp_path: Path) -> None:
    logs = [tmp_path / f"{seed}.parquet" for seed in range(2)]
    for seed, path in enumerate(logs):
        pq.write_table(sorted_by_worth(queries, (600, 6000)[seed], seed), path)
    model = tmp_path / "pbm.json"
    assert CliRunner().invoke(main, ["clicks", "fit", str(logs[0]), "--model", "pbm", "-o", str(model)]).exit_code == 0
    found = judged(load(model), logs[1])
    assert told(found) == severity
    said = CliRunner().invoke(main, ["clicks", "evaluate", str(logs[1]), "--model", str(model)]).output
    assert (f"{CODE} (warning)" in said) == bool(severity)
    # Of another log too: each speaks for itself.
    result = offrank.evaluate_clicks(logs[0], {"model": load(model)}, other=logs[1])
    assert (CODE in {one.code for one in result.cautions["model"]}) == bool(severity)
    assert told(result.here["model"]) is None
