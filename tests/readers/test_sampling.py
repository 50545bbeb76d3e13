"""Samples of large logs: whole lists, from places spread over the files, and what `inspect` says of them."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import LogError
from offrank.log.source import Needs
from offrank.readers.sampling import LogSample, sampled
from tests.cli.commands import call

ABOVE = 100_000
LISTS = 8000


@cache
def long_rows(apart: int = 0, seed: int = 0) -> pa.Table:
    """A row per item, of lists of 2 to 6. apart: how far rows are moved about."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(2, 7, LISTS)
    rows = int(lengths.sum())
    places = np.arange(rows) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    table = pa.table(
        {
            "request_id": np.repeat(np.arange(LISTS) + 10**9, lengths),
            "sku": 100 * rng.integers(10, 9000, rows) + places,
            "rank": places + 1,
            "old_score": rng.normal(size=rows).round(6),
            "clicked": (rng.random(rows) < 0.2).astype(int),
        }
    )
    return table.take(np.argsort(np.arange(rows) + apart * rng.random(rows), kind="stable")) if apart else table


def as_wide(table: pa.Table) -> list[dict[str, Any]]:
    """The same log as a list of impressions."""
    found: dict[int, dict[str, Any]] = {}
    for row in table.to_pylist():
        one = found.setdefault(row["request_id"], {"request": row["request_id"], "slate": [], "clicks": []})
        one["slate"].append(row["sku"])
        one["clicks"].append(row["clicked"])
    return list(found.values())


def slates_of(log: Any) -> list[tuple[int, ...]]:
    """The slates of a log in its order, each an impression of the world by the sum of its items."""
    found: list[tuple[int, ...]] = []
    needed = log.select(Needs(frozenset(["clicks"])))
    for part in range(needed.parts()):
        for batch in needed.batches(part):
            assert not batch.skipped
            items = np.take_along_axis(batch.contexts.candidates, np.maximum(batch.slates, 0), 1)
            found += [tuple(row[:length]) for row, length in zip(items.tolist(), batch.contexts.length, strict=True)]
    return found


def known_slates(table: pa.Table) -> list[tuple[int, ...]]:
    ranked = table.sort_by([("request_id", "ascending"), ("rank", "ascending")])
    return [tuple(one["slate"]) for one in as_wide(ranked)]


