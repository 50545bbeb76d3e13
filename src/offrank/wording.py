"""Texts that name options: kept as data, and put into words for Python or the command line by whoever prints them."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self, SupportsIndex

Style = Literal["python", "command line"]
"""For whom a text is: a Python program names arguments, the command line its options."""


_FLAGS: Mapping[str, str] = {"columns": "--column"}
"""Flags that are not the name of their argument."""
_LONGEST = 200
"""Characters of a name that is compared with others: comparing takes a time of its length for each of them."""
_ALIKE = 0.78
"""How alike a name must be to one that is there, to be taken for it: `estimate` and `estimates` are."""
_ATTRIBUTES: Mapping[str, tuple[str, ...]] = {
    "value": ("estimate", "mean", "point", "point_estimate", "estimated_value", "reward"),
    "low": ("ci", "interval", "confidence_interval", "conf_int", "lower", "ci_low", "ci_lower", "lower_bound"),
    "high": ("ci", "interval", "confidence_interval", "conf_int", "upper", "ci_high", "ci_upper", "upper_bound"),
    "standard_error": ("se", "std", "sd", "stderr", "std_error", "error"),
    "ess": ("effective_sample_size", "n_eff"),
    "n": ("rows", "count", "n_rows", "impressions", "n_rounds"),
    "relative": ("lift", "uplift", "relative_change", "percent", "improvement"),
    "difference": ("diff", "delta", "effect"),
    "decision": ("significant", "p_value", "pvalue", "answer"),
    "warnings": ("cautions",),
    "show": ("summary", "report", "print"),
    "save_html": ("to_html", "html", "save", "to_page"),
    "to_pandas": ("df", "dataframe", "to_df", "to_frame", "to_dataframe", "frame"),
}
"""Attributes of results -> what other libraries call them."""


@dataclass(frozen=True)
class Option:
    """An option with its value: `interval="bootstrap"`, or `--interval bootstrap`; without one, `interval=`."""

    name: str
    value: object = ...

    def said(self, style: Style) -> str:
        """Return it in words; on the command line, an option that is True is a flag."""
        if style == "python":
            return f"{self.name}=" if self.value is ... else f"{self.name}={self.value!r}".replace("'", '"')
        flag = _FLAGS.get(self.name, f"--{self.name.replace('_', '-')}")
        return flag if self.value is ... or self.value is True else f"{flag} {_quoted(self._text())}"

    def _text(self) -> str:
        if isinstance(self.value, list | tuple):
            return ",".join(f"{one:g}" for one in self.value)
        if isinstance(self.value, Mapping):
            return ",".join(f"{key}={one}" for key, one in self.value.items())
        return "none" if self.value is None else str(self.value)


@dataclass(frozen=True)
class ColumnNames:
    """The log's names of columns by role: `columns={"clicks": "NAME"}`, or `--column clicks=NAME`."""

    named: Mapping[str, str]

    def said(self, style: Style) -> str:
        """Return them in words."""
        if style == "python":
            return f"columns={dict(self.named)!r}".replace("'", '"')
        return " ".join(f"--column {role}={name}" for role, name in self.named.items())


@dataclass(frozen=True)
class EstimatorOption:
    """An estimator to ask for: `"clip(ips, 100)"`, or `-e 'clip(ips, 100)'`."""

    spelled: str

    def said(self, style: Style) -> str:
        """Return it in words."""
        return f'"{self.spelled}"' if style == "python" else f"-e {_quoted(self.spelled)}"


@dataclass(frozen=True)
class Verb:
    """A job: `offrank.check(...)`, or `offrank check`."""

    name: str

    def said(self, style: Style) -> str:
        """Return it in words."""
        return f"`offrank.{self.name}(...)`" if style == "python" else f"`offrank {self.name}`"


Phrase = Option | ColumnNames | EstimatorOption | Verb
"""A part of a text whose words depend on the style."""


