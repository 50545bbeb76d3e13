"""What CONTRIBUTING.md adds is added, in a process of its own: the parts of this one stay as they are."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.code import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PARTS = re.findall(r"^### (.*)$", PAGE, flags=re.MULTILINE)
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.xdist_group("docs")


@pytest.mark.turns(6, ROOT / "CONTRIBUTING.md")
def test_every_part_that_is_added_works(demo: Path, tmp_path: Path) -> None:
    (tmp_path / "offrank-demo").symlink_to(demo / "offrank-demo")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(BLOCK.findall(PAGE))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("part", PARTS)
def test_a_part_says_where_it_goes_and_has_an_example(part: str) -> None:
    for folder in re.findall(r"`(src/[\w/]+)`", part):
        assert (ROOT / folder).is_dir()
    text = PAGE.partition(f"### {part}\n")[2].partition("\n### ")[0]
    pages = re.findall(r"\]\((docs/[\w/.-]+)[#)]", text)
    assert BLOCK.search(text) or any("```python" in (ROOT / page).read_text(encoding="utf-8") for page in pages)


def test_the_parts_are_those_of_the_house() -> None:
    said = " ".join(PARTS)
    assert re.findall(r"(estimator|policy|finding|interval|format|click model|verb)\b.*?:", said) == [
        "estimator",
        "policy",
        "finding",
        "interval",
        "format",
        "click model",
        "verb",
    ]


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "AGENTS.md"])
def test_what_is_linked_and_run_is_there(page: str) -> None:
    text, targets = (ROOT / page).read_text(encoding="utf-8"), (ROOT / "Makefile").read_text(encoding="utf-8")
    for linked in re.findall(r"\]\(([\w/.-]+\.md)\)", text):
        assert (ROOT / linked).is_file(), linked
    for path in re.findall(r"`((?:src|tests|docs|scripts)/[\w/.-]+)`", text):
        assert (ROOT / path).exists(), path
    for target in re.findall(r"\bmake ([a-z]+)\b(?= |`|$)", text):
        assert re.search(rf"^{target}:", targets, flags=re.MULTILINE), target
