"""Arguments of a verb as the fields of one frozen dataclass, from which its signature, options and docs are made.

A field that is added to such a class is an argument in Python, an option of the command line, a row of the docs, part
of the call that repeats the job, and part of what a state file says was asked.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import wraps
from numbers import Integral, Real
from operator import attrgetter
from os import PathLike, fspath
from typing import Any, Literal, ParamSpec, TypeVar, dataclass_transform

from ..errors import UsageError

P = ParamSpec("P")
A = TypeVar("A", bound="Arguments")
R = TypeVar("R")
K = TypeVar("K")
Part = Literal["question", "call", "run"]
"""What an argument belongs to: the question, only the call that repeats the job, or only this run of it."""
_KEY = "argument"
_SECTION = re.compile(r"^(?=(?:Parameters|Returns|Raises|Examples):)", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Argument:
    """What is known of an argument beside its name, its type and its default.

    - says: what it is, in the docs and in the help of its option. more: what only the docs add.
    - part: see `Part`. ready: the attribute that has the checked value, also one of another, by default the field.
    - use: what it is used for: the "question", the "log", "uncertainty" or "output"; the help groups options by it.
      spells: "policy", "estimator", "kind of interval" or "column", where its text spells one.
    - flags: of the option, by default its name after two dashes; no option for a part of the run. metavar, type: of the
      option. many: whether the option may be given several times. read: makes the value from the option's text.
      output: whether it names a file to write.
    """

    says: str
    more: str = ""
    part: Part = "question"
    ready: str | None = None
    use: str = "question"
    spells: str = ""
    flags: tuple[str, ...] = ()
    metavar: str | None = None
    type: Any = None
    many: bool = False
    read: Callable[[Any], Any] | None = None
    output: bool = False


def argument(says: str, *, default: Any = dataclasses.MISSING, kw_only: bool = True, **known: Any) -> Any:
    """Return the field of an argument. kw_only: False if it may be given by position. known: see `Argument`."""
    given: dict[str, Any] = {} if default is dataclasses.MISSING else {"default": default}
    shown = known.get("part", "question") != "run"
    metadata = {_KEY: Argument(says=says, **known)}
    return dataclasses.field(**given, kw_only=kw_only, metadata=metadata, repr=shown, compare=shown)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(argument,))
def arguments(kind: type[K]) -> type[K]:
    """Make a frozen dataclass of a class whose fields are arguments."""
    return dataclass(frozen=True)(kind)


@arguments
class Arguments:
    """The arguments that every verb has that reads a log."""

    log: Any = argument("The log: from `read_log`, or anything that it takes.", kw_only=False, part="run")
    columns: Mapping[str, str] | None = argument(
        "Role -> the log's own name of that column, as `read_log` takes them.", default=None, part="run"
    )
    executor: Any = argument(
        "Where the log is read: any `concurrent.futures.Executor`; threads by default.", default=None, part="run"
    )
    progress: Any = argument(
        "Called with (parts done, all parts) of the log, as they are read.", default=None, part="run"
    )

    def said(self, *parts: Part) -> dict[str, Any]:
        """Return the arguments of these parts as plain values: numbers, texts, lists and dicts."""
        known = arguments_of(type(self)).items()
        return {name: plain(attrgetter(one.ready or name)(self)) for name, one in known if one.part in parts}

    def command(self, verb: str) -> str:
        """Return the call that repeats the job; options equal to their defaults are left out."""
        words = [repr(fspath(self.log)) if isinstance(self.log, str | PathLike) else "log"]
        words += [f"columns={plain(self.columns)!r}"] if self.columns else []
        for name, one in _in_order(type(self)):
            known, given = one.metadata[_KEY], getattr(self, name)
            if known.part == "run" or (one.kw_only and given is one.default):
                continue
            value = plain(attrgetter(known.ready or name)(self))
            if not one.kw_only or value != one.default:
                alone = isinstance(value, Mapping) and not isinstance(given, Mapping | list)  # one policy, unnamed
                words.append(f"{name}={(next(iter(value.values())) if alone else value)!r}")
        return f"offrank.{verb}({', '.join(words)})"


class Unwritten(str):
    """What stands in a call for an object that no text can give again, such as a fitted model: it has no quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def plain(value: Any) -> Any:
    """Return a value as numbers, texts, lists and dicts; objects as their spelling."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Real):  # of another library, such as NumPy
        return int(value) if isinstance(value, Integral) else float(value)
    if isinstance(value, PathLike):
        return fspath(value)
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list | tuple) else repr(value)


def interval_level(given: Any) -> float:
    """Return the level of an interval, as given.

    Raises:
        UsageError: it is none.
    """
    if isinstance(given, Real) and 0 < float(given) < 1:
        return float(given)
    raise UsageError(f"confidence is {given!r}", "give a level between 0 and 1, such as 0.95")


def seed_number(given: Any) -> int:
    """Return the seed of a random generator, which is a number from 0: of a negative one, the number of its 64 bits.

    Raises:
        UsageError: it is none.
    """
    if isinstance(given, Integral):
        number = int(given)
        return number if number >= 0 else number % 2**64
    raise UsageError(f"seed is {given!r}", "give a whole number")


def worth_of(given: Any) -> float:
    """Return what one unit of the log is worth, as given.

    Raises:
        UsageError: it is no number above 0, so that nothing could be told in it, or better would read as worse.
    """
    if isinstance(given, Real) and 0 < float(given) < math.inf:
        return float(given)
    raise UsageError(f"worth is {given!r}", "give a number above 0, such as 1.5")


def arguments_of(kind: type[Arguments]) -> dict[str, Argument]:
    """Return the arguments of a verb by name, in the order of its signature."""
    return {name: one.metadata[_KEY] for name, one in _in_order(kind)}


def _in_order(kind: type[Arguments]) -> Iterator[tuple[str, dataclasses.Field[Any]]]:
    """Yield the fields as a signature has them: those given by position first, those of the run last."""
    fields = dataclasses.fields(kind)
    for one in sorted(fields, key=lambda one: (one.kw_only, one.kw_only and one.metadata[_KEY].part == "run")):
        yield one.name, one


def signature_of(kind: type[Arguments]) -> inspect.Signature:
    """Return the signature of a verb that takes these arguments."""
    made = inspect.signature(kind).parameters
    return inspect.Signature([made[name] for name, _ in _in_order(kind)])


def rows_of(kind: type[Arguments]) -> Iterator[tuple[str, str, str | None]]:
    """Yield name, meaning and option of each argument, in the order of the signature."""
    for name, one in arguments_of(kind).items():
        options = ", ".join(one.flags) or f"--{name.replace('_', '-')}"
        yield name, f"{one.says} {one.more}".rstrip(), None if one.part == "run" else options


def documented(told: str, kind: type[Arguments]) -> str:
    """Return the docstring of a verb with these arguments as its parameters, in place of those that it may have."""
    begin, *rest = _SECTION.split(inspect.cleandoc(told))
    rows = (textwrap.fill(f"    {name}: {says}", 116, subsequent_indent=" " * 8) for name, says, _ in rows_of(kind))
    others = (one.rstrip() for one in rest if not one.startswith("Parameters:"))
    return "\n\n".join([begin.rstrip(), "\n".join(["Parameters:", *rows]), *others])


def asks(kind: Callable[P, A]) -> Callable[[Callable[[A], R]], Callable[P, R]]:
    """Make a verb of a function of its arguments: with their signature, and with their rows in its docstring.

    Editors read the source alone: scripts/argument-tables writes the same rows into it, for offrank's own verbs.
    """
    assert isinstance(kind, type)
    signature = signature_of(kind)

    def decorated(verb: Callable[[A], R]) -> Callable[P, R]:
        @wraps(verb)
        def asked(*given: P.args, **named: P.kwargs) -> R:
            try:
                bound = signature.bind(*given, **named)
            except TypeError as error:
                raise TypeError(f"{verb.__name__}() {error}") from None
            return verb(kind(*bound.args, **bound.kwargs))

        told = inspect.cleandoc(str(verb.__doc__))
        asked.__doc__ = told if "\nParameters:\n" in told else documented(told, kind)
        asked.__signature__ = signature  # type: ignore[attr-defined]
        return asked

    return decorated
