#!/usr/bin/env python3
"""How long is the way of one row? Counts the functions, files and rooms that one `evaluate` with one estimator enters.

    scripts/one_row.py               counts, from Python
    scripts/one_row.py --cli         from the command line
    scripts/one_row.py --estimate    of `estimate`: numbers alone
    scripts/one_row.py --list        the functions too, in the order in which they are entered
    scripts/one_row.py --json        for tests

A room is a folder of src/offrank, or a file beside them. Run it with a Python that has offrank.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import offrank

SOURCE = str(Path(offrank.__file__).resolve().parent) + os.sep
TARGET, LOGGING = "top(new_score)", "plackett_luce(old_score)"
WORLD = """
import pyarrow.parquet as pq
from offrank.simulation import SearchWorld
pq.write_table(SearchWorld(impressions=2000, queries=20, candidates=4, slots=3, seed=5).table(2000, 0), "log.parquet")
"""
"""Runs in a process of its own, so that this one imports nothing but what `evaluate` needs."""
Function = tuple[str, str]
"""A file below src/offrank, and the qualified name of a function in it."""


def by_command() -> None:
    """One evaluation, as the command does it."""
    from offrank.cli import main as command_line

    sys.argv = ["offrank", "evaluate", "log.parquet", "--target", TARGET, "--logging", LOGGING, "-e", "snips"]
    with contextlib.suppress(SystemExit):
        command_line()


def by_python() -> None:
    """One evaluation, as a script does it, with what it prints."""
    print(offrank.evaluate("log.parquet", TARGET, LOGGING, "snips"))


def by_estimate() -> None:
    """The numbers alone, with what they print."""
    print(offrank.estimate("log.parquet", TARGET, LOGGING, "snips"))


def function_of(frame: FrameType) -> Function | None:
    """The function of offrank that a frame runs; None for other code, comprehensions and lambdas."""
    code = frame.f_code
    if not code.co_filename.startswith(SOURCE) or code.co_name.startswith("<"):
        return None
    return code.co_filename.removeprefix(SOURCE).replace(os.sep, "/"), code.co_qualname


def entered(job: Callable[[], None]) -> list[Function]:
    """Run a job and return the functions that it entered, in any thread, by their first call."""
    seen: dict[Function, None] = {}

    def profile(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and (function := function_of(frame)) is not None:
            seen.setdefault(function)

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        job()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return list(seen)


def measured(job: Callable[[], None]) -> tuple[list[Function], int]:
    """The functions that a job enters once all is imported and compiled, and how many modules of offrank it imports."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        os.chdir(folder)
        try:
            subprocess.run([sys.executable, "-c", WORLD], check=True)  # noqa: S603
            job()
            imported = sum(name.split(".")[0] == "offrank" for name in sys.modules)
            return entered(job), imported
        finally:
            os.chdir(here)


def main() -> None:
    """Count, and print what was counted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cli", action="store_true", help="from the command line instead of Python")
    parser.add_argument("--estimate", action="store_true", help="of `estimate` instead of `evaluate`")
    parser.add_argument("--list", action="store_true", help="name the functions, in the order of their first call")
    parser.add_argument("--json", action="store_true", help="everything as one JSON object")
    told = parser.parse_args()
    functions, imported = measured(by_command if told.cli else by_estimate if told.estimate else by_python)
    rooms = Counter(file.split("/")[0] for file, _ in functions)
    classes = {(file, name.split(".")[0]) for file, name in functions if name.lstrip("_")[:1].isupper()}
    counts = {
        "functions": len(functions),
        "files": len({file for file, _ in functions}),
        "rooms": len(rooms),
        "classes": len(classes),
        "modules": imported,
    }
    if told.json:
        print(json.dumps({**counts, "entered": functions}))
        return
    if told.list:
        print(*(f"{file}  {name}" for file, name in functions), sep="\n")
    print("by room:", ", ".join(f"{room} {count}" for room, count in rooms.most_common()))
    print(", ".join(f"{name} {count}" for name, count in counts.items()))


if __name__ == "__main__":
    main()
