"""All exceptions that offrank raises on purpose, as one tree.

Catch the root or any branch:

    OffrankError
    |-- UsageError              an argument that cannot work (also a ValueError)
    |   |-- ArgumentError       a verb has no such argument (also a TypeError)
    |   |-- SpellingError       a policy or estimator that cannot be read
    |   `-- AbilityError        a policy asked for what it cannot know
    |-- LogError                the log breaks a rule
    |   |-- ColumnError         a column is missing or of the wrong kind
    |   |-- RowError            a row breaks a rule: file, row, column, rule, remedy
    |   `-- EmptyLogError       no impressions
    |-- StateError              a saved state is damaged, or does not fit the others
    |-- SupportError            the log cannot answer the question
    |   |-- NoOverlapError      the target never shows what was logged (also a KeyError: no result holds it)
    |   |   `-- NoDivisorError  an outcome is divided by a mean that may be 0
    |   `-- ImpossibleSlateError  the logging policy says a logged slate cannot happen
    `-- MissingExtraError       an optional library is not installed (also an ImportError)
"""

from __future__ import annotations

import importlib
from typing import Any

from .wording import Style, worded

_LONGEST = 4000
"""Characters of a message: names and values that are shown in it may have any length."""

_NAMES = """
    AbilityError ArgumentError ColumnError EmptyLogError ImpossibleSlateError LogError MissingExtraError NoDivisorError
    NoOverlapError OffrankError RowError SpellingError StateError SupportError UsageError optional
"""
__all__ = [*_NAMES.split()]  # noqa: PLE0604


class OffrankError(Exception):
    """The base class of all errors, with what happened and how to fix it.

    Parameters:
        message: what happened.
        remedy: how to fix it.

    Examples:
        >>> try:
        ...     offrank.policies.policy("tpo(score)")
        ... except offrank.OffrankError as error:
        ...     print(error.message)
        unknown policy 'tpo'
    """

    code = "error"

    def __init__(self, message: str, remedy: str = "") -> None:
        message, remedy = _shortened(message), _shortened(remedy)
        super().__init__(message, remedy)
        self.message = message
        self.remedy = remedy

    def to_dict(self) -> dict[str, str]:
        """Code, message and remedy.

        Returns:
            The three by name, without the remedy's style.

        Examples:
            >>> offrank.OffrankError("the file is empty", "give another").to_dict()["remedy"]
            'give another'
        """
        return {"code": self.code, "message": self.message, "remedy": self.remedy}

    def said(self, style: Style) -> str:
        """Return the message and the remedy, in words for Python or the command line.

        Parameters:
            style: "python" or "cli".

        Returns:
            One line, or two.

        Examples:
            >>> print(offrank.OffrankError("the file is empty", "give another").said("python"))
            the file is empty
              what to do: give another
        """
        message, remedy = worded(self.message, style), worded(self.remedy, style)
        return f"{message}\n  what to do: {remedy}" if remedy else message

    def __str__(self) -> str:
        return self.said("python")


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


class UsageError(OffrankError, ValueError):
    """An argument cannot work."""

    code = "usage"


class ArgumentError(UsageError, TypeError):
    """A verb has no argument of this name; the message says which is meant."""


class SpellingError(UsageError):
    """A policy or estimator cannot be read."""


class AbilityError(UsageError):
    """A policy lacks a required ability."""

    code = "ability"


class LogError(OffrankError):
    """The log breaks a rule."""

    code = "log"


class ColumnError(LogError):
    """A column is missing or has the wrong kind; `column` is its name where it is missing."""

    code = "column"
    column: str | None = None


class EmptyLogError(LogError):
    """The log has no impressions."""

    code = "empty-log"


class RowError(LogError):
    """A row breaks a rule; `file`, `row` (the first is 0), `column` and `rule` say which, of a text also its `line`."""

    code = "row"

    def __init__(self, file: str, row: int, column: str, rule: str, detail: str, remedy: str, line: int = 0) -> None:
        where = f"{file}, line {line}" if line else file
        super().__init__(f"{where}, row {row} (the first is 0), column {column!r}: {detail} [{rule}]", remedy)
        self.file, self.row, self.column, self.rule, self.detail, self.line = file, row, column, rule, detail, line

    def __reduce__(self) -> tuple[type[RowError], tuple[Any, ...]]:
        return type(self), (self.file, self.row, self.column, self.rule, self.detail, self.remedy, self.line)


class StateError(OffrankError):
    """A saved state is damaged, is of another version, or does not fit the others."""

    code = "state"


class SupportError(OffrankError):
    """The log cannot answer the question."""

    code = "support"


class NoOverlapError(SupportError, KeyError):
    """The target never shows what was logged, so the log says nothing about it: every weight is zero, or below 1e-150.

    Use an item-level estimator or a policy closer to the logged one, or log with more randomness.
    """

    code = "no-overlap"


class NoDivisorError(NoOverlapError):
    """An outcome is divided by a mean that is not clearly above 0."""

    code = "no-divisor"


class ImpossibleSlateError(SupportError):
    """The logging policy gives probability zero to a slate that was logged, so it did not draw it.

    Check score column, temperature and candidates, or use the logged propensities.
    """

    code = "impossible-slate"


class MissingExtraError(OffrankError, ImportError):
    """An optional library is not installed."""

    code = "missing-extra"


def pip_install(*extras: str, package: str = "offrank") -> str:
    """The command that installs extras of offrank, or a package beside it, from where this offrank is from."""
    import json  # all of them here, since every command would wait for them
    import shlex
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import unquote, urlparse

    try:
        origin = json.loads(distribution("offrank").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        origin = {}
    url, named = origin.get("url", ""), f"[{','.join(extras)}]" if extras else ""
    if "dir_info" in origin:
        folder = unquote(urlparse(url).path)
        package = {"offrank": folder, "offrank-papers": f"{folder}/reproductions"}[package]
    elif "vcs_info" in origin:
        part = "" if package == "offrank" else "#subdirectory=reproductions"
        named += f" @ {origin['vcs_info']['vcs']}+{url}{part}"
    elif url:  # a wheel, and that of the package beside it is in the same folder
        named += " @ " + url.replace("/offrank-", f"/{package.replace('-', '_')}-")
    return "pip install " + shlex.quote(package + named)


def optional(module: str, needing: str, extra: str, otherwise: str = "") -> Any:
    """Import an optional library's module. needing: who needs it, for the error; otherwise: what to do without it.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(f"{needing}, which is missing", pip_install(extra) + otherwise) from error
