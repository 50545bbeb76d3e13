"""Names of a package that are imported on first use: those that its text imports for type checkers alone."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def homes(file: str) -> dict[str, str]:
    """Public name -> the module of the package that defines it, empty for a module, of the indented imports of a file.

    They are read off the text: a table of them would be a second list of what is there.
    """
    with open(file, encoding="utf-8") as text:  # noqa: PTH123  pathlib takes longer to import than all else here
        lines = [line.split() for line in text if line.startswith("    from .")]
    return {name.strip(","): home[1:] for _, home, _, *names in lines for name in names if name != "as"}


def later(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package whose names are imported when they are first used, from their `homes`."""

    def found(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = importlib.import_module(f".{homes[name] or name}", package)
        value = getattr(value, name) if homes[name] else value
        setattr(sys.modules[package], name, value)
        return value

    return found
