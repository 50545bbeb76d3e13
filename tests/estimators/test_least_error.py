"""`clip(ips, auto)` and its like: which bound on the weights is chosen, said and promised."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.errors import UsageError
from offrank.estimators import DoublyRobust, estimator
from offrank.estimators.family import family
from offrank.selection import least_error
from tests.estimators.models import Positions, fitted
from tests.metamorphic.changes import RELATIONS, REWARDS, LogTable, Relation, check_relation, scale_rewards
from tests.metamorphic.combined import at_once

#: values, errors, mean weights, errors of the differences to the last; the index and the biases
TABLE: dict[str, tuple[list[float], list[float], list[float], list[float], int, list[float]]] = {
    "nothing is removed": ([1.0, 1.1], [0.2, 0.1], [1.0, 1.0], [0.1, 0.0], 1, [0.0, 0.0]),
    "of equals the first": ([1.0, 1.0], [0.2, 0.2 * (1 - 1e-12)], [1.0, 1.0], [0.0, 0.0], 0, [0.0, 0.0]),
    "more bias than it saves": ([1.0, 0.8], [0.2, 0.1], [1.0, 0.9], [0.0, 0.0], 0, [0.0, 0.1 * 0.2 / 0.1]),
    "less bias than it saves": ([1.0, 0.9], [0.2, 0.1], [1.0, 0.9], [0.0, 0.0], 1, [0.0, 0.1 * 0.1 / 0.1]),
    "the noise of the difference counts": ([1.0, 0.9], [0.2, 0.1], [1.0, 0.9], [0.1, 0.0], 0, [0.0, 0.1 * 0.2 / 0.1]),
    "the last is extrapolated from the steepest": (
        [1.0, 1.0, 0.8],
        [0.5, 0.2, 0.1],
        [1.0, 0.9, 0.5],
        [0.0, 0.0, 0.0],
        1,
        [0.0, 0.1 * 0.2 / 0.4, 0.5 * 0.2 / 0.4],
    ),
    "a difference whose error is not known": ([1.0, 0.7], [0.3, 0.1], [1.0, 0.8], [math.inf, 0.0], 0, [0.0, math.inf]),
    "what the log cannot show is missing without a bound too": (
        [1.0, 0.5],
        [0.5, 0.1],
        [0.8, 0.4],
        [0.0, 0.0],
        0,
        [0.2 * 0.5 / 0.4, 0.6 * 0.5 / 0.4],
    ),
    "luck removes nothing": ([1.2, 1.0], [0.5, 0.1], [1.2, 1.0], [0.0, 0.0], 1, [0.0, 0.0]),
    "no error, no reward": ([1.0, 0.0], [0.5, 0.0], [1.0, 1.0], [0.0, 0.0], 0, [0.0, 0.0]),
    "no error anywhere": ([0.0, 0.0], [0.0, 0.0], [1.0, 0.5], [0.0, 0.0], 0, [0.0, 0.0]),
    "alone": ([4.0], [1.0], [0.9], [0.0], 0, [0.0]),
}


@pytest.mark.parametrize("case", TABLE)
@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_choices(case: str, unit: float) -> None:
    values, errors, kept, apart, index, biases = TABLE[case]
    of_value = ([unit * one for one in column] for column in (values, errors, apart))
    found = least_error(*(next(of_value), next(of_value), kept, next(of_value)))
    assert found.index == index
    assert found.biases == pytest.approx([unit * one for one in biases])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (([], [], [], []), "at least one"),
        (([1.0], [1.0, 2.0], [1.0], [0.0]), "the same number of each"),
        (([math.nan], [1.0], [1.0], [0.0]), "finite"),
    ],
)
def test_numbers_that_cannot_be_chosen_from(given: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        least_error(*given)


ROWS, WANTED = 600, "ranking(wanted)"
#: every tenth row shows the target's item seldom: it was shown in rows 0 and 300, and clicked in the latter
CHANCE = np.where(np.arange(ROWS) % 10, 0.5, 0.02)
MATCH = np.where(CHANCE == 0.5, np.arange(ROWS) % 20 % 2 * (np.arange(ROWS) % 20 > 1), np.arange(ROWS) % 300 == 0)
CLICK = np.where(CHANCE == 0.5, np.arange(ROWS) % 3 > 0, np.arange(ROWS) == 300).astype(float)
WEIGHT = MATCH / CHANCE
LOG = [
    {
        "slate": ["a" if match else "b"],
        "candidates": ["a", "b"],
        "wanted": ["a", "b"],
        "clicks": [click],
        "propensity": chance if match else 1 - chance,
    }
    for match, click, chance in zip(MATCH, CLICK, CHANCE, strict=True)
]
LARGEST = (math.inf, 1e5, 1e4, 1e3, 100.0, 10.0, 1.0)
CUT = {
    "clip": [np.minimum(WEIGHT, most) for most in LARGEST],
    "switch": [WEIGHT * (most >= WEIGHT) for most in LARGEST],
    "shrink": [WEIGHT / (1 + WEIGHT**2 / (4 * most**2)) for most in LARGEST],
}
GRID = {name: [f"{4 * m**2 if name == 'shrink' else m:g}" for m in LARGEST[1:]] for name in CUT}


def judged(*names: Any) -> offrank.Result:
    return offrank.evaluate(LOG, WANTED, "logged", list(names), cluster=None)


@pytest.mark.parametrize("name", CUT)
def test_it_answers_as_the_bound_of_least_error(name: str) -> None:
    left = [weight for weight in CUT[name] if weight.any()]  # a threshold of 1 leaves nothing
    fixed = ["ips", *(f"{name}(ips, {limit})" for limit in GRID[name])][: len(left)]
    key = f"{name}(ips, auto)"
    result = judged(key, *fixed)
    each = np.array(left) * CLICK
    errors, apart = (rows.std(axis=1, ddof=1) / math.sqrt(ROWS) for rows in (each, each - each[-1]))
    choice = least_error(
        each.mean(axis=1).tolist(), errors.tolist(), [weight.mean() for weight in left], apart.tolist()
    )
    one, chosen, free = result[key], result[fixed[choice.index]], result["ips"]
    assert (choice.index > 0) is (name != "switch")
    assert one.chosen == fixed[choice.index]
    assert (one.value, one.standard_error) == (chosen.value, chosen.standard_error)
    assert (one.low, one.high) == (min(chosen.low, free.low), max(chosen.high, free.high))
    rows = {row["estimator"]: row for row in json.loads(result.to_json())["estimates"]}
    assert rows[key]["chosen"] == one.chosen
    assert f"This is {one.chosen}" in " ".join(str(result).split())
    path = result.facts["window_path"][0]
    assert [(row["estimator"], row["chosen"]) for row in path["rows"]] == [(e, e == one.chosen) for e in fixed]
    assert "by each choice of" in result.plot.windows().data.title


def test_the_warning_says_what_was_chosen_and_whether_the_rest_is_known() -> None:
    found = judged("clip(ips, auto)")["clip(ips, auto)"]
    said = next(caution for caution in found.warnings if caution.code == "chosen")
    assert "of 7 bounds on the weights" in said.message
    assert "the interval also contains that of `ips`" in said.remedy
    # Two weights are 50 and some three hundred 2: 640^2 / 6,080 = 67, less than a hundred equal ones.
    assert (said.severity, "The error of `ips` is unknown" in said.message) == ("warning", True)


@pytest.mark.parametrize("spelling", ["clip(snips, {})", "controlled(switch(ips, {}))", "shrink(ipm, {})"])
def test_it_can_be_wrapped(spelling: str) -> None:
    key = spelling.format("auto")
    members = list(family(estimator(key), None))
    assert repr(estimator(key)) == key
    name = next(name for name in CUT if name in key)
    inner = members[0]
    assert members[1:] == [spelling.format(limit) for limit in GRID[name]]
    result = judged(key, *members)
    assert result[key].chosen in members
    assert inner == {"clip": "snips", "switch": "controlled(ips)", "shrink": "ipm"}[name]


def test_a_bound_of_what_is_bounded_already_is_chosen_by_error_too() -> None:
    name = "shrink(clip(ips, 10), auto)"
    [said] = [one.message for one in judged(name)[name].warnings if one.code == "chosen"]
    assert "estimated squared error" in said


@pytest.mark.parametrize("name", CUT)
def test_it_bounds_what_corrects_a_model(name: str) -> None:
    model = fitted(Positions((1.0,)), [[0.4, 0.4]])
    made = DoublyRobust(model, residual=estimator(f"{name}(ips, auto)"))
    result = judged(made, *(DoublyRobust(model, residual=one) for one in family(made.residual, None).values()))
    one = result[repr(made)]
    assert one.chosen is not None
    assert one.value == result[one.chosen].value
    assert len(family(made, None)) == 7
    removed = DoublyRobust(model, residual=estimator(f"{name}(ips, {GRID[name][4]})"))  # weights of 10, half of 20
    [said] = [caution.message for caution in judged(removed)[repr(removed)].warnings if caution.code == "clipped"]
    done = {"clip": "Clipping", "switch": "Switching", "shrink": "Shrinking"}[name]
    assert re.fullmatch(
        rf"{done} removed (\d\.)?\d+ % of the weight, so the estimate relies on the model's prediction there\.", said
    )


@pytest.mark.parametrize(
    "relation", [at_once(*RELATIONS), scale_rewards(2.5, (*REWARDS, "detectable"))], ids=["same rows", "same choice"]
)
def test_only_the_rewards_change_the_answer(relation: Relation) -> None:
    def question(log: Any) -> offrank.Result:
        return offrank.evaluate(log, WANTED, "logged", ["clip(ips, auto)", "shrink(snips, auto)"], cluster=None)

    check_relation(question, LogTable(pa.Table.from_pylist(LOG), rankings=("wanted",)), relation)


@pytest.mark.parametrize(
    ("spelling", "words"),
    [
        ("clip(ips, wide)", "maximum is wide"),
        ("clip(shrink(ips, auto), auto)", "leaves two choices to the data"),
        ("switch(interpol(window=slope), auto)", "leaves two choices to the data"),
    ],
)
def test_mistakes_are_named(spelling: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        family(estimator(spelling), (1.0, 0.5))


def test_only_its_members_have_weights() -> None:
    with pytest.raises(TypeError, match="a family of estimators"):
        estimator("shrink(ips, auto)").bounded(None)
