"""Results as tables of other libraries, the same for every verb."""

from __future__ import annotations

import json
import math
import re
import sys
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.clicks import PBM
from offrank.errors import MissingExtraError, NoOverlapError
from offrank.frames import FLAT, plain
from offrank.metrics.measured import Measurements
from offrank.report.printable import Printed
from offrank.selection.click_models import MeasuredModel, select
from offrank.sums.estimate import Interval
from tests.verbs.logs import LOGGING, TARGET, coins, search

NASTY = {"a|b": TARGET, "<b>": "uniform"}


@cache
def few() -> pa.Table:
    return search().slice(0, 400)


def evaluations() -> Any:
    fitted = {name: PBM().fit(few(), by=by) for name, by in (("items", None), ("queries", "query"))}
    return offrank.evaluate_clicks(few(), fitted)


def selection() -> Any:
    return select([MeasuredModel("a", 1.2, 0.5, 0.1), MeasuredModel("b", 1.3, 0.6)])


RESULTS = {
    "evaluate": lambda: offrank.evaluate(few(), NASTY, LOGGING, ["snips", "logged"], by="device"),
    "estimates": lambda: offrank.evaluate(few(), NASTY, LOGGING, "snips").estimates,
    "check": lambda: offrank.check(few(), logging=LOGGING),
    "compare": lambda: offrank.compare(few(), NASTY, LOGGING),
    "metrics": lambda: offrank.measure(few(), ["new_score", "old_score"], LOGGING, by="device"),
    "measurements": lambda: offrank.measure(few(), "new_score", LOGGING),
    "click models": evaluations,
    "harvest": lambda: offrank.harvest_clicks(few()),
    "selection": selection,
}
NAMES = {
    "evaluate": {"target", "estimator", "group", "value", "difference_low", "warnings", "error"},
    "estimates": {"target", "estimator", "value"},
    "check": {"code", "status", "title", "value", "expected"},
    "compare": {"target", "against", "difference_value", "relative_high", "decided", "decision", "trust"},
    "metrics": {"model", "metric", "group", "value", "difference_value"},
    "measurements": {"model", "metric", "value"},
    "click models": {"model", "quantity", "rank", "value", "difference_value"},
    "harvest": {"rank", "value", "low", "high"},
    "selection": {"model", "metric", "value", "chosen"},
}


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_is_a_table_everywhere(name: str) -> None:
    result = RESULTS[name]()
    table, rows = result.to_arrow(), result.records()
    assert NAMES[name] <= set(table.column_names)
    assert table.num_rows == len(rows) > 0
    if "value" in table.column_names:
        assert table["value"].to_pylist() == [row["value"] for row in rows]
    else:
        assert table["difference_value"].to_pylist() == [row["difference"]["value"] for row in rows]
    frames = result.to_pandas(), result.to_polars()
    assert [list(frame.columns) for frame in frames] == [table.column_names] * 2
    assert [len(frame) for frame in frames] == [len(rows)] * 2
    assert frames[1].to_dicts() == table.to_pylist()
    markdown = result.to_markdown().splitlines()
    assert len(markdown) == len(rows) + 2
    assert len({line.replace("\\|", "").count("|") for line in markdown}) == 1
    html = result._repr_html_()
    assert "<b>" not in html
    if isinstance(result, Printed):
        assert html.count('class="title"') == 1
        assert html.count("<figure") + html.count("<table") >= 1  # a picture, or numbers where there is none
        assert not re.search(r"<script|<iframe|<link|https?://|@import|url\(", html)
    else:
        assert html.count("<tr>") == len(rows) + 1
    assert json.loads(result.to_json()) == result.to_dict()


def test_tables_of_one_verb_can_be_put_together() -> None:
    never = coins(50, slate=[[0]] * 50)
    refused = offrank.evaluate(never, offrank.Ranking("best"), "logged", ["ips", "logged"]).to_arrow()
    given = RESULTS["evaluate"]().to_arrow()
    assert refused.schema == given.schema
    assert refused["error"].to_pylist() == ["no-overlap", None]
    assert refused["n"].to_pylist() == [None, 50]
    assert refused.schema.field("warnings").type == pa.list_(pa.string())


