"""How the help of a command is laid out: options by their use, those that are required first, and nothing cut off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import click

USES = {"question": "Question", "log": "Log", "uncertainty": "Uncertainty", "output": "Output", "run": "Running"}
"""What options are used for, in the order of the help, each with its heading."""
_EXAMPLE = "offrank "
"""How a paragraph begins that is an example to copy."""


class UsedOption(click.Option):
    """An option that knows what it is used for: one of USES."""

    def __init__(self, *given: Any, use: str = "question", **known: Any) -> None:
        super().__init__(*given, **known)
        self.use = use


def option(*flags: str, use: str = "question", **known: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return an option that is used for this."""
    return click.option(*flags, cls=UsedOption, use=use, **known)


class VerbCommand(click.Command):
    """A command whose help has its required options in the usage, and its options in groups."""

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return the words after the name of the command: its required options, then as click does."""
        required = [one for one in self.get_params(ctx) if isinstance(one, click.Option) and one.required]
        return [*(f"{one.opts[0]} {one.make_metavar(ctx)}" for one in required), *super().collect_usage_pieces(ctx)]

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the command does; an example is broken only before an option, so that it can be copied."""
        said, examples = _parts(self.help or "")
        for text in said:
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(text)
        if examples:
            with formatter.section("Example"):
                for example in examples:
                    pieces = example.replace(" -", "\0-").split("\0")
                    formatter.write("".join(f"  {line}\n" for line in _lines(pieces, formatter.width - 4)))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options of each use under its heading."""
        found: dict[str, list[tuple[bool, tuple[str, str]]]] = {use: [] for use in USES}
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx) if isinstance(one, click.Option) else None
            if record is not None:
                use = one.use if isinstance(one, UsedOption) else "run"
                found[use].append((one.required, record))
        for use, records in found.items():
            if records:
                with formatter.section(USES[use]):
                    formatter.write_dl([record for _, record in sorted(records, key=lambda one: not one[0])])


command: Callable[..., Callable[[Callable[..., Any]], click.Command]] = partial(click.command, cls=VerbCommand)
"""The decorator that makes a `VerbCommand` of a function."""


class CommandGroup(click.Group):
    """A group whose help has the whole first sentence of each command, on as many lines as it needs."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, each with its summary."""
        named = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        shown = [(name, one, (one.help or "").split("\n\n")[0]) for name, one in named if one and not one.hidden]
        rows = [(name, " ".join((one.short_help or first).split())) for name, one, first in shown]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


def _parts(text: str) -> tuple[list[str], list[str]]:
    """Return the paragraphs of a help, and the examples among them."""
    paragraphs = [" ".join(one.split()) for one in text.split("\n\n")]
    told = [one for one in paragraphs if one and not one.startswith(_EXAMPLE)]
    return told, [one for one in paragraphs if one.startswith(_EXAMPLE)]


def _lines(pieces: list[str], width: int) -> Iterator[str]:
    line = pieces[0]
    for piece in pieces[1:]:
        if len(line) + len(piece) + 3 > width:
            yield f"{line} \\"
            line = f"  {piece}"
        else:
            line += f" {piece}"
    yield line
