"""States of folds as bytes: what one process has counted, another goes on with.

Reading executes nothing: a state is made of numbers, texts, arrays, tuples, dicts and the classes listed here. The
bytes are a line with the version of this format, a checksum, and compressed: a tree in JSON, then the arrays one after
another, the least significant byte first.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import math
import zlib
from collections import Counter
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from ..errors import StateError
from ..language.files import most_unpacked, refuse_bomb

__all__ = ["SCHEMA", "dumps", "loads"]

SCHEMA = 17
"""The version of the format; it also changes where a state of the same form means something else."""

_WRITTEN = """
    ActionSums=learning.action_rewards Actions=checks.actions ArmRows=estimators.history
    ArmRowsState=estimators.history CellCounts=checks.score_leakage Cells=bounds.cells Chunk=clicks.sessions
    ChunkSums=checks.drift ClusterSums=sums.clusters Content=sums.fingerprint ContextSums=learning.contexts
    Contexts=log.batch CountTable=clicks.count_table Counting=clicks.click_counts CreditSums=checks.credit
    Days=checks.rows DocumentSums=clicks.covariates Examples=learning.examples FileRows=evaluation.state_file
    Fingerprint=sums.fingerprint Gathering=log.texts Graded=metrics.graded Groups=sums.group_by
    Heaviest=evaluation.diagnostics Impressions=checks.rows KeyedCounts=sums.counts Largest=sums.largest
    Moments=sums.moments Pile=clicks.sessions RepeatRows=checks.repeats RowCodes=reward_models.click_halves
    SampledRows=sums.sampled Sessions=clicks.sessions Sketch=sums.sampled Slates=bounds.slates
    SparseFeatures=log.batch Survey=learning.preparation Tally=clicks.sessions Texts=log.texts
    TrainingRows=reward_models.training TrainingState=reward_models.training Unavailable=sums.base
    Weighed=clicks.sessions
"""
_HOMES = dict(one.split("=") for one in _WRITTEN.split())
"""The classes that states are made of. Each has an attribute for every argument of its constructor."""

_MAGIC = b"offrank state "
_CHECKSUM = hashlib.sha256().digest_size
_PLAIN = (type(None), bool, int, float, str)
_SEQUENCES = {"tuple": tuple, "list": list}
_MAPPINGS = {"dict": dict, "Counter": Counter}
_DTYPES = {np.dtype(kind).str for kind in ("?", "u1", "u2", "<u4", "<u8", "i1", "<i2", "<i4", "<i8", "<f4", "<f8")}


def dumps(state: Any) -> bytes:
    """Return a state as bytes; every number is kept to the last bit.

    Raises:
        StateError: it holds a type that no state is made of.

    Examples:
        >>> from offrank.running.states import dumps, loads
        >>> loads(dumps({"rows": 3, "sums": (0.5, None)}))
        {'rows': 3, 'sums': (0.5, None)}
    """
    blocks: list[bytes] = []
    tree = json.dumps(_packed(state, blocks), separators=(",", ":")).encode("ascii")
    body = zlib.compress(b"".join([len(tree).to_bytes(8, "little"), tree, *blocks]), 1)
    return b"%b%d\n" % (_MAGIC, SCHEMA) + hashlib.sha256(body).digest() + body


def loads(data: bytes, where: str = "the state") -> Any:
    """Return the state that `dumps` wrote. where: what it is called in errors, such as the name of its file.

    Raises:
        StateError: these are not the bytes of a state, of one of another version, or of a damaged one.

    Examples:
        >>> offrank.running.states.loads(b"PAR1")
        Traceback (most recent call last):
        ...
        offrank.errors.StateError: the state is not a state of offrank
          what to do: give a file that offrank has written, such as by `--state`
    """
    line, _, rest = data.partition(b"\n")
    version = line.removeprefix(_MAGIC)
    if not line.startswith(_MAGIC) or not version.isdigit():
        remedy = "give a file written by offrank, for example with `--state`"
        raise StateError(f"{where} is not a state of offrank", remedy)
    if int(version) != SCHEMA:
        raise StateError(
            f"{where} has version {int(version)}, but this offrank reads version {SCHEMA}",
            "create it again with this release of offrank",
        )
    body = rest[_CHECKSUM:]
    if hashlib.sha256(body).digest() != rest[:_CHECKSUM]:
        raise _damaged(where, f"the checksum of its {len(body):,} bytes is wrong")
    try:
        whole = _unpacked(body)
        end = 8 + int.from_bytes(whole[:8], "little")
        reader = _Reader(whole, end)
        state = reader.value(json.loads(whole[8:end].decode("ascii")))
    except (ValueError, TypeError, LookupError, zlib.error, RecursionError, MemoryError, pa.ArrowException) as error:
        raise _damaged(where, f"{error}") from error
    if reader.at != len(whole):
        raise _damaged(where, f"{len(whole) - reader.at:,} bytes are left over")
    return state


def _unpacked(body: bytes) -> bytes:
    """Return what `body` unpacks to, unless that would fill the memory."""
    stream = zlib.decompressobj()
    whole = stream.decompress(body, most_unpacked(len(body)) + 1)
    refuse_bomb(len(body), len(whole))
    if not stream.eof:
        raise ValueError("its end is missing")
    return whole


def _damaged(where: str, why: str) -> StateError:
    return StateError(f"{where} is damaged: {why}", "create it again, or copy it again from where it was made")


def _packed(value: Any, blocks: list[bytes]) -> Any:
    """The node of a value in the tree; the bytes of its arrays are appended to `blocks`."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    name = kind.__name__
    if kind is _SEQUENCES.get(name):
        return [name, *(_packed(each, blocks) for each in value)]
    if kind is _MAPPINGS.get(name):
        return [name, *([_packed(key, blocks), _packed(each, blocks)] for key, each in value.items())]
    if isinstance(value, np.ndarray | np.generic):
        return _array(value, blocks)
    if isinstance(value, pa.LargeStringArray) and not value.null_count:
        each = value.cast(pa.large_binary()).to_pylist()
        ends = np.cumsum([len(one) for one in each], dtype=np.int64)
        blocks += [ends.astype("<i8").tobytes(), *each]
        return ["texts", len(each)]
    if name in _HOMES and kind is _class(name):
        return [name, {one: _packed(getattr(value, one), blocks) for one in _arguments(kind)}]
    raise StateError(f"a state with {name} cannot be saved", "this job cannot be saved or resumed")