def test_a_number_stands_beside_its_interval() -> None:
    lines = (
        offrank.compare(few(), {"a": "plackett_luce(new_score)", "b": "uniform"}, LOGGING).to_markdown().splitlines()
    )
    assert lines[0].startswith("| target | against | estimator | relative | difference | decision | trust | decided |")
    away = offrank.compare(few(), {"a": "plackett_luce(new_score)", "b": "uniform"}, LOGGING).comparisons[0].verdict
    assert f"{away.difference.value:.2f} ({away.difference.low:.2f} to" in lines[2]


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"to_pandas\(\) needs pandas") as caught:
        selection().to_pandas()
    assert caught.value.remedy == "pip install pandas"


def test_findings_say_what_they_are_about() -> None:
    result = RESULTS["evaluate"]()
    expected = {
        (target, estimator, group, caution.code)
        for group, part in ((None, result.estimates), *result.groups.items())
        for (target, estimator), one in part.given.items()
        for caution in one.warnings
    }
    assert {(one.target, one.estimator, one.group, one.code) for one in result.findings} == expected
    assert {one.group for one in result.findings} > {None}
    never = offrank.evaluate(coins(50, slate=[[0]] * 50), "ranking(best)", "logged", ["ips", "logged"])
    [refusal] = [one for one in never.findings if one.code == "no-overlap"]
    assert (refusal.severity, refusal.estimator) == ("serious", "ips")
    assert str(refusal).startswith("serious of ranking(best), ips: no-overlap: ")
    wrong = offrank.check(search(), logging="plackett_luce(naive_score)")
    bad = [row for row in wrong.facts["checks"] if row["status"] in ("note", "warning", "serious")]
    assert [(one.code, one.severity) for one in wrong.findings] == [(row["code"], row["status"]) for row in bad]
    assert "serious" in {one.severity for one in wrong.findings}
    measured = RESULTS["metrics"]()
    assert {(one.model, one.metric) for one in measured.findings} <= set(measured)
    curve = RESULTS["harvest"]()
    assert [one.caution for one in curve.findings] == list(curve.found.cautions)


@dataclass(frozen=True)
class Row:
    name: str
    needed: float | None
    interval: Interval = field(metadata=FLAT)
    spare: float | None = None
    none: tuple[int, ...] = ()


def test_a_typed_value_becomes_plain_once_for_all() -> None:
    row = Row("a", None, Interval(0.5, -math.inf, np.float64(1.0), 0.25))
    numbers = {"value": 0.5, "low": None, "high": 1.0, "standard_error": 0.25}
    assert plain(row) == {"name": "a", "needed": None, **numbers, "none": []}  # unlike `needed`, `spare` may be absent
    assert plain({1: (replace(row, spare=math.nan, none=(1,)),)})["1"][0]["none"] == [1]
    assert "spare" not in plain(replace(row, spare=math.nan))
    assert plain([np.arange(2), np.int64(3), True, math.nan]) == [[0, 1], 3, True, None]
    assert plain(NoOverlapError("No.", "More.")) == {"code": "no-overlap", "message": "No.", "remedy": "More."}


def test_why_a_metric_is_missing_is_a_finding() -> None:
    found = Measurements({("a", "m"): NoOverlapError("No.", "More.")}).findings
    assert [(one.model, one.metric, one.code, one.severity) for one in found] == [("a", "m", "no-overlap", "serious")]


def test_the_table_of_a_comparison_has_the_codes_of_what_it_assumes() -> None:
    found = offrank.compare(search(), {"a": "plackett_luce(new_score)", "b": "uniform"}, LOGGING, "ipm")
    codes = [[one.code for one in each.verdict.assumptions] for each in found.comparisons]
    assert all(codes)
    assert found.to_arrow().column("assumptions").to_pylist() == codes
