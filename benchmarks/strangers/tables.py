"""Raw tables of other people, read by `inspect`: how many rightly, and what it takes a new user to an answer.

python -m benchmarks.strangers.tables tables [--batch unseen] [--write]
python -m benchmarks.strangers.tables trial [--write]
"""

from __future__ import annotations

import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import offrank
from benchmarks._page import markdown_head, markdown_row, run
from benchmarks.strangers.spelling import BATCHES, Maker, Truth

LAWS = {
    "uniform": "uniform",
    "score": "plackett_luce({})",
    "sharp": "plackett_luce({}, ",
    "epsilon": "epsilon(top({}), ",
    "law": "{}",
}
"""How the spelling of a law begins; of `law` it is said instead of a score."""
FIXED = {"fixed", "personal", "daily", "sorted", "arms", "refuted"}
CERTAIN = {"written", "agrees"}


def _law(truth: Truth) -> str:
    """How the spelling of the law that drew a log begins."""
    quoted = "." in truth.score and truth.drawn != "law"
    return LAWS[truth.drawn].format(repr(truth.score) if quoted else truth.score)


def layout_of(found: Any, truth: Truth) -> str:
    """Whether a table was read as it is: right, asked, or wrong."""
    if isinstance(found, Exception):
        return "failed"
    if found.logging is None:
        return "right" if truth.asked else "asked"
    if truth.layout not in ("wide", "long"):
        return "right" if (found.format or found.layout or "").startswith(truth.layout) else "wrong"
    read = {role: name for role, name in found.renamed.items() if role in truth.columns}
    read |= {role: role for role, name in truth.columns.items() if role not in read and name == role}
    core = {"slate", "clicks", "impression", "item", "position", "click", "candidates", "propensity", "slot_propensity"}
    wrong = {role for role, name in truth.columns.items() if role in core and read.get(role) != name}
    if wrong and wrong <= {one.like for one in found.columns if one.name == truth.columns.get(one.like)}:
        return "asked"  # which the page does under its columns
    if truth.asked and not truth.columns:
        return "read"
    return "wrong" if wrong else "right"


def drawn_of(found: Any, truth: Truth) -> str:
    """Whether what is said of who drew a log is true: right, open, wrong, or scandal: certain and false."""
    law = None if isinstance(found, Exception) else found.logging
    if law is None:
        return "right" if truth.asked or not truth.drawn else "open"
    certain = law.status in CERTAIN
    if truth.drawn in FIXED:
        believed = law.policy and law.named and (law.departure or 1) <= 0.2
        known = law.status in ("not random", "refuted", "arms")
        return "scandal" if certain else "right" if known or not believed else "open"
    if truth.drawn == "written":
        return "right" if law.status in ("written", "written, not tested") else "wrong" if certain else "open"
    if truth.drawn in ("hidden", "bucket", ""):
        return "wrong" if certain or law.status == "not random" else "right"
    same = (law.policy or "").startswith(_law(truth))
    return "wrong" if law.status == "not random" or (certain and not same) else "right" if same else "open"


def judged(makers: dict[str, Maker], seed: int) -> tuple[Counter[str], Counter[str]]:
    """Print what was not found of a table; count whether layouts and laws were right."""
    layouts, laws = Counter[str](), Counter[str]()
    for number, (name, make) in enumerate(makers.items()):
        with tempfile.TemporaryDirectory() as folder:
            path, truth = make(np.random.default_rng((seed, number)), Path(folder))
            try:
                found: Any = offrank.inspect(path)
            except Exception as error:  # noqa: BLE001  a failure is counted, whatever it is
                found = error
            layout, law = layout_of(found, truth), drawn_of(found, truth)
        layouts[layout] += 1
        laws[law] += 1
        if (layout, law) != ("right", "right"):
            said = found if isinstance(found, Exception) else found.why if found.logging is None else found.command
            print(f"{name}: layout {layout}, {truth.drawn or 'nothing'} drawn {law}; {said}", file=sys.stderr)
    return layouts, laws


DATA = Path(__file__).resolve().parents[3] / "shared/data"
COPY = re.compile(r"^  (offrank .*)$", re.MULTILINE)
"""A command that is printed to be copied."""


class Trial(NamedTuple):
    """A table and what a reader of it wants.

    - make: writes it into the folder, and returns what is typed first. says: what the last answer must contain.
    - before, after: wrong turns that a reader met on 26 November 2026 before and after mending, counted by hand.
    """

    make: Callable[[], str]
    says: str
    before: str
    after: str = "0"


def public(name: str, place: str) -> Callable[[], str]:
    def made() -> str:
        shutil.copy(DATA / place, name)
        return f"offrank inspect {name}"

    return made


