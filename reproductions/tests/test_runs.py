"""Two runs measured by judgements: against pytrec_eval, against arithmetic, and against every order and every grade."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import chain, combinations, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from offrank.cli import main
from offrank.errors import ColumnError, LogError, MissingExtraError, SpellingError, UsageError
from offrank.sums.estimate import Interval
from offrank_lab.run_scores import RankedItems, RunPair, bounds, cutoff_of, means, measure_named, tied_means
from offrank_lab.runs import interval_of, measure_runs

pytrec_eval = pytest.importorskip("pytrec_eval")
ITEMS = [f"d{number}" for number in range(8)]


def run_of(**queries: str) -> list[dict[str, Any]]:
    """Return rows of a run: of each query its items, each a letter, best first; those in brackets tie."""
    rows = []
    for query, text in queries.items():
        rank, tied = 0, False
        for letter in text:
            tied = letter == "(" or (tied and letter != ")")
            rank += not tied or letter == "("
            rows += [{"query": query, "item": letter, "rank": rank}] if letter.isalpha() else []
    return rows


def judged(**queries: str) -> list[dict[str, Any]]:
    """Return judgements such as `a1b0`."""
    pairs = [(query, text[at : at + 2]) for query, text in queries.items() for at in range(0, len(text), 2)]
    return [{"query": query, "item": item, "grade": int(grade)} for query, (item, grade) in pairs]


def drawn(rng: np.random.Generator, queries: int, scores: int = 10**6) -> tuple[list[dict[str, Any]], ...]:
    """Return two runs and judgements, with so many different scores."""
    runs = tuple(
        [
            {"query": f"q{query}", "item": item, "score": int(rng.integers(scores))}
            for query in range(queries)
            for item in rng.permutation(ITEMS)[:6].tolist()
        ]
        for _ in "AB"
    )
    rows = [(query, item) for query in range(queries) for item in ITEMS if item == "d0" or rng.random() < 0.7]
    return *runs, [{"query": f"q{q}", "item": item, "grade": int(rng.integers(4))} for q, item in rows]


@pytest.mark.parametrize(
    ("name", "other"),
    [("nDCG@5", "ndcg_cut_5"), ("AP", "map"), ("RR", "recip_rank"), ("P@5", "P_5"), ("R@5", "recall_5")],
)
def test_equal_to_pytrec_eval(name: str, other: str) -> None:
    a, b, qrels = drawn(np.random.default_rng(1), 30)
    grades: dict[str, dict[str, int]] = {}
    for row in qrels:
        grades.setdefault(row["query"], {})[row["item"]] = row["grade"]
    expected = []
    for rows in (a, b):
        found: dict[str, dict[str, float]] = {}
        for row in rows:
            found.setdefault(row["query"], {})[row["item"]] = float(row["score"])
        each = pytrec_eval.RelevanceEvaluator(grades, {other}).evaluate(found)
        expected.append(np.array([each[query][other] for query in sorted(grades)]))
    made = measure_runs(a, b, qrels, name)[name]
    change = expected[1] - expected[0]
    assert [made.a.value, made.b.value] == pytest.approx([one.mean() for one in expected])
    assert made.difference.value == pytest.approx(change.mean())
    assert made.difference.standard_error == pytest.approx(change.std(ddof=1) / math.sqrt(30))
    assert (made.wins, made.ties, made.losses) == (
        (change > 1e-9).sum(),
        (abs(change) <= 1e-9).sum(),
        (change < -1e-9).sum(),
    )


def test_by_hand() -> None:
    a, b = run_of(p="xyz", q="xyz", r="xyz"), run_of(p="zyx", q="xzy", r="yxz")
    found = measure_runs(a, b, judged(p="x1", q="x1", r="y3"), ["RR", "nDCG@2"])
    reciprocal, ndcg = found["RR"], found["nDCG@2"]
    assert reciprocal.difference.value == pytest.approx((1 / 3 - 1 + 0 + 1 - 1 / 2) / 3)
    assert ndcg.difference.value == pytest.approx((-1 + 0 + 1 - 1 / math.log2(3)) / 3)
    assert (reciprocal.wins, reciprocal.ties, reciprocal.losses) == (1, 1, 1)
    assert (reciprocal.unjudged_a, ndcg.unjudged_a, ndcg.unjudged_b) == pytest.approx((6 / 9, 3 / 6, 4 / 6))
    assert found.queries == 3
    assert reciprocal.decision == "no clear difference"


def over_all_orders(name: str, tied: list[list[str]], grades: dict[str, int]) -> float:
    """Return the mean of a metric over all orders, one after another."""
    found = []
    for each in product(*(permutations(group) for group in tied)):
        order = [[item] for group in each for item in group]
        found += tied_means(measure_named(name), [RankedItems("q", order, grades)], 1, 0)[0].tolist()
    return float(np.mean(found))


@pytest.mark.parametrize(
    "name", ["nDCG@3", "RR", "AP", "P@2", "RR@2", "Bpref", "Compat(p=.8)", "P(judged_only=True)@2"]
)
def test_ties_are_the_mean_over_all_orders(name: str) -> None:
    rng = np.random.default_rng(9)
    for _ in range(5):
        level, grade = rng.integers(0, 3, 7), rng.integers(0, 3, 7)
        tied = [group for number in range(3) if (group := [ITEMS[at] for at in np.flatnonzero(level == number)])]
        grades = {ITEMS[at]: int(grade[at]) for at in range(7) if rng.random() < 0.7} or {"d0": 1}
        found, drawn = tied_means(measure_named(name), [RankedItems("q", tied, grades)], 5_040, 0)
        assert found[0] == pytest.approx(over_all_orders(name, tied, grades))
        assert not drawn[0]


def test_orders_that_are_too_many_are_drawn() -> None:
    grades = {item: number % 4 for number, item in enumerate(ITEMS)}
    one = RankedItems("q", [ITEMS], grades)
    few = tied_means(measure_named("AP"), [one], 40_320, 0)
    many = [tied_means(measure_named("AP"), [one], 400, seed) for seed in range(4)]
    assert [drawn[0] for _, drawn in (few, *many)] == [False, True, True, True, True]
    assert len({found[0] for found, _ in many}) == 4
    assert np.mean([found[0] for found, _ in many]) == pytest.approx(few[0][0], abs=0.02)


def test_the_order_in_the_file_changes_nothing_and_equal_runs_are_equal() -> None:
    a, b, qrels = drawn(np.random.default_rng(2), 6, scores=2)
    first = measure_runs(a, b, qrels, ["nDCG@3", "AP"]).records()
    assert measure_runs(a[::-1], b[::-1], qrels[::-1], ["nDCG@3", "AP"]).records() == first
    same = measure_runs(a, a, qrels, "AP")["AP"]
    assert (same.difference.low, same.difference.high, same.ties) == (0, 0, 6)


def over_all_grades(name: str, one: RunPair, highest: int) -> tuple[float, float]:
    """Return the least and the greatest difference, with each subset of the unjudged items at the highest grade."""
    seen = {item for tied in (one.a, one.b) for group in tied[: cutoff_of(measure_named(name))] for item in group}
    unknown = sorted(seen - one.grades[0].keys())
    found = []
    for some in chain.from_iterable(combinations(unknown, size) for size in range(len(unknown) + 1)):
        tried = one._replace(grades=[one.grades[0] | dict.fromkeys(some, highest)])
        by_run, _ = means(measure_named(name), [tried], 1, 120, 0)
        found.append(float(by_run[1, 0, 0] - by_run[0, 0, 0]))
    return min(found), max(found)


@pytest.mark.parametrize(
    ("name", "items", "off"),
    [
        ("nDCG@5", 16, 0),
        ("RR", 9, 0),
        ("P@5", 16, 0),
        ("R@5", 16, 0),
        ("AP@3", 16, 0),
        ("AP", 11, 0.001),
        ("nDCG", 11, 0),
    ],
)
def test_bounds_are_the_extremes_over_all_grades(name: str, items: int, off: float) -> None:
    names, rng, gaps = [f"d{number:02}" for number in range(items)], np.random.default_rng(8), []
    for _ in range(5):
        a, b = ([[item] for item in rng.permutation(names)[: items - 2].tolist()] for _ in "AB")
        one = RunPair("q", a, b, [{item: int(rng.integers(3)) for item in rng.permutation(names)[:3].tolist()}])
        (least, most), (lowest, highest) = bounds(measure_named(name), [one], 2, 0), over_all_grades(name, one, 2)
        gaps += [least[0] - lowest, highest - most[0]]
    assert min(gaps) > -1e-12  # each is attained
    assert np.mean(gaps) == pytest.approx(0, abs=off + 1e-12)


def test_bounds_of_many_unjudged_items_are_wide() -> None:
    """Forty items that only B has, all of the highest grade: B then has all of them at the top."""
    a, b = ([[f"{run}{number}"] for number in range(40)] for run in "ab")
    least, most = bounds(measure_named("AP"), [RunPair("q", a, b, [{"z": 1}])], 1, 0)
    assert (least[0], most[0]) == pytest.approx((-40 / 41, 40 / 41))


def test_several_graders() -> None:
    """The difference is the mean over graders; where they lean, each his way, the interval says so."""
    a, b = run_of(**dict.fromkeys("opqrstuv", "xy")), run_of(**dict.fromkeys("opqrstuv", "yx"))
    each = {"anna": "x1y0", "bert": "x1y0", "carl": "x0y1"}
    rows = [row | {"grader": who} for who, text in each.items() for row in judged(**dict.fromkeys("opqrstuv", text))]
    found = measure_runs(a, b, rows, "RR")["RR"]
    # anna and bert: 1/2 - 1; carl: 1 - 1/2. All queries agree, so that the variance is that of three graders, / 3.
    assert found.difference.value == pytest.approx((-0.5 - 0.5 + 0.5) / 3)
    assert found.difference.standard_error == pytest.approx(np.std([-0.5, -0.5, 0.5], ddof=1) / math.sqrt(3))
    assert found.difference.freedom == pytest.approx(2)
    assert found.decision == "no clear difference"


def test_variance_over_queries_and_graders_by_hand() -> None:
    values = np.array([[1.0, 2.0, 4.0], [2.0, 4.0, 5.0]])
    found = interval_of(values, 0.9)
    queries, graders = np.array([1.5, 3, 4.5]), np.array([7 / 3, 11 / 3])
    between = 2 * queries.var(ddof=1), 3 * graders.var(ddof=1)
    rest = values - queries - graders[:, None] + 3
    crossed = (rest**2).sum() / 2
    assert found.value == 3
    assert found.standard_error == pytest.approx(math.sqrt((sum(between) - crossed) / 6))
    assert interval_of(values[:1], 0.9).standard_error == pytest.approx(np.std([1, 2, 4], ddof=1) / math.sqrt(3))
    noise = np.array([[1.0, 2.0, 4.0], [2.0, 1.0, 4.0]])  # graders differ by less than their interaction
    assert interval_of(noise, 0.9) == interval_of(noise.mean(axis=0)[None], 0.9)


def test_many_graders_are_drawn() -> None:
    a, b, qrels = drawn(np.random.default_rng(3), 4)
    rows = [row | {"grader": f"g{at % 30}"} for row in qrels for at in range(30)]
    found, one = (measure_runs(a, b, given, "nDCG@3")["nDCG@3"] for given in (rows, qrels))
    assert found.difference.value == pytest.approx(one.difference.value)
    assert found.difference.standard_error == pytest.approx(one.difference.standard_error)
    assert "partial-graders" in [one.code for one in found.warnings]


@pytest.mark.parametrize(
    ("low", "high", "decision"),
    [
        (0.001, 0.2, "better"),
        (0.0, 0.2, "no clear difference"),
        (-0.2, 0.0, "no clear difference"),
        (-0.2, -0.001, "worse"),
        (-math.inf, math.inf, "unknown"),
        (math.nan, math.nan, "unknown"),
    ],
)
def test_decision(low: float, high: float, decision: str) -> None:
    found = measure_runs(run_of(q="xy", p="xy"), run_of(q="yx", p="xy"), judged(q="x1", p="y1"), "RR")["RR"]
    assert replace(found, difference=Interval(found.difference.value, low, high, 0.1)).decision == decision


def codes(found: Any) -> set[str]:
    return {one.code for one in found.findings}


def test_runs_of_different_queries() -> None:
    a, b, qrels = run_of(p="xy", q="yx", s="xy"), run_of(p="yx", r="xy", s="xy"), judged(p="x1", q="x1", r="y1", t="x1")
    with pytest.raises(LogError, match=r"different queries: 1 only in A \(q\) and 1 only in B \(r\)") as refused:
        measure_runs(a, b, qrels, "RR")
    assert 'missing="zero"' in str(refused.value)
    found = measure_runs(a, b, qrels, "RR", missing="zero")
    assert found.queries == 4  # t too, as in `trec_eval -c`
    assert found["RR"].difference.value == pytest.approx((1 / 2 - 1 + 0 - 1 / 2 + 1 / 2 - 0 + 0) / 4)
    assert {"missing-queries", "unmatched-queries"} <= codes(found)
    same = measure_runs(a[:2], b[:2], qrels, "RR")
    assert same.queries == 1
    assert "missing-queries" not in codes(same)


@pytest.mark.parametrize(
    ("a", "qrels", "metric", "error", "said"),
    [
        (run_of(q="xx"), judged(q="x1"), "RR", LogError, "'x' of query 'q' has a second rank, 2 beside 1"),
        (run_of(q="xy"), judged(z="x1"), "RR", LogError, "no query of both runs"),
        ([{"query": "q", "item": "x"}], judged(q="x1"), "RR", ColumnError, "no column `score` or `rank`"),
        (
            [{"query": "q", "item": i, "score": s} for i, s in (("x", 1), ("y", None))],
            judged(q="x1"),
            "RR",
            LogError,
            "1 row",
        ),
        (run_of(q="xy"), [{"query": "q", "item": "x", "grade": 0.5}], "RR", LogError, "a grade is 0.5"),
        (run_of(q="xy"), judged(q="x1"), "NDGC@3", SpellingError, "'NDGC@3' is no metric"),
        (run_of(q="xy"), judged(q="x1"), "nDCG@", SpellingError, "is no metric"),
        (run_of(q="xy"), judged(q="x1"), "P(quick=1)@3", SpellingError, "is no metric"),
        (run_of(q="xy"), judged(q="x1"), "RBP(p=.8)", UsageError, "cannot compute 'RBP"),
    ],
)
def test_refused(a: Any, qrels: Any, metric: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        measure_runs(a, run_of(q="yx"), qrels, metric)


def test_what_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ir_measures", None)
    with pytest.raises(MissingExtraError, match="judgements"):
        measure_runs(run_of(q="xy"), run_of(q="yx"), judged(q="x1"), "RR")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    rows = [(f"q{query}", item, place) for query in range(12) for place, item in enumerate("wxyz")]
    for name, better in (("a.run", 0), ("b.run", 2)):
        lines = [f"{q} Q0 {item} 1 {-((place + better * (item == 'z') * 2) % 5)} tag" for q, item, place in rows]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    qrels = [f"{q} 0 {item} {int(item == 'z') if q != 'q0' else int(item == 'w')}" for q, item, _ in rows]
    (tmp_path / "qrels").write_text("\n".join(qrels) + "\n")
    return tmp_path


def command(files: Path, *more: str) -> Any:
    given = ["measure", str(files / "a.run"), str(files / "b.run"), *more]
    return CliRunner().invoke(main, given, catch_exceptions=False)


def test_command(files: Path) -> None:
    told = ("--qrels", str(files / "qrels"), "-m", "RR", "-m", "nDCG@2")
    done = command(files, *told, "--json", str(files / "x.json"), "--html", str(files / "x.html"))
    assert done.exit_code == 0, done.output
    found = json.loads((files / "x.json").read_text())
    assert [row["metric"] for row in found["metrics"]] == ["RR", "nDCG@2"]
    assert found["metrics"][0]["decision"] == "better"
    assert "Better: RR +" in done.output
    assert "A is a.run, B is b.run; 12 queries." in done.output
    assert "B minus A" in (files / "x.html").read_text()
    frame = measure_runs(files / "a.run", files / "b.run", files / "qrels", ["RR", "nDCG@2"]).to_arrow()
    assert frame["difference_value"].to_pylist() == [row["difference"]["value"] for row in found["metrics"]]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ((), "--qrels"),
        (("--qrels", "x", "--score", "s"), "--score is of a log"),
        (("--missing", "zero"), "there is no model"),
    ],
)
def test_command_refuses(files: Path, more: tuple[str, ...], said: str) -> None:
    done = command(files, *more)
    assert done.exit_code == 2
    assert said in done.output


def test_one_run_is_refused(files: Path) -> None:
    done = CliRunner().invoke(main, ["measure", str(files / "a.run"), "--qrels", str(files / "qrels")])
    assert done.exit_code == 2
    assert "compares two runs" in done.output
