"""Storage of fitted click models: one JSON file, written atomically; reading it executes nothing."""

from __future__ import annotations

import base64
import binascii
import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .. import __version__
from ..errors import SpellingError, UsageError
from ..frames import plain
from ..language.files import regular, write_text
from ..log.batch import Floats
from ..log.rules import MOST_VALUE
from ..log.texts import Texts
from ..sums.counts import join
from ..sums.estimate import Caution
from ..sums.fingerprint import Fingerprint
from .base import FitResult
from .documents import Documents
from .sessions import Tally

FORMAT = "offrank click model"
FORMAT_VERSION = 1

_KINDS = {"f8": "<f8", "f4": "<f4", "i8": "<i8", "i4": "<i4", "u1": "|u1", "b1": "|b1"}
"""Kinds of numbers in a file, each with its bytes, always the least significant byte first."""

_SMALL = 64
"""Arrays of up to this many numbers are written in readable form."""


class Stored(NamedTuple):
    """The parts of a fitted model, and the spelling of what it is a fit of; see `Fitted`."""

    spelling: str
    documents: Documents
    learnt: FitResult
    tally: Tally
    source: str
    training: Fingerprint | None
    rank_rates: Floats | None


def write_model(path: str | os.PathLike[str], stored: Stored) -> None:
    """Write a fitted model, with `info` as plain numbers, words, lists and dicts."""
    documents, learnt, training, rank_rates = stored.documents, stored.learnt, stored.training, stored.rank_rates
    found = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "offrank": __version__,
        "model": stored.spelling,
        "by": documents.by,
        "documents": encoded(documents.keys),
        "ids": None if documents.item is None else _ids(documents),
        "parameters": {name: encoded(table) for name, table in learnt.parameters.items()},
        "strength": {name: encoded(table) for name, table in learnt.strength.items()},
        "loadings": {name: encoded(table) for name, table in learnt.loadings.items()},
        "features": {name: encoded(table) for name, table in learnt.features.items()},
        "trace": encoded(np.asarray(learnt.trace, dtype=np.float64)),
        "rounds": learnt.rounds,
        "converged": learnt.converged,
        "facts": plain(dict(learnt.info)),
        "cautions": plain(learnt.cautions),
        "tally": plain(stored.tally),
        "source": stored.source,
        "training": None if training is None else _fingerprint(training),
        "rank_rates": None if rank_rates is None else encoded(rank_rates),
    }
    write_text(path, json.dumps(found, indent=1, allow_nan=False) + "\n")


def _ids(documents: Documents) -> dict[str, Any]:
    """The codes of items and queries, and their texts."""
    codes = {name: getattr(documents, name) for name in ("item", "query", "query_codes", "shown")}
    found: dict[str, Any] = {name: encoded(array) for name, array in codes.items() if array is not None}
    if documents.texts is not None:
        found["texts"] = {"codes": encoded(documents.texts.codes)} | encoded_texts(documents.texts.texts)
    return found


def _fingerprint(found: Fingerprint) -> dict[str, Any]:
    keys, counts = encoded(found.keys.view(np.int64)), encoded(found.counts)
    return {"by": found.content.key, "rows": found.rows, "keys": keys, "counts": counts}


def read_model(path: str | os.PathLike[str]) -> Stored:
    """Read the parts that `write_model` wrote, exactly as they were.

    Raises:
        UsageError: no such file, not a click model, a damaged one, or one of a later format.
    """
    found = _document(path)
    with damage_told(path):
        return _stored(found)


@contextmanager
def damage_told(path: str | os.PathLike[str]) -> Iterator[None]:
    """Within this context, errors that damaged content leads to say which file it is that is damaged."""
    try:
        yield
    except SpellingError:  # of a model that is not known here
        raise
    except (KeyError, ValueError, TypeError, IndexError, AttributeError, OverflowError) as error:
        what = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise UsageError(f"the click model {str(path)!r} is damaged: {what}", "fit the model again") from error


