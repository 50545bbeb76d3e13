"""Where everything stands on pages, as wide as a phone and as a desk: where it stood before, and nothing overlaps.

`python -m tests.report.test_layout` measures anew and writes `layout.json`; look at the pages, and at its diff, first.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from html import escape, unescape
from pathlib import Path
from typing import Any

import pytest

from offrank.evaluation.differences import Difference
from offrank.findings.verdict import Verdict
from offrank.report.charts import Chart, Series
from offrank.report.document import Answer, Codes, Document, Figures, Item, Section
from offrank.sums.estimate import Interval
from tests.report import sample, verbs
from tests.report.conftest import FLAGS, browser

KEPT = Path(__file__).with_name("layout.json")
WIDTHS = (390, 1280)
SEEN = (
    "h1, h2, .answers p, .facts > div, .f-label, .f-lane, .f-number, .f-aside, figcaption, .charts figure, thead th, "
    ".item, .finding, pre, .glossary dl"
)
#: An edge may be this far from where it was, in pixels and as a share: fonts differ a little between machines.
NEAR, SHARE = 14, 0.12
LOOK = """
addEventListener("load", () => {
  const frames = [...document.querySelectorAll("iframe")];
  document.documentElement.dataset.seen = JSON.stringify(frames.map(frame => {
    const inner = frame.contentDocument;
    inner.querySelectorAll("details").forEach(one => { one.open = true; });
    const box = one => { const r = one.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
    const shown = one => { const r = one.getBoundingClientRect(); return r.width > 0 && r.height > 0; };
    const named = one => one.tagName.toLowerCase() + (one.classList.length ? "." + one.classList[0] : "");
    const boxes = [...inner.querySelectorAll(SEEN)].map(one => [named(one), ...box(one).map(Math.round)].join(" "));
    const apart = (a, b) => a[2] <= b[0] + 1 || b[2] <= a[0] + 1 || a[3] <= b[1] + 1 || b[3] <= a[1] + 1;
    const over = [];
    for (const row of inner.querySelectorAll(".f-row, thead tr, .facts, .charts svg, .answers")) {
      const said = ".f-label, .f-number, .f-aside > span, text, th, dd, p";
      const texts = [...row.querySelectorAll(said)].filter(shown);
      const marks = [...row.querySelectorAll(".f-lane .interval, .f-lane .point, .f-lane .band")];
      texts.forEach((one, at) => {
        for (const other of [...texts.slice(at + 1), ...marks])
          if (!one.contains(other) && !apart(box(one), box(other)))
            over.push(`${one.textContent} / ${other.textContent || other.getAttribute("class")}`);
      });
    }
    return { boxes, over, needed: inner.documentElement.scrollWidth };
  }));
});
""".replace("SEEN", json.dumps(SEEN))

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def compared() -> Document:
    """Two comparisons, of which one has names that do not fit into a line."""
    clear, share = Interval(0.0312, 0.0291, 0.0333, 0.001), Interval(0.08, 0.07, 0.09, 0.005)
    names = ("the ranker that was trained on last month's sessions", "new")
    rows = tuple(
        Difference(name, "production", Verdict("better", trust, name, "snips", difference=clear, relative=share), 9)
        for name, trust in zip(names, ("with care", "sound"), strict=True)
    )
    return replace(sample.result(), comparisons=rows).with_facts(kind="compare").to_document()


def checked() -> Document:
    """A check of a log, with one check of each status."""
    verdicts = {"the log": Verdict("unknown", "none", "the log")}
    return replace(sample.result(), verdicts=verdicts).with_facts(kind="check").to_document()


def by_day() -> Document:
    """Twelve days of one target."""
    key, one = ("better", "ipm"), sample.answer("better")
    found = sample.only({key: one}, {f"2026-09-{day:02}": {key: one} for day in range(1, 13)}, by="day")
    return replace(found, cumulative=found.groups).to_document()


def models() -> Document:
    """Charts, tables and items, as pages on click models have them."""
    lines = tuple(
        Series(name, [1, 2, 3], [1.0, 0.5, shift], line=True) for name, shift in {"pbm": 0.3, "dbn": 0.2}.items()
    )
    charts = tuple(Chart(title, "rank", "share", lines, whole_x=True) for title in ("Examination", "Perplexity"))
    header = ("model", "log-likelihood", "perplexity", "conditional perplexity", "nDCG", "see")
    rows = tuple(
        (name, "-1.144 \u00b1 0.012", 1.31, 1.29, None, Codes("note", ("clustered",))) for name in ("pbm", "dbn")
    )
    items = (Item("20,000 impressions", status="rows"), Item("Fails", "It says why.", "serious"), "plain")
    sections = (
        Section("Examination", ("Relative to rank 1.",), charts=charts),
        Section("Measured", tables=(Figures("Predictions", header, rows),)),
        Section("What it holds", items=items, code="offrank clicks fit log.parquet"),
    )
    return Document(
        "Which click model?", "Asked of 20,000 impressions", sections, (Answer("`pbm` **predicts best**."),)
    )


PAGES: dict[str, Callable[[], Document]] = {
    "evaluate": lambda: sample.result().to_document(),
    "compare": compared,
    "check": checked,
    "days": by_day,
    "models": models,
    **{name: partial(lambda name: verbs.every()[name], name) for name in verbs.NAMES},
}


def measured(chromium: str, pages: list[str]) -> list[dict[str, Any]]:
    """Each page in each width: the boxes of its elements, what overlaps, and the width that it needs."""
    frames = "".join(
        f'<iframe style="border:0;width:{width}px;height:800px" srcdoc="{escape(page)}"></iframe>'
        for page in pages
        for width in WIDTHS
    )
    text = f"<!doctype html><html><head><meta charset=utf-8><script>{LOOK}</script></head><body>{frames}</body></html>"
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "pages.html")
        place.write_text(text, encoding="utf-8")
        command = [chromium, *FLAGS, f"--user-data-dir={folder}/profile", "--dump-dom", place.as_uri()]
        done = subprocess.run(command, capture_output=True, check=True, timeout=180, encoding="utf-8")
    found = re.search(r'data-seen="([^"]*)"', done.stdout)
    assert found is not None
    seen: list[dict[str, Any]] = json.loads(unescape(found.group(1)))
    return seen


@cache
def everything(chromium: str) -> dict[str, dict[str, Any]]:
    seen = measured(chromium, [make().render() for make in PAGES.values()])
    names = [f"{page} {width}" for page in PAGES for width in WIDTHS]
    return dict(zip(names, seen, strict=True))


def moved(before: list[str], after: list[str]) -> Iterator[str]:
    """Say what stands elsewhere, or is gone, or is new."""
    names = [[one.partition(" ")[0] for one in each] for each in (before, after)]
    if names[0] != names[1]:
        at = next((at for at, pair in enumerate(zip(*names, strict=False)) if pair[0] != pair[1]), min(map(len, names)))
        gone, new = (each[at] if at < len(each) else "nothing" for each in names)
        yield f"element {at}: {gone} was there, now {new}; {len(names[0])} elements were there, now {len(names[1])}"
        return
    for at, pair in enumerate(zip(before, after, strict=True)):
        (name, *was), (_, *now) = (one.split() for one in pair)
        for side, one, other in zip(("left", "top", "right", "bottom"), map(int, was), map(int, now), strict=True):
            if abs(one - other) > NEAR + SHARE * abs(one):
                yield f"element {at}, {name}: {side} was {one}, now {other}"


@pytest.mark.turns(3)
@pytest.mark.parametrize("name", [f"{page} {width}" for page in PAGES for width in WIDTHS])
def test_everything_stands_where_it_stood(chromium: str, name: str) -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    assert [*moved(kept[name], everything(chromium)[name]["boxes"])] == []


@pytest.mark.parametrize("name", [f"{page} {width}" for page in PAGES for width in WIDTHS])
def test_nothing_overlaps_and_nothing_is_beyond_the_edge(chromium: str, name: str) -> None:
    seen = everything(chromium)[name]
    assert seen["over"] == []
    assert seen["needed"] <= int(name.rsplit(maxsplit=1)[-1])


#: A change of the page, in words: what is replaced, and by what.
SPOILED = {
    "a column is gone": (r'<th scope="col" class="text">see</th>', "", "evaluate 1280"),
    "numbers are gone": (r'<div class="f-aside">.*?</div>', "", "evaluate 390"),
    "the picture is before the answer": (
        r"<section class=\"answers\"",
        '<section style="margin-top:400px" class="answers"',
        "check 1280",
    ),
    "labels are beside the numbers on a phone": (
        r"</style>",
        ".offrank .f-label { margin-right: -9rem }</style>",
        "compare 390",
    ),
    "a label covers the interval": (r"</style>", ".offrank .f-lane { top: -1.2rem }</style>", "days 390"),
    "the field is narrow": (r"</style>", ".offrank .f-lane { width: 50% }</style>", "days 1280"),
}


@pytest.mark.turns(3)
def test_what_spoils_a_page_is_seen(chromium: str) -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    spoiled = {}
    for what, (old, new, name) in SPOILED.items():
        page, width = name.rsplit(" ", 1)
        text, times = re.subn(old, new, PAGES[page]().render(), flags=re.DOTALL)
        assert times, what
        spoiled[what] = text, kept[name], WIDTHS.index(int(width))
    seen = measured(chromium, [text for text, _, _ in spoiled.values()])
    for at, (what, (_, before, width)) in enumerate(spoiled.items()):
        found = seen[len(WIDTHS) * at + width]
        assert [*moved(before, found["boxes"]), *found["over"]], what


def written(seen: dict[str, dict[str, Any]]) -> str:
    """One line per element, so that a diff says what moved."""
    pages = (
        f"{json.dumps(name)}: [\n" + ",\n".join(json.dumps(box) for box in one["boxes"]) + "\n]"
        for name, one in seen.items()
    )
    return "{\n" + ",\n".join(pages) + "\n}\n"


if __name__ == "__main__":
    found = browser()
    if found is None:
        sys.exit("there is no chromium; as root:  apt-get install chromium")
    KEPT.write_text(written(everything(found)), encoding="utf-8")
