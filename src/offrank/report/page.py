"""A document as one self-contained HTML page: no network, no scripts, everything escaped.

What its words mean is shown under the pointer and, for print, at the end of the page.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from textwrap import dedent
from typing import Any

from jinja2 import Environment, PackageLoader, Template
from markupsafe import Markup

from ..language.formatting import cell, printable, together, typographic
from .charts import Chart, chart_svg
from .plots import MARKS, Forest
from .svg import forest_html

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


_GLOSSARY = "<!-- glossary -->"
"""Where the terms of a page are listed, once it is known which it has."""
_MARKS = re.compile(r"(`[^`]+`|\*\*[^*`]+\*\*)")
_DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b")


def render(document: Any) -> str:
    """Return a `Document` as the text of an HTML page.

    Sections without content are left out. The page's content security policy forbids scripts and loading of
    resources.
    """
    codes = [finding.code for section in document.sections for finding in section.findings]
    known = {"document": document, "codes": dict.fromkeys(codes), "docs": documentation(), "marks": MARKS}
    made = _template("page").render(**known)
    return made.replace(_GLOSSARY, _template("glossary").render(terms=listed(made, document.terms)))


def first_screen(document: Any) -> str:
    """Return what a `Document` begins with as HTML for a notebook: the answers and a picture, without a script.

    It brings its own colours, light or dark as the notebook or the system is, and changes nothing around it.
    """
    return _template("notebook").render(document=document, marks=MARKS, notebook=True)


def documentation() -> str:
    """Return the documentation address in the package metadata, with a final slash; empty if there is none.

    It is `Documentation` under `[project.urls]`, so that it is defined only once.
    """
    with suppress(metadata.PackageNotFoundError):
        named = (url.partition(", ") for url in metadata.metadata("offrank").get_all("Project-URL") or [])
        return next((url.rstrip("/") + "/" for name, _, url in named if name == "Documentation"), "")
    return ""


@cache
def _template(name: str) -> Template:
    environment = Environment(
        loader=PackageLoader("offrank.report", "templates"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"prose": prose, "cell": cell, "drawn": _drawn, "printable": printable, "header": header}
    environment.filters["dedent"] = dedent
    return environment.get_template(f"{name}.html.jinja")


def prose(text: str, codes: Collection[str] = ()) -> Markup:
    """Escape text and mark up backticks as code and double asterisks as emphasis; terms get a line.

    codes: finding codes to link to their place on the page.
    """
    told: set[str] = set()
    return Markup().join(_marked(piece, codes, told) for piece in _MARKS.split(together(printable(text))))


def _marked(piece: str, codes: Collection[str], told: set[str]) -> Markup:
    if piece.strip("`") in codes:
        return Markup('<a href="#finding-{0}"><code>{0}</code></a>').format(piece.strip("`"))
    if _MARKS.fullmatch(piece) and piece.startswith("`"):
        return Markup('<code class="name">{}</code>').format(piece[1:-1])
    if _MARKS.fullmatch(piece):
        return Markup("<strong>{}</strong>").format(typographic(piece[2:-2]))
    return Markup(_DAY.sub(r'<span class="day">\g<0></span>', str(explained(typographic(piece), told))))  # noqa: S704


def _drawn(plot: Chart | Forest) -> Markup:
    drawn = chart_svg(plot) if isinstance(plot, Chart) else forest_html(plot)
    return Markup(drawn.replace(' xmlns="http://www.w3.org/2000/svg"', "", 1))  # noqa: S704  text is escaped there