def written(table: pa.Table, path: Path, kind: str) -> Any:
    """Write a table, and return where it is."""
    if kind == "parquet":
        pq.write_table(table, path / "log.parquet", row_group_size=1000)
        return path / "log.parquet"
    if kind == "jsonl":
        (path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
        return path / "log.jsonl"
    if kind == "json":
        (path / "log.json").write_text(json.dumps(table.to_pylist(), indent=1))
        return path / "log.json"
    if kind == "gz":
        with gzip.open(path / "log.csv.gz", "wb") as file:
            pyarrow.csv.write_csv(table, file)
        return path / "log.csv.gz"
    if kind == "folders":
        ids = table.column("request_id").to_numpy()
        for day in range(4):
            (path / "logs" / f"day={day}").mkdir(parents=True)
            one = table.filter(pa.array((ids - ids.min()) // (LISTS // 4) == day))
            pyarrow.csv.write_csv(one, path / "logs" / f"day={day}" / "log.csv")
        return path / "logs"
    pyarrow.csv.write_csv(table, path / "log.csv")
    return path / "log.csv"


def sample_of(where: Any) -> tuple[Any, LogSample]:
    log, sample = sampled(offrank.read_log(where), ABOVE)
    assert sample is not None
    return log, sample


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "folders"])
def test_lists_are_whole_and_from_all_over_the_files(kind: str, tmp_path: Path) -> None:
    table = long_rows()
    log, sample = sample_of(written(table, tmp_path, kind))
    assert sample.how == "spread"
    assert sample.places >= 12
    place = {slate: number for number, slate in enumerate(known_slates(table))}
    found = [place[slate] for slate in slates_of(log)]  # whole: each of them is a list of the log
    assert len({*found}) == len(found)
    assert LISTS / 12 < len(found) < LISTS / 2
    assert min(found) < LISTS / 8
    assert max(found) > 7 * LISTS / 8
    assert np.diff(sorted(found)).max() < LISTS / 6


@pytest.mark.parametrize(("apart", "how"), [(30, "spread"), (10**9, "by id")])
def test_lists_whose_rows_stand_apart_are_whole(apart: int, how: str, tmp_path: Path) -> None:
    table = long_rows(apart)
    log, sample = sample_of(written(table, tmp_path, "csv"))
    found = slates_of(log)
    assert sample.how == how
    assert found
    assert {*found} <= {*known_slates(table)}


@pytest.mark.parametrize("kind", ["gz", "json"])
def test_what_cannot_be_read_from_the_middle_is_its_beginning(kind: str, tmp_path: Path) -> None:
    table = long_rows()
    log, sample = sample_of(written(table, tmp_path, kind))
    assert sample.how == "beginning"
    assert "the first" in sample.said
    found, known = slates_of(log), known_slates(table)
    assert found == known[: len(found)]
    assert found


@pytest.mark.parametrize("kind", ["parquet", "jsonl", "json"])
def test_a_wide_log_is_sampled(kind: str, tmp_path: Path) -> None:
    table = long_rows()
    log, _ = sample_of(written(pa.Table.from_pylist(as_wide(table)), tmp_path, kind))
    found = slates_of(log)
    assert {*found} <= {*known_slates(table)}
    assert 100 < len(found) < LISTS


def test_an_id_that_is_a_text_further_down_is_read(tmp_path: Path) -> None:
    path = written(long_rows(), tmp_path, "csv")
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:-8000], *("b" + line for line in lines[-8000:])]))
    log, sample = sample_of(path)
    assert sample.how == "spread"
    assert max(map(len, slates_of(log))) == 6


def test_a_small_log_is_read_whole(tmp_path: Path) -> None:
    log = offrank.read_log(written(long_rows(), tmp_path, "csv"))
    assert sampled(log, None) == (log, None)
    assert sampled(log, 1 << 30) == (log, None)


def test_an_error_says_that_it_is_of_a_sample(tmp_path: Path) -> None:
    path = written(long_rows(), tmp_path, "csv")
    rows = path.read_text().partition("\n")[2]
    more = [rows.replace("\n1", f"\n{copy}") for copy in (2, 3, 4)]
    path.write_text("".join([path.read_text(), *more, more[-1].replace("\n4", "\n5").replace(",", ",x")]))
    with pytest.raises(LogError, match=r"in a sample of it: .*is among"):
        offrank.inspect(path, sample_above=ABOVE)


def test_inspect_says_that_it_is_of_a_sample(tmp_path: Path) -> None:
    path = written(long_rows(), tmp_path, "csv")
    found, whole = offrank.inspect(path, sample_above=ABOVE), offrank.inspect(path, sample_above=None)
    assert found.sample
    assert whole.sample is None
    assert whole.rows == LISTS > found.rows
    said = found.to_dict()["sample"]
    assert said["how"] == "spread"
    assert said["whole"] == path.stat().st_size > 4 * said["size"] * 0.7
    words = " ".join(str(found).split())
    assert words.index("sample_above=None reads all rows)") < words.index("Contents")
    assert "counts of the sample" in words
    assert "counts of the sample" not in str(whole)
    assert (found.source, found.layout, found.columns) == (whole.source, whole.layout, whole.columns)
    found.save(tmp_path / "mapping.toml")
    assert "by a sample of" in (tmp_path / "mapping.toml").read_text().splitlines()[0]


def test_the_command_line_samples(tmp_path: Path) -> None:
    path = written(long_rows(), tmp_path, "csv")
    done = call("inspect", path, "--sample-above", ABOVE)
    assert not done.exit_code
    assert "--sample-above none reads all" in " ".join(done.output.split())
    assert "counts of the sample" not in call("inspect", path, "--sample-above", "none").output
    assert call("inspect", path, "--sample-above", "much").exit_code == 2
