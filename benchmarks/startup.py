"""How long a user waits before anything happens: imports, help, and compiling on the first call.

python benchmarks/startup.py [--repeats 5]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time

from rich.console import Console
from rich.table import Table

EVALUATE = """
import offrank
rows = [{"slate": [1, 2, 3], "clicks": [1, 0, 0], "old": [3.0, 2.0, 1.0], "new": [1.0, 2.0, 3.0]}] * 100
rows += [{"slate": [3, 1, 2], "clicks": [0, 1, 0], "old": [1.0, 3.0, 2.0], "new": [3.0, 1.0, 2.0]}] * 100
estimators = ["ips", "snips", "ipm", "pbm", "interpol(window=2)", "rips"]
offrank.evaluate(rows, "top(new)", "plackett_luce(old)", estimators, examination=[1, 0.5, 0.33])
"""
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import offrank": ["-c", "import offrank"],
    "import numpy": ["-c", "import numpy"],
    "offrank --help": ["-m", "offrank", "--help"],
    "import offrank.verbs.evaluate": ["-c", "import offrank; offrank.evaluate"],
    "evaluate 200 rows, compiled before": ["-c", EVALUATE],
}


def seconds(arguments: list[str], cache: str | None = None) -> float:
    """Wall time of a fresh interpreter."""
    environment = dict(os.environ) if cache is None else {**os.environ, "NUMBA_CACHE_DIR": cache}
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, env=environment, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    table = Table(title="Waiting, best of several fresh interpreters", title_justify="left")
    table.add_column("what")
    table.add_column("seconds", justify="right")
    for name, arguments in COMMANDS.items():
        seconds(arguments)
        table.add_row(name, f"{min(seconds(arguments) for _ in range(repeats)):.2f}")
    with tempfile.TemporaryDirectory() as cache:
        table.add_row("evaluate 200 rows, compiling everything", f"{seconds(['-c', EVALUATE], cache):.2f}")
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
