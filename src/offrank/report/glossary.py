"""What the words of a page mean: a line for each, shown under the pointer and, for print, at the end of the page."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from markupsafe import Markup

_TEXT = (Path(__file__).parent / "templates" / "glossary.txt").read_text(encoding="utf-8")
TERMS = dict(line.split(": ", 1) for line in _TEXT.splitlines())
"""Term -> what it means, in a sentence."""

_SHORT = {"weight": "mean weight", "tail": "tail index", "largest": "largest weight"}
"""Headers of columns that are shorter than their term."""
_MORE = {
    "largest weight": "The largest importance weight, as a share of the sum of all.",
    "change": "The difference to what was logged, on the same impressions.",
}


def _pattern(term: str) -> str:
    """Return the pattern of a term, also in the plural and at the beginning of a sentence."""
    first = f"[{term[0].upper()}{term[0]}]" if term[0].islower() else re.escape(term[0])
    ending = "(?:y|ies)" if term.endswith("y") else "s?"
    return first + re.escape(term[1:].removesuffix("y")) + ending


_NAMES = sorted(TERMS, key=len, reverse=True)
_FOUND = re.compile(r"(?<![\w-])(?:" + "|".join(f"({_pattern(one)})" for one in _NAMES) + r")(?![\w=-])")
"""Each term, unless it is the name of an argument: `interval=...`."""
_OPTION = re.compile(r"""(?:=["']|--[\w-]+ )$""")
"""What stands before the value of an option: such a value is to be typed, and no term."""


def explained(text: str, told: set[str] | None = None) -> Markup:
    """Escape a text, with a line on each term in it, the first time. told: terms that had theirs, which grows."""
    told, parts, at = set() if told is None else told, [], 0
    for found in _FOUND.finditer(text):
        term = _NAMES[(found.lastindex or 1) - 1]
        if term not in told and not _OPTION.search(text, 0, found.start()):
            told.add(term)
            parts += [Markup("{}").format(text[at : found.start()]), _line(found.group(), TERMS[term])]
            at = found.end()
    return Markup().join([*parts, Markup("{}").format(text[at:])])


def header(name: str) -> Markup:
    """Escape the header of a column, with a line on it if it is a term."""
    term = _SHORT.get(name, name)
    means = TERMS.get(term, _MORE.get(term))
    return explained(name) if means is None else _line(name, means)


def _line(shown: str, means: str) -> Markup:
    return Markup('<abbr title="{}">{}</abbr>').format(means, shown)


def listed(page: str, more: Iterable[tuple[str, str]] = ()) -> list[tuple[str, str]]:
    """Return the terms that have a line on a page, and `more`, in the order of the alphabet."""
    known = {**_MORE, **TERMS}
    found = [(term, means) for term, means in known.items() if Markup('title="{}"').format(means) in page]
    return sorted([*found, *more], key=lambda one: one[0].lower())
