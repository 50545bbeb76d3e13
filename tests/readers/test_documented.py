"""A Parquet file with the documented columns is opened without a look at its rows, and read as if these were seen."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import OffrankError
from offrank.log.source import Needs, has, needs
from offrank.readers.parquet_orc_arrow import ParquetFile
from tests.readers.plain import contents

ROWS = 12
ITEMS = [["a", "b", "c"], ["b", "d"], ["c", "a", "d"]] * 4
PLAIN = {
    "slate": ITEMS,
    "clicks": [[1] + [0] * (len(row) - 1) for row in ITEMS],
    "candidates": ITEMS,
    "score": [[0.5 * at for at in range(len(row))] for row in ITEMS],
}
TEXTS: dict[str, list[str]] = {
    "device": ["phone", "tablet", "a phone, new"] * 4,
    "query": ["red shoes", "shoes", "blue"] * 4,
    "new_score": ["|".join(str(at / 4) for at in range(len(row))) for row in ITEMS],
    "ranking": [",".join(reversed(row)) for row in ITEMS],
    "json_scores": [str([0.25] * len(row)) for row in ITEMS],
    "meta": ['{"propensity": 0.5, "user": "u1", "device": "phone"}', '{"propensity": 0.25, "user": "u2"}', "{}"] * 4,
    "inclusion": ["0.5", "1", "0.25"] * 4,
    "propensity": ["0.5;0.5", "1;0.2", "0.1;1"] * 4,
}
ASKED = {
    "nothing": Needs(),
    "a score": needs(scores="score"),
    "packed scores": needs(scores="new_score"),
    "scores in JSON": needs(scores="json_scores"),
    "a packed ranking": needs(rankings="ranking"),
    "a label": needs(labels="device"),
    "a label in an object": needs(labels="meta.device"),
    "an object as a label": needs(labels="meta"),
    "a key": needs(keys="query"),
    "a cluster": needs(clusters="query"),
    "a cluster that is not there": needs(clusters="user"),
    "a cluster in an object": needs(clusters="meta.user"),
    "a number in an object": needs(numbers="meta.propensity"),
    "probabilities": needs("propensity"),
    "of a policy": Needs(written=frozenset(["propensity:meta.propensity"])),
    "what is in no column": needs(scores="old_score"),
}


def outcome(job: Callable[[], Any]) -> Any:
    """What a job returns, or the error that it raises."""
    try:
        return job()
    except OffrankError as error:
        return type(error), error.message, str(error)


def facts(log: Any, asked: Needs) -> list[Any]:
    return [outcome(lambda: has(log, asked)), outcome(lambda: contents(log, asked)), log.describe()]


BESIDE = [(), ("device", "meta"), tuple(name for name in TEXTS if name not in ("inclusion", "propensity")), TEXTS]


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("asked", ASKED)
def test_texts_are_read_as_if_they_had_been_looked_at(tmp_path: Path, beside: Any, asked: str) -> None:
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table({**PLAIN, **{name: TEXTS[name] for name in beside}}), path)
    alone, looked_at = offrank.read_log(path), offrank.read_log([path])
    assert facts(alone, ASKED[asked]) == facts(looked_at, ASKED[asked])
    assert repr(alone) == repr(looked_at)
    assert outcome(lambda: offrank.inspect(alone).to_dict()) == outcome(lambda: offrank.inspect(looked_at).to_dict())


@pytest.mark.parametrize(
    ("columns", "looked_at"),
    [
        ({}, False),
        ({"device": TEXTS["device"]}, False),
        ({"impression": [*range(ROWS)]}, False),
        ({"clicks": [[1, None], *PLAIN["clicks"][1:]]}, True),  # may stand for no click
        ({"clicks": ["1|0|0", "1|0", "0|1|0"] * 4}, True),
        ({"user_id": [1, 2, 3] * 4}, True),  # may be the user
    ],
)
def test_rows_are_looked_at_where_the_columns_leave_a_doubt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: dict[str, Any], looked_at: bool
) -> None:
    path, read = tmp_path / "log.parquet", list[str]()
    pq.write_table(pa.table({**PLAIN, **columns}), path)
    before = ParquetFile.batches
    monkeypatch.setattr(ParquetFile, "batches", lambda self, *given: (read.append(""), before(self, *given))[1])
    offrank.read_log(path)
    assert bool(read) == looked_at


MADE_OF = {
    "context.device": {"context": [{"device": "phone"}] * ROWS},
    "item": {f"{name} {place}": [name] * ROWS for name in ("item", "click") for place in (1, 2)},
}


@pytest.mark.parametrize("made", MADE_OF)
def test_columns_that_are_made_of_others_are_found_beside_the_documented_ones(tmp_path: Path, made: str) -> None:
    pq.write_table(pa.table({**PLAIN, **MADE_OF[made]}), tmp_path / "log.parquet")
    assert f"\n  {made}" in repr(offrank.read_log(tmp_path / "log.parquet"))


OTHERS = ("csv_json", "databases", "dataset", "described", "formats", "joining", "long", "opening", "spark", "streams")


@pytest.mark.turns(3)
def test_no_reader_of_another_format_is_imported(tmp_path: Path) -> None:
    pq.write_table(pa.table(PLAIN), tmp_path / "log.parquet")
    code = "import sys, offrank; offrank.estimate('log.parquet', 'top(score)', 'uniform', 'ipm'); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    imported = done.stdout.split()
    assert "offrank.readers.wide" in imported
    assert not {f"offrank.readers.{name}" for name in OTHERS} & {*imported}
    assert "pandas" not in imported, "Arrow imports it for each conversion that it makes itself"


@pytest.mark.turns(3)
def test_scattered_long_tables_with_nulls_are_read_without_pandas(tmp_path: Path) -> None:
    items, score = [1, 1, 2, 2, 3, 3], [0.1, 0.1, 0.2, 0.2, 0.3, 0.3]
    rows = {"impression": [0, 1, 0, 1, 0, 1], "item": items, "position": [1, 1, 2, None, None, 2], "score": score}
    pq.write_table(pa.table({**rows, "click": [0, 1, 1, None, None, 0]}), tmp_path / "log.parquet")
    code = "import sys, offrank; offrank.estimate('log.parquet', 'top(score)', 'uniform', 'ipm'); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert "offrank.readers.long" in done.stdout.split()
    assert "pandas" not in done.stdout.split()
