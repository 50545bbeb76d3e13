"""Rendering of documents: `page` writes one self-contained HTML file, `terminal` prints.

Everything here is a function of a `Document`, which verbs fill.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language.registry import later as _later

if TYPE_CHECKING:
    from .page import render
    from .terminal import print_document, render_text

__all__ = ["print_document", "render", "render_text"]

if not TYPE_CHECKING:  # otherwise a type checker would accept any name
    __getattr__ = _later(__name__, {"print_document": "terminal", "render": "page", "render_text": "terminal"})
