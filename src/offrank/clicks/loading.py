"""Fitted click models from the files that they were saved to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import MissingExtraError, SpellingError, UsageError
from ..folds.estimate import Caution
from ..folds.fingerprint import Fingerprint
from . import storage
from .documents import Documents, Slots
from .fitted import Fitted
from .learnt import Learnt
from .model import ClickModel
from .named import click_model
from .parameters import check
from .sessions import Tally


def load(path: str | os.PathLike[str]) -> Fitted:
    """Read what `Fitted.save` wrote: the same model, to the last bit. Nothing in the file is executed.

    Raises:
        UsageError: no such file, not a click model, a damaged one, or one of a later format.
        MissingExtraError: a neural model, and the extra `neural` is not installed.
    """
    found = storage.read(path)
    try:
        fitted = _fitted(found)
        _try(fitted)
    except MissingExtraError:
        raise
    except SpellingError as error:
        raise UsageError(
            f"{str(path)!r} holds a model that this offrank does not know: {error.message}",
            "update offrank, or fit the model again",
        ) from error
    except (KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
        raise storage.damaged(path, error) from error
    return fitted


def _fitted(found: Mapping[str, Any]) -> Fitted:
    tally = found["tally"]
    learnt = Learnt(
        parameters={name: storage.decoded(table) for name, table in found["parameters"].items()},
        strength={name: storage.decoded(table) for name, table in found["strength"].items()},
        trace=tuple(storage.decoded(found["trace"]).tolist()),
        rounds=int(found["rounds"]),
        converged=bool(found["converged"]),
        facts=dict(found["facts"]),
        cautions=tuple(_caution(caution) for caution in found["cautions"]),
    )
    return Fitted(
        _model(found["model"]),
        _documents(found),
        learnt,
        Tally(
            int(tally["impressions"]),
            float(tally["repeated"]),
            dict(tally["skipped"]),
            int(tally["ranks"]),
            int(tally.get("holes", 0)),
        ),
        str(found["source"]),
        _training(found.get("training")),
    )


def _training(found: Any) -> Fingerprint | None:
    """The rows that it was learnt from; files of the first releases do not say."""
    if found is None:
        return None
    by, keys, counts = found["by"], storage.decoded(found["keys"]), storage.decoded(found["counts"])
    if not (by is None or type(by) is str):
        raise ValueError("its fingerprint of the rows is none")
    return Fingerprint.read(by, False, int(found["rows"]), keys, counts)


def _model(spelling: Any) -> ClickModel:
    if not isinstance(spelling, str) or len(spelling) > 10_000:
        raise ValueError("its model is not the spelling of one")
    return click_model(spelling)


def _documents(found: Mapping[str, Any]) -> Documents:
    keys, by = storage.decoded(found["documents"]), found["by"]
    if keys.dtype != np.int64 or keys.ndim != 1 or (np.diff(keys) <= 0).any() or not (by is None or type(by) is str):
        raise ValueError("its documents are not in order")
    return Documents(keys, by)


def _try(fitted: Fitted) -> None:
    """Ask for a slate of the first document, the last one and an unseen one: tables that do not fit are found now.

    Numbers that no table can hold are found wherever they stand.
    """
    check(fitted.learnt.parameters, fitted.model.roles(), len(fitted.documents))
    document = np.array([[0, len(fitted.documents) - 1, -1]])
    parameters = fitted.learnt.parameters
    relevance = fitted.model.relevance(parameters, document)
    click = fitted.model.law(parameters, Slots(document, np.ones(document.shape, np.bool_))).marginal()
    if not (np.isfinite(relevance).all() and ((click >= 0) & (click <= 1)).all()):
        raise ValueError("its probabilities are none")


def _caution(found: Mapping[str, Any]) -> Caution:
    if not all(type(part) is str for part in found.values()):
        raise ValueError("its cautions are no words")
    return Caution(**found)
