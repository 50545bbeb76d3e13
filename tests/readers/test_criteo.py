"""The Criteo format: factors and candidates as the file means them."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

import offrank
from offrank.errors import EmptyLogError, LogError, RowError, UsageError
from offrank.log.source import Needs
from offrank.readers import criteo
from tests.readers.plain import rows, skipped

TEXT = """\
11 |l 0.999 |p 40.0|f 0:300 1:600
11 |f 0:300 1:250
11 |f 0:300 1:90
12 |l 0.001 |p 2.5|f 0:2
12 |f 0:3
13 |l 0.999 |p 10.0|f 0:7
"""
NEEDED = Needs(frozenset(["clicks", "candidates", "propensity", "inclusion"]), labels=frozenset(["impression"]))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "log.txt").write_text(TEXT, encoding="utf-8")
    return tmp_path / "log.txt"


def impression(row: int, size: int, click: float, propensity: float, name: str) -> dict[str, Any]:
    return {
        "row": row,
        "slate": [0],
        "candidates": list(range(size)),
        "clicks": [click],
        "propensity": pytest.approx(propensity, abs=1e-15),
        "inclusion": 1.0 if click else 0.1,
        "label:impression": name,
    }


def test_the_factor_of_the_sampling_is_taken_out_of_the_propensity(path: Path) -> None:
    assert rows(criteo(path), NEEDED) == [
        impression(0, 3, 0, 1 / (40 / 10), "11"),
        impression(1, 2, 1, 1 / 2.5, "12"),
        impression(2, 1, 0, 1 / (10 / 10), "13"),
    ]


def test_propensities_as_written(path: Path) -> None:
    found = rows(criteo(path, propensities="as-written"), NEEDED)
    assert [row["propensity"] for row in found] == [1 / 40, 1 / 2.5, 1 / 10]
    assert [row["inclusion"] for row in found] == [0.1, 1, 0.1]


def test_packed_files_and_several_files_are_one_log(path: Path) -> None:
    packed = path.with_suffix(".txt.gz")
    packed.write_bytes(gzip.compress(TEXT.encode()))
    assert rows(criteo(packed), NEEDED) == rows(criteo(path), NEEDED)
    both = criteo([path, packed])
    assert [row["row"] for row in rows(both, NEEDED)] == list(range(6))
    assert both.describe() == f"{path} (with 1 more file)"


def test_read_log_knows_the_format(path: Path) -> None:
    assert rows(offrank.read_log(path, format="criteo"), NEEDED) == rows(criteo(path), NEEDED)


@pytest.mark.parametrize("inverse", ["9.9999999", "9.99999999999"])
def test_a_propensity_above_one_by_rounding_is_one(inverse: str, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text(f"1 |l 0.999 |p {inverse}|f 0:1\n", encoding="utf-8")
    assert rows(criteo(tmp_path / "log.txt"), NEEDED)[0]["propensity"] == 1


@pytest.mark.parametrize("inverse", ["9.9", "0", "-3", "nan"])
def test_an_impossible_propensity_is_an_error_or_skipped(inverse: str, tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text(f"{TEXT}14 |l 0.999 |p {inverse}|f 0:1\n", encoding="utf-8")
    with pytest.raises(RowError, match=r"row 3 .*'propensity'.*not in \(0, 1\]"):
        rows(criteo(path), NEEDED)
    source = offrank.read_log(path, format="criteo", invalid="skip")
    assert len(rows(source, NEEDED)) == 3
    assert skipped(source, NEEDED) == {"bad-propensity": 1}


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("14 |f 0:1", 7),
        ("14 |l 0.5 |p 2|f 0:1", 7),
        ("14 |l 0.999 |f 0:1", 7),
        ("14 |l 0.999 |p many|f 0:1", 7),
        ("0:cost:propensity", 7),
        ("\n14 |x 1", 8),
    ],
)
def test_a_line_that_is_not_in_the_format(line: str, number: int, path: Path) -> None:
    path.write_text(f"{TEXT}{line}\n", encoding="utf-8")
    with pytest.raises(LogError, match=rf"log\.txt, line {number}: expected 'id \|l cost") as caught:
        rows(criteo(path), NEEDED)
    assert repr(line.strip()) in caught.value.message
    assert "training file" in caught.value.remedy


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [
        (b"", EmptyLogError, "is empty"),
        (b"\n", EmptyLogError, "no impressions"),
        (b"\xff\xfe1 |l", LogError, "UTF-8"),
    ],
)
def test_files_without_a_log(content: bytes, error: type[Exception], words: str, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_bytes(content)
    with pytest.raises(error, match=words):
        rows(criteo(tmp_path / "log.txt"), NEEDED)


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"plain text", ", line 1: expected"), (gzip.compress(TEXT.encode())[:-9], " cannot be read")],
    ids=["plain", "cut"],
)
def test_a_damaged_archive(content: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "log.txt.gz").write_bytes(content)
    with pytest.raises(LogError, match=rf"log\.txt\.gz{words}"):
        rows(criteo(tmp_path / "log.txt.gz"), NEEDED)


def test_what_is_packed_is_told_by_its_bytes(path: Path, tmp_path: Path) -> None:
    (tmp_path / "packed").write_bytes(gzip.compress(path.read_bytes()))
    (tmp_path / "plain.gz").write_bytes(path.read_bytes())
    plain = rows(criteo(path), NEEDED)
    assert rows(criteo(tmp_path / "packed"), NEEDED) == rows(criteo(tmp_path / "plain.gz"), NEEDED) == plain


def test_unfit_arguments(path: Path) -> None:
    with pytest.raises(UsageError, match='"true" or "as-written"'):
        criteo(path, propensities="inverse")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="cannot read a log from int"):
        criteo(7)  # type: ignore[arg-type]
    with pytest.raises(LogError, match="no log at"):
        criteo(path.with_name("none.txt"))


def test_features(path: Path) -> None:
    (batch,) = criteo(path).select(Needs(frozenset(["candidates", "features"]))).batches(0)
    features = batch.contexts.features
    assert features is not None
    assert features.first.tolist() == [0, 3, 5]
    assert features.offsets.tolist() == [0, 2, 4, 6, 7, 8, 9]
    assert features.indices.tolist() == [0, 1, 0, 1, 0, 1, 0, 0, 0]
    assert features.values.tolist() == [300, 600, 300, 250, 300, 90, 2, 3, 7]


@pytest.mark.parametrize("broken", ["0:abc", "0", ":3", "x:3", "0:", "99999999999:1", "0:0.1_2:"])
def test_a_broken_feature_is_named_where_features_are_read(path: Path, broken: str) -> None:
    path.write_text(TEXT.replace("12 |f 0:3", f"12 |f 1:2.123456789012345678 {broken} 0:3"), encoding="utf-8")
    assert len(rows(criteo(path), NEEDED)) == 3
    with pytest.raises(LogError, match=r"log\.txt, line 5: expected features"):
        list(criteo(path).select(Needs(frozenset(["features"]))).batches(0))
