"""What other distributions add to offrank, found by their entry points and loaded when it is used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import MissingExtraError, pip_install

COMMANDS = "offrank.commands"
"""The group of entry points whose objects are commands of click, as `offrank NAME`."""
FUNCTIONS = "offrank.functions"
"""The group of entry points whose objects are functions that offrank calls by name."""


@dataclass(frozen=True)
class Extension:
    """An extension that offrank knows by name; package: what to install; summary: what it does, in a sentence."""

    package: str
    summary: str


ADVERTISED = {
    "plan": Extension("offrank-papers", "What to log, so that TARGET can be judged, and what that costs."),
    "reproduce": Extension("offrank-papers", "Reproduce a paper: its tables, plots and claims beside ours."),
}
"""Extensions that are named even where they are not installed."""


def installed(group: str) -> set[str]:
    """Return the names of the installed extensions of a group."""
    from importlib.metadata import entry_points

    return entry_points(group=group).names


def load_extension(group: str, name: str) -> Any:
    """Return the object of an extension.

    Raises:
        MissingExtraError: the package that has it is not installed.
    """
    from importlib.metadata import entry_points

    for found in entry_points(group=group, name=name):
        return found.load()
    package = "offrank-papers"
    raise MissingExtraError(f"{name} needs the package {package}, which is missing", pip_install(package=package))
