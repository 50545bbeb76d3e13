"""The text format of paper criteo-test-bed: what the file means, and what is said of a file that means nothing."""

from __future__ import annotations

import gzip
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import offrank
from offrank.errors import EmptyLogError, LogError, RowError, UsageError
from offrank.log.batch import LogBatch
from offrank.log.source import Needs
from offrank.readers import criteo_paper
from offrank.readers.formats.criteo import PaperTable, category_indices
from offrank.readers.text import line_blocks
from offrank.readers.wide import WideLog
from offrank_papers.adverts import AdvertWorld
from tests.readers.plain import batches, plain_rows

# The first impression is public; its other 15 candidate lines are not.
TEXT = """\
example 32343877: 57702caea2a35f22a32c43a4b57e2a3057702caf1993e0165eb115f689a5b0bb 0 1.102191e-01 2 3 1:300 2:250 3:0 \
4:16 5:2 6:1 7:21 8:79 9:31 10:2
0 exid:32343877 11:1 12:0 13:0 14:0 15:0 16:2 23:20 24:95 25:40 32:26 35:61
0 exid:32343877 11:0 12:1 13:0 14:1 15:0 17:2 21:10 22:80 24:103 25:43 33:29 35:65
1 exid:32343877 24:5 24:5 24:7 24:5
example 32343878: 00 1 0.12345678901234567890 1 1 1:120.5 2:600 5:1
1 exid:32343878
"""
NEEDED = Needs(
    frozenset(["clicks", "candidates", "propensity", "inclusion", "reward", "features"]),
    labels=frozenset(["impression", "slots", "banner"]),
)


def features(batch: LogBatch, row: int) -> list[dict[int, float]]:
    """Index -> value of each candidate."""
    found, sparse = [], batch.contexts.features
    assert sparse is not None
    for line in sparse.first[row] + np.arange(batch.contexts.size[row]):
        where = slice(sparse.offsets[line], sparse.offsets[line + 1])
        sums: Counter[int] = Counter()
        for index, value in zip(sparse.indices[where].tolist(), sparse.values[where].tolist(), strict=True):
            sums[index] += value
        found.append(dict(sums))
    return found


def hashed(line: str) -> dict[int, float]:
    """The same in plain Python."""
    sums: Counter[int] = Counter()
    for token in line.split():
        feature, value = token.split(":")
        if feature in ("1", "2"):
            sums[int(feature) - 1] += float(value)
        else:
            sums[int(category_indices([token], 20)[0])] += 1
    return dict(sums)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "log.txt").write_text(TEXT, encoding="ascii")
    return tmp_path / "log.txt"


def test_what_an_impression_means(path: Path) -> None:
    (batch,) = batches(offrank.read_log(path, format="criteo_paper"), NEEDED)
    assert list(plain_rows(batch)) == [
        {
            "row": 0,
            "candidates": [0, 1, 2],
            "slate": [0, 1],
            "clicks": [0, 0],
            "reward": 0,
            "inclusion": 0.1,
            "propensity": 0.1102191,
            "label:impression": "32343877",
            "label:slots": "2",
            "label:banner": "300x250/0/2",
        },
        {
            "row": 1,
            "candidates": [0],
            "slate": [0],
            "clicks": [1],
            "reward": 1,
            "inclusion": 1,
            "propensity": 0.12345678901234567890,
            "label:impression": "32343878",
            "label:slots": "1",
            "label:banner": "120.5x600/-/1",
        },
    ]


def test_each_candidate_has_the_features_of_the_impression_and_its_own(path: Path) -> None:
    (batch,) = batches(criteo_paper(path), NEEDED)
    lines = [line.split(" ", 2)[-1] for line in TEXT.splitlines()]
    display = lines[0].split(" ", 5)[5]
    assert features(batch, 0) == [hashed(f"{display} {line}") for line in lines[1:4]]
    assert features(batch, 1) == [hashed("1:120.5 2:600 5:1")]


def test_a_repeated_category_is_counted(path: Path) -> None:
    (batch,) = batches(criteo_paper(path), NEEDED)
    index = category_indices(["24:5", "24:7"], 20)
    last = features(batch, 0)[2]
    assert [last[i] for i in index] == [3, 1]


def test_packed_files_and_several_files_are_one_log(path: Path) -> None:
    (path.parent / "log2.txt.gz").write_bytes(gzip.compress(TEXT.encode()))
    found = batches(criteo_paper([path, path.parent / "log2.txt.gz"]), NEEDED)
    assert [row["label:impression"] for batch in found for row in plain_rows(batch)] == ["32343877", "32343878"] * 2
    assert len({int(row) for batch in found for row in batch.row}) == 4
    assert [(batch.row - np.uint64(batch.base)).tolist() for batch in found] == [[0, 1], [0, 1]]


@pytest.mark.parametrize("size", [1, 100, 700, 10_000])
def test_blocks_of_any_size_make_the_same_log(path: Path, size: int) -> None:
    path.write_text("\n" + TEXT + "\r\n" + TEXT.replace("\n", "\r\n").rstrip(), encoding="ascii")
    found = batches(WideLog(PaperTable((str(path),), 20, size), {}), NEEDED)
    assert [row for batch in found for row in range(len(batch))] != []
    assert [int(row) for batch in found for row in batch.row] == [0, 1, 2, 3]
    assert [f for batch in found for row in range(len(batch)) for f in features(batch, row)] == 2 * [
        f for batch in batches(criteo_paper(path), NEEDED) for row in (0, 1) for f in features(batch, row)
    ]


