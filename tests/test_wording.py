"""Texts that name options: the words for Python and for the command line, from the same data."""

from __future__ import annotations

import ast
import copy
import json
import pickle
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import NamedTuple

import numpy as np
import pytest

import offrank
from offrank import errors, findings
from offrank.cli.running import safely
from offrank.report import terminal
from offrank.report.document import Document, Section, of_models
from offrank.sums.estimate import Caution
from offrank.wording import ColumnNames, EstimatorOption, Option, Style, Verb, Wording, command_line, joined, worded
from tests.findings.cases import CASES
from tests.verbs.logs import coins

USE = Wording("use {}, or {}", Option("interval", "bootstrap"), EstimatorOption("clip(ips, 100)"))
WORDS: dict[Style, str] = {
    "python": 'use interval="bootstrap", or "clip(ips, 100)"',
    "command line": "use --interval bootstrap, or -e 'clip(ips, 100)'",
}
PHRASES = [
    (Option("interval", "bootstrap"), 'interval="bootstrap"', "--interval bootstrap"),
    (Option("held_out", "policy.npz"), 'held_out="policy.npz"', "--held-out policy.npz"),
    (Option("cluster", None), "cluster=None", "--cluster none"),
    (Option("logging", "plackett_luce(old)"), 'logging="plackett_luce(old)"', "--logging 'plackett_luce(old)'"),
    (Option("examination", [1, 0.5]), "examination=[1, 0.5]", "--examination 1,0.5"),
    (Option("totals", {"all": 9}), 'totals={"all": 9}', "--totals all=9"),
    (Option("slots", 1), "slots=1", "--slots 1"),
    (Option("fresh", True), "fresh=True", "--fresh"),
    (Option("format"), "format=", "--format"),
    (Option("columns"), "columns=", "--column"),
    (ColumnNames({"clicks": "c"}), 'columns={"clicks": "c"}', "--column clicks=c"),
    (ColumnNames({"a": "b", "c": "d"}), 'columns={"a": "b", "c": "d"}', "--column a=b --column c=d"),
    (EstimatorOption("clip(ips, 100)"), '"clip(ips, 100)"', "-e 'clip(ips, 100)'"),
    (EstimatorOption("ipm"), '"ipm"', "-e ipm"),
    (Verb("check"), "`offrank.check(...)`", "`offrank check`"),
]


@pytest.mark.parametrize(("phrase", "python", "command"), PHRASES, ids=lambda one: str(one)[:30])
def test_a_phrase_in_both_styles(phrase: Option, python: str, command: str) -> None:
    assert (phrase.said("python"), phrase.said("command line")) == (python, command)


@pytest.mark.parametrize(
    "made",
    [
        pickle.loads(pickle.dumps(USE)),
        copy.deepcopy(USE),
        "use " + Wording("{}, or ", Option("interval", "bootstrap")) + Wording("{}", EstimatorOption("clip(ips, 100)")),
        joined(", or ", ["use " + Wording("{}", Option("interval", "bootstrap")), "", Wording.of(USE.parts[3:])]),
        Wording("use {}, or {}", Option("interval", "bootstrap"), EstimatorOption("clip(x, 100)")).replace("x", "ips"),
    ],
    ids=["pickled", "copied", "added", "joined", "replaced"],
)
@pytest.mark.parametrize("style", WORDS)
def test_texts_keep_their_phrases(made: Wording, style: Style) -> None:
    assert made.said(style) == WORDS[style]
    assert str(made) == made == WORDS["python"]


def test_a_template_has_a_place_for_every_value() -> None:
    assert Wording("{} of {}", 3, "{}").said("command line") == "3 of {}"
    with pytest.raises(ValueError, match="1 places for 2 values"):
        Wording("use {}", "a", "b")


class Pair(NamedTuple):
    one: str
    other: object


def test_texts_are_put_into_words_at_any_depth_and_the_rest_is_left_alone() -> None:
    array, caution = np.arange(3), Caution("a", "note", "plain", USE, missing=0.5)
    given = {"a": [USE, array], USE: (Pair("x", USE), caution), "b": ("x",)}
    found, said = worded(given, "command line"), WORDS["command line"]
    assert found["a"][0] == found[said][0].other == found[said][1].remedy == said
    assert type(found["a"][0]) is str
    assert found["a"][1] is array
    assert found["b"] is given["b"]
    assert found[said][1] == Caution("a", "note", "plain", said, missing=0.5)
    assert isinstance(found[said][0], Pair)
    assert given["a"][0] is USE
    plain = [Caution("a", "note", "plain", "remedy"), {"x": Pair("a", array)}]
    assert worded(plain, "command line") is plain


