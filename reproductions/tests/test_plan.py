"""`plan`: which design is the cheapest, what is read and assumed, what it refuses, and the lines to log."""

from __future__ import annotations

import doctest
import json
import math
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import offrank
from offrank.cli.command import main
from offrank.errors import ColumnError, LogError, OffrankError, UsageError
from offrank.language.argument import first_sentence, parameter_docs
from offrank.language.extensions import COMMANDS
from offrank.policies import policy
from offrank_lab import plan
from offrank_lab.forecast import MEANS, forecast_for, scored_table
from offrank_lab.planned import LoggingPlan, Planned, cheapest, quickest, with_log

NEW, NOW = "top(new_score)", "top(old_score)"
DEVIATES = 1.9599639845400545 + 0.8416212335729143
"""Of a two-sided test at 5 % with power .8."""
NO_OPTIONS = {"log", "columns", "executor", "progress"}


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """A row for each of 60 queries, without anything that was shown."""
    rng, queries, items = np.random.default_rng(5), 60, 5
    old = rng.normal(size=(queries, items))
    columns = {
        "query": np.arange(queries),
        "candidates": [[f"q{query}d{item}" for item in range(items)] for query in range(queries)],
        "old_score": old.tolist(),
        "new_score": (old + rng.normal(size=old.shape)).tolist(),
        "rate": rng.uniform(0.1, 0.4, old.shape).tolist(),
    }
    return pa.table(columns)


