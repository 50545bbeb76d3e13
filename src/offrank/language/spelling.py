"""Spellings: an object, its repr, its key in results and its form on the command line are the same.

Examples are `interpol(window=2)`, `plackett_luce(old_score, temperature=0.5)`, `epsilon(uniform, 0.1)`; a list is
`ips, snips`. The place of a bare word decides its meaning: text (`top(uniform)` sorts by a column of that name), a
number (`inf`), or else the object of that name. So a spelling never depends on which names there are. The name of a
file stands in quotes where an object may stand too: `direct('lasso')` is a file, `direct(lasso)` a regression.
A mapping stands in braces, `{A: top(a), B: top(b)}`; its place decides whether a bare key is text, its values are none.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import keyword
import math
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, repeat
from typing import Any, ClassVar, TypeVar

from ..errors import SpellingError
from ..wording import nearest

Makers = Mapping[str, Callable[..., Any]]
"""The makers of the objects of one kind, by name."""

File = str
"""Annotates an argument that takes an object, or the name of a file: bare words there must name an object."""

K = TypeVar("K")
V = TypeVar("V")

_LONGEST = 100_000
"""Characters that a spelling may have: a mapping of some thousand names fits."""

_DEEPEST = 50
"""Brackets that may stand within one another; Python's own parser gives up at 100 to 200."""

_SHOWN_AT_MOST = 200

_BRACKETS = re.compile(r"[\[\](){}]")
_TEXT = re.compile(r"\bstr\b")
_FILE = re.compile(r"\bFile\b")


class Frozen(Mapping[K, V]):
    """A mapping that does not change, so that what holds it can be hashed; spelled `{key: value}`, in its order."""

    def __init__(self, items: Mapping[K, V] | Iterable[tuple[K, V]]) -> None:
        self._items = dict(items)

    def __getitem__(self, key: K) -> V:
        return self._items[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{spell(key)}: {spell(value)}" for key, value in self.items()) + "}"


class Spelled:
    """Gives a frozen dataclass its repr: `name` and the fields that differ from their defaults.

    Fields declared `kw_only` are written `key=value`, the others by position, those with `repr=False` not at all.
    """

    name: ClassVar[str]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.__repr__ = cls.__repr__  # type: ignore[method-assign]  # a dataclass writes none where a class has its own

    def __repr__(self) -> str:
        words, named = [], []
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if not field.repr or (type(value) is type(field.default) and value == field.default):
                continue
            word = repr(value) if isinstance(value, str) and _FILE.search(str(field.type)) else spell(value)
            if field.kw_only:
                named.append(f"{field.name}={word}")
            else:
                words.append(word)
        return f"{self.name}({', '.join([*words, *named])})" if words or named else self.name

    __str__ = __repr__


def parse(text: str, makers: Makers, what: str) -> Any:
    """Build the object that `text` spells, using makers by name: `parse(repr(thing)) == thing`.

    Bare words are column names if text is taken, or if they name no maker; so are quoted strings.

    Raises:
        SpellingError: text outside the grammar, an unknown name or unfit arguments.
    """
    if (node := _tree(text, what)) is None:
        spaced = re.search(r"[(,=]\s*([^\W\d]\w*(?: \w+)+)\s*[,)]", text)  # a column's name
        how = f"quote a name with spaces: {spaced[1]!r}" if spaced else example(makers)
        raise SpellingError(f"cannot read {what} {_shown(text)}", how)
    if isinstance(node, ast.Name):
        return _Reader(text, makers, what).made(node.id, [], [])
    if isinstance(node, ast.Constant | ast.Dict | ast.List | ast.Tuple):
        raise SpellingError(f"{_shown(text)} does not begin with a name of the {what}s", example(makers))
    return _Reader(text, makers, what).built(node, takes_text=False)


def split(text: str) -> list[str]:
    """Split a list, `ips, clip(snips, 10)`, with or without brackets, into spellings; unreadable text is one."""
    if (node := _tree(text, "list")) is None:
        return [text]
    parts = node.elts if isinstance(node, ast.List | ast.Tuple) else [node]
    return [ast.get_source_segment(text.strip(), part) or text for part in parts]


