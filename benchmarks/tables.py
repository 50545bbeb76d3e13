"""Every table of docs/tables that a script here makes, with the whole command: made anew in one go, on one commit.

    python benchmarks/tables.py [--only "judged runs"]        the same as `make tables ONLY="judged runs"`

Each command runs in a process of its own and goes on where another failed; those that failed are told at the end. All
of them take days on two cores: `--only` picks some, by the names of their files.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time

from _page import ROOT, run

TABLES = {
    "ab-tests": "ab_tests.py ab-tests --logs 200",
    "along-the-log": "along_the_log.py --healthy 400 --faulty 100",
    "any-table": "strangers/forms.py --tables 60",
    "auto": "selection.py auto --logs 50",
    "battery": "trust.py battery --worlds 960",
    "click-coverage": "click_coverage.py --logs 200 --cmip",
    "click-memory": "clicks.py memory",
    "click-models": "click_models.py",
    "click-weights": "click_intervals.py weights --logs 20 --users dbn",
    "coec": "judged.py coec --logs 3",
    "counted-shares": "exact.py counted-shares --logs 300",
    "crashes": "crashes.py crashes --moments 300",
    "damage": "damage.py damage --variants 200",
    "decisions": "decisions.py decisions --logs 300 --rows 2000",
    "decisions-by-form": "decisions.py forms --logs 1000",
    "decisions-by-users": "decisions.py users --logs 24",
    "dirty-data": "damage.py dirty-data",
    "every-verb": "small_machine.py every-verb --scale 1 --seconds 120",
    "examination-curves": "clicks.py curve --logs 20",
    "fuzzing": "crashes.py fuzzing --cases 20000",
    "growth": "scale.py growth",
    "guardrails": "exact.py guardrails --logs 400",
    "interleaving": "ab_tests.py interleaving --logs 200",
    "judged": "judged.py judged --logs 200",
    "laws": "running.py laws",
    "looks": "intervals.py looks",
    "looks-of-logs": "intervals.py looks-of-logs --logs 200",
    "outcome-checks": "outcome_checks.py outcome-checks --logs 100",
    "own-clicks": "outcome_checks.py own-clicks --seeds 1 --rows 5000",
    "plan": "worth.py plan --logs 500",
    "race-draws": "exact.py race-draws",
    "rare-rewards": "rewards.py rare --logs 4",
    "recipes": "strangers/recipes.py",
    "release": "release.py --logs 100 --learnt 10",
    "runs": "decisions.py runs --draws 2000",
    "same-bits": "same_bits.py",
    "scale": "scale.py scale --rows 100000000 --stream 20",
    "side-by-side": "side_by_side.py side-by-side",
    "skewed-rewards": "rewards.py skewed --logs 400",
    "small-machine": "small_machine.py small-machine --scale 1",
    "sorted-logging": "click_intervals.py dbn --logs 4",
    "sorted-logging-of-trust": "click_intervals.py trust --logs 8",
    "sparse-logs": "clicks.py sparse --logs 4 --sessions 500 300 60",
    "start-up": "running.py start-up",
    "strangers-trial": "strangers/tables.py trial",
    "tables-of-strangers": "strangers/tables.py tables",
    "trust": "trust.py worlds --logs 60",
    "uncertain-prior": "exact.py uncertain-prior",
    "warehouse": "running.py warehouse",
    "what-is-counted": "side_by_side.py counted",
}
"""Name of the file -> script and words."""


def words(name: str) -> list[str]:
    """The words after `python` that make a table anew."""
    script, *more = shlex.split(TABLES[name])
    module = f"benchmarks.{script.removesuffix('.py').replace('/', '.')}"
    inside = (ROOT / "benchmarks" / script).read_text(encoding="utf-8")
    how = ["-m", module] if "from benchmarks." in inside else [f"benchmarks/{script}"]
    return [*how, *more, "--write"]


def tables(*, only: str = "") -> None:
    """Make each table, or those named, and say how long each took."""
    chosen = only.split() or list(TABLES)
    if unknown := set(chosen) - set(TABLES):
        raise SystemExit(f"no such table: {', '.join(sorted(unknown))}; there are {', '.join(TABLES)}")
    failed = []
    for name in chosen:
        began = time.perf_counter()
        environment = os.environ | {"OMP_NUM_THREADS": "1"} if name == "growth" else os.environ
        done = subprocess.run([sys.executable, *words(name)], cwd=ROOT, check=False, env=environment)
        failed += [name] if done.returncode else []
        ended = "failed" if done.returncode else "written"
        print(f"== {name}: {ended} after {time.perf_counter() - began:,.0f} s", flush=True)
    if failed:
        raise SystemExit(f"failed: {' '.join(failed)}")


COMMANDS = {tables: ""}
if __name__ == "__main__":
    run(__file__, COMMANDS)
