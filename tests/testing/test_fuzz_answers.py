"""Each oracle of the fuzz passes an answer that is right, and notices each way in which one is wrong."""

from __future__ import annotations

import copy
import csv
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from offrank.errors import UsageError
from tests.fuzz import answers, oracle, questions
from tests.fuzz.answers import Wrong
from tests.fuzz.cases import LogCase
from tests.fuzz.oracle import Row

ROWS = (
    Row([1, 2], [1.0, 0.0], [1, 2], {}, {"inclusion": 0.5}),
    Row([2], [3.0], [2, 1], {}, {"inclusion": 1.0}),
)
"""The first stands for two impressions: three in all, with 2 * 1 + 1 * 3 clicks at the first rank."""
UNCLICKED = (Row([1], None, [1], {}, {}),)
ABOUT_LOG = {
    "log": {"impressions": 2, "estimated_impressions": 3.0},
    "logged": {"value": 5 / 3},
    "ranks": [{"rank": 1, "impressions": 3.0, "clicks": 5.0}, {"rank": 2, "impressions": 2.0, "clicks": 0.0}],
}
MODEL = {
    "sessions": 2,
    "sessions_at_rank": [3.0, 2.0],
    "log_likelihood": {"value": -0.2},
    "perplexity": {"value": 1.3},
}
METRICS = {"metrics": [{"error": None, "impressions": 2, "clicks": 5.0, "rejected": 0.0}, {"error": "no"}]}
CURVE = {"curve": [1.0, 0.5], "low": [0.5, -1.0], "high": [1.0, 0.75]}
GROUPS = {"estimates": [{"group": None, "n": 3}, {"group": "a", "n": 2}, {"group": "b", "n": 1}]}
OF_GROUPS = LogCase("wide", {"query": ["a", "b", "a"]})
Change = tuple[tuple[str | int, ...], Any]


def judged_rows(told: Any) -> None:
    """Judge what `told` says of cells that were read."""
    questions._same_rows(told, ROWS, LogCase("wide", {}))


ORACLES: dict[str, tuple[Callable[[Any], None], Any, dict[str, Change]]] = {
    "the log": (
        lambda told: answers.about_log(told, ROWS),
        ABOUT_LOG,
        {
            "3 impressions of 2": (("log", "impressions"), 3),
            "estimated impressions": (("log", "estimated_impressions"), 2.0),
            "what was logged": (("logged", "value"), 2.0),
            "what was logged: None": (("logged",), None),
            "impressions at rank 2": (("ranks", 1, "impressions"), 3.0),
            "clicks at rank 1": (("ranks", 0, "clicks"), 4.0),
        },
    ),
    "a log without clicks": (
        lambda told: answers.about_log(told, UNCLICKED),
        {"log": {"impressions": 1, "estimated_impressions": 1.0}, "logged": None},
        {"0.0 was logged, without clicks": (("logged",), {"value": 0.0})},
    ),
    "click models": (
        lambda told: answers.about_clicks(told, ROWS),
        {"models": {"pbm": MODEL}},
        {
            "3 sessions of 2": (("models", "pbm", "sessions"), 3),
            "sessions at rank 2": (("models", "pbm", "sessions_at_rank", 1), 1.0),
            "a likelihood above 1": (("models", "pbm", "log_likelihood", "value"), 0.1),
            "a likelihood above 1: .*0.9": (("models", "pbm", "perplexity", "value"), 0.9),
        },
    ),
    "metrics": (
        lambda told: answers.about_metrics(told, ROWS),
        METRICS,
        {
            "1 clicked impressions of 2": (("metrics", 0, "impressions"), 1),
            "clicks": (("metrics", 0, "clicks"), 4.0),
            "a share of 1.5 is rejected": (("metrics", 0, "rejected"), 1.5),
        },
    ),
    "a curve": (
        answers.about_curve,
        CURVE,
        {
            "an interval without its value": (("high", 1), 0.4),
            "an examination of -0.5": (("curve", 1), -0.5),
            "the curve begins with 0.9": (("curve", 0), 0.9),
        },
    ),
    "groups": (
        lambda told: answers.about_groups(told, OF_GROUPS, 3),
        GROUPS,
        {"groups of": (("estimates", 1, "n"), 1), "groups of .*'c'": (("estimates", 2, "group"), "c")},
    ),
    "JSON": (
        lambda told: answers.in_json(json.dumps(told)),
        {"of": [{"value": 1.0, "low": 0.5, "high": 1.5, "standard_error": 0.1, "n": 3}]},
        {
            "NaN in JSON": (("of", 0, "n"), float("nan")),
            "-Infinity in JSON": (("of", 0, "low"), float("-inf")),
            "an interval without its value": (("of", 0, "low"), 1.1),
            "standard_error is -0.1": (("of", 0, "standard_error"), -0.1),
            "n is -3": (("of", 0, "n"), -3),
        },
    ),
    "cells": (
        judged_rows,
        [
            {"slate": [11, 12], "candidates": [11, 12], "clicks": [1.0, 0.0], "inclusion": 0.5},
            {"slate": [12], "candidates": [12, 11], "clicks": [3.0], "inclusion": 1.0},
        ],
        {
            "1 impressions were read of 2": ((1,), None),
            "1 items in 'slate' of 2": ((0, "slate"), [11]),
            "item 2 of 'slate' is another": ((1, "slate"), [11]),
            "clicks is": ((0, "clicks", 1), 1.0),
            "inclusion is 0.25, not 0.5": ((0, "inclusion"), 0.25),
        },
    ),
}
WAYS = [(oracle, said) for oracle, (_, _, wrong) in ORACLES.items() for said in wrong]


