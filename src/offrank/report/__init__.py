"""Rendering of documents: `page` writes one self-contained HTML file, `terminal` prints.

Everything here is a function of a `Document`, which verbs fill.
"""

from offrank.report.page import render
from offrank.report.terminal import print_document, render_text

__all__ = ["print_document", "render", "render_text"]
