"""Click models as they are given to a verb: fitted ones, their files, or simulated users, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..wording import Option, Wording
from .evaluation import Predictor
from .fitted import Fitted
from .model import load

Models = Mapping[str, Any] | Iterable[Any]


def models(given: Models) -> dict[str, Fitted]:
    """Return fitted models by name: dict keys as given, a file by its stem, a model by its spelling.

    Raises:
        UsageError: none, two of one name, or what is no fitted click model.
    """
    return {name: fitted(one) for name, one in predictors(given).items()}


def predictors(given: Models) -> dict[str, Predictor]:
    """Return fitted models and simulated users by name.

    Raises:
        UsageError: none, two of one name, or what does not predict clicks.
    """
    if isinstance(given, str | PathLike) or not isinstance(given, Iterable):
        given = [given]
    pairs = list(given.items()) if isinstance(given, Mapping) else [(_name(one), one) for one in given]
    if not pairs:
        raise UsageError("there is no model", "give a file written by `offrank clicks fit`")
    names = [str(name) for name, _ in pairs]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageError(f"two models are called {twice[0]!r}", "give each a name: --model NAME=FILE")
    return {str(name): _predictor(one) for name, one in pairs}


def fitted(one: Any) -> Fitted:
    """Return a fitted model.

    Raises:
        UsageError: it is not one.
    """
    if not isinstance(one, Fitted):
        raise UsageError(
            f"{one!r} is not a fitted click model", "fit it first: PBM().fit(log), or `offrank clicks fit`"
        )
    return one


def query_column(found: Mapping[str, Fitted], by: str | None = None) -> str:
    """Return the column that holds the query of each graded document.

    Raises:
        UsageError: the models have no such column, or several, and none is named.
    """
    known = {model.documents.by for model in found.values()} - {None}
    if by is None and len(known) != 1:
        what = "identify documents by different columns" if known else "identify documents by item alone, not by query"
        raise UsageError(f"the models {what}", Wording("name the column of the queries: {}", Option("by", "query")))
    return by or str(known.pop())


def _name(one: Any) -> str:
    if isinstance(one, Fitted):
        return repr(one.model)
    return Path(one).stem if isinstance(one, str | PathLike) else str(one)


def _predictor(one: Any) -> Predictor:
    found: Predictor = load(one) if isinstance(one, str | PathLike) else one
    return found if not isinstance(found, type) and hasattr(found, "law") and hasattr(found, "needs") else fitted(one)
