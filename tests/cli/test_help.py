"""The help of every command: options in groups by their use, required ones first, and nothing cut at any width."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

import offrank
from offrank.cli import main
from offrank.cli.verb_options import QuestionCommand
from offrank.inference import INTERVALS
from offrank.language.argument import first_sentence, parameter_docs

HEADINGS = ["Question", "Log", "Uncertainty", "Output", "Running"]


def commands(group: click.Group = main, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every command of offrank itself, by the words that call it."""
    for name, one in group.commands.items():
        yield (*path, name)
        if isinstance(one, click.Group):
            yield from commands(one, (*path, name))


def command_of(words: tuple[str, ...]) -> click.Command:
    found: click.Command = main
    for word in words:
        assert isinstance(found, click.Group)
        found = found.commands[word]
    return found


ALL = sorted(commands())
VERBS = [words for words in ALL if not isinstance(command_of(words), click.Group)]


def help_of(words: tuple[str, ...], width: int = 80) -> str:
    done = CliRunner().invoke(main, [*words, "--help"], env={"COLUMNS": str(width)}, terminal_width=width)
    assert done.exit_code == 0, done.output
    return done.output


def sections(text: str) -> dict[str, str]:
    """The text below each heading of a help."""
    parts = re.split(r"^(\w+):$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def flat(text: str) -> str:
    """A text without its line breaks, which may also stand behind a hyphen."""
    return " ".join(re.sub(r"-\n\s+", "-", text).split())


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_every_option_stands_once_below_what_it_is_used_for(words: tuple[str, ...]) -> None:
    found = sections(help_of(words))
    groups = [name for name in found if name != "Example"]
    assert groups == [name for name in HEADINGS if name in groups]
    flags = {max(one.opts, key=len) for one in command_of(words).params if isinstance(one, click.Option)}
    listed = [flag for name in groups for flag in re.findall(r"^  (?:-\w, )?(--?[\w-]+)", found[name], re.MULTILINE)]
    assert sorted(listed) == sorted({*flags, "--help"})


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_required_options_come_first_and_stand_in_the_usage(words: tuple[str, ...]) -> None:
    text = help_of(words, 200)
    required = [one for one in command_of(words).params if isinstance(one, click.Option) and one.required]
    usage = text.splitlines()[0]
    assert all(f" {one.opts[0]} " in usage for one in required)
    for name, below in sections(text).items():
        if name != "Example":
            marked = ["[required]" in entry for entry in re.split(r"^  (?=-)", below, flags=re.MULTILINE)[1:]]
            assert marked == sorted(marked, reverse=True)
    assert text.count("[required]") == len(required)


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("words", [(), *ALL], ids=" ".join)
def test_nothing_is_cut_and_nothing_is_too_wide(words: tuple[str, ...], width: int) -> None:
    text, command = help_of(words, width), command_of(words)
    assert max(map(len, text.splitlines())) <= max(width, 80)  # an example is longer where one of its options is
    said = [one.help for one in command.params if isinstance(one, click.Option)]
    if isinstance(command, click.Group):
        said = [(one.help or "").split("\n\n")[0] for one in command.commands.values()]
    assert all(flat(one or "") in flat(text) for one in said)


def test_the_help_of_evaluate_has_the_words_and_the_uses_of_its_arguments() -> None:
    """No second list: what an argument says of itself is what stands in the help, under its use."""
    found = {name: flat(text) for name, text in sections(help_of(("evaluate",), 100)).items()}
    uses = {"cluster": "Uncertainty", "control": "Uncertainty", "totals": "Log", "held_out": "Log", "state": "Output"}
    for name, said in parameter_docs(offrank.evaluate).items():
        if name not in ("log", "columns", "executor", "progress", "overwrite"):
            there = [use for use, text in found.items() if flat(first_sentence(said)) in text]
            assert len(there) == 1
            assert there == [uses.get(name, there[0])]
    assert "[default: ips, snips]" in found["Question"]
    assert "[default: 0.95]" in found["Uncertainty"]


READ = {one: "_".join(reversed(one)) if one[0] == "clicks" else "_".join(one) for one in VERBS}
READ |= {("select", "estimators"): "select_estimators", ("select", "clicks"): "select_clicks"}


@pytest.mark.parametrize("words", [one for one in VERBS if isinstance(command_of(one), QuestionCommand)], ids=" ".join)
def test_an_option_says_what_its_argument_says(words: tuple[str, ...]) -> None:
    said = parameter_docs(getattr(offrank, READ[words]))
    options = {str(one.name): one.help for one in command_of(words).params if isinstance(one, click.Option)}
    both = said.keys() & options.keys() - {"columns", "overwrite"}
    assert both
    assert {name: options[name] for name in both} == {name: first_sentence(said[name]) for name in both}


def test_the_kinds_of_intervals_are_all_named() -> None:
    *some, last = sorted(INTERVALS)
    assert first_sentence(parameter_docs(offrank.evaluate)["interval"]) == f"{', '.join(some)} or {last}."


def test_an_example_can_be_copied_at_any_width() -> None:
    for width in (60, 100):
        example = sections(help_of(("evaluate",), width))["Example"]
        whole = " ".join(example.replace("\\\n", " ").split())
        policies = "--target 'top(new_score)' --logging 'plackett_luce(old_score)'"
        assert whole == f"offrank evaluate log.parquet {policies} -e snips -e ipm"
