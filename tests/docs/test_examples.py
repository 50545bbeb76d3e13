"""Every example in README, docs and public docstrings runs as it is written, page by page, from top to bottom.

Python blocks of a page share their names. Of a console block the lines `$ offrank ...` are run and must end
with status 0, or with the status that a following `$ echo $?` shows. What a page shows of the output must be
true: each line below a command, and each line of a text block below a Python block, is a line of what was
printed (on 80 columns, spaces aside; `...` stands for whatever is left out). A page works in its own copy of a
folder where `offrank demo` has been run. `<!-- skip: next -->` before a block leaves it out.
"""

from __future__ import annotations

import contextlib
import doctest
import inspect
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import pytest
from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser

import offrank
from tests.cli.commands import call
from tests.docs.test_docstrings import NAMES, sections

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *(path for path in sorted((ROOT / "docs").rglob("*.md")) if path.parent.name != "tables")]

REAL = "real-logs.md"
"""Works in a folder of real logs instead, and is left out where there are none."""

# All pages on one worker, so that the demo is run once.
pytestmark = pytest.mark.xdist_group("docs")
PARTS = 8
"""A page, or a docstring, is asked by one of so many commits, and by those that touch it."""

SHELL = {"|", "||", "&&", ">", "<", ";", "&"}
COMMAND = re.compile(
    r"""^\$\ (offrank\b (?: .*\\\n )* .*)      # a command, perhaps on several lines
        ( (?: \n (?!\$\ ).* )* )               # what it prints
        (?: \n\$\ echo\ \$\?\n (\d+) )?        # its status
    """,
    re.MULTILINE | re.VERBOSE,
)


def commands(block: str) -> list[tuple[str, str, int]]:
    """The `offrank` commands of a console block, each with the output and the exit status that the page shows."""
    return [(match[1], match[2].strip("\n"), int(match[3] or 0)) for match in COMMAND.finditer(block)]


def missing(shown: str, printed: str) -> list[str]:
    """Lines that a page shows and that were not printed."""
    found = {" ".join(line.split()) for line in printed.splitlines()}
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    return [line for line in lines if line not in {"", "..."} and line not in found]


def run(command: str, expected: int = 0, folder: Path | None = None) -> str:
    """Run a line as a reader's shell would: in this process where it is nothing but a call of `offrank`."""
    words = shlex.split(command.replace("\\\n", " "))
    if SHELL.isdisjoint(words) and words[0] == "offrank":
        with contextlib.chdir(folder or Path()):
            called = call(*words[1:])
        status, printed = called.exit_code, called.output
    else:
        status, printed = run_in_a_shell(command, folder)
    assert status == expected, f"$ {command}\n{printed}"
    return printed


def run_in_a_shell(command: str, folder: Path | None) -> tuple[int, str]:
    """Status and output of a line, with the `offrank` of this Python first on the path."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def run_console(example: Example) -> None:
    for command, shown, status in commands(example.parsed):
        printed = run(command, status)
        assert not missing(shown, printed), f"$ {command}\n{printed}"


def look_at_text(example: Example) -> None:
    printed = example.namespace["printed_by_the_last_block"]
    assert not missing(example.parsed, printed), printed


EXAMPLES = Sybil(
    parsers=[
        PythonCodeBlockParser(),
        CodeBlockParser("console", run_console),
        CodeBlockParser("text", look_at_text),
        SkipParser(),
    ]
)


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.turns(1 if page.name == "README.md" else PARTS, page)) for page in PAGES],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_examples(page: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    examples = list(EXAMPLES.parse(page))
    if not examples:
        pytest.skip("no examples on this page")
    folder = request.getfixturevalue("tmp_path") / "page"
    if page.name == REAL:
        folder.mkdir()
        for log in request.getfixturevalue("shared_data").iterdir():
            (folder / log.name).symlink_to(log)
    else:
        shutil.copytree(request.getfixturevalue("demo"), folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")
    for example in examples:
        printed = io.StringIO()
        # A skipped block that says why raises this; the rest of the page still runs.
        with contextlib.suppress(unittest.SkipTest), contextlib.redirect_stdout(printed):
            example.evaluate()
        example.namespace["printed_by_the_last_block"] = printed.getvalue()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.turns(PARTS, Path(str(inspect.getsourcefile(NAMES[name])))))
        for name in NAMES
        if "Examples" in sections(NAMES[name])
    ],
)
def test_the_example_of_a_docstring(name: str, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "offrank.reproduce":
        pytest.importorskip("offrank_papers")
    (tmp_path / "offrank-demo").symlink_to(demo / "offrank-demo")
    monkeypatch.chdir(tmp_path)
    example = doctest.DocTestParser().get_doctest(NAMES[name].__doc__, {"offrank": offrank}, name, None, 0)
    assert example.examples
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example).failed == 0


def test_commands_are_read_as_a_reader_would() -> None:
    check = "offrank check a.parquet \\\n    --strict"
    block = f"$ pip install offrank\n$ {check}\nlow-ess ...\n$ echo $?\n3\n$ offrank demo\n"
    assert commands(block) == [(check, "low-ess ...", 3), ("offrank demo", "", 0)]


def test_what_a_page_shows_must_have_been_printed() -> None:
    assert missing("a  1\n...\n\nb 2", "a 1\nc\nb   2\n") == []
    assert missing("a 1\nb 3", "a 1\nb 2") == ["b 3"]
