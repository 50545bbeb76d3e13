"""What every result says of its making: the versions, the time, and the call that repeats it."""

from __future__ import annotations

import datetime as dt
import platform
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any


def versions() -> dict[str, str]:
    """Return the versions that a reader needs to repeat the numbers."""
    names = ("offrank", "numpy", "numba", "pyarrow")
    return {"python": platform.python_version()} | {name: _version(name) for name in names}


def now() -> str:
    """Return the time of the run in UTC."""
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def call(function: str, first: str, arguments: Mapping[str, Any], defaults: Mapping[str, Any] | None) -> str:
    """Return the Python call that repeats a job; arguments equal to their defaults are left out."""
    words = [first] + [f"{name}={value!r}" for name, value in arguments.items() if (defaults or {}).get(name) != value]
    return f"offrank.{function}({', '.join(words)})"


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def spelled(found: Sequence[Any] | Mapping[str, Any]) -> Any:
    """Replace objects by their spelling."""
    if isinstance(found, Mapping):
        return {name: repr(value) for name, value in found.items()}
    return [repr(value) for value in found]
