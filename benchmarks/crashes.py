"""What goes wrong where nobody looks: verbs that are killed at any moment, and cases that are drawn at random.

    python benchmarks/crashes.py crashes [--moments 300] [--only merge] [--write]
    python benchmarks/crashes.py fuzzing [--cases 20000] [--seeds 101 102] [--folder FOLDER] [--write]

`crashes`: `kill -9` at random moments of every verb that writes: is each file the old one or the new one, and nothing
between? Each verb runs in a process of its own, forked with everything loaded, and is killed after a random part of its
usual time. Then it runs again to its end: a run with a checkpoint must give the answer of one that was never killed,
and no unfinished file may be left. `fuzzing` counts what `python -m tests.fuzz` says of cases of each seed.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _page import ROOT, markdown_head, markdown_row
from _page import run as run_commands

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


def prepared(folder: Path) -> None:
    """Make the logs and states that the verbs read."""
    run(["demo", ".", "--impressions", "50000"])
    table = pq.read_table("log.parquet")
    features = pa.array([[[int(item)] for item in items] for items in table["candidates"].to_pylist()])
    pq.write_table(table.append_column("features", features), folder / "learnt.parquet")
    pq.write_table(table.slice(0, len(table) // 2), folder / "other.parquet")
    for log, state in (("log.parquet", "day1.state"), ("other.parquet", "day2.state")):
        run(["evaluate", log, *LOGGED, *TARGET, "--state", state])


def crashes(*, moments: int = 300, only: str = "") -> Iterator[str]:
    """What is left of the files of each verb that is killed, over so many moments of all of them."""
    files._LEFT = 0.0  # what is killed here is taken for left at once
    rng = np.random.default_rng(0)
    verbs = [verb for verb in VERBS if only in verb.name]
    heads = ("killed", "files old", "files new", "**files half**", "left", "resumed, other answer")
    yield from markdown_head("verb", "seconds", *heads)
    with tempfile.TemporaryDirectory() as made, contextlib.chdir(made):
        folder = Path(made)
        os.environ["TMPDIR"] = tempfile.tempdir = made
        prepared(folder)
        for verb in verbs:
            run(verb.words)  # loads what is compiled
            forked(verb.words, None)
            begun = time.perf_counter()
            if verb.answer is not None:
                shutil.rmtree("kept", ignore_errors=True)
            forked(verb.words, None)
            verb.seconds = time.perf_counter() - begun
            whole = answer(folder / verb.answer) if verb.answer else None
            for _ in range(-(-moments // len(verbs))):
                trial(verb, folder, rng.uniform(0, verb.seconds), whole)
            forked(verb.words, None)  # the next run finds what was left, and removes it
            verb.tally["left"] = len(left(folder))
            other = "" if verb.answer is None else verb.unequal
            yield markdown_row(f"`{verb.name}`", f"{verb.seconds:.2f}", *verb.tally.values(), other)
    tempfile.tempdir = None


def fuzzing(
    *, cases: int = 20_000, seeds: tuple[int, ...] = tuple(range(101, 111)), folder: Path | None = None
) -> Iterator[str]:
    """What becomes of so many cases of each seed; those that the folder has are not judged again."""
    ends, asked, failed = Counter[str](), Counter[str](), Counter[str]()
    slowest = largest = 0.0
    with tempfile.TemporaryDirectory() as temporary:
        for seed in seeds:
            path = (folder or Path(temporary)) / f"{seed}-{cases}.json"
            if not path.exists():
                words = ["-m", "tests.fuzz", "--cases", str(cases), "--seed", str(seed), "--json", str(path.resolve())]
                subprocess.run([sys.executable, *words], cwd=ROOT, check=False, stdout=subprocess.DEVNULL)
            found = json.loads(path.read_text(encoding="utf-8"))
            ends.update(found["outcomes"])
            for name, n in found["asked"].items():
                asked["edited bytes" if name.startswith("bytes") else name] += n
            failed.update({kind: len(seeds) for kind, seeds in found["failed"].items()})
            slowest, largest = max(slowest, found["slowest"]), max(largest, found["largest"] / 2**30)
    yield f"{ends.total():,} cases of seed {', '.join(map(str, seeds))}: {ends['answered']:,} were answered,"
    yield f"{ends['refused']:,} refused by an error with a remedy, {ends['unwritable']:,} could not be written in their"
    yield f"form, and {ends['failed']:,} failed. The slowest took {slowest:.1f} s of the processor; the largest process"
    yield f"{largest:.2f} GiB."
    yield ""
    yield from (f"- {'once' if n == 1 else f'{n} times'}: {kind}" for kind, n in failed.most_common())
    yield from [] if failed else ["None failed."]
    yield ""
    yield from markdown_head("asked", "cases")
    yield from (markdown_row(f"`{name}`", f"{count:,}") for name, count in asked.most_common())


COMMANDS = {crashes: "crashes", fuzzing: "fuzzing"}
if __name__ == "__main__":
    run_commands(__file__, COMMANDS)