@pytest.mark.parametrize(
    "error",
    [
        errors.UsageError("no", USE),
        errors.NoOverlapError("no", USE),
        errors.RowError("log", 3, "clicks", "rule", "no", USE),
    ],
)
def test_an_error_says_its_remedy_both_ways_also_from_another_process(error: errors.OffrankError) -> None:
    for one in (error, pickle.loads(pickle.dumps(error))):
        assert str(one).endswith(f"no\n  what to do: {WORDS['python']}") or isinstance(error, errors.RowError)
        assert one.said("command line") == f"{one.message}\n  what to do: {WORDS['command line']}"
        assert json.loads(json.dumps(one.to_dict()))["remedy"] == WORDS["python"]
        assert worded(one.to_dict(), "command line")["remedy"] == WORDS["command line"]


def test_an_error_without_an_option_is_the_same_in_both_styles() -> None:
    for error in (errors.UsageError("no", "do that"), errors.UsageError("no")):
        assert error.said("command line") == str(error)


def test_a_command_in_a_thread_and_python_beside_it_have_their_own_words(capsys: pytest.CaptureFixture[str]) -> None:
    begun, said = Event(), Event()

    @safely
    def command() -> None:
        begun.set()
        assert said.wait(60)
        raise errors.UsageError("no", USE)

    few = findings.cautions_for(*(case.evidence for case in CASES if case.code == "few-rewards"))
    remedy = next(one.remedy for one in few if "studentised" in one.remedy)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(command)
        assert begun.wait(60)
        in_python = [str(errors.UsageError("no", USE)), str(remedy)]
        said.set()
        assert isinstance(running.exception(60), SystemExit)
    assert in_python == [
        f"no\n  what to do: {WORDS['python']}",
        'That is too few for a normal interval: use interval="studentised", and log more.',
    ]
    assert capsys.readouterr().err == f"error: no\n  what to do: {WORDS['command line']}\n"


def test_results_are_shown_written_and_saved_in_the_style_of_who_asks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = coins(200, clicks=(np.arange(200) < 20).astype(int)[:, None].tolist())
    result = offrank.evaluate(log, "ranking(best)", "logged", "ips", interval="normal")
    words: dict[Style, str] = {"python": 'interval="studentised"', "command line": "--interval studentised"}
    for style, mine in words.items():
        [other] = {*words.values()} - {mine}
        result.show(style)
        result.save_html(tmp_path / "page.html", style)
        page = (tmp_path / "page.html").read_text("utf-8").replace("&#34;", '"')
        written = json.loads(result.to_json(style=style))
        for text in (" ".join(capsys.readouterr().out.split()), page, " ".join(remedies(written))):
            assert mine in text
            assert other not in text
    assert result.to_json() == result.to_json(style="python")
    assert str(result) == terminal.render_text(worded(result.to_document(), "python"))
    [caution] = [one for one in pickle.loads(pickle.dumps(result["ips"])).warnings if one.code == "few-rewards"]
    assert "--interval studentised" in worded(caution.remedy, "command line")


def remedies(document: dict) -> list[str]:
    return [one["remedy"] for row in document["estimates"] for one in row["warnings"]]


PYTHON = re.compile(r'\b\w+=(?=["\[{]|None\b|True\b)|`offrank\.|[(,] ?"')
"""How arguments, functions and estimators look in Python."""


def test_no_words_of_the_other_style_in_any_finding() -> None:
    found = [caution for case in CASES for caution in of_case(case.code, case.evidence)]
    named = [caution for caution in found if PYTHON.search(caution.remedy)]
    assert len({caution.code for caution in named}) > 15
    sections = (Section("Findings", findings=of_models([("model", found)])),)
    document = worded(Document("All", "", sections), "command line")
    said = [remedy for finding in document.sections[0].findings for _, remedy in finding.told(10**6)[2]]
    assert said
    assert [text for text in said if PYTHON.search(text)] == []
    assert [text for text in (one.remedy for one in named) if re.search(r"(?<!\w)--?[a-z]", text)] == []


def of_case(code: str, evidence: object) -> list[Caution]:
    [kind] = [kind for kind in findings.all_findings(type(evidence)) if kind.code == code]
    said = kind.find(evidence)
    return [] if said is None else [Caution(code, said.severity, said.message, said.remedy)]


def test_no_remedy_is_put_into_an_f_string_which_would_lose_its_data() -> None:
    root = Path(offrank.__file__).parent
    assert lost('f"{one.message} {one.remedy}"') == ["one.remedy"]
    found = {str(path): lost(path.read_text("utf-8")) for path in root.rglob("*.py")}
    assert {path: where for path, where in found.items() if where} == {}


def lost(source: str) -> list[str]:
    values = [node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FormattedValue)]
    return [ast.unparse(one) for one in values if isinstance(one, ast.Attribute) and one.attr == "remedy"]


@pytest.mark.parametrize(
    "word", ["plain", "top('a b')", "it's $HOME", "a\"b'c", "`ls`'", "back\\slash'", "!'", "two\nlines'", ""]
)
def test_a_command_that_is_copied_has_the_words_that_were_meant(word: str) -> None:
    line = command_line(["printf", "%s", word])
    assert shlex.split(line) == ["printf", "%s", word]
    assert subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True).stdout == word


def test_a_quoted_name_of_a_policy_stays_readable() -> None:
    assert command_line(["--target", "top('results.score')"]) == "--target \"top('results.score')\""
