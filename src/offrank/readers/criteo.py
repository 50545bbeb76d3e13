"""Criteo's one-slot log of the NIPS'17 challenge.

    id |l cost |p inverse propensity |f k:v ...     the product shown
    id |f k:v ...                                   every other candidate

The cost is .001 for a click and .999 for none. Only 10 % of the impressions without a click were
kept, and their `|p` was multiplied by 10 already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, get_args

import pyarrow as pa

from ..log.errors import LogError, UsageError
from .files import expand
from .text import Impression, TextTable, lines, malformed
from .wide import Invalid, WideLog

Propensities = Literal["true", "as-written"]

_CLICKED = {"0.001": 1.0, "0.999": 0.0}
_KEPT = 0.1  # share of the impressions without a click
_ROUNDING = 1e-6  # `|p` has about twelve digits: a propensity this little above 1 is 1


def criteo(
    path: str | Path | Sequence[str | Path],
    *,
    propensities: Propensities = "true",
    invalid: Invalid = "raise",
) -> WideLog:
    """A log of the Criteo NIPS'17 challenge, plain or `.gz`; each impression shows one product.

    Candidates are numbered 0, 1, ... in the order of an impression's lines, so that the product
    shown is always 0; the numbers mean nothing across impressions, and features are not read.
    Columns: slate, candidates, clicks, propensity, inclusion (.1 without a click, else 1), `impression`.

    propensities: "true" takes the factor 10 out of `|p` again, so that `inclusion` corrects the
    sub-sampling once; "as-written" is 1 / `|p` for all rows, which with `inclusion` corrects twice.

    Raises:
        UsageError: not a path, or no such choice of propensities.
        LogError: no file; while reading, a line that is not in the format.
    """
    if propensities not in get_args(Propensities):
        raise UsageError(f"propensities is {propensities!r}", 'say "true" or "as-written"')
    return WideLog(TextTable(expand(path), _Criteo(propensities == "true")), {}, invalid)


@dataclass(frozen=True)
class _Criteo:
    """Lines to impressions. A line with `|l` begins the next one."""

    true: bool
    schema: ClassVar = pa.schema(
        {
            "slate": pa.list_(pa.int64()),
            "candidates": pa.list_(pa.int64()),
            "clicks": pa.list_(pa.float64()),
            "propensity": pa.float64(),
            "inclusion": pa.float64(),
            "impression": pa.string(),
        }
    )

    def impressions(self, path: str) -> Iterator[Impression]:
        head, candidates = None, 0
        for number, line in lines(path):
            name, _, rest = line.partition("|")
            name = name.strip()
            if rest.startswith("l "):
                if head is not None:
                    yield self._impression(head, candidates)
                head, candidates = (name, *self._shown(path, number, line, rest)), 1
            elif head is not None and name == head[0] and rest.startswith("f"):
                candidates += 1
            elif name or rest:
                raise _unexpected(path, number, line)
        if head is not None:
            yield self._impression(head, candidates)

    def _shown(self, path: str, number: int, line: str, rest: str) -> tuple[float, float]:
        """(click, inverse propensity) of the product shown."""
        fields = rest.split("|", 2)
        click = _CLICKED.get(fields[0][1:].strip())
        inverse = fields[1] if len(fields) > 1 else ""
        try:
            if click is not None and inverse.startswith("p "):
                return click, float(inverse[1:])
        except ValueError:
            pass
        raise _unexpected(path, number, line)

    def _impression(self, head: tuple[str, float, float], candidates: int) -> Impression:
        name, click, inverse = head
        inclusion = 1.0 if click else _KEPT
        if self.true:
            inverse *= inclusion
        propensity = 1 / inverse if inverse else 0.0
        if 1 < propensity <= 1 + _ROUNDING:
            propensity = 1.0
        return ([0], list(range(candidates)), [click], propensity, inclusion, name), {}


def _unexpected(path: str, number: int, line: str) -> LogError:
    return malformed(
        path,
        number,
        line,
        "'id |l cost |p inverse_propensity |f ...' (cost 0.001 or 0.999), or 'id |f ...' below it",
        "give the challenge's training file as it was published; its test file says nothing of clicks",
    )
