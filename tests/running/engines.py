"""A log that every job can read, and where its rows may be: in parts of files, or on clusters."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from offrank.simulation import SearchWorld

ROWS = 600


@cache
def table() -> pa.Table:
    """Slates of 3 of 4 items by Plackett-Luce, with users, grades and features."""
    made = SearchWorld(impressions=ROWS, queries=20, candidates=4, slots=3, seed=5).table(ROWS, 0)
    scores = np.array([made.column(name).to_pylist() for name in ("old_score", "new_score")])
    grade = (scores[1] > np.median(scores[1])).astype(float)
    return (
        made.append_column("user", pa.array([f"u{row // 3}" for row in range(ROWS)]))
        .append_column("grade", pa.array(grade.tolist()))
        .append_column("features", pa.array(np.moveaxis(scores, 0, 2).tolist()))
    )


@cache
def long(scattered: bool = False) -> pa.Table:
    """The same log with a row per item; candidates that were not shown have no position."""
    rows = [
        {
            "impression": f"i{number}",
            "item": item,
            "position": row["slate"].index(item) + 1 if item in row["slate"] else None,
            "click": row["clicks"][row["slate"].index(item)] if item in row["slate"] else 0,
            "old_score": row["old_score"][place],
            "new_score": row["new_score"][place],
            **{name: row[name] for name in ("propensity", "query", "user", "device")},
        }
        for number, row in enumerate(table().to_pylist())
        for place, item in enumerate(row["candidates"])
    ]
    if scattered:
        rows = [rows[place] for place in np.argsort(np.arange(len(rows)) % 7, kind="stable")]
    return pa.Table.from_pylist(rows)


def in_parts(folder: Path, parts: int) -> str:
    """The log as a file of so many row groups."""
    path = folder / f"{parts}.parquet"
    pq.write_table(table(), path, row_group_size=-(-ROWS // parts))
    return str(path)


def spark_session() -> Any:
    """A Spark on this machine; the test is skipped where there is none, but not in CI."""
    missing = None
    try:
        import pyspark.sql
    except ImportError:
        missing = "pyspark is not installed"
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        missing = missing or "there is no java: scripts/ensure-java"
    if missing:
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    wanted = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "512m",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dlog4j.rootLogger=ERROR",
    }
    builder = pyspark.sql.SparkSession.builder.master("local[2]")
    for name, value in wanted.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def spark_frame(session: Any, given: pa.Table, parts: int) -> Any:
    """A table as a cached DataFrame of so many partitions, in its order."""
    rows = session.sparkContext.parallelize(given.to_pylist(), parts)
    return session.createDataFrame(rows, schema=session.createDataFrame(given.slice(0, 0)).schema).cache()


@contextmanager
def dask_executor() -> Iterator[Any]:
    """Two worker processes of Dask."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own affair
        distributed = pytest.importorskip("distributed", reason="distributed is not installed")
        with (
            distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client.get_executor()
