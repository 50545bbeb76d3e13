"""`kill -9` at random moments of every verb that writes: is each file the old one or the new one, and nothing between?

Each verb runs in a process of its own, forked with everything loaded, and is killed after a random part of its usual
time. Then it runs again to its end: a run with a checkpoint must give the answer of one that was never killed, and no
unfinished file may be left.

    python benchmarks/crashes.py [--moments 300] [--write docs/contributing/reliability.md]
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _page import generated

from offrank.cli import main as offrank_main
from offrank.language import files
from offrank.running.states import loads

LOGGED = ["--logging", "plackett_luce(old_score)"]
TARGET = ["--target", "plackett_luce(new_score)"]


def parquet(path: Path) -> object:
    return pq.read_table(path).num_rows


def document(path: Path) -> object:
    return json.loads(path.read_text())


def page(path: Path) -> object:
    assert path.read_text().rstrip().endswith("</html>"), f"{path} has no end"
    return None


def arrays(path: Path) -> object:
    with np.load(path) as found:
        return [found[name].shape for name in found.files]


def state(path: Path) -> object:
    return loads(path.read_bytes(), str(path))


@dataclass
class Verb:
    """What is run in a folder with `log.parquet`. outputs: what it writes, and what reads such a file whole."""

    name: str
    words: list[str]
    outputs: dict[str, Callable[[Path], object]]
    answer: str | None = None
    seconds: float = 0.0
    tally: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("killed", "old", "new", "half", "left"), 0))
    unequal: int = 0


VERBS = [
    Verb(
        "simulate", ["simulate", "-o", "made.parquet", "--sessions", "20000", "--overwrite"], {"made.parquet": parquet}
    ),
    Verb("demo", ["demo", "shown", "--impressions", "5000"], {"shown/log.parquet": parquet, "shown/report.html": page}),
    Verb("convert", ["convert", "log.parquet", "-o", "wide.parquet", "--overwrite"], {"wide.parquet": parquet}),
    Verb(
        "clicks fit",
        ["clicks", "fit", "log.parquet", "--model", "pbm", "-o", "pbm.json", "--overwrite"],
        {"pbm.json": document},
    ),
    Verb(
        "learn",
        [
            "learn",
            "learnt.parquet",
            *LOGGED,
            "--bits",
            "10",
            "--epochs",
            "3",
            "--method",
            "regression",
            "-o",
            "policy.npz",
            "--html",
            "learn.html",
        ],
        {"policy.npz": arrays, "learn.html": page},
    ),
    Verb(
        "evaluate",
        ["evaluate", "log.parquet", *LOGGED, *TARGET, "--json", "a.json", "--html", "a.html", "--state", "a.state"],
        {"a.json": document, "a.html": page, "a.state": state},
    ),
    Verb(
        "evaluate --checkpoint",
        ["evaluate", "log.parquet", *LOGGED, *TARGET, "--checkpoint", "kept", "--json", "b.json"],
        {"b.json": document},
        answer="b.json",
    ),
    Verb(
        "merge",
        ["merge", "day1.state", "day2.state", "--json", "m.json", "--html", "m.html"],
        {"m.json": document, "m.html": page},
    ),
    Verb("check --html", ["check", "log.parquet", *LOGGED, *TARGET, "--html", "c.html"], {"c.html": page}),
    Verb(
        "reproduce",
        ["reproduce", "slates-math", "--scale", "0.05"],
        {"reproduce-slates-math/index.html": page, "reproduce-slates-math/result.json": document},
    ),
]


def run(words: list[str]) -> None:
    """Run a verb in this process, in silence."""
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
        offrank_main(words, standalone_mode=False)


def forked(words: list[str], seconds: float | None) -> bool:
    """Run a verb in a child, killed after some seconds; return whether it was."""
    child = os.fork()
    if not child:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        try:
            offrank_main(words, standalone_mode=False)
        except BaseException:  # noqa: BLE001
            os._exit(1)
        os._exit(0)
    if seconds is not None:
        time.sleep(seconds)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def left(folder: Path) -> list[str]:
    """Names of unfinished files."""
    return [str(path) for path in folder.rglob("*") if path.name.startswith((".", "offrank-"))]


def trial(verb: Verb, folder: Path, after: float, whole: Any) -> None:
    before = {name: (folder / name).read_bytes() for name in verb.outputs}
    killed = forked(verb.words, after)
    verb.tally["killed"] += killed
    for name, read in verb.outputs.items():
        path = folder / name
        if path.exists() and path.read_bytes() == before[name]:
            verb.tally["old"] += 1
            continue
        try:
            read(path)
            verb.tally["new"] += 1
        except Exception as error:  # noqa: BLE001
            verb.tally["half"] += 1
            print(f"{verb.name}: {name}: {error!r}", flush=True)
            path.write_bytes(before[name])
    if verb.answer is not None:
        forked(verb.words, None)
        verb.unequal += answer(folder / verb.answer) != whole
        shutil.rmtree(folder / "kept", ignore_errors=True)


def answer(path: Path) -> Any:
    """The numbers of a result, without the times and the command that wrote it."""
    found = document(path)
    return [found[name] for name in ("estimates", "verdicts") if name in found]  # type: ignore[index]


def lines(verbs: list[Verb]) -> Iterator[str]:
    yield "| verb | seconds | killed | files old | files new | **files half** | left | resumed, other answer |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for verb in verbs:
        told = (verb.tally[name] for name in ("killed", "old", "new", "half", "left"))
        other = "" if verb.answer is None else str(verb.unequal)
        yield f"| `{verb.name}` | {verb.seconds:.2f} | " + " | ".join(map(str, told)) + f" | {other} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moments", type=int, default=300, help="moments, over all verbs")
    parser.add_argument("--only", help="one verb")
    parser.add_argument("--write", type=Path, help="the page that includes the table")
    asked = parser.parse_args()
    page_path = asked.write and asked.write.resolve()
    files._LEFT = 0.0  # what is killed here is taken for left at once
    rng = np.random.default_rng(0)
    verbs = [verb for verb in VERBS if asked.only in (None, verb.name)]
    with tempfile.TemporaryDirectory() as made:
        os.chdir(made)
        folder = Path(made)
        os.environ["TMPDIR"] = tempfile.tempdir = made
        run(["demo", ".", "--impressions", "50000"])
        for day in (1, 2):
            run(["evaluate", "log.parquet", *LOGGED, *TARGET, "--state", f"day{day}.state"])
        table = pq.read_table("log.parquet")
        features = pa.array([[[int(item)] for item in items] for items in table["candidates"].to_pylist()])
        pq.write_table(table.append_column("features", features), "learnt.parquet")
        half = pq.read_table("log.parquet")
        pq.write_table(half.slice(0, len(half) // 2), "other.parquet")
        run(["evaluate", "other.parquet", *LOGGED, *TARGET, "--state", "day2.state"])
        for verb in verbs:
            run(verb.words)  # loads what is compiled
            forked(verb.words, None)
            begun = time.perf_counter()
            if verb.answer is not None:
                shutil.rmtree("kept", ignore_errors=True)
            forked(verb.words, None)
            verb.seconds = time.perf_counter() - begun
            whole = answer(folder / verb.answer) if verb.answer else None
            for _ in range(-(-asked.moments // len(verbs))):
                trial(verb, folder, rng.uniform(0, verb.seconds), whole)
            forked(verb.words, None)  # the next run finds what was left, and removes it
            verb.tally["left"] = len(left(folder))
            print(list(lines([verb]))[-1], flush=True)
        os.chdir("/")
    told = list(lines(verbs))
    print(*told, sep="\n")
    if page_path:
        generated(page_path, "crashes", told, "benchmarks/crashes.py")


if __name__ == "__main__":
    main()