def _document(path: str | os.PathLike[str]) -> Mapping[str, Any]:
    """The content of a file of this format."""
    named = regular(path)
    try:
        found = json.loads(named.read_text(encoding="utf-8"))
    except (FileNotFoundError, IsADirectoryError) as error:
        raise UsageError(f"there is no click model {str(path)!r}", "create one with `offrank clicks fit`") from error
    except (ValueError, RecursionError) as error:  # not JSON, not UTF-8, or nested without end
        raise _foreign(path, ": it is not valid JSON, or its end is missing") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise _foreign(path)
    if found.get("version") != FORMAT_VERSION:
        raise UsageError(
            f"{str(path)!r} has version {found.get('version')!r}, written by offrank {found.get('offrank')}",
            f"this offrank reads version {FORMAT_VERSION}: fit the model again",
        )
    return found


def _foreign(path: str | os.PathLike[str], why: str = "") -> UsageError:
    """The error for a file that is not a click model."""
    return UsageError(f"{str(path)!r} is not a click model{why}", "give a file written by `offrank clicks fit`")


def _stored(found: Mapping[str, Any]) -> Stored:
    spelling, tally, by = found["model"], found["tally"], _column(found["by"], "its documents are not sorted")
    if not isinstance(spelling, str) or len(spelling) > 10_000:
        raise ValueError("its model has an invalid spelling")
    documents = _known_documents(found, by)
    tables: dict[str, Any] = {
        kind: {name: decoded(table) for name, table in found[kind].items()}
        for kind in ("parameters", "strength", *(each for each in ("loadings", "features") if each in found))
    }
    for kind in ("strength", "loadings"):
        if unknown := tables.get(kind, {}).keys() - tables["parameters"].keys():
            raise ValueError(f"it has the {kind} of {min(unknown)!r}, which is not one of its tables")
    if any(np.abs(table).max(initial=0) > MOST_VALUE for table in tables.get("loadings", {}).values()):
        raise ValueError("its loadings are too large")
    learnt = FitResult(
        **tables,
        trace=tuple(decoded(found["trace"]).tolist()),
        rounds=int(found["rounds"]),
        converged=bool(found["converged"]),
        info=dict(found["facts"]),
        cautions=tuple(_caution(caution) for caution in found["cautions"]),
    )
    read, repeated, skipped = int(tally["impressions"]), float(tally["repeated"]), dict(tally["skipped"])
    met = Tally(read, repeated, skipped, int(tally["ranks"]), int(tally.get("holes", 0)))
    training = _training(found.get("training"))
    if training is not None and training.content.key not in (None, by):
        raise ValueError("the rows it was trained on are grouped by another column")
    rates = _rates(found.get("rank_rates"))
    return Stored(spelling, documents, learnt, met, str(found["source"]), training, rates)


def _known_documents(found: Mapping[str, Any], by: str | None) -> Documents:
    """The documents with their ids; files of earlier releases have none."""
    keys, ids = decoded(found["documents"]), found.get("ids")
    if keys.dtype != np.int64 or keys.ndim != 1 or (keys[1:] <= keys[:-1]).any():
        raise ValueError("its documents are not sorted")
    if ids is None:
        return Documents(keys, by)
    item, grouped = decoded(ids["item"]), by is not None
    query, codes = (decoded(ids[name]) if grouped else None for name in ("query", "query_codes"))
    same = item if query is None or codes is None else join(codes[query], item)
    if not np.array_equal(same, keys) or (query is not None and query.min(initial=0) < 0):
        raise ValueError("its ids do not match its documents")
    texts = ids.get("texts")
    if texts is not None:
        texts = Texts(decoded(texts["codes"]), decoded_texts(texts))
        if len(texts) != len(texts.texts) or (texts.codes[1:] <= texts.codes[:-1]).any():
            raise ValueError("its texts are not sorted")
    shown = decoded(ids["shown"]) if "shown" in ids else None
    if shown is not None and shown.shape != keys.shape:
        raise ValueError("its counts do not match its documents")
    return Documents(keys, by, item, query, codes, texts, shown)


def _training(found: Any) -> Fingerprint | None:
    """The fingerprint of the training rows; files of the first releases have none."""
    if found is None:
        return None
    keys, counts = decoded(found["keys"]), decoded(found["counts"])
    by = _column(found["by"], "its fingerprint of the rows is invalid")
    return Fingerprint.read(by, False, int(found["rows"]), keys, counts)


