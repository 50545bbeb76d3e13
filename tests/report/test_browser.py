"""The page in headless Chromium: readable on a phone, in the dark and on paper."""

from __future__ import annotations

import json
import re
import subprocess
from html import escape, unescape
from pathlib import Path

import pytest

from offrank import Result
from tests.report import sample
from tests.report.conftest import FLAGS

PHONE, DESKTOP = 360, 1200
LIGHT, DARK = "1", "0"
#: Looks at the page from outside, since the page itself allows no scripts.
LOOK = """
addEventListener("load", () => {
  const frames = [...document.querySelectorAll("iframe")];
  document.documentElement.dataset.seen = JSON.stringify(frames.map(frame => {
    const inner = frame.contentDocument, root = inner.documentElement;
    inner.querySelectorAll("details").forEach(one => { one.open = true; });
    return {
      width: root.clientWidth, needed: root.scrollWidth,
      background: frame.contentWindow.getComputedStyle(inner.body).backgroundColor,
      labels: inner.querySelectorAll(".f-label").length,
      smallest: Math.min(...[...inner.querySelectorAll("svg text")].map(
        text => parseFloat(frame.contentWindow.getComputedStyle(text).fontSize))),
    };
  }));
});
"""

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def hostile() -> Result:
    """Names that want more room than a phone has, and one that wants to run."""
    long = "clip(interpol(window=2, examination=fitted), maximum=1000000)"
    found = sample.result(outlet="x" * 300 + "<img src=x onerror=\"document.body.innerHTML=''\">", rips=long)
    return found.with_facts(command=f"{found.metadata.command} --column slate={'y' * 400}")


def run(chromium: str, tmp_path: Path, page: str, *flags: str) -> str:
    place = tmp_path / "page.html"
    place.write_text(page, encoding="utf-8")
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    command = [chromium, *FLAGS, profile, *flags, place.as_uri()]
    return subprocess.run(command, capture_output=True, check=True, timeout=120, encoding="utf-8").stdout


def framed(*pages: str) -> str:
    """Each page in a frame as wide as a phone and in one as wide as a desk, with someone looking at all of them."""
    frames = "".join(
        f'<iframe style="border:0;width:{width}px;height:800px" srcdoc="{escape(page)}"></iframe>'
        for page in pages
        for width in (PHONE, DESKTOP)
    )
    head = '<meta charset="utf-8"><meta name="color-scheme" content="light dark">'
    return f"<!doctype html><html><head>{head}<script>{LOOK}</script></head><body>{frames}</body></html>"


@pytest.mark.turns(3)
@pytest.mark.parametrize(("scheme", "background"), [(LIGHT, "rgb(255, 255, 255)"), (DARK, "rgb(20, 23, 27)")])
def test_phone_and_desk_light_and_dark(chromium: str, tmp_path: Path, scheme: str, background: str) -> None:
    flags = (f"--blink-settings=preferredColorScheme={scheme}", "--dump-dom")
    dom = run(chromium, tmp_path, framed(hostile().to_document().render()), *flags)
    found = re.search(r'data-seen="([^"]*)"', dom)
    assert found is not None
    phone, desk = json.loads(unescape(found.group(1)))
    assert (phone["width"], desk["width"]) == (PHONE, DESKTOP)
    for seen in (phone, desk):
        assert seen["needed"] <= seen["width"]  # nothing to scroll sideways
        assert seen["background"] == background
        assert seen["labels"] == 3 + 2 * 6 + 5 + 4 + 5 + 2 * 5 + 2 * 5 + 3  # nothing was run, nothing is missing
        assert seen["smallest"] >= 11


def test_it_can_be_printed(chromium: str, tmp_path: Path) -> None:
    paper = tmp_path / "page.pdf"
    run(chromium, tmp_path, sample.result().to_document().render(), "--no-pdf-header-footer", f"--print-to-pdf={paper}")
    assert paper.read_bytes().startswith(b"%PDF")
    assert 4 <= len(re.findall(rb"/Type\s*/Page\b", paper.read_bytes())) <= 12
