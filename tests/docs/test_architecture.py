"""docs/contributing/architecture.md is true of the code: the walk is walked, and rooms, files and records are there."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.house.code import PACKAGE, ROOT
from tests.house.measures import one_row

pytestmark = pytest.mark.xdist_group("house")  # one process reads the files and walks

DOCS = ROOT / "docs" / "contributing"
PAGE = (DOCS / "architecture.md").read_text(encoding="utf-8")
WALK = PAGE.partition("## One row's way")[2].partition("\n## ")[0]
STEPS = re.findall(r"`([\w/]+\.py)`: `([\w.]+)`", WALK)
ROOMS = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
RECORDS = (DOCS / "decisions.md").read_text(encoding="utf-8").split("\n## ")[1:]


def test_the_walk_is_the_way_of_a_row() -> None:
    entered = [tuple(function) for function in one_row()["entered"]]
    assert [step for step in STEPS if step not in entered] == []
    assert sorted(STEPS, key=entered.index) == STEPS
    assert len(STEPS) >= 15
    assert len(re.findall(r"^\d+\. ", WALK, flags=re.MULTILINE)) == 10


def test_the_storeys_of_the_page_are_those_of_the_import_contract() -> None:
    section = PAGE.partition("## Six storeys")[2].partition("\n## ")[0]
    told: list[set[str]] = []
    for storey, rooms in re.findall(r"^\| (\w*) ?\| (`.*?) \|", section, flags=re.MULTILINE):
        if storey:
            told.append(set())
        told[-1] |= set(re.findall(r"`(\w+)`", rooms))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    [layers] = (one["layers"] for one in project["tool"]["importlinter"]["contracts"] if one["id"] == "layers")
    *storeys, ground = [{room.strip(" ()") for room in layer.split(":")} for layer in layers]
    # Two modules of public names are no rooms: results as tables of other libraries, and draws for whoever serves.
    assert [storey - {"frames", "propensities"} for storey in storeys] == told
    assert len(told) == 6
    assert ground.union(*told) - {"errors", "wording"} == ROOMS
    under = section.partition("Under all of them lie")[2].partition("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", under)) == ground


@pytest.mark.parametrize(("kind", "file"), re.findall(r"^\| `(\w+)` \| `([\w/]+\.py)` \|", PAGE, flags=re.MULTILINE))
def test_a_type_is_where_the_page_says(kind: str, file: str) -> None:
    assert re.search(rf"^class {kind}\b", (PACKAGE / file).read_text(encoding="utf-8"), flags=re.MULTILINE)


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.partition("\n")[0])
def test_a_record_says_what_why_and_at_what_cost(record: str) -> None:
    parts = ("Decided", "Why", "What it costs")
    assert [record.count(f"\n**{word}.** ") for word in parts] == [1, 1, 1]
    assert sorted(parts, key=lambda word: record.index(f"**{word}.**")) == list(parts)
    assert len(record.split()) < 250


def test_there_are_ten_records() -> None:
    titles = [record.partition("\n")[0] for record in RECORDS]
    assert len(titles) == len({*titles}) >= 10
