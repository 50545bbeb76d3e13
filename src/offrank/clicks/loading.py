"""Loading of saved click models."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import MissingExtraError, SpellingError, UsageError
from ..folds.counts import join
from ..folds.estimate import Caution
from ..folds.fingerprint import Fingerprint
from ..log.batch import Floats
from ..log.texts import Texts
from . import storage
from .documents import Documents, SlateDocuments
from .fitted import Fitted
from .learnt import Learnt
from .model import click_model
from .parameters import check
from .sessions import Tally


def load(path: str | os.PathLike[str]) -> Fitted:
    """Read a model that `Fitted.save` wrote, exactly as it was. Nothing in the file is executed.

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
            "import the module that defines it, update offrank, or fit the model again",
        ) from error
    except (KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
        raise storage.damaged(path, error) from error
    return fitted


def _fitted(found: Mapping[str, Any]) -> Fitted:
    spelling, tally, by = found["model"], found["tally"], _column(found["by"], "its documents are not in order")
    if not isinstance(spelling, str) or len(spelling) > 10_000:
        raise ValueError("its model is not the spelling of one")
    documents = _documents(found, by)
    tables: dict[str, Any] = {
        kind: {name: storage.decoded(table) for name, table in found[kind].items()}
        for kind in ("parameters", "strength", *(each for each in ("loadings", "features") if each in found))
    }
    learnt = Learnt(
        **tables,
        trace=tuple(storage.decoded(found["trace"]).tolist()),
        rounds=int(found["rounds"]),
        converged=bool(found["converged"]),
        facts=dict(found["facts"]),
        cautions=tuple(_caution(caution) for caution in found["cautions"]),
    )
    read, repeated, skipped = int(tally["impressions"]), float(tally["repeated"]), dict(tally["skipped"])
    met = Tally(read, repeated, skipped, int(tally["ranks"]), int(tally.get("holes", 0)))
    training = _training(found.get("training"))
    rates = _rates(found.get("rank_rates"))
    return Fitted(click_model(spelling), documents, learnt, met, str(found["source"]), training, rates)


def _documents(found: Mapping[str, Any], by: str | None) -> Documents:
    """The documents with their ids; files of earlier releases have none."""
    keys, ids = storage.decoded(found["documents"]), found.get("ids")
    if keys.dtype != np.int64 or keys.ndim != 1 or (keys[1:] <= keys[:-1]).any():
        raise ValueError("its documents are not in order")
    if ids is None:
        return Documents(keys, by)
    item, grouped = storage.decoded(ids["item"]), by is not None
    query, codes = (storage.decoded(ids[name]) if grouped else None for name in ("query", "query_codes"))
    same = item if query is None or codes is None else join(codes[query], item)
    if not np.array_equal(same, keys) or (query is not None and query.min(initial=0) < 0):
        raise ValueError("its ids are not those of its documents")
    texts = ids.get("texts")
    if texts is not None:
        texts = Texts(storage.decoded(texts["codes"]), storage.decoded_texts(texts))
        if len(texts) != len(texts.texts) or (texts.codes[1:] <= texts.codes[:-1]).any():
            raise ValueError("its texts are not in order")
    shown = storage.decoded(ids["shown"]) if "shown" in ids else None
    if shown is not None and shown.shape != keys.shape:
        raise ValueError("its counts are not those of its documents")
    return Documents(keys, by, item, query, codes, texts, shown)


def _training(found: Any) -> Fingerprint | None:
    """The fingerprint of the training rows; files of the first releases have none."""
    if found is None:
        return None
    keys, counts = storage.decoded(found["keys"]), storage.decoded(found["counts"])
    by = _column(found["by"], "its fingerprint of the rows is none")
    return Fingerprint.read(by, False, int(found["rows"]), keys, counts)


def _rates(found: Any) -> Floats | None:
    """The click rates by rank of the training log; files of earlier releases have none."""
    if found is None:
        return None
    rates = storage.decoded(found)
    if rates.ndim != 1 or not rates.size or not ((rates > 0) & (rates < 1)).all():
        raise ValueError("its click rates by rank are none")
    return rates


def _column(found: Any, otherwise: str) -> str | None:
    if not (found is None or type(found) is str):
        raise ValueError(otherwise)
    return found


def _caution(found: Mapping[str, Any]) -> Caution:
    if not all(type(part) is str for part in found.values()):
        raise ValueError("its cautions are no words")
    return Caution(**found)


def _try(fitted: Fitted) -> None:
    """Predict a slate of the first, the last and an unseen document, so that tables that do not fit are found now.

    Invalid numbers are found anywhere in a table.
    """
    parameters, model = fitted.learnt.parameters, fitted.model
    check(parameters, model.roles(), len(fitted.documents))
    document = np.array([[0, len(fitted.documents) - 1, -1]])
    relevance = model.relevance(parameters, document)
    click = model.law(parameters, SlateDocuments(document, np.ones(document.shape, np.bool_))).marginal()
    if not (np.isfinite(relevance).all() and ((click >= 0) & (click <= 1)).all()):
        raise ValueError("its probabilities are none")
