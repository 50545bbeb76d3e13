"""The site: what its hook mends, that it fetches nothing, and that nothing on a narrow page is cut unsaid."""

from __future__ import annotations

import json
import re
from html import escape, unescape
from pathlib import Path

import pytest

from tests.docs.scripts import script
from tests.house.code import ROOT
from tests.report.conftest import chromium  # noqa: F401  a fixture
from tests.report.test_browser import run

ASSETS = ROOT / "docs/assets"
SETTINGS = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
LOOK = """
addEventListener("load", () => {
  const inner = document.querySelector("iframe").contentDocument;
  document.documentElement.dataset.seen = JSON.stringify(Object.fromEntries([...inner.querySelectorAll("[id]")].map(
    box => [box.id, [box.scrollWidth > box.clientWidth + 1, box.classList.contains("scrolls")]])));
});
"""


@pytest.mark.parametrize(
    ("html", "mended"),
    [
        ("<td><code>Sentinel.UNSET</code></td><td><code>raise</code></td>", "<td></td><td><code>raise</code></td>"),
        (r"<td><code>a\|b</code>, <code>2\|c\|d</code></td>", "<td><code>a|b</code>, <code>2|c|d</code></td>"),
        (r"<p>a\|b <code>a\b</code></p>", r"<p>a\|b <code>a\b</code></p>"),
    ],
)
def test_the_hook_mends_what_extensions_write(html: str, mended: str) -> None:
    assert script("site.py").on_page_content(html, page=None, config=None) == mended


def test_a_mark_in_another_form_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"Sentinel\.UNSET"):
        script("site.py").on_page_content("<li>Sentinel.UNSET</li>")


def test_the_site_has_its_files_and_fetches_nothing() -> None:
    for name in ("site.css", "site.js"):
        assert f"[assets/{name}]" in SETTINGS
        assert not re.search(r"https?:|//[a-z]|@import|url\(", (ASSETS / name).read_text(encoding="utf-8"))


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize(("width", "fits"), [(690, True), (390, False)])
def test_nothing_is_cut_unsaid(chromium: str, tmp_path: Path, width: int, fits: bool) -> None:  # noqa: F811
    printed = "88 columns ".ljust(88, "x")
    boxes = {
        "printed": f'<div class="language-text highlight"><pre><code id="printed">{printed}</code></pre></div>',
        "typed": f'<div class="language-console highlight"><pre><code id="typed">$ {"word " * 60}</code></pre></div>',
        "wide": f'<div class="md-typeset__scrollwrap" id="wide"><table><tr>{"<td>x</td>" * 80}</tr></table></div>',
        "narrow": '<div class="md-typeset__scrollwrap" id="narrow"><table><tr><td>x</td></tr></table></div>',
    }
    # As in the theme: rem is 20 pixels, the sides of a page .8 rem, those of code 1.18 of its letters.
    theme = "html{font-size:125%} body{margin:0;font-size:.8rem} pre{margin:0} *{box-sizing:border-box}"
    theme += " .md-content__inner{margin:0 .8rem} pre>code{display:block;overflow:auto;padding:.77em 1.18em}"
    theme += " pre>code{font-family:monospace} .md-typeset__scrollwrap{overflow-x:auto} td{min-width:50px}"
    css, js = ((ASSETS / name).read_text(encoding="utf-8") for name in ("site.css", "site.js"))
    content = f'<article class="md-content__inner md-typeset">{"".join(boxes.values())}</article>'
    page = f'<!doctype html><style>{theme}{css}</style><script>{js}</script><div class="md-content">{content}</div>'
    frame = f'<iframe style="border:0;width:{width}px;height:800px" srcdoc="{escape(page)}"></iframe>'
    dom = run(chromium, tmp_path, f"<!doctype html><script>{LOOK}</script>{frame}", "--dump-dom")
    found = re.search(r'data-seen="([^"]*)"', dom)
    assert found is not None
    seen = json.loads(unescape(found[1]))
    assert seen == {
        "printed": [not fits, not fits],
        "typed": [False, False],
        "wide": [True, True],
        "narrow": [False, False],
    }
