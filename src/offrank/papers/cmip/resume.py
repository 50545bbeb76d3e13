"""Parallel studies, each saved to a file once it is done, so that an interrupted run can be resumed."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import asdict
from pathlib import Path

from ...files import write_text
from ...options import Say
from .design import Study, StudyQueries
from .study import Found, studied

VERSION = 2
"""To be increased whenever the results of a study change: results of two versions are never mixed."""

_WORKERS = 4
_WAIT = 0.5  # seconds


class StoppedError(Exception):
    """Raised in a study whose result is no longer needed."""


def all_studies(queries: StudyQueries, folder: Path, say: Say) -> Mapping[Study, Found]:
    """Return the results of each study: read if saved, otherwise simulated and saved.

    An interruption loses the studies in progress, of which there are as many as cores (4 at most).
    """
    own = _own(folder, queries)
    files = {study: own / f"{study.name}.json" for study in queries.design.studies()}
    found = {study: one for study, path in files.items() if (one := _read(path)) is not None}
    if found:
        say(f"{len(found)} of {len(files)} studies stand in {own} from before; now the others")
    for study, one in _simulated(queries, [study for study in files if study not in found], say):
        write_text(files[study], json.dumps(one))  # atomically
        found[study] = one
    return {study: found[study] for study in files}


def _own(folder: Path, queries: StudyQueries) -> Path:
    """Return the folder of studies with these settings, created if needed, with a file that describes them.

    The number of runs is not among them: more runs can be added to fewer.
    """
    settings = {"version": VERSION, "data": queries.data, "digest": queries.digest, **asdict(queries.design)}
    for name in ("runs", "repetitions"):
        del settings[name]
    text = json.dumps(settings, indent=2)
    own = folder / f"studies-{hashlib.sha256(text.encode()).hexdigest()[:10]}"
    own.mkdir(parents=True, exist_ok=True)
    write_text(own / "settings.json", text)
    return own


def _read(path: Path) -> Found | None:
    """Return a saved result; None if it is missing or its file cannot be read."""
    try:
        found: Found = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    return found


def _simulated(queries: StudyQueries, studies: list[Study], say: Say) -> Iterator[tuple[Study, Found]]:
    """Yield each study with its result as it ends; at the end or at an error, running ones are stopped."""
    began, stop, executor = time.monotonic(), threading.Event(), ThreadPoolExecutor(min(os.cpu_count() or 1, _WORKERS))

    def heed(_: str) -> None:
        if stop.is_set():
            raise StoppedError

    try:
        pending = {executor.submit(studied, queries, study, heed): study for study in studies}
        while pending:
            # In short steps: where signals restart system calls, one long wait ignores Ctrl-C.
            done = wait(pending, timeout=_WAIT, return_when=FIRST_COMPLETED).done
            for future in sorted(done, key=lambda one: one.exception() is not None):  # save finished studies first
                study = pending.pop(future)
                yield study, future.result()
                left = (time.monotonic() - began) / (len(studies) - len(pending)) * len(pending)
                spoken = f"{left / 60:.0f} min" if left >= 90 else f"{left:.0f} s"
                say(f"{study}: done, {len(studies) - len(pending)} of {len(studies)}; about {spoken} left")
    finally:
        stop.set()
        executor.shutdown(wait=True, cancel_futures=True)
