"""Each page for users has a picture that its own commands have made, and the list of the script is complete."""

from __future__ import annotations

import re
import runpy
import xml.etree.ElementTree as ET

import pytest

from tests.house.code import ROOT

DOCS = ROOT / "docs"
SCRIPT = runpy.run_path(str(ROOT / "scripts/pictures"), run_name="pictures")
SHELVES = ("start", "how-to", "concepts")
OTHERS = {
    "how-to/real-logs": "of logs that are not shipped",
    "how-to/engines": "needs a cluster",
    "how-to/ship-it-or-not": "its steps have theirs",
    "start/install": "nothing is judged",
    "concepts/faq": "nothing is judged",
}
PAGES = {f"{shelf}/{path.stem}" for shelf in SHELVES for path in (DOCS / shelf).glob("*.md")}
LARGEST = 40_000


def test_the_list_is_complete() -> None:
    drawn = {name.partition("#")[0] for name in SCRIPT["PICTURES"]}
    assert {page for page in drawn if page.startswith(SHELVES)} == PAGES - {*OTHERS}
    assert drawn <= {*SCRIPT["PICTURES"]}
    assert {*SCRIPT["FOLDER"].glob("*")} == {*map(SCRIPT["place"], SCRIPT["PICTURES"])}


@pytest.mark.parametrize("name", sorted(SCRIPT["PICTURES"]))
def test_a_page_shows_its_picture(name: str) -> None:
    text = SCRIPT["page_of"](name).read_text(encoding="utf-8")
    place = SCRIPT["place"](name)
    alternative = re.findall(rf"!\[(.+?)\]\((?:\.\./)+assets/pictures/{place.name}\)", " ".join(text.split()))
    assert len(alternative) == 1
    drawn = place.read_bytes()
    assert 500 < len(drawn) < LARGEST
    root = ET.fromstring(drawn)
    assert root.tag.endswith("svg")
    title, needed = SCRIPT["PICTURES"][name]
    named = root.get("aria-label", "")
    assert re.match(title, named), named
    assert all(part in text for part in needed)
