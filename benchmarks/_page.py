"""What scripts share: commands with options, results that are kept, tables of docs/ that they write, and times."""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import inspect
import json
import multiprocessing
import re
import statistics
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import Any

from offrank.report.charts import Chart, Series, chart_svg

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
Command = Callable[..., Iterable[str] | None]
Commands = Mapping[Command, str]
"""Functions whose keywords are options, each with the name of the table of docs/tables that it makes, or nothing."""


def run(file: str, commands: Commands, words: Sequence[str] | None = None) -> None:
    """Run the command that is asked for, or all, and print their lines as they come; `--write` writes its table.

    words: of the command line, by default those of the process.
    """
    given = vars(parser(commands).parse_args(words))
    asked, write = given.pop("command", None), given.pop("write", False)
    script, at = str(Path(file).resolve().relative_to(ROOT)), commit()
    for command in [asked] if asked else commands:
        lines = []
        for line in command(**given) or ():
            if not line.startswith("<svg"):
                print(line, flush=True)
            lines.append(line)
        if write:
            generated(commands[command], lines, script, at)


def parser(commands: Commands) -> argparse.ArgumentParser:
    """Return the parser of a script; the only command of a script has no name.

    Options have the type of what is usual; of several, there may be any number.
    """
    found = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter)
    if len(commands) == 1:
        _options(found, *next(iter(commands.items())))
        return found
    known = found.add_subparsers(metavar="COMMAND")
    for command, mark in commands.items():
        about = {"description": inspect.getdoc(command), "formatter_class": argparse.RawDescriptionHelpFormatter}
        _options(known.add_parser(command.__name__.replace("_", "-"), **about), command, mark)
    return found


def _options(one: argparse.ArgumentParser, command: Command, mark: str) -> None:
    for option in inspect.signature(command).parameters.values():
        usual = option.default
        how: dict[str, Any] = {"type": Path if usual is None else type(usual), "default": usual}
        if usual is False:
            how = {"action": "store_true"}
        if isinstance(usual, tuple):
            how = {"nargs": "+", "type": type(usual[0]), "default": usual}
        one.add_argument(f"--{option.name.replace('_', '-')}", **how)
    if mark:
        one.add_argument("--write", action="store_true", help=f"write docs/tables/{table(mark)}")
    one.set_defaults(command=command)


def measured(
    measure: Callable[[Any], Any], tasks: Iterable[Any], workers: int = 1, kept: Path | None = None
) -> Iterator[tuple[Any, Any]]:
    """Yield each task with what is measured of it, in turn, by so many processes.

    kept: a file of JSON lines of what was measured, so that a run goes on where another ended; tasks are then of
    numbers and texts, and results are what JSON makes of them.
    """
    every, known = list(tasks), _known(kept)
    left = [task for task in every if _text(task) not in known] if known else every
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context) if workers > 1 else contextlib.nullcontext() as pool:
        found = iter((pool.map if pool else map)(measure, left))
        for task in every:
            if known and _text(task) in known:
                yield task, known[_text(task)]
            elif kept:
                text = _text(next(found))
                with kept.open("a", encoding="utf-8") as file:
                    file.write(f"[{_text(task)}, {text}]\n")
                yield task, json.loads(text)
            else:
                yield task, next(found)


def restored(kind: type[Any], one: Any) -> Any:
    """Return a result of a dataclass as such, also where a file kept it."""
    return one if isinstance(one, kind) else kind(**one)


def _known(kept: Path | None) -> dict[str, Any]:
    """What a file of results holds, by the text of its task."""
    if kept is None or not kept.exists():
        return {}
    return {_text(task): found for task, found in map(json.loads, kept.read_text(encoding="utf-8").splitlines())}


def _text(value: Any) -> str:
    return json.dumps(value, default=lambda one: asdict(one) if is_dataclass(one) else one.item())


def markdown_head(*names: str, left: int = 1) -> Iterator[str]:
    """Yield the first two lines of a table; left: so many columns are aligned to the left, the others hold numbers."""
    yield markdown_row(*names)
    yield "|" + "---|" * left + "--:|" * (len(names) - left)


