"""Commands in the text of the pages: `offrank evaluate . -e auto` is read as the command line reads it, and not run.

Those in blocks are run, see `test_examples`.
"""

from __future__ import annotations

import contextlib
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from offrank.cli.command import main
from offrank.errors import OffrankError
from tests.docs.test_examples import PAGES, ROOT

INLINE = re.compile(r"`(offrank [a-z][^`]*)`")
OPTION = re.compile(r"`(-(?:-[a-z]|[a-z] )[^`]*)`")
SHELL = {"|", "<", ">", "&&", ";"}
FILE = re.compile(r"\w[\w.]*")
LEFT_OUT = {"...", "\\"}
MEANT = {"POLICY": "uniform"}


def texts(pattern: re.Pattern[str]) -> dict[str, str]:
    """What stands in the text of the pages, each with the first page that has it."""
    found: dict[str, str] = {}
    for page in PAGES:
        for text in pattern.findall(page.read_text(encoding="utf-8")):
            found.setdefault(text, page.relative_to(ROOT).as_posix())
    return found


def words_of(text: str) -> list[str]:
    """The words of one command as a shell gives them, to where another one begins."""
    words = shlex.split(text)[1:]
    end = next((place for place, word in enumerate(words) if word in SHELL), len(words))
    return [MEANT.get(word, word) for word in words[:end] if word not in LEFT_OUT]


def context_of(group: click.Group, parent: click.Context | None = None) -> click.Context:
    """The context of a group. A command keeps the options of help that it is first asked for: all of them, by this."""
    return click.Context(group, parent=parent, **group.context_settings)


def read(words: list[str]) -> None:
    """Read the words of a command without running it.

    Raises:
        UsageError: an option or a command that there is not. OffrankError: a value. What is only lacking is no fault of
            a text.
    """
    command: click.Command = main
    context: click.Context | None = None
    while isinstance(command, click.Group):
        context = context_of(command, context)
        _, found, words = command.resolve_command(context, words)
        assert found is not None
        command = found
        if not words:
            return
    for word in words:
        if word == "FOLDER":
            Path(word).mkdir(exist_ok=True)
        elif FILE.fullmatch(word):
            Path(word).touch()  # logs and models that the page does not have
    with contextlib.suppress(click.MissingParameter, click.BadOptionUsage):
        command.make_context(command.name, words, parent=context)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_command_line_has_what_a_text_names() -> None:
    wrong = []
    for text, page in texts(INLINE).items():
        try:
            read(words_of(text))
        except (click.UsageError, OffrankError) as error:
            wrong.append(f"{page}: {text}: {error}")
    assert not wrong, "\n".join(wrong)


def verbs(group: click.Group = main, *names: str) -> Iterator[list[str]]:
    """The words of every command that is no group."""
    context = context_of(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        if isinstance(found, click.Group):
            yield from verbs(found, *names, name)
        else:
            yield [*names, name]


def refused(words: list[str]) -> str:
    """Why the command line does not take these words; empty where it takes them."""
    try:
        read(words)
    except click.NoSuchOption:
        return "no option"
    except (click.UsageError, OffrankError) as error:
        return str(error)
    return ""


def test_some_command_takes_each_option_that_a_text_names() -> None:
    every, wrong = list(verbs()), []
    for text, page in texts(OPTION).items():
        why = {refused([*verb, *words_of(f"offrank {text}")]) for verb in every}
        if "" not in why and why != {"no option"}:  # it is one of a script
            wrong.append(f"{page}: {text}: {min(why - {'no option'})}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("text", ["offrank evalu LOG", "offrank evaluate LOG --bonds", "offrank evaluate LOG -e snpis"])
def test_what_the_command_line_lacks_is_found(text: str) -> None:
    with pytest.raises((click.UsageError, OffrankError)):
        read(words_of(text))
