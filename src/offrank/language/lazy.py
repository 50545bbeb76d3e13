"""Names of a package that are imported on first use: those that its text imports for type checkers alone."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any


def homes(file: str) -> dict[str, tuple[str, str]]:
    """Name -> where it stands and what it is called there, of the indented imports of a file; `.` for a module.

    They are read off the text: a table of them would be a second list of what is there.
    """
    found = {}
    with open(file, encoding="utf-8") as text:  # noqa: PTH123  pathlib takes longer to import than all else here
        for line in text:
            if line.startswith("    from ."):
                _, home, _, names = line.split(maxsplit=3)
                for one in names.split(", "):
                    own, *_, name = one.split() * 2
                    found[name] = home, own
    return found


def later(package: str, homes: Mapping[str, tuple[str, str]], told: str = "") -> Callable[[str], Any]:
    """Return the `__getattr__` of a package whose names are imported when they are first used, from their `homes`.

    told: the module whose `told` changes functions before anybody has them, also where they stand: they are pickled by
    their names there.
    """

    def found(name: str) -> Any:
        if name not in homes:
            # With the module, by which a traceback tells what is meant.
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])
        home, own = homes[name]
        module = importlib.import_module(f".{own}" if home == "." else home, package)
        value = module if home == "." else getattr(module, own)
        if told and isinstance(value, FunctionType):
            value = importlib.import_module(told, package).told(value)
            setattr(module, own, value)
        setattr(sys.modules[package], name, value)
        return value

    return found
