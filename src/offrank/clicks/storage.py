"""Storage of fitted click models: one file, JSON or packed arrays, written atomically; reading it executes nothing."""

from __future__ import annotations

import base64
import binascii
import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .. import __version__
from ..errors import SpellingError, UsageError
from ..frames import plain
from ..language.files import UNSEALED, is_sealed, regular, sealed_write
from ..log.arrays import DAMAGED, load_arrays, save_arrays
from ..log.rules import MOST_VALUE
from ..log.texts import Texts
from ..sums.counts import join
from ..sums.estimate import Caution
from ..sums.fingerprint import Fingerprint
from .base import FitResult
from .documents import Documents
from .sessions import Tally

FORMAT = "offrank click model"
FORMAT_VERSION = 2
"""Files of version 1 have no checksum."""
PACKED = ".npz"
_UNSEALED = dict([UNSEALED.split()])
_ARRAY = "packed array"
_LONGEST = 1 << 24
"""Bytes of the header of packed arrays."""
_TABLES = ("parameters", "strength", "loadings", "features")

_KINDS = {"f8": "<f8", "f4": "<f4", "i8": "<i8", "i4": "<i4", "u1": "|u1", "b1": "|b1"}
"""Kinds of numbers in a file, each with its bytes, always the least significant byte first."""

_SMALL = 64
"""Arrays of up to this many numbers are written in readable form."""
_SIDES = 8
"""A table of a click model has fewer sides; NumPy computes with up to 32 or 64."""


def write_model(path: str | os.PathLike[str], fitted: Any) -> None:
    """Write a `Fitted`, with `info` as plain numbers, words, lists and dicts: packed arrays by a name in `.npz`."""
    documents, learnt, training = fitted.documents, fitted.learnt, fitted.training
    if training is not None:
        seen = {"by": training.content.key, "rows": training.rows, "counts": training.counts}
    found = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "offrank": __version__,
        "model": repr(fitted),
        "by": documents.by,
        "documents": documents.keys,
        "ids": None if documents.item is None else _ids(documents),
        **{kind: dict(vars(learnt)[kind]) for kind in _TABLES},
        "trace": np.asarray(learnt.trace, dtype=np.float64),
        "rounds": learnt.rounds,
        "converged": learnt.converged,
        "facts": plain(dict(learnt.info)),
        "cautions": plain(learnt.cautions),
        "tally": plain(fitted.tally),
        "source": fitted.source,
        "training": None if training is None else seen | {"keys": training.keys.view(np.int64)},
        "rank_rates": fitted.rank_rates,
    }
    if str(path).endswith(PACKED):
        arrays: list[NDArray[Any]] = []
        header = json.dumps(found, allow_nan=False, default=partial(_numbered, arrays))
        named = {f"array{place}": array for place, array in enumerate(arrays)}
        save_arrays(path, {"header": np.frombuffer(header.encode("ascii"), np.uint8), **named})
        return
    with sealed_write(path) as temporary, temporary.open("w", encoding="ascii", newline="\n") as file:
        text = json.JSONEncoder(indent=1, allow_nan=False, default=encoded).iterencode(found | _UNSEALED)
        file.writelines(text)  # each array is encoded when its turn comes
        file.write("\n")


def _numbered(arrays: list[NDArray[Any]], array: NDArray[Any]) -> dict[str, int]:
    """Add an array to others, and return what stands for it."""
    arrays.append(array.astype(_kind(array), copy=False))
    return {_ARRAY: len(arrays) - 1}


def _ids(documents: Documents) -> dict[str, Any]:
    """The codes of items and queries, and their texts."""
    codes = {name: getattr(documents, name) for name in ("item", "query", "query_codes", "shown")}
    found: dict[str, Any] = {name: array for name, array in codes.items() if array is not None}
    if documents.texts is not None:
        found["texts"] = {"codes": documents.texts.codes} | encoded_texts(documents.texts.texts)
    return found


def read_model(path: str | os.PathLike[str]) -> tuple[str, dict[str, Any]]:
    """Read the spelling of a model that `write_model` wrote, and the other parts by name, exactly as they were.

    Raises:
        UsageError: no such file, not a click model, a damaged one, or one of a later format.
    """
    named = regular(path)
    with damage_told(path):
        sealed = named.is_file() and is_sealed(named)  # first: what is damaged is not looked into
    found = _document(named)
    with damage_told(path):
        if found["version"] > 1 and not sealed:
            raise ValueError("its checksum is missing")
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


def _document(path: Path) -> Mapping[str, Any]:
    """The content of a file of this format."""
    try:
        with path.open("rb") as file:
            found = _unpacked(path) if file.read(2) == b"PK" else json.loads(path.read_bytes())
    except (FileNotFoundError, IsADirectoryError) as error:
        raise UsageError(f"there is no click model {str(path)!r}", "create one with `offrank clicks fit`") from error
    except (*DAMAGED, RecursionError) as error:  # not JSON, not UTF-8, or nested without end
        raise _foreign(path, ": it is neither valid JSON nor packed arrays, or its end is missing") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise _foreign(path)
    if found.get("version") not in (1, FORMAT_VERSION):
        raise UsageError(
            f"{str(path)!r} has version {found.get('version')!r}, written by offrank {found.get('offrank')}",
            f"this offrank reads version {FORMAT_VERSION}: fit the model again",
        )
    return found