def _tree(text: str, what: str) -> ast.expr | None:
    """Return the syntax tree of a text, None where Python cannot read it.

    What no person types is refused before the parser spends memory and stack on it.

    Raises:
        SpellingError: the text is too long, or its brackets are too deep.
    """
    depth = deepest = 0
    for bracket in _BRACKETS.findall(text) if len(text) <= _LONGEST else ():
        depth += 1 if bracket in "([{" else -1
        deepest = max(deepest, depth)
    if len(text) > _LONGEST or deepest > _DEEPEST:
        size = f"{len(text):,} characters" if len(text) > _LONGEST else f"{deepest:,} nested brackets"
        remedy = f"use at most {_LONGEST:,} characters and {_DEEPEST} nested brackets"
        raise SpellingError(f"the {what} {_shown(text)} has {size}", remedy)
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two: of a chain such as `-----1`
        return None


def split_all(texts: Iterable[str]) -> list[str]:
    """Split several texts, each of which may be a list: `-e "ips, clip(snips, 10)" -e pbm`."""
    return [spelling for text in texts for spelling in split(text)]


def refuse_unknown(
    text: str, names: Callable[[], Iterable[str]], what: str, open_ended: Callable[[], bool], *, within: bool
) -> None:
    """Raise if a spelling begins with a name that is not known; whether the rest can be read is not tried.

    names: makes the names, if they are needed. open_ended: whether there may be others, so that nothing is refused.
    within: whether whatever has brackets in it, such as the base of `epsilon(top(score), 0.1)`, is of these names too.

    Raises:
        SpellingError: it does.
    """
    node = _readable(text)
    begins = node.func if isinstance(node, ast.Call) else node
    calls = [one for one in ast.walk(node) if isinstance(one, ast.Call)] if node is not None else []
    known = list(names())
    bases = [] if within else [one for call in calls for one in call.args[:1] if isinstance(one, ast.Name)]
    # A slip such as `snpis`; other words may be models or files.
    slips = [one for one in bases if len(one.id) > _SHORT and nearest(one.id, known, _SLIP)]
    for one in [begins, *(call.func for call in calls if within), *slips]:
        if isinstance(one, ast.Name) and one.id not in known and not open_ended():
            raise _unknown(one.id, known, what)


_SLIP, _SHORT = 0.75, 3
"""How near to a name a word in brackets must be to be a slip, and the letters of words that may be one by chance."""


def words_within(text: str) -> Iterator[str]:
    """Yield the bare words that a spelling gives by position: of a policy, its columns, or policies without options."""
    node = _readable(text)
    calls = [one for one in ast.walk(node) if isinstance(one, ast.Call)] if node is not None else []
    for call in calls:
        yield from (given.id for given in call.args if isinstance(given, ast.Name))


def _readable(text: str) -> ast.expr | None:
    """Return the syntax tree of a text that is short enough."""
    try:
        return _tree(text, "")
    except SpellingError:
        return None


def example(makers: Iterable[str]) -> str:
    """Return a remedy that lists the valid names."""
    return "use name or name(argument, key=value), with a name from: " + ", ".join(sorted(makers))


def _shown(text: str) -> str:
    """Return a text in quotes for an error: its beginning, if it is long."""
    return repr(text) if len(text) <= _SHOWN_AT_MOST else f"{text[:_SHOWN_AT_MOST]!r}..."


def spell(value: Any) -> str:
    """Return the spelling of a value: `old_score`, `'my score'`, `0.5`, `[1, 0.5]`, `uniform`."""
    numpy = sys.modules.get("numpy")  # where nothing imported it, no value is one of its numbers
    if numpy is not None and isinstance(value, numpy.generic):
        value = value.item()
    if isinstance(value, str):
        # A word needs no quotes if it is read as the same name. Names are read in their normal form.
        plain = value.isidentifier() and not keyword.iskeyword(value)
        return value if plain and unicodedata.normalize("NFKC", value) == value else repr(value)
    if isinstance(value, tuple):
        return "[" + ", ".join(spell(v) for v in value) + "]"
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return repr(value)


