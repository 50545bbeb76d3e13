"""Results for people: `page` writes one self-contained HTML file, `tables` speaks to the terminal.

Everything here is a function of the result document, a plain dict; nothing else of the library is imported.
"""

from offrank.report.page import render, save
from offrank.report.tables import print_result, render_text

__all__ = ["print_result", "render", "render_text", "save"]
