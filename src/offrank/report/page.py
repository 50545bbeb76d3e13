"""A document as one self-contained HTML page: no network, no scripts, everything escaped."""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from functools import cache
from importlib import metadata
from textwrap import dedent
from typing import Any

from jinja2 import Environment, PackageLoader, Template
from markupsafe import Markup

from ..language.formatting import cell, printable, together, typographic
from .charts import Chart, chart_svg
from .glossary import explained, header, listed
from .plots import MARKS, Forest
from .svg import forest_html

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