@pytest.fixture
def path(table: pa.Table, tmp_path: Path) -> str:
    pq.write_table(table, tmp_path / "scores.parquet")
    return str(tmp_path / "scores.parquet")


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `offrank` find the command, also where the package is only on the path."""
    found = EntryPoints([EntryPoint("plan", "offrank_lab.command:plan", COMMANDS)])
    monkeypatch.setattr("importlib.metadata.entry_points", found.select)


def planned(design: str, cost: float, impressions: float, assumes: tuple[str, ...] = ()) -> Planned:
    if not impressions:
        return Planned(design, "snips", cost, assumes, message="it never shows that")
    return Planned(design, "snips", cost, assumes, difference_error=0.02 * math.sqrt(impressions) / DEVIATES)


def test_impressions_are_those_of_a_test_with_power() -> None:
    # (1.959964 + 0.841621)^2 of the square of error over effect
    row = Planned("a", "snips", 0.0, difference_error=0.5)
    assert row.impressions(0.01) == pytest.approx((1.959964 + 0.841621) ** 2 * 2500, rel=1e-6)
    assert planned("a", 0.0, 0).impressions(0.01) == math.inf


@pytest.mark.parametrize(
    ("rows", "most", "chosen"),
    [
        ([planned("a", 0.10, 1000), planned("b", 0.02, 4000)], math.inf, "b"),  # 100 against 80
        ([planned("a", 0.10, 1000), planned("b", 0.02, 6000)], math.inf, "a"),  # 100 against 120
        ([planned("a", 0.10, 1000), planned("b", 0.02, 4000)], 4000, "b"),
        ([planned("a", 0.10, 1000), planned("b", 0.02, 4000)], 3999, "a"),
        ([planned("a", 0.10, 1000), planned("b", 0.02, 4000)], 999, None),
        ([planned("a", 0.0, 0), planned("b", 0.5, 9000)], math.inf, "b"),  # the first never sees it
        ([planned("a", 0.0, 0)], math.inf, None),
        ([planned("a", 0.1, 1000, ("x",)), planned("b", 0.1, 1099)], math.inf, "b"),  # assumes less, 9.9 % dearer
        ([planned("a", 0.1, 1000, ("x",)), planned("b", 0.1, 1101)], math.inf, "a"),  # 10.1 % dearer
        ([planned("a", 0.0, 3000), planned("b", 0.0, 2000)], math.inf, "b"),  # both cost nothing
        ([planned("a", -0.1, 3000), planned("b", 0.0, 2000)], math.inf, "b"),  # what is won is no cost, not a reason
    ],
)
def test_the_cheapest_loses_the_fewest_clicks_until_it_is_seen(
    rows: list[Planned], most: float, chosen: str | None
) -> None:
    found = cheapest(rows, 0.02, most)
    assert (None if found is None else found.design) == chosen


@pytest.mark.parametrize(
    ("impressions", "written"),
    [
        (9.96, "10.0"),
        (1234, "1,230"),
        (9.99e8, "999,000,000"),
        (1.001e9, "1e9"),
        (4.804e11, "4.8e11"),
        (1.1e12, "> 1e12"),
    ],
)
def test_numbers_of_impressions_are_short(table: pa.Table, impressions: float, written: str) -> None:
    found = replace(plan(table, NEW, NOW, designs=["uniform"]), rows=(planned("a", 0.1, impressions),))
    [shown] = found.to_document().sections[0].tables
    assert shown.rows[0][shown.header.index("2 %")] == written


def test_the_quickest_needs_the_fewest_impressions() -> None:
    rows = [planned("a", 0.0, 0), planned("b", 0.9, 1000), planned("c", 0.0, 1001)]
    assert quickest(rows) is rows[1]
    assert quickest(rows, "c") is rows[2]
    assert quickest(rows, "a") is None


def test_a_table_of_scores_is_planned_for(table: pa.Table) -> None:
    found = plan(table, NEW, NOW, clicks=0.5, slots=3)
    designs = list(dict.fromkeys(one.design for one in found.rows))
    assert designs[:2] == [NOW, f"epsilon({NOW}, 0.01)"]
    assert len(designs) == 10
    assert found.clicks == pytest.approx(0.5)
    by = {(one.design, one.estimator): one for one in found.rows}
    ab = f"mixture({{{NOW}: 0.5, {NEW}: 0.5}})"
    # An A/B test by arithmetic: clicks at ranks of 1, 1/2 and 1/3 are independent, equal for all items.
    chances = 0.5 * np.array([1, 1 / 2, 1 / 3]) / (1 + 1 / 2 + 1 / 3)
    error = math.sqrt(4 * (chances * (1 - chances)).sum())
    assert by[ab, MEANS].difference_error == pytest.approx(error / 0.5)
    assert by[ab, MEANS].impressions(0.02) == pytest.approx((DEVIATES * error / 0.01) ** 2)
    assert by[ab, MEANS].effective_share == pytest.approx(0.5)
    assert by[NOW, "snips"].message.endswith("is never shown as a whole slate")
    assert found.cheapest is not None
    assert found.cheapest.design == f"mixture({{{NOW}: 0.9, {NEW}: 0.1}})"


def test_a_bucket_of_more_is_quicker(table: pa.Table) -> None:
    found = plan(table, NEW, NOW, "snipm", designs=[f"epsilon({NOW}, {share})" for share in (0.01, 0.05, 0.2)])
    needed = [one.impressions(0.02) for one in found.rows[1:]]
    assert needed == sorted(needed, reverse=True)
    assert needed[0] / needed[1] == pytest.approx(5, rel=0.05)  # nearly in proportion to the share
    costs = [one.cost for one in found.rows[1:]]
    assert costs[1] == pytest.approx(5 * costs[0])


def test_relevance_tells_what_is_lost(table: pa.Table) -> None:
    found = plan(table, NEW, NOW, designs=["uniform"], relevance="rate", slots=5, clicks=0.5)
    earned = {"top": 0.0, "uniform": 0.0}
    for old, rate in zip(table["old_score"].to_pylist(), table["rate"].to_pylist(), strict=True):
        order = np.argsort(-np.array(old))
        curve = 1 / np.arange(1, 6)
        earned["top"] += float(np.array(rate)[order] @ curve)
        earned["uniform"] += float(np.mean(rate) * curve.sum())
    [cost] = {one.cost for one in found.rows if one.design == "uniform"}
    assert cost == pytest.approx(1 - earned["uniform"] / earned["top"])
    assert "clicks are lost" not in str(found)
    assert "proportional to rate" in " ".join(str(found).split())


def logged(table: pa.Table, rows: int = 3000) -> tuple[pa.Table, np.ndarray]:
    """A log of production, and its click rates by rank."""
    rng = np.random.default_rng(1)
    at = rng.integers(table.num_rows, size=rows)
    order = np.argsort(-np.array(table["old_score"].to_pylist()), axis=1)[at, :3]
    clicks = (rng.random((rows, 3)) < [0.4, 0.2, 0.1]).astype(float)
    items = np.array(table["candidates"].to_pylist())[at]
    log = table.take(pa.array(at)).append_column("slate", pa.array(np.take_along_axis(items, order, axis=1).tolist()))
    return log.append_column("clicks", pa.array(clicks.tolist())), clicks.mean(axis=0)


def test_an_old_log_tells_clicks_and_slots(table: pa.Table) -> None:
    log, rates = logged(table)
    found = plan(log, NEW, NOW, designs=[f"mixture({{{NOW}: 0.5, {NEW}: 0.5}})"])
    assert found.clicks == pytest.approx(rates.sum())
    assert "(of the log)" in found.assumed[1]
    error = math.sqrt(4 * (rates * (1 - rates)).sum())
    [means] = [one for one in found.rows if one.estimator == MEANS]
    assert means.difference_error == pytest.approx(error / rates.sum(), rel=1e-3)  # contexts are a sample of the rows
    shorter = plan(log, NEW, NOW, designs=["uniform"], slots=2)
    assert shorter.clicks == pytest.approx(rates[:2].sum())


@pytest.mark.parametrize("designs", [(), ["epsilon(top(old_score), 0.05)"], ["plackett_luce(old_score, log=True)"]])
def test_the_line_is_one_that_offrank_reads(table: pa.Table, designs: list[str]) -> None:
    found = plan(table, NEW, NOW, "snipm" if designs else "ips", designs=designs, slots=2, clicks=0.5)
    line, logging = found.log["line"], found.log["logging"]
    assert f"--logging '{logging}'" in found.log["command"]
    rows = [line, {**line, "clicks": line["clicks"][::-1], "user": "u2"}] * 50
    log = offrank.read_log([{**row, **({"arm": "A"} if "arm" in row else {})} for row in rows])
    if designs:
        weights = offrank.estimate(log, designs[0], logging, "ips")["ips"]
        assert weights.value == pytest.approx(1.0)  # of 2 slots one is clicked, and the weight is 1
        direct = offrank.estimate(log, designs[0], "logged", "ips")["ips"]  # by the propensity in the line
        assert direct.value == pytest.approx(1.0)
    else:
        assert logging == f"by(arm, {{A: {NOW}, B: {NEW}}})"
        assert line["slate"] == [line["candidates"][place] for place in np.argsort(-np.array(line["new_score"]))[:2]]


def test_the_line_does_not_depend_on_the_order_of_scores(table: pa.Table) -> None:
    """Which is that of a set, another one in each process."""
    given: list[Any] = [policy(NEW), policy(NOW), policy("epsilon(top(old_score), 0.05)")]
    found, assumed = forecast_for(scored_table(table, None), given, None, 0.5, 2, None, None, None)
    row = planned(repr(given[2]), 0.1, 1000)
    lines = []
    for names in (["new_score", "old_score"], ["old_score", "new_score"]):
        scores = {name: found.contexts.scores[name] for name in names}
        forecast = replace(found, contexts=replace(found.contexts, scores=scores))
        made = with_log(LoggingPlan((row,), 0.02, math.inf, 0.5, assumed, facts={}), forecast, given)
        lines.append(list(made.log["line"].items()))
    assert lines[0] == lines[1]
    assert [name for name, _ in lines[0]][4:6] == ["new_score", "old_score"]


def test_the_page_says_what_is_drawn(table: pa.Table) -> None:
    design = "plackett_luce(old_score, log=True)"
    found = plan(table, NEW, NOW, "snipm", designs=["uniform", design], slots=3, clicks=0.5)
    assert "drawn slates" not in str(found)  # of 5 items there are 60 slates
    drawn = replace(found, rows=(*found.rows[:-1], replace(found.rows[-1], drawn=True)))
    assert f"Not exact, but from drawn slates: {design} by snipm." in " ".join(str(drawn).split())


def test_days_limit_the_choice(table: pa.Table) -> None:
    asked: dict[str, Any] = {"clicks": 0.5, "slots": 3, "impressions_a_day": 10_000}
    free = plan(table, NEW, NOW, **asked).cheapest
    assert free is not None
    days = free.impressions(0.02) / 10_000
    assert plan(table, NEW, NOW, days=days * 1.001, **asked).cheapest == free
    short = plan(table, NEW, NOW, days=days * 0.999, **asked)
    assert short.cheapest is not None
    assert short.cheapest.design != free.design
    none = plan(table, NEW, NOW, days=0.1, **asked)
    assert none.cheapest is None
    assert none.log == {}
    assert str(none).count("No design sees 2 % in that time.") == 1
    assert none.to_dict()["cheapest"]["design"] is None


@pytest.mark.parametrize(
    ("changed", "error", "said"),
    [
        ({"production": NEW}, UsageError, "target and production are both top"),
        ({"target": "top(other_score)"}, ColumnError, "no column 'other_score'"),
        ({"relevance": "other"}, ColumnError, "no column 'other'"),
        ({"estimators": "pi"}, UsageError, "the error of 'pi' is not forecast"),
        ({"estimators": "pbm"}, UsageError, "needs an examination curve"),
        ({"designs": [f"mixture({{{NOW}: 0.5, {NEW}: 0.4}})"]}, UsageError, "the shares add up to 0.9"),
        ({"designs": ["logged"]}, OffrankError, "cannot give the probability"),
        ({"effect": 0}, UsageError, "effect is 0"),
        ({"clicks": -0.1}, UsageError, "clicks is -0.1"),
        ({"clicks": 3}, UsageError, "would be clicked with probability 1.31"),
        ({"slots": 0}, UsageError, "slots is 0"),
        ({"days": 7}, UsageError, "clicks is None"),
        ({"examination": [1, 0.5]}, UsageError, "clicks at 5 ranks are not known"),
        ({"relevance": "old_score"}, LogError, "old_score"),
    ],
)
def test_what_cannot_work_is_one_error(table: pa.Table, changed: dict[str, Any], error: type, said: str) -> None:
    asked: dict[str, Any] = {"target": NEW, "production": NOW, **changed}
    with pytest.raises(error, match=said):
        plan(table, **asked)


@pytest.mark.parametrize("columns", [["query", "candidates"], ["old_score", "new_score"], ["query"]])
def test_a_plan_without_scores_is_one_error(table: pa.Table, columns: list[str]) -> None:
    with pytest.raises(ColumnError) as found:
        plan(table.select(columns), NEW, NOW)
    assert "candidates" in str(found.value) or "score" in str(found.value)


def test_columns_of_other_names_are_told(table: pa.Table) -> None:
    renamed = table.rename_columns(["query", "documents", "old_score", "new_score", "rate"])
    asked = {"clicks": 0.5, "columns": {"candidates": "documents"}}
    assert plan(renamed, NEW, NOW, **asked).rows == plan(table, NEW, NOW, clicks=0.5).rows
    with pytest.raises(ColumnError, match="neither a log nor a table of candidates"):
        plan(renamed, NEW, NOW)


def test_the_order_of_the_table_does_not_matter(table: pa.Table) -> None:
    turned = table.take(pa.array(np.arange(table.num_rows)[::-1]))
    one, other = (plan(each, NEW, NOW).rows for each in (table, turned))
    for mine, theirs in zip(one, other, strict=True):
        assert mine.difference_error == pytest.approx(theirs.difference_error, rel=1e-12, nan_ok=True)


@pytest.mark.usefixtures("installed")
def test_the_command_writes_page_and_json(path: str, tmp_path: Path) -> None:
    page, written = tmp_path / "plan.html", tmp_path / "plan.json"
    words = ["plan", path, "--target", NEW, "--production", NOW, "--impressions-a-day", "100000", "--days", "60"]
    run = CliRunner().invoke(main, [*words, "--html", str(page), "--json", str(written), "--clicks", "0.4"])
    assert run.exit_code == 0, run.output
    assert "the cheapest that sees 2 %" in " ".join(run.output.split())
    told = json.loads(written.read_text())
    assert told["kind"] == "plan"
    assert told["cheapest"]["line"]["candidates"] == ["a", "b", "c"]
    assert {row["estimator"] for row in told["rows"]} == {"snips", "snipm", MEANS}
    assert any(row["impressions_0.02"] is None and row["message"] for row in told["rows"])
    assert "Costs and times of designs" in page.read_text()
    failed = CliRunner().invoke(main, ["plan", path, "--target", NEW, "--production", NEW])
    assert failed.exit_code == 2
    assert "target and production are both" in failed.output
    design = CliRunner().invoke(main, [*words[:6], "--design", "uniform", "-e", "ipm", "--effect", "0.1"])
    assert design.exit_code == 0, design.output
    assert "10 %" in design.output


def test_a_plan_is_a_table_too(table: pa.Table) -> None:
    found = plan(table, NEW, NOW)
    rows = found.to_arrow()
    assert rows.num_rows == len(found.rows)
    assert rows["design"].to_pylist()[0] == NOW
    assert found.facts["command"].startswith(f"offrank_lab.plan(log, target='{NEW}', production='{NOW}'")


@pytest.mark.usefixtures("installed")
def test_the_command_is_asked_what_the_function_is(path: str) -> None:
    helped = " ".join(CliRunner().invoke(main, ["plan", "--help"], terminal_width=200).output.split())
    said = parameter_docs(plan)
    assert [name for name in said.keys() - NO_OPTIONS if first_sentence(said[name]) not in helped] == []
    assert "--design POLICY" in helped
    assert "--designs" not in helped
    words = ["plan", path, "--target", NEW, "--production", NOW]
    refused = CliRunner().invoke(main, [*words, "--html", path, "--overwrite"])  # it would replace what it reads
    assert refused.exit_code == 2
    assert pq.read_table(path).num_rows == 60
    misspelt = CliRunner().invoke(main, [*words, "--design", "unifrom"])
    assert misspelt.exit_code == 2
    assert "uniform" in misspelt.output


@pytest.mark.slow
def test_the_examples_of_docstrings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    offrank.demo("offrank-demo")
    for one in (plan, LoggingPlan):
        example = doctest.DocTestParser().get_doctest(one.__doc__ or "", {"plan": plan}, one.__name__, None, 0)
        assert example.examples
        assert doctest.DocTestRunner().run(example).failed == 0


def test_the_function_is_there_after_the_command_was() -> None:
    program = "import offrank_lab.command; from offrank_lab import plan; assert callable(plan)"
    subprocess.run([sys.executable, "-c", program], check=True)
