"""What every result says of its making: versions, the time, and the call that repeats it."""

from __future__ import annotations

import datetime as dt
import platform
from collections.abc import Callable, Mapping
from functools import cache
from importlib import metadata
from inspect import signature
from os import PathLike, fspath
from typing import Any

from ..language.argument import plain_argument


def versions() -> dict[str, str]:
    """Return the versions that a reader needs to repeat the numbers."""
    names = ("offrank", "numpy", "numba", "pyarrow")
    return {"python": platform.python_version()} | {name: _version(name) for name in names}


def now() -> str:
    """Return the time of the run in UTC."""
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def call(verb: Callable[..., Any], log: Any, arguments: Mapping[str, Any]) -> str:
    """Return the Python call that repeats a job; keywords that are equal to their defaults are left out.

    log: the first argument: its path, or `log` for an object.
    """
    first = repr(fspath(log)) if isinstance(log, str | PathLike) else "log"
    keywords = (one for one in signature(verb).parameters.values() if one.kind is one.KEYWORD_ONLY)
    defaults = {one.name: one.default for one in keywords}
    values = plain_argument(arguments).items()
    words = [f"{name}={value!r}" for name, value in values if name not in defaults or value != defaults[name]]
    return f"{verb.__module__.partition('.')[0]}.{verb.__name__}({', '.join([first, *words])})"


@cache
def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
