"""What it takes before and beside the answer: starting, states that cross the wire, sums in a warehouse, laws.

python benchmarks/running.py start-up [--repeats 5] [--write]
python benchmarks/running.py engines
python benchmarks/running.py warehouse [--rows 3000000] [--write]
python benchmarks/running.py laws [--write]
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _page import markdown_head, markdown_row, run

import offrank
from offrank.log.batch import Contexts
from offrank.policies import policy
from offrank.policies.base import all_items
from offrank.propensities import draw
from offrank.readers.tables import MemoryTable
from offrank.readers.wide import WideLog
from offrank.running.states import dumps
from offrank.simulation import SearchWorld

LOG = """
import sys, pyarrow as pa, pyarrow.parquet as pq
pq.write_table(pa.table({"slate": [[1]], "clicks": [[1]], "propensity": [1.0], "new_score": [[1.0]]}), sys.argv[1])
"""
FEW = """
import offrank
rows = [{"slate": [1, 2, 3], "clicks": [1, 0, 0], "old": [3.0, 2.0, 1.0], "new": [1.0, 2.0, 3.0]}] * 100
rows += [{"slate": [3, 1, 2], "clicks": [0, 1, 0], "old": [1.0, 3.0, 2.0], "new": [3.0, 1.0, 2.0]}] * 100
"""
PLAIN = f'{FEW}offrank.evaluate(rows, "plackett_luce(new)", "plackett_luce(old)", ["ips", "snips"])'
SIX = (
    f'{FEW}estimators = ["ips", "snips", "ipm", "pbm", "interpol(window=2)", "rips"]\n'
    'offrank.evaluate(rows, "top(new)", "plackett_luce(old)", estimators, examination=[1, 0.5, 0.33])'
)
EVALUATE = ["-m", "offrank", "evaluate"]
WARM = {
    "`python -c pass`": ["-c", "pass"],
    "`import offrank`": ["-c", "import offrank"],
    "`import numpy`": ["-c", "import numpy"],
    "`offrank --help`": ["-m", "offrank", "--help"],
    "`offrank evaluate --help`": [*EVALUATE, "--help"],
    "a misspelt option": [*EVALUATE, __file__, "--targt", "top(new)"],
    "a misspelt policy": [*EVALUATE, __file__, "--target", "tpo(new)"],
    "a misspelt estimator": [*EVALUATE, __file__, "--target", "top(new)", "-e", "snps"],
    "one within another": [*EVALUATE, __file__, "--target", "top(new)", "-e", "clip(snpis, 10)"],
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
    "a log that is missing": [*EVALUATE, "missing.parquet", "--target", "top(new)"],
    "a misspelt column": [*EVALUATE, "LOG", "--target", "top(new_scroe)"],
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


def line(name: str, found: list[tuple[float, float]]) -> str:
    """Return the best of several runs as a line of the table."""
    return f"| {name} | {min(one[0] for one in found):.2f} | {min(one[1] for one in found):.2f} |"


ROWS = 20_000


@dataclass(frozen=True)
class Measuring(MemoryTable):
    """A table as one part, whose states are weighed: an engine on this machine."""

    part_rows: int = ROWS
    sizes: list[int] = field(default_factory=list, compare=False)

    def engine(self) -> Measuring:
        return self

    def each(self, task: Callable[[int], Any], progress: object = None) -> Iterator[Any]:
        state = task(0)
        self.sizes.append(len(dumps(state)))
        yield state


def jobs(folder: Path) -> dict[str, Callable[[Any], object]]:
    one = "plackett_luce(new_score)"
    two = {"new": one, "best": "top(new_score)"}
    five = ["ips", "snips", "clip(ips, 10)", "clip(snips, 10)", "clip(ips, 100)"]
    return {
        "`evaluate`, one policy by `ips`": lambda log: offrank.evaluate(log, one, estimators="ips"),
        "`evaluate`, two policies by five estimators": lambda log: offrank.evaluate(log, two, estimators=five),
        "the same, `by` 2 devices": lambda log: offrank.evaluate(log, two, estimators=five, by="device"),
        "the same, bootstrap of 200 replicates": lambda log: offrank.evaluate(
            log, two, estimators=five, interval="bootstrap"
        ),
        "`check`": offrank.check,
        "`harvest_clicks`": offrank.harvest_clicks,
        "`fit_clicks`, pbm": lambda log: offrank.fit_clicks(log, "pbm", folder / "pbm.json"),
        "`fit_clicks`, dbn": lambda log: offrank.fit_clicks(log, "dbn", folder / "dbn.json"),
    }


TARGET = "written(slate=p)"
RATIO = "SELECT {} avg(reward * p / propensity) FROM '{}' {}"


def written(path: str, rows: int) -> None:
    rng = np.random.default_rng(1)
    propensity = rng.uniform(0.05, 0.9, rows)
    columns = {
        "user": rng.integers(0, 3000, rows),
        "propensity": propensity,
        "slate": rng.integers(0, 50, (rows, 1)).tolist(),
    }
    columns |= {
        "p": np.clip(propensity * rng.uniform(0.5, 1.5, rows), 0, 1),
        "reward": (rng.random(rows) < 0.2).astype(float),
    }
    pq.write_table(pa.table(columns), path, row_group_size=250_000)


def cpu(ask: Callable[[], Any]) -> float:
    def used() -> float:
        found = resource.getrusage(resource.RUSAGE_SELF)
        return found.ru_utime + found.ru_stime

    before = used()
    ask()
    return used() - before


def warehouse(*, rows: int = 3_000_000, repeats: int = 5) -> Iterator[str]:
    """What the sums of `offrank sql` cost DuckDB, beside its own mean of the same column and offrank's reading."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/log.parquet"
        written(path, rows)
        queries = {
            "mean of reward x weight, by DuckDB": RATIO.format("", path, ""),
            "the same for each of 3,000 users": RATIO.format('"user",', path, 'GROUP BY "user"'),
            "sums of `offrank sql`": offrank.sql(f"'{path}'", TARGET),
            "sums of `offrank sql`, by user": offrank.sql(f"'{path}'", TARGET, cluster="user"),
        }
        asked = {name: lambda text=text: duckdb.sql(text).fetchall() for name, text in queries.items()}
        asked["`offrank evaluate` of the rows"] = lambda: offrank.evaluate(path, TARGET, cluster="none")
        asked["`offrank.estimate` of the rows"] = lambda: offrank.estimate(path, TARGET, cluster="none")
        every = [{name: cpu(ask) for name, ask in asked.items()} for _ in range(repeats)]
    least = {name: min(one[name] for one in every) for name in asked}
    yield from markdown_head("", "CPU", "times the mean")
    for name, seconds in least.items():
        yield f"| {name} | {seconds:.2f} s | {seconds / min(least.values()):.1f} |"
    yield ""
    yield f"{rows:,} rows of one slot in Parquet, least of {repeats} rounds."


