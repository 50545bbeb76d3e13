"""Cases drawn at random keep the promises; what fuzzing has found once is answered or refused since."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.fuzz import files, forms, judging, oracle
from tests.fuzz.cases import LogCase
from tests.fuzz.files import Edit, FileCase
from tests.fuzz.judging import draw_case, judge_case, smallest
from tests.fuzz.questions import QUESTIONS
from tests.fuzz.shrink import shrunk
from tests.night import WHOLE

CASES = int(os.environ.get("OFFRANK_FUZZ_CASES", "5000" if WHOLE else "1000"))
SLATE, CLICKS, SCORES = [[1, 2], [2, 1], [1, 2]], [[1, 0], [0, 1], [0, 0]], [[1.0, 2.0], [0.5, 1.0], [2.0, 0.25]]
WIDE: dict[str, list[Any]] = {"slate": SLATE, "clicks": CLICKS, "candidates": SLATE, "old": SCORES, "new": SCORES}
LONG: dict[str, list[Any]] = {"impression": [0, 0], "item": [7, 9], "position": [1, 2], "click": [1, 0]}
MANY = list(range(200))

pytestmark = pytest.mark.xdist_group("fuzz")  # large groups are begun first: it does not end the run alone


def wide(question: str, form: str = "table", *, types: Any = None, names: Any = None, **columns: Any) -> LogCase:
    return LogCase("wide", {**WIDE, **columns}, form, question, types=types or {}, names=names or {})


def long(question: str, form: str = "table", *, types: Any = None, **columns: Any) -> LogCase:
    return LogCase("long", {**LONG, **columns}, form, question, types=types or {})


@pytest.mark.slow
def test_cases_drawn_at_random_keep_the_promises() -> None:
    words = [sys.executable, "-m", "tests.fuzz", "--cases", str(CASES), "--seed", "ci", "--workers", "1"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert f'"cases": {CASES}' in done.stdout


EVENTS, TWO = "events(kind=event, shown=shown)", {"slate": [[17, 26, 27], [17]], "clicks": [[0, 0, 0], [1]]}
ONE_SHOWN = {"slate": [[43]], "clicks": [[1]], "candidates": [[22, 43, 4]]}
"""One item of three is shown, so that its position is the only one of the list."""
ANSWERED = {
    "lists of text as clicks in JSON, of which the page says that nothing can be estimated": wide(
        "inspect", "csv", clicks=[["x", "y"], [0, 1], [0, 0]]
    ),
    "items by number that end early": LogCase(
        "wide",
        {"slate": [[5], [5, 4]], "clicks": [[0], [0, 1]]},
        "pandas",
        names={"slate": "item", "clicks": "click"},
        shape="numbered",
    ),
    "one position of a list": LogCase("wide", {**ONE_SHOWN}, "table", shape="ranked", told=False),
    "a position beside a score that runs": LogCase(
        "wide", {**ONE_SHOWN, "new": [[3.0, 2.0, 1.0]]}, "table", names={"new": "items.new"}, shape="ranked", told=False
    ),
    "a Parquet column with a dot in its name": wide("read", "parquet", names={"new": "s.core"}),
    "texts of empty objects": wide("inspect", a=["{}"] * 3),
    "clicks whose squares are none": wide("inspect", clicks=[[5e-324, 0], [0, 0], [0, 0]], query=["a", "b", "a"]),
    "texts that begin with a bracket": wide("convert", "csv", further=['["a", 1]', "[1", "x"]),
    "dictionaries in lists": LogCase(
        "wide",
        {"slate": [["a"], ["b"]], "clicks": [[1], [0]]},
        question="convert",
        types={"slate": "dictionary of texts"},
    ),
    "scores of a long log that are null": long("convert", new=[None, None]),
    "one enormous click of three": long(
        "states", impression=[0, 1, 2], item=[7] * 3, position=[1] * 3, click=[1e150, 0, 0]
    ),
    "a propensity far from the policy": wide(
        "states",
        slate=[MANY] * 2,
        candidates=[MANY] * 2,
        clicks=[[0] * 200] * 2,
        old=[MANY] * 2,
        new=[MANY] * 2,
        propensity=[1.0] * 2,
    ),
    "ids that are empty or begin like objects": long("read", item=["{}", ""]),
    "ids that are times beyond all years": LogCase(
        "wide", {"slate": [[2**62]]}, question="inspect", types={"slate": "timestamp"}
    ),
    "groups that are times beyond all years": wide("grouped", query=[2**62, 0, 0], types={"query": "timestamp"}),
    "views of texts in lists of which some are left out": LogCase(
        "wide", {"slate": [["a", "b"], ["a"]], "clicks": [[0], [1]]}, "polars", "convert", "skip"
    ),
    "no clicks but empty ones": wide("evaluate", clicks=[[1, None], [1, 1], [1, 1]], propensity=[0.5] * 3),
    "a struct in a table in memory": wide("inspect", propensity=[0.5] * 3, types={"propensity": "struct"}),
    "clicks whose inverse is infinite": long("measure", click=[1e-320, 0], new=[2.0, 3.0]),
    "clicks whose inverse is infinite, by clusters": long(
        "measure",
        impression=[0, 0, 1, 1],
        item=[7, 9] * 2,
        position=[1, 2] * 2,
        click=[1e-320, 0] * 2,
        new=[2.0, 3.0] * 2,
        query=["a", "a", "b", "b"],
    ),
    "structs with ranks in views of texts": LogCase(
        "wide",
        {"slate": [["a", "b"]], "candidates": [["b", "a"]]},
        "polars",
        names={"slate": "items.item"},
        shape="ranked",
        said={"position": "items.position"},
    ),
    "exposures in views of texts": LogCase(
        "wide", {"slate": [["a", "b"], ["b"]], "clicks": [[0, 1], [1]]}, "polars", shape="exposures"
    ),
    "lists in CSV beside a table of clicks": LogCase(
        "wide",
        {"slate": [[1, 2], [2]], "clicks": [[0, 1], [1]]},
        "csv",
        shape="lists and clicks",
        format="events(impression=request, slate=slate, click_item=sku)",
    ),
    "folders whose files have other types": LogCase(
        "wide",
        {"slate": [[1], [1]], "clicks": [[0.5], [1]], "query": ["a", "b"], "further": [1.5, None]},
        "hive",
        "convert",
        seed="4",
    ),
    "folders of which the first file has whole numbers": LogCase(
        "wide", {"slate": [[1], [1]], "clicks": [[1], [0.5]], "query": ["a", "b"]}, "hive", "convert", seed="4"
    ),
    "folders with a row per item whose files have other types": LogCase(
        "long",
        {
            "impression": [5, 11, 5, 7],
            "item": [33, 33, 10, 33],
            "position": [None, 1, 1, 1],
            "click": [None, 0.5, 0.0, 0],
            "query": ["a", "a", "a", "b"],
        },
        "hive",
        seed="4",
    ),
    "a check without clicks and rewards": LogCase(
        "wide", {"slate": [[1]], "propensity": [0.5], "new": [[1.0]]}, "table", "check"
    ),
    "an id that is a control character, in a small file": LogCase(
        "long",
        {"impression": [1], "item": ["\x07"], "position": [1], "click": [1]},
        "csv.bz2",
        shape="two tables",
        format="events",
    ),
    "an id that is a word for no number": LogCase(
        "long",
        {"impression": [0, 0], "item": ["NaN", "a"], "position": [2, 1], "click": [1, 0]},
        "csv",
        shape="two tables",
        format="events",
    ),
    "scores of a single list that run as positions do": LogCase(
        "wide",
        {"slate": [["a", "b", "c"]], "clicks": [[2, 1, 2]], "new": [[2.0, 3.0, 1.0]]},
        names={"new": "items.new"},
        shape="nested",
        told=False,
    ),
    "learning without scores": LogCase("wide", {"slate": [[1]], "clicks": [[1]], "new": [[1.0]]}, question="learn"),
    "views of texts": LogCase("wide", {"candidates": [["a"], ["b"]]}, "polars", "inspect"),
}
REFUSED = {
    "impressions that are a session and a time, of no rows": LogCase(
        "long",
        {name: [] for name in LONG},
        names={"impression": "session+ts"},
        shape="composed",
        form="table",
    ),
    "an object of JSON that goes on in another line": FileCase("json lines", (Edit("insert", 930228, b"\n"),)),
    "impressions that are fractions": LogCase(
        "long", {"impression": [3.5], "position": [1]}, names={"impression": "1"}
    ),
    "kinds of events that are structs": LogCase(
        "long", {**LONG}, question="evaluate", types={"": "struct"}, seed="types 13107", shape="kinds", format=EVENTS
    ),
    "texts and structs in numbered columns": LogCase(
        "wide", {"slate": [["a", "b"]], "clicks": [[0, 1]]}, types={"": "struct"}, seed="types 16893", shape="numbered"
    ),
    "ranks of events that are dates": LogCase(
        "wide", {**TWO}, types={"": "date32"}, seed="types 32401", shape="ga4", format="ga4"
    ),
    "a key in JSON that is half a letter": FileCase("json lines", (Edit("insert", 40956, b"\\ud800"),)),
    "a null before all rows of a JSON array": FileCase(
        "json array", (Edit("value", 292706, b'"+7"'), Edit("value", 353210, b"null"))
    ),
    "intervals of DuckDB as propensities of a long log": long(
        "read", "duckdb", propensity=[0.5, 0.5], types={"propensity": "duration"}
    ),
    "texts in run ends, and nothing else": LogCase(
        "wide", {"query": ["b"]}, question="read", types={"query": "run ends"}
    ),
    "whole numbers beyond 2^53 in one file and fractions in another": LogCase(
        "wide",
        {"slate": [["a"], ["a"]], "clicks": [[2**63 - 1], [0.0]], "query": ["a", "c"]},
        "hive",
        "evaluate",
        invalid="raise",
    ),
    "hits that are lists": LogCase(
        "wide", {"slate": [[[","]]], "clicks": [[0]], "query": ["b"]}, "json array", "read", shape="ubi", told=False
    ),
    "positions that are views of texts": LogCase(
        "long", {"position": [3, None]}, question="read", types={"position": "string_view"}
    ),
    "propensities that are half floats, and nothing else": LogCase(
        "long", {"propensity": [0.5]}, question="convert", types={"propensity": "float16"}
    ),
    "whole numbers among fractions in SQLite": LogCase("long", {**LONG, "click": [0.5, 2**53 + 1]}, "sqlite", "read"),
    "an inclusion that outweighs all": wide("check", inclusion=[1e-300, 1.0, 1.0]),
    "times that are all null as positions": long("read", position=[None, None], types={"position": "timestamp"}),
    "dates that are all null as scores": long("read", "table", new=[None, None], types={"new": "date32"}),
    "whole numbers beyond 2^53 beside fractions in numbered columns": LogCase(
        "wide",
        {"slate": [[1], [2, 3]], "clicks": [[0], [0, 0]], "new": [[2.5], [1.0, -(2**63)]]},
        question="inspect",
        names={"slate": "item", "clicks": "click"},
        shape="numbered",
    ),
    "exposures beside a table without columns": LogCase("wide", {}, "dicts", shape="exposures"),
    "bytes in lists, and nothing else": LogCase(
        "wide", {"candidates": [[";"]]}, question="convert", types={"candidates": "binary"}
    ),
    "an infinite position": long("clicks", position=[1, float("inf")]),
    "a click model trained by another column": FileCase("dbn", (Edit("value", 721102, b'"other"'),)),
    "a click model with the strength of another table": FileCase(
        "dbn", (Edit("value", 8, b'{"other": {"kind": "f8", "shape": [1], "values": [1.0]}}'),)
    ),
    "a column that is the impression and the position": LogCase(
        "long", {"impression": [0], "item": ["a"], "click": [0]}, question="read", names={"impression": "position"}
    ),
    "a click model with a huge number": FileCase("dbn", (Edit("value", 104095, b"1.7976931348623157e+308"),)),
}


SOUND = {
    **WIDE,
    "slate": [[1, 2], [2, 1], [1, 2], [2, 1]] * 9,
    "candidates": [[1, 2]] * 36,
    "clicks": [[1, 0], [0, 1], [0, 0], [1, 0]] * 9,
    "old": [[1.0, 2.0]] * 36,
    "new": [[2.0, 1.0]] * 36,
    "propensity": [0.5] * 36,
    "query": ["a", "a", "b"] * 12,
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_each_question_is_answered(question: str) -> None:
    judged = judge_case(LogCase("wide", SOUND, "parquet", question, seed="1"))
    assert judged.outcome == "answered", judged


@pytest.mark.parametrize("found", ANSWERED)
def test_what_was_found_is_answered(found: str) -> None:
    judged = judge_case(ANSWERED[found])
    assert judged.outcome == "answered", judged


@pytest.mark.parametrize("found", REFUSED)
def test_what_was_found_is_refused(found: str) -> None:
    case = REFUSED[found]
    judged = judge_case(replace(case, changed=("by hand",)) if isinstance(case, LogCase) else case)
    assert judged.outcome == "refused", judged


@pytest.mark.parametrize("kind", files.FILE_KINDS)
def test_a_sound_file_is_answered_and_an_empty_one_refused(kind: str) -> None:
    assert judge_case(FileCase(kind, ())).outcome == "answered"
    assert judge_case(FileCase(kind, (Edit("cut", 0, b""),))).outcome == "refused"


Writes = Callable[[Any, Any], Any]


def other(role: str, cells: list[Any]) -> Writes:
    """Writes another column than the case has, as a reader that changes it would read."""
    return lambda case, _: forms.table(replace(case, columns={**case.columns, role: cells}))


WRONG = {
    "a click": ("read", other("clicks", [[1, 0], [0, 1], [0, 1]]), "clicks"),
    "a score": ("read", other("new", [[1.0, 2.0], [0.5, 1.0], [2.0, 0.5]]), "score"),
    "an item": ("read", other("slate", [[1, 2], [2, 1], [2, 1]]), "item"),
    "a click of an estimate": ("evaluate", other("clicks", [[1, 0], [0, 0], [0, 1]]), "ips"),
    "a row": ("convert", lambda case, _: forms.table(case).slice(1), "impressions were read of"),
}


@pytest.mark.parametrize("what", WRONG)
def test_another_answer_is_noticed(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    question, write, said = WRONG[what]
    monkeypatch.setitem(forms.FORMS, "table", write)
    case = replace(wide(question, propensity=[0.5, 0.25, 0.5]), changed=("nothing",))
    found = judge_case(case)
    assert (found.outcome, said in found.why) == ("failed", True), found


@pytest.mark.parametrize("role", ["clicks", "old", "propensity"])
def test_a_broken_row_that_is_read_is_noticed(role: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = wide("read", propensity=[0.5, 0.25, 0.5])
    broken = {"clicks": [[1, 0], [0, -1], [0, 0]], "old": [[1.0], *SCORES[1:]], "propensity": [0.5, 0.0, 0.5]}
    monkeypatch.setitem(forms.FORMS, "table", lambda *_: forms.table(whole))
    assert judge_case(replace(whole, columns={**whole.columns, role: broken[role]})).why.startswith(
        "wrong: read, though"
    )


def test_a_sound_log_that_is_refused_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(forms.FORMS, "table", other("propensity", [0.5, 2.0, 0.5]))
    assert "refused, though" in judge_case(wide("read", propensity=[0.5, 0.25, 0.5])).why


def test_a_case_that_takes_too_much_memory_is_noticed_after_a_larger_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def takes(size: int) -> Any:
        monkeypatch.setitem(forms.FORMS, "table", lambda case, _: (bytearray(b"1") * size, forms.table(case))[1])
        return judge_case(wide("read"))

    assert takes(300 << 20).memory > takes(1 << 20).memory + (200 << 20)
    monkeypatch.setattr(judging, "BYTES", 0)
    assert takes(100 << 20).kind == "large: more than _ GiB of memory"


def test_a_failure_is_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(forms.FORMS, "table", other("clicks", [[5, 5]] * 3))
    bad = wide("read", propensity=[0.5, 0.25, 0.5], further=[1, 2, 3])
    small = smallest(bad, judge_case(bad))
    assert judge_case(small).kind == judge_case(bad).kind
    assert small.columns.keys() == {"slate", "clicks"}
    edits = tuple(Edit("flip", at, b"\1") for at in range(5))
    assert shrunk(FileCase("csv", edits), lambda case: edits[3] in case.edits).edits == (edits[3],)


def test_the_oracle_adds_up_by_hand() -> None:
    first = oracle.Row([1, 2], [1.0, 0.0], [1, 2], {"new": [1.0, 3.0], "old": [1.0, 3.0]}, {"propensity": 0.5})
    second = oracle.Row([2, 1], [0.0, 2.0], [1, 2], {"new": [1.0, 1.0], "old": [1.0, 1.0]}, {"propensity": 0.25})
    assert [oracle.top_probability(row) for row in (first, second)] == [0.0, 0.5]
    assert [oracle.plackett_luce_probability(row) for row in (first, second)] == [0.25, 0.5]
    assert oracle.uniform_probability(first) == 0.5
    assert oracle.ips((first, second), oracle.plackett_luce_probability) == (
        (0.5 * 1 + 2 * 2) / 2,
        (0.5 * 1 + 2 * 2) / 2.5,
    )


def test_a_seed_makes_the_same_case() -> None:
    assert [draw_case(f"a {n}") for n in range(50)] == [draw_case(f"a {n}") for n in range(50)]
