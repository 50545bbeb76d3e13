"""One language: an object, its repr, its key in results and its words on the command line are the same.

`interpol(window=2)`, `plackett_luce(old_score, temperature=0.5)`, `epsilon(uniform, 0.1)`.
"""

from __future__ import annotations

import ast
import dataclasses
import difflib
import inspect
import keyword
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from .log.errors import SpellingError

_TAKEN: set[str] = set()
"""Names of policies and estimators: a column of that name is written in quotes."""


class Spelled:
    """Gives a frozen dataclass its repr: `name` and the fields that differ from their defaults.

    Fields declared `kw_only` are written `key=value`, the others by position.
    """

    name: ClassVar[str]

    def __init_subclass__(cls) -> None:
        _TAKEN.add(cls.__dict__.get("name", ""))

    def __repr__(self) -> str:
        words = []
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if field.default is not dataclasses.MISSING and _same(value, field.default):
                continue
            words.append(f"{field.name}={_spell(value)}" if field.kw_only else _spell(value))
        return f"{self.name}({', '.join(words)})" if words else self.name

    __str__ = __repr__


def parse(text: str, makers: Mapping[str, Callable[..., Any]], what: str) -> Any:
    """Build the object that `text` spells, with the makers known by name.

    Bare words that are no maker's name are column names; so are quoted strings.

    Raises:
        SpellingError: not in the grammar, an unknown name or unfit arguments.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise SpellingError(f"cannot read {what} {text!r}", example(makers)) from error
    return _build(tree, text, makers, what, outermost=True)


def example(makers: Mapping[str, Callable[..., Any]]) -> str:
    """A remedy that lists the names that would have worked."""
    return "write name or name(argument, key=value), with a name from: " + ", ".join(sorted(makers))


def _spell(value: Any) -> str:
    if isinstance(value, str):
        plain = value.isidentifier() and not keyword.iskeyword(value) and value not in _TAKEN
        return value if plain else repr(value)
    if isinstance(value, tuple):
        return "[" + ", ".join(_spell(v) for v in value) + "]"
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return repr(value)


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and value == default


def _build(
    node: ast.expr, text: str, makers: Mapping[str, Callable[..., Any]], what: str, outermost: bool = False
) -> Any:
    if isinstance(node, ast.Name):
        if node.id in makers:
            return _call(makers[node.id], node.id, [], {}, text)
        if outermost:
            raise _unknown(node.id, makers, what)
        return node.id
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id not in makers:
            raise _unknown(node.func.id, makers, what)
        arguments = [_build(a, text, makers, what) for a in node.args]
        keywords = {k.arg: _build(k.value, text, makers, what) for k in node.keywords if k.arg}
        return _call(makers[node.func.id], node.func.id, arguments, keywords, text)
    if outermost and isinstance(node, ast.Constant | ast.List | ast.Tuple):
        raise SpellingError(f"{text!r} does not begin with a name of the {what}s", example(makers))
    if isinstance(node, ast.List | ast.Tuple):
        return tuple(_build(e, text, makers, what) for e in node.elts)
    try:
        return ast.literal_eval(node)
    except ValueError as error:
        raise SpellingError(f"cannot read {what} {text!r}", example(makers)) from error


def _call(
    maker: Callable[..., Any],
    name: str,
    arguments: list[Any],
    keywords: dict[str, Any],
    text: str,
) -> Any:
    try:
        return maker(*arguments, **keywords)
    except TypeError as error:
        raise SpellingError(f"{text!r} does not fit {name}", f"write it as {signature(maker, name)}") from error


def signature(maker: Callable[..., Any], name: str) -> str:
    """How a maker is written: `plackett_luce(scores, temperature=1.0, log=False)`."""
    words = []
    for parameter in inspect.signature(maker).parameters.values():
        required = parameter.default is parameter.empty
        given = "..." if required else _spell(parameter.default)
        named = not required or parameter.kind == parameter.KEYWORD_ONLY
        words.append(f"{parameter.name}={given}" if named else parameter.name)
    return f"{name}({', '.join(words)})" if words else name


def _unknown(name: str, makers: Mapping[str, Callable[..., Any]], what: str) -> SpellingError:
    near = difflib.get_close_matches(name, makers, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    return SpellingError(f"unknown {what} {name!r}", hint + example(makers))
