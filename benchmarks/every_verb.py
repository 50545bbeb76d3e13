"""Every verb on a small machine: on large logs of several shapes each is answered, or refused before the work starts.

Memory is limited and measured as in `small_machine.py`, of whose table this is the other half.

    python benchmarks/every_verb.py [--scale 0.001] [--only 'check'] [--folder FOLDER]
        [--write docs/contributing/reliability.md]

One log stands on the disk at a time. Measurements stay in the folder; delete FOLDER/every-verb.json to measure again.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _page import generated
from _worlds import matrix, narrow, reranked
from small_machine import (
    BYTES_OF_LINE,
    BYTES_OF_SLATE,
    ENDED,
    LOGGING,
    PART,
    TARGET,
    Used,
    asked,
    given_options,
    in_child,
    lines,
    long_slates,
    one_row_group,
    repeated,
)

import offrank

MARK, SCRIPT = "every verb", "benchmarks/every_verb.py"
Ask = Callable[[Path], object]
PAIRS = 10
"""Items that are shown for each query of a log of many pairs."""
BYTES_OF_OBJECT = 150
"""Of a list of five in JSON lines."""
BYTES_OF_FEATURES = 50
"""Of the features of ten items in Parquet."""


def featured(log: pa.Table) -> pa.Table:
    """A log with a feature of each candidate, which `learn` needs."""
    items = matrix(log, "slate")
    each = pa.ListArray.from_arrays(pa.array(np.arange(items.size + 1, dtype=np.int32)), pa.array(items.ravel() % 50))
    rows = pa.array(np.arange(0, items.size + 1, items.shape[1], dtype=np.int32))
    found = pa.ListArray.from_arrays(rows, each)
    return log.append_column(pa.field("features", found.type, nullable=False), found)


def many_pairs(rows: int, path: Path) -> None:
    """Slates of five; each query has ten rows, of its own ten items."""
    log = featured(narrow(reranked(min(rows, PART), 5)))
    with pq.ParquetWriter(path, keyed(log.slice(0, 1), 0).schema) as writer:
        for start, part in zip(range(0, rows, len(log)), repeated(log, rows), strict=True):
            writer.write_table(keyed(part, start))


def keyed(log: pa.Table, start: int) -> pa.Table:
    """A part of a log with the query of each row."""
    return log.append_column("query", pa.array((start + np.arange(len(log))) // PAIRS))


def json_lines(rows: int, path: Path) -> None:
    """A text log with an object for each list."""
    with path.open("w", encoding="ascii") as file:
        for part in repeated(featured(reranked(min(rows, PART), 5)), rows):
            scores = {name: matrix(part, name).round(4).tolist() for name in ("old_score", "new_score")}
            columns = [scores.get(name) or part[name].to_pylist() for name in part.column_names]
            for row in zip(*columns, strict=True):
                file.write(json.dumps(dict(zip(part.column_names, row, strict=True))) + "\n")


SHAPES: dict[str, tuple[int, Callable[[int, Path], None], str]] = {
    "3 GB in one row group": (
        int(3e9 / (BYTES_OF_SLATE + BYTES_OF_FEATURES)),
        partial(one_row_group, more=featured),
        "parquet",
    ),
    "10,000,000 pairs": (10_000_000, many_pairs, "parquet"),
    "slates of 1,000": (2_000, partial(long_slates, slots=1_000, more=featured), "parquet"),
    "1 GB of CSV": (int(1e9 / BYTES_OF_LINE / 5), lines, "csv"),
    "1 GB of JSON lines": (int(1e9 / BYTES_OF_OBJECT), json_lines, "jsonl"),
}
"""Name of a shape -> its rows at scale 1, what writes it, and its suffix."""
HUNDRED = {f"t{number}": f"plackett_luce(new_score, temperature={number / 50})" for number in range(1, 101)}


def beside(path: Path, name: str) -> Path:
    return path.with_name(name)


def fitted(path: Path) -> Path:
    model = beside(path, "model.npz")
    offrank.fit_clicks(str(path), "pbm", model)
    return model


def merged(path: Path) -> object:
    """A state alone: the same rows are merged once."""
    state = beside(path, "day.state")
    offrank.evaluate(str(path), TARGET, LOGGING, state=state)
    return offrank.merge(state)


VERBS: dict[str, Ask] = {
    "evaluate": lambda path: offrank.evaluate(str(path), TARGET, LOGGING),
    "evaluate, 100 targets": lambda path: offrank.evaluate(str(path), HUNDRED, LOGGING),
    "compare": lambda path: offrank.compare(str(path), {"new": TARGET, "top": "top(new_score)"}, LOGGING),
    "check": lambda path: offrank.check(str(path), logging=LOGGING),
    "inspect": lambda path: offrank.inspect(str(path)),
    "convert": lambda path: offrank.convert(str(path), beside(path, "made.parquet"), scores=["old_score", "new_score"]),
    "clicks fit": fitted,
    "clicks fit, judge": lambda path: offrank.judge_clicks(fitted(path), beside(path, "grades.csv")),
    "clicks fit, predict": lambda path: offrank.predict_clicks(str(path), fitted(path), beside(path, "clicks.csv")),
    "clicks harvest": lambda path: offrank.harvest_clicks(str(path)),
    "learn": lambda path: offrank.learn(str(path), "regression", beside(path, "policy.npz"), logging=LOGGING),
    "measure": lambda path: offrank.measure(str(path), "new_score", LOGGING),
    "select": lambda path: offrank.select_estimators(str(path), TARGET, LOGGING),
    "merge": merged,
}


def ask(name: str, path: Path) -> object:
    """Ask with one verb; in a process of its own, which can be given no more than names."""
    return VERBS[name](path)


def measured(shape: str, verbs: list[str], scale: float, folder: Path, seconds: float) -> Iterator[tuple[str, Used]]:
    """Make a log, and ask each verb in a process with little memory. seconds: of CPU, after which it is ended."""
    size, make, suffix = SHAPES[shape]
    with tempfile.TemporaryDirectory(dir=folder) as own:
        path = Path(own) / f"log.{suffix}"
        in_child(make, rows := max(round(size * scale), 20), path)
        for verb in verbs:
            used = in_child(asked, partial(ask, verb), path, seconds)
            yield verb, replace(used, rows=rows, gigabytes=path.stat().st_size / 1e9)
            for made in Path(own).iterdir():
                if made != path:
                    made.unlink()


def page(found: dict[str, dict[str, Any]]) -> Iterator[str]:
    """A line for each verb, with GiB of private memory and CPU seconds for each shape, and what was refused below."""
    rows = {
        shape: min((one["rows"] for key, one in found.items() if key.startswith(shape)), default=0) for shape in SHAPES
    }
    yield "| verb | " + " | ".join(f"{shape}: {rows[shape]:,} of {SHAPES[shape][0]:,} rows" for shape in SHAPES) + " |"
    yield "|---|" + "--:|" * len(SHAPES)
    refused = list[str]()
    for verb in VERBS:
        cells = []
        for shape in SHAPES:
            one = found.get(f"{shape}: {verb}")
            if one is None:
                cells.append("")
            elif one["result"] in ("answered", ENDED):
                more = "> " * (one["result"] == ENDED)
                cells.append(f"{one['private']:.2f} GiB, {more}{one['cpu']:,.0f} s")
            else:
                refused.append(re.sub(r"/\S*/(?=log\.)", "", " ".join(one["result"].replace("|", "\\|").split())))
                number = refused.index(refused[-1]) + 1
                refused = refused[:-1] if number < len(refused) else refused
                cells.append(f"[{number}]" + f" of {one['rows']:,} rows" * (one["rows"] != rows[shape]))
        yield f"| `{verb}` | " + " | ".join(cells) + " |"
    yield ""
    yield from (f"{number}. {said}" for number, said in enumerate(refused, 1))


def main() -> None:
    given = given_options(__doc__)
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        kept = folder / "every-verb.json"
        found = json.loads(kept.read_text()) if kept.exists() else {}
        for shape in SHAPES:
            asked_for = [verb for verb in VERBS if given.only in (key := f"{shape}: {verb}") and key not in found]
            how = given.scale, folder, given.seconds
            for verb, used in measured(shape, asked_for, *how) if asked_for else ():
                found[f"{shape}: {verb}"] = asdict(used)
                kept.write_text(json.dumps(found, indent=1))
                print(f"{shape}: {verb}: {used.result[:150]}, {used.private:.2f} GiB, {used.cpu:.1f} s", flush=True)
    if given.write:
        generated(given.write, MARK, list(page(found)), SCRIPT)


if __name__ == "__main__":
    main()
