"""Each verb of the command line has a page: what it answers, an example that is run, what it means, its options."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
import pytest

from offrank.cli import main
from tests.house.code import ROOT

FOLDER = ROOT / "docs/reference/verbs"


def verbs(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        words = f"{before} {name}".strip()
        if isinstance(command, click.Group):
            yield from verbs(command, words)
        else:
            yield words, command


VERBS = {**dict(verbs(main)), "plan": None, "reproduce": None}


def test_there_is_a_page_for_each_verb_and_for_nothing_else() -> None:
    pages = {path.stem for path in FOLDER.glob("*.md")}
    assert pages == {words.replace(" ", "-") for words in VERBS}
    listed = re.findall(r"\(verbs/([\w-]+)\.md\)", (ROOT / "docs/reference/command.md").read_text(encoding="utf-8"))
    assert sorted(listed) == sorted(pages)


@pytest.mark.parametrize("verb", VERBS)
def test_a_page_answers_shows_explains_and_lists_the_options(verb: str) -> None:
    text = (FOLDER / f"{verb.replace(' ', '-')}.md").read_text(encoding="utf-8")
    assert text.startswith(f"# offrank {verb}\n")
    headings = re.findall(r"^## (.*)$", text, flags=re.MULTILINE)
    assert headings == ["An example", "What the output means", "Its options"]
    assert re.search(rf"^\$ offrank {verb}\b", text, flags=re.MULTILINE)
    assert f":prog_name: offrank {verb}\n" in text
    command = VERBS[verb]
    if command is not None:
        module, name = re.findall(r":module: ([\w.]+)\n +:command: (\w+)\n", text)[0]
        assert getattr(__import__(module, fromlist=[name]), name) is command
