"""Hooks of MkDocs, which mend what its extensions write."""

from __future__ import annotations

import re
from typing import Any

UNSET = "<code>Sentinel.UNSET</code>"
"""What mkdocs-click 0.9 writes of an option that has no default: click's own mark."""
CODE = re.compile(r"<code>[^<]*\\\|[^<]*</code>")
"""Code with a bar in a table, which Markdown's tables want escaped, and Python-Markdown shows so."""


def on_page_content(html: str, **_: Any) -> str:
    r"""Return the page without `Sentinel.UNSET`, and with `a|b` where it has `a\|b`.

    Raises:
        ValueError: the mark stands there in another form.
    """
    html = CODE.sub(lambda code: code[0].replace(r"\|", "|"), html.replace(f"<td>{UNSET}</td>", "<td></td>"))
    if "Sentinel.UNSET" in html:
        raise ValueError("a default is Sentinel.UNSET on a page of a verb: look at what mkdocs-click writes")
    return html
