"""What fuzzing counted, as a table for the page on reliability.

python -m tests.fuzz --cases 100000 --seed 1 --json one.json
python -m benchmarks.fuzz one.json two.json --commit abc1234 --page docs/contributing/reliability.md
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks._page import generated


def table(runs: list[dict[str, Any]], commit: str) -> list[str]:
    """Return the lines of the page."""
    ends, asked, failed = Counter[str](), Counter[str](), Counter[str]()
    for run in runs:
        ends.update(run["outcomes"])
        for name, n in run["asked"].items():
            asked["edited bytes" if name.startswith("bytes") else name] += n
        failed.update({kind: len(seeds) for kind, seeds in run["failed"].items()})
    rows = [f"| `{name}` | {count:,} |" for name, count in asked.most_common()]
    said = [f"- {'once' if count == 1 else f'{count} times'}: {kind}" for kind, count in failed.most_common()] or [
        "None failed."
    ]
    seeds = ", ".join(sorted({str(run["seed"]) for run in runs}))
    slowest, largest = max(run["slowest"] for run in runs), max(run["largest"] for run in runs) / 2**30
    return [
        f"{ends.total():,} cases of seed {seeds} at commit {commit}: {ends['answered']:,} were answered,",
        f"{ends['refused']:,} refused by an error with a remedy, {ends['unwritable']:,} could not be written in their",
        f"form, and {ends['failed']:,} failed. The slowest took {slowest:.1f} s of the processor; the largest process",
        f"{largest:.2f} GiB.",
        "",
        *said,
        "",
        "| asked | cases |",
        "|---|--:|",
        *rows,
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("runs", nargs="*", type=Path, help="what --json wrote")
    parser.add_argument("--commit", default="unknown", help="of the code that was run")
    parser.add_argument("--page", type=Path)
    said = parser.parse_args()
    if not said.runs:
        print("nothing to count: run `python -m tests.fuzz --json FILE` first")
        return
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in said.runs]
    lines = table(runs, said.commit)
    print(*lines, sep="\n")
    if said.page:
        generated(said.page, "fuzzing", lines, "benchmarks/fuzz.py")


if __name__ == "__main__":
    main()