def spelled(name: str, batch: str = "trial", first: str = "") -> Callable[[], str]:
    def made() -> str:
        (folder := Path("logs")).mkdir()
        return f"offrank inspect {BATCHES[batch][name](np.random.default_rng(1), folder)[0] / first}"

    return made


TRIALS = {
    "demo": Trial(lambda: "offrank demo", "would have", "0"),
    "Criteo": Trial(public("criteo.txt.gz", "criteo-nips17/criteo_first2000.txt.gz"), "With care", "0"),
    "Open Bandit, its CSV alone": Trial(
        public("bandit.csv", "open-bandit/bts/all/all.csv"),
        "No clear difference",
        "2: the position was looked for among the affinities; of random's log, its own policy was proposed",
    ),
    "Yandex": Trial(public("sessions.txt", "yandex-relpred/trainSample"), "Rank 10 is examined", "0"),
    "A/B test, a row per session": Trial(
        spelled("A/B test, a row per session"),
        "Better",
        "1: taken for a router's log that lacks probabilities; no command",
    ),
    "A/B test, a row per item": Trial(
        spelled("A/B test, a row per item"), "Better", "1: the command fitted a click model, and compared no arms"
    ),
    "UBI, the queries first": Trial(
        spelled("User Behavior Insights", first="ubi_queries.jsonl"),
        "Rank 10 is examined",
        "1: clicks were asked for, their file not named",
    ),
    "Parquet of list&lt;struct>": Trial(spelled("list of structs"), "would have earned", "0"),
    "GA4's events": Trial(
        spelled("views and selections of GA4", "further"),
        "Rank 5 is examined",
        "1: a uniform order was certified, which it was not",
    ),
    "Router of models": Trial(
        spelled("router of models"), "Better", "1: positions were asked for, where thumbs are the reward"
    ),
    "Folder, clicks apart": Trial(spelled("folder, clicks apart"), "would have earned", "0"),
}


def asked(command: str) -> str:
    """Run a command that was typed or copied, in a process of its own; return what it printed."""
    words = shlex.split(command)
    done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, check=False, encoding="utf-8")
    if done.returncode != 0:
        raise SystemExit(f"{command}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def followed(first: str) -> Iterator[str]:
    """Yield what each command prints: the first, then the one it prints to be copied, until there is no other."""
    done, ahead = set[str](), [first]
    while ahead:
        command = ahead.pop(0)
        done.add(command)
        yield (printed := asked(command))
        ahead += [one for one in COPY.findall(printed) if one not in done and one not in ahead]


def tried(trial: Trial) -> tuple[int, float, float]:
    """Return how many commands led to the answer, and their seconds and CPU seconds."""
    first = trial.make()
    begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    answers = list(followed(first))
    seconds, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    if trial.says not in " ".join(answers[-1].split()):
        raise SystemExit(f"{first}: {trial.says!r} is not in the answer\n{answers[-1]}")
    return len(answers), seconds, sum(after[:2]) - sum(before[:2])


def tables(*, batch: str = "", seed: int = 1) -> Iterator[str]:
    """How many raw tables of other people `inspect` reads rightly, and of how many it says rightly who drew them.

    batch: the only one, such as `unseen`.
    """
    heads = ("read rightly", "asked about", "read wrongly", "who drew it: rightly said", "left open", "wrongly")
    yield from markdown_head("Tables", *heads, "called drawn, and were not")
    for name, makers in BATCHES.items():
        if batch in ("", name) and name != "trial":
            layouts, laws = judged(makers, seed)
            others = layouts.total() - layouts["right"] - layouts["asked"]
            counts = [layouts["right"], layouts["asked"], others]
            counts += [laws[one] for one in ("right", "open", "wrong", "scandal")]
            yield markdown_row(f"{layouts.total()} {name}", *counts)


def trial() -> Iterator[str]:
    """Tables as other systems write them, asked about as a new user would: `inspect`, then what it prints.

    Each command runs in a process of its own. It must end well and say what is expected. The public logs are tried
    where they are, in ../shared/data; those of other systems are spelled, by code that knows nothing of offrank.
    """
    yield "| Table | commands | seconds | CPU seconds | wrong turns before | after |"
    yield "|---|--:|--:|--:|---|--:|"
    for name, one in TRIALS.items():
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            try:
                count, seconds, cpu = tried(one)
            except FileNotFoundError as error:
                print(f"{name}: not tried, {error}", file=sys.stderr)
                continue
        yield markdown_row(name, count, f"{seconds:.0f}", f"{cpu:.0f}", one.before, one.after)


COMMANDS = {tables: "tables of strangers", trial: "strangers trial"}
if __name__ == "__main__":
    run(__file__, COMMANDS)