def markdown_row(*cells: object) -> str:
    """Return a line of a table."""
    return f"| {' | '.join(map(str, cells))} |"


def generated(mark: str, lines: Sequence[str], script: str, at: str | None = None, docs: Path = DOCS) -> None:
    """Write a table that a page includes: docs/tables/MARK.md.

    Its first line names the script, the commit of the code and a digest of the lines, which a test recomputes: no one
    changes by hand what was measured. at: what `commit` said when that began, by default what it says now.
    """
    name = table(mark)
    if not any(f'--8<-- "tables/{name}"' in page.read_text(encoding="utf-8") for page in docs.rglob("*.md")):
        raise SystemExit(f"no page of {docs} includes tables/{name}")
    text = "\n".join(lines).strip("\n") + "\n"
    by = f"{script}{commit() if at is None else at}, {hashlib.sha256(text.encode()).hexdigest()[:16]}"
    (docs / "tables" / name).write_text(f"<!-- generated by {by} -->\n\n{text}", encoding="utf-8")


def table(mark: str) -> str:
    """Return the name of the file of a table."""
    return f"{mark.replace(' ', '-')}.md"


def commit() -> str:
    """Return ` at` the commit of the code, with `+` where src is not as it was committed; nothing without git."""
    found = [_git("rev-parse", "--short=8", "HEAD"), _git("status", "--porcelain", "src", "reproductions/src")]
    return f" at {found[0]}{'+' * bool(found[1])}" if found[0] else ""


def _git(*words: str) -> str:
    try:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    except FileNotFoundError:
        return ""


def drawn(chart: dict[str, Any]) -> str:
    """Return a chart as SVG."""
    return chart_svg(Chart(**{**chart, "series": tuple(Series(**one) for one in chart["series"])}))


# Times and memory of one process ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Times:
    """Seconds of several runs."""

    runs: Sequence[float]

    @property
    def best(self) -> float:
        return min(self.runs)

    @property
    def median(self) -> float:
        return statistics.median(self.runs)


def in_turn(
    jobs: Mapping[str, Callable[[], Any]], repeats: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, Times]:
    """Run every job once to warm up, then all of them in turn, so that a busy moment hits them alike."""
    for job in jobs.values():
        job()
    runs: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            start = clock()
            job()
            runs[name].append(clock() - start)
    return {name: Times(found) for name, found in runs.items()}


def ratios(title: str, times: Mapping[str, Times], rows: int, against: str) -> Iterator[str]:
    """Seconds, rates, and ratios to the job `against`, as lines of a page."""
    yield f"{title}:\n"
    yield from markdown_head("job", "best s", "median s", "million rows/s", "times the reference, best", "median")
    reference = times[against]
    for name, found in times.items():
        ratios = (found.best / reference.best, found.median / reference.median)
        cells = (found.best, found.median, rows / found.best / 1e6, *ratios)
        yield markdown_row(name, *(f"{cell:.3g}" for cell in cells))
    yield ""


def alone(job: Callable[[], Any]) -> tuple[Any, float, float, float]:
    """What a job returns in a process of its own; seconds, CPU seconds and peak memory in MB of that process."""
    start = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found, used, peak = pool.apply(_told, (job,))
    return found, time.perf_counter() - start, used, peak


def _told(job: Callable[[], Any]) -> tuple[Any, float, float]:
    return job(), time.process_time(), memory()


def memory(kind: str = "VmHWM") -> float:
    """MB of a kind of memory of this process, by default the most that it ever had.

    Not getrusage: its maximum survives exec, so it would be that of this process's parent.
    """
    found = re.search(rf"{kind}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) / 1024 if found else float("nan")


class Here(Executor):
    """Runs everything at once in this thread."""

    def submit(self, call: Any, /, *arguments: Any, **keywords: Any) -> Future[Any]:
        found: Future[Any] = Future()
        found.set_result(call(*arguments, **keywords))
        return found
