"""Parallel studies, each saved to a file once it is done, so that an interrupted run can be resumed."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, Protocol, TypeVar

from offrank.language import Say
from offrank.language.files import write_text

Found = dict[str, Any]
"""The results of a study, as plain numbers."""

WORKERS = 4
_WAIT = 0.5  # seconds


class Named(Protocol):
    """A study; name: of its file."""

    @property
    def name(self) -> str: ...


S = TypeVar("S", bound=Named)
Heed = Callable[[], object]
"""Called between the steps of a study; raises where its result is no longer needed."""


class StoppedError(Exception):
    """Raised in a study whose result is no longer needed."""


def workers(most: int = WORKERS) -> int:
    """Return how many studies run at once: as many as cores, `most` at most."""
    return min(os.cpu_count() or 1, most)


def own_folder(folder: Path, settings: Mapping[str, Any]) -> Path:
    """Return the folder of studies with these settings, created if needed, with a file that describes them."""
    text = json.dumps(settings, indent=2)
    own = folder / f"studies-{hashlib.sha256(text.encode()).hexdigest()[:10]}"
    own.mkdir(parents=True, exist_ok=True)
    write_text(own / "settings.json", text)
    return own


def resumed(
    studies: Sequence[S],
    folder: Path,
    study: Callable[[S, Heed], Found],
    say: Say,
    most: int = WORKERS,
    before: Callable[[list[S]], object] = len,
) -> Mapping[S, Found]:
    """Return the results of each study: read if saved in the folder, otherwise computed and saved.

    most: studies at once; an interruption loses those in progress. before: called with the missing ones.
    """
    files = {one: folder / f"{one.name}.json" for one in studies}
    found = {one: read for one, path in files.items() if (read := _read(path)) is not None}
    if found:
        say(f"{len(found)} of {len(files)} studies stand in {folder} from before; now the others")
    missing = [one for one in files if one not in found]
    if missing:
        before(missing)
    for one, result in _computed(missing, study, say, workers(most)):
        write_text(files[one], json.dumps(result))  # atomically
        found[one] = result
    return {one: found[one] for one in files}


def _read(path: Path) -> Found | None:
    """Return a saved result; None if it is missing or its file cannot be read."""
    try:
        found: Found = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    return found


def _computed(studies: list[S], study: Callable[[S, Heed], Found], say: Say, threads: int) -> Iterator[tuple[S, Found]]:
    """Yield each study with its result as it ends; at the end or at an error, running ones are stopped."""
    began, stop, executor = time.monotonic(), threading.Event(), ThreadPoolExecutor(threads)

    def heed() -> None:
        if stop.is_set():
            raise StoppedError

    try:
        pending = {executor.submit(study, one, heed): one for one in studies}
        while pending:
            # In short steps: where signals restart system calls, one long wait ignores Ctrl-C.
            done = wait(pending, timeout=_WAIT, return_when=FIRST_COMPLETED).done
            for future in sorted(done, key=lambda one: one.exception() is not None):  # save finished studies first
                one = pending.pop(future)
                yield one, future.result()
                left = (time.monotonic() - began) / (len(studies) - len(pending)) * len(pending)
                say(f"{one}: done, {len(studies) - len(pending)} of {len(studies)}; about {spoken(left)} left")
    finally:
        stop.set()
        executor.shutdown(wait=True, cancel_futures=True)


def spoken(seconds: float) -> str:
    """Return a duration in words."""
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
