"""What can be named: a registry holds the parts of one kind, each of which registers itself where it is defined.

A registry imports the file of its package that registers the name that it is asked for, and all of them when it is
asked for all names or one that it does not find: a part is registered by being there. Parts of other packages register
themselves in the same way when they are imported. An installed package that names modules in the entry point group
`offrank.extensions` has them imported too, so that the command line knows its parts.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping, ValuesView
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from ..errors import UsageError

V = TypeVar("V")
T = TypeVar("T")

_ROOT = Path(__file__).parents[1]
EXTENSIONS = "offrank.extensions"
"""The group of entry points whose modules are imported for the parts that they register."""
_PART = re.compile(
    r"^(?P<decorators>(?:@.*\n)*@[A-Z_]+\.register\n(?:@.*\n)*)(?P<kind>class|def) (?P<name>\w+)(?P<bases>\(\w+\))?",
    re.MULTILINE,
)
"""How a part is registered in the text of its file."""
_AFTER = re.compile(r"^[@\w]", re.MULTILINE)
# The command line refuses a slip, and completes a name, before NumPy is imported. So names are read off the text, those
# of self-normalised forms too, which register themselves: a table of them would be a second list of what is there.
# `tests/cli/test_completion.py` holds both to be the same.
_WEIGHTINGS = ("(Weighted)", "(Reference)")
"""Bases of estimators that have a self-normalised form too."""
_NO_FORM = re.compile(r'normalised: ClassVar\[bool\] = False|weighs="logged"')
"""What is written of those that have none: no mean weight of 1, or no weights at all."""
_REGISTERED = re.compile(r'^@[a-z]\w*\("(\w+)"', re.MULTILINE)
"""How a function is registered under another name than its own, such as a kind of interval."""
_NAME, _PREFIX = (re.compile(rf'^    {one}: ClassVar\[str\] = "(\w+)"', re.MULTILINE) for one in ("name", "prefix"))


class Registry(Mapping[str, V]):
    """The parts of one kind by name, in the order of their names.

    package: the package whose files register them. what: the kind, for errors. gone: names that earlier releases had:
    what became of each, and what to use.
    """

    def __init__(self, package: str, what: str, gone: Mapping[str, tuple[str, str]] | None = None) -> None:
        self._package, self._what, self.gone = package, what, gone or {}
        self._parts: dict[str, V] = {}
        self._homes: dict[str, str] = {}
        self._loaded = False

    def register(self, part: T) -> T:
        """Register a class or a function, as a decorator, under its `name` or else the name that it is defined by.

        Raises:
            UsageError: another part has this name.
        """
        made: Any = part
        self.add(getattr(made, "name", made.__name__), made, made)
        return part

    def add(self, name: str, part: V, definition: Any) -> None:
        """Register a part under a name. The same definition may be run again, as in a notebook.

        definition: the class or function that defines it.

        Raises:
            UsageError: another part has this name.
        """
        home = _home(definition)
        known = self._homes.get(name, home)
        if not home.startswith(f"{self._package}.") and name not in self._homes:  # its own file may not be imported yet
            known = homes_written(self._package).get(name, home)
        if known != home:
            raise UsageError(f"{home} and {known} have the same name, {name!r}", f"give one {self._what} another name")
        self._homes[name] = home
        self._parts = dict(sorted({**self._parts, name: part}.items()))

    def remove(self, definition: Any) -> None:
        """Take back all that a class or function has registered; its names are free again.

        Raises:
            UsageError: it has registered nothing.
        """
        home = _home(definition)
        names = {name for name, known in self._homes.items() if known == home}
        if not names:
            raise UsageError(f"{home} is no registered {self._what}", "give the class or function that was registered")
        self._homes = {name: known for name, known in self._homes.items() if name not in names}
        self._parts = {name: part for name, part in self._parts.items() if name not in names}

    def __getitem__(self, name: str) -> V:
        if name not in self._parts and not self._loaded and name in (homes := homes_written(self._package)):
            importlib.import_module(homes[name])
        return self._parts[name] if name in self._parts else self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def values(self) -> ValuesView[V]:
        """The parts, in the order of their names."""
        return (self._parts if self._loaded else self._all()).values()

    def _all(self) -> dict[str, V]:
        if not self._loaded:
            package = importlib.import_module(self._package)
            for module in pkgutil.walk_packages(package.__path__, f"{self._package}."):
                if not module.name.rpartition(".")[2].startswith("_"):
                    importlib.import_module(module.name)
            _extensions()
            self._loaded = True
        return self._parts


def _home(definition: Any) -> str:
    """Where a class or function is defined, by which it is known however often it is defined again."""
    return f"{definition.__module__}.{definition.__qualname__}"


class Together(Mapping[str, V]):
    """The parts of several kinds as one mapping. also: further names of some of them."""

    def __init__(self, *kinds: Mapping[str, V], also: Mapping[str, str]) -> None:
        self._kinds, self._also = kinds, also

    def __getitem__(self, name: str) -> V:
        known = self._also.get(name, name)
        return next((one[known] for one in self._kinds[:-1] if known in one), None) or self._kinds[-1][known]

    def __iter__(self) -> Iterator[str]:
        for names in (*self._kinds, self._also):
            yield from names

    def __len__(self) -> int:
        return sum(map(len, (*self._kinds, self._also)))


@cache
def _extensions() -> None:
    """Import the modules that installed packages name."""
    from importlib.metadata import entry_points

    for one in entry_points(group=EXTENSIONS):
        one.load()


def extended() -> bool:
    """Whether installed packages may register parts, whose names no file of offrank has."""
    from importlib.metadata import entry_points

    return bool(entry_points(group=EXTENSIONS))


@cache
def homes_written(package: str) -> Mapping[str, str]:
    """Return the names that the files of a package register, each with its module; nothing is imported.

    They are read off the text. Names that installed packages register are not among them: see `extended`.
    """
    ours, *inner = package.split(".")
    folder = _ROOT.joinpath(*inner)
    files = folder.rglob("*.py") if ours == _ROOT.name else ()
    return {
        name: ".".join([ours, *file.relative_to(_ROOT).with_suffix("").parts])
        for file in sorted(files)
        if not file.name.startswith("_")
        for name in _names_in(file.read_text(encoding="utf-8"))
    }


def _names_in(text: str) -> Iterator[str]:
    yield from _REGISTERED.findall(text)
    for found in _PART.finditer(text):
        body = _AFTER.split(text[found.end() :], 1)[0]
        named, given = (one.search(body) if found["kind"] == "class" else None for one in (_NAME, _PREFIX))
        name, prefix = named[1] if named else found["name"], given[1] if given else "sn"
        yield name
        normalised = found["bases"] in _WEIGHTINGS and not _NO_FORM.search(body)
        if normalised or "@self_normalised" in found["decorators"]:
            yield f"{prefix}{name}"


class Later:
    """A module that is imported when one of its names is first used.

    home: its name after that of the package, such as `.arguments`. package: the package, as `__package__` has it.
    """

    def __init__(self, home: str, package: str) -> None:
        self._home, self._package = home, package

    def __getattr__(self, name: str) -> Any:
        found = vars(self)[name] = getattr(importlib.import_module(self._home, self._package), name)
        return found
