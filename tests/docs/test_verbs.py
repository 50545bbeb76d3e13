"""Each verb has a page, or a section of one: what it answers, an example that is run, what comes out, its options."""

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


LISTED = {
    verb: (page, anchor)
    for verb, page, anchor in re.findall(
        r"\[([a-z ]+)\]\(verbs/([\w-]+)\.md(?:#([\w-]+))?\)",
        (ROOT / "docs/reference/command.md").read_text(encoding="utf-8"),
    )
}
"""Where the list of verbs leads to: a page, and the section of it where several verbs share one."""


def section(verb: str) -> tuple[str, str]:
    """What the docs say of a verb, and the level of its heading."""
    page, anchor = LISTED[verb]
    text, level = (FOLDER / f"{page}.md").read_text(encoding="utf-8"), "##" if anchor else "#"
    assert anchor in ("", f"offrank-{verb.replace(' ', '-')}")
    below = re.split(rf"^{level} offrank {verb}\n", text, flags=re.MULTILINE)
    assert len(below) == 2, f"{page}.md has no heading of {verb}, or two"
    return re.split(rf"^{level} ", below[1], flags=re.MULTILINE)[0], level


def test_each_verb_is_listed_with_its_page_and_nothing_else() -> None:
    assert sorted(LISTED) == sorted(VERBS)
    assert {page for page, _ in LISTED.values()} == {path.stem for path in FOLDER.glob("*.md")}
    assert len({*LISTED.values()}) == len(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_a_section_answers_shows_explains_and_lists_the_options(verb: str) -> None:
    text, level = section(verb)
    before, *parts = re.split(rf"^{level}# (.*)\n", text, flags=re.MULTILINE)
    assert len(before.split()) >= 5
    assert parts[:6:2] == ["Example", "Output", "Options"]
    assert verb == "reproduce" or len(parts) == 6
    example, output, options = parts[1:6:2]
    assert re.search(rf"^\$ offrank {verb}\b", example, flags=re.MULTILINE)
    assert len(output.split()) >= 5
    assert f":prog_name: offrank {verb}\n" in options
    command = VERBS[verb]
    if command is not None:
        module, name = re.findall(r":module: ([\w.]+)\n +:command: (\w+)\n", options)[0]
        assert getattr(__import__(module, fromlist=[name]), name) is command
