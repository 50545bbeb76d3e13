"""Commands of a script: functions whose keywords are its options, and which give the lines of a table, if any."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from _page import generated

Command = Callable[..., Iterable[str] | None]


def run(file: str, commands: Mapping[Command, str]) -> None:
    """Run the command that is asked for, or all, and print their lines as they come; `--table PAGE` writes them there.

    commands: each with the table of a page that it makes, or nothing. Options have the type of what is usual; of
    several, there may be any number.
    """
    parser = argparse.ArgumentParser()
    known = parser.add_subparsers(metavar="COMMAND")
    for command, mark in commands.items():
        name = command.__name__.replace("_", "-")
        one = known.add_parser(
            name, description=inspect.getdoc(command), formatter_class=argparse.RawDescriptionHelpFormatter
        )
        for option in inspect.signature(command).parameters.values():
            one.add_argument(f"--{option.name.replace('_', '-')}", **_how(option.default))
        if mark:
            one.add_argument("--table", type=Path, metavar="PAGE", help=f"the page whose table {mark!r} is written")
        one.set_defaults(run=command)
    given = vars(parser.parse_args())
    asked, page = given.pop("run", None), given.pop("table", None)
    for command in [asked] if asked else commands:
        lines = []
        for line in command(**given) or ():
            print(line, flush=True)
            lines.append(line)
        if page:
            generated(page, commands[command], lines, f"benchmarks/{Path(file).name}")


def _how(usual: Any) -> dict[str, Any]:
    """How an option is read."""
    if usual is False:
        return {"action": "store_true"}
    if isinstance(usual, tuple):
        return {"nargs": "+", "type": type(usual[0]), "default": usual}
    return {"type": Path if usual is None else type(usual), "default": usual}
