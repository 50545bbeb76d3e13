"""The command `offrank`: its verbs, those of installed extensions, and the check of every verb's outputs."""

from __future__ import annotations

from functools import wraps
from typing import Any

import click

import offrank

from ..errors import pip_install
from ..language.extensions import ADVERTISED, COMMANDS, installed, load_extension
from ..language.outputs import inputs_in, refuse_inside, refuse_output
from .clicks import evaluate_clicks, fit_clicks, harvest_clicks, judge_clicks, predict_clicks, select_clicks
from .config import CONFIG
from .doctor import doctor
from .inspect import inspect
from .layout import CommandGroup
from .names import estimators, policies
from .options import overwrite, writable
from .running import safely
from .spelled import refuse_misspelt
from .streams import ready
from .verb_options import QuestionCommand, check, compare, evaluate, measure, select_estimators
from .writers import convert, demo, learn, merge, simulate, sql

_WORDS = ("title", "unit", "worth")
"""Options that name no file."""


def protected(verb: click.Command) -> click.Command:
    """Make a verb refuse to write to what it reads; with `--overwrite` it replaces files of others."""
    inner = verb.callback
    assert inner is not None
    if not isinstance(verb, QuestionCommand) and any(one.callback is writable for one in verb.params):
        overwrite(verb)

    @wraps(inner)
    def checked(*given: Any, **options: Any) -> Any:
        _check(click.get_current_context())
        refuse_misspelt(click.get_current_context())
        return inner(*given, **options)

    verb.callback = checked
    return verb


def _check(context: click.Context) -> None:
    """Compare each output with the files that the other options may name."""
    outputs: list[str] = []
    read: list[Any] = [context.meta.get(CONFIG)]
    folders: list[str] = []
    for one in context.command.params:
        value = context.params.get(str(one.name))
        if one.callback is writable or one.name == "checkpoint":
            outputs += [value] if value not in (None, "-") else []
        elif one.name not in _WORDS:
            read.append(value)
            folders += inputs_in(value) if isinstance(one, click.Argument) else []
    for number, path in enumerate(outputs):
        refuse_output(path, [*inputs_in(read), *outputs[:number]], bool(context.params.get("overwrite")))
        for folder in folders:
            refuse_inside(path, folder)


class ExtendedGroup(CommandGroup):
    """Finds commands of other distributions too; only help and the command itself load them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return its own commands, those installed, and those known but not installed."""
        return sorted({*super().list_commands(ctx), *installed(COMMANDS), *ADVERTISED})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; for a known one that is not installed, one that says what to install."""
        own = super().get_command(ctx, cmd_name)
        if own is None and cmd_name in installed(COMMANDS):
            return _command(cmd_name)
        return _missing(cmd_name) if own is None and cmd_name in ADVERTISED else own


def _command(name: str) -> click.Command:
    command: click.Command = load_extension(COMMANDS, name)
    return command


def _missing(name: str) -> click.Command:
    """Return a command that takes any arguments and raises the error of a missing package."""
    known = ADVERTISED[name]
    install = pip_install(package=known.package)
    return click.Command(
        name,
        callback=lambda words: load_extension(COMMANDS, name),  # noqa: ARG005
        params=[click.Argument(["words"], nargs=-1, type=click.UNPROCESSED)],
        help=f"{known.summary}\n\nNot installed: {install}",
        short_help=f"Not installed: {install}",
        context_settings={"ignore_unknown_options": True},
    )


class _Group(ExtendedGroup):
    """Records the command line for the report, and shows an error of any verb as one message."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["offrank.words"] = list(args)
        return super().parse_args(ctx, args)

    def main(self, *given: Any, **known: Any) -> Any:
        ready()
        return safely(super().main)(*given, **known)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(offrank.__version__, prog_name="offrank")
def main() -> None:
    """What would a new ranking have earned, judged from the logs you already have?"""


@main.group(cls=CommandGroup)
def clicks() -> None:
    """Click models: how slates are clicked, learnt from a log."""


@main.group(cls=CommandGroup)
def select() -> None:
    """Which of several candidates to use."""


_verb: click.Command
for _verb in (fit_clicks, evaluate_clicks, harvest_clicks, judge_clicks, predict_clicks):
    clicks.add_command(protected(_verb))
for _verb in (select_clicks, select_estimators):
    select.add_command(protected(_verb))
for _verb in (inspect, evaluate, compare, check, measure, merge, convert, learn, demo, simulate, sql):
    main.add_command(protected(_verb))
for _verb in (doctor, estimators, policies):
    main.add_command(_verb)