def _unpacked(path: Path) -> Any:
    """The header of packed arrays, with these in their places."""
    arrays = load_arrays(path)
    header = arrays["header"]
    if header is None or header.nbytes > _LONGEST:
        raise ValueError("its header is too long")

    def placed(part: dict[str, Any]) -> Any:
        return arrays[f"array{part[_ARRAY]}"] if part.keys() == {_ARRAY} else part

    return json.loads(header.tobytes(), object_hook=placed)


def _foreign(path: str | os.PathLike[str], why: str = "") -> UsageError:
    """The error for a file that is not a click model."""
    return UsageError(f"{str(path)!r} is not a click model{why}", "give a file written by `offrank clicks fit`")


def _stored(found: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    spelling, tally, by = found["model"], found["tally"], _column(found["by"], "its documents are not sorted")
    if not isinstance(spelling, str) or len(spelling) > 10_000:
        raise ValueError("its model has an invalid spelling")
    documents = _known_documents(found, by)
    tables: dict[str, Any] = {
        kind: {name: decoded(table) for name, table in found[kind].items()}
        for kind in (each for each in _TABLES if each in found or each in _TABLES[:2])
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
    training, rates = found.get("training"), found.get("rank_rates")  # files of the first releases have neither
    if training is not None:
        column = _column(training["by"], "its fingerprint of the rows is invalid")
        keys, counts = decoded(training["keys"]), decoded(training["counts"])
        training = Fingerprint.read(column, False, int(training["rows"]), keys, counts)
        if column not in (None, by):
            raise ValueError("the rows it was trained on are grouped by another column")
    if rates is not None:
        rates = decoded(rates)
        if rates.ndim != 1 or not rates.size or not ((rates > 0) & (rates < 1)).all():
            raise ValueError("its click rates by rank are invalid")
    about = {"documents": documents, "learnt": learnt, "tally": met, "source": str(found["source"])}
    return spelling, about | {"training": training, "rank_rates": rates}


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
    found: dict[str, Any] = {"kind": f"{array.dtype.kind}{array.dtype.itemsize}", "shape": list(array.shape)}
    kind = _kind(array)
    if array.size <= _SMALL and (array.dtype.kind != "f" or np.isfinite(array).all()):
        return found | {"values": array.ravel().tolist()}
    return found | {"base64": base64.b64encode(np.ascontiguousarray(array, dtype=kind).data).decode("ascii")}


def _kind(array: NDArray[Any]) -> str:
    """The kind of an array's numbers in a file."""
    kind = f"{array.dtype.kind}{array.dtype.itemsize}"
    if kind not in _KINDS:
        raise TypeError(f"an array of {array.dtype} cannot be stored")
    return _KINDS[kind]


def encoded_texts(texts: pa.Array) -> dict[str, Any]:
    """Texts as their bytes one after another, and the end of each."""
    _, offsets, raw = pa.concat_arrays([texts.cast(pa.large_binary()), pa.array([b""], pa.large_binary())]).buffers()
    ends = np.frombuffer(offsets, np.int64)[1 : len(texts) + 1]
    return {"ends": ends, "bytes": np.frombuffer(raw or b"", np.uint8)[: ends[-1] if len(ends) else 0]}


def decoded_texts(found: Mapping[str, Any]) -> pa.Array:
    """The texts that `encoded_texts` encoded.

    Raises:
        ValueError, TypeError: they are none. KeyError: a part is missing.
    """
    ends, raw = decoded(found["ends"]), found["bytes"]
    raw = (_bytes(raw, "|u1") if isinstance(raw, str) else decoded(raw)).tobytes()  # text: of version 1
    offsets = np.concatenate([[0], ends]).astype(np.int64)
    if ends.ndim != 1 or (np.diff(offsets) < 0).any() or offsets[-1] != len(raw):
        raise ValueError("the ends of its texts do not match its bytes")
    made = pa.LargeStringArray.from_buffers(len(ends), pa.py_buffer(offsets), pa.py_buffer(raw))
    made.validate(full=True)
    return made


def _is_shape(found: Any) -> bool:
    """Whether these are sides of a table that NumPy computes with."""
    return isinstance(found, list) and len(found) < _SIDES and all(type(side) is int and side >= 0 for side in found)


def decoded(found: Mapping[str, Any]) -> NDArray[Any]:
    """The array that `encoded` encoded.

    Raises:
        ValueError, TypeError: it is not one. KeyError: a part is missing.
    """
    if isinstance(found, np.ndarray):
        return found.astype(_kind(found)[1:], copy=False)
    if not isinstance(found, Mapping):
        raise TypeError(f"{found!r} is not an array")
    kind, shape = _KINDS.get(str(found["kind"])), found["shape"]
    if kind is None or not _is_shape(shape):
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
