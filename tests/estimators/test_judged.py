"""Clicks and judgements together: exact worlds, the calibration by hand, what is told, and what is refused."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from offrank.errors import OffrankError, UsageError
from offrank.estimators import DoublyRobust, JudgedClicks
from offrank.estimators.judged import tipping
from offrank.findings import cautions_for
from offrank.findings.row import JudgedEvidence
from offrank.inference.clusters_and_level import IntervalSpec
from offrank.log.hashing import hashed
from offrank.policies import policy
from offrank.reward_models.calibration import raked, rates_of, rising
from offrank.reward_models.grades import Grades
from offrank.sums.base import Sample, Tee
from offrank.sums.mean import ratio
from offrank.sums.named_sums import NamedColumns
from offrank.verbs.estimate import estimate
from offrank.verbs.evaluate import evaluate
from offrank_testing.exact import MemorySource, World
from offrank_testing.laws import Situation, Slate
from tests.findings.rows import row

LOGGING = "plackett_luce(old)"
RATES, RANKS = (0.1, 0.3, 0.8), (1.0, 0.5, 0.25)
QUERIES = 30
_RNG = np.random.default_rng(1)
GRADES = _RNG.integers(0, 3, (QUERIES, 5)).tolist()
OLD = _RNG.integers(1, 4, (QUERIES, 5)).astype(float)
OLD[:, 4] = 0  # no chance at any of the three ranks, since others fill them
OLD[::2, 3] = 0
NEW = _RNG.permuted(np.tile(np.arange(1.0, 6.0), (QUERIES, 1)), axis=1)


def clicks(index: int, slate: Slate) -> list[float]:
    return [RATES[GRADES[index][item]] * RANKS[rank] for rank, item in enumerate(slate)]


SITUATIONS = tuple(
    Situation(5, 3, {"old": tuple(old), "new": tuple(new)}, {}, {})
    for old, new in zip(OLD.tolist(), NEW.tolist(), strict=True)
)
WORLD = World(SITUATIONS, clicks)
JUDGED = [
    {"query": str(query), "item": str(100 * query + item), "grade": float(grade)}
    for query, grades in enumerate(GRADES)
    for item, grade in enumerate(grades)
]


def value(
    judgements: Any, target: str = "top(new)", world: World = WORLD, interval: str = "studentised", **more: Any
) -> Any:
    asked = {"cluster": None, "interval": interval}
    made = JudgedClicks(judgements, **more)
    [found] = estimate(world.source(policy(LOGGING)), target, LOGGING, [made], **asked).values()
    return found


@pytest.mark.parametrize("target", ["top(new)", "plackett_luce(new)", "epsilon(top(new), 0.3)", "uniform", LOGGING])
def test_where_items_of_a_grade_earn_alike_the_expectation_is_the_truth(target: str) -> None:
    truth = WORLD.value(policy(target))
    assert value(JUDGED, target).value == pytest.approx(truth, rel=1e-7)
    plain = estimate(WORLD.source(policy(LOGGING)), target, LOGGING, "ipm")["ipm"].value
    assert (plain < 0.95 * truth) == (target != LOGGING)


def test_what_was_logged_needs_no_right_grades() -> None:
    wrong = [{**one, "grade": float(at % 2)} for at, one in enumerate(JUDGED)]
    assert value(wrong, LOGGING).value == pytest.approx(WORLD.value(policy(LOGGING)), rel=1e-9)


def test_items_without_a_grade_are_bounded_or_said_to_be_alike() -> None:
    # Nobody judged the items of grade 2 in two thirds of the queries, so that items without a grade earn as these do.
    kept = [one for one in JUDGED if one["grade"] < 2 or int(one["query"]) % 3 == 0]
    whole = value(JUDGED)
    bounded, alike = (value(kept, interval="normal", ungraded=one) for one in ("bound", "alike"))
    shown = np.argsort(-NEW, axis=1)[:, :3].tolist()
    lost = [
        RATES[2] * RANKS[rank]
        for query, items in enumerate(shown)
        for rank, item in enumerate(items)
        if query % 3 and GRADES[query][item] == 2 and OLD[query, item] == 0
    ]
    assert len(lost) > 5
    assert bounded.value == pytest.approx(whole.value - sum(lost) / QUERIES, rel=1e-6)
    assert alike.value == pytest.approx(whole.value, rel=1e-6)
    # These slots are a share of all, and may earn up to twice what each of the others does.
    share, half = len(lost) / (3 * QUERIES), 1.959964
    above = bounded.high - bounded.value - half * bounded.standard_error
    assert above == pytest.approx(2 * share * bounded.value / (1 - share), rel=1e-5)
    assert bounded.value - bounded.low == pytest.approx(half * bounded.standard_error, rel=1e-6)
    assert alike.high - alike.value == pytest.approx(half * alike.standard_error, rel=1e-6)


def test_what_a_click_stands_for_corrects_the_rates_of_other_queries() -> None:
    # One slot and one grade: every number by hand, part by part. Items 0 and 1 are drawn by 2 to 1, item 2 never.
    rng, count = np.random.default_rng(2), 12
    attracts, wanted = rng.random((count, 3)), np.arange(count) % 3
    old, new = (2.0, 1.0, 0.0), np.eye(3)[wanted]
    here = World(
        tuple(Situation(3, 1, {"old": old, "new": tuple(each)}, {}, {}) for each in new.tolist()),
        lambda index, slate: [attracts[index, slate[0]]],
    )
    judged = [{"query": str(q), "item": str(100 * q + i), "grade": 1.0} for q in range(count) for i in range(3)]
    # Half of the target's logged items stand in the log with the weight 1 / chance, each once in expectation.
    clicks = np.where(wanted < 2, attracts[np.arange(count), wanted], 0.0)
    logged, never = (wanted < 2) * 1.0, (wanted == 2) * 1.0
    part = hashed(np.arange(count).view(np.uint64)) % np.uint64(5)
    total = 0.0
    for one in np.unique(part):
        own, others = part == one, part != one
        rate = clicks[others].sum() / logged[others].sum()
        omega = never[others].sum() / logged[others].sum()
        total += clicks[own].sum() + never[own].sum() * rate + omega * (clicks[own] - logged[own] * rate).sum()
    found = value(judged, world=here)
    controls = abs(found.value - total / count)
    assert controls < 1e-9


def test_rates_that_fall_are_pooled() -> None:
    found = rising(np.array([0.1, 0.4, 0.2, 0.9, 0.3]), np.array([1.0, 1.0, 3.0, 1.0, 1.0]))
    assert found == pytest.approx([0.1, (0.4 + 3 * 0.2) / 4, (0.4 + 3 * 0.2) / 4, 0.9, 0.3])
    # A pool may have to take in what came before it.
    found = rising(np.array([0.3, 0.4, 0.0, 0.9, 0.0]), np.array([1.0, 1.0, 1.0, 1.0, 0.0]))
    assert found == pytest.approx([0.7 / 3] * 3 + [0.9, 1.6 / 4])


def test_a_grade_that_was_never_logged_lies_between_its_neighbours() -> None:
    found = rising(np.array([0.0, 0.2, 0.0, 0.6, 0.0, 0.1]), np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0]))
    assert found == pytest.approx([0.2, 0.2, 0.4, 0.6, 0.6, 0.1])


def test_factors_have_the_sums_of_rows_and_of_columns() -> None:
    base, rows, columns = (
        np.array([[1.0, 2.0], [3.0, 1.0], [0.0, 1.0]]),
        np.array([2.0, 3.0, 1.0]),
        np.array([2.5, 3.5]),
    )
    row, column = raked(base, rows, columns)
    made = row[:, None] * base * column
    assert made.sum(axis=1) == pytest.approx(rows)
    assert made.sum(axis=0) == pytest.approx(columns)


def test_a_click_stands_for_what_was_never_logged_of_its_grade() -> None:
    # One rank. Grades 0 and 1 were logged with weights 10 and 20, and clicked 1 and 8 times; items without a grade
    # 5 and 1. The target shows grade 1 logged 16 times, never logged 4 times; 3 times neither logged nor judged.
    sums = np.array([[1.0, 8.0, 1.0], [10.0, 20.0, 5.0], [9.0, 16.0, 4.0], [0.0, 4.0, 3.0]])[:, :, None]
    found = rates_of(sums, ungraded=False)
    assert found.rate[:, 0] == pytest.approx([0.1, 0.4, 0.2])
    assert found.omega[:, 0] == pytest.approx([0.0, 4 / 16, 0.0])
    assert found.by_rank == pytest.approx([10 / 35])
    assert rates_of(sums, ungraded=True).omega[:, 0] == pytest.approx([0.0, 4 / 16, 3 / 4])


COLUMNS = NamedColumns(("rows", "value", "part", "logged", "one", "two"))


def inference(values: np.ndarray) -> Any:
    spec = IntervalSpec("normal", 0.95, None)
    folded = Tee(spec.folds(COLUMNS)).of(Sample.of(values, np.arange(len(values), dtype=np.uint64)))
    return spec.inference(COLUMNS, Tee(spec.folds(COLUMNS)).result(folded))


def test_controls_take_what_least_squares_takes() -> None:
    rng = np.random.default_rng(0)
    values = np.column_stack([np.ones(50), rng.normal(size=(50, 5))])
    values[:, 1] += 2 * values[:, 4] - values[:, 5]
    found = inference(values).best_slopes(ratio("value", "rows"), [ratio("one", "rows"), ratio("two", "rows")])
    design = np.column_stack([np.ones(50), values[:, 4], values[:, 5]])
    assert found == pytest.approx(np.linalg.lstsq(design, values[:, 1], rcond=None)[0][1:])


def test_a_control_that_is_only_rounding_is_left_aside() -> None:
    rng = np.random.default_rng(0)
    values = np.column_stack([np.ones(50), rng.normal(size=(50, 4)), 1e-17 * rng.normal(size=50)])
    found = inference(values).best_slopes(ratio("value", "rows"), [ratio("one", "rows"), ratio("two", "rows")])
    assert found[1] == 0


@pytest.mark.parametrize(("gain", "part"), [(0.3, 0.5), (-0.3, 0.5), (0.3, 0.01), (0.0, 0.5)])
def test_the_share_at_which_nothing_is_decided_any_more(gain: float, part: float) -> None:
    rng = np.random.default_rng(3)
    logged, parts = rng.random(400), part + 0.1 * rng.normal(size=400)
    values = np.column_stack([np.ones(400), logged + gain + 0.1 * rng.normal(size=400), parts, logged, logged, logged])
    means = (ratio(name, "rows") for name in ("value", "part", "logged"))
    differs, less = tipping(*means, inference(values))

    def decided(share: float) -> int:
        each = values[:, 1] - share * parts - logged
        reach = 1.959964 * each.std(ddof=1) / 20
        return int(each.mean() - reach > 0) - int(each.mean() + reach < 0)

    assert differs == decided(0.0) == np.sign(gain)
    if less is None:
        assert not gain or decided(float(differs)) == differs
    else:
        assert decided(less - 0.001 * differs) == differs
        assert decided(less + 0.001 * differs) != differs
    assert (less is None) == (part < 0.1 or not gain)


def log(n: int = 1500, queries: int = 60) -> tuple[pa.Table, list[dict[str, Any]]]:
    """A log of texts, in which items 5 to 7 of a query were never shown, and its judgements."""
    rng = np.random.default_rng(5)
    grade, weight = rng.integers(0, 4, (queries, 8)), rng.random((queries, 8)) + 0.5
    weight[:, 5:] = 0
    query, score = rng.integers(0, queries, n), rng.random((queries, 8)) + grade / 2
    with np.errstate(divide="ignore"):
        slate = np.argsort(-np.log(weight[query]) - rng.gumbel(size=(n, 8)), axis=1, kind="stable")[:, :3]
    chance = (0.1 + 0.2 * np.take_along_axis(grade[query], slate, axis=1)) * np.array([1, 0.6, 0.4])
    names = np.array([f"doc {item}" for item in range(8)])
    columns = {
        "query": [f"q{one}" for one in query],
        "slate": names[slate].tolist(),
        "clicks": (rng.random((n, 3)) < chance).astype(int).tolist(),
        "candidates": np.tile(names, (n, 1)).tolist(),
        "old": weight[query].tolist(),
        "new": score[query].tolist(),
    }
    judged = [
        {"query": f"q{q}", "item": names[i], "grade": float(grade[q, i])} for q in range(queries) for i in range(8)
    ]
    return pa.table(columns), judged


def test_the_order_and_the_parts_of_a_log_change_nothing() -> None:
    table, judged = log()
    whole = evaluate(table, "top(new)", LOGGING, [JudgedClicks(judged)])
    turned = evaluate(
        table.take(np.random.default_rng(0).permutation(len(table))), "top(new)", LOGGING, [JudgedClicks(judged)]
    )
    [one], [other] = whole.values(), turned.values()
    assert (one.value, one.low, one.high, one.ess) == pytest.approx(
        (other.value, other.low, other.high, other.ess), rel=1e-9
    )
    [batch] = WORLD.source(policy(LOGGING)).pieces
    pieces = tuple(batch.take(np.arange(at, len(batch), 3)) for at in range(3))
    some = estimate(MemorySource(pieces), "top(new)", LOGGING, [JudgedClicks(JUDGED)], cluster=None)
    assert next(iter(some.values())).value == pytest.approx(value(JUDGED).value, rel=1e-9)


def test_it_travels_to_other_processes() -> None:
    table, judged = log()
    made = pickle.loads(pickle.dumps(JudgedClicks(judged)))
    assert [one.value for one in estimate(table, "top(new)", LOGGING, [made]).values()] == pytest.approx(
        [one.value for one in estimate(table, "top(new)", LOGGING, [JudgedClicks(judged)]).values()]
    )


def test_it_is_asked_for_by_the_file_of_its_table(tmp_path: Path) -> None:
    table, judged = log()
    path = tmp_path / "grades.csv"
    pa.csv.write_csv(pa.Table.from_pylist(judged), path)
    result = evaluate(table, "top(new)", LOGGING, [f"judged('{path}')", "ipm"])
    assert result.verdict.trust == "with care"
    headline = " ".join(str(result).split())
    assert "if items of a grade earn alike, logged or not" in headline
    assert "was never logged where it shows it" in headline
    [told] = result.to_dict()["judged"]
    assert told["share"] > 0.3
    assert [one["grade"] for one in told["grades"]] == [0, 1, 2, 3, None]
    assert [one["rate"] for one in told["grades"][:4]] == sorted(one["rate"] for one in told["grades"][:4])
    assert "never logged" in " ".join(str(result.to_document()).split())


def test_grades_of_several_people_count_by_their_mean() -> None:
    rows = [("a", "x", 0, "me"), ("a", "x", 2, "you"), ("a", "y", 2, "me"), ("b", "7", 3, "me"), ("a", "y", 2, "you")]
    read = Grades.of([dict(zip(("query", "item", "grade", "grader"), one, strict=True)) for one in rows])
    assert read.values.tolist() == [1, 2, 3]
    assert (read.several, read.unlike) == (2, 1)


def test_many_grades_become_twenty_levels_whatever_their_order() -> None:
    rows = [{"query": "q", "item": str(item), "grade": item**2 / 7} for item in range(1000)]
    read, turned = Grades.of(rows), Grades.of(rows[::-1])
    assert len(read.values) == 20
    assert np.bincount(read.level).tolist() == [50] * 20
    assert read.values == pytest.approx(turned.values)
    assert (np.diff(read.values) > 0).all()


def test_what_cannot_work_is_refused() -> None:
    table, judged = log(200, 10)
    for given, message in (
        ({"table": table, "judged": [{**one, "query": "other"} for one in judged[:8]]}, "none of the queries"),
        ({"table": table.drop_columns(["query"]), "judged": judged}, "query"),
    ):
        with pytest.raises(OffrankError, match=message):
            estimate(given["table"], "top(new)", LOGGING, [JudgedClicks(given["judged"])])
    with pytest.raises(UsageError, match="ungraded is 'mean'"):
        JudgedClicks(judged, ungraded="mean")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="already corrects its predictions by clicks"):
        DoublyRobust(JudgedClicks(judged))
    with pytest.raises(OffrankError, match="logged propensities cover the shown slate only"):
        estimate(table, "top(new)", "logged", [JudgedClicks(judged)])


def test_judgements_of_elsewhere_are_told() -> None:
    table, judged = log()
    more = [
        *judged,
        {"query": "q1", "item": "nowhere", "grade": 1.0},
        {"query": "unasked", "item": "doc 1", "grade": 1.0},
    ]
    [told] = evaluate(table, "top(new)", LOGGING, [JudgedClicks(more)]).to_dict()["judged"]
    assert (told["judged"], told["unseen"], told["elsewhere"]) == (len(more), 1, 1)


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({"part": 0.4}, "and 40 % of the value rests on the grades of these items."),
        ({"differs": 1, "less": 0.23}, "more than was logged unless never logged items of a grade earn 23 % less."),
        ({"differs": -1, "less": -0.23}, "less than was logged unless never logged items of a grade earn 23 % more."),
        ({"differs": 1}, "more than was logged even if they earn nothing."),
        ({"differs": -1}, "less than was logged even if they earn twice as much."),
    ],
)
def test_what_rests_on_grades_is_said(known: Any, words: str) -> None:
    [said] = cautions_for(row(judged=JudgedEvidence(share=0.3, **known)))
    assert said.code == "judged-items"
    assert words in said.message


def test_it_is_no_wider_than_ipm_divided_where_all_is_logged() -> None:
    table, judged = log()
    everything = table.set_column(table.column_names.index("new"), "new", table["old"])
    found = estimate(everything, "top(new)", LOGGING, ["snipm", JudgedClicks(judged)], interval="normal")
    plain, own = (one.high - one.low for one in found.values())
    assert own < 1.02 * plain