def _array(value: Any, blocks: list[bytes]) -> list[Any]:
    array = np.asarray(value)
    dtype = array.dtype.newbyteorder("<").str
    if dtype not in _DTYPES:
        raise StateError(f"a state with an array of {array.dtype} cannot be saved", "use arrays of numbers")
    order: Literal["C", "F"] = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    blocks.append(array.astype(dtype, copy=False).tobytes(order))
    return ["number" if isinstance(value, np.generic) else "array", dtype, order, *array.shape]


@dataclass
class _Reader:
    """Reads values from a tree, and their arrays from the bytes behind it. at: where the next array begins."""

    whole: bytes
    at: int

    def value(self, node: Any) -> Any:
        if isinstance(node, _PLAIN):
            return node
        name, *rest = node
        if name in _SEQUENCES:
            return _SEQUENCES[name](self.value(each) for each in rest)
        if name in _MAPPINGS:
            return _MAPPINGS[name]({self.value(key): self.value(each) for key, each in rest})
        if name in ("array", "number"):
            dtype, order, *shape = rest
            found = self.array(dtype, shape).reshape(shape, order=order)
            return found[()] if name == "number" else found
        if name == "texts":
            return self.texts(*rest)
        if name not in _HOMES:
            raise ValueError(f"{name!r} cannot be part of a state")
        [held] = rest
        return _class(name)(**{one: self.value(each) for one, each in held.items()})

    def array(self, dtype: str, shape: list[int]) -> Any:
        """The next array, flat. Its length is checked before any memory is taken."""
        if dtype not in _DTYPES or not all(type(side) is int and side >= 0 for side in shape):
            raise ValueError(f"there is no array of {dtype!r} and shape {shape!r}")
        raw = self.taken(math.prod(shape) * np.dtype(dtype).itemsize)
        if dtype == "|b1" and raw.translate(None, b"\0\1"):
            raise ValueError("a truth value is neither 0 nor 1")
        return np.frombuffer(raw, dtype).astype(np.dtype(dtype).newbyteorder("="))  # a copy can be written to

    def texts(self, count: int) -> pa.Array:
        offsets = np.append(0, self.array("<i8", [count])).astype(np.int64)
        if (np.diff(offsets) < 0).any():
            raise ValueError("the ends of texts are not ascending")
        raw = self.taken(int(offsets[-1]))
        found = pa.LargeStringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(raw))
        found.validate(full=True)
        return found

    def taken(self, size: int) -> bytes:
        raw = self.whole[self.at : self.at + size]
        if len(raw) < size:
            raise ValueError("an array goes beyond the end")
        self.at += size
        return raw


@cache
def _class(name: str) -> Any:
    return getattr(importlib.import_module(f"...{_HOMES[name]}", __name__), name)


@cache
def _arguments(kind: Any) -> tuple[str, ...]:
    """The arguments of a constructor; fields that are not compared are not part of a state."""
    left_out = {one.name for one in fields(kind) if not one.compare} if is_dataclass(kind) else set()
    return tuple(name for name in inspect.signature(kind).parameters if name not in left_out)