class Wording(str):
    """A text with phrases in it, such as `Wording("use {}", Option("interval", "bootstrap"))`.

    As a str it has the words for Python. Adding keeps the phrases, as do `of`, `replace` and pickling; an f-string, a
    slice or `join` makes a plain str of it.

    - parts: plain texts and phrases, in order.

    Examples:
        >>> from offrank.wording import Option, Wording
        >>> remedy = Wording("use {}", Option("interval", "bootstrap"))
        >>> print(remedy)
        use interval="bootstrap"
        >>> remedy.said("command line")
        'use --interval bootstrap'
    """

    __slots__ = ("parts",)

    parts: tuple[str | Phrase, ...]

    def __new__(cls, template: str, *values: object) -> Self:
        """Fill the `{}` of a template with phrases, other texts of this kind, or anything that has a str."""
        texts = template.split("{}")
        if len(texts) != len(values) + 1:
            raise ValueError(f"{template!r} has {len(texts) - 1} places for {len(values)} values")
        filled = (part for pair in zip(values, texts[1:], strict=True) for part in pair)
        return cls.of([texts[0], *filled])

    @classmethod
    def of(cls, parts: Iterable[object]) -> Self:
        """Join texts and phrases."""
        flat = list[str | Phrase]()
        for part in parts:
            flat += part.parts if isinstance(part, Wording) else [part if isinstance(part, str | Phrase) else str(part)]
        made = str.__new__(cls, "".join(one if isinstance(one, str) else one.said("python") for one in flat))
        made.parts = tuple(flat)
        return made

    def said(self, style: Style) -> str:
        """Return the text in words."""
        return "".join(one if isinstance(one, str) else one.said(style) for one in self.parts)

    def __add__(self, other: str) -> Wording:
        return Wording.of((self, other))

    def __radd__(self, other: str) -> Wording:
        return Wording.of((other, self))

    def replace(self, old: str, new: str, count: SupportsIndex = -1) -> Wording:
        """Replace a text, in the plain parts and in the names of estimators."""

        def changed(part: str | Phrase) -> str | Phrase:
            if isinstance(part, EstimatorOption):
                return EstimatorOption(part.spelled.replace(old, new, count))
            return part.replace(old, new, count) if isinstance(part, str) else part

        return Wording.of(map(changed, self.parts))

    def __reduce__(self) -> tuple[Callable[[Iterable[object]], Wording], tuple[object]]:
        return Wording.of, (self.parts,)


def worded(value: Any, style: Style) -> Any:
    """Return a value with the texts in it put into words: in lists, tuples, mappings and dataclasses, at any depth.

    A part without such texts stays the same object.
    """
    if isinstance(value, str):
        return value.said(style) if isinstance(value, Wording) else value
    if isinstance(value, dict):
        parts = {worded(key, style): worded(part, style) for key, part in value.items()}
        return value if _same(value, parts) and _same(value.values(), parts.values()) else parts
    if isinstance(value, list | tuple):
        made = [worded(part, style) for part in value]
        if _same(value, made):
            return value
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    if is_dataclass(value) and not isinstance(value, type):
        found = {one.name: getattr(value, one.name) for one in fields(value) if one.init}
        changed = {name: part for name, old in found.items() if (part := worded(old, style)) is not old}
        return replace(value, **changed) if changed else value
    return value


def joined(between: str, texts: Iterable[str]) -> str:
    """Join the texts that are not empty, with the phrases in them, as `between.join` would."""
    return Wording.of([piece for text in texts if text for piece in (between, text)][1:])


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known name that is most like another; None where none is. cutoff: how alike they must be, from 0 to 1."""
    if len(name) > _LONGEST:
        return None
    near = difflib.get_close_matches(name, [one for one in known if len(one) <= _LONGEST], n=1, cutoff=cutoff)
    return near[0] if near else None


def called(name: str, words: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Yield own words for what others call by this name. words: own ones -> those of others."""
    return (own for own, others in words.items() if name.lower() in others)


class Attributed:
    """A result whose error of an attribute that it does not have names those that are meant, its own or of its parts.

    Type checkers see nothing of it, so that they still refuse such attributes.
    """

    def _parts(self) -> Mapping[str, Any]:
        """Return what may have an attribute that this lacks, by how it is reached, what is meant most often first."""
        held = {f".{name}": vars(self).get(name) for name in ("verdict", "value", "difference")}
        parts = {at: part for at, part in held.items() if isinstance(part, Attributed)}
        return {f"{at}{deep}": one for at, part in parts.items() for deep, one in part._parts().items()} | parts

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_") or name in dir(type(self)):
                return object.__getattribute__(self, name)  # raises what is usual; of a property its own error
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}{self._hint(name)}", name=name)

    def _hint(self, name: str) -> str:
        """Return which attributes are meant; nothing where none is like it."""
        wanted = [name, *called(name, _ATTRIBUTES)]
        own, here = [one for one in dir(self) if not one.startswith("_")], type(self).__name__.lower()
        every = {"": own, **{at: dir(part) for at, part in self._parts().items()}}
        having = {at: [one for one in wanted if one in names] for at, names in every.items()}
        found = [f"{here}{at}.{' and .'.join(some)}" for at, some in having.items() if some]
        near = nearest(name, own, _ALIKE)
        if near is not None and not having[""] and (len(wanted) > 1 or not found):
            found = [f"{here}.{near}", *found]
        return f"; did you mean {' or '.join(found[:1] if having[''] else found[:2])}?" if found else ""


def _same(before: Iterable[object], after: Iterable[object]) -> bool:
    return all(one is other for one, other in zip(before, after, strict=True))


def command_line(words: Iterable[str]) -> str:
    """Return a command to copy. What holds a single quote stands in double ones where no shell changes it."""
    return " ".join(
        f'"{word}"' if "'" in word and not set(word) & set('"$`\\!\n') else shlex.quote(word) for word in words
    )


def _quoted(text: str) -> str:
    return command_line([text]) if set(text) & set("()' ") else text
