"""How long a user waits before anything happens: imports, help, and compiling on the first call.

python benchmarks/startup.py [--repeats 5] [--page docs/reference/benchmarks.md]
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _page import generated

LOG = """
import sys, pyarrow as pa, pyarrow.parquet as pq
pq.write_table(pa.table({"slate": [[1]], "clicks": [[1]], "propensity": [1.0], "new_score": [[1.0]]}), sys.argv[1])
"""
ROWS = """
import offrank
rows = [{"slate": [1, 2, 3], "clicks": [1, 0, 0], "old": [3.0, 2.0, 1.0], "new": [1.0, 2.0, 3.0]}] * 100
rows += [{"slate": [3, 1, 2], "clicks": [0, 1, 0], "old": [1.0, 3.0, 2.0], "new": [3.0, 1.0, 2.0]}] * 100
"""
PLAIN = f'{ROWS}offrank.evaluate(rows, "plackett_luce(new)", "plackett_luce(old)", ["ips", "snips"])'
SIX = (
    f'{ROWS}estimators = ["ips", "snips", "ipm", "pbm", "interpol(window=2)", "rips"]\n'
    'offrank.evaluate(rows, "top(new)", "plackett_luce(old)", estimators, examination=[1, 0.5, 0.33])'
)
WARM = {
    "`python -c pass`": ["-c", "pass"],
    "`import offrank`": ["-c", "import offrank"],
    "`import numpy`": ["-c", "import numpy"],
    "`offrank --help`": ["-m", "offrank", "--help"],
    "`offrank evaluate --help`": ["-m", "offrank", "evaluate", "--help"],
    "a misspelt option": ["-m", "offrank", "evaluate", __file__, "--targt", "top(new)"],
    "a misspelt policy": ["-m", "offrank", "evaluate", __file__, "--target", "tpo(new)"],
    "a misspelt estimator": ["-m", "offrank", "evaluate", __file__, "--target", "top(new)", "-e", "snps"],
    "one within another": ["-m", "offrank", "evaluate", __file__, "--target", "top(new)", "-e", "clip(snpis, 10)"],
    "a baseline that is no target": ["-m", "offrank", "compare", __file__, "--target", "a=top(a)", "--baseline", "b"],
    "an argument that is not there": [
        "-m",
        "offrank",
        "evaluate",
        "LOG",
        "--target",
        "uniform",
        "-e",
        "interpol(wndw=2)",
    ],
    "a log that is missing": ["-m", "offrank", "evaluate", "missing.parquet", "--target", "top(new)"],
    "a misspelt column": ["-m", "offrank", "evaluate", "LOG", "--target", "top(new_scroe)"],
    "`import offrank.verbs.evaluate`": ["-c", "import offrank; offrank.evaluate"],
    "`ips`, `snips` of 200 rows, compiled before": ["-c", PLAIN],
    "six estimators of 200 rows, compiled before": ["-c", SIX],
}
COLD = {
    "`offrank doctor`, compiling everything": ["-m", "offrank", "doctor"],
    "`ips`, `snips` of 200 rows, compiling everything": ["-c", PLAIN],
    "six estimators of 200 rows, compiling everything": ["-c", SIX],
}


def seconds(arguments: list[str], cache: str | None = None) -> tuple[float, float]:
    """Wall time and CPU seconds of a fresh interpreter."""
    environment = {**os.environ, **({} if cache is None else {"NUMBA_CACHE_DIR": cache})}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # installed packages have their bytecode
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([sys.executable, *arguments], check="-c" in arguments, env=environment, **silent)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter() - start, sum(after[:2]) - sum(before[:2])


def cold(arguments: list[str]) -> tuple[float, float]:
    """Wall time and CPU seconds where nothing is compiled."""
    with tempfile.TemporaryDirectory() as cache:
        return seconds(arguments, cache)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--page", type=Path, help="the page whose table is written")
    given = parser.parse_args()
    lines = ["| what | seconds | CPU seconds |", "|---|--:|--:|"]
    with tempfile.TemporaryDirectory() as folder:
        log = str(Path(folder) / "log.parquet")
        subprocess.run([sys.executable, "-c", LOG, log], check=True)
        for name, words in WARM.items():
            arguments = [log if word == "LOG" else word for word in words]
            seconds(arguments)
            lines.append(line(name, [seconds(arguments) for _ in range(given.repeats)]))
    lines += [line(name, [cold(arguments) for _ in range(min(given.repeats, 2))]) for name, arguments in COLD.items()]
    print("\n".join(lines))
    if given.page:
        generated(given.page, "start-up", lines, "benchmarks/startup.py")


def line(name: str, found: list[tuple[float, float]]) -> str:
    """Return the best of several runs as a line of the table."""
    return f"| {name} | {min(one[0] for one in found):.2f} | {min(one[1] for one in found):.2f} |"


if __name__ == "__main__":
    main()