def _rates(found: Any) -> Floats | None:
    """The click rates by rank of the training log; files of earlier releases have none."""
    if found is None:
        return None
    rates = decoded(found)
    if rates.ndim != 1 or not rates.size or not ((rates > 0) & (rates < 1)).all():
        raise ValueError("its click rates by rank are invalid")
    return rates


def _column(found: Any, otherwise: str) -> str | None:
    if not (found is None or type(found) is str):
        raise ValueError(otherwise)
    return found


def _caution(found: Mapping[str, Any]) -> Caution:
    if not all(type(part) is str for part in found.values()):
        raise ValueError("its cautions are invalid")
    return Caution(**found)


def encoded(array: NDArray[Any]) -> dict[str, Any]:
    """An array as its kind, its shape, and its numbers or, where there are many, their bytes in base64.

    Raises:
        TypeError: a kind that no click model has.
    """
    kind = f"{array.dtype.kind}{array.dtype.itemsize}"
    if kind not in _KINDS:
        raise TypeError(f"an array of {array.dtype} cannot be stored")
    found: dict[str, Any] = {"kind": kind, "shape": list(array.shape)}
    if array.size <= _SMALL and (array.dtype.kind != "f" or np.isfinite(array).all()):
        return found | {"values": array.ravel().tolist()}
    raw = np.ascontiguousarray(array, dtype=_KINDS[kind]).tobytes()
    return found | {"base64": base64.b64encode(raw).decode("ascii")}


def encoded_texts(texts: pa.Array) -> dict[str, Any]:
    """Texts as their bytes one after another, and the end of each."""
    each = texts.cast(pa.large_binary()).to_pylist()
    ends = np.cumsum([len(one) for one in each], dtype=np.int64)
    return {"ends": encoded(ends), "bytes": base64.b64encode(b"".join(each)).decode("ascii")}


def decoded_texts(found: Mapping[str, Any]) -> pa.Array:
    """The texts that `encoded_texts` encoded.

    Raises:
        ValueError, TypeError: they are none. KeyError: a part is missing.
    """
    ends, raw = decoded(found["ends"]), _bytes(found["bytes"], "|u1").tobytes()
    offsets = np.concatenate([[0], ends]).astype(np.int64)
    if ends.ndim != 1 or (np.diff(offsets) < 0).any() or offsets[-1] != len(raw):
        raise ValueError("the ends of its texts do not match its bytes")
    made = pa.LargeStringArray.from_buffers(len(ends), pa.py_buffer(offsets), pa.py_buffer(raw))
    made.validate(full=True)
    return made


def decoded(found: Mapping[str, Any]) -> NDArray[Any]:
    """The array that `encoded` encoded.

    Raises:
        ValueError, TypeError: it is not one. KeyError: a part is missing.
    """
    if not isinstance(found, Mapping):
        raise TypeError(f"{found!r} is not an array")
    kind, shape = _KINDS.get(str(found["kind"])), found["shape"]
    if kind is None or not isinstance(shape, list) or not all(type(side) is int and side >= 0 for side in shape):
        raise ValueError(f"an array has kind {found['kind']!r} and shape {shape!r}")
    if "values" in found:
        flat = _numbers(found["values"], kind)
    else:
        flat = _bytes(found["base64"], kind)
    if math.prod(shape) != flat.size:
        raise ValueError(f"an array of shape {shape} has {flat.size} numbers")
    return flat.astype(np.dtype(kind).newbyteorder("="), copy=False).reshape(shape)


def _numbers(values: Any, kind: str) -> NDArray[Any]:
    if not isinstance(values, list) or not all(isinstance(value, bool | int | float) for value in values):
        raise ValueError("an array is not a list of numbers")
    if any(abs(value) > MOST_VALUE for value in values):
        raise ValueError(f"a number is beyond {MOST_VALUE:g}")
    try:
        return np.array(values, dtype=kind)
    except OverflowError as error:
        raise ValueError("a number is too large for its array") from error


def _bytes(text: Any, kind: str) -> NDArray[Any]:
    try:
        # frombuffer gives a read-only view; a copy can be written to.
        return np.frombuffer(base64.b64decode(text, validate=True), dtype=kind).copy()
    except (binascii.Error, TypeError) as error:
        raise ValueError("the bytes of an array are damaged") from error
