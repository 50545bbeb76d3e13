"""The page holds everything once, escapes everything, and needs nothing but itself."""

from __future__ import annotations

import re
from dataclasses import replace
from email.message import Message
from html.parser import HTMLParser
from importlib import metadata
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank import Result, Top
from offrank.evaluation.metadata import Diagnoses, RankOverlap, WeightsOf
from offrank.report.facts import asked
from offrank.report.page import listed as words_of_page
from offrank.report.page import prose
from offrank.sums.histogram import Histogram
from tests.report import sample
from tests.verbs.logs import CURVE, LOGGING, search


def render(result: Result) -> str:
    return result.to_document().render()


WORDS = "What the words mean"
EVIL = "</script><img src=x onerror=alert(1)>\"'`**&"


class Reader(HTMLParser):
    """Collects tags, headings and whether the tags close in order."""

    VOID = frozenset({"meta", "br", "hr", "img", "link", "input"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_well_formed_with_headings_in_order() -> None:
    reader = Reader(render(sample.result()))
    assert reader.open == []
    levels = [int(tag[1]) for tag, _ in reader.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert ("html", {"lang": "en"}) in reader.tags


def installed(monkeypatch: pytest.MonkeyPatch, *urls: str) -> None:
    """The package as its metadata would name these addresses."""
    named = Message()
    for url in urls:
        named["Project-URL"] = url
    monkeypatch.setattr(metadata, "metadata", lambda _: named)


def test_codes_link_to_the_documentation_that_the_package_names(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, "Source, https://example.org/code", "Documentation, https://example.org/docs")
    page = render(sample.result())
    anchors = {*re.findall(r'href="https://example.org/docs/reference/findings.html#([^"]+)"', page)}
    assert anchors == {"heavy-tail", "low-ess", "no-overlap"}
    headings = Path(__file__).parents[2].joinpath("docs/reference/findings.md").read_text(encoding="utf-8")
    assert all(f"\n### {code}\n" in headings for code in anchors)


def test_nothing_is_fetched_or_run(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch)
    page = render(sample.result())
    reader = Reader(page)
    assert not re.search(r"https?://|url\(|@import", page)
    assert not [tag for tag, _ in reader.tags if tag in {"script", "link", "img", "iframe", "object", "base"}]
    loading = {"src", "xlink:href", "srcset"}
    assert not [attributes for _, attributes in reader.tags if loading & set(attributes)]
    links = [attributes["href"] for _, attributes in reader.tags if "href" in attributes]
    assert links  # from every code to what was found, on the page itself
    assert {link for link in links if link} <= {f"#{there['id']}" for _, there in reader.tags if "id" in there}
    assert "default-src 'none'" in page


def test_hostile_names_are_text() -> None:
    log = search().slice(0, 400)
    log = log.append_column(EVIL, log["device"].cast(pa.string())).append_column(f"{EVIL}2", log["new_score"])
    targets = {f"{EVIL}{name}": Top(f"{EVIL}2") for name in "ab"}
    found = offrank.evaluate(
        log, targets, LOGGING, ["ips", "snips", "interpol(window=slope)"], by=EVIL, examination=CURVE
    )
    words = dict.fromkeys(("title", "unit", "command"), EVIL)
    found = found.with_facts(**words, log=replace(found.metadata.log, source=EVIL, skipped={EVIL: 3}))
    page = render(found)
    reader = Reader(page)
    assert reader.open == []
    assert "<img" not in page
    assert "</script" not in page
    assert not [name for _, attributes in reader.tags for name in attributes if name.startswith("on")]
    assert "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;" in page


def headings(page: str) -> list[str]:
    return [re.sub("<[^>]+>", "", found).strip() for found in re.findall(r"<h2>(.*?)</h2>", page, re.DOTALL)]


def test_all_sections_are_there() -> None:
    assert headings(render(sample.result())) == [
        "Why",
        "Left out while reading",
        "By category: better",
        "By category: worse",
        "better is plackett_luce(new_score)",
        "worse is top(price, ascending=True)",
        "Before you rely on it: all findings",
        "All estimators by category: better",
        "All estimators by category: worse",
        "Checks of the log",
        "Inverse propensities by length of the slate",
        "Importance weights",
        "Effect of clipping",
        "By window or bound",
        "The heaviest impressions",
        "Overlap of target and log by rank",
        "Rankings side by side",
        "Clicks by rank",
        "To repeat this",
        WORDS,
    ]


def test_the_numbers_and_how_to_repeat_them_are_there() -> None:
    page = render(sample.result())
    for text in (
        "0.414",
        "0.410 to 0.419",
        "no overlap",
        "offrank evaluate demo/log.parquet",
        "numpy 2.2.1",
    ):
        assert text in page
    assert "2026-11-21T02:00:00Z" in page
    assert '12 for <code class="name">duplicate-item</code>' in page
    assert "negative-score" not in page


def test_empty_sections_vanish() -> None:
    mean = sample.only({("t", "logged"): sample.plain(0.4, 0.01)}, command=None)
    assert headings(render(mean)) == [
        "Why",
        "Left out while reading",
        "t",
        "To repeat this",
        WORDS,
    ]


def test_refusals_alone_make_a_page() -> None:
    page = render(sample.only({("top(x)", "ips"): sample.refused()}))
    assert "This log cannot say" in page
    assert "no overlap" in page


def test_the_first_screen_says_what_was_asked_of_which_log() -> None:
    page = render(sample.result())
    first = page[: page.index("<h2>")]
    told = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", re.sub("</?(?:code|abbr)[^>]*>", "", first)))
    assert told == {
        "Log": "demo/log.parquet",
        "Impressions": "200,000",
        "Before sub-sampling": "248,310",
        "Clusters": "query",
        "Drawn by": "plackett_luce(old_score)",
        "Estimator of the answer": "ipm",
        "Examination by rank": "1, 0.62, 0.41, 0.3, 0.24",
        "Intervals": "studentised 95\u00a0%",
    }


def test_the_smallest_effect_that_would_be_seen_is_on_the_first_screen() -> None:
    found = sample.result()
    equal, unlike = {"better": 0.0171, "worse": 0.0171}, {"worse": 0.02, "better": 0.0171}
    for least, told in ((equal, "0.0171"), (unlike, "0.0171\u00a0to\u00a00.0200")):
        verdicts = {name: replace(one, detectable=least[name]) for name, one in found.verdicts.items()}
        page = re.sub("</?abbr[^>]*>", "", render(replace(found, verdicts=verdicts)))
        assert f"<dt>Minimum detectable effect</dt><dd>{told}</dd>" in page


@pytest.mark.parametrize("names", [("2026-09-09", "2026-09-10"), ("2026-09-10T00:00:00", "2026-09-09T00:00:00")])
def test_days_are_in_order_and_give_the_period(names: tuple[str, str]) -> None:
    key, one = ("better", "ipm"), sample.answer("better")
    page = render(sample.only({key: one}, {name: {key: one} for name in names}, by="day"))
    first, last = (f'<span class="day">{day}</span>' for day in ("2026-09-09", "2026-09-10"))  # no line ends in one
    assert f"<dt>Period</dt><dd>{first}\u00a0to {last}</dd>" in page
    assert page.index(f">{min(names)}</bdi>") < page.index(f">{max(names)}</bdi>")


def test_checks_that_passed_are_one_line() -> None:
    passed = sample.checks()[:1] * 3
    page = render(sample.result().with_facts(checks=(*passed, *sample.checks()[1:])))
    assert '<details class="passed"><summary><span class="status ok">ok</span> 3 passed</summary>' in page
    assert page.count('<span class="status ok">') == 1
    one = render(sample.result())
    assert "passed</summary>" not in one
    assert one.count('<span class="status ok">') == 1


def test_every_term_is_explained_under_the_pointer_and_at_the_end() -> None:
    page = render(sample.result())
    lines = dict(re.findall(r'<abbr title="([^"]*)">([^<]*)</abbr>', page))
    listed = dict(re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", page[page.index("What the words mean") :]))
    assert {"ESS", "mean weight", "tail index", "interval", "propensity", "change"} <= {*listed}
    assert {*lines} <= {*listed.values()}
    assert {"ips", "snips", "ipm", "interpol", "pbm", "rips"} <= {*listed}
    few = prose("Slots of a ranker")  # only what is on a page
    assert [term for term, _ in words_of_page(few)] == ["slot"]


def test_terms_are_found_whole_once_and_in_the_plural() -> None:
    said = prose("Propensities of slates, of a slate and of `slate`, are <b>; translate, no-support, clusters.")
    assert re.findall(r">([A-Za-z]+)</abbr>", said) == ["Propensities", "slates", "clusters"]
    assert "&lt;b&gt;" in said


def test_many_groups_are_cut_to_the_largest() -> None:
    key, one = ("better", "ipm"), sample.answer("better")
    page = render(sample.only({key: one}, {f"g{n}": {key: replace(one, n=n)} for n in range(1, 31)}, by="banner"))
    assert "The 10 largest are shown; 20 smaller ones are not." in page
    drawn, table, every = page.count(">g21<"), page.count('<span class="name">g21<'), page.count('"name">g20<')
    assert (drawn, table, every) == (3, 2, 1)  # in the picture and its table; the others in a folded table only


@pytest.mark.parametrize("counts", [[9], [8, 1]])
def test_weights_that_are_all_equal_are_not_drawn(counts: list[int]) -> None:
    edges, none = np.array([0.5, 1.0, 2.0])[: len(counts) + 1], np.empty(0)
    weights = WeightsOf("t", "logged", Histogram(0, edges, np.array(counts), none, none.astype(np.int64)))
    mean = sample.plain(0.4, 0.01, mean_weight=1.0, mean_weight_interval=sample.spread(1.0, 0.0, 0.0))
    page = render(sample.only({("t", "logged"): mean}, weights=(weights,)))
    assert ("Importance weights" in headings(page)) == ("Weights of t" in page) == (len(counts) > 1)


@pytest.mark.parametrize("ranks", [1, 2])
def test_overlap_at_a_single_rank_is_no_line(ranks: int) -> None:
    behind = Diagnoses(overlap=tuple(RankOverlap("t", rank, 0.3, 0.4) for rank in range(1, ranks + 1)))
    page = render(sample.only({("t", "ips"): sample.plain(0.4, 0.01)}, diagnoses=behind))
    assert "Overlap of target and log by rank" in headings(page)
    assert ("Overlap of t with the log" in page) == (ranks > 1)


def test_of_other_pages_the_first_screen_says_the_level_of_the_intervals() -> None:
    told = dict(asked({"log": "log.parquet", "interval": "normal", "confidence": 0.9}))
    assert told == {"Log": "`log.parquet`", "Intervals": "normal 90 %"}
