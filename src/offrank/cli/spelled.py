"""Spellings on the command line: a misspelt name is refused before anything is imported that evaluates."""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import CompletionItem

from ..language.from_text import named
from ..language.registry import extended, homes_written
from ..language.spelling import refuse_unknown, split

_PACKAGES = {"policy": ("policies",), "estimator": ("estimators", "reward_models"), "kind of interval": ("inference",)}
_ALIASES = {"estimator": ("dm",)}


def names_of(kind: str) -> list[str]:
    """Return the names that a spelling of this kind may begin with: of a policy, an estimator, a kind of interval."""
    return sorted(
        {*(name for one in _PACKAGES[kind] for name in homes_written(f"offrank.{one}")), *_ALIASES.get(kind, ())}
    )


class SpelledType(click.ParamType):  # type: ignore[type-arg]  # no generic type before click 8.4
    """The type of an option that spells a policy, an estimator (or several, `ips, snips`), or a kind of interval."""

    def __init__(self, kind: str) -> None:
        self.name, self._many = kind, kind == "estimator"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the text as it is.

        Raises:
            SpellingError: it begins with a name that nothing has.
        """
        whole = str(value)
        for text in split(whole) if self._many else [named(whole, whole)[1]]:
            refuse_unknown(text, lambda: names_of(self.name), self.name, extended, within=self.name == "policy")
        return whole

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names that begin so."""
        name, equals, begun = incomplete.rpartition("=")
        return [CompletionItem(f"{name}{equals}{one}") for one in names_of(self.name) if one.startswith(begun)]


class ColumnType(click.ParamType):  # type: ignore[type-arg]
    """The type of an option that names a column of the log: see `columns.refuse_misspelt`."""

    name = "column"


class LogType(click.ParamType):  # type: ignore[type-arg]  # no generic type before click 8.4
    """The type of LOG: anything that `read_log` takes as a text; a shell completes it as a file."""

    name = "log"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Let the shell name files."""
        return [CompletionItem(incomplete, type="file")]
