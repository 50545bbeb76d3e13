"""The click models that a job is given: fitted ones, or the files that they were saved to, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from ...clicks.fitted import Fitted
from ...clicks.loading import load
from ...errors import UsageError
from ...options import option

Models = Mapping[str, Any] | Iterable[Any]


def models(given: Models) -> dict[str, Fitted]:
    """Fitted models by name: keys of a dict as they are; a file by its stem, a model by its spelling.

    Raises:
        UsageError: none, two of one name, or what is no fitted click model.
    """
    if isinstance(given, str | PathLike | Fitted):
        given = [given]
    pairs = list(given.items()) if isinstance(given, Mapping) else [(_name(one), one) for one in given]
    if not pairs:
        raise UsageError("there is no model", "give a file that `offrank clicks fit` has written")
    names = [str(name) for name, _ in pairs]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageError(f"two models are called {twice[0]!r}", "give each a name: --model NAME=FILE")
    return {str(name): _fitted(one) for name, one in pairs}


def query_column(found: Mapping[str, Fitted], by: str | None = None) -> str:
    """The column of the queries that graded documents belong to.

    Raises:
        UsageError: the models know of none, or of several, and none is named.
    """
    known = {model.documents.by for model in found.values()} - {None}
    if by is None and len(known) != 1:
        what = "know documents by different columns" if known else "know items by themselves, not by query"
        raise UsageError(f"the models {what}", f"name the column of the queries: {option('by', 'query')}")
    return by or str(known.pop())


def _name(one: Any) -> str:
    return repr(one.model) if isinstance(one, Fitted) else Path(one).stem


def _fitted(one: Any) -> Fitted:
    found = load(one) if isinstance(one, str | PathLike) else one
    if not isinstance(found, Fitted):
        raise UsageError(f"{one!r} is no fitted click model", "fit it first: PBM().fit(log), or `offrank clicks fit`")
    return found
