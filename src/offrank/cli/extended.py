"""A group of commands, with those of installed extensions."""

from __future__ import annotations

import click

from ..language.extensions import COMMANDS, KNOWN, installed, load
from .layout import CommandGroup


class ExtendedGroup(CommandGroup):
    """Finds commands of other distributions too; only help and the command itself load them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return its own commands, those installed, and those known but not installed."""
        return sorted({*super().list_commands(ctx), *installed(COMMANDS), *KNOWN})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; for a known one that is not installed, one that says what to install."""
        own = super().get_command(ctx, cmd_name)
        if own is None and cmd_name in installed(COMMANDS):
            return _command(cmd_name)
        return _missing(cmd_name) if own is None and cmd_name in KNOWN else own


def _command(name: str) -> click.Command:
    command: click.Command = load(COMMANDS, name)
    return command


def _missing(name: str) -> click.Command:
    """Return a command that takes any arguments and raises the error of a missing package."""
    known = KNOWN[name]
    return click.Command(
        name,
        callback=lambda words: load(COMMANDS, name),  # noqa: ARG005
        params=[click.Argument(["words"], nargs=-1, type=click.UNPROCESSED)],
        help=f"{known.summary}\n\nNot installed: pip install {known.package}",
        short_help=f"Not installed: pip install {known.package}",
        context_settings={"ignore_unknown_options": True},
    )