def changed(told: Any, change: Change) -> Any:
    """Return an answer with another value at a place; without the place where that is None in a list."""
    found = copy.deepcopy(told)
    held, (path, value) = found, change
    for step in path[:-1]:
        held = held[step]
    if value is None and isinstance(held, list):
        del held[path[-1]]
    else:
        held[path[-1]] = value
    return found


@pytest.mark.parametrize("oracle", ORACLES)
def test_a_right_answer_passes(oracle: str) -> None:
    judge, told, _ = ORACLES[oracle]
    judge(told)


@pytest.mark.parametrize(("oracle", "said"), WAYS)
def test_a_wrong_answer_is_noticed(oracle: str, said: str) -> None:
    judge, told, wrong = ORACLES[oracle]
    with pytest.raises(Wrong, match=said):
        judge(changed(told, wrong[said]))


def test_two_items_that_have_become_one_are_noticed() -> None:
    told = [{"slate": [11, 11], "candidates": [11, 11]}]
    with pytest.raises(Wrong, match="two items have become one"):
        questions._same_rows(told, ROWS[:1], LogCase("wide", {}))


def written(path: Path, lines: list[dict[str, Any]]) -> Path:
    """Write lines as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.DictWriter(file, list(lines[0]))
        rows.writeheader()
        rows.writerows(lines)
    return path


PREDICTED = [
    {"row": 0, "item": 1, "rank": 1, "click_probability": 0.5},
    {"row": 0, "item": 2, "rank": 2, "click_probability": 0.25},
    {"row": 1, "item": 2, "rank": 1, "click_probability": 0.5},
]
JUDGED = [
    {"query": "a", "item": 1, "relevance": 0.5, "low": 0.25, "high": 0.75},
    {"query": "b", "item": 1, "relevance": 0.5, "low": 0.25, "high": 0.75},
]
FILES: dict[str, tuple[Callable[[Path], None], list[dict[str, Any]], dict[str, Change]]] = {
    "predictions": (
        lambda path: answers.predicted(path, ROWS),
        PREDICTED,
        {
            "click_probability is 1.5": ((0, "click_probability"), 1.5),
            "predictions of .*'3'": ((1, "item"), 3),
            "predictions of": ((2, "rank"), 2),
            "predictions of .*, not of": ((2,), None),
        },
    ),
    "judgements": (
        answers.judged,
        JUDGED,
        {
            "relevance is -0.5": ((0, "relevance"), -0.5),
            "an interval without its value": ((0, "high"), 0.4),
            "an item is judged twice": ((1, "query"), "a"),
        },
    ),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_wrong_file_is_noticed(kind: str, tmp_path: Path) -> None:
    judge, lines, wrong = FILES[kind]
    judge(written(tmp_path / "right.csv", lines))
    for said, change in wrong.items():
        with pytest.raises(Wrong, match=said):
            judge(written(tmp_path / "wrong.csv", changed(lines, change)))


@dataclass(frozen=True)
class Found:
    """An estimate."""

    value: float = 1.0
    standard_error: float = 0.5
    low: float = 0.0
    high: float = 2.0
    n: int = 7


@pytest.mark.parametrize("field", ["value", "standard_error", "low", "high", "n"])
def test_a_merged_answer_that_is_another_is_noticed(field: str) -> None:
    whole = {"ips": Found(), "snips": Found()}
    answers.same_answer({**whole, "ips": Found(value=1.0 + 1e-13)}, whole, 1e-9)
    for name in whole:
        with pytest.raises(Wrong, match=f"merged, {field} of {name} is"):
            answers.same_answer({**whole, name: Found(**{field: 3})}, whole, 1e-9)


@pytest.mark.parametrize("text", ["<td>nan</td>", "from -inf to 1", "(NaN)".lower()])
def test_a_page_with_a_number_that_is_none_is_noticed(text: str) -> None:
    answers.no_nan("<script>nan</script><p>finance, nano, information</p>")
    with pytest.raises(Wrong, match="on a page"):
        answers.no_nan(f"<p>{text}</p>")


@pytest.mark.parametrize("control", ["\0", "\x1b", "\x07", "\u202e"])
def test_control_characters_in_a_terminal_are_noticed(control: str) -> None:
    answers.clean("plain\n\twords")
    with pytest.raises(Wrong, match="in the words for a terminal"):
        answers.clean(f"a{control}b")


def test_a_refusal_without_a_remedy_or_a_reason_is_noticed() -> None:
    sound = LogCase("wide", {"slate": [[1]]}, question="read")
    questions.judge_refusal(LogCase("wide", {}, question="read", changed=("odd_cell",)), UsageError("wrong", "mend it"))
    for message, remedy in ((" ", "mend it"), ("wrong", "")):
        with pytest.raises(Wrong, match="an error without a remedy"):
            questions.judge_refusal(sound, UsageError(message, remedy))
    with pytest.raises(Wrong, match="refused, though it keeps every rule"):
        questions.judge_refusal(sound, UsageError("wrong", "mend it"))


@pytest.mark.parametrize(("item", "known"), [(7, True), ("7", False)])
def test_whether_a_text_is_the_item_of_a_number_is_open(item: int | str, known: bool) -> None:
    """A row that breaks a rule by the one reading keeps it by the other."""
    columns = {"slate": [[5], [item]], "clicks": [[0], [1]], "candidates": [[5, 7], [7]]}
    found = oracle.expected(LogCase("wide", columns), frozenset({"candidates", "clicks"}))
    assert (found is not None) is known
