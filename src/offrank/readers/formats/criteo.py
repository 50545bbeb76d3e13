"""Criteo's one-slot log of the NIPS'17 challenge.

    id |l cost |p inverse propensity |f k:v ...     the product shown
    id |f k:v ...                                   every other candidate

The cost is .001 for a click and .999 for none. Only 10 % of the impressions without a click were
kept, and their `|p` was multiplied by 10 already.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa

from ...errors import LogError, UsageError
from ..beginning import Beginning
from ..files import expand
from ..text import Impression, TextTable, lines, malformed, pairs, words
from ..wide import Invalid, WideLog
from .registry import READERS, Reader

Propensities = Literal["true", "as-written"]

_CLICKED = {"0.001": 1.0, "0.999": 0.0}
_HIGHEST = (1 << 31) - 1
_KEPT = 0.1  # share of the impressions without a click
_ROUNDING = 1e-6  # `|p` has about twelve digits: a propensity this little above 1 is 1


@READERS.register
@Reader
def criteo(
    path: str | Path | Sequence[str | Path], *, propensities: Propensities = "true", invalid: Invalid = "raise"
) -> WideLog:
    """Read a log of the Criteo NIPS'17 challenge, plain or `.gz`; each impression shows one product.

    Candidates are numbered 0, 1, ... in the order of an impression's lines, so that the product
    shown is always 0; the numbers mean nothing across impressions.
    Columns: slate, candidates, clicks, propensity, inclusion (.1 without a click, else 1), features and
    feature_values (as the file numbers them), `impression`.

    propensities: "true" removes the factor 10 from `|p`, so that `inclusion` corrects the
    sub-sampling once; "as-written" is 1 / `|p` for all rows, which with `inclusion` corrects twice.

    Raises:
        UsageError: the argument is not a path, or there is no such choice of propensities.
        LogError: there is no file; while reading, a line is not in the format.
    """
    if propensities not in get_args(Propensities):
        raise UsageError(f"propensities is {propensities!r}", 'use "true" or "as-written"')
    read = partial(_impressions, propensities == "true")
    return WideLog(TextTable(expand(path), _SCHEMA, read, _PARSED), {}, invalid)


@criteo.recognised
def _recognised(beginning: Beginning) -> dict[str, Any] | None:
    first = beginning.text.partition("\n")[0]
    return {} if re.fullmatch(r"\S+ \|l \S+ \|p [^\s|]+ ?\|f .*", first) else None


_Head = tuple[str, float, float]
"""Id, click and inverse propensity of an impression."""

_Line = tuple[int, str]
"""Line number and features, `f k:v ...`."""


_SCHEMA = pa.schema(
    {
        "slate": pa.list_(pa.int64()),
        "candidates": pa.list_(pa.int64()),
        "clicks": pa.list_(pa.float64()),
        "propensity": pa.float64(),
        "inclusion": pa.float64(),
        "features": pa.list_(pa.list_(pa.int32())),
        "feature_values": pa.list_(pa.list_(pa.float64())),
        "impression": pa.string(),
    }
)


def _impressions(true: bool, path: str) -> Iterator[Impression]:
    """Yield the impressions of a file, each from its line with `|l` up to the next. true: see `criteo`."""
    head: _Head | None = None
    features: list[_Line] = []
    for number, line in lines(path):
        name, _, rest = line.partition("|")
        name = name.strip()
        if rest.startswith("l "):
            if head is not None:
                yield _impression(true, head, features)
            head, features = (name, *_shown(path, number, line, rest)), []
        elif head is None or name != head[0] or not rest.startswith("f"):
            if name or rest:
                raise _unexpected(path, number, line)
            continue
        features.append((number, rest.rpartition("|")[2]))
    if head is not None:
        yield _impression(true, head, features)


def _shown(path: str, number: int, line: str, rest: str) -> tuple[float, float]:
    """Return (click, inverse propensity) of the product shown."""
    fields = rest.split("|", 2)
    click = _CLICKED.get(fields[0][1:].strip())
    inverse = fields[1] if len(fields) > 1 else ""
    try:
        if click is not None and inverse.startswith("p "):
            return click, float(inverse[1:])
    except ValueError:
        pass
    raise _unexpected(path, number, line)


def _impression(true: bool, head: _Head, features: list[_Line]) -> Impression:
    name, click, inverse = head
    inclusion = 1.0 if click else _KEPT
    if true:
        inverse *= inclusion
    propensity = 1 / inverse if inverse else 0.0
    if 1 < propensity <= 1 + _ROUNDING:
        propensity = 1.0
    candidates = list(range(len(features)))
    return ([0], candidates, [click], propensity, inclusion, features, features, name), {}


def _features(values: bool, path: str, impressions: Sequence[list[_Line]]) -> pa.Array:
    """Return the indices, or the values, of the features of each line of each impression."""
    flat = [line for impression in impressions for line in impression]
    text = "\n".join(features.strip()[1:] for _, features in flat).encode()
    begin, end, counts = words(text)
    _, indices, held, none = pairs(text, begin, end)
    wrong = none | (indices < 0) | (indices > _HIGHEST)
    if wrong.any():
        number, features = flat[int(np.searchsorted(np.cumsum(counts), wrong.argmax(), side="right"))]
        raise malformed(path, number, features, "features as 'index:number'", "use the file as published")
    rows, stops = (np.append(0, np.cumsum(n)).astype(np.int32) for n in ([len(one) for one in impressions], counts))
    return pa.ListArray.from_arrays(rows, pa.ListArray.from_arrays(stops, held if values else indices.astype(np.int32)))


_PARSED = {"features": partial(_features, False), "feature_values": partial(_features, True)}


def _unexpected(path: str, number: int, line: str) -> LogError:
    return malformed(
        path,
        number,
        line,
        "'id |l cost |p inverse_propensity |f ...' (cost 0.001 or 0.999), or 'id |f ...' below it",
        "use the challenge's training file as published; its test file contains no clicks",
    )
