"""Numbers in another unit: what one unit of the log is worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NUMBERS = ("value", "low", "high", "standard_error", "detectable", "truth")
_INTERVALS = ("difference", "logged", "value")


def priced(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with every amount multiplied by its `worth`; shares, weights and click rates stay as they are."""
    factor = document.get("worth")
    if factor is None:
        return dict(document)

    def times(record: Mapping[str, Any]) -> dict[str, Any]:
        found = dict(record)
        for name in _NUMBERS:
            if isinstance(found.get(name), float | int):
                found[name] = found[name] * factor
        for name in _INTERVALS:
            if isinstance(found.get(name), Mapping):
                found[name] = times(found[name])
        return found

    verdicts = {name: times(one) for name, one in (document.get("verdicts") or {}).items()}
    rows = {name: [times(one) for one in document.get(name) or []] for name in ("estimates", "comparisons")}
    logged = document.get("logged")
    return {**document, **rows, "verdicts": verdicts, "logged": None if logged is None else times(logged)}
