"""Judged queries of a reproduction: those of the user, or generated ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from offrank.log.graded_queries import Judged
from offrank.readers.svmlight import read_svmlight
from offrank.simulation.judged_queries import mslr_like


def judged_queries(log: Any, queries: int, seed: int) -> tuple[Judged, str]:
    """Return judged queries, and where they are from in words.

    log: `Judged`, an SVMlight file, or a folder with a `train.txt`; None to generate this number of queries.
    """
    if log is None:
        return mslr_like(queries, seed=seed), "generated queries in MSLR's likeness"
    if isinstance(log, Judged):
        return log, "given queries"
    train = Path(log) / "train.txt"
    return read_svmlight(train if train.is_file() else Path(log)), f"queries of {Path(log).name}"