BROKEN = {
    "no colon after the ID": ("example 32343878:", "example 32343878", 5, "header|example ID"),
    "another word": ("example 32343878:", "sample 32343878:", 5, "with the ID|example ID"),
    "a click of 2": (": 00 1 0.12", ": 00 2 0.12", 5, "example ID"),
    "no propensity": ("0.12345678901234567890", "abc", 5, "a number, found 'abc'"),
    "underscores in a number": ("0.12345678901234567890", "0.1_2", 5, "a number"),
    "no slots": ("1.102191e-01 2 3", "1.102191e-01 0 3", 1, "at least one slot"),
    "more slots than candidates": ("1.102191e-01 2 3", "1.102191e-01 4 3", 1, "at least one slot"),
    "a candidate too few": ("1.102191e-01 2 3", "1.102191e-01 2 4", 5, "one line per candidate"),
    "a candidate too many": ("1.102191e-01 2 3", "1.102191e-01 2 2", 4, "example ID"),
    "another impression's candidate": ("0 exid:32343877 11:0", "0 exid:1 11:0", 3, "with the ID"),
    "a click that the header denies": ("0 exid:32343877 11:0", "1 exid:32343877 11:0", 3, "no click"),
    "a feature without a value": ("12:1 13:0", "12: 13:0", 3, "number:value"),
    "a feature without a number": ("12:1 13:0", "x:1 13:0", 3, "number:value"),
    "a feature without a colon": ("12:1 13:0", "12 13:0", 3, "number:value"),
    "a size that is none": ("1:300", "1:wide", 1, "a number, found 'wide'"),
    "the end of the file": ("\n1 exid:32343878\n", "", 6, "one line per candidate, found 'the end'"),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("size", [50, 1 << 20])
def test_a_line_that_is_not_in_the_format_is_named(path: Path, case: str, size: int) -> None:
    old, new, line, expected = BROKEN[case]
    assert old in TEXT
    path.write_text(TEXT.replace(old, new), encoding="ascii")
    with pytest.raises(LogError, match=rf"log\.txt, line {line}: expected .*({expected})"):
        batches(WideLog(PaperTable((str(path),), 20, size), {}), NEEDED)


def test_a_propensity_above_one_is_a_row_that_breaks_a_rule(path: Path) -> None:
    path.write_text(TEXT.replace("0.12345678901234567890", "1.5"), encoding="ascii")
    with pytest.raises(RowError, match="bad-propensity"):
        batches(criteo_paper(path), NEEDED)
    (batch,) = batches(criteo_paper(path, invalid="skip"), NEEDED)
    assert (len(batch), batch.skipped) == (1, {"bad-propensity": 1})


def test_files_without_impressions(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("\n\n")
    with pytest.raises(EmptyLogError):
        batches(criteo_paper(tmp_path / "log.txt"), NEEDED)
    (tmp_path / "log.txt.gz").write_bytes(gzip.compress(TEXT.encode())[:-9])
    with pytest.raises(LogError, match="cannot be read"):
        batches(criteo_paper(tmp_path / "log.txt.gz"), NEEDED)


@pytest.mark.parametrize("bits", [7, 31])
def test_bits(path: Path, bits: int) -> None:
    with pytest.raises(UsageError, match="bits"):
        criteo_paper(path, bits=bits)


NUMBERS = st.tuples(st.floats(0, 1), st.sampled_from(["r", ".6e", ".17g", ".3f", ".25e", "g"])).map(
    lambda drawn: repr(drawn[0]) if drawn[1] == "r" else format(*drawn)
)


@given(st.lists(NUMBERS.filter(lambda text: float(text) >= 1e-300), min_size=1, max_size=5))
def test_numbers_are_those_of_python_to_the_last_bit(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    path = tmp_path_factory.mktemp("numbers") / "log.txt"
    path.write_text("".join(f"example 1: 0 0 {text} 1 1 1:{text}\n0 exid:1\n" for text in texts), encoding="ascii")
    (batch,) = batches(criteo_paper(path), NEEDED)
    assert batch.shown.written["propensity"].tolist() == [float(text) for text in texts]
    assert [features(batch, row)[0][0] for row in range(len(texts))] == [float(text) for text in texts]


def test_the_simulated_log_and_its_text_are_the_same(tmp_path: Path) -> None:
    world = AdvertWorld(impressions=300, contexts=40)
    world.write_text(tmp_path / "log.txt.gz")
    told = {}
    for batch in batches(world.source(), replace(NEEDED, labels=frozenset(["slots", "banner"]))):
        for i, row in enumerate(plain_rows(batch)):
            lines, shown = features(batch, i), [row["candidates"].index(item) for item in row["slate"]]
            others = [j for j in range(len(lines)) if j not in shown]
            told[row["row"]] = row | {"features": [lines[j] for j in shown + others]}
    for batch in batches(criteo_paper(tmp_path / "log.txt.gz"), NEEDED):
        for i, row in enumerate(plain_rows(batch)):
            other = told.pop(row["row"])
            assert features(batch, i) == other["features"]
            assert row["propensity"] == pytest.approx(other["propensity"], rel=1e-6)
            assert all(row[name] == other[name] for name in ("clicks", "inclusion", "label:banner", "label:slots"))
    assert not told


def test_a_file_in_another_format_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "other.txt"
    path.write_text("hello\n" * 1000)
    assert [len(block) for block in line_blocks(str(path), b"example ", 64)] == [64]
    path.write_text("\n example a\n" + "example b\n" * 20)
    assert b"".join(line_blocks(str(path), b"example ", 64)) == path.read_bytes()
