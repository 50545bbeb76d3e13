"""The first page: it is short, and each of its ten questions leads within one click to a section that answers it."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.house.code import ROOT

DOCS = ROOT / "docs"
INDEX = (DOCS / "index.md").read_text(encoding="utf-8")
ANSWERS = {
    "log": ["draw(", "log_row()", "`propensity`"],
    "gate": ["$ offrank merge", "--require better", "$ echo $?"],
    "compare": ["$ offrank compare", "Winner: "],
    "judge some of the rows": ["--where", "where="],
    "randomise": ["$ offrank plan", "designs=", "epsilon("],
    "merge days": ["$ offrank merge", "offrank.merge("],
    "use a cluster": ["offrank.evaluate("],
    "add my own estimator": ["@ESTIMATORS.register", "def weigh(", "`src/offrank/estimators/`", "`offrank.extensions`"],
    "cite": ["@software{", "title", "author"],
    "report a bug": ["$ offrank doctor", "issue", "#security"],
}
"""Of each question, by its first words, what a section has to say or to run for an answer."""
ROW = re.compile(r"^\| ([a-z][^|]*)\? \| (.*) \|$", re.MULTILINE)
QUESTIONS = dict(ROW.findall(INDEX.partition("\n## Ten questions\n")[2].partition("\n## ")[0]))


def slug(heading: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip())


def section(page: str, anchor: str) -> str:
    """What stands below a heading, with those of lower levels; parts of other files are read in."""
    text = (DOCS / page).read_text(encoding="utf-8") if page else INDEX
    text = re.sub(r'^--8<-- "([\w.]+):(\w+)"$', lambda one: part(one[1], one[2]), text, flags=re.MULTILINE)
    without = re.sub(
        r"^```.*?^```", lambda block: re.sub("(?m)^#", " ", block[0]), text, flags=re.MULTILINE | re.DOTALL
    )
    headings = [(len(one[1]), one[2], one.end()) for one in re.finditer(r"^(#+) (.*)$", without, re.MULTILINE)]
    level, _, start = next(one for one in headings if slug(one[1]) == anchor)
    ends = [end - len(title) - depth - 1 for depth, title, end in headings if end > start and depth <= level]
    return without[start : min(ends, default=None)]


def part(file: str, name: str) -> str:
    text = (ROOT / file).read_text(encoding="utf-8")
    return text.partition(f"<!-- --8<-- [start:{name}] -->")[2].partition(f"<!-- --8<-- [end:{name}] -->")[0]


def test_it_fits_its_page_and_has_the_parts_of_the_readme() -> None:
    assert len(INDEX.splitlines()) <= 120
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for part_of_both in ("What your log needs", "Thirty seconds to an answer", "One page of use"):
        assert INDEX.count(f"\n## {part_of_both}\n") == readme.count(f"\n## {part_of_both}\n") == 1


def test_there_are_ten_questions() -> None:
    assert len(QUESTIONS) == 10
    assert [next(one for one in ANSWERS if asked.startswith(one)) for asked in QUESTIONS] == list(ANSWERS)


@pytest.mark.parametrize("asked", QUESTIONS)
def test_a_question_is_answered_within_one_click(asked: str) -> None:
    links = re.findall(r"\]\(([\w/.-]*)#([\w-]+)\)", QUESTIONS[asked])
    assert len(links) == QUESTIONS[asked].count("](") > 0
    wanted = next(words for first, words in ANSWERS.items() if asked.startswith(first))
    for page, anchor in links:
        said = section(page, anchor)
        assert [word for word in wanted if word not in said] == [], f"{page}#{anchor}"


def test_what_one_per_cent_would_buy_is_what_the_example_of_the_readme_prints() -> None:
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    [(effect, impressions, cost)] = re.findall(
        r"would buy (\S+) %: \S+ 0\.01\) with snipm: (\S+) impressions, (\S+) %", readme
    )
    for text in (readme, " ".join(INDEX.split())):
        assert f"difference of {float(effect):.0f} %" in text
        assert f"after {float(impressions.replace(',', '')) / 1e6:.1f} million impressions" in text
    assert f"with {cost} % of the clicks at stake" in " ".join(INDEX.split())


def test_what_is_cited_is_what_the_file_says() -> None:
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    entry = section("", "cite")
    for words in re.findall(r"\{+([^{}]+)\}", entry.partition("title")[2].partition("note")[0]):
        assert words in cited
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] in entry


def test_a_section_ends_where_the_next_begins() -> None:
    whole = section("how-to/engines.md", "dask")
    assert "offrank.evaluate(" in whole
    assert "## Ray" not in whole