@dataclasses.dataclass(frozen=True)
class _Reader:
    """Builds objects from the syntax tree of a text."""

    text: str
    makers: Makers
    what: str

    def built(self, node: ast.expr, *, takes_text: bool | None) -> Any:
        """Build the object of a node.

        takes_text: whether a bare word there is text, even if it is a maker's name; None where it must be such a name.
        """
        if isinstance(node, ast.Name):
            return node.id if takes_text else self.word(node.id, takes_text=takes_text)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self.made(node.func.id, node.args, node.keywords)
        if isinstance(node, ast.List | ast.Tuple):
            return tuple(self.built(e, takes_text=takes_text) for e in node.elts)
        if isinstance(node, ast.Dict):
            return self.mapping(node, takes_text=takes_text)
        try:
            return ast.literal_eval(node)
        except ValueError as error:
            file = takes_text is None and isinstance(node, ast.Attribute | ast.BinOp)  # `a.csv`, `a/b.csv`
            kind = "file name" if file else "name with dots" if isinstance(node, ast.Attribute) else ""
            written = ast.get_source_segment(self.text.strip(), node) or self.text  # `unparse` recurses
            how = f"quote a {kind}: {_shown(written)}" if kind else example(self.makers)
            raise SpellingError(f"cannot read {self.what} {_shown(self.text)}", how) from error

    def mapping(self, node: ast.Dict, *, takes_text: bool | None) -> Frozen[Any, Any]:
        """Build a mapping. takes_text: whether bare words are text as keys; as values they are not."""
        keys = [self.built(key, takes_text=takes_text) for key in node.keys if key is not None]
        if len(keys) < len(node.keys):
            raise SpellingError(f"cannot read {self.what} {_shown(self.text)}", "write {key: value, key: value}")
        if twice := [key for key, times in Counter(keys).items() if times > 1]:
            raise SpellingError(f"{spell(twice[0])} occurs twice in {_shown(self.text)}", "give each key one value")
        return Frozen(zip(keys, [self.built(value, takes_text=False) for value in node.values], strict=True))

    def word(self, word: str, *, takes_text: bool | None) -> Any:
        """Build what a word stands for that is no text, or None as in `built`."""
        if word in self.makers or (takes_text is None and word in _gone(self.makers)):
            return self.made(word, [], [])
        if takes_text is None:
            error = _unknown(word, self.makers, "name")
            raise SpellingError(
                f"{error.message} in {_shown(self.text)}", error.remedy + f"; quote a file name: '{word}'"
            )
        return math.inf if word == "inf" else word

    def made(self, name: str, arguments: list[ast.expr], keywords: list[ast.keyword]) -> Any:
        """Call the maker of a name with its arguments, each read as its annotation has it.

        `str` takes text, `File` only in quotes; names there may be those of another kind than the maker's.
        """
        if name not in self.makers:
            raise _unknown(name, self.makers, self.what)
        maker, by_name, by_position = self.makers[name], {}, []
        if any(k.arg is None for k in keywords):
            raise SpellingError(f"{_shown(self.text)} has `**`", f"write it as {signature(maker, name)}")
        kinds: Mapping[str, tuple[Makers, str]] = getattr(maker, "argument_kinds", {})
        for one in inspect.signature(maker).parameters.values():
            written = inspect.formatannotation(one.annotation)
            text = None if _FILE.search(written) else bool(_TEXT.search(written))
            by_name[one.name] = _Reader(self.text, *kinds[one.name]) if one.name in kinds else self, text
            if one.kind != one.KEYWORD_ONLY:
                by_position.append(by_name[one.name])
        places = zip(arguments, chain(by_position, repeat((self, False))), strict=False)
        given = [reader.built(node, takes_text=text) for node, (reader, text) in places]
        each = ((str(k.arg), k.value, *by_name.get(str(k.arg), (self, False))) for k in keywords)
        named = {key: reader.built(node, takes_text=text) for key, node, reader, text in each}
        try:
            return maker(*given, **named)
        except TypeError as error:
            raise SpellingError(
                f"{_shown(self.text)} does not fit {name}", f"write it as {signature(maker, name)}"
            ) from error


def signature(maker: Callable[..., Any], name: str) -> str:
    """Return the signature of a maker: `plackett_luce(scores, temperature=1.0, log=False)`."""
    words = []
    fields = dataclasses.fields(maker) if dataclasses.is_dataclass(maker) else ()
    hidden = {field.name for field in fields if not field.repr}
    for parameter in inspect.signature(maker).parameters.values():
        if parameter.name in hidden:
            continue
        required = parameter.default is parameter.empty
        given = "..." if required else spell(parameter.default)
        named = not required or parameter.kind == parameter.KEYWORD_ONLY
        words.append(f"{parameter.name}={given}" if named else parameter.name)
    return f"{name}({', '.join(words)})" if words else name


def _gone(makers: Iterable[str]) -> Mapping[str, tuple[str, str]]:
    """Return what became of names that earlier releases had."""
    return getattr(makers, "gone", {})


def _unknown(name: str, makers: Iterable[str], what: str) -> SpellingError:
    if name in (gone := _gone(makers)):
        return SpellingError(*gone[name])
    near = nearest(name, makers)
    hint = f"did you mean {near}? " if near else ""
    return SpellingError(f"unknown {what} {name!r}", hint + example(makers))
