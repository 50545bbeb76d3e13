#!/usr/bin/env python3
"""How long is the way of one row? Counts the functions, files and rooms that one `evaluate` with one estimator enters.

    scripts/one_row.py               counts, from Python
    scripts/one_row.py --cli         from the command line
    scripts/one_row.py --estimate    of `estimate`: numbers alone
    scripts/one_row.py --list        the functions too, in the order in which they are entered
    scripts/one_row.py --json        for tests

A room is a folder of src/offrank, or a file beside them; a call is upward if its room stands on a lower storey, as in
`pyproject.toml`. Run it with a Python that has offrank.
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
import tomllib
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


def room_of(file: str) -> str:
    """The room of a file below src/offrank."""
    return file.split("/", maxsplit=1)[0].removesuffix(".py")


def storeys() -> dict[str, int]:
    """The storey of each room, the lowest 0."""
    project = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text(encoding="utf-8"))
    layers = next(one for one in project["tool"]["importlinter"]["contracts"] if one["id"] == "layers")["layers"]
    return {room.strip(" ()"): at for at, rooms in enumerate(reversed(layers)) for room in rooms.split(":")}


def entered(job: Callable[[], None]) -> tuple[list[Function], set[tuple[str, str]]]:
    """Run a job and return the functions that it entered, in any thread by first call, and what file calls what."""
    seen: dict[Function, None] = {}
    calls = set[tuple[str, str]]()

    def profile(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and (function := function_of(frame)) is not None:
            seen.setdefault(function)
            caller = frame.f_back
            while caller is not None and (by := function_of(caller)) is None:
                caller = caller.f_back
            if caller is not None and by is not None:
                calls.add((by[0], function[0]))

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        job()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return list(seen), calls


def measured(job: Callable[[], None]) -> tuple[list[Function], set[tuple[str, str]], int]:
    """What a job enters once all is imported and compiled, as `entered`, and how many modules of offrank it imports."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        os.chdir(folder)
        try:
            subprocess.run([sys.executable, "-c", WORLD], check=True)  # noqa: S603
            job()
            imported = sum(name.split(".")[0] == "offrank" for name in sys.modules)
            return *entered(job), imported
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
    functions, calls, imported = measured(by_command if told.cli else by_estimate if told.estimate else by_python)
    rooms, storey = Counter(room_of(file) for file, _ in functions), storeys()
    upward = sorted((by, file) for by, file in calls if storey.get(room_of(file), 0) > storey.get(room_of(by), 0))
    classes = {(file, name.split(".")[0]) for file, name in functions if name.lstrip("_")[:1].isupper()}
    counts = {
        "functions": len(functions),
        "files": len({file for file, _ in functions}),
        "rooms": len(rooms),
        "classes": len(classes),
        "modules": imported,
        "upward": len(upward),
    }
    if told.json:
        print(json.dumps({**counts, "entered": functions}))
        return
    if told.list:
        print(*(f"{file}  {name}" for file, name in functions), sep="\n")
        print(*(f"upward: {by} calls {file}" for by, file in upward), sep="\n")
    print("by room:", ", ".join(f"{room} {count}" for room, count in rooms.most_common()))
    print(", ".join(f"{name} {count}" for name, count in counts.items()))


if __name__ == "__main__":
    main()