def start_up(*, repeats: int = 5) -> Iterator[str]:
    """How long a user waits before anything happens: imports, help, and compiling on the first call."""
    yield from markdown_head("what", "seconds", "CPU seconds")
    with tempfile.TemporaryDirectory() as folder:
        log = str(Path(folder) / "log.parquet")
        subprocess.run([sys.executable, "-c", LOG, log], check=True)
        for name, words in WARM.items():
            arguments = [log if word == "LOG" else word for word in words]
            seconds(arguments)
            yield line(name, [seconds(arguments) for _ in range(repeats)])
    for name, arguments in COLD.items():
        yield line(name, [cold(arguments) for _ in range(min(repeats, 2))])


def engines() -> Iterator[str]:
    """What crosses the wire: bytes of the state that one part of a log is reduced to, per job.

    A log of 20,000 slates of 5 of 20 items, 2,000 queries; one part.
    """
    world = SearchWorld(impressions=ROWS, queries=2_000, candidates=20, slots=5, seed=1)
    rows: pa.Table = world.table(ROWS, 0)
    yield from markdown_head("job", "states of a part, bytes")
    with tempfile.TemporaryDirectory() as folder:
        for name, job in jobs(Path(folder)).items():
            table = Measuring(rows)
            job(WideLog(table, {}))
            yield f"| {name} | {' + '.join(f'{size:,}' for size in table.sizes)} |"
    yield ""
    yield f"The log itself takes {rows.nbytes / 2**20:.0f} MiB."


