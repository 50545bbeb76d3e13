"""README is short and its badges are true; the list for assistants leads to pages that are there."""

from __future__ import annotations

import re
import tomllib

from tests.house.code import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
BADGE = re.compile(r"!\[([^\]]+)\]\(https://img\.shields\.io/badge/(\S+?)-\w+\)")


def test_readme_fits_its_page() -> None:
    assert len(README.splitlines()) <= 120
    assert "![" in README.partition("\n## ")[0]


def test_badges_are_true() -> None:
    badges = dict(BADGE.findall(README))
    oldest = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert badges == {
        f"Python {oldest} or newer": f"python-{oldest}%2B",
        f"Licence: {PROJECT['project']['license']}": f"licence-{PROJECT['project']['license']}",
        "Typed: mypy --strict": "typed-mypy%20strict",
    }
    assert PROJECT["tool"]["mypy"]["strict"] is True


def test_links_lead_to_pages() -> None:
    for page in re.findall(r"\]\(((?:docs|reproductions)/[^)#]+|[A-Z]+\.md)", README):
        assert (ROOT / page).is_file(), page
    listed = (ROOT / "docs/llms.txt").read_text(encoding="utf-8")
    pages = re.findall(r"\]\(([^)#]+)\.html\)", listed)
    assert len(pages) > 10
    assert [page for page in pages if not (ROOT / f"docs/{page}.md").is_file()] == []