SIZES = ((5, 1, 2000), (5, 5, 1000), (20, 10, 100))
LAWS = (
    "uniform",
    "plackett_luce(alpha)",
    "thompson(alpha, beta)",
    "thompson(mean=score, sd=alpha)",
    "noisy(score, sd=0.5)",
    "noisy(score, sd=0.5, noise=gumbel)",
    "shuffled(top(score), 2, method=fair_pairs)",
)
SERVED = ("plackett_luce(alpha)", "thompson(alpha, beta)", "noisy(score, sd=0.5)", "shuffled(top(score))")


def columns(rows: int, items: int) -> dict[str, Any]:
    """Counts of bandits that have learnt something, and scores."""
    rng = np.random.default_rng(1)
    pulls, rate = rng.integers(5, 5000, (rows, items)), rng.beta(2, 20, (rows, items))
    good = rng.binomial(pulls, rate)
    return {"alpha": good + 1.0, "beta": pulls - good + 1.0, "score": rng.normal(size=(rows, items))}


def cost(job: Callable[[Any], Any], spelling: str, repeats: int = 5) -> float:
    """The least CPU seconds of several runs, each of a policy that has kept nothing."""
    job(policy(spelling))
    found = []
    for _ in range(repeats):
        law = policy(spelling)
        start = time.process_time()
        job(law)
        found.append(time.process_time() - start)
    return min(found)


def of_law(spelling: str, items: int, slots: int, rows: int) -> str:
    """The cells of a law on a batch."""
    size, length = np.full(rows, items), np.full(rows, slots)
    contexts = Contexts(np.tile(np.arange(items), (rows, 1)), size, length, scores=columns(rows, items))
    law: Any = policy(spelling)
    slates, every = law.sample(contexts, np.random.default_rng(2)), all_items(contexts)
    jobs = (lambda one: one.log_prob(contexts, slates), lambda one: one.rank_probs(contexts, every))
    return " | ".join(f"{cost(job, spelling) / rows * 1e6:.3g}" for job in jobs)


def serving(spelling: str, slots: int, *, kept: bool) -> str:
    """Median and 99th percentile of the CPU time of one list of 5 candidates. kept: with the numbers of the last."""
    rng, rows = np.random.default_rng(3), columns(1000, 5)
    found = []
    for row in range(1000):
        given = {name: values[0 if kept else row] for name, values in rows.items()}
        start = time.thread_time()
        draw(spelling, slots, rng, **given)
        found.append(time.thread_time() - start)
    return " | ".join(f"{np.quantile(found, share) * 1e6:.3g}" for share in (0.5, 0.99))


def laws() -> Iterator[str]:
    """What each law costs: microseconds of CPU for a row of a batch, and of single lists drawn while serving."""
    heads = [f"{items} items, {slots} slots: {what}" for items, slots, _ in SIZES for what in ("slate", "all ranks")]
    yield from markdown_head("law", *heads)
    for law in LAWS:
        yield markdown_row(f"`{law}`", *(of_law(law, *size) for size in SIZES))
    yield ""
    heads = ["slots", "new: median", "99th percentile", "kept: median", "99th"]
    yield from markdown_head("`offrank.propensities.draw`, 5 candidates", *heads)
    for law, slots in product(SERVED, (1, 3)):
        yield markdown_row(f"`{law}`", slots, *(serving(law, slots, kept=kept) for kept in (False, True)))


COMMANDS = {start_up: "start-up", engines: "", warehouse: "warehouse", laws: "laws"}
if __name__ == "__main__":
    run(__file__, COMMANDS)
